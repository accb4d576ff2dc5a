/* wrap_subclass.c: tensors of the classes that traceable_tensor_subclasses lists.

   The reference takes such a tensor for a plain one and remembers its class.  On the
   way it reads the tensor, and what it reads runs the class's own
   __torch_function__: that code runs here as often and in the same order; what this
   builder itself has to know it reads with that switched off. */
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
