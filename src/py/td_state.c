/* td_state.c: the kept Python objects, made from state.def. */
#include "py/td_state.h"

#include <string.h>

#include "base/td_assert.h"

static td_state_t state;

/* attr_step replaces object by the attribute whose name is the sz bytes at name. */
static int
attr_step(PyObject **object, char const *name, size_t sz)
{
    PyObject *text  = NULL; /* owned */
    PyObject *value = NULL; /* owned, handed to object */

    text = PyUnicode_FromStringAndSize(name, (Py_ssize_t)sz);
    if (text == NULL) {
        return -1;
    }
    value = PyObject_GetAttr(*object, text);
    Py_DECREF(text);
    if (value == NULL) {
        return -1;
    }
    Py_SETREF(*object, value);
    return 0;
}

PyObject *
td_state_find(char const *module, char const *attr)
{
    PyObject *object = PyImport_ImportModule(module); /* owned, returned */

    while (object != NULL && attr != NULL && attr[0] != '\0') {
        size_t sz = strcspn(attr, ".");

        if (attr_step(&object, attr, sz) < 0) {
            Py_CLEAR(object);
        }
        attr += sz + (attr[sz] == '.');
    }
    return object;
}

static int
fill(PyObject **field, char const *module, char const *attr)
{
    if (*field == NULL) {
        *field = td_state_find(module, attr);
    }
    return *field == NULL ? -1 : 0;
}

static int
name_fill(PyObject **field, char const *text)
{
    if (*field == NULL) {
        *field = PyUnicode_InternFromString(text);
    }
    return *field == NULL ? -1 : 0;
}

td_state_t const *
td_state_get(void)
{
    if (state.ready >= 1) {
        return &state;
    }
#define TD_STATE_REF(field, module, attr)       \
    if (fill(&state.field, module, attr) < 0) { \
        return NULL;                            \
    }
#define TD_STATE_LATE(field, module, attr)
#define TD_STATE_NAME(field)                          \
    if (name_fill(&state.name_##field, #field) < 0) { \
        return NULL;                                  \
    }
#include "py/state.def"
#undef TD_STATE_REF
#undef TD_STATE_LATE
#undef TD_STATE_NAME
    state.ready = 1;
    return &state;
}

td_state_t const *
td_state_late(void)
{
    if (state.ready == 2) {
        return &state;
    }
    if (td_state_get() == NULL) {
        return NULL;
    }
#define TD_STATE_REF(field, module, attr)
#define TD_STATE_LATE(field, module, attr)      \
    if (fill(&state.field, module, attr) < 0) { \
        return NULL;                            \
    }
#define TD_STATE_NAME(field)
#include "py/state.def"
#undef TD_STATE_REF
#undef TD_STATE_LATE
#undef TD_STATE_NAME
    TD_ASSERT(state.ready == 1);
    state.ready = 2;
    return &state;
}

void
td_state_clear(void)
{
    state.ready = 0;
#define TD_STATE_REF(field, module, attr)  Py_CLEAR(state.field);
#define TD_STATE_LATE(field, module, attr) Py_CLEAR(state.field);
#define TD_STATE_NAME(field)               Py_CLEAR(state.name_##field);
#include "py/state.def"
#undef TD_STATE_REF
#undef TD_STATE_LATE
#undef TD_STATE_NAME
}
