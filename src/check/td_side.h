/* td_side.h: the two things that are compared.

   A *side* runs a live program into a run (td_run.h).  There are two makes of
   it: the reference, and a subject behind the table of td_abi.h, linked in or
   loaded from a shared object.  Whoever compares sees no difference between
   them, so the reference can stand on both sides to test the harness. */
#ifndef TD_CHECK_SIDE_H
#define TD_CHECK_SIDE_H

#include "builder/td_abi.h"
#include "check/td_check.h"
#include "live/td_live.h"
#include "observe/td_obs.h"
#include "observe/td_run.h"
#include "reference/td_reference.h"

typedef struct td_side td_side_t;

struct td_side {
    char const *name; /* "reference", "subject": for people */

    /* run builds live's frames into run (initialised, empty).  limit may be NULL.
       An error is the harness's own failure (TD_PYERR: exception set), with one
       line in why when it is TD_INTERNAL or TD_REJECT. */
    td_status_t (*run)(td_side_t *side, td_live_t const *live, td_run_limit_t const *limit,
                       td_run_t *run);
    void (*free)(td_side_t *side); /* frees side itself too */

    /* What the reference did with the program, whose operator records the side may be
       given; borrowed, NULL: nothing is known. */
    td_run_t const *recorded;

    bool want_trail; /* fill the frames' trails too, where the side has any */
    char why[256];
};

/* td_side_reference: a side that runs reference (borrowed, outlives it). */
td_side_t *td_side_reference_new(td_reference_t *reference);

/* td_side_recorded: a side that gives back recorded frames, set for each program
   (borrowed until the next). */
td_side_t *td_side_recorded_new(void);
void td_side_recorded_set(td_side_t *side, td_recorded_frame_t const *frames, size_t frame_cnt);

/* td_side_frames_alloc makes run's frames and outcomes, all NOT_RUN, as live's. */
td_status_t td_side_frames_alloc(td_live_t const *live, td_run_t *run);

/* td_side_subject: a side that drives the subject of a shared object, or the one
   linked in (path NULL).  reference (borrowed) gives config and tables as data.
   revision is "mission" or "installed" (borrowed).  NULL with one line in why
   (why_sz bytes): no such file, no td_subject_v1, another version. */
td_side_t *td_side_subject_new(char const *path, char const *revision, td_reference_t *reference,
                               char *why, size_t why_sz);

/* What a subject is, apart from being run. */
td_abi_subject_v1 const *td_side_subject_table(td_side_t const *side); /* NULL: not a subject */

/* td_side_done says whether the subject behind side calls arm done.  A side that
   is no subject calls nothing done. */
bool td_side_done(td_side_t const *side, char const *arm);

/* td_side_watch has hook told right before (inside) and right after each call of a
   subject's function, with the GIL held; NULL: nobody.  For tests. */
typedef void (*td_watch_hook_t)(void *ctx, bool inside);
void td_side_watch(td_watch_hook_t hook, void *ctx);

/* td_step_is_do says whether a step ((spec, object), borrowed) is a do step,
   td_step_is_compile whether it runs a function through the compiler. */
bool td_step_is_do(PyObject *step);
bool td_step_is_compile(PyObject *step);

/* ---- one root at a time ---------------------------------------------------

   For objects that both sides share: the subject is led beside the reference.
   frame_open ... step ... frame_close as in td_abi.h; td_side_subject_run is
   made of these. */
typedef struct {
    td_side_t       *side;    /* borrowed */
    td_live_t const *live;    /* borrowed */
    td_run_t        *run;     /* borrowed */
    void            *self;    /* the subject's own */
    PyObject        *config;  /* owned */
    PyObject        *tables;  /* owned */
    PyObject        *locals;  /* owned, of the open frame */
    PyObject        *globals; /* owned, of the open frame */
    size_t           frame_idx;
    td_run_frame_t  *frame;   /* borrowed: what comes out of the open frame */
    bool             open;    /* a frame is open */
    bool             stopped; /* a root was unsupported or poisoned: build no more in this frame */
    size_t           trail_cap;
} td_subject_run_t;

td_status_t td_subject_run_open(td_subject_run_t *run, td_side_t *side, td_live_t const *live,
                                td_run_t *out);
td_status_t td_subject_run_frame(td_subject_run_t *run, size_t frame_idx);
td_status_t td_subject_run_step(td_subject_run_t *run, size_t step_idx, bool build);
td_status_t td_subject_run_end(td_subject_run_t *run);   /* observe and close the frame */
void        td_subject_run_close(td_subject_run_t *run); /* whatever is still open */

/* The same in a context of somebody else's, seen call by call (td_reference_call_t): a
   program for each frame state, a frame for each context. */
td_status_t td_subject_context_open(td_subject_run_t *run, td_side_t *side, td_live_t const *live,
                                    td_run_t *out, PyObject *context);
td_status_t td_subject_context_begin(td_subject_run_t *run, td_reference_call_t const *call);
td_status_t td_subject_context_call(td_subject_run_t *run, td_reference_call_t const *call);
td_status_t td_subject_context_end(td_subject_run_t *run);

#endif
