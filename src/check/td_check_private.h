/* td_check_private.h: shared by this room's files only. */
#ifndef TD_CHECK_PRIVATE_H
#define TD_CHECK_PRIVATE_H

#include "base/td_arena.h"
#include "check/td_check.h"
#include "check/td_check_case.h"
#include "check/td_side.h"
#include "observe/td_obs.h"

enum { TD_SIDE_CNT = 2 };

struct td_check {
    td_reference_t *reference;          /* owned */
    td_side_t      *sides[TD_SIDE_CNT]; /* owned; by td_which_t */
    char const     *revision;           /* static: which behaviour the subject follows */
    bool            swapped;            /* the second side is run first */
    bool            coverage;
    bool            recorded; /* the reference's side gives back what was recorded */
    bool            deaf;
    td_lie_hook_t   lie[TD_SIDE_CNT];
    void           *lie_ctx[TD_SIDE_CNT];

    td_run_t    runs[TD_SIDE_CNT]; /* what is compared */
    td_run_t    full; /* the reference's untruncated run, when runs hold truncated ones */
    td_run_t    again[TD_SIDE_CNT]; /* for flakiness and trails */
    td_obs_t   *obs;                /* owned; values of the frame under comparison */
    td_arena_t  arena;              /* of the report */
    td_report_t report;
    td_shown_t  shown;
    uint64_t    making_ns; /* making and dropping the objects of the program that was judged last */
};

/* Where a side's objects come from. */
typedef struct {
    td_prog_t const *prog; /* or NULL */
    td_case_t const *in;   /* or NULL */
} td_maker_t;

/* What each step of the program is, for reports: "build", "do", ... static. */
typedef struct {
    char const ***entries;   /* [frame][step], in the check's arena */
    size_t       *step_cnt;  /* [frame] */
    size_t        frame_cnt; /* with the contexts that compile steps made, once they are known */
    size_t        live_cnt;  /* of the program itself */
} td_plan_t;

/* td_maker_make makes one side's objects, after resetting the process. */
td_status_t td_maker_make(td_check_t *check, td_maker_t const *maker, td_live_t *live);

/* td_plan_hold notes live's steps in a plan that is empty, and holds live against one
   that is not: a case may give other frames at another call, TD_PYERR then. */
td_status_t td_plan_hold(td_check_t *check, td_live_t const *live, td_plan_t *plan);

/* A frame's record holds roots only: td_plan_is_root says whether a step is one (a compile
   step is none: the calls in its contexts are), td_plan_is_compile whether it makes contexts,
   td_plan_root the index it has among the frame's roots. */
bool   td_plan_is_root(td_plan_t const *plan, size_t frame, size_t step);
bool   td_plan_is_compile(td_plan_t const *plan, size_t frame, size_t step);
size_t td_plan_root(td_plan_t const *plan, size_t frame, size_t step);

/* td_pair_run runs both sides, each on objects of its own (or both beside each
   other on the same ones); runs are emptied first.  plan: as td_plan_hold has it. */
td_status_t td_pair_run(td_check_t *check, td_maker_t const *maker, td_run_limit_t const *limit,
                        td_run_t runs[TD_SIDE_CNT], td_plan_t *plan);

/* td_pair_run_one runs one side alone. */
td_status_t td_pair_run_one(td_check_t *check, td_maker_t const *maker, td_which_t which,
                            td_run_t *run);

/* td_quiet_run runs the subject alone and says in *why what it left behind; NULL:
   nothing.  with_records gives it those of the reference's run that check still has. */
td_status_t td_quiet_run(td_check_t *check, td_maker_t const *maker, bool with_records,
                         char const **why);

void td_run_recycle(td_run_t *run); /* empty again, memory kept */

/* td_pair_shared: the same on shared objects. */
td_status_t td_pair_shared(td_check_t *check, td_live_t const *live, td_run_limit_t const *limit,
                           td_run_t runs[TD_SIDE_CNT]);

/* td_verdict_draw judges maker: runs, truncates where the subject stopped,
   compares, looks for flakiness, and fills check->report. */
td_status_t td_verdict_draw(td_check_t *check, td_maker_t const *maker);

/* td_compare_frame compares frame frame_idx of both runs and adds what differs
   to the report; marks the roots in `diverges` (one a step of the frame; the
   steps from `end` on were not built).  *differs says whether anything did. */
td_status_t td_compare_frame(td_check_t *check, td_plan_t const *plan, size_t frame_idx, size_t end,
                             bool *diverges, bool *differs);

/* td_compare_state says whether a frame left the frame state differently behind
   in the two runs (also when that cannot be told). */
td_status_t td_compare_state(td_check_t *check, td_run_frame_t const *a, td_run_frame_t const *b,
                             bool *differs);

/* Adding to the report; texts are copied.  The first divergence added gives the
   report its signature: by meaning of its values where there are diffs, else from
   `what`. */
typedef struct {
    char const          *entry; /* static */
    char const          *path, *field;
    char const          *reference, *subject; /* JSON */
    td_obs_diff_t const *diffs;               /* of check->obs, this one first or later; or NULL */
    size_t               diff_cnt;
    char const          *what; /* "tracker/unsupported", where there are none */
    char const          *arm, *subject_function;
    bool                 outside; /* of every root: the arm is shown, but names nothing */
} td_finding_t;

td_status_t td_report_add(td_check_t *check, td_finding_t const *finding);
td_status_t td_report_observations(td_check_t *check, td_run_t const *reference,
                                   td_run_t const *subject);
td_status_t td_report_json(td_check_t *check, td_run_t const *run, char const **json);
td_status_t td_report_tree(td_check_t *check, td_run_t const *run, char const **tree);
char const *td_report_keep(td_check_t *check,
                           char const *text); /* a copy in the arena, "" without memory */
char const *td_report_quote(td_check_t *check, char const *text); /* the same as a JSON string */
char const *td_report_keepf(td_check_t *check, char const *format, ...)
    __attribute__((format(printf, 2, 3)));

/* td_check_fail notes one line for td_check_why and returns status. */
td_status_t td_check_fail(td_status_t status, char const *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
