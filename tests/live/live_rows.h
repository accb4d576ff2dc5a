/* live_rows.h: programs as text beside what must hold of their objects.

   A row's program lacks the header, and a frame with a root where it names none.
   What holds is a Python expression over

     o  the objects        f  the frames        c  the config
     k  the constraints    u  the user calls    e  export mode

   and the modules collections, functools, math, numpy, operator, torch, and
   objects (tandem.objects).  The helpers run(frame) makes the do steps of a
   frame, specs(frame) gives its specs. */
#ifndef TESTS_LIVE_LIVE_ROWS_H
#define TESTS_LIVE_LIVE_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "live/td_live.h"
#include "py/td_py_boot.h"
#include "py/td_py_error.h"

typedef struct {
    char const *program;
    char const *holds;
} live_row_t;

static char const live_prelude[] =
    "import collections, functools, math, numpy, operator, warnings, torch\n"
    "import tandem.objects as objects\n"
    "def tracker():\n"
    "    import torch._dynamo.mutation_guard\n"
    "    return torch._dynamo.mutation_guard.GenerationTracker\n"
    "warnings.simplefilter('ignore')\n"
    "def run(frame):\n"
    "    return [value() for spec, value in frame if spec == ('do',)] or True\n"
    "def specs(frame):\n"
    "    return [spec for spec, value in frame]\n";

/* live_globals gives the namespace of all expressions: borrowed, made at first
   use together with the interpreter. */
static inline PyObject *
live_globals(void)
{
    PyObject *globals = NULL; /* borrowed from __main__ */
    PyObject *result  = NULL; /* owned */

    if (td_py_boot(NULL) != TD_OK) {
        fail_msg("%s", td_py_boot_why());
    }
    globals = PyModule_GetDict(PyImport_AddModule("__main__"));
    if (PyMapping_HasKeyString(globals, "specs")) {
        return globals;
    }
    result = PyRun_String(live_prelude, Py_file_input, globals, globals);
    if (result == NULL) {
        PyErr_Print();
        fail();
    }
    Py_XDECREF(result);
    return globals;
}

/* live_load assembles a row's program; td_prog_clear it. */
static inline void
live_load(char const *program, td_prog_t *prog)
{
    char         text[8192];
    td_refusal_t refusal = {0};
    int          sz      = 0;
    char const  *frame =
        strstr(program, "root ") == NULL ? "frame\nroot build local(\"x\") %0\n" : "";

    sz = snprintf(text, sizeof text, "tandem 1\n%s%s", program, frame);
    assert_in_range(sz, 1, sizeof text - 1);
    td_prog_init(prog);
    if (td_prog_asm(text, (size_t)sz, prog, &refusal) != TD_OK) {
        fail_msg("%s\n%d:%d: %s", text, refusal.line, refusal.column, refusal.what);
    }
}

static inline void
live_make(char const *program, td_live_t *live)
{
    td_prog_t prog;

    live_globals();
    live_load(program, &prog);
    if (td_live_from_program(&prog, live) != TD_OK) {
        PyErr_Print();
        fail_msg("%s could not be made", program);
    }
    td_prog_clear(&prog);
}

/* live_expect evaluates holds over live, which may be NULL. */
static inline void
live_expect(char const *program, td_live_t const *live, char const *holds)
{
    PyObject *globals = live_globals();
    PyObject *locals  = PyDict_Copy(globals); /* owned */
    PyObject *result  = NULL;                 /* owned */

    if (live != NULL) {
        PyDict_SetItemString(locals, "o", live->objects);
        PyDict_SetItemString(locals, "f", live->frames);
        PyDict_SetItemString(locals, "c", live->config);
        PyDict_SetItemString(locals, "k", live->constraints);
        PyDict_SetItemString(locals, "u", live->user_calls);
        PyDict_SetItemString(locals, "e", live->export_mode ? Py_True : Py_False);
    }
    result = PyRun_String(holds, Py_eval_input, locals, locals);
    if (result == NULL) {
        PyErr_Print();
        fail_msg("%s\n%s", program, holds);
    }
    if (PyObject_IsTrue(result) != 1) {
        fail_msg("%s\ndoes not hold: %s", program, holds);
    }
    Py_XDECREF(result);
    Py_XDECREF(locals);
}

static inline void
live_rows_check(live_row_t const *rows, size_t cnt)
{
    for (size_t i = 0; i < cnt; i++) {
        td_live_t live;

        live_make(rows[i].program, &live);
        live_expect(rows[i].program, &live, rows[i].holds);
        td_live_clear(&live);
        td_py_require_quiet(rows[i].program);
    }
}

#define LIVE_ROWS_CHECK(rows) live_rows_check((rows), sizeof(rows) / sizeof(rows)[0])

/* LIVE_ROWS_MAIN is the main of a test that has one table of rows. */
#define LIVE_ROWS_MAIN(rows)                                             \
    static void rows_hold(void **state)                                  \
    {                                                                    \
        (void)state;                                                     \
        LIVE_ROWS_CHECK(rows);                                           \
    }                                                                    \
    int main(void)                                                       \
    {                                                                    \
        struct CMUnitTest const tests[] = {cmocka_unit_test(rows_hold)}; \
        return cmocka_run_group_tests(tests, NULL, NULL);                \
    }

#endif
