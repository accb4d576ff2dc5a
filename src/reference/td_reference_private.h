/* td_reference_private.h: shared by the files of this room only. */
#ifndef TD_REFERENCE_PRIVATE_H
#define TD_REFERENCE_PRIVATE_H

#include "observe/td_obs.h"
#include "py/td_changes.h"
#include "py/td_py_error.h"
#include "reference/td_reference.h"
#include "reference/td_walk.h"

struct td_reference {
    PyObject  *reference;   /* owned: tandem.oracle.loader.Reference */
    PyObject  *program;     /* owned: the class tandem.oracle.context.Program */
    PyObject  *reset;       /* owned: the function tandem.oracle.state.reset */
    PyObject  *values;      /* owned: tandem.oracle.config.values; NULL: not asked for yet */
    PyObject  *tables;      /* owned: tandem.oracle.tables.tables; NULL likewise */
    PyObject  *enter_frame; /* owned: tandem.oracle.state.enter_frame; NULL likewise */
    PyObject  *trace;       /* owned: the list of arms entered, emptied after each step */
    PyObject  *texts;       /* owned: tuples that own the arms' strings below */
    PyObject  *bad[2];      /* owned: exceptions that say "bad input" */
    td_walk_t *walk;        /* owned */
    td_obs_t  *obs;         /* owned */

    size_t       arm_cnt;
    char const **arm_ids; /* owned array of borrowed strings */
    char const **arm_texts;
    char const **arm_functions;
    uint8_t     *arm_decides; /* owned: 1 where an arm can be a root's deciding one */
    bool         arms_on;

    char const *revision, *builder, *torch; /* borrowed from reference's attributes */
    int         distance;

    td_step_hook_t hook;
    void          *hook_ctx;
    td_call_hook_t call_hook;
    void          *call_hook_ctx;
};

/* What a run has at hand; all borrowed but for program and frame. */
typedef struct {
    td_reference_t       *reference;
    td_live_t const      *live;
    td_run_limit_t const *limit;
    td_run_t             *run;
    PyObject             *program; /* owned: tandem.oracle.context.Program */
    PyObject             *frame;   /* owned: the open Frame, or NULL */
    size_t                frame_idx;

    /* The context that builder calls are seen in (td_reference_calls.c). */
    td_changes_t *changes;     /* owned: how objects looked when it began; NULL: none is open */
    size_t        globals_cnt; /* how many globals it began with */
    uint8_t      *state;       /* malloc'ed: its record before the running call */
    size_t        state_sz;
    int           recursion_left; /* where the running call is made */
    td_status_t   call_status;    /* the first failure while calls were seen */
    td_py_error_t call_error;     /* owned: its exception, where it is TD_PYERR */
} td_reference_run_t;

/* td_run_outcome_note fills out from how a step ended: kind as tandem.oracle.context has
   them, lists those of a frame or context. */
td_status_t td_run_outcome_note(td_reference_run_t *self, PyObject *lists, size_t step_idx,
                                int kind, td_outcome_t *out);

/* td_run_records_take gives the operator records of a step as JSON in the run's arena. */
td_status_t td_run_records_take(td_reference_run_t *self, PyObject *lists, size_t step_idx,
                                char const **records);

/* td_run_walk gives the canonical bytes of a frame or context (malloc'ed). */
td_status_t td_run_walk(td_reference_run_t *self, PyObject *lists, size_t globals_cnt,
                        td_changes_t const *changes, uint8_t **bytes, size_t *bytes_sz);

/* td_calls_watch has the open frame tell of the builder calls inside its compile steps;
   td_calls_end says how that went, after each step. */
td_status_t td_calls_watch(td_reference_run_t *self);
td_status_t td_calls_end(td_reference_run_t *self);

#endif
