/* wrap_numpy.c: numpy's arrays and scalars: tensors in the graph, made here by torch's
   own conversions. */
#include <string.h>

#include "builder/td_depth.h"
#include "builder/td_tensor_read.h"
#include "py/td_call.h"

/* converted gives what a conversion of torch's makes of value: a tensor of the frame's
   keep.  What it raises the reference raises too.  NULL: stopped. */
static PyObject *
converted(td_builder_t *b, PyObject *conversion, PyObject *value, char const *arm)
{
    PyObject *tensor = td_call(conversion, &value, 1); /* owned until kept */

    if (tensor == NULL) {
        td_stop_passing(b, arm, __func__);
        return NULL;
    }
    return td_keep_steal(b, tensor) ? tensor : NULL;
}

/* ---- types that torch lacks ---------------------------------------------------------

   torch.as_tensor keeps an array for ever when it refuses the array's type; so this
   builder refuses it first, in the same words. */

/* The type characters of numpy that have a type of torch's: bool, signed ints, uint8,
   floats and complex numbers. */
static char const known_types[] = "?bhilqBefdFD";

#define NO_TYPE                                                                       \
    "can't convert np.ndarray of type %s. The only supported types are: float64, "    \
    "float32, float16, complex64, complex128, int64, int32, int16, int8, uint8, and " \
    "bool."

/* What of an array torch looks at before its type. */
typedef struct {
    char const *class_name; /* of the array's numbers */
    char        type;
    bool        is_readable; /* native bytes, and strides of whole items that don't go back */
} array_t;

static bool
read_type(td_builder_t *b, PyObject *value, array_t *array)
{
    PyObject *dtype = td_call_attr(value, b->names.dtype);                           /* owned */
    PyObject *cls   = dtype == NULL ? NULL : td_call_attr(dtype, b->names.type);     /* owned */
    PyObject *text  = cls == NULL ? NULL : td_call_attr(dtype, b->names.char_);      /* owned */
    PyObject *order = text == NULL ? NULL : td_call_attr(dtype, b->names.byteorder); /* owned */
    bool      good  = order != NULL && PyType_Check(cls) && PyUnicode_Check(text) &&
                PyUnicode_GET_LENGTH(text) == 1 && PyUnicode_Check(order);

    if (good) {
        array->type        = (char)PyUnicode_READ_CHAR(text, 0);
        array->class_name  = array->type == 'V' ? "numpy.void" : ((PyTypeObject *)cls)->tp_name;
        array->is_readable = PyUnicode_CompareWithASCIIString(order, ">") != 0;
    }
    Py_XDECREF(order);
    Py_XDECREF(text);
    Py_XDECREF(cls); /* a class of numpy's own: it lives on */
    Py_XDECREF(dtype);
    return good || td_stop_python(b);
}

static bool
read_strides(td_builder_t *b, PyObject *value, array_t *array)
{
    PyObject  *strides = td_call_attr(value, b->names.strides);                        /* owned */
    PyObject  *item = strides == NULL ? NULL : td_call_attr(value, b->names.itemsize); /* owned */
    Py_ssize_t item_sz = item == NULL ? -1 : PyLong_AsSsize_t(item);

    for (Py_ssize_t i = 0; item_sz >= 0 && i < PyTuple_GET_SIZE(strides); i++) {
        Py_ssize_t stride = PyLong_AsSsize_t(PyTuple_GET_ITEM(strides, i));

        array->is_readable =
            array->is_readable && stride >= 0 && (item_sz == 0 || stride % item_sz == 0);
    }
    Py_XDECREF(item);
    Py_XDECREF(strides);
    return item_sz >= 0 || td_stop_python(b);
}

/* What __array_struct__ holds, as numpy's array interface lays it down. */
typedef struct {
    int       two;
    int       nd;
    char      typekind;
    int       itemsize;
    int       flags;
    intptr_t *shape;
    intptr_t *strides;
    void     *data;
    PyObject *descr;
} array_struct_t;

enum { ARRAY_NOTSWAPPED = 0x200 };

/* is_plain says whether an exact array is of a type of torch's in the machine's own byte
   order.  -1: stopped. */
static int
is_plain(td_builder_t *b, PyObject *value)
{
    PyObject             *capsule = td_call_attr(value, b->names.array_struct); /* owned */
    array_struct_t const *array =
        capsule == NULL ? NULL : PyCapsule_GetPointer(capsule, NULL); /* the capsule's */
    bool is = false;

    if (array == NULL) {
        Py_XDECREF(capsule);
        td_stop_python(b);
        return -1;
    }
    switch (array->typekind) {
    case 'b':
        is = array->itemsize == 1;
        break;
    case 'i':
        is = array->itemsize <= 8;
        break;
    case 'u':
        is = array->itemsize == 1;
        break;
    case 'f':
        is = array->itemsize <= 8;
        break;
    case 'c':
        is = array->itemsize == 8 || array->itemsize == 16;
        break;
    default:
        break;
    }
    is = is && (array->flags & ARRAY_NOTSWAPPED) != 0;
    Py_DECREF(capsule);
    return is;
}

/* admit refuses an array whose memory torch would read, were there a type for it. */
static bool
admit(td_builder_t *b, PyObject *value)
{
    array_t   array = {0};
    PyObject *text  = NULL; /* owned until kept */

    if (!read_type(b, value, &array)) {
        return false;
    }
    if (array.type != '\0' && strchr(known_types, array.type) != NULL) {
        return true;
    }
    if (!read_strides(b, value, &array)) {
        return false;
    }
    if (!array.is_readable) {
        return true; /* and is refused for that, before anything is kept */
    }
    text = PyUnicode_FromFormat(NO_TYPE, array.class_name);
    if (text == NULL) {
        return td_stop_python(b);
    }
    return td_keep_steal(b, text) &&
           td_stop_raise_text(b, "L1111/fn/entered", __func__, "TypeError", text);
}

/* to_output mirrors tx.output.guards.update(guards) with those of a tracker. */
static bool
to_output(td_builder_t *b, td_var_t const *var)
{
    td_frame_t *frame = &b->frame;

    if ((var->guard != 0 && !TD_ARRAY_PUSH(frame->output_guards, var->guard)) ||
        (var->added != 0 && !TD_ARRAY_PUSH(frame->output_guards, var->added))) {
        return td_stop_nomem(b);
    }
    for (td_more_t const *more = var->more; more != NULL; more = more->next) {
        if (!TD_ARRAY_PUSH(frame->output_guards, more->guard)) {
            return td_stop_nomem(b);
        }
    }
    return true;
}

/* number_fake is the record of the tensor that torch makes of a number of that dtype: the
   tensor itself is known whole, and made when somebody asks for it. */
static td_fake_t *
number_fake(td_builder_t *b, PyObject *dtype)
{
    td_fake_t *fake = td_alloc_in(b, sizeof *fake);

    if (fake == NULL) {
        return NULL;
    }
    *fake = (td_fake_t){.dtype   = dtype,
                        .device  = b->tables.cpu,
                        .layout  = b->tables.strided,
                        .is_leaf = true,
                        .number  = b->frame.fakes.cnt};
    if ((fake->sizes = fake->strides = td_alloc_in(b, 0)) == NULL ||
        (!TD_ARRAY_PUSH(b->frame.fakes, fake) && !td_stop_nomem(b))) {
        return NULL;
    }
    return fake;
}

/* note_number_sizes is td_note_sizes of a tensor that is not made yet. */
static bool
note_number_sizes(td_builder_t *b, td_fake_t *fake)
{
    td_sizes_strides_t row = {.fake = fake};

    return TD_ARRAY_PUSH(b->frame.sizes_strides, row) || td_stop_nomem(b);
}

/* wrap_fx mirrors wrap_fx_proxy_cls for a target class below TensorVariable: such a
   tensor is static in any case, and no tracked fake.  *out comes with its guards.  A tensor
   that is not made yet is NULL; it has that dtype. */
static bool
wrap_fx(td_builder_t *b, td_at_t const *at, PyObject *tensor, PyObject *dtype, td_fxnode_t *node,
        td_class_t cls, td_var_t *out)
{
    td_tensor_var_t *var = NULL;

    if (!to_output(b, out)) {
        return false;
    }
    if (b->export_mode && !td_remember_copy(b, node, tensor)) {
        return false;
    }
    node->example =
        tensor == NULL ? number_fake(b, dtype) : td_fake_of(b, at, tensor, &(td_dims_t){0}, true);
    if (node->example == NULL || !(tensor == NULL ? note_number_sizes(b, node->example)
                                                  : td_note_sizes(b, tensor, node->example))) {
        return false;
    }
    var = td_alloc_in(b, sizeof *var);
    if (var == NULL) {
        return false;
    }
    var->node       = node;
    var->fake       = node->example;
    var->class_type = b->tables.tensor;
    var->is_whole   = td_fake_is_whole(b, var->fake);
    out->cls        = (uint16_t)cls;
    out->source     = at->id;
    out->of.tensor  = var;
    return true;
}

/* fits says whether the reference has stack enough to make tensors fake here. */
static bool
fits(td_builder_t *b, td_at_t const *at, char const *arm)
{
    return td_symbols_fit(b, at) || td_stop_unsupported(b, arm, __func__, "numpy objects so deep");
}

/* ---- arrays ------------------------------------------------------------------------- */

/* array_input makes the graph input that stands for the array itself, beside the one of
   the tensor: the tensor's tracker gives its guards. */
static bool
array_input(td_builder_t *b, td_at_t const *at, td_at_t const *source, PyObject *tensor,
            td_var_t *tracker, td_var_t *out)
{
    td_fxnode_t   *node = td_graph_input_of(b, at, source, b->tables.tensor);
    td_grapharg_t *arg  = node == NULL ? NULL : td_alloc_in(b, sizeof *arg);
    td_var_t      *from = td_var_target(tracker);

    if (arg == NULL) {
        return false;
    }
    *out = (td_var_t){.guard = from->guard, .added = from->added, .more = from->more};
    if (!wrap_fx(b, source, tensor, NULL, node, TD_CLASS_NumpyNdarrayVariable, out) ||
        !td_input_store(b, source, out)) {
        return false;
    }
    *arg           = (td_grapharg_t){.source           = source->id,
                                     .example          = tensor,
                                     .fake             = node->example,
                                     .is_unspecialized = !TD_PLANT(ARRAY_IS_TENSOR),
                                     .is_tensor        = true,
                                     .is_strong        = true};
    node->grapharg = arg;
    return true;
}

/* array_tensor gives torch.as_tensor(value).  Of a plain array of a plain type that is what
   torch.from_numpy() gives, which asks less; where no mode answers for the one. */
static PyObject *
array_tensor(td_builder_t *b, PyObject *value)
{
    PyObject *conversion = b->tables.as_tensor; /* borrowed */

    if ((PyObject *)Py_TYPE(value) == b->tables.ndarray && td_no_modes(b)) {
        int plain = is_plain(b, value);

        if (plain < 0) {
            return NULL;
        }
        if (plain == 1) {
            return converted(b, b->tables.from_numpy, value, "L1111/fn/entered");
        }
    }
    return admit(b, value) ? converted(b, conversion, value, "L1111/fn/entered") : NULL;
}

static bool
wrap_array(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    td_at_t   source  = {0};
    td_var_t  tracker = {0};
    PyObject *tensor  = NULL; /* borrowed from the keep */

    if (!fits(b, at, "L377/alt/np.ndarray") ||
        !td_children(b, at, TD_SOURCE_CLASS_NumpyTensorSource, TD_PAYLOAD_NOTHING, NULL, NULL, 1,
                     &source)) {
        return false;
    }
    tensor = array_tensor(b, value);
    return tensor != NULL && td_build(b, &source, tensor, &tracker) &&
           array_input(b, at, &source, tensor, &tracker, out);
}

/* td_wrap_numpy_ndarray mirrors VariableBuilder.wrap_numpy_ndarray: the array becomes a
   tensor that is built under a source of its own, and then an input once more. */
bool
td_wrap_numpy_ndarray(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    bool good = false;

    b->frames += TD_DEPTH_FUNC;
    good = wrap_array(b, at, value, out);
    b->frames -= TD_DEPTH_FUNC;
    return good;
}

/* ---- scalars --------------------------------------------------------------------------- */

/* forget: nobody in the reference keeps the tensor of a number that was refused; the row with
   its sizes stays, and nothing is known to be its tensor. */
static bool
forget(td_builder_t *b, PyObject *tensor)
{
    uint32_t idx = td_pmap_get(&b->frame.sizes_by_tensor, tensor);

    if (idx != TD_MAP_NONE) {
        b->frame.sizes_strides.at[idx].tensor = NULL;
    }
    return true;
}

/* note_example: the graph input stands for the tensor, or for one to be made of value. */
static bool
note_example(td_builder_t *b, td_at_t const *at, PyObject *value, PyObject *tensor,
             td_fxnode_t *node, td_grapharg_t *arg)
{
    td_unmade_t unmade = {.value = value, .arg = arg, .row = b->frame.sizes_strides.cnt - 1};

    *arg           = (td_grapharg_t){.source           = at->id,
                                     .example          = tensor,
                                     .fake             = node->example,
                                     .is_unspecialized = true,
                                     .is_strong        = true};
    node->grapharg = arg;
    return tensor != NULL || TD_ARRAY_PUSH(b->frame.unmade, unmade) || td_stop_nomem(b);
}

/* scalar_input makes the graph input of a scalar that became a tensor, or will: see wrap_fx. */
static bool
scalar_input(td_builder_t *b, td_at_t const *at, PyObject *value, PyObject *tensor, PyObject *dtype,
             td_var_t *out)
{
    td_guard_id_t  guard = 0;
    td_fxnode_t   *node  = NULL;
    td_grapharg_t *arg   = td_alloc_in(b, sizeof *arg);

    if (arg == NULL ||
        (td_source_block(&b->frame.sources, at->id)->cls != TD_SOURCE_CLASS_RandomValueSource &&
         !td_source_guard(b, at, TD_GUARD_TYPE_MATCH, !TD_PLANT(LASTING_GUARD), &guard))) {
        return false;
    }
    node = td_graph_input(b, at, b->tables.tensor);
    *out = (td_var_t){.guard = guard};
    if (node == NULL ||
        !wrap_fx(b, at, tensor, dtype, node, TD_CLASS_UnspecializedPythonVariable, out) ||
        !td_keep(b, value)) {
        return false;
    }
    out->of.tensor->raw_value = value;
    if (td_is_extra_input(b, at)) {
        return td_note_unspec(b, at, out) && forget(b, tensor) &&
               td_refuse_input(b, at, NULL, tensor);
    }
    return note_example(b, at, value, tensor, node, arg) && td_note_unspec(b, at, out);
}

bool
td_numbers_make(td_builder_t *b)
{
    for (; b->frame.unmade.cnt > 0; b->frame.unmade.cnt--) {
        td_unmade_t *one    = &b->frame.unmade.at[b->frame.unmade.cnt - 1];
        PyObject    *tensor = converted(b, b->tables.new_tensor, one->value, "L1166/bool/op0=F");

        if (tensor == NULL) {
            return false;
        }
        one->arg->example                          = tensor;
        one->arg->fake->real                       = tensor;
        b->frame.sizes_strides.at[one->row].tensor = tensor;
    }
    return true;
}

/* dtype_of gives the dtype of the tensor that torch makes of a number of numpy's, or NULL
   where only the tensor says; borrowed. */
static PyObject *
dtype_of(td_builder_t *b, PyObject *value)
{
    PyObject *known = b->tables.number_dtypes; /* borrowed */

    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(known); i++) {
        PyObject *row = PyTuple_GET_ITEM(known, i); /* borrowed */

        if (PyTuple_GET_ITEM(row, 0) == (PyObject *)Py_TYPE(value)) {
            return !b->export_mode && td_no_modes(b) ? PyTuple_GET_ITEM(row, 1) : NULL;
        }
    }
    return NULL;
}

static bool
wrap_scalar(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    td_var_t *found  = NULL;
    PyObject *dtype  = NULL; /* borrowed from the tables */
    PyObject *tensor = NULL; /* borrowed from the keep */

    if (!td_find_unspec(b, at, &found)) {
        return false;
    }
    if (found != NULL) {
        *out = (td_var_t){.cls = TD_VAR_ALIAS, .of.alias = found};
        return true;
    }
    if (!fits(b, at, "L609/if/T")) {
        return false;
    }
    dtype  = dtype_of(b, value);
    tensor = dtype != NULL ? NULL : converted(b, b->tables.new_tensor, value, "L1166/bool/op0=F");
    return (dtype != NULL || tensor != NULL) && scalar_input(b, at, value, tensor, dtype, out);
}

/* td_wrap_np_number mirrors wrap_unspecialized_primitive for a numpy scalar: no int, it
   becomes a tensor in any case. */
bool
td_wrap_np_number(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    bool good = false;

    b->frames += TD_DEPTH_FUNC;
    good = wrap_scalar(b, at, value, out);
    b->frames -= TD_DEPTH_FUNC;
    return good;
}
