/* reference_runs.h: frames as Python text, run on the installed builder. */
#ifndef TESTS_REFERENCE_REFERENCE_RUNS_H
#define TESTS_REFERENCE_REFERENCE_RUNS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "py/td_py_boot.h"
#include "py/td_py_error.h"
#include "reference/td_reference.h"

static char const runs_prelude[] =
    "import torch\n"
    "def nest(n):\n"
    "    made = []\n"
    "    for _ in range(n - 1): made = [made]\n"
    "    return made\n"
    "def nest_dicts(n):\n"
    "    made = {}\n"
    "    for _ in range(n - 1): made = {'a': made}\n"
    "    return made\n"
    "def raises():\n"
    "    raise KeyError('planted')\n"
    "class Hostile:\n"
    "    @property\n"
    "    def __class__(self): raise KeyError('hostile')\n"
    "def deep(n, run): return run() if n == 0 else deep(n - 1, run)\n"
    "x = ('local', 'x')\n";

static PyObject *
runs_globals(void)
{
    PyObject *globals = NULL; /* borrowed from __main__ */
    PyObject *code    = NULL; /* owned; with a file name, so that it counts as a program's code */
    PyObject *result  = NULL; /* owned */

    if (td_py_boot(NULL) != TD_OK) {
        fail_msg("%s", td_py_boot_why());
    }
    globals = PyModule_GetDict(PyImport_AddModule("__main__"));
    if (PyMapping_HasKeyString(globals, "deep")) {
        return globals;
    }
    code   = Py_CompileString(runs_prelude, "program.py", Py_file_input);
    result = code == NULL ? NULL : PyEval_EvalCode(code, globals, globals);
    Py_XDECREF(code);
    if (result == NULL) {
        PyErr_Print();
        fail();
    }
    Py_XDECREF(result);
    return globals;
}

/* runs_reference: the one reference of the test; never freed, as the process ends. */
static inline td_reference_t *
runs_reference(void)
{
    static td_reference_t *reference;

    if (reference == NULL) {
        runs_globals();
        if (td_reference_new(NULL, &reference) != TD_OK) {
            PyErr_Print();
            fail_msg("%s", td_reference_why());
        }
    }
    return reference;
}

/* runs_live evaluates text, which gives a case's frames. */
static inline void
runs_live(char const *text, char const *config, td_live_t *live)
{
    PyObject *globals = runs_globals();
    PyObject *frames  = PyRun_String(text, Py_eval_input, globals, globals);
    PyObject *values  = PyRun_String(config, Py_eval_input, globals, globals);

    if (frames == NULL || values == NULL ||
        td_live_from_case(frames, values, Py_None, 0, 0, live) != TD_OK) {
        PyErr_Print();
        fail_msg("%s", text);
    }
    Py_DECREF(frames);
    Py_DECREF(values);
}

/* runs_make resets, makes the objects of text and runs them into run. */
static inline td_status_t
runs_make(char const *text, char const *config, td_run_limit_t const *limit, td_run_t *run)
{
    td_reference_t *reference = runs_reference();
    td_live_t       live      = {0};
    td_status_t     status;

    assert_int_equal(td_reference_reset(reference), TD_OK);
    runs_live(text, config, &live);
    td_run_init(run);
    status = td_reference_run(reference, &live, limit, run);
    if (status == TD_PYERR && PyErr_ExceptionMatches(PyExc_RuntimeError)) {
        PyErr_Print();
    }
    td_live_clear(&live);
    return status;
}

#endif
