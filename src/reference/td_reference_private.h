/* td_reference_private.h: shared by the files of this room only. */
#ifndef TD_REFERENCE_PRIVATE_H
#define TD_REFERENCE_PRIVATE_H

#include "observe/td_obs.h"
#include "reference/td_reference.h"
#include "reference/td_walk.h"

struct td_reference {
    PyObject  *reference; /* owned: tandem.oracle.loader.Reference */
    PyObject  *program;   /* owned: the class tandem.oracle.context.Program */
    PyObject  *reset;     /* owned: the function tandem.oracle.state.reset */
    PyObject  *values;    /* owned: tandem.oracle.config.values; NULL: not asked for yet */
    PyObject  *tables;    /* owned: tandem.oracle.tables.tables; NULL likewise */
    PyObject  *enter_frame; /* owned: tandem.oracle.state.enter_frame; NULL likewise */
    PyObject  *trace;     /* owned: the list of arms entered, emptied after each step */
    PyObject  *texts;     /* owned: tuples that own the arms' strings below */
    PyObject  *bad[2];    /* owned: exceptions that say "bad input" */
    td_walk_t *walk;      /* owned */
    td_obs_t  *obs;       /* owned */

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
};

#endif
