/* td_fake.c: what the reference's fake tensors know, as records.

   Mirrors FakeTensorConverter and MetaConverter (torch 2.1.2) for plain tensors: a
   view's base is made fake first, a gradient after, and every tensor once.  No
   tensor is made: a record holds what the fake would say. */
#include <string.h>

#include "builder/td_ask.h"
#include "builder/td_tensor_read.h"
#include "py/td_call.h"

/* ---- reading tensors ------------------------------------------------------------ */

PyObject *
td_tensor_attr(td_builder_t *b, PyObject *tensor, PyObject *name)
{
    PyObject *got = td_call_attr(tensor, name);

    if (got == NULL) {
        td_stop_python(b);
    }
    return got;
}

PyObject *
td_tensor_call(td_builder_t *b, PyObject *tensor, PyObject *name)
{
    PyObject *got = td_call_method(name, &tensor, 1);

    if (got == NULL) {
        td_stop_python(b);
    }
    return got;
}

PyObject *
td_tensor_size(td_builder_t *b, PyObject *tensor)
{
    td_reader_t const *reader = td_reader_of(b, tensor);
    PyObject          *got    = reader == NULL ? NULL : td_call_getter(reader->shape, tensor);

    if (got == NULL) {
        PyErr_Clear();
        got = td_call_method(b->names.size, &tensor, 1);
    }
    if (got == NULL) {
        td_stop_passing(b, "L1562/if/T", __func__);
    }
    return got;
}

/* attr_by and call_by are td_tensor_attr and td_tensor_call where the class of the tensor has
   a getter or a method for it. */
static PyObject *
attr_by(td_builder_t *b, PyObject *getter, PyObject *tensor)
{
    PyObject *got = td_call_getter(getter, tensor);

    if (got == NULL) {
        td_stop_python(b);
    }
    return got;
}

static PyObject *
call_by(td_builder_t *b, PyObject *method, PyObject *tensor)
{
    PyObject *got = td_call_bare(method, tensor);

    if (got == NULL) {
        td_stop_python(b);
    }
    return got;
}

static int
truth(td_builder_t *b, PyObject *got)
{
    int is = got == NULL ? -1 : got == Py_True;

    (void)b;
    Py_XDECREF(got);
    return is;
}

int
td_tensor_flag(td_builder_t *b, PyObject *tensor, PyObject *name)
{
    return truth(b, td_tensor_attr(b, tensor, name));
}

/* ---- records ----------------------------------------------------------------------- */

bool
td_is_fake_tensor(td_builder_t *b, PyObject *tensor)
{
    return Py_IS_TYPE(tensor, (PyTypeObject *)b->tables.fake_tensor);
}

bool
td_size_hint(td_builder_t *b, PyObject *size, int64_t *hint)
{
    PyObject *node = NULL; /* borrowed */

    if (!PyLong_Check(size)) {
        node = td_getattr_static(size, b->names.node);
        size = node == NULL ? NULL : td_getattr_static(node, b->names.hint); /* borrowed */
    }
    if (size == NULL || !PyLong_Check(size)) {
        return td_stop_unsupported(b, "L1562/if/T", __func__, "a size that nobody has seen");
    }
    *hint = PyLong_AsLongLong(size);
    return true;
}

char const *
td_size_symbol(td_builder_t *b, PyObject *size)
{
    PyObject *node = PyLong_Check(size) ? NULL : td_getattr_static(size, b->names.node);
    PyObject *expr = node == NULL ? NULL : td_getattr_static(node, b->names.expr);
    PyObject *slot = expr == NULL ? NULL : td_getattr_static(expr, b->names.plain_name);
    PyObject *name = NULL; /* owned, and by the symbol too */

    if (slot != NULL && Py_IS_TYPE(slot, &PyMemberDescr_Type)) {
        name = PyMemberDescr_Type.tp_descr_get(slot, expr, (PyObject *)Py_TYPE(expr));
    }
    PyErr_Clear();
    Py_XDECREF(name);
    return name != NULL && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
}

/* numbers copies a tuple of sizes. */
static td_num_t *
numbers(td_builder_t *b, PyObject *tuple, uint32_t *cnt)
{
    td_num_t *nums = NULL;

    *cnt = (uint32_t)PyTuple_GET_SIZE(tuple);
    nums = td_alloc_in(b, *cnt * sizeof *nums);
    for (uint32_t i = 0; nums != NULL && i < *cnt; i++) {
        if (!td_size_hint(b, PyTuple_GET_ITEM(tuple, i), &nums[i].hint)) {
            return NULL;
        }
    }
    return nums;
}

/* device_of gives a new reference, NULL stopped: a fake tensor has the device of what it
   stands for among its attributes. */
static PyObject *
device_of(td_builder_t *b, PyObject *tensor)
{
    PyObject *device = td_is_fake_tensor(b, tensor) ? td_mark(tensor, b->names.fake_device) : NULL;

    return device != NULL ? Py_NewRef(device) : td_tensor_attr(b, tensor, b->names.device);
}

/* ask_sizes asks the tensor, unless the builder did before (dims has it). */
static bool
ask_sizes(td_builder_t *b, PyObject *tensor, td_dims_t const *dims, td_fake_t *fake, bool is_root)
{
    PyObject *size = NULL; /* owned */

    if (is_root && dims->sizes != NULL) {
        fake->sizes = dims->sizes;
        fake->ndim  = dims->cnt;
        return true;
    }
    size = td_call_method(b->names.size, &tensor, 1);
    if (size == NULL) {
        if (is_root) {
            return td_stop_passing(b, "L1724/fn/entered", __func__); /* tuple(e.shape) raises it */
        }
        PyErr_Clear();
        return td_stop_unsupported(b, "L1724/fn/entered", __func__,
                                   "a base or gradient without sizes");
    }
    fake->sizes = numbers(b, size, &fake->ndim);
    Py_DECREF(size);
    return fake->sizes != NULL;
}

bool
td_fake_sizes(td_builder_t *b, PyObject *tensor, td_dims_t const *dims, td_fake_t *fake,
              bool is_root)
{
    td_reader_t const *reader = td_reader_of(b, tensor);
    PyObject          *stride = NULL; /* owned */
    PyObject          *offset = NULL; /* owned */
    uint32_t           cnt    = 0;
    bool               good   = false;

    if (!ask_sizes(b, tensor, dims, fake, is_root)) {
        return false;
    }
    if (fake->is_sparse) { /* a sparse fake answers zeros */
        fake->strides = td_alloc_in(b, fake->ndim * sizeof *fake->strides);
        return fake->strides != NULL;
    }
    if (reader != NULL) {
        stride = call_by(b, reader->stride, tensor);
        offset = stride == NULL ? NULL : call_by(b, reader->storage_offset, tensor);
    } else {
        stride = td_tensor_call(b, tensor, b->names.stride);
        offset = stride == NULL ? NULL : td_tensor_call(b, tensor, b->names.storage_offset);
    }
    if (offset != NULL) {
        fake->strides = numbers(b, stride, &cnt);
        good          = fake->strides != NULL && td_size_hint(b, offset, &fake->offset.hint);
    }
    Py_XDECREF(stride);
    Py_XDECREF(offset);
    return good;
}

/* of_torch gives a dtype or layout that lives as long as torch: borrowed; NULL: stopped. */
static PyObject *
of_torch(td_builder_t *b, PyObject *getter, PyObject *tensor)
{
    PyObject *got = attr_by(b, getter, tensor); /* given back: torch has it */

    Py_XDECREF(got);
    return got;
}

/* kinds_by is td_fake_kinds of a tensor that has a reader. */
static bool
kinds_by(td_builder_t *b, td_reader_t const *reader, PyObject *tensor, td_fake_t *fake)
{
    int requires_grad = 0;
    int is_leaf       = 1;

    fake->dtype  = of_torch(b, reader->dtype, tensor);
    fake->layout = fake->dtype == NULL ? NULL : of_torch(b, reader->layout, tensor);
    fake->device = fake->layout == NULL ? NULL : attr_by(b, reader->device, tensor);
    if (fake->device == NULL || !td_keep_steal(b, fake->device)) {
        return false;
    }
    requires_grad = truth(b, attr_by(b, reader->requires_grad, tensor));
    if (requires_grad > 0) {
        is_leaf = truth(b, attr_by(b, reader->is_leaf, tensor));
    }
    fake->requires_grad = requires_grad == 1;
    fake->is_leaf       = is_leaf == 1;
    return requires_grad >= 0 && is_leaf >= 0;
}

bool
td_fake_kinds(td_builder_t *b, PyObject *tensor, td_fake_t *fake)
{
    td_reader_t const *reader        = td_reader_of(b, tensor);
    int                requires_grad = 0;
    int                is_leaf       = 0;

    if (reader != NULL) {
        return kinds_by(b, reader, tensor, fake);
    }
    fake->dtype  = td_tensor_attr(b, tensor, b->names.dtype);
    fake->layout = fake->dtype == NULL ? NULL : td_tensor_attr(b, tensor, b->names.layout);
    fake->device = fake->layout == NULL ? NULL : device_of(b, tensor);
    if (fake->device == NULL) {
        Py_CLEAR(fake->dtype);
        Py_CLEAR(fake->layout);
        return false;
    }
    if (!td_keep_steal(b, fake->device)) {
        Py_CLEAR(fake->dtype);
        Py_CLEAR(fake->layout);
        return false;
    }
    if (!td_keep_steal(b, fake->dtype)) {
        Py_CLEAR(fake->layout);
        return false;
    }
    if (!td_keep_steal(b, fake->layout)) {
        return false;
    }
    requires_grad = td_tensor_flag(b, tensor, b->names.requires_grad);
    if (requires_grad < 0) {
        return false;
    }
    /* What needs no gradient has no grad_fn, and is a leaf. */
    is_leaf             = requires_grad ? td_tensor_flag(b, tensor, b->names.is_leaf) : 1;
    fake->requires_grad = requires_grad == 1;
    fake->is_leaf       = is_leaf == 1;
    return is_leaf >= 0;
}

/* ask_halves mirrors view_as_complex of a base: its last dim is asked whether it is 2, each
   other stride whether it is even, which is known of products with the last dim in them. */
static bool
ask_halves(td_builder_t *b, td_fake_t const *base)
{
    uint32_t last = base->ndim - 1;
    td_num_t two  = {.hint = 2, .product = {.coef = 2}};

    if (td_ask(b, TD_ASK_EQ, &base->sizes[last], &two, false) < 0) {
        return false;
    }
    for (uint32_t i = 0; i < last; i++) {
        if (!td_ask_is_even(b, &base->strides[i])) {
            return b->stop.kind == TD_STOP_NONE
                       ? td_stop_unsupported(b, "L1724/fn/entered", __func__,
                                             "a complex view of a tensor of symbolic strides")
                       : false;
        }
    }
    return true;
}

/* ask_view asks what a base is asked before it is viewed as of another type. */
static bool
ask_view(td_builder_t *b, td_fake_t const *base, td_fake_t const *fake)
{
    bool halves = base->dtype != fake->dtype && base->ndim == fake->ndim + 1;

    return !halves || !base->has_symbols || ask_halves(b, base);
}

/* read_base makes the base of a view fake. */
static bool
read_base(td_builder_t *b, td_at_t const *at, PyObject *tensor, td_fake_t *fake)
{
    td_reader_t const *reader  = td_reader_of(b, tensor);
    PyObject          *base    = NULL; /* owned until kept */
    int                is_view = 1;

    if (reader != NULL) { /* torch's own tensor that is no view says that it has no base */
        base = attr_by(b, reader->base, tensor);
    } else {
        is_view = truth(b, td_tensor_call(b, tensor, b->names.is_view));
        base    = is_view > 0 ? td_tensor_attr(b, tensor, b->names.base) : NULL;
    }
    if (is_view == 0 || base == Py_None) {
        Py_XDECREF(base);
        return true;
    }
    if (base == NULL || !td_keep_steal(b, base)) {
        return false;
    }
    fake->base = td_fake_of(b, at, base, &(td_dims_t){0}, false);
    return fake->base != NULL && ask_view(b, fake->base, fake);
}

/* read_grad mirrors safe_grad: asking a tensor that is no leaf and keeps no
   gradient would warn, and there is none. */
static bool
read_grad(td_builder_t *b, td_at_t const *at, PyObject *tensor, td_dims_t const *dims,
          td_fake_t *fake)
{
    td_reader_t const *reader = td_reader_of(b, tensor);
    PyObject          *grad   = NULL; /* owned until kept */
    td_at_t            child  = {0};
    int                keeps = fake->is_leaf ? 1 : td_tensor_flag(b, tensor, b->names.retains_grad);

    if (keeps <= 0) {
        return keeps == 0;
    }
    grad = reader == NULL ? td_tensor_attr(b, tensor, b->names.grad)
                          : attr_by(b, reader->grad, tensor);
    if (grad == Py_None) {
        Py_DECREF(grad);
        return true;
    }
    if (grad == NULL || !td_keep_steal(b, grad)) {
        return false;
    }
    if (!td_children(b, at, TD_SOURCE_CLASS_AttrSource, TD_PAYLOAD_KEYS, &b->names.grad, NULL, 1,
                     &child)) {
        return false;
    }
    fake->grad = td_fake_of(b, &child, grad, dims, false);
    for (uint32_t i = 0; fake->grad != NULL && i < fake->ndim; i++) {
        if (!td_symbols_equal(b, &fake->grad->sizes[i], &fake->sizes[i])) {
            return false;
        }
    }
    return fake->grad != NULL;
}

/* ---- refusals ------------------------------------------------------------------------ */

static bool
nyi(td_builder_t *b, char const *message)
{
    return td_stop_raise(b, "L1724/fn/entered", __func__, "torch._dynamo.exc.Unsupported", message);
}

bool
td_is_compressed(td_builder_t *b, PyObject *layout)
{
    PyObject *formats[] = {b->names.sparse_csr, b->names.sparse_csc, b->names.sparse_bsr,
                           b->names.sparse_bsc};
    PyObject *text      = PyObject_Str(layout); /* owned; torch's own C code */
    bool      is        = false;

    for (size_t i = 0; text != NULL && i < sizeof formats / sizeof *formats; i++) {
        is = is || PyUnicode_Compare(text, formats[i]) == 0;
    }
    PyErr_Clear();
    Py_XDECREF(text);
    return is;
}

/* refuse_strides: of a base, torch asks the strides, which no compressed layout has. */
static bool
refuse_strides(td_builder_t *b, PyObject *tensor)
{
    PyObject *stride = td_call_method(b->names.stride, &tensor, 1); /* owned */

    if (stride == NULL) {
        return td_stop_passing(b, "L1724/fn/entered", __func__);
    }
    Py_DECREF(stride);
    return td_stop_unsupported(b, "L1724/fn/entered", __func__, "a compressed layout with strides");
}

/* admit_mkldnn: the fake of a tensor in mkldnn's layout is a strided one of the strides
   that the tensor says it has, unless cloning makes it contiguous. */
static bool
admit_mkldnn(td_builder_t *b, td_fake_t *fake)
{
    if (fake->requires_grad && !fake->is_leaf) {
        return td_stop_unsupported(b, "L1724/fn/entered", __func__,
                                   "a computed tensor in mkldnn's layout");
    }
    fake->layout = b->tables.strided;
    return true;
}

/* is_plain: a tensor of this dtype and layout was admitted before, and torch's own
   class says of this one what it said of that. */
static bool
is_plain(td_builder_t const *b, PyObject *tensor, td_fake_t const *fake)
{
    PyObject *cls = (PyObject *)Py_TYPE(tensor);

    return fake->dtype == b->plain_dtype && fake->layout == b->plain_layout &&
           (cls == b->tables.tensor || cls == b->tables.parameter);
}

static void
note_plain(td_builder_t *b, PyObject *tensor, td_fake_t const *fake)
{
    PyObject *cls = (PyObject *)Py_TYPE(tensor);

    if (!fake->is_sparse && (cls == b->tables.tensor || cls == b->tables.parameter)) {
        b->plain_dtype  = fake->dtype;
        b->plain_layout = fake->layout;
    }
}

/* admit_odd refuses what FakeTensorMode refuses, and what this builder does not have. */
static bool
admit_odd(td_builder_t *b, PyObject *tensor, td_fake_t *fake, bool is_root)
{
    int is_quantized = td_tensor_flag(b, tensor, b->names.is_quantized);
    int is_sparse    = is_quantized < 0 ? -1 : td_tensor_flag(b, tensor, b->names.is_sparse);
    int is_mkldnn    = is_sparse < 0 ? -1 : td_tensor_flag(b, tensor, b->names.is_mkldnn);

    if (is_mkldnn < 0) {
        return false;
    }
    fake->is_sparse = is_sparse == 1;
    if (is_quantized) {
        return nyi(b, "Unsupported: quantized nyi in meta tensors with fake tensor propagation.");
    }
    if (td_is_compressed(b, fake->layout)) {
        return is_root ? nyi(b, "Unsupported: meta converter nyi with fake tensor propagation.")
                       : refuse_strides(b, tensor);
    }
    if (is_mkldnn) {
        return admit_mkldnn(b, fake);
    }
    note_plain(b, tensor, fake);
    return true;
}

static bool
admit(td_builder_t *b, PyObject *tensor, td_fake_t *fake, bool is_root)
{
    if (td_is_fake_tensor(b, tensor)) {
        return fake->layout == b->tables.strided ||
               td_stop_unsupported(b, "L1703/alt/FakeTensor", __func__,
                                   "a fake tensor of another layout");
    }
    return is_plain(b, tensor, fake) || admit_odd(b, tensor, fake, is_root);
}

/* ---- making ----------------------------------------------------------------------------- */

static td_fake_t *
fake_new(td_builder_t *b, td_at_t const *at, PyObject *tensor, td_dims_t const *dims, bool is_root)
{
    td_frame_t *frame = &b->frame;
    td_fake_t  *fake  = td_alloc_in(b, sizeof *fake);

    if (fake == NULL) {
        return NULL;
    }
    fake->real = tensor;
    if (!td_fake_kinds(b, tensor, fake) || !admit(b, tensor, fake, is_root) ||
        !td_fake_sizes(b, tensor, dims, fake, is_root)) {
        return NULL;
    }
    if (!fake->is_sparse && !read_base(b, at, tensor, fake)) {
        return NULL;
    }
    if (fake->base != NULL && fake->base->is_sparse) {
        nyi(b, "Unsupported: meta converter nyi with fake tensor propagation.");
        return NULL;
    }
    if (!fake->is_sparse && !td_symbols_of_fake(b, at, dims, fake)) {
        return NULL;
    }
    if (!read_grad(b, at, tensor, dims, fake)) {
        return NULL;
    }
    fake->number = frame->fakes.cnt;
    if (!td_pmap_put(&frame->fake_by_tensor, tensor, frame->fakes.cnt) ||
        !TD_ARRAY_PUSH(frame->fakes, fake)) {
        td_stop_nomem(b);
        return NULL;
    }
    return fake;
}

td_fake_t *
td_fake_of(td_builder_t *b, td_at_t const *at, PyObject *tensor, td_dims_t const *dims,
           bool is_root)
{
    uint32_t   idx  = td_pmap_get(&b->frame.fake_by_tensor, tensor);
    td_fake_t *fake = NULL;

    if (idx != TD_MAP_NONE) {
        return b->frame.fakes.at[idx];
    }
    if (td_is_wrapper(b, tensor)) {
        return td_wrapper_fake(b, at, tensor);
    }
    fake = fake_new(b, at, tensor, dims, is_root);
    if (fake != NULL && is_root) {
        fake->is_param = (PyObject *)Py_TYPE(tensor) == b->tables.parameter;
    }
    return fake;
}
