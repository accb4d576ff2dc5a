/* td_run.h: what one side did with a program, frame by frame.

   A *side* is a builder that was given a program: the reference or the subject.
   Its *run* holds for every frame the observation's canonical bytes (a record of
   class Frame) and for every root an *outcome*.  Runs are what checks compare;
   nothing in them is a Python object. */
#ifndef TD_OBSERVE_RUN_H
#define TD_OBSERVE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/td_arena.h"
#include "base/td_status.h"

typedef enum {
    TD_OUTCOME_NOT_RUN,     /* a root before it stopped the frame */
    TD_OUTCOME_TRACKER,     /* a tracker */
    TD_OUTCOME_EXCEPTION,   /* an exception came out of the root */
    TD_OUTCOME_UNSUPPORTED, /* subject only: an arm it does not have */
    TD_OUTCOME_POISONED,    /* recursion-band, out-of-memory or timeout */
    TD_OUTCOME_DO,          /* a do or compile step: nothing was built in its frame */
    TD_OUTCOME_VALUE        /* a function that was called directly gave what is no tracker */
} td_outcome_kind_t;

typedef struct {
    td_outcome_kind_t kind;
    bool              internal_error; /* an exception of no expected class */
    /* The reference's deciding arm id ("L410/if/T"): the last one entered; "" unknown. */
    char const *arm;
    char const *why; /* UNSUPPORTED, POISONED: one line; EXCEPTION: class name; else "" */
    /* Subject: the C function that decided; reference: the function's qualname. */
    char const *function;
    char const *entry; /* of a builder call in a context: its entry point, static; else NULL */
} td_outcome_t;

/* One decision on the way to a frame's observation, as a side names it: shown
   beside a divergence, never compared.  path is relative to the frame
   ("roots[1].tracker.items[2]"). */
typedef struct {
    char const *path, *arm, *function;
} td_run_row_t;

typedef struct {
    /* Canonical bytes of the Frame record; NULL when the frame could not be observed. */
    uint8_t const *bytes;
    size_t         bytes_sz;
    td_outcome_t  *outcomes; /* one for each step of the frame (roots and do steps) */
    size_t         outcome_cnt, outcome_cap;
    /* For each step the operator records of it as JSON (td_abi.h has their form), NULL
       where there are none.  NULL: a side that runs no operators. */
    char const  **records;
    td_run_row_t *trail; /* when it was asked for, in build order; else NULL */
    size_t        trail_cnt;
} td_run_frame_t;

typedef struct {
    td_arena_t      arena; /* owns everything below */
    td_run_frame_t *frames;
    size_t          frame_cnt;
    /* The contexts that compile steps made, in order, each a frame whose steps are the builder
       calls seen in it; they stand behind the program's frames once they were joined. */
    td_run_frame_t *contexts;
    size_t          context_cnt, context_cap;
    char const     *failed;     /* how it broke outside every root (reference-failed); else NULL */
    char const    **user_calls; /* what the program's own code noted when it was run, in order */
    size_t          user_call_cnt;
    uint64_t        arms[16]; /* reference: bit i = i-th arm of the enumeration was reached */
} td_run_t;

enum { TD_RUN_ARM_CNT_MAX = 16 * 64 }; /* the mission's file has 763 arms */

/* td_run_limit_t stops a run early: in each frame f only the first root_cnt[f]
   steps are built (NULL: all), so that what was built before an unsupported
   root can be compared in full. */
typedef struct {
    size_t const *step_cnt;
    size_t        frame_cnt;
} td_run_limit_t;

/* td_run_context_add begins a context (the pointers to earlier ones die),
   td_run_step_add a step of one: NOT_RUN, without records.  NULL, false: no memory. */
td_run_frame_t *td_run_context_add(td_run_t *run);
bool            td_run_step_add(td_run_t *run, td_run_frame_t *context);

/* td_run_join puts the contexts behind the frames. */
td_status_t td_run_join(td_run_t *run);

void td_run_init(td_run_t *run);
void td_run_clear(td_run_t *run);

#endif
