/* td_names.c: the strs that the builder looks up with. */
#include "builder/td_builder_private.h"

/* A name that could not be made is NULL, and made by the next call. */
static bool
name_make(PyObject **name, char const *text)
{
    if (*name == NULL) {
        *name = PyUnicode_InternFromString(text);
    }
    if (*name == NULL) {
        PyErr_Clear();
    }
    return *name != NULL;
}

td_names_t const *
td_names_get(void)
{
    static td_names_t names; /* owned */
    static bool       ready;

    if (ready) {
        return &names;
    }
#define X(field, text)                    \
    if (!name_make(&names.field, text)) { \
        return NULL;                      \
    }
#include "builder/names.def"
#undef X
    ready = true;
    return &names;
}
