/* td_check.c: setting the process up, and the room's entry points. */
#include "base/td_alloc.h"
#include "check/td_check_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "py/td_py_boot.h"
#include "py/td_py_error.h"

char const *
td_verdict_text(td_verdict_t verdict)
{
    static char const *const texts[] = {
#define X(name, text) text,
        TD_VERDICT_LIST(X)
#undef X
    };

    return (size_t)verdict < sizeof texts / sizeof *texts ? texts[verdict] : "unknown";
}

/* One line about the last failure; a process has one check at a time. */
static char check_why[512];

char const *
td_check_why(void)
{
    return check_why;
}

td_status_t
td_check_fail(td_status_t status, char const *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(check_why, sizeof check_why, format, args);
    va_end(args);
    return status;
}

/* ---- set-up ---------------------------------------------------------------- */

static td_status_t
start_python(void)
{
    td_status_t status = td_py_boot(NULL);

    return status == TD_OK ? TD_OK : td_check_fail(status, "%s", td_py_boot_why());
}

static td_status_t
start_reference(td_check_t *check, td_check_config_t const *config)
{
    td_status_t status = td_reference_new(config->builder, &check->reference);

    if (status == TD_PYERR) {
        char text[400];

        td_py_error_text(text, sizeof text);
        return td_check_fail(TD_INTERNAL, "the reference cannot be loaded: %s", text);
    }
    return status == TD_OK ? TD_OK : td_check_fail(status, "%s", td_reference_why());
}

static td_status_t
choose_revision(td_check_t *check, char const *wanted, char const **revision)
{
    *revision = td_reference_revision(check->reference, NULL);
    if (wanted == NULL || strcmp(wanted, "auto") == 0) {
        return TD_OK;
    }
    if (strcmp(wanted, "mission") != 0 && strcmp(wanted, "installed") != 0) {
        return td_check_fail(TD_REJECT, "revision '%s' is none of mission, installed, auto",
                             wanted);
    }
    *revision = wanted[0] == 'm' ? "mission" : "installed";
    return TD_OK;
}

static td_status_t
start_sides(td_check_t *check, td_check_config_t const *config)
{
    td_status_t status;
    char        why[sizeof check_why];
    char const *other   = config->other_side == NULL ? "subject" : config->other_side;
    bool        subject = strcmp(other, "subject") == 0;

    check->swapped = strcmp(other, "reference-swapped") == 0;
    if (!subject && !check->swapped && strcmp(other, "reference") != 0) {
        return td_check_fail(TD_REJECT, "there is no side called '%s'", other);
    }
    TD_TRY(choose_revision(check, config->revision, &check->revision));
    check->sides[TD_SIDE_REFERENCE] = td_side_reference_new(check->reference);
    if (subject) {
        check->sides[TD_SIDE_SUBJECT] = td_side_subject_new(config->subject_path, check->revision,
                                                            check->reference, why, sizeof why);
    } else {
        check->sides[TD_SIDE_SUBJECT] = td_side_reference_new(check->reference);
    }
    if (check->sides[TD_SIDE_SUBJECT] == NULL) {
        status = subject ? td_check_fail(TD_REJECT, "%s", why)
                         : td_check_fail(TD_NOMEM, "out of memory");
    }
done:
    return status;
}

td_status_t
td_check_new(td_check_config_t const *config, td_check_t **out)
{
    td_status_t status;
    td_check_t *check = td_calloc(1, sizeof *check); /* owned, returned */

    *out = NULL;
    if (check == NULL) {
        return td_check_fail(TD_NOMEM, "out of memory");
    }
    td_arena_init(&check->arena);
    for (size_t which = 0; which < TD_SIDE_CNT; which++) {
        td_run_init(&check->runs[which]);
        td_run_init(&check->again[which]);
    }
    td_run_init(&check->full);
    check->coverage = config->coverage;
    check->obs      = td_obs_new();
    if (check->obs == NULL) {
        status = td_check_fail(TD_NOMEM, "out of memory");
        goto done;
    }
    TD_TRY(start_python());
    TD_TRY(start_reference(check, config));
    TD_TRY(start_sides(check, config));
    *out  = check;
    check = NULL;
done:
    td_check_free(check);
    return status;
}

void
td_check_free(td_check_t *check)
{
    if (check == NULL) {
        return;
    }
    for (size_t which = 0; which < TD_SIDE_CNT; which++) {
        if (check->sides[which] != NULL) {
            check->sides[which]->free(check->sides[which]);
        }
        td_run_clear(&check->runs[which]);
        td_run_clear(&check->again[which]);
    }
    td_run_clear(&check->full);
    td_reference_free(check->reference);
    td_obs_free(check->obs);
    td_arena_clear(&check->arena);
    td_free(check);
}

/* "L410/if/T" is an arm, "tensor" is a word. */
static bool
is_arm(char const *word)
{
    return word[0] == 'L' && word[1] >= '0' && word[1] <= '9';
}

td_status_t
td_check_done(char const *subject_path, char *list, size_t list_sz)
{
    td_status_t status = TD_OK;
    size_t      at     = 0;
    char        why[sizeof check_why];
    td_side_t  *side = td_side_subject_new(subject_path, "mission", NULL, why, sizeof why);
    td_abi_subject_v1 const *table = side == NULL ? NULL : td_side_subject_table(side);

    if (side == NULL) {
        return td_check_fail(TD_REJECT, "%s", why);
    }
    list[0] = '\0';
    for (size_t idx = 0; status == TD_OK && idx < table->done_cnt; idx++) {
        char const *word = table->done[idx];

        if (!is_arm(word)) {
            at += (size_t)snprintf(list + at, list_sz - at, "%s%s", at == 0 ? "" : ",", word);
            status =
                at >= list_sz ? td_check_fail(TD_LIMIT, "the subject's list is too long") : TD_OK;
        }
    }
    side->free(side);
    return status;
}

/* ---- what was loaded --------------------------------------------------------- */

char const *
td_check_revision(td_check_t const *check, int *distance)
{
    td_reference_revision(check->reference, distance);
    return check->revision;
}

char const *
td_check_builder(td_check_t const *check)
{
    return td_reference_builder(check->reference);
}

char const *
td_check_torch(td_check_t const *check)
{
    return td_reference_torch(check->reference);
}

char const *
td_check_subject(td_check_t const *check)
{
    td_abi_subject_v1 const *table = td_side_subject_table(check->sides[TD_SIDE_SUBJECT]);

    return table == NULL ? "reference" : table->name;
}

size_t
td_check_arm_cnt(td_check_t const *check)
{
    return td_reference_arm_cnt(check->reference);
}

char const *
td_check_arm_id(td_check_t const *check, size_t idx)
{
    return td_reference_arm_id(check->reference, idx);
}

td_reference_t *
td_check_reference(td_check_t *check)
{
    return check->reference;
}

/* ---- hooks for tests ----------------------------------------------------------- */

void
td_check_lie(td_check_t *check, td_which_t which, td_lie_hook_t lie, void *ctx)
{
    check->lie[which]     = lie;
    check->lie_ctx[which] = ctx;
}

void
td_check_deaf(td_check_t *check, bool deaf)
{
    check->deaf = deaf;
}

/* ---- judging -------------------------------------------------------------------- */

/* A Python exception that no caller can see as one becomes our own failure. */
static td_status_t
describe(td_check_t *check, td_status_t status, bool keep_exception)
{
    char        text[400];
    char const *why;

    if (status == TD_PYERR && !keep_exception) {
        td_py_error_text(text, sizeof text);
        return td_check_fail(TD_INTERNAL, "%s", text);
    }
    why = check->sides[TD_SIDE_SUBJECT]->why[0] != '\0' ? check->sides[TD_SIDE_SUBJECT]->why
                                                        : check->sides[TD_SIDE_REFERENCE]->why;
    if (status != TD_OK && status != TD_PYERR) {
        td_check_fail(status, "%s", why[0] != '\0' ? why : td_status_text(status));
    }
    return status;
}

static void
report_clear(td_check_t *check)
{
    td_arena_reset(&check->arena);
    memset(&check->report, 0, sizeof check->report);
    memset(&check->shown, 0, sizeof check->shown);
    check->report.why                       = "";
    check->report.headline                  = "";
    check->sides[TD_SIDE_REFERENCE]->why[0] = '\0';
    check->sides[TD_SIDE_SUBJECT]->why[0]   = '\0';
}

static td_status_t
judge(td_check_t *check, td_maker_t const *maker, bool observations, td_report_t const **report)
{
    td_status_t status;
    int         collects = PyGC_Disable(); /* garbage goes by the rhythms of reset alone */

    report_clear(check);
    check->making_ns = 0;
    TD_TRY(td_verdict_draw(check, maker));
    if (check->coverage) {
        check->report.arms =
            check->full.frames == NULL ? check->runs[TD_SIDE_REFERENCE].arms : check->full.arms;
    }
    if (observations) {
        TD_TRY(td_report_observations(
            check, check->full.frames == NULL ? &check->runs[TD_SIDE_REFERENCE] : &check->full,
            &check->runs[TD_SIDE_SUBJECT]));
    }
    *report = &check->report;
done:
    if (collects) {
        PyGC_Enable();
    }
    return describe(check, status, maker->in != NULL);
}

td_status_t
td_check_program(td_check_t *check, td_prog_t const *prog, bool observations,
                 td_report_t const **report)
{
    td_maker_t maker = {.prog = prog};

    return judge(check, &maker, observations, report);
}

td_status_t
td_check_recorded(td_check_t *check, td_prog_t const *prog, td_recorded_frame_t const *frames,
                  size_t frame_cnt, bool observations, td_report_t const **report)
{
    td_status_t status;
    td_maker_t  maker     = {.prog = prog};
    td_side_t  *reference = check->sides[TD_SIDE_REFERENCE];
    td_side_t  *recorded  = td_side_recorded_new(); /* owned */

    if (recorded == NULL) {
        return td_check_fail(TD_NOMEM, "out of memory");
    }
    td_side_recorded_set(recorded, frames, frame_cnt);
    check->sides[TD_SIDE_REFERENCE] = recorded;
    check->recorded                 = true;
    status                          = judge(check, &maker, observations, report);
    check->recorded                 = false;
    check->sides[TD_SIDE_REFERENCE] = reference;
    recorded->free(recorded);
    return status;
}

td_status_t
td_check_case(td_check_t *check, td_case_t const *in, bool observations, td_report_t const **report)
{
    td_maker_t maker = {.in = in};

    return judge(check, &maker, observations, report);
}

/* ---- one side alone ------------------------------------------------------------ */

static char const *
not_built(td_check_t *check, td_run_t const *run)
{
    for (size_t frame = 0; frame < run->frame_cnt; frame++) {
        for (size_t step = 0; step < run->frames[frame].outcome_cnt; step++) {
            td_outcome_t const *outcome = &run->frames[frame].outcomes[step];

            if (outcome->kind == TD_OUTCOME_UNSUPPORTED || outcome->kind == TD_OUTCOME_POISONED) {
                return td_report_keepf(check, "frame %zu, root %zu: %s: %s (%s)", frame, step,
                                       outcome->kind == TD_OUTCOME_POISONED ? "poisoned"
                                                                            : "subject-unsupported",
                                       outcome->why, outcome->arm);
            }
        }
    }
    return "";
}

static td_status_t
show(td_check_t *check, td_maker_t const *maker, td_which_t which, td_shown_t const **out)
{
    td_status_t status;
    td_run_t   *run   = &check->runs[which];
    td_shown_t *shown = &check->shown;

    report_clear(check);
    TD_TRY(td_pair_run_one(check, maker, which, run));
    shown->why          = run->failed != NULL ? run->failed : not_built(check, run);
    shown->built        = shown->why[0] == '\0';
    shown->frame_cnt    = run->frame_cnt;
    uint8_t const **all = td_arena_alloc(&check->arena, (run->frame_cnt + 1) * sizeof *all);
    size_t         *szs = td_arena_alloc(&check->arena, (run->frame_cnt + 1) * sizeof *szs);
    if (all == NULL || szs == NULL) {
        status = TD_NOMEM;
        goto done;
    }
    for (size_t frame = 0; frame < run->frame_cnt; frame++) {
        all[frame] = run->frames[frame].bytes;
        szs[frame] = run->frames[frame].bytes_sz;
    }
    shown->frames    = all;
    shown->frame_szs = szs;
    shown->runs      = run->frames;
    TD_TRY(td_report_json(check, run, &shown->json));
    TD_TRY(td_report_tree(check, run, &shown->tree));
    *out = shown;
done:
    return describe(check, status, maker->in != NULL);
}

td_status_t
td_check_show(td_check_t *check, td_prog_t const *prog, td_which_t which, td_shown_t const **shown)
{
    td_maker_t maker = {.prog = prog};

    return show(check, &maker, which, shown);
}

td_status_t
td_check_show_case(td_check_t *check, td_case_t const *in, td_which_t which,
                   td_shown_t const **shown)
{
    td_maker_t maker = {.in = in};

    return show(check, &maker, which, shown);
}

td_status_t
td_check_quiet(td_check_t *check, td_prog_t const *prog, bool with_records, char const **why)
{
    td_maker_t maker = {.prog = prog};

    report_clear(check);
    return describe(check, td_quiet_run(check, &maker, with_records, why), false);
}
