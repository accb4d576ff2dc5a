/* live_tensors.c: tensors, parameters and arrays in each layout.

   Every element is 1: values are never compared, but what runs on them must not
   depend on memory that was there before. */
#include "live/live_private.h"

#include "base/td_assert.h"
#include "py/td_call.h"

/* one_call calls the method name of *tensor with up to two arguments and puts the
   result in its place.  NULL arguments are left out.  0, or -1 with *tensor NULL. */
static int
one_call(PyObject **tensor, PyObject *name, PyObject *first, PyObject *second)
{
    PyObject *args[3] = {*tensor, first, second};
    size_t    nargs   = first == NULL ? 1 : second == NULL ? 2 : 3;
    PyObject *result  = *tensor == NULL ? NULL : td_call_method(name, args, nargs);

    Py_XSETREF(*tensor, result);
    return result == NULL ? -1 : 0;
}

static PyObject *
dims_tuple(uint16_t const *dim, size_t cnt)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)cnt); /* owned, returned */

    for (size_t i = 0; tuple != NULL && i < cnt; i++) {
        PyObject *size = PyLong_FromLong(dim[i]); /* owned, stolen by the tuple */

        if (size == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, size);
    }
    return tuple;
}

/* ones gives torch.ones(dim, dtype=, requires_grad=), or torch.empty(..., device=
   "meta") if meta: there is nothing to fill, and torch 2.1 leaks when it tries. */
static PyObject *
ones(live_maker_t *maker, td_tensor_t const *tensor, int requires_grad, int meta)
{
    td_state_t const *state   = maker->state;
    PyObject         *dims    = NULL; /* owned */
    PyObject         *kwnames = NULL; /* owned */
    PyObject         *dtype   = NULL; /* borrowed from the table */
    PyObject         *result  = NULL; /* owned, returned */

    dims    = dims_tuple(tensor->dim, tensor->dim_cnt);
    dtype   = live_dtype(tensor->dtype);
    kwnames = PyTuple_Pack(meta ? 3 : 2, state->name_dtype, state->name_requires_grad,
                           state->name_device);
    if (dims != NULL && dtype != NULL && kwnames != NULL) {
        PyObject *args[4] = {dims, dtype, requires_grad ? Py_True : Py_False, state->name_meta};

        result = td_call_kw(meta ? state->empty : state->ones, args, 1, kwnames);
    }
    Py_XDECREF(kwnames);
    Py_XDECREF(dims);
    return result;
}

/* ---- layouts: each gives a leaf of tensor's dims that requires no grad --------- */

static PyObject *
transposed(live_maker_t *maker, td_tensor_t const *tensor)
{
    td_tensor_t base   = *tensor;
    size_t      last   = tensor->dim_cnt - 1u;
    PyObject   *result = NULL; /* owned, returned */
    PyObject   *one    = NULL; /* owned */
    PyObject   *two    = NULL; /* owned */

    base.dim[last]     = tensor->dim[last - 1];
    base.dim[last - 1] = tensor->dim[last];
    one                = PyLong_FromLong(-1);
    two                = PyLong_FromLong(-2);
    if (one != NULL && two != NULL) {
        result = ones(maker, &base, 0, 0);
        one_call(&result, maker->state->name_transpose, one, two);
    }
    Py_XDECREF(two);
    Py_XDECREF(one);
    return result;
}

static PyObject *
expanded(live_maker_t *maker, td_tensor_t const *tensor)
{
    td_tensor_t base   = *tensor;
    PyObject   *dims   = dims_tuple(tensor->dim, tensor->dim_cnt); /* owned */
    PyObject   *result = NULL;                                     /* owned, returned */

    base.dim[0] = 1;
    if (dims != NULL) {
        result = ones(maker, &base, 0, 0);
        one_call(&result, maker->state->name_expand, dims, NULL);
    }
    Py_XDECREF(dims);
    return result;
}

/* sliced gives torch.ones(base)[key] and lets go of key, which may be NULL. */
static PyObject *
sliced(live_maker_t *maker, td_tensor_t const *base, PyObject *key)
{
    PyObject *args[2] = {NULL, key}; /* args[0] owned */
    PyObject *result  = NULL;        /* owned, returned */

    if (key != NULL) {
        args[0] = ones(maker, base, 0, 0);
    }
    if (args[0] != NULL) {
        result = td_call_method(maker->state->name___getitem__, args, 2);
    }
    Py_XDECREF(args[0]);
    Py_XDECREF(key);
    return result;
}

static PyObject *
slice_of(long start, long step)
{
    PyObject *from   = PyLong_FromLong(start); /* owned */
    PyObject *by     = PyLong_FromLong(step);  /* owned */
    PyObject *result = NULL;                   /* owned, returned */

    if (from != NULL && by != NULL) {
        result = PySlice_New(from, Py_None, by);
    }
    Py_XDECREF(by);
    Py_XDECREF(from);
    return result;
}

static PyObject *
offset(live_maker_t *maker, td_tensor_t const *tensor)
{
    td_tensor_t base = *tensor;

    base.dim[0] += 1;
    return sliced(maker, &base, slice_of(1, 1));
}

static PyObject *
strided(live_maker_t *maker, td_tensor_t const *tensor)
{
    td_tensor_t base = *tensor;
    PyObject   *key  = slice_of(0, 2); /* owned, handed to the pair */
    PyObject   *pair = NULL;           /* owned, handed on */

    base.dim[tensor->dim_cnt - 1u] *= 2;
    if (key != NULL) {
        pair = PyTuple_Pack(2, Py_Ellipsis, key);
    }
    Py_XDECREF(key);
    return sliced(maker, &base, pair);
}

static PyObject *
channels_last(live_maker_t *maker, td_tensor_t const *tensor)
{
    td_state_t const *state   = maker->state;
    PyObject         *plain   = NULL; /* owned */
    PyObject         *method  = NULL; /* owned */
    PyObject         *kwnames = NULL; /* owned */
    PyObject         *result  = NULL; /* owned, returned */

    plain   = ones(maker, tensor, 0, 0);
    method  = plain == NULL ? NULL : td_call_attr(plain, state->name_contiguous);
    kwnames = method == NULL ? NULL : PyTuple_Pack(1, state->name_memory_format);
    if (kwnames != NULL) {
        result = td_call_kw(method, &state->channels_last, 0, kwnames);
    }
    Py_XDECREF(kwnames);
    Py_XDECREF(method);
    Py_XDECREF(plain);
    return result;
}

/* derived gives what a method without arguments makes of a plain tensor. */
static PyObject *
derived(live_maker_t *maker, td_tensor_t const *tensor, int requires_grad, PyObject *name)
{
    PyObject *result = ones(maker, tensor, requires_grad, 0); /* owned, returned */

    one_call(&result, name, NULL, NULL);
    return result;
}

/* fits says whether the layout is one of kind; a program that was never checked
   gets a contiguous tensor instead. */
static td_layout_t
fitting(uint8_t kind, td_tensor_t const *tensor)
{
    return td_layout_fits(kind, tensor) ? (td_layout_t)tensor->layout : TD_LAYOUT_CONTIGUOUS;
}

static PyObject *
leaf(live_maker_t *maker, td_tensor_t const *tensor, td_layout_t layout)
{
    td_state_t const *state = maker->state;

    switch (layout) {
    case TD_LAYOUT_TRANSPOSED:
        return transposed(maker, tensor);
    case TD_LAYOUT_EXPANDED:
        return expanded(maker, tensor);
    case TD_LAYOUT_OFFSET:
        return offset(maker, tensor);
    case TD_LAYOUT_STRIDED:
        return strided(maker, tensor);
    case TD_LAYOUT_CHANNELS_LAST:
        return channels_last(maker, tensor);
    case TD_LAYOUT_SPARSE_COO:
        return derived(maker, tensor, 0, state->name_to_sparse);
    case TD_LAYOUT_SPARSE_CSR:
        return derived(maker, tensor, 0, state->name_to_sparse_csr);
    case TD_LAYOUT_META:
        return ones(maker, tensor, 0, 1);
    case TD_LAYOUT_CONJ:
        return derived(maker, tensor, 0, state->name_conj);
    case TD_LAYOUT_CONTIGUOUS:
    case TD_LAYOUT_NONLEAF:
    case TD_LAYOUT_CNT:
        break;
    }
    return ones(maker, tensor, 0, 0);
}

PyObject *
live_make_tensor(live_maker_t *maker, td_node_t const *node)
{
    td_tensor_t const *tensor = &node->tensor;
    td_layout_t        layout = fitting(node->kind, tensor);
    PyObject          *result = NULL; /* owned, returned */

    if (layout == TD_LAYOUT_NONLEAF) {
        return derived(maker, tensor, 1, maker->state->name_clone);
    }
    if (layout == TD_LAYOUT_CONTIGUOUS) {
        return ones(maker, tensor, tensor->requires_grad, 0);
    }
    result = leaf(maker, tensor, layout);
    if (tensor->requires_grad) {
        one_call(&result, maker->state->name_requires_grad_, NULL, NULL);
    }
    return result;
}

PyObject *
live_make_parameter(live_maker_t *maker, td_node_t const *node)
{
    td_tensor_t const *tensor  = &node->tensor;
    PyObject          *data    = leaf(maker, tensor, fitting(node->kind, tensor)); /* owned */
    PyObject          *args[2] = {data, tensor->requires_grad ? Py_True : Py_False};
    PyObject          *result  = NULL; /* owned, returned */

    if (data != NULL) {
        result = td_call(maker->state->parameter, args, 2);
    }
    Py_XDECREF(data);
    return result;
}

/* np_ones gives numpy.ones(dim, dtype).  numpy spells the dtypes as torch does. */
static PyObject *
np_ones(live_maker_t *maker, td_tensor_t const *tensor)
{
    PyObject *args[2] = {NULL}; /* owned */
    PyObject *result  = NULL;   /* owned, returned */

    args[0] = dims_tuple(tensor->dim, tensor->dim_cnt);
    args[1] = PyUnicode_FromString(td_dtype_name(tensor->dtype));
    if (args[0] != NULL && args[1] != NULL) {
        result = td_call(maker->state->np_ones, args, 2);
    }
    Py_XDECREF(args[1]);
    Py_XDECREF(args[0]);
    return result;
}

/* Other layouts are those of a tensor's memory, seen as an array: writable, as
   arrays with a zero stride otherwise are not. */
PyObject *
live_make_ndarray(live_maker_t *maker, td_node_t const *node)
{
    td_tensor_t const *tensor = &node->tensor;
    td_layout_t        layout = fitting(node->kind, tensor);
    PyObject          *result = NULL; /* owned, returned */

    if (layout == TD_LAYOUT_CONTIGUOUS) {
        return np_ones(maker, tensor);
    }
    result = leaf(maker, tensor, layout);
    one_call(&result, maker->state->name_numpy, NULL, NULL);
    return result;
}
