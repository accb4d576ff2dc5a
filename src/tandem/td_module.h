/* td_module.h: what the files of the extension module _tandem share.

   _tandem is the core's face towards Python: plain functions that take and give
   bytes, str, dict and list.  Nothing here decides anything; judging is the
   business of check, printing that of the Python package. */
#ifndef TD_TANDEM_MODULE_H
#define TD_TANDEM_MODULE_H

#include "check/td_check.h"
#include "graph/td_graph.h"
#include "py/td_py.h"

/* The module's state; every object is owned. */
typedef struct {
    PyObject   *bad_input;     /* class BadInput(ValueError) */
    PyObject   *harness_error; /* class HarnessError(RuntimeError) */
    PyObject   *liars[2];      /* by td_which_t; see testing.lie */
    PyObject   *watcher;       /* see testing.watch */
    PyObject   *rows;          /* list: what the subject called since it was entered */
    td_check_t *check;         /* NULL before setup(); one a process */
} td_module_t;

/* td_module_of gives the state of a module object (borrowed, never NULL). */
td_module_t *td_module_of(PyObject *module);

/* td_module_raise sets the exception that belongs to status, with text as its
   message, and returns NULL.  TD_PYERR keeps the exception that is set. */
PyObject *td_module_raise(PyObject *module, td_status_t status, char const *text);

/* td_module_refuse raises BadInput for a refused program: its attributes are
   what, offset, line and column (0 where a binary program has none). */
PyObject *td_module_refuse(PyObject *module, td_refusal_t const *refusal);

/* td_module_load fills prog (initialised here) from bytes or str in either
   form.  false: an exception is set and prog holds nothing. */
bool td_module_load(PyObject *module, PyObject *source, td_prog_t *prog);

/* td_module_encode gives prog's binary form as bytes; NULL: an exception is set. */
PyObject *td_module_encode(PyObject *module, td_prog_t const *prog);

/* td_module_set stores value (stolen, may be NULL) under key: -1 with an
   exception set when value is NULL or the dict refused it. */
int td_module_set(PyObject *dict, char const *key, PyObject *value);

/* The functions of each file, ended by a zeroed row. */
extern PyMethodDef td_module_program_methods[]; /* asm, disasm, gen, ... */
extern PyMethodDef td_module_gen_methods[];     /* gen, weights */
extern PyMethodDef td_module_check_methods[];   /* setup, run, compare, show */
extern PyMethodDef td_module_bench_methods[];   /* bench_pass, bench_harness, ... */
extern PyMethodDef td_module_testing_methods[]; /* the sub-dict `testing` */

#endif
