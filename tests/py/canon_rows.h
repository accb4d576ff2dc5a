/* canon_rows.h: values as Python text, and the canonical form that they have. */
#ifndef TESTS_PY_CANON_ROWS_H
#define TESTS_PY_CANON_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/td_alloc.h"
#include "observe/td_obs.h"
#include "py/td_canon.h"
#include "py/td_py_boot.h"

/* Names that the texts may use.  Whoever is touched by user code says so. */
static char const canon_prelude[] =
    "import collections, enum, functools, math, sys, types, typing, weakref\n"
    "import numpy, torch\n"
    "touched = []\n"
    "class Plain:\n"
    "    def method(self): pass\n"
    "    @staticmethod\n"
    "    def static(): pass\n"
    "class Hostile:\n"
    "    def __getattr__(self, name): touched.append(name); raise AttributeError(name)\n"
    "    def __eq__(self, other): touched.append('eq'); return True\n"
    "    def __hash__(self): touched.append('hash'); return 7\n"
    "    def __repr__(self): touched.append('repr'); return '?'\n"
    "    @property\n"
    "    def __class__(self): touched.append('class'); return int\n"
    "class Color(enum.Enum):\n"
    "    RED = 1\n"
    "class Bits(enum.Flag):\n"
    "    A = 1\n"
    "    B = 2\n"
    "Pair = collections.namedtuple('Pair', 'a b')\n"
    "def function(): pass\n"
    "def maker():\n"
    "    def inner(): pass\n"
    "    return inner\n"
    "class Lying:\n"
    "    pass\n"
    "Lying.__module__, Lying.__qualname__ = 'torch', 'Tensor'\n"
    "def cycle():\n"
    "    made = []\n"
    "    made.append(made)\n"
    "    return made\n"
    "def deep(n):\n"
    "    made = []\n"
    "    for _ in range(n): made = [made]\n"
    "    return made\n"
    "plain, hostile, shared, listed = Plain(), Hostile(), [1, 2], [3]\n";

static PyObject *
canon_globals(void)
{
    PyObject *globals, *result;

    if (td_py_boot(NULL) != TD_OK) {
        fail_msg("%s", td_py_boot_why());
    }
    globals = PyModule_GetDict(PyImport_AddModule("__main__")); /* borrowed */
    if (PyMapping_HasKeyString(globals, "touched")) {
        return globals;
    }
    result = PyRun_String(canon_prelude, Py_file_input, globals, globals);
    if (result == NULL) {
        PyErr_Print();
        fail();
    }
    Py_XDECREF(result);
    return globals;
}

/* The value of a text; owned by the caller. */
static PyObject *
canon_eval(char const *text)
{
    PyObject *globals = canon_globals();
    PyObject *value   = PyRun_String(text, Py_eval_input, globals, globals);

    if (value == NULL) {
        PyErr_Print();
        fail_msg("%s", text);
    }
    return value;
}

typedef struct {
    char const *objects; /* a tuple: the program's objects */
    char const *value;
    char const *json;
} canon_row_t;

typedef td_val_t (*canon_read_t)(td_canon_t *canon, PyObject *value);

static inline void
canon_rows_check(canon_row_t const *rows, size_t row_cnt, canon_read_t read)
{
    td_obs_t *obs = td_obs_new();

    for (size_t i = 0; i < row_cnt; ++i) {
        PyObject  *objects = canon_eval(rows[i].objects);
        PyObject  *value   = canon_eval(rows[i].value);
        td_canon_t canon;
        char      *json;

        td_obs_reset(obs);
        assert_int_equal(td_canon_init(&canon, obs, objects), TD_OK);
        json = td_obs_json(obs, read(&canon, value), false);
        assert_non_null(json);
        if (strcmp(json, rows[i].json) != 0) {
            fail_msg("%s: %s\ninstead of %s", rows[i].value, json, rows[i].json);
        }
        assert_null(PyErr_Occurred());
        td_free(json);
        Py_DECREF(value);
        Py_DECREF(objects);
    }
    td_obs_free(obs);
}

#define CANON_ROWS_CHECK(rows, read) canon_rows_check(rows, sizeof(rows) / sizeof((rows)[0]), read)

#endif
