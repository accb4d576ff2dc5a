/* td_py_error.c: holding, reading and demanding the absence of an exception. */
#include "py/td_py_error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/td_assert.h"

void
td_py_error_fetch(td_py_error_t *error)
{
    PyErr_Fetch(&error->type, &error->value, &error->traceback);
    if (error->type != NULL) {
        PyErr_NormalizeException(&error->type, &error->value, &error->traceback);
    }
}

void
td_py_error_restore(td_py_error_t *error)
{
    PyErr_Restore(error->type, error->value, error->traceback);
    *error = (td_py_error_t){0};
}

void
td_py_error_clear(td_py_error_t *error)
{
    Py_CLEAR(error->type);
    Py_CLEAR(error->value);
    Py_CLEAR(error->traceback);
}

/* message_put appends str(value); an exception whose __str__ raises has none. */
static void
message_put(PyObject *value, char *out, size_t sz)
{
    PyObject   *message = NULL; /* owned */
    char const *text    = NULL; /* borrowed from message */

    message = value == NULL ? NULL : PyObject_Str(value);
    text    = message == NULL ? NULL : PyUnicode_AsUTF8(message);
    if (text != NULL && text[0] != '\0') {
        snprintf(out, sz, ": %s", text);
    }
    PyErr_Clear(); /* of __str__ or of a lone surrogate: the class alone is said */
    Py_XDECREF(message);
}

static void
error_put(td_py_error_t const *error, char *out, size_t sz)
{
    size_t      used = 0;
    char const *name = ((PyTypeObject *)error->type)->tp_name;
    char const *dot  = strrchr(name, '.');

    TD_ASSERT(sz > 0);
    used = (size_t)snprintf(out, sz, "%s", dot == NULL ? name : dot + 1);
    if (used < sz) {
        message_put(error->value, out + used, sz - used);
    }
    for (char *byte = out; *byte != '\0'; byte++) {
        if (*byte == '\n' || *byte == '\r') {
            *byte = ' ';
        }
    }
}

void
td_py_error_text(char *out, size_t sz)
{
    td_py_error_t error = {0};

    td_py_error_fetch(&error);
    out[0] = '\0';
    if (error.type != NULL) {
        error_put(&error, out, sz);
    }
    td_py_error_clear(&error);
}

void
td_py_error_where(char const *where)
{
    td_py_error_t error = {0};
    PyObject     *outer = NULL; /* owned; its cause is set below */
    char          text[400];

    TD_ASSERT(PyErr_Occurred() != NULL);
    if (PyErr_ExceptionMatches(PyExc_MemoryError) ||
        PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        return;
    }
    td_py_error_fetch(&error);
    error_put(&error, text, sizeof text);
    outer =
        PyObject_CallFunction(PyExc_RuntimeError, "N", PyUnicode_FromFormat("%s: %s", where, text));
    if (outer == NULL) {
        td_py_error_clear(&error); /* memory ran out: that is what is pending now */
        return;
    }
    PyException_SetCause(outer, Py_XNewRef(error.value)); /* steals */
    PyErr_SetObject(PyExc_RuntimeError, outer);
    Py_DECREF(outer);
    td_py_error_clear(&error);
}

void
td_py_require_quiet(char const *where)
{
    if (PyErr_Occurred() != NULL) {
        PyErr_Print();
        fprintf(stderr, "tandem: %s left a Python exception behind\n", where);
        abort();
    }
}
