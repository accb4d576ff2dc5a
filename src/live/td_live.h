/* td_live.h: programs become live Python objects.

   A *live program* is one materialisation: the objects, and the frames in the
   form that a case's frames() returns.  Programs and cases meet here: whoever
   builds (reference, subject) sees only this.

   Each side gets a materialisation of its own, made after td_reference_reset so
   that both draw the same random numbers, hook ids and the like. */
#ifndef TD_LIVE_LIVE_H
#define TD_LIVE_LIVE_H

#include "graph/td_graph.h"
#include "py/td_py.h"

typedef struct {
    PyObject *objects;     /* owned tuple: the program's objects; its index is the ordinal */
    PyObject *frames;      /* owned list of lists of (spec, object): as a case's frames() returns */
    PyObject *config;      /* owned dict: Dynamo config values that the program sets, by name */
    PyObject *constraints; /* owned list, one entry a frame: a list of Constraint, or None */
    PyObject *user_calls;  /* owned list: "node.what" strs that the program's own code appends */
    int       export_mode; /* tx.export */
    int       shared;      /* SHARED cases: sides alternate on the same objects */
} td_live_t;

/* td_live_prepare fetches everything that any program may name, importing what
   that takes (torch._dynamo too): what a program sees must not depend on what
   the ones before it caused to be imported.  To be called once a reference is
   loaded; calling it again costs nothing.  TD_OK or TD_PYERR. */
td_status_t td_live_prepare(void);

/* td_live_from_program materialises prog.  live is all NULL on failure. Runs
   only code of the standard library, torch and numpy, plus the classes and
   functions of tandem.objects that the kinds name.  TD_PYERR: an object could
   not be made (the exception says which node). */
td_status_t td_live_from_program(td_prog_t const *prog, td_live_t *live);

/* td_live_from_case takes what a case gives (all borrowed): frames as frames()
   returned it, config a dict or None, constraints a callable (k, frame) or None.
   The objects are found by walking the frames' values: list, tuple, dict,
   set members, __dict__ of instances, tensors' bases, in a fixed order. */
td_status_t td_live_from_case(PyObject *frames, PyObject *config, PyObject *constraints,
                              int export_mode, int shared, td_live_t *live);

/* td_live_clear releases everything; a cleared or zeroed live is fine. */
void td_live_clear(td_live_t *live);

#endif
