/* td_shape.c: which dims of a tensor are static, and which become symbols. */
#include <string.h>

#include "builder/td_tensor_read.h"

/* ---- the frame state of a tensor ------------------------------------------------ */

/* dims_new copies the sizes of size (a tuple of ints) for the frame state. */
static int64_t *
dims_new(td_builder_t *b, PyObject *size, uint32_t cnt)
{
    int64_t *dims = td_arena_alloc_raw(&b->state.sizes, cnt * sizeof *dims);

    if (dims == NULL) {
        td_stop_nomem(b);
        return NULL;
    }
    for (uint32_t i = 0; i < cnt; i++) {
        if (!td_size_hint(b, PyTuple_GET_ITEM(size, i), &dims[i])) {
            return NULL;
        }
    }
    return dims;
}

/* is_symbolic: some size of a fake tensor is no int. */
static bool
is_symbolic(PyObject *size)
{
    bool is = false;

    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(size); i++) {
        is = is || !PyLong_Check(PyTuple_GET_ITEM(size, i));
    }
    return is;
}

/* keep_symbolic keeps sizes in an entry that is new; they are symbols and nothing else. */
static bool
keep_symbolic(td_builder_t *b, PyObject *size, td_state_entry_t *entry)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(size); i++) {
        PyObject *one = PyTuple_GET_ITEM(size, i); /* borrowed */

        if (!PyLong_Check(one) && td_size_symbol(b, one) == NULL) {
            return td_stop_unsupported(b, "L1562/if/T", __func__,
                                       "an expression in the frame state");
        }
    }
    entry->symbolic = Py_NewRef(size);
    return true;
}

/* sizes_seen brings the entry of a source up to date with a tensor's sizes. */
static bool
sizes_seen(td_builder_t *b, td_at_t const *at, PyObject *size, td_state_entry_t **entry)
{
    uint32_t cnt   = (uint32_t)PyTuple_GET_SIZE(size);
    bool     fresh = false;

    *entry = td_frame_state_get(b, at, &fresh);
    if (*entry == NULL) {
        return false;
    }
    if (fresh) {
        (*entry)->size     = dims_new(b, size, cnt);
        (*entry)->size_cnt = cnt;
        return (*entry)->size != NULL && (!is_symbolic(size) || keep_symbolic(b, size, *entry));
    }
    if ((*entry)->symbolic != NULL || is_symbolic(size)) {
        return td_stop_unsupported(b, "L1562/if/T", __func__,
                                   "symbolic sizes that are compared with those of another frame");
    }
    if ((*entry)->size == NULL) {
        return true;
    }
    if ((*entry)->size_cnt != cnt) {
        (*entry)->size = NULL;
        return true;
    }
    for (uint32_t i = 0; i < cnt; i++) {
        if ((*entry)->size[i] != TD_DIM_NONE &&
            (*entry)->size[i] != PyLong_AsLongLong(PyTuple_GET_ITEM(size, i))) {
            (*entry)->size[i] = TD_PLANT(STALE_SIZES) ? (*entry)->size[i] : TD_DIM_NONE;
        }
    }
    return true;
}

/* ---- marks ---------------------------------------------------------------------------- */

PyObject *
td_mark(PyObject *tensor, PyObject *name)
{
    PyObject **dict = _PyObject_GetDictPtr(tensor);

    return dict == NULL || *dict == NULL || PyDict_GET_SIZE(*dict) == 0
               ? NULL
               : PyDict_GetItemWithError(*dict, name);
}

/* is_plain: of a type whose instances are equal to an int without code of anybody's. */
static bool
is_plain(PyObject *value)
{
    return value == Py_None || PyLong_CheckExact(value) || PyBool_Check(value) ||
           PyFloat_CheckExact(value) || PyUnicode_CheckExact(value) || PyBytes_CheckExact(value);
}

/* all_plain: so is each item of a list or tuple. */
static bool
all_plain(PyObject *sequence)
{
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence); i++) {
        if (!is_plain(PySequence_Fast_GET_ITEM(sequence, i))) {
            return false;
        }
    }
    return true;
}

/* is_marked says whether dim is among some marks, which need not be a set.  -1: stopped. */
static int
is_marked(td_builder_t *b, PyObject *tensor, PyObject *name, uint32_t dim)
{
    PyObject *marks = td_mark(tensor, name); /* borrowed */
    PyObject *key   = NULL;                  /* owned */
    int       is    = 0;

    if (marks == NULL) {
        return 0;
    }
    if (!PyAnySet_Check(marks) && !PyDict_CheckExact(marks) && !is_plain(marks) &&
        !((PyList_CheckExact(marks) || PyTuple_CheckExact(marks)) && all_plain(marks))) {
        td_stop_unsupported(b, "L1646/for/some", __func__,
                            "marks on a tensor of a class of their own");
        return -1;
    }
    key = PyLong_FromUnsignedLong(dim);
    is  = key == NULL ? -1 : PySequence_Contains(marks, key);
    Py_XDECREF(key);
    if (is < 0) {
        td_stop_passing(b, "L1646/for/some", __func__);
    }
    return is;
}

/* marks_hold says whether the marks can be asked at all: what answers no dim fails at the
   first one. */
static bool
marks_hold(td_builder_t *b, PyObject *tensor, PyObject *size)
{
    return PyTuple_GET_SIZE(size) == 0 || !td_has_marks(tensor) ||
           (is_marked(b, tensor, b->names.dynamic_indices, 0) >= 0 &&
            is_marked(b, tensor, b->names.weak_dynamic_indices, 0) >= 0 &&
            is_marked(b, tensor, b->names.static_indices, 0) >= 0);
}

/* ---- the decision ------------------------------------------------------------------------ */

/* decide mirrors the body of the loop over dims, once the entry is up to date.  marked: NULL
   for a tensor without marks. */
static bool
decide(td_builder_t *b, PyObject *marked, uint32_t dim, td_state_entry_t *entry, td_dims_t *dims)
{
    int  dynamic   = marked == NULL ? 0 : is_marked(b, marked, b->names.dynamic_indices, dim);
    int  weak      = marked == NULL ? 0 : is_marked(b, marked, b->names.weak_dynamic_indices, dim);
    int  is_static = marked == NULL ? 0 : is_marked(b, marked, b->names.static_indices, dim);
    bool automatic = false;

    if (dynamic < 0 || weak < 0 || is_static < 0) {
        return false;
    }
    automatic =
        b->cfg.automatic_dynamic_shapes && (entry->size == NULL || entry->size[dim] == TD_DIM_NONE);
    if (entry->size != NULL && entry->size_cnt > 0 && dynamic && !TD_PLANT(MARK_NOT_KEPT)) {
        entry->size[dim] = TD_DIM_NONE;
    }
    if (dims->constraints[dim] == TD_CONSTRAINT_STRICT) {
        dims->dims[dim] = TD_DIM_DYNAMIC;
        return true;
    }
    if (dynamic && !b->cfg.allow_ignore_mark_dynamic) {
        dims->constraints[dim] = TD_CONSTRAINT_MARKED;
    } else if (!is_static && automatic) {
        dims->constraints[dim] = TD_CONSTRAINT_SEEN;
    }
    if (dims->constraints[dim] != TD_CONSTRAINT_NONE || dynamic || weak) {
        dims->dims[dim] = TD_DIM_DYNAMIC;
    } else if (b->cfg.assume_static_by_default || is_static) {
        dims->dims[dim] = TD_DIM_STATIC;
    } else {
        dims->dims[dim] = TD_DIM_DUCK;
    }
    return true;
}

static bool
dims_init(td_builder_t *b, td_dims_t *dims, uint32_t cnt)
{
    dims->cnt   = cnt;
    dims->sizes = td_alloc_in(b, cnt * (sizeof *dims->sizes + 2 * sizeof *dims->dims));
    if (dims->sizes == NULL) {
        return false;
    }
    dims->dims        = (uint8_t *)(dims->sizes + cnt);
    dims->constraints = dims->constraints == NULL ? dims->dims + cnt : dims->constraints;
    return true;
}

/* forget mirrors what becomes of an entry that is known when the tensor's number of
   dims is another: nothing is asked of the sizes. */
static void
forget(td_builder_t *b, td_at_t const *at, PyObject *tensor)
{
    td_state_entry_t *entry = NULL;
    PyObject         *ndim  = NULL; /* owned */
    bool              known = false;

    if (!td_frame_state_knows(b, at, &known) || !known) {
        return;
    }
    entry = td_frame_state_get(b, at, &known);
    ndim  = entry == NULL || entry->size == NULL ? NULL : td_tensor_call(b, tensor, b->names.dim);
    if (ndim == NULL) {
        return;
    }
    if (PyLong_AsUnsignedLong(ndim) != entry->size_cnt) {
        entry->size = NULL;
    }
    Py_DECREF(ndim);
}

/* keep_dynamic mirrors what is decided of sizes some of which are symbolic already. */
static bool
keep_dynamic(td_builder_t *b, PyObject *size, td_dims_t *dims)
{
    bool good = dims_init(b, dims, (uint32_t)PyTuple_GET_SIZE(size));

    for (uint32_t i = 0; good && i < dims->cnt; i++) {
        PyObject *one = PyTuple_GET_ITEM(size, i); /* borrowed */

        dims->dims[i] =
            PyLong_Check(one) || TD_PLANT(SYMBOL_STATIC) ? TD_DIM_STATIC : TD_DIM_DYNAMIC;
        good = td_size_hint(b, one, &dims->sizes[i].hint);
    }
    return good;
}

bool
td_automatic_dynamic(td_builder_t *b, td_at_t const *at, PyObject *tensor, td_dims_t *dims)
{
    td_state_entry_t *entry  = NULL;
    PyObject         *size   = NULL; /* owned */
    PyObject         *marked = td_has_marks(tensor) ? tensor : NULL;
    bool              good   = false;
    bool              known  = false;

    size = td_tensor_size(b, tensor);
    if (size == NULL) {
        /* Something asks for the sizes later on in any case: the exception is the same. */
        if (!td_switch(b, TD_SWITCH_SIZES_READ_FIRST)) {
            forget(b, at, tensor);
        }
        return false;
    }
    if (is_symbolic(size) && td_switch(b, TD_SWITCH_SIZES_READ_FIRST)) {
        good = keep_dynamic(b, size, dims);
        Py_DECREF(size);
        return good;
    }
    if (!td_constraints_of(b, tensor, (uint32_t)PyTuple_GET_SIZE(size), dims) ||
        !marks_hold(b, tensor, size)) {
        /* A new entry is not kept when constraints or marks fail; one that is known has seen
           the sizes. */
        if (td_frame_state_knows(b, at, &known) && known) {
            (void)sizes_seen(b, at, size, &entry);
        }
        Py_DECREF(size);
        return false;
    }
    good = sizes_seen(b, at, size, &entry) && dims_init(b, dims, (uint32_t)PyTuple_GET_SIZE(size));
    for (uint32_t i = 0; good && i < (uint32_t)PyTuple_GET_SIZE(size); i++) {
        good = td_size_hint(b, PyTuple_GET_ITEM(size, i), &dims->sizes[i].hint) &&
               decide(b, marked, i, entry, dims);
        good = good && td_constraint_named(b, at, dims, i);
    }
    Py_DECREF(size);
    return good;
}
