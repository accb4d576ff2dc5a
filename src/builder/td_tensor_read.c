/* td_tensor_read.c: see td_tensor_read.h. */
#include "builder/td_tensor_read.h"

#include "py/td_call.h"

bool
td_no_modes(td_builder_t *b)
{
    for (Py_ssize_t i = 0;
         b->modes == TD_MODES_UNKNOWN && i < PyTuple_GET_SIZE(b->tables.mode_counts); i++) {
        PyObject *cnt = td_call(PyTuple_GET_ITEM(b->tables.mode_counts, i), NULL, 0); /* owned */

        if (cnt == NULL || PyLong_AsLong(cnt) != 0) {
            b->modes = TD_MODES_SOME;
        }
        PyErr_Clear();
        Py_XDECREF(cnt);
    }
    if (b->modes == TD_MODES_UNKNOWN) {
        b->modes = TD_MODES_NONE;
    }
    return b->modes == TD_MODES_NONE;
}

/* getter_of gives the getter in C that a class has under a name; NULL: it has none. */
static PyObject *
getter_of(PyTypeObject *type, PyObject *name)
{
    PyObject *found = _PyType_Lookup(type, name); /* borrowed */

    return found != NULL && Py_IS_TYPE(found, &PyGetSetDescr_Type) &&
                   ((PyGetSetDescrObject *)found)->d_getset->get != NULL
               ? found
               : NULL;
}

/* method_of gives the method in C that can be called without arguments; NULL: there is none. */
static PyObject *
method_of(PyTypeObject *type, PyObject *name)
{
    PyObject *found = _PyType_Lookup(type, name); /* borrowed */
    int       flags = 0;

    if (found == NULL || !Py_IS_TYPE(found, &PyMethodDescr_Type)) {
        return NULL;
    }
    flags = ((PyMethodDescrObject *)found)->d_method->ml_flags;
    return flags == METH_NOARGS || flags == (METH_VARARGS | METH_KEYWORDS) ? found : NULL;
}

static bool
read_class(td_names_t const *names, PyTypeObject *type, td_reader_t *reader)
{
    reader->shape          = getter_of(type, names->shape);
    reader->dtype          = getter_of(type, names->dtype);
    reader->layout         = getter_of(type, names->layout);
    reader->device         = getter_of(type, names->device);
    reader->requires_grad  = getter_of(type, names->requires_grad);
    reader->is_leaf        = getter_of(type, names->is_leaf);
    reader->grad           = getter_of(type, names->grad);
    reader->base           = getter_of(type, names->base);
    reader->stride         = method_of(type, names->stride);
    reader->storage_offset = method_of(type, names->storage_offset);
    return reader->shape != NULL && reader->dtype != NULL && reader->layout != NULL &&
           reader->device != NULL && reader->requires_grad != NULL && reader->is_leaf != NULL &&
           reader->grad != NULL && reader->base != NULL && reader->stride != NULL &&
           reader->storage_offset != NULL && method_of(type, names->size) != NULL &&
           method_of(type, names->is_view) != NULL;
}

td_reader_t const *
td_reader_fetch(td_builder_t *b, PyObject *tensor)
{
    PyTypeObject *type   = Py_TYPE(tensor);
    bool          param  = (PyObject *)type == b->tables.parameter;
    td_reader_t  *reader = &b->readers[param];

    if (!param && (PyObject *)type != b->tables.tensor) {
        return NULL;
    }
    /* A mode sees another name where a getter answers for a method. */
    if (type->tp_getattro != PyObject_GenericGetAttr || !td_no_modes(b)) {
        return NULL;
    }
    *reader = (td_reader_t){0};
    if (!read_class(&b->names, type, reader) || !(type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG)) {
        return NULL;
    }
    reader->type    = type;
    reader->version = type->tp_version_tag;
    return reader;
}
