/* td_tensor_read.h: what torch's own tensors say of themselves, without a look-up.

   A *reader* holds the getters and methods that the class of an exact Tensor or Parameter has
   in C.  It is good as long as the class is what it was when they were fetched. */
#ifndef TD_BUILDER_TENSOR_READ_H
#define TD_BUILDER_TENSOR_READ_H

#include "builder/td_builder_private.h"

/* td_no_modes says whether torch's functions answer for themselves, and not a mode for them. */
bool td_no_modes(td_builder_t *b);

/* td_reader_fetch gives the reader of the class of tensor; NULL: it has none. */
td_reader_t const *td_reader_fetch(td_builder_t *b, PyObject *tensor);

/* td_has_marks: something was set on the object itself. */
static inline bool
td_has_marks(PyObject *object)
{
    PyObject **dict = _PyObject_GetDictPtr(object);

    return dict != NULL && *dict != NULL && PyDict_GET_SIZE(*dict) != 0;
}

/* td_reader_of gives the reader that answers for a tensor as its attributes would; NULL: ask
   the tensor. */
static inline td_reader_t const *
td_reader_of(td_builder_t *b, PyObject *tensor)
{
    PyTypeObject      *type   = Py_TYPE(tensor);
    td_reader_t const *reader = &b->readers[(PyObject *)type == b->tables.parameter];

    if (reader->type != type || reader->version != type->tp_version_tag ||
        !(type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG) || b->modes != TD_MODES_NONE) {
        reader = td_reader_fetch(b, tensor);
    }
    /* What was set on a tensor goes before the methods of its class. */
    return reader == NULL || td_has_marks(tensor) ? NULL : reader;
}

#endif
