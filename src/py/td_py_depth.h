/* td_py_depth.h: run Python from the bottom of the stack, wherever we are.

   What the reference builds may hang on how deep the stack already is: the
   recursion limit ends deep lists, an exception that is being handled becomes the
   context of a new one, and every frame above costs time in tracebacks.  Between
   td_py_depth_enter and td_py_depth_leave the thread has no Python frame, handles no
   exception, and may recurse TD_PY_DEPTH_LIMIT levels.

   A thread state of its own would do the same, but not here: extensions find
   *the* state of an operating system thread by themselves (PyGILState), and would
   run torch's callbacks in the other one. */
#ifndef TD_PY_DEPTH_H
#define TD_PY_DEPTH_H

#include "py/td_py.h"

enum {
    TD_PY_DEPTH_LIMIT = 1000
}; /* CPython's own default; the measured ends of recursion hang on it */

typedef struct {
    _PyCFrame         cframe;
    _PyErr_StackItem  handled;
    _PyCFrame        *outer_cframe;
    _PyErr_StackItem *outer_handled;
    int               outer_remaining, outer_limit;
} td_py_depth_t;

/* Both are called with the GIL held, in one C function, strictly nested; depth
   lives on that function's stack and must not move.  A pending exception stays
   as it is. */
void td_py_depth_enter(td_py_depth_t *depth);
void td_py_depth_leave(td_py_depth_t *depth);

#endif
