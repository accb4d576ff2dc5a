/* td_py_error.h: the pending Python exception as a thing to hold, read or demand
   to be absent. */
#ifndef TD_PY_ERROR_H
#define TD_PY_ERROR_H

#include "py/td_py.h"

typedef struct {
    PyObject *type, *value, *traceback; /* owned; all NULL: there was none */
} td_py_error_t;

/* td_py_error_fetch takes the pending exception (normalised) out of the thread;
   td_py_error_restore puts it back and clears error; td_py_error_clear drops it. */
void td_py_error_fetch(td_py_error_t *error);
void td_py_error_restore(td_py_error_t *error);
void td_py_error_clear(td_py_error_t *error);

/* td_py_error_text writes "Class: message" of the pending exception into out
   (sz bytes, cut if need be, always NUL-terminated, on one line) and clears it.
   "" if there was none.  Runs the exception's __str__. */
void td_py_error_text(char *out, size_t sz);

/* td_py_error_where replaces the pending exception, of class C with message m, by
   RuntimeError("where: C: m") that has it as its cause.  MemoryError and
   KeyboardInterrupt stay what they are. */
void td_py_error_where(char const *where);

/* td_py_require_quiet aborts when an exception is pending: an input leaves no
   trace.  where names the step that must not have left one. */
void td_py_require_quiet(char const *where);

#endif
