/* td_record.c: operator records, read. */
#include "builder/td_record.h"

#include <stdlib.h>
#include <string.h>

#include "builder/td_ask.h"

static char const asked[]   = "L1387/if/T";
static char const wrapper[] = "L1705/bool/op2=T";

/* ---- plain data ------------------------------ */

/* A record is the harness's own: what does not fit its form is a failure of this
   builder or of the harness. */
static bool
misfit(td_builder_t *b)
{
    PyErr_Clear();
    PyErr_SetString(PyExc_TypeError, "an operator record of another form");
    return td_stop_python(b);
}

static char const *
text_of(PyObject *value)
{
    return value != NULL && PyUnicode_Check(value) ? PyUnicode_AsUTF8(value) : NULL;
}

static PyObject *
item_of(PyObject *list, Py_ssize_t idx)
{
    return list != NULL && PyList_Check(list) && idx < PyList_GET_SIZE(list)
               ? PyList_GET_ITEM(list, idx)
               : NULL;
}

static char const *
item_text(PyObject *list, Py_ssize_t idx)
{
    return text_of(item_of(list, idx));
}

static bool
is_word(char const *text, char const *word)
{
    return text != NULL && strcmp(text, word) == 0;
}

static PyObject *value_of(td_builder_t *b, td_record_t *record, PyObject *spec);

/* ---- symbolic numbers ------------------------------ */

static char const *
copy(td_builder_t *b, char const *text)
{
    char *kept = td_arena_dup(&b->frame.arena, text, strlen(text));

    if (kept == NULL) {
        td_stop_nomem(b);
    }
    return kept;
}

/* number_of reads an int or a symbolic number. */
static bool
number_of(td_builder_t *b, td_record_t *record, PyObject *spec, td_num_t *num)
{
    PyObject *hint = NULL; /* owned until kept */

    *num = (td_num_t){0};
    if (is_word(item_text(spec, 0), "int")) {
        hint      = PyLong_FromString(item_text(spec, 1), NULL, 10);
        num->hint = hint == NULL ? -1 : PyLong_AsLongLong(hint);
        Py_XDECREF(hint);
        return PyErr_Occurred() == NULL || misfit(b);
    }
    if (!is_word(item_text(spec, 0), "sym") || item_text(spec, 2) == NULL) {
        return misfit(b);
    }
    num->type = copy(b, item_text(spec, 1));
    num->expr = num->type == NULL ? NULL : copy(b, item_text(spec, 2));
    hint      = num->expr == NULL ? NULL : value_of(b, record, item_of(spec, 3));
    if (hint == NULL || !td_keep_steal(b, hint)) {
        return false;
    }
    num->no_hint = hint == Py_None;
    num->known   = PyLong_CheckExact(hint) ? NULL : hint;
    num->hint    = PyLong_CheckExact(hint) ? PyLong_AsLongLong(hint) : 0;
    return PyErr_Occurred() == NULL || misfit(b);
}

static td_num_t *
numbers_of(td_builder_t *b, td_record_t *record, PyObject *specs, uint32_t *cnt)
{
    td_num_t *nums = NULL;

    if (specs == NULL || !PyList_Check(specs)) {
        misfit(b);
        return NULL;
    }
    *cnt = (uint32_t)PyList_GET_SIZE(specs);
    nums = td_alloc_in(b, *cnt * sizeof *nums);
    for (uint32_t i = 0; nums != NULL && i < *cnt; i++) {
        if (!number_of(b, record, PyList_GET_ITEM(specs, i), &nums[i])) {
            return NULL;
        }
    }
    return nums;
}

/* ---- tensors ------------------------------ */

/* torch_attr gives torch.<name>, from the frame's keep; NULL: stopped. */
static PyObject *
torch_attr(td_builder_t *b, char const *name)
{
    PyObject *torch = td_dict_find(PyImport_GetModuleDict(), "torch"); /* borrowed */
    PyObject *found = torch == NULL || name == NULL
                          ? NULL
                          : td_dict_find(PyModule_GetDict(torch), name); /* borrowed */

    if (found == NULL) {
        misfit(b);
        return NULL;
    }
    return td_keep(b, found) ? found : NULL;
}

static PyObject *
device_of(td_builder_t *b, PyObject *text)
{
    PyObject *device = text == NULL ? NULL : PyObject_CallOneArg(b->tables.device, text);

    if (device == NULL) {
        misfit(b);
        return NULL;
    }
    return td_keep_steal(b, device) ? device : NULL;
}

/* other_fake reads a tensor that hangs on another: None is no tensor. */
static bool
other_fake(td_builder_t *b, td_record_t *record, PyObject *spec, td_fake_t **fake)
{
    PyObject *value = value_of(b, record, spec); /* owned until kept */

    *fake = NULL;
    if (value == NULL || !td_keep_steal(b, value)) {
        return false;
    }
    if (value == Py_None) {
        return true;
    }
    *fake = td_value_get(value, TD_VALUE_FAKE);
    return *fake != NULL || td_stop_unsupported(b, asked, __func__,
                                                "an operator whose result hangs on a strange "
                                                "tensor");
}

static bool
read_numbers(td_builder_t *b, td_record_t *record, PyObject *dict, td_fake_t *fake)
{
    uint32_t cnt = 0;

    fake->sizes = numbers_of(b, record, td_dict_find(dict, "size"), &fake->ndim);
    fake->strides =
        fake->sizes == NULL ? NULL : numbers_of(b, record, td_dict_find(dict, "stride"), &cnt);
    if (fake->strides == NULL) {
        return false;
    }
    if (cnt != fake->ndim) {
        return misfit(b);
    }
    for (uint32_t i = 0; i < cnt; i++) {
        fake->has_symbols =
            fake->has_symbols || fake->sizes[i].expr != NULL || fake->strides[i].expr != NULL;
    }
    return number_of(b, record, td_dict_find(dict, "offset"), &fake->offset);
}

/* functional_sort_of: a functional tensor looks like a real one.  The example stays what the
   operator gave where it is one of a fake tensor of the frame. */
static bool
functional_sort_of(td_builder_t *b, char const *sort, td_fake_t *fake)
{
    fake->is_copy    = true;
    fake->is_foreign = is_word(sort, "functional-foreign");
    fake->is_kept    = is_word(sort, "functional-own") && !TD_PLANT(FUNCTIONAL_COPIED);
    return fake->is_kept || fake->is_foreign || is_word(sort, "functional-own") ||
           is_word(sort, "functional-real") || misfit(b);
}

/* sort_of reads what sort of tensor it is. */
static bool
sort_of(td_builder_t *b, PyObject *dict, td_fake_t *fake)
{
    char const *sort = text_of(td_dict_find(dict, "sort"));

    fake->is_param   = is_word(sort, "param");
    fake->is_foreign = is_word(sort, "foreign");
    fake->is_copy    = is_word(sort, "real");
    fake->is_wrapper = is_word(sort, "wrapper");
    return fake->is_param || fake->is_foreign || fake->is_copy || fake->is_wrapper ||
           is_word(sort, "own") || functional_sort_of(b, sort, fake);
}

static td_fake_t *
fake_new(td_builder_t *b, td_record_t *record, PyObject *dict)
{
    td_fake_t *fake = td_alloc_in(b, sizeof *fake);

    if (fake == NULL || dict == NULL || !PyDict_Check(dict)) {
        misfit(b);
        return NULL;
    }
    fake->dtype = torch_attr(b, text_of(td_dict_find(dict, "dtype")));
    fake->layout =
        fake->dtype == NULL ? NULL : torch_attr(b, text_of(td_dict_find(dict, "layout")));
    fake->device = fake->layout == NULL ? NULL : device_of(b, td_dict_find(dict, "device"));
    if (fake->device == NULL || !read_numbers(b, record, dict, fake)) {
        return NULL;
    }
    if (!sort_of(b, dict, fake)) {
        return NULL;
    }
    fake->has_symbols   = fake->has_symbols || fake->offset.expr != NULL;
    fake->requires_grad = td_dict_find(dict, "requires_grad") == Py_True;
    fake->is_leaf       = td_dict_find(dict, "is_leaf") == Py_True;
    fake->number        = b->frame.fakes.cnt;
    if (!TD_ARRAY_PUSH(b->frame.fakes, fake)) {
        td_stop_nomem(b);
        return NULL;
    }
    return other_fake(b, record, td_dict_find(dict, "base"), &fake->base) &&
                   other_fake(b, record, td_dict_find(dict, "grad"), &fake->grad)
               ? fake
               : NULL;
}

static PyObject *
made_fake(td_builder_t *b, td_record_t *record, PyObject *index)
{
    PyObject  *dicts = td_dict_find(record->dict, "fakes"); /* borrowed */
    Py_ssize_t idx   = index == NULL ? -1 : PyLong_AsSsize_t(index);

    if (dicts == NULL || idx < 0 || idx >= PyList_GET_SIZE(dicts)) {
        misfit(b);
        return NULL;
    }
    if (record->fakes == NULL) {
        record->fakes = td_alloc_in(b, (size_t)PyList_GET_SIZE(dicts) * sizeof *record->fakes);
        if (record->fakes == NULL) {
            return NULL;
        }
    }
    if (record->fakes[idx] == NULL) {
        record->fakes[idx] = fake_new(b, record, PyList_GET_ITEM(dicts, idx));
    }
    return record->fakes[idx] == NULL ? NULL : td_value_new(b, TD_VALUE_FAKE, record->fakes[idx]);
}

/* ---- what is there already ------------------------------ */

static PyObject *
example_of(td_builder_t *b, char const *name)
{
    for (td_fxnode_t *node = b->frame.first; name != NULL && node != NULL; node = node->next) {
        if (strcmp(node->name, name) == 0 && node->example != NULL) {
            return td_value_new(b, TD_VALUE_FAKE, node->example);
        }
        if (strcmp(node->name, name) == 0 && node->value != NULL) {
            return Py_NewRef(node->value);
        }
    }
    return NULL;
}

/* part_of goes one link of a path from value (stolen). */
static PyObject *
part_of(td_builder_t *b, PyObject *value, PyObject *link)
{
    td_value_tuple_t *tuple = td_value_get(value, TD_VALUE_TUPLE);
    td_fake_t        *fake  = td_value_get(value, TD_VALUE_FAKE);
    PyObject         *items = tuple == NULL ? value : tuple->items; /* borrowed */
    PyObject         *part  = NULL;                                 /* owned, returned */

    if (fake != NULL && PyUnicode_Check(link)) {
        fake = is_word(text_of(link), "base") ? fake->base : fake->grad;
        part = fake == NULL ? NULL : td_value_new(b, TD_VALUE_FAKE, fake);
    } else if (PyLong_Check(link) && (PyTuple_Check(items) || PyList_Check(items)) &&
               PyLong_AsSsize_t(link) < PySequence_Fast_GET_SIZE(items)) {
        part = Py_NewRef(PySequence_Fast_GET_ITEM(items, PyLong_AsSsize_t(link)));
    }
    Py_DECREF(value);
    return part;
}

static PyObject *
known(td_builder_t *b, PyObject *name, PyObject *path)
{
    PyObject *value = example_of(b, text_of(name)); /* owned, returned */

    for (Py_ssize_t i = 0; value != NULL && path != NULL && i < PyList_GET_SIZE(path); i++) {
        value = part_of(b, value, PyList_GET_ITEM(path, i));
    }
    if (value == NULL && b->stop.kind == TD_STOP_NONE) {
        td_stop_unsupported(b, asked, __func__, "an operator record of another graph");
    }
    return value;
}

/* ---- values ------------------------------ */

static PyObject *
items_of(td_builder_t *b, td_record_t *record, PyObject *specs)
{
    Py_ssize_t cnt   = specs != NULL && PyList_Check(specs) ? PyList_GET_SIZE(specs) : 0;
    PyObject  *items = PyTuple_New(cnt); /* owned, returned */

    for (Py_ssize_t i = 0; items != NULL && i < cnt; i++) {
        PyObject *item = value_of(b, record, PyList_GET_ITEM(specs, i)); /* owned, stolen */

        if (item == NULL) {
            Py_CLEAR(items);
        } else {
            PyTuple_SET_ITEM(items, i, item);
        }
    }
    return items;
}

/* of_class makes a tuple of a class of torch's. */
static PyObject *
of_class(td_builder_t *b, char const *name, PyObject *items)
{
    td_value_tuple_t *tuple = td_alloc_in(b, sizeof *tuple);
    PyObject         *types = torch_attr(b, "return_types"); /* borrowed from the keep */

    if (tuple == NULL || types == NULL || !td_keep(b, items)) {
        return NULL;
    }
    tuple->items = items;
    tuple->cls   = strcmp(name, "Size") == 0
                       ? b->tables.size
                       : td_dict_find(PyModule_GetDict(types), name); /* borrowed */
    if (tuple->cls == NULL) {
        misfit(b);
        return NULL;
    }
    return td_value_new(b, TD_VALUE_TUPLE, tuple);
}

/* class_named gives a class by module and name, from the keep; NULL: stopped. */
static PyObject *
class_named(td_builder_t *b, char const *module, char const *name)
{
    PyObject *in    = module == NULL ? NULL : td_dict_find(PyImport_GetModuleDict(), module);
    PyObject *found = in == NULL || name == NULL || !PyModule_Check(in)
                          ? NULL
                          : td_dict_find(PyModule_GetDict(in), name); /* borrowed */

    if (found == NULL || !PyType_Check(found)) {
        misfit(b);
        return NULL;
    }
    return td_keep(b, found) ? found : NULL;
}

static PyObject *
subclass_of(td_builder_t *b, td_record_t *record, PyObject *spec)
{
    bool              is_tuple = is_word(item_text(spec, 1), "tuple");
    td_value_tuple_t *tuple    = td_alloc_in(b, sizeof *tuple);
    PyObject         *items    = NULL; /* owned until kept */

    if (tuple == NULL) {
        return NULL;
    }
    tuple->cls = class_named(b, item_text(spec, 2), item_text(spec, 3));
    items      = tuple->cls == NULL ? NULL : items_of(b, record, item_of(spec, 4));
    if (items == NULL || !td_keep_steal(b, items)) {
        return NULL;
    }
    tuple->items = items;
    return td_value_new(b, is_tuple ? TD_VALUE_TUPLE : TD_VALUE_LIST, tuple);
}

static PyObject *
dict_of(td_builder_t *b, td_record_t *record, PyObject *pairs)
{
    PyObject *made = PyDict_New(); /* owned, returned */

    for (Py_ssize_t i = 0; made != NULL && pairs != NULL && i < PyList_GET_SIZE(pairs); i++) {
        PyObject *pair  = PyList_GET_ITEM(pairs, i);                                  /* borrowed */
        PyObject *key   = value_of(b, record, item_of(pair, 0));                      /* owned */
        PyObject *value = key == NULL ? NULL : value_of(b, record, item_of(pair, 1)); /* owned */

        if (value == NULL || PyDict_SetItem(made, key, value) < 0) {
            Py_CLEAR(made);
        }
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return made;
}

static PyObject *
other_of(td_builder_t *b, PyObject *spec)
{
    td_value_other_t *other = td_alloc_in(b, sizeof *other);

    if (other == NULL || item_text(spec, 1) == NULL) {
        return NULL;
    }
    other->name = copy(b, item_text(spec, 1));
    other->cls =
        other->name == NULL ? NULL : class_named(b, item_text(spec, 2), item_text(spec, 3));
    return other->cls == NULL ? NULL : td_value_new(b, TD_VALUE_OTHER, other);
}

static PyObject *
sequence_of(td_builder_t *b, td_record_t *record, PyObject *spec)
{
    char const *name  = item_text(spec, 1);
    PyObject   *items = items_of(b, record, item_of(spec, 2)); /* owned */
    PyObject   *made  = NULL;                                  /* owned, returned */

    if (items == NULL || name == NULL) {
        Py_XDECREF(items);
        return NULL;
    }
    if (strcmp(name, "tuple") == 0) {
        return items;
    }
    if (strcmp(name, "list") == 0) {
        made = PySequence_List(items);
    } else if (strcmp(name, "set") == 0) {
        made = PySet_New(items);
    } else {
        made = of_class(b, name, items);
    }
    Py_DECREF(items);
    return made;
}

static PyObject *
float_of(PyObject *text)
{
    PyObject *made =
        text == NULL ? NULL : PyObject_CallMethod((PyObject *)&PyFloat_Type, "fromhex", "O", text);

    return made;
}

static PyObject *
special_of(td_builder_t *b, td_record_t *record, char const *word, PyObject *spec)
{
    td_num_t *num = NULL;

    if (is_word(word, "sym")) {
        num = td_alloc_in(b, sizeof *num);
        return num == NULL || !number_of(b, record, spec, num)
                   ? NULL
                   : td_value_new(b, TD_VALUE_NUMBER, num);
    }
    if (is_word(word, "known")) {
        return known(b, item_of(spec, 1), item_of(spec, 2));
    }
    if (is_word(word, "fake")) {
        return made_fake(b, record, item_of(spec, 1));
    }
    if (is_word(word, "seq")) {
        return sequence_of(b, record, spec);
    }
    if (is_word(word, "torch")) {
        return Py_XNewRef(torch_attr(b, item_text(spec, 1)));
    }
    if (is_word(word, "device")) {
        return Py_XNewRef(device_of(b, item_of(spec, 1)));
    }
    if (is_word(word, "sub")) {
        return subclass_of(b, record, spec);
    }
    if (is_word(word, "dict")) {
        return dict_of(b, record, item_of(spec, 1));
    }
    if (is_word(word, "strange")) {
        td_stop_unsupported(b, asked, __func__, "an operator whose result no record says");
        return NULL;
    }
    return is_word(word, "other") ? other_of(b, spec) : NULL;
}

/* value_of reads a VALUE: a new reference; NULL: stopped. */
static PyObject *
value_of(td_builder_t *b, td_record_t *record, PyObject *spec)
{
    char const *word = item_text(spec, 0);
    PyObject   *rest = item_of(spec, 1); /* borrowed */
    PyObject   *made = NULL;             /* owned, returned */

    if (is_word(word, "none")) {
        return Py_NewRef(Py_None);
    }
    if (is_word(word, "bool") || is_word(word, "str")) {
        return Py_XNewRef(rest);
    }
    if (is_word(word, "int")) {
        made = rest == NULL ? NULL : PyLong_FromUnicodeObject(rest, 10);
    } else if (is_word(word, "float")) {
        made = float_of(rest);
    } else {
        made = special_of(b, record, word, spec);
    }
    if (made == NULL && b->stop.kind == TD_STOP_NONE) {
        misfit(b);
    }
    return made;
}

/* ---- asking ------------------------------ */

/* put_address replaces a word of text (stolen) by the address of object: a new
   reference; NULL: a Python exception. */
static PyObject *
put_address(PyObject *text, char const *word, PyObject *object)
{
    PyObject *from = PyUnicode_FromString(word);         /* owned */
    PyObject *to   = PyUnicode_FromFormat("%p", object); /* owned */
    PyObject *made = from == NULL || to == NULL || text == NULL
                         ? NULL
                         : PyUnicode_Replace(text, from, to, -1); /* owned, returned */

    Py_XDECREF(from);
    Py_XDECREF(to);
    Py_XDECREF(text);
    return made;
}

/* with_addresses gives the text of an exception as this process would spell it. */
static PyObject *
with_addresses(PyObject *text, PyObject *callee)
{
    text = Py_NewRef(text);
    if (callee != NULL) {
        text = put_address(text, "<address of callee>", callee);
    }
    if (callee != NULL && PyCFunction_Check(callee) &&
        ((PyCFunctionObject *)callee)->m_self != NULL) {
        text = put_address(text, "<address of owner>", ((PyCFunctionObject *)callee)->m_self);
    }
    return text;
}

static bool
raised(td_builder_t *b, PyObject *exception, PyObject *callee)
{
    char const *cls  = item_text(exception, 0);
    PyObject   *text = item_of(exception, 1); /* borrowed, then owned until kept */

    cls = cls == NULL ? NULL : copy(b, cls);
    if (cls == NULL || text == NULL) {
        return misfit(b);
    }
    text = with_addresses(text, callee);
    if (text == NULL) {
        return td_stop_python(b);
    }
    return td_keep_steal(b, text) && td_stop_raise_text(b, asked, __func__, cls, text);
}

bool
td_record_ask(td_builder_t *b, td_fxnode_t *node, td_record_t *record)
{
    PyObject *exception = NULL; /* borrowed */
    PyObject *moved     = NULL; /* borrowed */

    *record = (td_record_t){0};
    if (b->records == NULL || b->record_idx >= PyList_GET_SIZE(b->records)) {
        return td_stop_unsupported(b, asked, __func__, "no operator record");
    }
    record->dict = PyList_GET_ITEM(b->records, b->record_idx++);
    if (!is_word(text_of(td_dict_find(record->dict, "node")), node->name)) {
        return td_stop_raise(b, asked, __func__, "tandem.OperatorRecord",
                             "another operator is asked for than was run");
    }
    moved = td_dict_find(record->dict, "moved");
    if (moved == NULL || PyList_GET_SIZE(moved) > 0) {
        return td_stop_unsupported(b, asked, __func__,
                                   "an operator that changed more than its result");
    }
    exception = td_dict_find(record->dict, "exception");
    if (exception != NULL && node->callee != NULL && PyCFunction_Check(node->callee) &&
        PyCFunction_GET_SELF(node->callee) != NULL &&
        td_is_a(PyCFunction_GET_SELF(node->callee), b->tables.generator)) {
        return td_stop_unsupported(b, asked, __func__, "what a generator's method raised");
    }
    return exception == NULL || raised(b, exception, node->callee);
}

/* ---- wrappers ------------------------------ */

/* next gives the next record, which is one of op; NULL: stopped, by what it says was raised. */
static PyObject *
next_of(td_builder_t *b, char const *op)
{
    PyObject *dict      = NULL; /* borrowed */
    PyObject *exception = NULL; /* borrowed */
    PyObject *moved     = NULL; /* borrowed */

    if (b->records == NULL || b->record_idx >= PyList_GET_SIZE(b->records)) {
        td_stop_unsupported(b, wrapper, __func__, "no operator record");
        return NULL;
    }
    dict = PyList_GET_ITEM(b->records, b->record_idx++);
    if (!is_word(text_of(td_dict_find(dict, "op")), op)) {
        td_stop_raise(b, wrapper, __func__, "tandem.OperatorRecord",
                      "another operator is asked for than was run");
        return NULL;
    }
    exception = td_dict_find(dict, "exception");
    if (exception != NULL) {
        raised(b, exception, NULL);
        return NULL;
    }
    moved = td_dict_find(dict, "moved");
    if (moved == NULL) {
        td_stop_python(b);
        return NULL;
    }
    if (PyList_GET_SIZE(moved) > 0) {
        td_stop_unsupported(b, wrapper, __func__, "a wrapper whose code asks about its shape");
        return NULL;
    }
    return dict;
}

/* symbol_of gives the symbol of a name as a number. */
static bool
symbol_of(td_builder_t *b, char const *name, td_num_t *num)
{
    td_symbols_t const *symbols = &b->frame.symbols;
    int64_t             hint    = num->hint;

    for (uint32_t i = 0; name != NULL && i < symbols->cnt; i++) {
        if (strcmp(symbols->at[i].name, name) == 0 && symbols->at[i].value != NULL) {
            hint                 = PyLong_AsLongLong(symbols->at[i].value);
            *num                 = (td_num_t){.hint = hint, .product = {.coef = 1, .cnt = 1}};
            num->product.factors = td_alloc_in(b, sizeof *num->product.factors);
            if (num->product.factors == NULL) {
                return false;
            }
            num->product.factors[0] = i;
            return true;
        }
    }
    return td_stop_unsupported(b, wrapper, __func__, "a wrapper whose shape is an expression");
}

/* known_number turns what a record spells into a number of the frame: a symbol, or a product of
   some, with a plain number before them. */
static bool
known_number(td_builder_t *b, td_num_t *num)
{
    char const *left = num->expr;
    td_num_t    made = {.hint = 1};

    while (left != NULL && *left != '\0') {
        size_t   sz     = strcspn(left, "*");
        char    *one    = td_arena_dup(&b->frame.arena, left, sz);
        td_num_t num_of = {0};

        if (one == NULL) {
            return td_stop_nomem(b);
        }
        one[sz] = '\0';
        if (strspn(one, "0123456789") == sz && sz > 0) {
            num_of.hint = strtoll(one, NULL, 10);
        } else if (!symbol_of(b, one, &num_of)) {
            return false;
        }
        if (!td_num_times(b, &made, &num_of, &made)) {
            return false;
        }
        left += sz;
        left += *left == '*';
    }
    if (num->expr != NULL) {
        *num = made;
    }
    return true;
}

static bool
known_numbers(td_builder_t *b, td_fake_t *fake)
{
    for (uint32_t i = 0; i < fake->ndim; i++) {
        if (!known_number(b, &fake->sizes[i]) || !known_number(b, &fake->strides[i])) {
            return false;
        }
    }
    return known_number(b, &fake->offset);
}

/* ask_known asks what putting the wrapper together asked: whether symbols are numbers. */
static bool
ask_known(td_builder_t *b, PyObject *asked)
{
    for (Py_ssize_t i = 0; asked != NULL && i < PyList_GET_SIZE(asked); i++) {
        char const *text   = item_text(PyList_GET_ITEM(asked, i), 1);
        td_num_t    symbol = {0};
        td_num_t    number = {.hint = text == NULL ? 0 : strtoll(text, NULL, 10)};

        if (!symbol_of(b, item_text(PyList_GET_ITEM(asked, i), 0), &symbol) ||
            td_ask(b, TD_ASK_EQ, &symbol, &number, false) < 0) {
            return false;
        }
    }
    return true;
}

/* name_parts notes under which names a wrapper has its parts. */
static bool
name_parts(td_builder_t *b, PyObject *pairs, td_fake_t **parts, uint32_t cnt, td_fake_t *fake)
{
    Py_ssize_t pair_cnt = pairs == NULL ? 0 : PyList_GET_SIZE(pairs);

    fake->parts = td_alloc_in(b, ((size_t)pair_cnt + 1) * sizeof *fake->parts);
    for (Py_ssize_t i = 0; fake->parts != NULL && i < pair_cnt; i++) {
        PyObject   *spec = item_of(PyList_GET_ITEM(pairs, i), 1); /* borrowed */
        PyObject   *idx  = item_of(spec, 1);                      /* borrowed */
        char const *name = item_text(PyList_GET_ITEM(pairs, i), 0);

        if (name == NULL || idx == NULL || PyLong_AsSize_t(idx) >= cnt) {
            return misfit(b);
        }
        fake->parts[i].name = copy(b, name);
        fake->parts[i].fake = parts[PyLong_AsSize_t(idx)];
        fake->part_cnt++;
        if (fake->parts[i].name == NULL) {
            return false;
        }
    }
    return fake->parts != NULL;
}

td_fake_t *
td_record_wrapper(td_builder_t *b, PyObject *cls, td_fake_t **parts, uint32_t cnt)
{
    td_record_t record = {.dict = next_of(b, "unflatten")};
    PyObject   *dicts  = record.dict == NULL ? NULL : td_dict_find(record.dict, "fakes");
    PyObject   *dict   = item_of(dicts, 0); /* borrowed */
    td_fake_t  *fake   = NULL;

    if (record.dict == NULL) {
        return NULL;
    }
    if (dict == NULL) {
        td_stop_unsupported(b, wrapper, __func__, "a wrapper that no record says");
        return NULL;
    }
    fake = fake_new(b, &record, dict);
    if (fake == NULL || !td_keep(b, cls) ||
        !name_parts(b, td_dict_find(dict, "attributes"), parts, cnt, fake) ||
        !known_numbers(b, fake) || !ask_known(b, td_dict_find(record.dict, "asked"))) {
        return NULL;
    }
    fake->copy_class = cls;
    return fake;
}

bool
td_record_clone(td_builder_t *b)
{
    return next_of(b, "clone") != NULL &&
           td_stop_unsupported(b, wrapper, __func__, "a copy of a wrapper");
}

PyObject *
td_record_result(td_builder_t *b, td_record_t *record)
{
    PyObject *value = value_of(b, record, td_dict_find(record->dict, "result"));

    return value != NULL && td_keep_steal(b, value) ? value : NULL;
}
