/* td_tables.c: module data of Dynamo, as the harness hands it over. */
#include "builder/td_tables.h"

#include <stdio.h>
#include <string.h>

typedef enum { KIND_CLASS, KIND_OPTION, KIND_OBJECT, KIND_IDS, KIND_TEXT } kind_t;

static bool
is_kind(PyObject *value, kind_t kind)
{
    switch (kind) {
    case KIND_CLASS:
        return PyType_Check(value);
    case KIND_OPTION:
        return PyType_Check(value) || value == Py_None;
    case KIND_IDS:
        return PyAnySet_Check(value);
    case KIND_TEXT:
        return PyUnicode_CheckExact(value);
    case KIND_OBJECT:
        break;
    }
    return true;
}

PyObject *
td_dict_find(PyObject *dict, char const *key)
{
    PyObject *name  = PyUnicode_FromString(key); /* owned */
    PyObject *found = name == NULL ? NULL : PyDict_GetItemWithError(dict, name);

    Py_XDECREF(name);
    if (found == NULL) {
        PyErr_Clear(); /* no memory for the key reads like a key that is missing */
    }
    return found;
}

PyObject *
td_dict_find_kept(PyObject *dict, PyObject **name, char const *text)
{
    PyObject *found = NULL;

    if (*name == NULL) {
        *name = PyUnicode_InternFromString(text);
    }
    if (*name != NULL) {
        found = PyDict_GetItemWithError(dict, *name);
    }
    if (found == NULL) {
        PyErr_Clear(); /* as in td_dict_find */
    }
    return found;
}

bool
td_tables_load(td_tables_t *tables, PyObject *dict, char *why, size_t why_sz)
{
    static struct {
#define X(key, kind) PyObject *key;
        TD_TABLE_LIST(X)
#undef X
    } names; /* every program loads the tables: their keys are made once */

#define X(key, kind)                                                              \
    tables->key = td_dict_find_kept(dict, &names.key, #key);                      \
    if (tables->key == NULL || !is_kind(tables->key, KIND_##kind)) {              \
        snprintf(why, why_sz, "table %s is missing or not of kind " #kind, #key); \
        return false;                                                             \
    }
    TD_TABLE_LIST(X)
#undef X
    return true;
}

/* An int on the stack, wide enough for an address: a set that is asked for a member
   keeps no reference to what it was asked with. */
typedef struct {
    PyLongObject head;
    digit        more[2];
} int_t;

int
td_tables_has(PyObject *ids, PyObject *object)
{
    int_t      id      = {.head = {.ob_base = {.ob_base = {1, &PyLong_Type}}}};
    uintptr_t  address = (uintptr_t)object;
    digit     *digits  = id.head.ob_digit;
    Py_ssize_t cnt     = 0;

    for (; address != 0; address >>= PyLong_SHIFT) {
        digits[cnt++] = (digit)(address & PyLong_MASK);
    }
    Py_SET_SIZE(&id.head, cnt);
    return PySet_Contains(ids, (PyObject *)&id.head);
}
