/* td_value.c: what only a graph has, inside Python containers. */
#include "builder/td_value.h"

#include "py/td_py_audit.h"

static char const *const names[] = {
    [TD_VALUE_NODE] = "tandem.node",     [TD_VALUE_FAKE] = "tandem.fake",
    [TD_VALUE_NUMBER] = "tandem.number", [TD_VALUE_TUPLE] = "tandem.tuple",
    [TD_VALUE_LIST] = "tandem.list",     [TD_VALUE_OTHER] = "tandem.other",
};

PyObject *
td_value_new(td_builder_t *b, td_value_kind_t kind, void *what)
{
    PyObject *value = PyCapsule_New(what, names[kind], NULL);

    if (value == NULL) {
        td_stop_python(b);
    }
    return value;
}

void *
td_value_get(PyObject *value, td_value_kind_t kind)
{
    return PyCapsule_IsValid(value, names[kind]) ? PyCapsule_GetPointer(value, names[kind]) : NULL;
}

bool
td_value_is(PyObject *value)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (PyCapsule_IsValid(value, names[i])) {
            return true;
        }
    }
    return false;
}

PyObject *
td_value_class(PyObject *value)
{
    td_value_other_t *other = td_value_get(value, TD_VALUE_OTHER);

    return other != NULL ? other->cls : (PyObject *)Py_TYPE(value);
}

PyObject *
td_value_items(PyObject *mapping)
{
    PyObject *items = NULL; /* owned, returned */

    /* CPython's iterator over an OrderedDict's items, short of memory, ends the process
       (odictiter_new gives back what the collector was not told of yet). */
    td_py_nomem_hold();
    items = PyMapping_Items(mapping);
    td_py_nomem_release();
    return items;
}
