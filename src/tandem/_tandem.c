/* _tandem.c: the extension module over the core. */
#include "tandem/td_module.h"

#include "observe/td_obs.h"

#include <stdio.h>

td_module_t *
td_module_of(PyObject *module)
{
    td_module_t *state = PyModule_GetState(module);

    if (state == NULL) {
        Py_FatalError("_tandem has no state");
    }
    return state;
}

int
td_module_set(PyObject *dict, char const *key, PyObject *value)
{
    int failed = -1;

    if (value != NULL) {
        failed = PyDict_SetItemString(dict, key, value);
        Py_DECREF(value);
    }
    return failed;
}

PyObject *
td_module_raise(PyObject *module, td_status_t status, char const *text)
{
    td_module_t *state = td_module_of(module);

    switch (status) {
    case TD_PYERR:
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_SystemError, "an error without an exception");
        }
        break;
    case TD_NOMEM:
        PyErr_NoMemory();
        break;
    case TD_REJECT:
    case TD_LIMIT:
        PyErr_SetString(state->bad_input, text);
        break;
    default:
        PyErr_SetString(state->harness_error, text);
        break;
    }
    return NULL;
}

static int
refusal_attributes(PyObject *error, td_refusal_t const *refusal)
{
    int       failed = -1;
    PyObject *dict   = PyDict_New(); /* owned */

    if (dict == NULL) {
        return -1;
    }
    if (td_module_set(dict, "what", PyUnicode_FromString(refusal->what)) == 0 &&
        td_module_set(dict, "offset", PyLong_FromSize_t(refusal->offset)) == 0 &&
        td_module_set(dict, "line", PyLong_FromLong(refusal->line)) == 0 &&
        td_module_set(dict, "column", PyLong_FromLong(refusal->column)) == 0) {
        PyObject  *key, *value; /* borrowed from dict */
        Py_ssize_t at = 0;

        failed = 0;
        while (failed == 0 && PyDict_Next(dict, &at, &key, &value)) {
            failed = PyObject_SetAttr(error, key, value);
        }
    }
    Py_DECREF(dict);
    return failed;
}

PyObject *
td_module_refuse(PyObject *module, td_refusal_t const *refusal)
{
    PyObject *type  = td_module_of(module)->bad_input;                 /* borrowed */
    PyObject *error = PyObject_CallFunction(type, "s", refusal->what); /* owned */

    if (error != NULL && refusal_attributes(error, refusal) == 0) {
        PyErr_SetObject(type, error);
    }
    Py_XDECREF(error);
    return NULL;
}

bool
td_module_load(PyObject *module, PyObject *source, td_prog_t *prog)
{
    td_status_t  status;
    td_refusal_t refusal = {0};
    Py_buffer    view    = {0};

    td_prog_init(prog);
    if (PyUnicode_Check(source)) {
        Py_ssize_t  sz;
        char const *text = PyUnicode_AsUTF8AndSize(source, &sz); /* borrowed */

        if (text == NULL) {
            return false;
        }
        status = td_prog_asm(text, (size_t)sz, prog, &refusal);
    } else {
        if (PyObject_GetBuffer(source, &view, PyBUF_SIMPLE) < 0) {
            return false;
        }
        status = td_prog_load(view.buf, (size_t)view.len, prog, &refusal);
        PyBuffer_Release(&view);
    }
    if (status == TD_REJECT) {
        td_module_refuse(module, &refusal);
    } else if (status != TD_OK) {
        td_module_raise(module, status, td_status_text(status));
    }
    if (status != TD_OK) {
        td_prog_clear(prog);
    }
    return status == TD_OK;
}

/* ---- making the module ---------------------------------------------------- */

static int
exception_add(PyObject *module, char const *name, PyObject *base, PyObject **slot)
{
    char full[64];

    snprintf(full, sizeof full, "_tandem.%s", name);
    *slot = PyErr_NewException(full, base, NULL);
    if (*slot == NULL) {
        return -1;
    }
    return PyModule_AddObjectRef(module, name, *slot);
}

static int
methods_add(PyObject *module, PyObject *dict, PyMethodDef *methods)
{
    PyObject *name   = PyModule_GetNameObject(module); /* owned */
    int       failed = name == NULL ? -1 : 0;

    for (; failed == 0 && methods->ml_name != NULL; methods++) {
        failed = td_module_set(dict, methods->ml_name, PyCFunction_NewEx(methods, module, name));
    }
    Py_XDECREF(name);
    return failed;
}

static int
module_exec(PyObject *module)
{
    td_module_t *state   = td_module_of(module);
    PyObject    *dict    = PyModule_GetDict(module); /* borrowed */
    PyObject    *testing = NULL;                     /* owned */

    if (exception_add(module, "BadInput", PyExc_ValueError, &state->bad_input) < 0 ||
        exception_add(module, "HarnessError", PyExc_RuntimeError, &state->harness_error) < 0 ||
        methods_add(module, dict, td_module_program_methods) < 0 ||
        methods_add(module, dict, td_module_gen_methods) < 0 ||
        methods_add(module, dict, td_module_check_methods) < 0 ||
        methods_add(module, dict, td_module_bench_methods) < 0) {
        return -1;
    }
    if (PyModule_AddIntConstant(module, "OBSERVATION_SCHEMA", TD_OBS_SCHEMA_VERSION) < 0) {
        return -1;
    }
    testing = PyDict_New();
    if (testing == NULL || methods_add(module, testing, td_module_testing_methods) < 0) {
        Py_XDECREF(testing);
        return -1;
    }
    return td_module_set(dict, "testing", testing);
}

static int
module_traverse(PyObject *module, visitproc visit, void *arg)
{
    td_module_t *state = td_module_of(module);

    Py_VISIT(state->bad_input);
    Py_VISIT(state->harness_error);
    Py_VISIT(state->liars[TD_SIDE_REFERENCE]);
    Py_VISIT(state->liars[TD_SIDE_SUBJECT]);
    Py_VISIT(state->watcher);
    Py_VISIT(state->rows);
    return 0;
}

static int
module_clear(PyObject *module)
{
    td_module_t *state = td_module_of(module);

    Py_CLEAR(state->bad_input);
    Py_CLEAR(state->harness_error);
    Py_CLEAR(state->liars[TD_SIDE_REFERENCE]);
    Py_CLEAR(state->liars[TD_SIDE_SUBJECT]);
    Py_CLEAR(state->watcher);
    Py_CLEAR(state->rows);
    return 0;
}

static void
module_free(void *module)
{
    td_check_free(td_module_of(module)->check);
    module_clear(module);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
    {0, NULL},
};

static struct PyModuleDef module_def = {
    .m_base     = PyModuleDef_HEAD_INIT,
    .m_name     = "_tandem",
    .m_doc      = "The core of Tandem; see the package tandem for what a person calls.",
    .m_size     = sizeof(td_module_t),
    .m_slots    = module_slots,
    .m_traverse = module_traverse,
    .m_clear    = module_clear,
    .m_free     = module_free,
};

PyMODINIT_FUNC
PyInit__tandem(void)
{
    return PyModuleDef_Init(&module_def);
}
