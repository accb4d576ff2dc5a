/* td_call.c: calls of Python-visible callables, recorded when somebody asks. */
#include "py/td_call.h"

#include <stdio.h>

#include "base/td_assert.h"
#include "py/td_py_audit.h"

enum { NAME_SZ = 256 }; /* a longer name is cut: it is only compared with a table of short ones */

static struct {
    td_call_sink_t sink;
    void          *ctx;
} recorder;

void
td_call_record(td_call_sink_t sink, void *ctx)
{
    recorder.sink = sink;
    recorder.ctx  = ctx;
}

/* utf8 gives the text of a str, or "" for anything else.  Borrowed from value. */
static char const *
utf8(PyObject *value)
{
    char const *text = NULL;

    if (value != NULL && PyUnicode_CheckExact(value)) {
        text = PyUnicode_AsUTF8(value);
        if (text == NULL) {
            PyErr_Clear(); /* a lone surrogate: no name of any table */
        }
    }
    return text == NULL ? "" : text;
}

/* type_put writes "module.qualname" of type.  It reads the type's own dict and
   slots only: a metaclass's code must not run because somebody records. */
static void
type_put(PyTypeObject *type, char *out)
{
    PyObject *key      = NULL; /* owned */
    PyObject *module   = NULL; /* borrowed from the type's dict */
    PyObject *qualname = NULL; /* owned */

    if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        snprintf(out, NAME_SZ, "%s", type->tp_name);
        return;
    }
    key      = PyUnicode_InternFromString("__module__");
    module   = key == NULL ? NULL : PyDict_GetItemWithError(type->tp_dict, key);
    qualname = PyType_GetQualName(type);
    PyErr_Clear(); /* memory ran out: the name is shorter, and nobody's call fails for it */
    snprintf(out, NAME_SZ, "%s.%s", utf8(module),
             qualname == NULL ? type->tp_name : utf8(qualname));
    Py_XDECREF(qualname);
    Py_XDECREF(key);
}

/* owned_put writes "owner.name", where owner is a type. */
static void
owned_put(PyTypeObject *owner, char const *name, char *out)
{
    char text[NAME_SZ];

    type_put(owner, text);
    snprintf(out, NAME_SZ, "%.127s.%.127s", text, name);
}

/* A builtin is a module's function, a class's, or a method bound to an object:
   then that is given too (borrowed), else NULL. */
static PyObject *
builtin_put(PyCFunctionObject *builtin, char *out)
{
    PyObject *self = builtin->m_self; /* borrowed */

    if (self != NULL && PyType_Check(self)) {
        owned_put((PyTypeObject *)self, builtin->m_ml->ml_name, out);
        return NULL;
    }
    if (self != NULL && !PyModule_Check(self)) {
        owned_put(Py_TYPE(self), builtin->m_ml->ml_name, out);
        return self;
    }
    snprintf(out, NAME_SZ, "%s.%s", utf8(builtin->m_module), builtin->m_ml->ml_name);
    return NULL;
}

/* callable_put writes the name of what is called and gives the object that it
   is bound to: borrowed, or NULL. */
static PyObject *
callable_put(PyObject *callable, char *out)
{
    if (PyMethod_Check(callable)) {
        callable_put(PyMethod_GET_FUNCTION(callable), out);
        return PyMethod_GET_SELF(callable);
    }
    if (PyCFunction_Check(callable)) {
        return builtin_put((PyCFunctionObject *)callable, out);
    }
    if (PyFunction_Check(callable)) {
        PyFunctionObject *function = (PyFunctionObject *)callable;

        snprintf(out, NAME_SZ, "%s.%s", utf8(function->func_module), utf8(function->func_qualname));
        return NULL;
    }
    if (Py_IS_TYPE(callable, &PyMethodDescr_Type) || Py_IS_TYPE(callable, &PyWrapperDescr_Type)) {
        owned_put(PyDescr_TYPE(callable), utf8(PyDescr_NAME(callable)), out);
        return NULL;
    }
    if (PyType_Check(callable)) {
        type_put((PyTypeObject *)callable, out);
        return NULL;
    }
    type_put(Py_TYPE(callable), out);
    return NULL;
}

static void
record(char const *function, PyObject *object)
{
    char class_name[NAME_SZ] = "";

    if (object != NULL) {
        type_put(Py_TYPE(object), class_name);
    }
    recorder.sink(recorder.ctx, class_name, function);
}

static void
record_call(PyObject *callable, PyObject *const *args, size_t nargs)
{
    char      function[NAME_SZ];
    PyObject *bound = NULL; /* borrowed */

    if (recorder.sink == NULL) {
        return;
    }
    bound = callable_put(callable, function);
    record(function, bound != NULL ? bound : nargs > 0 ? args[0] : NULL);
}

static void
record_name(char const *prefix, PyObject *name, PyObject *object)
{
    char function[NAME_SZ];

    if (recorder.sink == NULL) {
        return;
    }
    snprintf(function, sizeof function, "%s%s", prefix, utf8(name));
    record(function, object);
}

PyObject *
td_call_kw(PyObject *callable, PyObject *const *args, size_t nargs, PyObject *kwnames)
{
    PyObject *result = NULL; /* owned, returned */

    TD_ASSERT(callable != NULL);
    record_call(callable, args, nargs);
    td_py_nomem_hold();
    result = PyObject_Vectorcall(callable, args, nargs, kwnames);
    td_py_nomem_release();
    return result;
}

PyObject *
td_call(PyObject *callable, PyObject *const *args, size_t nargs)
{
    return td_call_kw(callable, args, nargs, NULL);
}

PyObject *
td_call_method(PyObject *name, PyObject *const *args, size_t nargs)
{
    PyObject *result = NULL; /* owned, returned */

    TD_ASSERT(nargs >= 1);
    record_name("", name, args[0]);
    td_py_nomem_hold();
    result = PyObject_VectorcallMethod(name, args, nargs, NULL);
    td_py_nomem_release();
    return result;
}

PyObject *
td_call_attr(PyObject *object, PyObject *name)
{
    PyObject *result = NULL; /* owned, returned */

    record_name(".", name, object);
    td_py_nomem_hold();
    result = PyObject_GetAttr(object, name);
    td_py_nomem_release();
    return result;
}

PyObject *
td_call_getter(PyObject *descr, PyObject *object)
{
    PyGetSetDef const *def    = ((PyGetSetDescrObject *)descr)->d_getset;
    PyObject          *result = NULL; /* owned, returned */

    record_name(".", PyDescr_NAME(descr), object);
    td_py_nomem_hold();
    result = def->get(object, def->closure);
    td_py_nomem_release();
    return result;
}

PyObject *
td_call_bare(PyObject *descr, PyObject *object)
{
    PyMethodDef const *def     = ((PyMethodDescrObject *)descr)->d_method;
    PyObject          *no_args = NULL; /* owned: the one empty tuple */
    PyObject          *result  = NULL; /* owned, returned */

    record_name("", PyDescr_NAME(descr), object);
    td_py_nomem_hold();
    if (def->ml_flags & METH_KEYWORDS) {
        no_args = PyTuple_New(0);
        result  = ((PyCFunctionWithKeywords)(void (*)(void))def->ml_meth)(object, no_args, NULL);
    } else {
        result = def->ml_meth(object, NULL);
    }
    td_py_nomem_release();
    Py_XDECREF(no_args);
    return result;
}

int
td_call_set_attr(PyObject *object, PyObject *name, PyObject *value)
{
    int result = 0;

    record_name(value == NULL ? "del ." : "set .", name, object);
    td_py_nomem_hold();
    result = PyObject_SetAttr(object, name, value);
    td_py_nomem_release();
    return result;
}
