/* td_check.h: is this a bug?  Takes a program or a case, gives a verdict.

   No Python type is mentioned here, so that targets stay plain C. */
#ifndef TD_CHECK_CHECK_H
#define TD_CHECK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/td_status.h"
#include "graph/td_graph.h"
#include "observe/td_run.h"

/* From harmless to worst: a program has the worst verdict of its roots. */
#define TD_VERDICT_LIST(X)                        \
    X(AGREE, "agree")                             \
    X(POISONED, "poisoned")                       \
    X(SUBJECT_UNSUPPORTED, "subject-unsupported") \
    X(REFERENCE_FAILED, "reference-failed")       \
    X(DIVERGE, "diverge")                         \
    X(BAD_INPUT, "bad-input")

typedef enum {
#define X(name, text) TD_VERDICT_##name,
    TD_VERDICT_LIST(X)
#undef X
        TD_VERDICT_CNT
} td_verdict_t;

char const *td_verdict_text(td_verdict_t verdict);

/* How the process is set up, once. */
typedef struct {
    char const *builder;      /* NULL, "installed" or a path: the reference's builder */
    char const *revision;     /* NULL (auto), "mission", "installed" */
    char const *subject_path; /* NULL: the builder linked in; else a .so with td_subject_v1 */
    char const *other_side;   /* NULL: subject; "reference": reference against reference;
                                  "reference-swapped": the same in the other order (tests) */
    bool        coverage;     /* record the reference's arms for every program */
} td_check_config_t;

typedef struct td_check td_check_t;

/* td_check_new: on failure *check is NULL and td_check_why has one line; the
   status says whose fault it is (TD_REJECT: bad input, exit 2; else exit 3). */
td_status_t td_check_new(td_check_config_t const *config, td_check_t **check);
void        td_check_free(td_check_t *check);
char const *td_check_why(void);

/* td_check_done writes the words that the subject's own list calls done (families,
   kinds, sources, ...; its arms are left out) with commas between, into list.
   Needs no reference and no Python.  TD_REJECT with td_check_why: subject_path is
   no subject; TD_LIMIT: list_sz is too small. */
td_status_t td_check_done(char const *subject_path, char *list, size_t list_sz);

/* One divergence, rendered. */
typedef struct {
    char const *path;      /* frames[0].roots[1].tracker.items[2].guards */
    char const *field;     /* ListVariable.guards */
    char const *reference; /* JSON text of the value on this side; "" missing */
    char const *subject;
    char const *arm;              /* the reference's deciding arm: id */
    char const *function;         /* ... its function and condition */
    char const *subject_function; /* the subject's C function */
} td_divergence_t;

typedef struct {
    size_t      frame, root;
    char const *arm, *why;
} td_unsupported_t;

enum { TD_DIVERGENCE_CNT_MAX = 16 };

typedef struct {
    td_verdict_t verdict;
    bool         internal_error;
    bool         flaky;             /* a side disagrees with itself: exit 3 */
    char const  *signature;         /* NULL unless it diverges */
    char         signature_hash[9]; /* 8 hex digits of signature; "" with it */
    char const  *headline; /* "entry field reference-class/subject-class"; "" unless it diverges */
    char const  *why;      /* reference-failed, poisoned, bad-input: one line; else "" */
    td_divergence_t   divergences[TD_DIVERGENCE_CNT_MAX];
    size_t            divergence_cnt;
    td_unsupported_t *unsupported;
    size_t            unsupported_cnt; /* one a frame: the root that stopped it */
    td_verdict_t     *root_verdicts;   /* of all roots, frame by frame */
    size_t            root_cnt;
    bool              compared;       /* every root is agree or diverge */
    uint64_t const   *arms;           /* the reference's, when coverage is on */
    char const       *reference_json; /* observations, when asked for */
    char const       *subject_json;
} td_report_t; /* everything lives until the next call on the same td_check_t */

/* td_check_program judges a program.  observations asks for the JSON texts.
   TD_OK whatever the verdict; an error is the harness's own failure. */
td_status_t td_check_program(td_check_t *check, td_prog_t const *prog, bool observations,
                             td_report_t const **report);

/* td_check_recorded is td_check_program with the reference's recorded frames in
   its place.  A program that the subject stops in is not compared.  TD_REJECT: the
   record has another number of frames. */
typedef struct {
    uint8_t const *bytes; /* canonical bytes of a Frame record */
    size_t         bytes_sz;
    /* Operator records of the first record_cnt steps (td_run.h), NULL where there are none. */
    char const **records;
    size_t       record_cnt;
} td_recorded_frame_t;
td_status_t td_check_recorded(td_check_t *check, td_prog_t const *prog,
                              td_recorded_frame_t const *frames, size_t frame_cnt,
                              bool observations, td_report_t const **report);

/* One side alone. */
typedef struct {
    bool                  built;  /* every root was built (an exception is an outcome) */
    char const           *why;    /* what was not there, one line; "" when built */
    char const           *json;   /* the observation as JSON text */
    char const           *tree;   /* the same as a tree for people */
    uint8_t const *const *frames; /* canonical bytes, frame by frame */
    size_t const         *frame_szs;
    size_t                frame_cnt;
    td_run_frame_t const *runs; /* the same frames with all that is known of them */
} td_shown_t;                   /* lives until the next call on the same td_check_t */

typedef enum { TD_SIDE_REFERENCE, TD_SIDE_SUBJECT } td_which_t;

/* td_check_show runs one side on prog. */
td_status_t td_check_show(td_check_t *check, td_prog_t const *prog, td_which_t which,
                          td_shown_t const **shown);

/* td_check_quiet runs the subject alone and looks for what it left behind.  *why
   is NULL, or one line: a reference count that is not what it was.  with_records gives it
   the operator records of the run before, which must have been of the same program. */
td_status_t td_check_quiet(td_check_t *check, td_prog_t const *prog, bool with_records,
                           char const **why);

/* What was loaded. */
char const *td_check_revision(td_check_t const *check, int *distance);
char const *td_check_builder(td_check_t const *check);
char const *td_check_torch(td_check_t const *check);
char const *td_check_subject(td_check_t const *check); /* the subject's own name */
size_t      td_check_arm_cnt(td_check_t const *check);
char const *td_check_arm_id(td_check_t const *check, size_t idx);

/* ---- for tests of the harness itself ----------------------------------------

   A lie changes the canonical bytes of one side's frame before they are
   compared: it returns true and gives a malloc'ed block, or false to leave them. */
typedef bool (*td_lie_hook_t)(void *ctx, size_t frame_idx, uint8_t const *bytes, size_t sz,
                              uint8_t **lie, size_t *lie_sz);
void td_check_lie(td_check_t *check, td_which_t which, td_lie_hook_t lie,
                  void *ctx); /* NULL: honest again */

/* td_check_deaf replaces every outcome of the reference by a wrong one before
   the subject is run. */
void td_check_deaf(td_check_t *check, bool deaf);

#endif
