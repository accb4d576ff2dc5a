/* td_changes.h: what happened to a program's objects between two looks.

   The first look takes one fingerprint of each object: of its instance dict, its
   items, how far an iterator has come, and of the containers in these that are no
   objects of the program themselves.  It holds no reference, so it keeps nothing
   alive.  The second look writes a record Object for each object whose
   fingerprint is another one.  Neither runs user code. */
#ifndef TD_PY_CHANGES_H
#define TD_PY_CHANGES_H

#include "py/td_canon.h"
#include "py/td_py.h"

typedef struct td_changes td_changes_t;

/* td_changes_new looks at objects (a tuple, borrowed, must outlive it) for the
   first time.  NULL: no memory. */
td_changes_t *td_changes_new(PyObject *objects);
void          td_changes_free(td_changes_t *changes); /* NULL is fine */

/* td_changes_write looks again: a list of Object records, in the order of ordinals.
   The canon's special forms are left out: a real tensor in an object's attributes is
   "other", whichever side looks. */
td_val_t td_changes_write(td_changes_t const *changes, td_canon_t *canon);

#endif
