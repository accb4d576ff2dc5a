/* wrap_subclass.c: tensors of classes of their own.

   The reference takes one of a class that traceable_tensor_subclasses lists for a plain
   tensor and remembers its class; where it is an attribute of the graph, or an example
   that somebody gave, it copies it.  On the way it reads the tensor, and what it reads
   runs the class's own __torch_function__: that code runs here as often and in the same
   order; what this builder itself has to know it reads with that switched off. */
#include "builder/td_builder_private.h"
#include "py/td_call.h"

bool
td_wrap_traceable_class(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    td_var_make(out, TD_CLASS_TensorSubclassVariable, 0);
    out->source   = at->id;
    out->of.value = value;
    return td_keep(b, value);
}

/* ---- quiet -------------------------------------------------------------------------- */

/* has_own says whether tensor's class has another name than Tensor itself. */
static bool
has_own(td_builder_t *b, PyObject *tensor, PyObject *name)
{
    PyTypeObject *plain = (PyTypeObject *)b->tables.tensor;

    return !Py_IS_TYPE(tensor, plain) &&
           _PyType_Lookup(Py_TYPE(tensor), name) != _PyType_Lookup(plain, name);
}

/* has_function says whether code of the class's own runs when tensor is read: torch
   switches __torch_function__ off for Parameter by a function of its own. */
static bool
has_function(td_builder_t *b, PyObject *tensor)
{
    PyObject *name = b->names.torch_function;

    return has_own(b, tensor, name) &&
           _PyType_Lookup(Py_TYPE(tensor), name) !=
               _PyType_Lookup((PyTypeObject *)b->tables.parameter, name);
}

bool
td_quiet_begin(td_builder_t *b, PyObject *tensor, PyObject **off)
{
    PyObject *entered = NULL; /* owned */

    *off = NULL;
    if ((PyObject *)Py_TYPE(tensor) == b->tables.tensor ||
        (PyObject *)Py_TYPE(tensor) == b->tables.parameter) {
        return true;
    }
    *off    = td_call(b->tables.no_torch_function, NULL, 0);
    entered = *off == NULL ? NULL : td_call_method(b->names.enter, off, 1);
    if (entered == NULL) {
        Py_CLEAR(*off);
        return td_stop_python(b);
    }
    Py_DECREF(entered);
    return true;
}

void
td_quiet_end(td_builder_t *b, PyObject *off)
{
    PyObject *args[4] = {off, Py_None, Py_None, Py_None};
    PyObject *left    = NULL; /* owned */

    if (off == NULL) {
        return;
    }
    left = td_call_method(b->names.exit, args, 4);
    if (left == NULL) {
        td_stop_python(b);
    }
    Py_XDECREF(left);
    Py_DECREF(off);
}

/* ---- what the reference reads ----------------------------------------------------------- */

static bool
lies(td_builder_t *b)
{
    return td_stop_unsupported(b, "L1724/fn/entered", __func__,
                               "a subclass whose __torch_function__ gives other answers");
}

/* ask reads an attribute, or calls a method with arg unless that is NULL.  Owned; NULL:
   stopped, by what the class raised. */
static PyObject *
ask(td_builder_t *b, PyObject *tensor, PyObject *name)
{
    PyObject *got = td_call_attr(tensor, name);

    if (got == NULL) {
        td_stop_passing(b, "L1724/fn/entered", __func__);
    }
    return got;
}

static PyObject *
ask_method(td_builder_t *b, PyObject *tensor, PyObject *name, PyObject *arg)
{
    PyObject *args[2] = {tensor, arg};
    PyObject *got     = td_call_method(name, args, arg == NULL ? 1 : 2);

    if (got == NULL) {
        td_stop_passing(b, "L1562/if/T", __func__);
    }
    return got;
}

/* agrees: what the class answered (owned, given back) is what is there. */
static bool
agrees(td_builder_t *b, PyObject *got, PyObject *real)
{
    int same = 0;

    if (got == NULL) {
        return false;
    }
    if (Py_IS_TYPE(got, Py_TYPE(real))) {
        same = PyObject_RichCompareBool(got, real, Py_EQ); /* torch's own types and ints */
    }
    Py_DECREF(got);
    if (same < 0) {
        PyErr_Clear();
    }
    return same == 1 || lies(b);
}

static bool
ask_size(td_builder_t *b, PyObject *tensor, PyObject *real)
{
    return agrees(b, ask_method(b, tensor, b->names.size, NULL), real);
}

/* ask_number: a method or attribute that gives how many dims there are. */
static bool
ask_number(td_builder_t *b, PyObject *tensor, PyObject *name, bool is_method, Py_ssize_t number)
{
    PyObject *real = PyLong_FromSsize_t(number); /* owned */
    bool      good = false;

    if (real == NULL) {
        return td_stop_python(b);
    }
    good = agrees(b, is_method ? ask_method(b, tensor, name, NULL) : ask(b, tensor, name), real);
    Py_DECREF(real);
    return good;
}

/* ask_seen: what is compared with the sizes of frames before this one. */
static bool
ask_seen(td_builder_t *b, PyObject *tensor, PyObject *real, td_state_entry_t const *entry)
{
    Py_ssize_t cnt = PyTuple_GET_SIZE(real);

    if (entry->size == NULL) {
        return true;
    }
    if (!ask_number(b, tensor, b->names.ndim, false, cnt)) {
        return false;
    }
    if ((Py_ssize_t)entry->size_cnt != cnt) {
        return ask_number(b, tensor, b->names.ndim, false, cnt); /* for the log */
    }
    for (Py_ssize_t i = 0; i < cnt; i++) {
        PyObject *dim  = NULL; /* owned */
        bool      good = true;

        if (entry->size[i] == TD_DIM_NONE) {
            continue;
        }
        if (!ask_size(b, tensor, real)) {
            return false;
        }
        if (entry->size[i] == PyLong_AsLongLong(PyTuple_GET_ITEM(real, i))) {
            continue;
        }
        dim  = PyLong_FromSsize_t(i);
        good = dim != NULL && agrees(b, ask_method(b, tensor, b->names.size, dim),
                                     PyTuple_GET_ITEM(real, i)); /* for the log */
        Py_XDECREF(dim);
        if (!good) {
            return false;
        }
    }
    return true;
}

static bool
ask_dims(td_builder_t *b, td_at_t const *at, PyObject *tensor, PyObject *real)
{
    Py_ssize_t        cnt   = PyTuple_GET_SIZE(real);
    td_state_entry_t *entry = NULL;
    bool              known = false;
    bool              fresh = false;

    if ((td_switch(b, TD_SWITCH_SIZES_READ_FIRST) && !ask_size(b, tensor, real)) ||
        !td_frame_state_knows(b, at, &known)) {
        return false;
    }
    if (!known && !ask_size(b, tensor, real)) {
        return false;
    }
    if (known) {
        entry = td_frame_state_get(b, at, &fresh);
        if (entry == NULL || !ask_seen(b, tensor, real, entry)) {
            return false;
        }
    }
    return ask_number(b, tensor, b->names.dim, true, cnt);
}

bool
td_torch_function_ask_dims(td_builder_t *b, td_at_t const *at, PyObject *tensor, bool is_static)
{
    PyObject  *off  = NULL; /* owned */
    PyObject  *real = NULL; /* owned */
    Py_ssize_t cnt  = 0;
    bool       good = false;

    if (td_is_fake_tensor(b, tensor) ||
        (td_is_wrapper(b, tensor) && !has_own(b, tensor, b->names.torch_function))) {
        return true;
    }
    if (has_own(b, tensor, b->names.torch_dispatch)) {
        return td_stop_unsupported(b, "L1724/fn/entered", __func__,
                                   "a subclass with a __torch_dispatch__ of its own");
    }
    if (!has_function(b, tensor)) {
        return true;
    }
    if (!td_quiet_begin(b, tensor, &off)) {
        return false;
    }
    real = td_tensor_size(b, tensor);
    td_quiet_end(b, off);
    if (real == NULL) {
        return false;
    }
    cnt  = PyTuple_GET_SIZE(real);
    good = is_static ? ask_number(b, tensor, b->names.dim, true, cnt) &&
                           ask_number(b, tensor, b->names.dim, true, cnt)
                     : ask_dims(b, at, tensor, real);
    Py_DECREF(real);
    return good;
}

/* ask_flag: true of a subclass, a layout or kind that is refused. */
static bool
ask_flag(td_builder_t *b, PyObject *tensor, PyObject *name)
{
    return agrees(b, ask(b, tensor, name), Py_False);
}

static bool
ask_device(td_builder_t *b, PyObject *tensor)
{
    PyObject *off  = NULL; /* owned */
    PyObject *real = NULL; /* owned */
    bool      good = false;

    if (!td_quiet_begin(b, tensor, &off)) {
        return false;
    }
    real = td_tensor_attr(b, tensor, b->names.device);
    td_quiet_end(b, off);
    good = real != NULL && agrees(b, ask(b, tensor, b->names.device), real);
    Py_XDECREF(real);
    return good;
}

/* ask_base mirrors t._is_view() and t._base is not None and t._base.is_sparse. */
static bool
ask_base(td_builder_t *b, PyObject *tensor)
{
    PyObject *is_view = ask_method(b, tensor, b->names.is_view, NULL); /* owned */
    PyObject *base    = NULL;                                          /* owned */
    bool      good    = is_view == Py_False;

    if (is_view == Py_True) {
        base = ask(b, tensor, b->names.base);
        good = base != NULL;
        if (good && base != Py_None) {
            Py_DECREF(base);
            base = ask(b, tensor, b->names.base);
            good = base != NULL && ask_flag(b, base, b->names.is_sparse);
        }
    } else if (is_view != NULL && !good) {
        good = lies(b);
    }
    Py_XDECREF(is_view);
    Py_XDECREF(base);
    return good;
}

/* ask_layout: the layout is compared, and nothing said of it but that it is one. */
static bool
ask_layout(td_builder_t *b, PyObject *tensor, PyObject *name, bool is_tuple)
{
    PyObject *got  = ask(b, tensor, name); /* owned */
    bool      good = got != NULL && (!is_tuple || PyTuple_Check(got) || lies(b));

    Py_XDECREF(got);
    return good;
}

bool
td_torch_function_ask_rest(td_builder_t *b, PyObject *tensor)
{
    td_names_t const *names = &b->names;

    if (!has_function(b, tensor)) {
        return true;
    }
    if (!ask_layout(b, tensor, names->shape, true)) { /* for the log */
        return false;
    }
    if (td_pmap_get(&b->frame.fake_by_tensor, tensor) != TD_MAP_NONE) {
        return true;
    }
    return ask_device(b, tensor) && ask_flag(b, tensor, names->is_quantized) &&
           ask_device(b, tensor) && ask_flag(b, tensor, names->is_sparse_csr) &&
           ask_layout(b, tensor, names->layout, false) &&
           ask_flag(b, tensor, names->is_quantized) && ask_flag(b, tensor, names->is_nested) &&
           ask_base(b, tensor) && ask_device(b, tensor);
}

/* ---- copies ------------------------------------------------------------------------------ */

bool
td_is_subclass_tensor(td_builder_t *b, PyObject *tensor)
{
    PyObject *cls = (PyObject *)Py_TYPE(tensor);

    return cls != b->tables.tensor && cls != b->tables.parameter && cls != b->tables.fake_tensor;
}

/* ask_real reads what tensor is with the class's own code switched off. */
static PyObject *
ask_real(td_builder_t *b, PyObject *tensor, PyObject *name, bool is_method)
{
    PyObject *off  = NULL; /* owned */
    PyObject *real = NULL; /* owned, returned */

    if (!td_quiet_begin(b, tensor, &off)) {
        return NULL;
    }
    real = is_method ? td_call_method(name, &tensor, 1) : td_call_attr(tensor, name);
    td_quiet_end(b, off);
    if (real == NULL) {
        td_stop_passing(b, "L1375/if/T", __func__);
    }
    return real;
}

/* ask_same: a method without arguments, or an attribute, that tells the truth. */
static bool
ask_same(td_builder_t *b, PyObject *tensor, PyObject *name, bool is_method)
{
    PyObject *got  = is_method ? ask_method(b, tensor, name, NULL) : ask(b, tensor, name);
    PyObject *real = got == NULL ? NULL : ask_real(b, tensor, name, is_method); /* owned */
    bool      good = false;

    if (real == NULL) {
        Py_XDECREF(got);
        return false;
    }
    good = agrees(b, got, real);
    Py_DECREF(real);
    return good;
}

static bool
ask_all(td_builder_t *b, PyObject *tensor, PyObject *const *attributes, size_t cnt)
{
    bool good = true;

    for (size_t i = 0; good && i < cnt; i++) {
        good = ask_same(b, tensor, attributes[i], false);
    }
    return good;
}

static bool
ask_shape(td_builder_t *b, PyObject *tensor)
{
    return ask_same(b, tensor, b->names.size, true) && ask_same(b, tensor, b->names.stride, true);
}

/* beside gives a plain tensor of a tensor's sizes and strides: owned, NULL stopped. */
static PyObject *
beside(td_builder_t *b, PyObject *tensor)
{
    PyObject *off     = NULL;                                               /* owned */
    PyObject *args[3] = {tensor, ask_real(b, tensor, b->names.size, true)}; /* [1], [2] owned */
    PyObject *made    = NULL;                                               /* owned, returned */

    args[2] = args[1] == NULL ? NULL : ask_real(b, tensor, b->names.stride, true);
    if (args[2] != NULL && td_quiet_begin(b, tensor, &off)) {
        made = td_call_method(b->names.new_empty_strided, args, 3);
        td_quiet_end(b, off);
        if (made == NULL) {
            td_stop_python(b);
        }
    }
    Py_XDECREF(args[2]);
    Py_XDECREF(args[1]);
    return made;
}

/* ask_filled mirrors result.copy_(x.clone()): 1, 0 where it raised a RuntimeError, as it
   does when elements repeat, or -1: stopped. */
static int
ask_filled(td_builder_t *b, PyObject *tensor)
{
    PyObject *args[2] = {beside(b, tensor), NULL}; /* owned */
    PyObject *filled  = NULL;                      /* owned */
    int       is      = args[0] == NULL ? -1 : 0;

    args[1] = is < 0 ? NULL : td_call_method(b->names.clone, &tensor, 1);
    filled  = args[1] == NULL ? NULL : td_call_method(b->names.copy_, args, 2);
    if (filled != NULL) {
        is = 1;
    } else if (is == 0 && !PyErr_ExceptionMatches(PyExc_RuntimeError)) {
        td_stop_passing(b, "L1375/if/T", __func__);
        is = -1;
    } else if (is == 0) {
        PyErr_Clear();
    }
    Py_XDECREF(filled);
    Py_XDECREF(args[1]);
    Py_XDECREF(args[0]);
    return is;
}

/* ask_leaf mirrors what a copy takes over from a leaf; copy: one that is asked too, or NULL. */
static bool
ask_leaf(td_builder_t *b, PyObject *tensor, PyObject *copy)
{
    PyObject *args[2] = {copy, ask_real(b, tensor, b->names.is_leaf, false)}; /* [1] owned */
    PyObject *set     = NULL;                                                 /* owned */
    bool      is_leaf = args[1] == Py_True;
    bool      good    = args[1] != NULL && ask_same(b, tensor, b->names.is_leaf, false) &&
                (!is_leaf || ask_same(b, tensor, b->names.requires_grad, false));

    Py_XDECREF(args[1]);
    if (good && is_leaf && copy != NULL) {
        args[1] = ask_real(b, tensor, b->names.requires_grad, false);
        set     = args[1] == NULL ? NULL : td_call_method(b->names.requires_grad_, args, 2);
        good    = set != NULL || (args[1] != NULL && td_stop_passing(b, "L1375/if/T", __func__));
        Py_XDECREF(set);
        Py_XDECREF(args[1]);
    }
    return good && ask_same(b, tensor, b->names.is_leaf, false);
}

static bool ask_copy(td_builder_t *b, PyObject *tensor, PyObject **cls);

/* ask_gradient_of copies the gradient of a leaf that has one. */
static bool
ask_gradient_of(td_builder_t *b, PyObject *tensor)
{
    PyObject *got  = ask(b, tensor, b->names.grad); /* owned */
    PyObject *cls  = b->tables.tensor;
    bool      good = got != NULL && (td_is_a(got, b->tables.tensor) || lies(b));

    good = good && (!td_is_subclass_tensor(b, got) || ask_copy(b, got, &cls));
    Py_XDECREF(got);
    return good && (cls == b->tables.tensor ||
                    td_stop_unsupported(b, "L1375/if/T", __func__,
                                        "a copy of a gradient that stays of its class"));
}

/* ask_gradient: a gradient is asked for, and copied in its turn. */
static bool
ask_gradient(td_builder_t *b, PyObject *tensor)
{
    PyObject *is_leaf = ask_real(b, tensor, b->names.is_leaf, false); /* owned */
    PyObject *got     = NULL;                                         /* owned */
    bool      good    = is_leaf == Py_False;

    if (is_leaf == Py_True) {
        got  = ask(b, tensor, b->names.grad);
        good = got == Py_None || (got != NULL && ask_gradient_of(b, tensor));
    }
    Py_XDECREF(got);
    Py_XDECREF(is_leaf);
    return good;
}

/* ask_formats mirrors the last question of specialize(). */
static bool
ask_formats(td_builder_t *b, PyObject *tensor)
{
    PyObject *formats = b->tables.memory_formats;                /* borrowed */
    PyObject *kwnames = PyTuple_Pack(1, b->names.memory_format); /* owned */
    PyObject *method  = NULL;                                    /* owned */
    bool      good    = kwnames != NULL || td_stop_python(b);

    for (Py_ssize_t i = 0; good && i < PyTuple_GET_SIZE(formats); i++) {
        PyObject *format = PyTuple_GET_ITEM(formats, i); /* borrowed */
        PyObject *got    = NULL;                         /* owned */

        method = td_call_attr(tensor, b->names.is_contiguous);
        got    = method == NULL ? NULL : td_call_kw(method, &format, 0, kwnames);
        good =
            got != NULL ? PyBool_Check(got) || lies(b) : td_stop_passing(b, "L1375/if/T", __func__);
        Py_XDECREF(got);
        Py_XDECREF(method);
    }
    Py_XDECREF(kwnames);
    return good;
}

/* ask_specialized mirrors what TensorVariable.specialize() asks of a copy that is of the
   class itself. */
static bool
ask_specialized(td_builder_t *b, PyObject *copy)
{
    td_names_t const *n       = &b->names;
    PyObject *const   props[] = {n->dtype,         n->device,       n->layout,   n->ndim,
                                 n->requires_grad, n->is_quantized, n->is_sparse};

    return ask_all(b, copy, props, sizeof props / sizeof *props) && ask_shape(b, copy) &&
           ask_same(b, copy, n->storage_offset, true) && ask_shape(b, copy) && ask_formats(b, copy);
}

/* ask_based: a copy of the class itself is a view of what torch made. */
static bool
ask_based(td_builder_t *b, PyObject *copy)
{
    PyObject *base = ask_real(b, copy, b->names.base, false); /* owned */
    bool      is   = base != NULL && (!td_is_subclass_tensor(b, copy) ||
                               Py_IS_TYPE(base, (PyTypeObject *)b->tables.tensor));

    Py_XDECREF(base);
    return is || (base != NULL && lies(b));
}

/* ask_clone mirrors torch.clone(x), where a copy can't be laid out like the tensor; the
   clone is of whatever class the tensor's own code says.  *cls is that class. */
static bool
ask_clone(td_builder_t *b, PyObject *tensor, PyObject **cls)
{
    PyObject *copy = td_call(b->tables.clone, &tensor, 1); /* owned */
    bool      good = false;

    if (copy == NULL) {
        return td_stop_passing(b, "L1375/if/T", __func__);
    }
    *cls = (PyObject *)Py_TYPE(copy);
    good = td_is_a(copy, b->tables.tensor) || lies(b);
    good = good && ask_based(b, copy) && ask_leaf(b, tensor, copy) && ask_gradient(b, tensor);
    if (good && has_function(b, copy)) {
        good = ask_specialized(b, copy);
    }
    Py_DECREF(copy);
    return good;
}

/* ask_copy runs the class's code as clone_input does.  *cls: the copy's class. */
static bool
ask_copy(td_builder_t *b, PyObject *tensor, PyObject **cls)
{
    td_names_t const *n       = &b->names;
    PyObject *const   kinds[] = {n->is_quantized, n->dtype, n->device};
    int               filled  = 0;

    if (!ask_device(b, tensor) || !ask_shape(b, tensor) || !ask_all(b, tensor, kinds, 3) ||
        !ask_same(b, tensor, n->data_ptr, true) || !ask_same(b, tensor, n->element_size, true) ||
        !ask_shape(b, tensor)) {
        return false;
    }
    filled = ask_filled(b, tensor);
    if (filled > 0) {
        return ask_leaf(b, tensor, NULL) && ask_gradient(b, tensor);
    }
    return filled == 0 && ask_clone(b, tensor, cls);
}

/* of_class makes copy one of a class of its own: what torch made is seen as of that class,
   and is the base of the view. */
static td_fake_t *
of_class(td_builder_t *b, td_fake_t *copy, PyObject *cls)
{
    td_fake_t *base = td_alloc_in(b, sizeof *base);

    if (base == NULL || !td_keep(b, cls)) {
        return NULL;
    }
    *base               = *copy;
    base->requires_grad = false;
    base->grad          = NULL;
    base->marks         = NULL;
    copy->base          = base;
    copy->copy_class    = cls;
    copy->offset        = (td_num_t){0};
    return copy;
}

/* silent_class says of which class the clone of a tensor is whose class has no
   __torch_function__ of its own: Tensor's keeps the class, Parameter's does not. */
static bool
silent_class(td_builder_t *b, PyObject *tensor, td_fake_t const *copy, PyObject **cls)
{
    bool keeps = !has_own(b, tensor, b->names.torch_function);

    if (keeps && copy->grad != NULL && copy->grad->is_clone) {
        return td_stop_unsupported(b, "L1375/if/T", __func__,
                                   "a copy of a gradient that stays of its class");
    }
    *cls = keeps && copy->is_clone ? (PyObject *)Py_TYPE(tensor) : b->tables.tensor;
    return true;
}

td_fake_t *
td_torch_function_copy(td_builder_t *b, PyObject *tensor)
{
    PyObject  *off  = NULL; /* owned */
    PyObject  *cls  = b->tables.tensor;
    td_fake_t *copy = NULL;
    bool       loud = has_function(b, tensor);

    if (has_own(b, tensor, b->names.torch_dispatch)) {
        td_stop_unsupported(b, "L1741/ret/reached", __func__,
                            "a copy of a tensor with a __torch_dispatch__ of its own");
        return NULL;
    }
    if ((loud && !ask_copy(b, tensor, &cls)) || !td_quiet_begin(b, tensor, &off)) {
        return NULL;
    }
    copy = td_fake_copy(b, tensor);
    td_quiet_end(b, off);
    if (copy != NULL && !loud && !silent_class(b, tensor, copy, &cls)) {
        return NULL;
    }
    if (copy == NULL || cls == b->tables.tensor || TD_PLANT(COPY_UNCLASSED)) {
        return copy;
    }
    return of_class(b, copy, cls);
}

/* ---- the tracker ------------------------------------------------------------------------ */

/* function_of gives value.__torch_function__.__func__: owned, NULL stopped. */
static PyObject *
function_of(td_builder_t *b, PyObject *value)
{
    PyObject *bound    = td_call_attr(value, b->names.torch_function); /* owned */
    PyObject *function = bound == NULL ? NULL : td_call_attr(bound, b->names.bound_func);

    Py_XDECREF(bound);
    if (function == NULL) {
        td_stop_passing(b, "L1102/ret/reached", __func__);
    }
    return function;
}

/* install makes the class a global of the frame, where no other may be called so. */
static bool
install(td_builder_t *b, PyTypeObject *cls)
{
    PyObject   *own  = PyType_GetName(cls);                                             /* owned */
    PyObject   *name = own == NULL ? NULL : PyUnicode_FromFormat("__subclass_%U", own); /* kept */
    td_global_t row  = {.name = name, .key = (PyObject *)cls, .is_strong = true};
    int         is   = 0;

    Py_XDECREF(own);
    if (name == NULL || !td_keep_steal(b, name)) {
        return b->stop.kind != TD_STOP_NONE ? false : td_stop_python(b);
    }
    is = td_is_global(b, name);
    if (is < 0) {
        return td_stop_python(b);
    }
    if (is > 0 && !TD_PLANT(CLASS_OVERWRITTEN)) {
        return td_stop_raise(b, "L1102/ret/reached", __func__, "AssertionError", "");
    }
    return TD_ARRAY_PUSH(b->frame.globals, row) || td_stop_nomem(b);
}

bool
td_wrap_override(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    td_override_var_t *override = td_alloc_in(b, sizeof *override);

    if (override == NULL) {
        return false;
    }
    override->tensor   = out->of.alias;
    override->source   = at->id;
    override->function = function_of(b, value);
    override->cls      = (PyObject *)Py_TYPE(value);
    if (override->function == NULL || !td_keep_steal(b, override->function) ||
        !td_keep(b, override->cls) || !install(b, Py_TYPE(value))) {
        return false;
    }
    td_var_make(out, TD_CLASS_TensorWithTFOverrideVariable, 0);
    out->of.override = override;
    return true;
}
