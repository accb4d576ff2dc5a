/* td_walk.h: what a builder left behind, as an observation.

   A walk reads one context of the Python builder (InstructionTranslator,
   OutputGraph and all that hangs on them) and the outcomes of its roots into one
   record Frame.  It goes by the schema: every attribute that an object has must
   have a row there; what the row says is compared becomes a value, what it says
   is empty must be.  An object that the schema does not know, or an attribute, or
   a value of another kind than its row says, ends the walk with TD_REJECT.

   A walk changes nothing and runs no code of a program: it reads instance dicts
   and C structs.  Identities (trackers, mutable locals, nodes, objects) become
   ordinals in the order of the schema; the nodes of the graph come first. */
#ifndef TD_REFERENCE_WALK_H
#define TD_REFERENCE_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "observe/td_obs.h"
#include "py/td_changes.h"
#include "py/td_py.h"

typedef struct td_walk td_walk_t;

/* How a step ended (tandem.oracle.context has the same numbers).  Only roots that
   were built are written: the first and the last kind leave nothing. */
enum { TD_WALK_NOT_RUN, TD_WALK_TRACKER, TD_WALK_EXCEPTION, TD_WALK_DO, TD_WALK_VALUE };

/* One frame; everything borrowed.  kinds, values and sources are lists with one
   entry for each step, as tandem.oracle.context.Frame has them. */
typedef struct {
    PyObject           *objects;      /* tuple: the program's objects, index = ordinal */
    PyObject           *tx;           /* the InstructionTranslator */
    PyObject           *kinds;        /* of ints: see above */
    PyObject           *values;       /* what a root returned, or its exception */
    PyObject           *sources;      /* the Source that a root was built under, or None */
    size_t              globals_skip; /* how many globals the frame had when it was opened */
    td_changes_t const *changes;      /* first look at objects; NULL: none was taken */
    bool                is_live;      /* a context that the compiler made: its frame state has
                                         the compilation's number too, which is left out */
} td_walk_frame_t;

/* td_walk_new makes a walker, which serves a process as long as it likes.  The
   builder must be loaded.  NULL: Python exception. */
td_walk_t *td_walk_new(void);
void       td_walk_free(td_walk_t *walk); /* NULL is fine */

/* td_walk_run writes the Frame record of frame into obs, which must be freshly
   reset.  TD_REJECT, and td_walk_why says what does not fit the schema. */
td_status_t td_walk_run(td_walk_t *walk, td_obs_t *obs, td_walk_frame_t const *frame,
                        td_val_t *record);
char const *td_walk_why(td_walk_t const *walk);

/* td_walk_tracker_cnt: trackers that the last run met; for measurements. */
size_t td_walk_tracker_cnt(td_walk_t const *walk);

#endif
