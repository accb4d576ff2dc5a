/* td_verdict.c: from two runs to the verdict of every root and of the program. */
#include "check/td_check_private.h"

#include <string.h>

#include "base/td_assert.h"

/* What is known about one frame while the verdict is drawn. */
typedef struct {
    size_t       end;      /* steps below it are compared; outcome_cnt when nothing stopped */
    td_verdict_t stopper;  /* verdict of the steps from end on */
    bool        *diverges; /* one a step */
} stand_t;

typedef struct {
    td_check_t       *check;
    td_maker_t const *maker;
    td_plan_t         plan;
    stand_t          *stands; /* one a frame, in the check's arena */
    size_t           *ends;   /* the same, as a limit for the sides */
    bool              truncated;
    bool              differs;
} draw_t;

static td_outcome_t const *
outcome_of(td_run_t const *run, size_t frame, size_t step)
{
    TD_ASSERT(frame < run->frame_cnt);
    TD_ASSERT(step < run->frames[frame].outcome_cnt);
    return &run->frames[frame].outcomes[step];
}

/* ---- where a frame stops ------------------------------------------------------ */

static bool
is_known_poison(char const *why)
{
    static char const *const reasons[] = {"recursion-band", "out-of-memory", "timeout"};

    for (size_t idx = 0; idx < sizeof reasons / sizeof *reasons; idx++) {
        if (strncmp(why, reasons[idx], strlen(reasons[idx])) == 0) {
            return true;
        }
    }
    return false;
}

/* An answer that a side may not give is a finding, not a stop. */
static bool
is_excuse(draw_t const *draw, td_outcome_t const *outcome)
{
    td_side_t const *subject = draw->check->sides[TD_SIDE_SUBJECT];

    if (outcome->kind == TD_OUTCOME_POISONED) {
        return is_known_poison(outcome->why);
    }
    return outcome->kind == TD_OUTCOME_UNSUPPORTED && !td_side_done(subject, outcome->arm);
}

static bool
stops(td_outcome_t const *outcome)
{
    return outcome->kind == TD_OUTCOME_UNSUPPORTED || outcome->kind == TD_OUTCOME_POISONED;
}

/* By td_outcome_kind_t. */
static char const *const outcome_words[] = {
    "not-run", "tracker", "exception", "unsupported", "poisoned", "do", "value",
};

static char const *
outcome_json(draw_t *draw, td_outcome_t const *outcome)
{
    bool        refused = outcome->kind == TD_OUTCOME_UNSUPPORTED;
    char const *text    = td_report_keepf(draw->check, "%s%s%s%s%s", outcome_words[outcome->kind],
                                       refused ? ": " : "", refused ? outcome->arm : "",
                                       outcome->why[0] == '\0' ? "" : ": ", outcome->why);

    return td_report_quote(draw->check, text);
}

/* The subject refuses an arm that it calls done, or is poisoned for a reason
   that there is not. */
static td_status_t
add_lame_excuse(draw_t *draw, size_t frame, size_t step, td_outcome_t const *subject)
{
    td_outcome_t const *reference = outcome_of(&draw->check->runs[TD_SIDE_REFERENCE], frame, step);
    td_finding_t        finding   = {
                 .entry     = draw->plan.entries[frame][step],
                 .path      = td_report_keepf(draw->check, "frames[%zu].roots[%zu].outcome", frame,
                                              td_plan_root(&draw->plan, frame, step)),
                 .field     = "Root.outcome",
                 .reference = outcome_json(draw, reference),
                 .subject   = outcome_json(draw, subject),
                 .what      = td_report_keepf(draw->check, "%s/%s", outcome_words[reference->kind],
                                              outcome_words[subject->kind]),
                 .arm       = reference->arm,
                 .subject_function = subject->function,
    };

    draw->stands[frame].diverges[step] = true;
    draw->stands[frame].stopper        = TD_VERDICT_DIVERGE;
    draw->differs                      = true;
    return td_report_add(draw->check, &finding);
}

static td_status_t
add_unsupported(draw_t *draw, size_t frame, size_t step, td_outcome_t const *outcome)
{
    td_report_t *report = &draw->check->report;

    report->unsupported[report->unsupported_cnt++] = (td_unsupported_t){
        .frame = frame,
        .root  = td_plan_root(&draw->plan, frame, step),
        .arm   = td_report_keep(draw->check, outcome->arm),
        .why   = td_report_keep(draw->check, outcome->why),
    };
    return TD_OK;
}

/* Notes that a frame ends before step.  The outcome's texts are copied since the
   run that holds them may be run again. */
static td_status_t
stop_at(draw_t *draw, size_t frame, size_t step, td_outcome_t const *outcome)
{
    stand_t *stand = &draw->stands[frame];

    stand->end        = step;
    draw->ends[frame] = step;
    draw->truncated   = true;
    if (!is_excuse(draw, outcome)) {
        return add_lame_excuse(draw, frame, step, outcome);
    }
    if (outcome->kind == TD_OUTCOME_POISONED) {
        stand->stopper          = TD_VERDICT_POISONED;
        draw->check->report.why = td_report_keep(draw->check, outcome->why);
        return TD_OK;
    }
    stand->stopper = TD_VERDICT_SUBJECT_UNSUPPORTED;
    return add_unsupported(draw, frame, step, outcome);
}

/* Looks for the first stop of every frame within its end; *found says whether
   there was one. */
static td_status_t
find_stops(draw_t *draw, bool *found)
{
    td_status_t status = TD_OK;

    *found = false;
    for (size_t frame = 0; frame < draw->plan.frame_cnt; frame++) {
        for (size_t step = 0; step < draw->stands[frame].end; step++) {
            td_outcome_t const *subject =
                outcome_of(&draw->check->runs[TD_SIDE_SUBJECT], frame, step);
            td_outcome_t const *reference =
                outcome_of(&draw->check->runs[TD_SIDE_REFERENCE], frame, step);

            if (stops(subject) || stops(reference)) {
                *found = true;
                TD_TRY(stop_at(draw, frame, step, stops(subject) ? subject : reference));
            }
        }
    }
done:
    return status;
}

/* ---- running again, cut where the subject stopped ------------------------------- */

static bool
anything_left(draw_t const *draw)
{
    for (size_t frame = 0; frame < draw->plan.frame_cnt; frame++) {
        for (size_t step = 0; step < draw->stands[frame].end; step++) {
            if (td_plan_is_root(&draw->plan, frame, step)) {
                return true;
            }
        }
    }
    return false;
}

/* What a stopped root had done already would stand in both the frame's record
   and the frame state, so both sides are run once more without it; with the same
   cut they must still agree.  A cut can move a later frame's own stop, so this
   is repeated; it ends since every turn cuts at least one step. */
static td_status_t
run_cut(draw_t *draw)
{
    td_status_t    status = TD_OK;
    td_check_t    *check  = draw->check;
    bool           found  = true;
    td_run_limit_t limit  = {.step_cnt = draw->ends, .frame_cnt = draw->plan.frame_cnt};

    td_run_t whole                 = check->full; /* keeps the untruncated run of the reference */
    check->full                    = check->runs[TD_SIDE_REFERENCE];
    check->runs[TD_SIDE_REFERENCE] = whole;
    while (found && anything_left(draw)) {
        TD_TRY(td_pair_run(check, draw->maker, &limit, check->runs, &draw->plan));
        if (check->runs[TD_SIDE_REFERENCE].failed != NULL) {
            break;
        }
        TD_TRY(find_stops(draw, &found));
    }
done:
    return status;
}

/* ---- comparing -------------------------------------------------------------------- */

static td_status_t
compare_calls(draw_t *draw)
{
    td_run_t const *reference = &draw->check->runs[TD_SIDE_REFERENCE];
    td_run_t const *subject   = &draw->check->runs[TD_SIDE_SUBJECT];
    size_t max = reference->user_call_cnt > subject->user_call_cnt ? reference->user_call_cnt
                                                                   : subject->user_call_cnt;

    /* Nobody's own code ran while a record was given back. */
    for (size_t idx = 0; idx < max && !draw->check->recorded; idx++) {
        char const *was = idx < reference->user_call_cnt ? reference->user_calls[idx] : NULL;
        char const *got = idx < subject->user_call_cnt ? subject->user_calls[idx] : NULL;

        if (was != NULL && got != NULL && strcmp(was, got) == 0) {
            continue;
        }
        td_finding_t finding = {
            .entry            = "build",
            .path             = td_report_keepf(draw->check, "user_calls[%zu]", idx),
            .field            = "Program.user_calls",
            .reference        = was == NULL ? "" : td_report_quote(draw->check, was),
            .subject          = got == NULL ? "" : td_report_quote(draw->check, got),
            .what             = was == NULL   ? "call extra"
                                : got == NULL ? "call missing"
                                              : "another call",
            .arm              = "",
            .subject_function = "",
        };
        draw->differs = true;
        return td_report_add(draw->check, &finding);
    }
    return TD_OK;
}

/* Later frames are compared only while the frame state does not hang on what a
   stopped root wrote into it. */
static td_status_t
compare_all(draw_t *draw)
{
    td_status_t  status  = TD_OK;
    td_check_t  *check   = draw->check;
    bool         hangs   = false;
    td_verdict_t stopper = TD_VERDICT_AGREE;

    for (size_t frame = 0; frame < draw->plan.frame_cnt; frame++) {
        stand_t *stand   = &draw->stands[frame];
        bool     differs = false;

        if (hangs) {
            stand->end     = 0;
            stand->stopper = stopper;
            continue;
        }
        TD_TRY(td_compare_frame(check, &draw->plan, frame, stand->end, stand->diverges, &differs));
        draw->differs |= differs;
        if (stand->end < draw->plan.step_cnt[frame]) {
            TD_TRY(td_compare_state(check, &check->full.frames[frame],
                                    &check->runs[TD_SIDE_REFERENCE].frames[frame], &hangs));
            stopper = stand->stopper;
        }
    }
    TD_TRY(compare_calls(draw));
done:
    return status;
}

/* ---- flakiness ---------------------------------------------------------------------- */

static bool
same_frames(td_run_t const *a, td_run_t const *b)
{
    if (a->frame_cnt != b->frame_cnt) {
        return false;
    }
    for (size_t frame = 0; frame < a->frame_cnt; frame++) {
        td_run_frame_t const *left = &a->frames[frame], *right = &b->frames[frame];

        if (left->bytes_sz != right->bytes_sz || (left->bytes == NULL) != (right->bytes == NULL) ||
            (left->bytes != NULL && memcmp(left->bytes, right->bytes, left->bytes_sz) != 0)) {
            return false;
        }
    }
    return true;
}

/* Before anybody cries divergence both sides say it again: a side that
   disagrees with itself is no witness against the other.  On the way the second
   run notes the trails that the report shows. */
static td_status_t
run_again(draw_t *draw)
{
    td_status_t    status;
    td_check_t    *check = draw->check;
    td_run_limit_t limit = {.step_cnt = draw->ends, .frame_cnt = draw->plan.frame_cnt};

    check->sides[TD_SIDE_REFERENCE]->want_trail = true;
    check->sides[TD_SIDE_SUBJECT]->want_trail   = true;
    status =
        td_pair_run(check, draw->maker, draw->truncated ? &limit : NULL, check->again, &draw->plan);
    check->sides[TD_SIDE_REFERENCE]->want_trail = false;
    check->sides[TD_SIDE_SUBJECT]->want_trail   = false;
    if (status != TD_OK) {
        return status;
    }
    for (size_t which = 0; which < TD_SIDE_CNT; which++) {
        if (!same_frames(&check->runs[which], &check->again[which])) {
            check->report.flaky = true;
            check->report.why =
                td_report_keepf(check, "the %s disagrees with itself",
                                which == TD_SIDE_REFERENCE ? "reference" : "subject");
        }
    }
    return TD_OK;
}

/* Equal bytes in every frame: the common case, and a cheap one. */
static bool
all_equal(draw_t const *draw)
{
    td_run_t const *reference = &draw->check->runs[TD_SIDE_REFERENCE];
    td_run_t const *subject   = &draw->check->runs[TD_SIDE_SUBJECT];

    if (!same_frames(reference, subject)) {
        return false;
    }
    if (draw->check->recorded) {
        return true; /* nobody's own code ran while a record was given back */
    }
    if (reference->user_call_cnt != subject->user_call_cnt) {
        return false;
    }
    for (size_t idx = 0; idx < reference->user_call_cnt; idx++) {
        if (strcmp(reference->user_calls[idx], subject->user_calls[idx]) != 0) {
            return false;
        }
    }
    return true;
}

/* ---- adding up ------------------------------------------------------------------------- */

static void
root_add(td_report_t *report, td_verdict_t verdict)
{
    report->root_verdicts[report->root_cnt++] = verdict;
    if (verdict > report->verdict) {
        report->verdict = verdict;
    }
    if (verdict != TD_VERDICT_AGREE && verdict != TD_VERDICT_DIVERGE) {
        report->compared = false;
    }
}

static void
sum_up(draw_t *draw)
{
    td_report_t *report = &draw->check->report;

    report->verdict  = TD_VERDICT_AGREE;
    report->compared = true;
    for (size_t frame = 0; frame < draw->plan.frame_cnt; frame++) {
        stand_t const *stand = &draw->stands[frame];

        for (size_t step = 0; step < draw->plan.step_cnt[frame]; step++) {
            bool inside = step < stand->end;

            if (!td_plan_is_root(&draw->plan, frame, step) &&
                (inside || !td_plan_is_compile(&draw->plan, frame, step))) {
                continue;
            }
            if (inside) {
                report->internal_error |=
                    outcome_of(&draw->check->runs[TD_SIDE_REFERENCE], frame, step)->internal_error;
            }
            root_add(report, stand->diverges[step] ? TD_VERDICT_DIVERGE
                             : inside              ? TD_VERDICT_AGREE
                                                   : stand->stopper);
        }
    }
    if (draw->differs) {
        report->verdict = TD_VERDICT_DIVERGE;
    }
}

/* The reference broke outside every root: there is nothing to compare. */
static td_status_t
reference_failed(draw_t *draw)
{
    td_report_t *report = &draw->check->report;

    report->why = td_report_keep(draw->check, draw->check->runs[TD_SIDE_REFERENCE].failed);
    for (size_t frame = 0; frame < draw->plan.frame_cnt; frame++) {
        for (size_t step = 0; step < draw->plan.step_cnt[frame]; step++) {
            if (td_plan_is_root(&draw->plan, frame, step)) {
                root_add(report, TD_VERDICT_REFERENCE_FAILED);
            }
        }
    }
    return TD_OK;
}

static td_status_t
prepare(draw_t *draw)
{
    td_arena_t *arena  = &draw->check->arena;
    size_t      roots  = 0;
    size_t      frames = draw->plan.frame_cnt;

    draw->stands = td_arena_alloc(arena, frames * sizeof *draw->stands);
    draw->ends   = td_arena_alloc(arena, frames * sizeof *draw->ends);
    if (draw->stands == NULL || draw->ends == NULL) {
        return TD_NOMEM;
    }
    for (size_t frame = 0; frame < frames; frame++) {
        size_t cnt = draw->plan.step_cnt[frame];

        draw->ends[frame]            = cnt;
        draw->stands[frame].end      = cnt;
        draw->stands[frame].diverges = td_arena_alloc(arena, cnt * sizeof *draw->stands->diverges);
        if (draw->stands[frame].diverges == NULL) {
            return TD_NOMEM;
        }
        for (size_t step = 0; step < cnt; step++) {
            roots += td_plan_is_root(&draw->plan, frame, step) ||
                     td_plan_is_compile(&draw->plan, frame, step);
        }
    }
    draw->check->report.unsupported = td_arena_alloc(arena, (roots + 1) * sizeof(td_unsupported_t));
    draw->check->report.root_verdicts = td_arena_alloc(arena, (roots + 1) * sizeof(td_verdict_t));
    if (draw->check->report.unsupported == NULL || draw->check->report.root_verdicts == NULL) {
        return TD_NOMEM;
    }
    if (roots == 0) {
        draw->check->report.verdict = TD_VERDICT_BAD_INPUT;
        draw->check->report.why     = "the program has no roots";
        return TD_REJECT;
    }
    return TD_OK;
}

static td_status_t
compare_sides(draw_t *draw)
{
    td_status_t status = TD_OK;
    bool        found;

    TD_TRY(find_stops(draw, &found));
    if (found && draw->check->recorded) {
        sum_up(draw); /* a record cannot be cut: nothing of it is compared */
        return TD_OK;
    }
    if (found) {
        TD_TRY(run_cut(draw));
        if (draw->check->runs[TD_SIDE_REFERENCE].failed != NULL) {
            return reference_failed(draw);
        }
    }
    if (!found && all_equal(draw)) {
        sum_up(draw);
        return TD_OK;
    }
    if (!found || anything_left(draw)) {
        if (!all_equal(draw)) {
            TD_TRY(run_again(draw));
        }
        TD_TRY(compare_all(draw)); /* a cut frame's later ones may hang on what was cut */
    }
    sum_up(draw);
done:
    return status;
}

td_status_t
td_verdict_draw(td_check_t *check, td_maker_t const *maker)
{
    td_status_t status;
    draw_t      draw = {.check = check, .maker = maker};

    td_run_recycle(&check->full);
    TD_TRY(td_pair_run(check, maker, NULL, check->runs, &draw.plan));
    status = prepare(&draw);
    if (status == TD_REJECT) {
        return TD_OK; /* bad-input is a verdict */
    }
    if (status != TD_OK) {
        goto done;
    }
    if (check->runs[TD_SIDE_REFERENCE].failed != NULL) {
        return reference_failed(&draw);
    }
    TD_TRY(compare_sides(&draw));
done:
    return status;
}
