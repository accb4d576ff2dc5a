/* walk_frames.h: frames as Python text, built by torch's own builder, walked here. */
#ifndef TESTS_REFERENCE_WALK_FRAMES_H
#define TESTS_REFERENCE_WALK_FRAMES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/td_alloc.h"
#include "observe/td_obs.h"
#include "py/td_py_boot.h"
#include "reference/td_walk.h"

static char const walk_prelude[] =
    "import collections, enum, functools, operator\n"
    "import numpy, torch\n"
    "from tandem.oracle import loader\n"
    "loader.load(None)\n"
    "from tandem.oracle import context\n"
    "from torch._dynamo import source as S\n"
    "from torch._dynamo import side_effects\n"
    "from torch._dynamo.guards import GuardBuilder\n"
    "from torch._dynamo.variables.base import MutableLocal\n"
    "from torch._dynamo.variables.constant import ConstantVariable\n"
    "from torch._dynamo.variables.misc import LambdaVariable\n"
    "from torch.fx.experimental.symbolic_shapes import StrictMinMaxConstraint\n"
    "x, y = ('local', 'x'), ('local', 'y')\n"
    "dynamic = {'assume_static_by_default': False}\n"
    "class Color(enum.Enum):\n"
    "    RED = 1\n"
    "class Plain: pass\n"
    "def function(a): return a\n"
    "class Case:\n"
    "    def __init__(self, steps, config=None):\n"
    "        self.objects = tuple(value for _, value in steps)\n"
    "        self.program = context.Program([steps], config)\n"
    "        self.frame = self.program.open(0)\n"
    "        self.skip = len(self.frame.f_globals)\n"
    "        for i in range(len(steps)): self.frame.step(i)\n"
    "    def close(self):\n"
    "        env = self.frame.output.shape_env\n" /* a context cleans these up; ours are by hand */
    "        for made in env.guards, env.var_to_stack, env.deferred_runtime_asserts:\n"
    "            made.clear()\n"
    "        self.program.close()\n";

static inline PyObject *
walk_globals(void)
{
    PyObject *globals, *result;

    if (td_py_boot(NULL) != TD_OK) {
        fail_msg("%s", td_py_boot_why());
    }
    globals = PyModule_GetDict(PyImport_AddModule("__main__")); /* borrowed */
    if (PyMapping_HasKeyString(globals, "Case")) {
        return globals;
    }
    result = PyRun_String(walk_prelude, Py_file_input, globals, globals);
    if (result == NULL) {
        PyErr_Print();
        fail();
    }
    Py_XDECREF(result);
    return globals;
}

/* walk_do runs statements with the names f (frame), t (first value), o (output). */
static inline void
walk_do(PyObject *taken, char const *text)
{
    PyObject *globals = walk_globals();
    PyObject *result;

    assert_int_equal(PyDict_SetItemString(globals, "case", taken), 0);
    result = PyRun_String("f = case.frame; t = f.values[0]; o = f.output\n", Py_file_input, globals,
                          globals);
    Py_XDECREF(result);
    result = PyRun_String(text, Py_file_input, globals, globals);
    if (result == NULL) {
        PyErr_Print();
        fail_msg("%s", text);
    }
    Py_XDECREF(result);
    result = PyRun_String("del case, f, t, o\n", Py_file_input, globals, globals);
    Py_XDECREF(result);
}

/* walk_take makes a case: "Case([(x, 5)])"; a new reference. */
static inline PyObject *
walk_take(char const *text)
{
    PyObject *globals = walk_globals();
    PyObject *taken   = PyRun_String(text, Py_eval_input, globals, globals);

    if (taken == NULL) {
        PyErr_Print();
        fail_msg("%s", text);
    }
    return taken;
}

static inline void
walk_close(PyObject *taken)
{
    PyObject *result = PyObject_CallMethod(taken, "close", NULL);

    if (result == NULL) {
        PyErr_Print();
        fail();
    }
    Py_XDECREF(result);
    Py_DECREF(taken);
    (void)PyGC_Collect();
}

static inline td_walk_t *
walk_walker(void)
{
    static td_walk_t *walker; /* one for the test's process */

    if (walker == NULL) {
        (void)walk_globals();
        walker = td_walk_new();
        if (walker == NULL) {
            PyErr_Print();
            fail();
        }
    }
    return walker;
}

static inline td_status_t
walk_run(PyObject *taken, td_obs_t *obs, td_val_t *record)
{
    PyObject       *frame  = PyObject_GetAttrString(taken, "frame");
    PyObject       *skip   = PyObject_GetAttrString(taken, "skip");
    td_walk_frame_t wanted = {
        .objects      = PyObject_GetAttrString(taken, "objects"),
        .tx           = PyObject_GetAttrString(frame, "tx"),
        .kinds        = PyObject_GetAttrString(frame, "kinds"),
        .values       = PyObject_GetAttrString(frame, "values"),
        .sources      = PyObject_GetAttrString(frame, "sources"),
        .globals_skip = PyLong_AsSize_t(skip),
    };
    td_status_t status;

    td_obs_reset(obs);
    status = td_walk_run(walk_walker(), obs, &wanted, record);
    assert_null(PyErr_Occurred());
    Py_CLEAR(wanted.objects);
    Py_CLEAR(wanted.tx);
    Py_CLEAR(wanted.kinds);
    Py_CLEAR(wanted.values);
    Py_CLEAR(wanted.sources);
    Py_DECREF(skip);
    Py_DECREF(frame);
    return status;
}

/* A frame, what is done to it by hand, and a piece of what is seen then: of the
   observation's JSON, or (refused) of the reason. */
typedef struct {
    char const *steps;
    char const *by_hand; /* "" for nothing */
    char const *seen;
} walk_row_t;

static inline void
walk_row_check(walk_row_t const *row, td_obs_t *obs, bool refused)
{
    PyObject   *taken = walk_take(row->steps);
    td_val_t    record;
    td_status_t status;
    char       *json = NULL;
    char const *text;

    walk_do(taken, row->by_hand[0] == 0 ? "pass" : row->by_hand);
    status = walk_run(taken, obs, &record);
    text   = td_walk_why(walk_walker());
    if (!refused) {
        assert_string_equal(text, "");
        assert_int_equal(status, TD_OK);
        text = json = td_obs_json(obs, record, false);
    } else {
        assert_int_equal(status, TD_REJECT);
        assert_int_equal(record, TD_VAL_NONE);
    }
    if (strstr(text, row->seen) == NULL) {
        fail_msg("%s; %s: no %s in %s", row->steps, row->by_hand, row->seen, text);
    }
    td_free(json);
    walk_close(taken);
}

static inline void
walk_rows_check(walk_row_t const *rows, size_t row_cnt, bool refused)
{
    td_obs_t *obs = td_obs_new();

    for (size_t i = 0; i < row_cnt; ++i) {
        walk_row_check(&rows[i], obs, refused);
    }
    td_obs_free(obs);
}

#define WALK_ROWS_SEEN(rows)    walk_rows_check(rows, sizeof(rows) / sizeof((rows)[0]), false)
#define WALK_ROWS_REFUSED(rows) walk_rows_check(rows, sizeof(rows) / sizeof((rows)[0]), true)

#endif
