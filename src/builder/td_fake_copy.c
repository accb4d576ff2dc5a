/* td_fake_copy.c: real copies of tensors, as records.

   Mirrors clone_input (torch 2.1.2): what stays real in the graph has one as its example. */
#include "builder/td_builder_private.h"
#include "py/td_call.h"

/* repeats: an element is met more than once, so that nothing can be copied into a tensor
   of such strides. */
static bool
repeats(td_fake_t const *fake)
{
    bool found = false;

    for (uint32_t i = 0; i < fake->ndim; i++) {
        found = found || (fake->sizes[i].hint > 1 && fake->strides[i].hint == 0);
    }
    return found;
}

/* goes_behind: 1 when dim x lies further out in memory than y, -1 when further in, 0 when
   nobody can say. */
static int
goes_behind(td_fake_t const *fake, uint32_t x, uint32_t y)
{
    int64_t a = fake->strides[x].hint;
    int64_t b = fake->strides[y].hint;

    if (a == 0 || b == 0 || (a == b && fake->sizes[x].hint <= fake->sizes[y].hint)) {
        return 0;
    }
    return a < b ? -1 : 1;
}

/* densify gives the strides of a dense tensor whose dims lie in the order of these ones;
   where they don't say, as in a contiguous one. */
static bool
densify(td_builder_t *b, td_fake_t *fake)
{
    uint32_t *order  = td_alloc_in(b, fake->ndim * sizeof *order);
    int64_t   stride = 1;

    for (uint32_t i = 0; order != NULL && i < fake->ndim; i++) {
        uint32_t at = i;

        order[i] = fake->ndim - 1 - i;
        for (uint32_t k = i; k-- > 0;) {
            int      behind = goes_behind(fake, order[k], order[at]);
            uint32_t swap   = order[k];

            if (behind < 0) {
                break;
            }
            if (behind > 0) {
                order[k]  = order[at];
                order[at] = swap;
                at        = k;
            }
        }
    }
    for (uint32_t i = 0; order != NULL && i < fake->ndim; i++) {
        fake->strides[order[i]].hint = stride;
        stride *= fake->sizes[order[i]].hint;
    }
    return order != NULL;
}

/* answers asks a tensor what clone_input asks it; what it raises is the reference's. */
static bool
answers(td_builder_t *b, PyObject *tensor, PyObject *name)
{
    PyObject *got = td_call_method(name, &tensor, 1); /* owned */

    if (got == NULL) {
        return td_stop_passing(b, "L1398/if/T", __func__);
    }
    Py_DECREF(got);
    return true;
}

/* refusal_of gives what torch's own tensor of a sparse layout says when clone_input comes to
   what it has not, or NULL where the tensor must be asked: torch takes half a millisecond to
   say it. */
static char const *
refusal_of(td_builder_t *b, PyObject *tensor)
{
    static char const no_memory[] =
        "Cannot access data pointer of Tensor that doesn't have storage";
    struct {
        PyObject   *layout;
        char const *text;
    } const rows[] = {
        {b->names.sparse_coo, no_memory},
        {b->names.sparse_csr, "Sparse CSR tensors do not have strides"},
        {b->names.sparse_csc, "Sparse CSC tensors do not have strides"},
        {b->names.sparse_bsr, "Sparse BSR tensors do not have strides"},
        {b->names.sparse_bsc, "Sparse BSC tensors do not have strides"},
    };
    bool        exact  = (PyObject *)Py_TYPE(tensor) == b->tables.tensor;
    PyObject   *layout = exact ? td_call_attr(tensor, b->names.layout) : NULL; /* owned */
    PyObject   *text   = layout == NULL ? NULL : PyObject_Str(layout); /* owned; torch's C code */
    char const *found  = NULL;

    for (size_t i = 0; text != NULL && i < sizeof rows / sizeof *rows; i++) {
        found = PyUnicode_Compare(text, rows[i].layout) == 0 ? rows[i].text : found;
    }
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(layout);
    return found;
}

/* refuse_copy asks a tensor of another layout in clone_input's order, up to what it has not. */
static bool
refuse_copy(td_builder_t *b, PyObject *tensor)
{
    char const *refusal = refusal_of(b, tensor);

    if (refusal != NULL) {
        return td_stop_raise(b, "L1398/if/T", __func__, "RuntimeError", refusal);
    }
    return answers(b, tensor, b->names.size) && answers(b, tensor, b->names.stride) &&
           answers(b, tensor, b->names.data_ptr) &&
           td_stop_unsupported(b, "L1398/if/T", __func__, "a copy of a tensor of another layout");
}

/* is_per_channel: quantized in a way that no copy can be strided as. */
static int
is_per_channel(td_builder_t *b, PyObject *tensor)
{
    PyObject *scheme = td_call_method(b->names.qscheme, &tensor, 1); /* owned */
    PyObject *text   = scheme == NULL ? NULL : PyObject_Str(scheme); /* owned; torch's C code */
    int       is =
        text == NULL ? -1 : PyUnicode_CompareWithASCIIString(text, "torch.per_tensor_affine") != 0;

    Py_XDECREF(text);
    Py_XDECREF(scheme);
    if (is < 0) {
        td_stop_python(b);
    }
    return is;
}

/* copy_admit lets by what clone_input copies: strided and quantized tensors.  Others have no
   sizes, no strides or no memory to speak of. */
static bool
copy_admit(td_builder_t *b, PyObject *tensor)
{
    int is_quantized = td_tensor_flag(b, tensor, b->names.is_quantized);
    int is_sparse    = is_quantized < 0 ? -1 : td_tensor_flag(b, tensor, b->names.is_sparse);
    int is_mkldnn    = is_sparse < 0 ? -1 : td_tensor_flag(b, tensor, b->names.is_mkldnn);
    int is_nested    = is_mkldnn < 0 ? -1 : td_tensor_flag(b, tensor, b->names.is_nested);

    if (is_nested < 0) {
        return false;
    }
    if (is_quantized) {
        is_quantized = is_per_channel(b, tensor);
        return is_quantized == 0 ||
               (is_quantized > 0 &&
                td_stop_unsupported(b, "L1398/if/T", __func__,
                                    "a copy of a tensor that is quantized by channel"));
    }
    return !(is_sparse || is_mkldnn || is_nested) || refuse_copy(b, tensor);
}

/* is_builtin: of a type whose copy() is no code of anybody's, or that has none. */
static bool
is_builtin(PyObject *value)
{
    return PySet_CheckExact(value) || PyFrozenSet_CheckExact(value) || PyList_CheckExact(value) ||
           PyDict_CheckExact(value) || PyTuple_CheckExact(value) || PyUnicode_CheckExact(value) ||
           PyLong_CheckExact(value) || PyBool_Check(value) || PyFloat_CheckExact(value) ||
           PyBytes_CheckExact(value) || value == Py_None;
}

/* copy_marks: a copy has the dynamic marks of its tensor, copied too. */
static bool
copy_marks(td_builder_t *b, PyObject *tensor, td_fake_t *copy)
{
    PyObject *marks = td_mark(tensor, b->names.dynamic_indices); /* borrowed */

    if (marks == NULL) {
        return true;
    }
    if (!is_builtin(marks)) {
        return td_stop_unsupported(b, "L1398/if/T", __func__,
                                   "a copy of marks of a class of their own");
    }
    copy->marks = td_call_method(b->names.copy, &marks, 1);
    if (copy->marks == NULL) {
        return td_stop_passing(b, "L1398/if/T", __func__);
    }
    return td_keep_steal(b, copy->marks);
}

/* copy_layout: the copy has the tensor's own strides, unless elements repeat, and there are
   some. */
static bool
copy_layout(td_builder_t *b, td_fake_t *copy)
{
    for (uint32_t i = 0; i < copy->ndim; i++) {
        if (copy->sizes[i].hint == 0) {
            return true;
        }
    }
    copy->is_clone = repeats(copy);
    return !copy->is_clone || densify(b, copy);
}

/* copy_room mirrors how much room clone_input makes, which tensors of several dims of no
   elements have less than none of. */
static bool
copy_room(td_builder_t *b, td_fake_t const *copy)
{
    int64_t   needed = 32;
    PyObject *text   = NULL; /* owned until kept */

    for (uint32_t i = 0; i < copy->ndim; i++) {
        needed += (copy->sizes[i].hint - 1) * copy->strides[i].hint;
    }
    if (needed >= 0 || TD_PLANT(ROOM_NOT_MADE)) {
        return true;
    }
    text = PyUnicode_FromFormat("Trying to create tensor with negative dimension %lld: [%lld]",
                                (long long)needed, (long long)needed);
    if (text == NULL) {
        return td_stop_python(b);
    }
    return td_keep_steal(b, text) &&
           td_stop_raise_text(b, "L1398/if/T", __func__, "RuntimeError", text);
}

static bool
copy_grad(td_builder_t *b, PyObject *tensor, td_fake_t *copy)
{
    PyObject *grad = td_tensor_attr(b, tensor, b->names.grad); /* owned until kept */

    if (grad == NULL || !td_keep_steal(b, grad)) {
        return false;
    }
    copy->grad = grad == Py_None ? NULL : td_fake_copy(b, grad);
    return grad == Py_None || copy->grad != NULL;
}

td_fake_t *
td_fake_copy(td_builder_t *b, PyObject *tensor)
{
    td_fake_t *copy = td_alloc_in(b, sizeof *copy);

    if (copy == NULL || !copy_admit(b, tensor) || !td_fake_kinds(b, tensor, copy)) {
        return NULL;
    }
    if (td_is_compressed(b, copy->layout)) {
        refuse_copy(b, tensor);
        return NULL;
    }
    if (!td_fake_sizes(b, tensor, &(td_dims_t){0}, copy, false) || !copy_room(b, copy) ||
        !copy_layout(b, copy) || (copy->is_leaf && !copy_grad(b, tensor, copy)) ||
        !copy_marks(b, tensor, copy)) {
        return NULL;
    }
    copy->is_copy       = true;
    copy->requires_grad = copy->requires_grad && copy->is_leaf;
    copy->is_leaf       = true;
    return copy;
}
