/* td_py_audit.h: did this input leave anything behind, and does our code stand
   a failing allocation?

   Census: reference counts of given objects and the interpreter's own count of
   allocated blocks, before and after.  Failing allocator: the n-th allocation
   that CPython makes *for our code* fails; while code that is not ours runs
   (between hold and release, which td_call does by itself) nothing fails, since
   torch does not survive it and is not ours to test. */
#ifndef TD_PY_AUDIT_H
#define TD_PY_AUDIT_H

#include <stdbool.h>

#include "py/td_py.h"

typedef struct {
    PyObject   *objects;   /* owned tuple: whose references are counted; NULL: none */
    Py_ssize_t *refcnts;   /* one an object */
    Py_ssize_t  block_cnt; /* allocated blocks of the interpreter */
} td_audit_t;

/* td_audit_init takes the census of objects (a tuple, borrowed, or NULL).  The
   garbage collector should have run.  TD_NOMEM, or TD_PYERR when the count of
   blocks cannot be had. */
td_status_t td_audit_init(td_audit_t *audit, PyObject *objects);
void        td_audit_clear(td_audit_t *audit); /* a cleared or zeroed one is fine */

/* td_audit_refs_differ gives the index of the first object whose reference count
   is not what it was, or -1; objects of the interpreter itself do not count.  was and now
   may be NULL.  Runs no Python code. */
Py_ssize_t td_audit_refs_differ(td_audit_t const *audit, Py_ssize_t *was, Py_ssize_t *now);

/* td_audit_block_growth is how many more blocks are allocated now than then
   (negative: fewer).  Free lists and caches move it by a few; growth over many
   repetitions is a leak.  TD_PYERR leaves an exception. */
td_status_t td_audit_block_growth(td_audit_t const *audit, Py_ssize_t *growth);

/* td_py_nomem_arm makes the nth allocation from now (1: the next) of CPython's
   "mem" and "object" domains fail, once, with the GIL held; td_py_nomem_disarm
   ends it and says whether it fired.  Not reentrant. */
void td_py_nomem_arm(size_t nth);
bool td_py_nomem_disarm(void);

/* td_py_nomem_hold suspends it, td_py_nomem_release takes it up again; they nest, and
   cost an increment each. */
extern int td_py_nomem_held;
static inline void
td_py_nomem_hold(void)
{
    td_py_nomem_held++;
}
static inline void
td_py_nomem_release(void)
{
    td_py_nomem_held--;
}

#endif
