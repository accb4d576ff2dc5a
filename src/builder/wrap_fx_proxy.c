/* wrap_fx_proxy.c: results of operators.

   What an operator gives comes from its record; this file mirrors what wrap_fx_proxy_cls
   makes of it. */
#include <string.h>

#include "builder/td_fx_option.h"
#include "builder/td_operand.h"
#include "builder/td_record.h"

/* Members of the table fx_special. */
enum { SET_RNG_STATE, DISABLE_FUNCTORCH, IS_IN_BAD_FORK, MANUAL_SEED, STREAM, CURRENT_STREAM };

static bool
is_special(td_builder_t *b, td_fxnode_t const *node, int which)
{
    return node->callee != NULL && node->callee == PyTuple_GET_ITEM(b->tables.fx_special, which);
}

static bool wrap(td_builder_t *b, td_fx_options_t const *options, td_fxnode_t *node,
                 PyObject *value, td_var_t *out);

/* put mirrors **options of a tracker's constructor. */
static void
put(td_fx_options_t const *options, td_var_t *out)
{
    out->guard  = options->guard;
    out->more   = TD_PLANT(GIVEN_UNGUARDED) ? NULL : options->more;
    out->source = options->source.id;
}

static bool
constant(PyObject *value, td_var_t *out)
{
    td_var_make(out, TD_CLASS_ConstantVariable, 0);
    out->of.value = value; /* from the keep, or immortal */
    return true;
}

/* ---- tensors and numbers ------------------------------ */

/* cloned mirrors clone_input of a real tensor: NULL, stopped. */
static td_fake_t *
cloned(td_builder_t *b, td_fake_t const *real)
{
    td_fake_t *fake = td_alloc_in(b, sizeof *fake);

    if (fake == NULL) {
        return NULL;
    }
    *fake        = *real;
    fake->number = b->frame.fakes.cnt;
    if (!TD_ARRAY_PUSH(b->frame.fakes, fake)) {
        td_stop_nomem(b);
        return NULL;
    }
    return fake;
}

/* unspecialized mirrors target_cls: the tracker is that of a Python number. */
static void
unspecialized(td_fx_options_t const *options, td_var_t *out)
{
    out->cls                     = TD_CLASS_UnspecializedPythonVariable;
    out->of.tensor->raw_value    = options->raw_value;
    out->of.tensor->is_unwrapped = !options->need_unwrap;
}

static bool
wrap_fake(td_builder_t *b, td_fxnode_t *node, td_fake_t *fake, td_var_t *out)
{
    td_tensor_var_t *var = td_alloc_in(b, sizeof *var);

    if (var != NULL && fake->is_copy && !fake->is_kept) {
        fake = cloned(b, fake);
    }
    if (var == NULL || fake == NULL) {
        return false;
    }
    node->example          = fake;
    var->node              = node;
    var->fake              = fake;
    var->class_type        = fake->is_param                       ? b->tables.parameter
                             : fake->is_foreign && !fake->is_copy ? b->tables.fake_tensor
                                                                  : b->tables.tensor;
    var->specialized_value = NULL;
    td_var_make(out, TD_CLASS_TensorVariable, 0);
    out->of.tensor = var;
    return true;
}

static bool
wrap_number(td_builder_t *b, td_fxnode_t *node, td_num_t const *num, td_var_t *out)
{
    td_sym_var_t *sym = td_alloc_in(b, sizeof *sym);

    if (sym == NULL) {
        return false;
    }
    node->number = num;
    sym->node    = node;
    sym->number  = *num;
    td_var_make(out, TD_CLASS_SymNodeVariable, 0);
    out->of.sym = sym;
    return true;
}

/* ---- sequences ------------------------------ */

/* Everything that a sequence of the result holds is known. */
static bool
admit(td_builder_t *b, PyObject *items)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items); i++) {
        if (td_value_get(PyTuple_GET_ITEM(items, i), TD_VALUE_OTHER) != NULL) {
            return td_stop_unsupported(b, "L1472/for/some", __func__,
                                       "a result that holds a strange object");
        }
    }
    return true;
}

/* getitem traces proxy[idx]; NULL: stopped. */
static td_fxnode_t *
getitem(td_builder_t *b, td_fxnode_t *node, Py_ssize_t idx)
{
    PyObject    *of   = td_value_new(b, TD_VALUE_NODE, node);               /* owned */
    PyObject    *args = of == NULL ? NULL : Py_BuildValue("(On)", of, idx); /* owned */
    td_fxnode_t *made = NULL;

    if (args != NULL) {
        made = td_graph_call(b, PyTuple_GET_ITEM(b->tables.int_results, 2), NULL, args);
    }
    Py_XDECREF(args);
    Py_XDECREF(of);
    return made;
}

/* admit_item mirrors what is done with a tensor that is given and is no fake of the frame: it
   needs a source. */
static bool
admit_item(td_builder_t *b, td_fx_options_t const *options, PyObject *item)
{
    td_fake_t const *fake = td_value_get(item, TD_VALUE_FAKE);

    if (fake == NULL || !(fake->is_foreign || (fake->is_copy && !fake->is_kept))) {
        return true;
    }
    if (options->source.id != 0 || b->export_mode) {
        return td_stop_unsupported(b, "L1397/if/T", __func__,
                                   "a tensor that an operator gave and that is made fake");
    }
    return td_stop_raise(b, "L1414/assert/fail", __func__, "AssertionError", "");
}

/* unpack wraps each item on a node of its own. */
static td_items_t *
unpack(td_builder_t *b, td_fx_options_t const *options, td_fxnode_t *node, PyObject *items)
{
    td_items_t *list = td_items_new(b, (uint32_t)PyTuple_GET_SIZE(items));

    for (uint32_t i = 0; list != NULL && i < list->cnt; i++) {
        PyObject    *item  = PyTuple_GET_ITEM(items, i); /* borrowed */
        td_fxnode_t *taken = NULL;

        if (item == Py_None) {
            (void)constant(item, &list->items[i]);
            put(options, &list->items[i]);
            continue;
        }
        taken = getitem(b, node, i);
        if (taken == NULL || !admit_item(b, options, item) ||
            !wrap(b, options, taken, item, &list->items[i])) {
            return NULL;
        }
    }
    return list;
}

static bool
all_ints(PyObject *items)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items); i++) {
        if (!PyLong_Check(PyTuple_GET_ITEM(items, i))) {
            return false;
        }
    }
    return true;
}

/* plain_size: a Size of ints leaves nothing in the graph. */
static bool
plain_size(td_builder_t *b, PyObject *items, td_var_t *out)
{
    td_items_t *list = td_items_new(b, (uint32_t)PyTuple_GET_SIZE(items));

    if (list == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < list->cnt; i++) {
        (void)constant(PyTuple_GET_ITEM(items, i), &list->items[i]);
    }
    td_var_make(out, TD_CLASS_SizeVariable, 0);
    out->of.list = list;
    return true;
}

/* is_sequence mirrors isinstance(value, (tuple, list, set)) of what tells the truth. */
static bool
is_sequence(PyObject *value)
{
    return PyTuple_Check(value) || PyList_Check(value) || PySet_Check(value) ||
           td_value_get(value, TD_VALUE_TUPLE) != NULL ||
           td_value_get(value, TD_VALUE_LIST) != NULL;
}

/* subclass_of gives what is known of a sequence of a class of its own: *tuple is NULL for
   a plain one. */
static bool
subclass_of(td_builder_t *b, PyObject *value, td_value_tuple_t **tuple)
{
    PyTypeObject *type = Py_TYPE(value);

    *tuple = td_value_get(value, TD_VALUE_TUPLE);
    *tuple = *tuple != NULL ? *tuple : td_value_get(value, TD_VALUE_LIST);
    if (*tuple != NULL || PyTuple_CheckExact(value) || PyList_CheckExact(value) ||
        PySet_CheckExact(value)) {
        return true;
    }
    if (!PyTuple_Check(value) || type->tp_iter != PyTuple_Type.tp_iter) {
        return td_stop_unsupported(b, "L1472/for/some", __func__,
                                   "an example of a class that iterates itself");
    }
    *tuple = td_alloc_in(b, sizeof **tuple);
    if (*tuple == NULL) {
        return false;
    }
    (*tuple)->cls   = (PyObject *)type;
    (*tuple)->items = PyTuple_GetSlice(value, 0, PyTuple_GET_SIZE(value));
    if ((*tuple)->items == NULL) {
        return td_stop_python(b);
    }
    return td_keep_steal(b, (*tuple)->items);
}

/* class_of says what the tracker of a sequence is; value is no capsule, or one with tuple. */
static td_class_t
class_of(td_builder_t *b, PyObject *value, td_value_tuple_t const *tuple)
{
    if (tuple != NULL && tuple->cls == b->tables.size) {
        return TD_CLASS_SizeVariable;
    }
    if (tuple != NULL && tuple->cls != b->tables.immutable_list) {
        return TD_CLASS_NamedTupleVariable;
    }
    if (PyAnySet_Check(value)) {
        return TD_CLASS_SetVariable;
    }
    return PyTuple_Check(value) ? TD_CLASS_TupleVariable : TD_CLASS_ListVariable;
}

/* is_named mirrors the assertion on what is left. */
static bool
is_named(td_builder_t *b, PyObject *cls)
{
    PyTypeObject *type   = (PyTypeObject *)cls;
    PyObject     *module = td_dict_find(type->tp_dict, "__module__"); /* borrowed, or NULL */
    PyObject     *text   = NULL;                                      /* owned until kept */

    if (_PyType_Lookup(type, b->names.fields) != NULL ||
        strncmp(type->tp_name, "torch.return_types.", sizeof "torch.return_types." - 1) == 0) {
        return true;
    }
    text = PyUnicode_FromFormat("expected %S == torch.return_types or named tuple but got %R",
                                module == NULL ? Py_None : module, cls);
    if (text == NULL) {
        return td_stop_python(b);
    }
    (void)(td_keep_steal(b, text) &&
           td_stop_raise_text(b, "L1501/assert/fail", __func__, "AssertionError", text));
    return false;
}

/* admit_members mirrors what SetVariable makes of its items. */
static bool
admit_members(td_builder_t *b, td_items_t const *list)
{
    for (uint32_t i = 0; i < list->cnt; i++) {
        if (list->items[i].cls != TD_CLASS_ConstantVariable &&
            list->items[i].cls != TD_CLASS_TensorVariable) {
            return td_stop_unsupported(b, "L1499/ret/reached", __func__,
                                       "a set of strange results");
        }
    }
    return true;
}

/* finish makes the tracker of what was unpacked. */
static bool
finish(td_builder_t *b, td_fxnode_t *node, td_class_t cls, td_value_tuple_t const *tuple,
       td_items_t *list, td_var_t *out)
{
    if (cls == TD_CLASS_NamedTupleVariable && !is_named(b, tuple->cls)) {
        return false;
    }
    if (cls == TD_CLASS_SetVariable && !admit_members(b, list)) {
        return false;
    }
    td_var_make(out, cls, 0);
    out->of.list = list;
    list->node   = cls == TD_CLASS_SizeVariable ? node : NULL;
    list->cls    = cls == TD_CLASS_NamedTupleVariable ? tuple->cls : NULL;
    if (cls == TD_CLASS_ListVariable || cls == TD_CLASS_SetVariable) {
        list->made_with = (td_mut_t){.cls = TD_CLASS_MutableLocal};
        out->mut        = TD_PLANT(RESULT_NOT_LOCAL) ? NULL : &list->made_with;
    }
    return true;
}

static bool
wrap_sequence(td_builder_t *b, td_fx_options_t const *options, td_fxnode_t *node, PyObject *value,
              td_var_t *out)
{
    td_value_tuple_t *tuple = NULL;
    td_class_t        cls   = TD_CLASS_ListVariable;
    PyObject         *items = NULL; /* owned until kept */
    td_items_t       *list  = NULL;

    if (!subclass_of(b, value, &tuple)) {
        return false;
    }
    cls   = class_of(b, value, tuple);
    items = tuple == NULL ? PySequence_Tuple(value) : Py_NewRef(tuple->items);
    if (items == NULL) {
        return td_stop_python(b);
    }
    if (!td_keep_steal(b, items) || !admit(b, items)) {
        return false;
    }
    if (cls == TD_CLASS_SizeVariable && all_ints(items)) {
        return plain_size(b, items, out);
    }
    node->value = value;
    list        = unpack(b, options, node, items);
    return list != NULL && finish(b, node, cls, tuple, list, out);
}

/* ---- what is none of these ------------------------------ */

/* callee_text gives str() of what a node calls: a new reference; NULL: stopped. */
static PyObject *
callee_text(td_builder_t *b, td_fxnode_t const *node)
{
    PyObject     *callee = node->callee; /* borrowed */
    PyTypeObject *type   = callee == NULL ? NULL : Py_TYPE(callee);

    if (callee == NULL) {
        return PyUnicode_FromStringAndSize(node->target, (Py_ssize_t)node->target_sz);
    }
    if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) ||
        (PyType_Check(callee) && type->tp_repr != PyType_Type.tp_repr)) {
        td_stop_unsupported(b, "L1530/unimpl/raised", __func__, "a callee that spells itself");
        return NULL;
    }
    return PyObject_Str(callee);
}

static bool
refuse(td_builder_t *b, td_fxnode_t *node, PyObject *value)
{
    td_value_other_t const *other = td_value_get(value, TD_VALUE_OTHER);
    char const             *name  = other == NULL ? Py_TYPE(value)->tp_name : other->name;
    PyObject               *what  = callee_text(b, node); /* owned */
    PyObject               *text  = NULL;                 /* owned until kept */

    name = strrchr(name, '.') == NULL ? name : strrchr(name, '.') + 1;
    if (what != NULL) {
        text = PyUnicode_FromFormat("torch.* op returned non-Tensor %s %s %U", name,
                                    node->callee == NULL ? "call_method" : "call_function", what);
        Py_DECREF(what);
    }
    if (text == NULL) {
        return b->stop.kind != TD_STOP_NONE ? false : td_stop_python(b);
    }
    return td_keep_steal(b, text) && td_stop_raise_text(b, "L1530/unimpl/raised", __func__,
                                                        "torch._dynamo.exc.Unsupported", text);
}

static bool
has_int_result(td_builder_t *b, td_fxnode_t const *node)
{
    PyObject *known = b->tables.int_results; /* borrowed */

    for (Py_ssize_t i = 0; node->callee != NULL && i < PyTuple_GET_SIZE(known); i++) {
        if (PyTuple_GET_ITEM(known, i) == node->callee) {
            return true;
        }
    }
    return false;
}

/* wrap_stream: the tracker's constructor compares the example with itself. */
static bool
wrap_stream(td_builder_t *b, td_fxnode_t *node, PyObject *value, td_var_t *out)
{
    td_tensor_var_t *var = td_alloc_in(b, sizeof *var);

    if (Py_TYPE(value)->tp_richcompare != PyBaseObject_Type.tp_richcompare &&
        !PyUnicode_CheckExact(value) && !PyLong_CheckExact(value)) {
        return td_stop_unsupported(b, "L1512/ret/reached", __func__,
                                   "a stream that compares itself");
    }
    if (var == NULL) {
        return false;
    }
    node->value    = value;
    var->node      = node;
    var->raw_value = value;
    td_var_make(out, TD_CLASS_CUDAStreamVariable, 0);
    out->of.tensor = var;
    return true;
}

static bool
wrap_other(td_builder_t *b, td_fxnode_t *node, PyObject *value, td_var_t *out)
{
    if (is_special(b, node, STREAM) || is_special(b, node, CURRENT_STREAM)) {
        return wrap_stream(b, node, value, out);
    }
    if (PyLong_Check(value) && has_int_result(b, node) && !TD_PLANT(INT_REFUSED)) {
        node->value = value;
        return constant(value, out);
    }
    return refuse(b, node, value);
}

/* sets_state mirrors the condition on generators.  -1: stopped. */
static int
sets_state(td_builder_t *b, td_fxnode_t const *node)
{
    PyObject *self = node->callee != NULL && PyCFunction_Check(node->callee)
                         ? PyCFunction_GET_SELF(node->callee)
                         : NULL; /* borrowed */
    bool      named =
        node->callee != NULL && node->target != NULL && strcmp(node->target, "set_state") == 0;

    if (named && PyFunction_Check(node->callee)) {
        td_stop_raise(b, "L1451/bool/op2=F", __func__, "AttributeError",
                      "'function' object has no attribute '__self__'");
        return -1;
    }
    return is_special(b, node, SET_RNG_STATE) ||
           (self != NULL && named && td_is_a(self, b->tables.generator));
}

/* wrap_by_callee: results that are known by what was called.  1: done, 0: none of these,
   -1: stopped. */
static int
wrap_by_callee(td_builder_t *b, td_fxnode_t *node, PyObject *value, td_var_t *out)
{
    int sets = sets_state(b, node);

    if (sets < 0) {
        return -1;
    }
    if (sets > 0) {
        td_var_make(out, TD_CLASS_TorchVariable, 0);
        out->of.value = node->callee;
        return 1;
    }
    if (!is_special(b, node, DISABLE_FUNCTORCH) && !is_special(b, node, IS_IN_BAD_FORK)) {
        return 0;
    }
    if (td_value_is(value) && td_value_get(value, TD_VALUE_OTHER) == NULL) {
        td_stop_unsupported(b, "L1463/ret/reached", __func__, "a strange object as a result");
        return -1;
    }
    td_var_make(out, TD_CLASS_UserDefinedObjectVariable, 0);
    out->of.value = value;
    return 1;
}

/* wrap_given: a real tensor that is given as the example. */
static bool
wrap_given(td_builder_t *b, td_fx_options_t const *options, td_fxnode_t *node, PyObject *tensor,
           td_var_t *out)
{
    if (options->source.id == 0 && b->export_mode && !td_remember_copy(b, node, tensor)) {
        return false;
    }
    if (options->source.id == 0) {
        return td_stop_raise(b, "L1414/assert/fail", __func__, "AssertionError", "");
    }
    return td_stays_real(b, &options->source, tensor)
               ? td_wrap_fx_real(b, &options->source, tensor, node, options->should_specialize,
                                 options->guard, 0, out)
               : td_wrap_fx_tensor(b, &options->source, tensor, node, options->should_specialize,
                                   options->guard, 0, out);
}

/* wrap_plain: what is no tensor. */
static bool
wrap_plain(td_builder_t *b, td_fx_options_t const *options, td_fxnode_t *node, PyObject *value,
           td_var_t *out)
{
    void *what = NULL;
    bool  good = false;

    if (options->should_specialize) {
        return td_stop_unsupported(b, "L1357/if/F", __func__,
                                   "should_specialize for what is no tensor");
    }
    if (is_sequence(value)) {
        good = wrap_sequence(b, options, node, value, out);
    } else if (value == Py_None || is_special(b, node, MANUAL_SEED)) {
        good = constant(Py_None, out);
    } else {
        what = td_value_get(value, TD_VALUE_NUMBER);
        good = what != NULL ? wrap_number(b, node, what, out) : wrap_other(b, node, value, out);
    }
    if (good) {
        put(options, out);
    }
    return good;
}

/* wrap mirrors wrap_fx_proxy_cls from the example value on. */
static bool
wrap(td_builder_t *b, td_fx_options_t const *options, td_fxnode_t *node, PyObject *value,
     td_var_t *out)
{
    void *what = td_value_get(value, TD_VALUE_FAKE);
    int   done = 0;

    if (what != NULL) {
        if (!wrap_fake(b, node, what, out)) {
            return false;
        }
        put(options, out);
        if (options->raw_value != NULL) {
            unspecialized(options, out);
        }
        return true;
    }
    if (options->raw_value != NULL) {
        return td_stop_unsupported(b, "L1300/fn/entered", __func__,
                                   "a Python number that is no tensor");
    }
    if (td_is_a(value, b->tables.tensor)) {
        return wrap_given(b, options, node, value, out);
    }
    done = wrap_by_callee(b, node, value, out);
    return done != 0 ? done > 0 : wrap_plain(b, options, node, value, out);
}

/* ---- roots ------------------------------ */

/* bound_to_object: what is called may change, and says in its messages, an object that
   each side has of its own. */
static bool
bound_to_object(td_builder_t *b, td_fxnode_t const *node)
{
    PyObject *self = NULL; /* borrowed */

    if (node->callee == NULL) {
        return false;
    }
    if (PyMethod_Check(node->callee)) {
        return true;
    }
    self = PyCFunction_Check(node->callee) ? PyCFunction_GET_SELF(node->callee) : NULL;
    return self != NULL && !PyModule_Check(self) && !PyType_Check(self) &&
           !td_is_a(self, b->tables.generator) && !td_is_a(self, b->tables.capsule);
}

/* example_of gives what the result is, from the keep: what was given, else what the
   operator gave.  NULL: stopped. */
static PyObject *
example_of(td_builder_t *b, td_fx_options_t const *options, td_fxnode_t *node)
{
    static td_at_t const nowhere;
    td_record_t          record = {0};
    PyObject            *given  = options->example;

    if (given == NULL || given == Py_None) {
        if (bound_to_object(b, node)) {
            td_stop_unsupported(b, "L1387/if/T", __func__,
                                "a call of what is bound to an object of the program");
            return NULL;
        }
        return td_record_ask(b, node, &record) ? td_record_result(b, &record) : NULL;
    }
    if (td_is_lying(b, &nowhere, given) != 0 || td_is_a(given, b->tables.sym_int) ||
        td_is_a(given, b->tables.sym_bool)) {
        td_stop_unsupported(b, "L1387/if/T", __func__, "an example that is more than it seems");
        return NULL;
    }
    return td_keep(b, given) ? given : NULL;
}

/* told_twice mirrors the assertion that the node has no example yet. */
static bool
told_twice(td_builder_t *b, td_fxnode_t const *node)
{
    PyObject *text = NULL; /* owned until kept */

    if (node->example == NULL && node->number == NULL && node->value == NULL) {
        return true;
    }
    if (node->value == NULL || !PyLong_CheckExact(node->value)) {
        return td_stop_unsupported(b, "L1360/assert/fail", __func__,
                                   "an example that a message spells");
    }
    text = PyObject_Str(node->value);
    if (text == NULL) {
        return td_stop_python(b);
    }
    (void)(td_keep_steal(b, text) &&
           td_stop_raise_text(b, "L1360/assert/fail", __func__, "AssertionError", text));
    return false;
}

static bool
wrap_node(td_builder_t *b, td_fx_options_t const *options, td_fxnode_t *node, td_var_t *out)
{
    PyObject *value = NULL; /* borrowed from the keep */

    if (options->no_translator) {
        return td_stop_raise(b, "L1356/assert/fail", __func__, "AssertionError", "");
    }
    if (options->guard != 0 && !TD_ARRAY_PUSH(b->frame.output_guards, options->guard)) {
        return td_stop_nomem(b);
    }
    for (td_more_t const *more = options->more; more != NULL; more = more->next) {
        if (!TD_ARRAY_PUSH(b->frame.output_guards, more->guard)) {
            return td_stop_nomem(b);
        }
    }
    if (!told_twice(b, node)) {
        return false;
    }
    value = example_of(b, options, node);
    return value != NULL && wrap(b, options, node, value, out);
}

bool
td_wrap_fx_call(td_builder_t *b, td_fxnode_t *node, td_var_t *out)
{
    td_fx_options_t options = {0};

    return wrap_node(b, &options, node, out);
}

/* proxies mirrors Frame.operands: a new tuple; NULL: stopped. */
static PyObject *
proxies(td_builder_t *b, PyObject *args)
{
    PyObject *made = PyTuple_New(PyTuple_GET_SIZE(args)); /* owned, returned */

    for (Py_ssize_t i = 0; made != NULL && i < PyTuple_GET_SIZE(args); i++) {
        PyObject *arg   = PyTuple_GET_ITEM(args, i); /* borrowed */
        td_var_t *found = NULL;

        if (!td_operand_step(b, arg, &found)) {
            Py_CLEAR(made);
            break;
        }
        arg = found == NULL ? td_context_operand(b, arg) : td_operand_proxy(b, found);
        if (arg == NULL) {
            Py_CLEAR(made);
        } else {
            PyTuple_SET_ITEM(made, i, arg);
        }
    }
    return made;
}

/* node_of traces the call; NULL: stopped. */
static td_fxnode_t *
node_of(td_builder_t *b, PyObject *callee, PyObject *name, PyObject *args)
{
    PyObject    *operands = proxies(b, args);                                      /* owned */
    PyObject    *lowered  = operands == NULL ? NULL : td_operand_arg(b, operands); /* owned */
    td_fxnode_t *node     = NULL;

    if (lowered != NULL) {
        node = td_graph_call(b, callee, name, lowered);
    }
    Py_XDECREF(operands);
    Py_XDECREF(lowered);
    if (node == NULL && b->stop.kind == TD_STOP_NONE) {
        td_stop_python(b);
    }
    return node;
}

bool
td_build_fx(td_builder_t *b, PyObject *callee, PyObject *name, PyObject *args, td_var_t *out)
{
    static td_at_t const nowhere;
    td_fx_options_t      options = {0};
    PyObject            *rest    = NULL; /* owned */
    td_fxnode_t         *node    = NULL;

    td_trail_add(b, &nowhere, "L1300/fn/entered", __func__);
    if (!td_fx_options_read(b, args, &options, &rest)) {
        return false;
    }
    node = node_of(b, callee, name, rest);
    Py_DECREF(rest);
    if (node == NULL || !td_context_begin(b) ||
        (options.twice && !wrap_node(b, &options, node, out))) {
        return false;
    }
    return wrap_node(b, &options, node, out);
}
