/* td_look_graph.c: nodes and fake tensors as records. */
#include "builder/td_look.h"
#include "builder/td_value.h"
#include "py/td_call.h"

/* ---- values that only a graph has ---------------------------------------------- */

/* other_of: an object of which nothing but its class is known. */
static td_val_t
other_of(td_look_t *look, void const *identity, PyObject *cls)
{
    uint32_t ordinal = td_obs_ordinal(look->obs, TD_SPACE_OBJECT, identity, NULL);

    return td_obs_triple(look->obs, td_obs_cstr(look->obs, "other"), td_look_value(look, cls),
                         td_obs_int(look->obs, ordinal));
}

/* tuple_of: an instance of a subclass of tuple. */
static td_val_t
tuple_of(td_look_t *look, td_value_tuple_t const *tuple)
{
    td_vals_t vals = {0};
    td_val_t  list = TD_VAL_NONE;

    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple->items); i++) {
        td_vals_add(look, &vals, td_look_value(look, PyTuple_GET_ITEM(tuple->items, i)));
    }
    list = td_vals_end(look, &vals);
    if (tuple->cls == look->b->tables.immutable_list) {
        return td_form_typed(look->obs, "list", list);
    }
    if (tuple->cls == look->b->tables.size) {
        return td_form_typed(look->obs, "torch.Size", list);
    }
    return td_obs_triple(look->obs, td_obs_cstr(look->obs, "tuple"), list,
                         td_look_value(look, tuple->cls));
}

/* special is the td_canon_special_t of a look.  A tensor that is no object of the
   program's is one that the builder made, or one of those objects (an optimizer has
   parameters of its own). */
static td_val_t
special(void *ctx, PyObject *value)
{
    td_look_t         *look   = ctx;
    td_tables_t const *tables = &look->b->tables;
    PyObject          *type   = (PyObject *)Py_TYPE(value);
    void              *what   = NULL;

    if (type == tables->tensor || type == tables->parameter || type == tables->fake_tensor) {
        return td_look_real(look, value);
    }
    if (!PyCapsule_CheckExact(value)) {
        return TD_VAL_NONE;
    }
    if ((what = td_value_get(value, TD_VALUE_NODE)) != NULL) {
        return td_form_node(look->obs, td_obs_ordinal(look->obs, TD_SPACE_NODE, what, NULL));
    }
    if ((what = td_value_get(value, TD_VALUE_FAKE)) != NULL) {
        return td_look_fake(look, what);
    }
    if ((what = td_value_get(value, TD_VALUE_NUMBER)) != NULL) {
        return td_look_number(look, what);
    }
    if ((what = td_value_get(value, TD_VALUE_OTHER)) != NULL) {
        return other_of(look, what, ((td_value_other_t *)what)->cls);
    }
    if ((what = td_value_get(value, TD_VALUE_LIST)) != NULL) {
        PyObject *cls = ((td_value_tuple_t *)what)->cls;

        return cls == look->b->tables.immutable_list ? tuple_of(look, what)
                                                     : other_of(look, what, cls);
    }
    what = td_value_get(value, TD_VALUE_TUPLE);
    return what == NULL ? TD_VAL_NONE : tuple_of(look, what);
}

bool
td_look_init_canon(td_look_t *look)
{
    if (td_canon_init(&look->canon, look->obs, look->b->objects) != TD_OK) {
        return false;
    }
    look->canon.special     = special;
    look->canon.special_ctx = look;
    return true;
}

/* ---- nodes ------------------------------------------------------------------------ */

td_val_t
td_look_proxy(td_look_t *look, td_fxnode_t *node)
{
    td_val_t ordinal = td_obs_int(look->obs, td_obs_ordinal(look->obs, TD_SPACE_NODE, node, NULL));

    return td_obs_pair(look->obs, ordinal, td_look_name(look, node->name, node->name_sz));
}

/* attributes: what the instance dict of a fake has beyond the schema's rows. */
static td_val_t
attributes(td_look_t *look, td_fake_t const *fake)
{
    td_vals_t vals = {0};

    if (fake->marks != NULL) {
        td_vals_add(look, &vals,
                    td_obs_pair(look->obs, td_obs_cstr(look->obs, "_dynamo_dynamic_indices"),
                                td_look_value(look, fake->marks)));
    }
    if (fake->is_param) {
        td_vals_add(look, &vals,
                    td_obs_pair(look->obs, td_obs_cstr(look->obs, "_is_param"),
                                td_obs_bool(look->obs, true)));
    }
    for (uint32_t i = 0; i < fake->part_cnt; i++) {
        td_vals_add(look, &vals,
                    td_obs_pair(look->obs, td_obs_cstr(look->obs, fake->parts[i].name),
                                td_look_fake(look, fake->parts[i].fake)));
    }
    return td_vals_end(look, &vals);
}

static PyObject *
class_of(td_look_t *look, td_fake_t const *fake)
{
    if (!fake->is_copy && !fake->is_wrapper) {
        return look->b->tables.fake_tensor;
    }
    return fake->copy_class == NULL ? look->b->tables.tensor : fake->copy_class;
}

td_val_t
td_look_fake(td_look_t *look, td_fake_t *fake)
{
    td_fields_t fields  = {0};
    td_obs_t   *obs     = look->obs;
    bool        again   = false;
    uint32_t    ordinal = 0;

    if (fake == NULL) {
        return td_obs_null(obs);
    }
    ordinal = td_obs_ordinal(obs, TD_SPACE_OBJECT, fake, &again);
    if (again) {
        return td_form_again(obs, ordinal);
    }
    td_fields_put(&fields, TD_FIELD_Tensor_type, td_look_value(look, class_of(look, fake)));
    td_fields_put(&fields, TD_FIELD_Tensor_size, td_look_shape(look, fake->sizes, fake->ndim));
    td_fields_put(&fields, TD_FIELD_Tensor_stride, td_look_shape(look, fake->strides, fake->ndim));
    td_fields_put(&fields, TD_FIELD_Tensor_storage_offset,
                  fake->is_copy && fake->copy_class == NULL ? td_obs_null(obs)
                                                            : td_look_number(look, &fake->offset));
    td_fields_put(&fields, TD_FIELD_Tensor_dtype, td_look_value(look, fake->dtype));
    td_fields_put(&fields, TD_FIELD_Tensor_device, td_look_value(look, fake->device));
    td_fields_put(&fields, TD_FIELD_Tensor_layout, td_look_value(look, fake->layout));
    td_fields_put(&fields, TD_FIELD_Tensor_requires_grad, td_obs_bool(obs, fake->requires_grad));
    td_fields_put(&fields, TD_FIELD_Tensor_is_leaf, td_obs_bool(obs, fake->is_leaf));
    td_fields_put(&fields, TD_FIELD_Tensor_constant, td_obs_null(obs));
    td_fields_put(&fields, TD_FIELD_Tensor_base, td_look_fake(look, fake->base));
    td_fields_put(&fields, TD_FIELD_Tensor_grad,
                  fake->is_leaf ? td_look_fake(look, fake->grad) : td_obs_null(obs));
    td_fields_put(&fields, TD_FIELD_Tensor_attributes, attributes(look, fake));
    return td_obs_record(obs, TD_CLASS_Tensor, fields.at, fields.cnt);
}

/* ints: what a method without arguments gives, a tuple of ints. */
static td_val_t
ints(td_look_t *look, PyObject *tensor, PyObject *method)
{
    PyObject *got  = td_call_method(method, &tensor, 1); /* owned */
    td_vals_t vals = {0};

    if (got == NULL) {
        PyErr_Clear();
        look->failed = true;
        return TD_VAL_NONE;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(got); i++) {
        td_vals_add(look, &vals, td_look_value(look, PyTuple_GET_ITEM(got, i)));
    }
    Py_DECREF(got);
    return td_vals_end(look, &vals);
}

static td_val_t
attribute(td_look_t *look, PyObject *tensor, PyObject *name)
{
    PyObject *got = td_call_attr(tensor, name); /* owned */
    td_val_t  val = TD_VAL_NONE;

    if (got == NULL) {
        PyErr_Clear();
        look->failed = true;
        return TD_VAL_NONE;
    }
    val = td_look_value(look, got);
    Py_DECREF(got);
    return val;
}

/* real_offset: where a real tensor begins is no matter of anybody's; a fake one has a number. */
static td_val_t
real_offset(td_look_t *look, PyObject *tensor)
{
    PyObject *offset = NULL; /* owned */
    td_val_t  val    = TD_VAL_NONE;

    if (!td_is_fake_tensor(look->b, tensor)) {
        return td_obs_null(look->obs);
    }
    offset = td_call_method(look->b->names.storage_offset, &tensor, 1);
    if (offset == NULL) {
        PyErr_Clear();
        look->failed = true;
        return TD_VAL_NONE;
    }
    val = td_look_value(look, offset);
    Py_DECREF(offset);
    return val;
}

/* own_attributes: what the instance dict of a real tensor has beyond the schema's rows. */
static td_val_t
own_attributes(td_look_t *look, PyObject *tensor)
{
    PyObject  *dict = PyObject_GenericGetDict(tensor, NULL); /* owned */
    PyObject  *name, *value;                                 /* borrowed */
    Py_ssize_t pos  = 0;
    td_vals_t  vals = {0};

    look->failed = look->failed || dict == NULL;
    while (dict != NULL && PyDict_Next(dict, &pos, &name, &value)) {
        char const *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;

        if (text == NULL || td_field_find(TD_CLASS_Tensor, text) == TD_FIELD_NONE) {
            td_vals_add(
                look, &vals,
                td_obs_pair(look->obs, td_look_value(look, name), td_look_value(look, value)));
        }
    }
    PyErr_Clear();
    Py_XDECREF(dict);
    return td_vals_end(look, &vals);
}

/* gradient: asking a tensor that is no leaf for its gradient warns, and there is none. */
static td_val_t
gradient(td_look_t *look, PyObject *tensor)
{
    PyObject *leaf = td_call_attr(tensor, look->b->names.is_leaf); /* owned */
    bool      has  = leaf == Py_True;

    PyErr_Clear();
    look->failed = look->failed || leaf == NULL;
    Py_XDECREF(leaf);
    return has ? attribute(look, tensor, look->b->names.grad) : td_obs_null(look->obs);
}

/* Where a real tensor begins in its memory is not said: it may be anywhere. */
td_val_t
td_look_real(td_look_t *look, PyObject *tensor)
{
    td_names_t const *names   = &look->b->names;
    td_obs_t         *obs     = look->obs;
    td_fields_t       fields  = {0};
    bool              again   = false;
    uint32_t          ordinal = td_obs_ordinal(obs, TD_SPACE_OBJECT, tensor, &again);

    if (again) {
        return td_form_again(obs, ordinal);
    }
    td_fields_put(&fields, TD_FIELD_Tensor_type, td_canon_type(&look->canon, Py_TYPE(tensor)));
    td_fields_put(&fields, TD_FIELD_Tensor_size, ints(look, tensor, names->size));
    td_fields_put(&fields, TD_FIELD_Tensor_stride, ints(look, tensor, names->stride));
    td_fields_put(&fields, TD_FIELD_Tensor_storage_offset, real_offset(look, tensor));
    td_fields_put(&fields, TD_FIELD_Tensor_dtype, attribute(look, tensor, names->dtype));
    td_fields_put(&fields, TD_FIELD_Tensor_device,
                  td_is_fake_tensor(look->b, tensor)
                      ? td_look_value(look, td_mark(tensor, names->fake_device))
                      : attribute(look, tensor, names->device));
    td_fields_put(&fields, TD_FIELD_Tensor_layout, attribute(look, tensor, names->layout));
    td_fields_put(&fields, TD_FIELD_Tensor_requires_grad,
                  attribute(look, tensor, names->requires_grad));
    td_fields_put(&fields, TD_FIELD_Tensor_is_leaf, attribute(look, tensor, names->is_leaf));
    td_fields_put(&fields, TD_FIELD_Tensor_constant, td_obs_null(obs));
    td_fields_put(&fields, TD_FIELD_Tensor_base, attribute(look, tensor, names->base));
    td_fields_put(&fields, TD_FIELD_Tensor_grad, gradient(look, tensor));
    td_fields_put(&fields, TD_FIELD_Tensor_attributes, own_attributes(look, tensor));
    return td_obs_record(obs, TD_CLASS_Tensor, fields.at, fields.cnt);
}

/* held: what is behind _example still. */
static td_val_t
held(td_look_t *look, td_grapharg_t const *arg)
{
    if (arg->state == TD_ARG_ERASED) {
        return td_obs_null(look->obs);
    }
    if (arg->number != NULL) {
        return td_look_number(look, arg->number);
    }
    return td_form_typed(look->obs, "weakref",
                         td_look_value(look, arg->state == TD_ARG_DEAD ? NULL : arg->example));
}

static td_val_t
grapharg(td_look_t *look, td_grapharg_t const *arg)
{
    td_fields_t fields = {0};

    if (arg == NULL) {
        return td_obs_absent(look->obs);
    }
    td_fields_put(&fields, TD_FIELD_GraphArg_source, td_look_source(look, arg->source));
    td_fields_put(&fields, TD_FIELD_GraphArg__example, held(look, arg));
    td_fields_put(&fields, TD_FIELD_GraphArg_is_unspecialized,
                  td_obs_bool(look->obs, arg->is_unspecialized));
    td_fields_put(&fields, TD_FIELD_GraphArg_fake_tensor, td_look_fake(look, arg->fake));
    td_fields_put(&fields, TD_FIELD_GraphArg_is_tensor, td_obs_bool(look->obs, arg->is_tensor));
    td_fields_put(&fields, TD_FIELD_GraphArg_example_strong_ref,
                  !arg->is_strong       ? td_obs_null(look->obs)
                  : arg->number != NULL ? td_look_number(look, arg->number)
                                        : td_look_value(look, arg->example));
    return td_obs_record(look->obs, TD_CLASS_GraphArg, fields.at, fields.cnt);
}

/* tensor_dict: what the tensor object carried, as [[name, value], ...]. */
static td_val_t
tensor_dict(td_look_t *look, PyObject *dict)
{
    td_vals_t  vals  = {0};
    PyObject  *key   = NULL; /* borrowed */
    PyObject  *value = NULL; /* borrowed */
    Py_ssize_t pos   = 0;

    if (dict == NULL) {
        return td_obs_absent(look->obs);
    }
    while (PyDict_Next(dict, &pos, &key, &value)) {
        td_val_t name =
            PyUnicode_Check(key) ? td_canon_str(&look->canon, key) : td_look_value(look, key);

        td_vals_add(look, &vals, td_obs_pair(look->obs, name, td_look_value(look, value)));
    }
    return td_vals_end(look, &vals);
}

static td_val_t
example_value(td_look_t *look, td_fxnode_t const *node)
{
    if (node->number != NULL) {
        return td_look_number(look, node->number);
    }
    if (node->example != NULL) {
        return td_look_fake(look, node->example);
    }
    return node->value != NULL ? td_look_value(look, node->value) : td_obs_absent(look->obs);
}

/* target: a generated name, or what is called. */
static td_val_t
target(td_look_t *look, td_fxnode_t const *node)
{
    return node->callee != NULL ? td_look_value(look, node->callee)
                                : td_look_name(look, node->target, node->target_sz);
}

/* source_fn: (name, target) of a node that calls something. */
static td_val_t
source_fn(td_look_t *look, td_fxnode_t const *node)
{
    td_val_t name = TD_VAL_NONE;

    if (node->op < TD_OP_CALL_FUNCTION) {
        return td_obs_absent(look->obs);
    }
    name = td_look_name(look, node->name, node->name_sz);
    return td_form_typed(look->obs, "tuple", td_obs_pair(look->obs, name, target(look, node)));
}

static td_val_t
args(td_look_t *look, td_fxnode_t const *node)
{
    return node->args != NULL ? td_look_value(look, node->args)
                              : td_form_typed(look->obs, "tuple", td_obs_list(look->obs, NULL, 0));
}

static td_val_t
meta(td_look_t *look, td_fxnode_t const *node)
{
    td_fields_t fields = {0};

    td_fields_put(&fields, TD_FIELD_NodeMeta_creation_timestamp,
                  td_obs_int(look->obs, node->timestamp));
    td_fields_put(&fields, TD_FIELD_NodeMeta_grapharg, grapharg(look, node->grapharg));
    td_fields_put(&fields, TD_FIELD_NodeMeta_tensor_dict, tensor_dict(look, node->tensor_dict));
    td_fields_put(&fields, TD_FIELD_NodeMeta_example_value, example_value(look, node));
    td_fields_put(&fields, TD_FIELD_NodeMeta_source_fn, source_fn(look, node));
    td_fields_put(&fields, TD_FIELD_NodeMeta_nn_module_stack, td_obs_absent(look->obs));
    return td_obs_record(look->obs, TD_CLASS_NodeMeta, fields.at, fields.cnt);
}

static td_val_t
node_record(td_look_t *look, td_fxnode_t *node)
{
    static char const *const ops[]  = {[TD_OP_PLACEHOLDER]   = "placeholder",
                                       [TD_OP_GET_ATTR]      = "get_attr",
                                       [TD_OP_CALL_FUNCTION] = "call_function",
                                       [TD_OP_CALL_METHOD]   = "call_method"};
    td_fields_t              fields = {0};
    td_val_t                 none   = td_obs_list(look->obs, NULL, 0);

    td_fields_put(&fields, TD_FIELD_Node_name, td_look_name(look, node->name, node->name_sz));
    td_fields_put(&fields, TD_FIELD_Node_op, td_obs_cstr(look->obs, ops[node->op]));
    td_fields_put(&fields, TD_FIELD_Node_target, target(look, node));
    td_fields_put(&fields, TD_FIELD_Node_type, td_look_value(look, node->type));
    td_fields_put(&fields, TD_FIELD_Node__args, args(look, node));
    td_fields_put(&fields, TD_FIELD_Node__kwargs, td_form_typed(look->obs, "dict", none));
    td_fields_put(&fields, TD_FIELD_Node_meta, meta(look, node));
    return td_obs_record(look->obs, TD_CLASS_Node, fields.at, fields.cnt);
}

td_val_t
td_look_graph(td_look_t *look)
{
    td_vals_t vals = {0};

    for (td_fxnode_t *node = look->b->frame.first; node != NULL; node = node->next) {
        td_vals_add(look, &vals, node_record(look, node));
    }
    return td_vals_end(look, &vals);
}
