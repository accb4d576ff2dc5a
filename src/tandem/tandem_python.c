/* tandem_python.c: our own interpreter, sanitized as the build is, with _tandem built in.

   It behaves like `python` of the environment that the build was made for (same
   packages, same command line), so that pytest and `python -m tandem` can run
   under sanitizers, which an extension module loaded by a plain interpreter
   cannot. */
#include "py/td_py.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef TD_WITH_BUILTIN_MODULE
PyMODINIT_FUNC PyInit__tandem(void);
#endif

/* Child processes that a test starts through sys.executable are sanitized too:
   the name is this program's, while CPython looks for its packages beside the
   environment's interpreter. */
static int
set_executable(void)
{
    char      path[4096];
    ssize_t   path_sz = readlink("/proc/self/exe", path, sizeof(path));
    PyObject *text    = NULL; /* owned */
    int       rc      = -1;

    if (path_sz <= 0 || (size_t)path_sz >= sizeof(path)) {
        return 0;
    }
    text = PyUnicode_DecodeFSDefaultAndSize(path, path_sz);
    if (text != NULL) {
        rc = PySys_SetObject("executable", text);
    }
    Py_XDECREF(text);
    return rc;
}

/* The staged package comes first, so that an installed tandem is never tested
   by mistake. */
static int
set_path(void)
{
    PyObject *path   = PySys_GetObject("path"); /* borrowed; no Python code runs below */
    PyObject *staged = PyUnicode_DecodeFSDefault(TD_PYTHON_PATH); /* owned */
    int       rc     = -1;

    if (path != NULL && staged != NULL) {
        rc = PyList_Insert(path, 0, staged);
    }
    Py_XDECREF(staged);
    return rc;
}

static PyStatus
start(int argc, char **argv)
{
    PyConfig config;
    PyStatus status;

    PyConfig_InitPythonConfig(&config);
    status = PyConfig_SetBytesString(&config, &config.program_name, TD_PYTHON_EXECUTABLE);
    if (!PyStatus_Exception(status)) {
        status = PyConfig_SetBytesString(&config, &config.executable, TD_PYTHON_EXECUTABLE);
    }
    if (!PyStatus_Exception(status)) {
        status = PyConfig_SetBytesArgv(&config, argc, argv);
    }
    if (!PyStatus_Exception(status)) {
        status = Py_InitializeFromConfig(&config);
    }
    PyConfig_Clear(&config);
    return status;
}

int
main(int argc, char **argv)
{
    PyStatus status;

#ifdef TD_WITH_BUILTIN_MODULE
    if (PyImport_AppendInittab("_tandem", PyInit__tandem) < 0) {
        fputs("tandem-python: out of memory\n", stderr);
        return 3;
    }
#endif
    status = start(argc, argv);
    if (PyStatus_IsExit(status)) {
        return status.exitcode;
    }
    if (PyStatus_Exception(status)) {
        Py_ExitStatusException(status);
    }
    if (set_executable() < 0 || set_path() < 0) {
        PyErr_Print();
        return 3;
    }
    return Py_RunMain();
}
