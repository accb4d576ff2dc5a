/* td_walk_tensor.c: tensors that a build made.

   What a tensor is comes from the C type below torch.Tensor, so that neither a
   subclass's own attributes nor its __torch_function__ are asked. */
#include <string.h>

#include "base/td_alloc.h"
#include "py/td_canon_parts.h"
#include "reference/td_walk_parts.h"

bool
walk_is_tensor(td_walk_t const *walk, PyObject *value)
{
    return PyType_IsSubtype(Py_TYPE(value), walk->tensor_base);
}

/* A property or method result of the C type: a new reference, NULL without an
   exception when this tensor has none (a sparse one has no strides). */
static PyObject *
walk_tensor_read(td_walk_t *walk, PyObject *tensor, PyObject *name)
{
    PyObject *descr = td_canon_get(walk->tensor_base->tp_dict, name); /* borrowed */
    PyObject *value = NULL;

    if (descr != NULL && Py_TYPE(descr) == &PyGetSetDescr_Type) {
        value = Py_TYPE(descr)->tp_descr_get(descr, tensor, (PyObject *)Py_TYPE(tensor));
    } else if (descr != NULL) {
        value = PyObject_Vectorcall(descr, &tensor, 1, NULL);
    }
    if (value == NULL) {
        PyErr_Clear();
    }
    return value;
}

typedef td_val_t (*walk_read_t)(td_walk_t *walk, PyObject *value);

static td_val_t
walk_tensor_field(td_walk_t *walk, PyObject *tensor, PyObject *name, walk_read_t read)
{
    PyObject *value = walk_tensor_read(walk, tensor, name);
    td_val_t  val;

    if (value == NULL) {
        return td_obs_absent(walk->obs);
    }
    val = read(walk, value);
    Py_DECREF(value);
    return val;
}

/* A fake tensor computes to be on the meta device; what it stands for is beside it. */
static td_val_t
walk_tensor_device(td_walk_t *walk, PyObject *tensor, PyObject *dict)
{
    PyObject *device = td_canon_get(dict, walk->name_fake_device); /* borrowed */

    return device != NULL ? walk_value(walk, device)
                          : walk_tensor_field(walk, tensor, walk->name_device, walk_value);
}

/* A real copy of an input (clone_input) lies where the address of its buffer put it. */
static td_val_t
walk_tensor_offset(td_walk_t *walk, PyObject *tensor)
{
    td_state_t const *state = walk->canon.state;
    PyTypeObject     *type  = Py_TYPE(tensor);

    if (type == (PyTypeObject *)state->tensor || type == (PyTypeObject *)state->parameter) {
        return td_obs_null(walk->obs);
    }
    return walk_tensor_field(walk, tensor, walk->name_storage_offset, walk_sym);
}

/* Asking a tensor that is no leaf for its gradient warns, and there is none. */
static td_val_t
walk_tensor_grad(td_walk_t *walk, PyObject *tensor)
{
    PyObject *leaf = walk_tensor_read(walk, tensor, walk->name_is_leaf);
    bool      has  = leaf == Py_True;

    Py_XDECREF(leaf);
    return has ? walk_tensor_field(walk, tensor, walk->name__grad, walk_value)
               : td_obs_null(walk->obs);
}

/* Attributes of the instance that have no row of their own. */
static td_val_t
walk_tensor_attributes(td_walk_t *walk, PyObject *dict)
{
    walk_list_t list;
    Py_ssize_t  pos = 0;
    PyObject   *name, *value; /* borrowed */

    walk_list_init(&list, walk);
    while (dict != NULL && PyDict_Next(dict, &pos, &name, &value)) {
        char const *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
        td_val_t    name_val;

        if (text == NULL) {
            PyErr_Clear();
        } else if (td_field_find(TD_CLASS_Tensor, text) != TD_FIELD_NONE) {
            continue;
        }
        name_val = walk_value(walk, name);
        walk_list_add(&list, td_obs_pair(walk->obs, name_val, walk_value(walk, value)));
    }
    return walk_list_end(&list);
}

static td_val_t
walk_tensor_record(td_walk_t *walk, PyObject *tensor)
{
    PyObject      *dict     = td_canon_dict(tensor); /* borrowed */
    PyObject      *constant = dict == NULL ? NULL : td_canon_get(dict, walk->name_constant);
    td_obs_field_t fields[16];
    size_t         cnt = 0;

#define FIELD(attribute, made)                         \
    fields[cnt].field   = TD_FIELD_Tensor_##attribute; \
    fields[cnt++].value = (made)
    FIELD(type, td_canon_type(&walk->canon, Py_TYPE(tensor)));
    FIELD(size, walk_tensor_field(walk, tensor, walk->name_size, walk_shape));
    FIELD(stride, walk_tensor_field(walk, tensor, walk->name_stride, walk_shape));
    FIELD(storage_offset, walk_tensor_offset(walk, tensor));
    FIELD(dtype, walk_tensor_field(walk, tensor, walk->name_dtype, walk_value));
    FIELD(device, walk_tensor_device(walk, tensor, dict));
    FIELD(layout, walk_tensor_field(walk, tensor, walk->name_layout, walk_value));
    FIELD(requires_grad, walk_tensor_field(walk, tensor, walk->name_requires_grad, walk_value));
    FIELD(is_leaf, walk_tensor_field(walk, tensor, walk->name_is_leaf, walk_value));
    FIELD(constant, constant == NULL ? td_obs_null(walk->obs) : walk_value(walk, constant));
    FIELD(base, walk_tensor_field(walk, tensor, walk->name__base, walk_value));
    FIELD(grad, walk_tensor_grad(walk, tensor));
    FIELD(attributes, walk_tensor_attributes(walk, dict));
#undef FIELD
    return td_obs_record(walk->obs, TD_CLASS_Tensor, fields, cnt);
}

/* A subclass with a __torch_function__ of its own is read with that switched off. */
static td_val_t
walk_tensor_guarded(td_walk_t *walk, PyObject *tensor)
{
    PyObject *off = PyObject_CallNoArgs((PyObject *)walk->no_function);
    PyObject *entered, *none[3] = {Py_None, Py_None, Py_None};
    PyObject *left;
    td_val_t  val;

    entered = off == NULL ? NULL : PyObject_CallMethodNoArgs(off, walk->name___enter__);
    if (entered == NULL) {
        PyErr_Clear();
        Py_XDECREF(off);
        return walk_reject(walk, "__torch_function__ could not be switched off");
    }
    val  = walk_tensor_record(walk, tensor);
    left = PyObject_CallMethodObjArgs(off, walk->name___exit__, none[0], none[1], none[2], NULL);
    if (left == NULL) {
        PyErr_Clear();
        walk_reject(walk, "__torch_function__ could not be switched on again");
    }
    Py_XDECREF(left);
    Py_DECREF(entered);
    Py_DECREF(off);
    return val;
}

td_val_t
walk_tensor(td_walk_t *walk, PyObject *tensor)
{
    td_state_t const *state = walk->canon.state;
    PyTypeObject     *type  = Py_TYPE(tensor);
    bool              again;
    uint32_t          ordinal = td_obs_ordinal(walk->obs, TD_SPACE_OBJECT, tensor, &again);

    if (again) {
        return td_form_again(walk->obs, ordinal);
    }
    if (type == walk->fake || type == (PyTypeObject *)state->tensor ||
        type == (PyTypeObject *)state->parameter) {
        return walk_tensor_record(walk, tensor);
    }
    return walk_tensor_guarded(walk, tensor);
}
