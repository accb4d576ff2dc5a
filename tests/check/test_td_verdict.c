/* test_td_verdict.c: verdicts of programs, by a subject that does as it is told.

   The subject here is the reference itself behind a script: it stops at one
   step, lies about one frame, or changes its mind.  So every verdict is drawn by
   the code that draws them for users, over real observations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "check/td_check_private.h"
#include "check/td_render.h"

enum { NEVER = -1 };

/* What the subject does wrong. */
typedef struct {
    int               frame, step; /* where it stops; NEVER: nowhere */
    td_outcome_kind_t kind;        /* as what */
    char const       *why;
    int               lie;   /* frame that it writes another frame's record for */
    bool              moody; /* it lies every second time only */
} script_t;

typedef struct {
    td_side_t  side;
    td_side_t *inner; /* borrowed */
    script_t   script;
    unsigned   run_cnt;
} scripted_t;

static td_check_t *check;
static scripted_t  scripted;

/* ---- the scripted side ------------------------------------------------------------ */

static bool
is_cut(scripted_t const *self, td_run_limit_t const *limit)
{
    size_t frame = (size_t)self->script.frame;

    return limit != NULL && limit->step_cnt[frame] <= (size_t)self->script.step;
}

static void
stop(scripted_t *self, td_run_t *run)
{
    td_run_frame_t *frame = &run->frames[self->script.frame];

    for (size_t step = (size_t)self->script.step; step < frame->outcome_cnt; step++) {
        if (frame->outcomes[step].kind != TD_OUTCOME_DO) {
            frame->outcomes[step].kind = TD_OUTCOME_NOT_RUN;
        }
    }
    frame->outcomes[self->script.step] = (td_outcome_t){.kind     = self->script.kind,
                                                        .arm      = "L1/if/T",
                                                        .why      = self->script.why,
                                                        .function = "scripted"};
}

static td_status_t
scripted_run(td_side_t *side, td_live_t const *live, td_run_limit_t const *limit, td_run_t *run)
{
    scripted_t *self   = (scripted_t *)side;
    td_status_t status = self->inner->run(self->inner, live, limit, run);
    int         lie    = self->script.lie;

    self->run_cnt++;
    if (status == TD_OK && self->script.frame != NEVER && !is_cut(self, limit)) {
        stop(self, run);
    }
    if (status == TD_OK && lie != NEVER && (!self->script.moody || self->run_cnt % 2 == 1)) {
        run->frames[lie].bytes    = run->frames[1 - lie].bytes;
        run->frames[lie].bytes_sz = run->frames[1 - lie].bytes_sz;
    }
    return status;
}

static void
keep_it(td_side_t *side)
{
    (void)side;
}

static int
group_setup(void **state)
{
    td_check_config_t config = {.other_side = "reference", .coverage = true};

    (void)state;
    if (td_check_new(&config, &check) != TD_OK) {
        fprintf(stderr, "%s\n", td_check_why());
        return -1;
    }
    scripted.inner                = check->sides[TD_SIDE_SUBJECT];
    scripted.side.run             = scripted_run;
    scripted.side.free            = keep_it;
    scripted.side.name            = "scripted";
    check->sides[TD_SIDE_SUBJECT] = &scripted.side;
    return 0;
}

static int
group_teardown(void **state)
{
    (void)state;
    check->sides[TD_SIDE_SUBJECT] = scripted.inner;
    td_check_free(check);
    return 0;
}

/* ---- programs ------------------------------------------------------------------------ */

#define HEAD "tandem 1\n"
static char const two_frames[] = HEAD "%0 = str \"a\"\n"
                                      "%1 = str \"b\"\n"
                                      "frame\n"
                                      "  root build local(\"x\") %0\n"
                                      "  root build local(\"y\") %1\n"
                                      "  root build local(\"z\") %0\n"
                                      "frame\n"
                                      "  root build local(\"x\") %1\n";
/* A static tensor's sizes go into the frame state. */
static char const with_state[] = HEAD "%0 = str \"a\"\n"
                                      "%1 = tensor float32[2]\n"
                                      "frame\n"
                                      "  root build local(\"x\") %0\n"
                                      "  root build local(\"t\") %1\n"
                                      "frame\n"
                                      "  root build local(\"x\") %0\n";
static char const with_do[]    = HEAD "%0 = list\n"
                                      "%1 = str \"a\"\n"
                                      "frame\n"
                                      "  root build local(\"x\") %0\n"
                                      "  do append %0 %1\n"
                                      "  root build local(\"y\") %0\n"
                                      "frame\n"
                                      "  root build local(\"x\") %0\n";

static td_report_t const *
judge(char const *text, script_t script)
{
    td_prog_t          prog;
    td_refusal_t       refusal = {.what = ""};
    td_report_t const *report  = NULL;

    scripted.script  = script;
    scripted.run_cnt = 0;
    td_prog_init(&prog);
    if (td_prog_asm(text, strlen(text), &prog, &refusal) != TD_OK) {
        fail_msg("%d:%d: %s", refusal.line, refusal.column, refusal.what);
    }
    if (td_check_program(check, &prog, true, &report) != TD_OK) {
        fail_msg("%s", td_check_why());
    }
    td_prog_clear(&prog);
    return report;
}

/* One letter a root: Agree, Unsupported, Poisoned, Diverge. */
static void
roots_text(td_report_t const *report, char *text)
{
    for (size_t root = 0; root < report->root_cnt; root++) {
        text[root] = "APURDB"[report->root_verdicts[root]];
    }
    text[report->root_cnt] = '\0';
}

/* ---- verdicts -------------------------------------------------------------------------- */

#define HONEST                        \
    {                                 \
        NEVER, 0, 0, "", NEVER, false \
    }
#define STOPS(f, s)                                             \
    {                                                           \
        f, s, TD_OUTCOME_UNSUPPORTED, "not there", NEVER, false \
    }
#define POISON(why)                                  \
    {                                                \
        0, 1, TD_OUTCOME_POISONED, why, NEVER, false \
    }

static struct {
    char const  *text;
    script_t     script;
    td_verdict_t verdict;
    char const  *roots;
    bool         compared;
} const cases[] = {
    {two_frames, HONEST, TD_VERDICT_AGREE, "AAAA", true},
    /* What came before the stop is compared, and frames that do not hang on it. */
    {two_frames, STOPS(0, 0), TD_VERDICT_SUBJECT_UNSUPPORTED, "UUUA", false},
    {two_frames, STOPS(0, 1), TD_VERDICT_SUBJECT_UNSUPPORTED, "AUUA", false},
    {two_frames, STOPS(1, 0), TD_VERDICT_SUBJECT_UNSUPPORTED, "AAAU", false},
    /* The tensor's root writes the frame state, the string's does not. */
    {with_state, STOPS(0, 1), TD_VERDICT_SUBJECT_UNSUPPORTED, "AUU", false},
    {with_state, STOPS(0, 0), TD_VERDICT_SUBJECT_UNSUPPORTED, "UUU", false},
    {with_do, STOPS(0, 2), TD_VERDICT_SUBJECT_UNSUPPORTED, "AUA", false},
    {with_do, HONEST, TD_VERDICT_AGREE, "AAA", true},
    /* There are three reasons to be poisoned; another one is an excuse. */
    {two_frames, POISON("recursion-band"), TD_VERDICT_POISONED, "APPA", false},
    {two_frames, POISON("out-of-memory"), TD_VERDICT_POISONED, "APPA", false},
    {two_frames, POISON("timeout"), TD_VERDICT_POISONED, "APPA", false},
    {two_frames, POISON("tired"), TD_VERDICT_DIVERGE, "ADDA", true},
    /* A lie after a stop in another frame still comes out. */
    {two_frames, {NEVER, 0, 0, "", 1, false}, TD_VERDICT_DIVERGE, "AAAD", true},
};

static void
test_verdicts(void **state)
{
    (void)state;
    for (size_t idx = 0; idx < sizeof cases / sizeof *cases; idx++) {
        char               roots[64];
        td_report_t const *report = judge(cases[idx].text, cases[idx].script);

        roots_text(report, roots);
        if (report->verdict != cases[idx].verdict || strcmp(roots, cases[idx].roots) != 0 ||
            report->compared != cases[idx].compared) {
            fail_msg("case %zu: %s, roots %s, compared %d", idx, td_verdict_text(report->verdict),
                     roots, report->compared);
        }
    }
}

static void
test_unsupported_is_named(void **state)
{
    script_t const     script = STOPS(0, 2);
    td_report_t const *report = judge(with_do, script);

    (void)state;
    assert_int_equal(report->unsupported_cnt, 1);
    assert_int_equal(report->unsupported[0].frame, 0);
    assert_int_equal(report->unsupported[0].root, 1); /* do steps are no roots */
    assert_string_equal(report->unsupported[0].arm, "L1/if/T");
    assert_string_equal(report->unsupported[0].why, "not there");
    assert_null(report->signature);
    assert_int_equal(report->divergence_cnt, 0);
}

static void
test_a_divergence_has_an_address(void **state)
{
    script_t const         script = {NEVER, 0, 0, "", 1, false};
    td_report_t const     *report = judge(two_frames, script);
    td_divergence_t const *first  = &report->divergences[0];

    (void)state;
    assert_true(report->divergence_cnt > 0);
    assert_int_equal(strncmp(first->path, "frames[1].roots", 15), 0);
    assert_non_null(strchr(first->field, '.'));
    assert_int_equal(strlen(report->signature_hash), 8);
    assert_non_null(strstr(report->signature, first->field));
    assert_non_null(strstr(report->headline, first->field));
    assert_string_equal(td_render_class(report), "diverge");
    assert_non_null(strstr(td_render_text(check, report), first->path));
    assert_non_null(strstr(td_render_json(check, report), report->signature_hash));
    assert_non_null(report->reference_json);
    assert_non_null(report->subject_json);
}

static void
test_who_disagrees_with_itself_is_flaky(void **state)
{
    script_t const     script = {NEVER, 0, 0, "", 0, true};
    td_report_t const *report = judge(two_frames, script);

    (void)state;
    assert_true(report->flaky);
    assert_non_null(strstr(report->why, "subject disagrees with itself"));
    assert_string_equal(td_render_class(report), "flaky");
}

static void
test_the_same_again_after_all_that(void **state)
{
    script_t const     script = HONEST;
    td_report_t const *report = judge(two_frames, script);

    (void)state;
    assert_int_equal(report->verdict, TD_VERDICT_AGREE);
    assert_false(report->flaky);
    assert_string_equal(report->signature_hash, "");
    assert_null(td_render_class(report));
}

/* ---- recorded frames and one side alone --------------------------------------------------- */

static void
test_recorded_frames_stand_in(void **state)
{
    td_prog_t           prog;
    td_refusal_t        refusal;
    td_shown_t const   *shown;
    td_report_t const  *report;
    td_recorded_frame_t recorded[2];
    uint8_t            *copies[2];
    script_t const      honest = HONEST;

    (void)state;
    scripted.script = honest;
    td_prog_init(&prog);
    assert_int_equal(td_prog_asm(two_frames, strlen(two_frames), &prog, &refusal), TD_OK);
    assert_int_equal(td_check_show(check, &prog, TD_SIDE_REFERENCE, &shown), TD_OK);
    assert_true(shown->built);
    assert_int_equal(shown->frame_cnt, 2);
    for (size_t frame = 0; frame < 2; frame++) {
        copies[frame] = test_malloc(shown->frame_szs[frame]);
        memcpy(copies[frame], shown->frames[frame], shown->frame_szs[frame]);
        recorded[frame] =
            (td_recorded_frame_t){.bytes = copies[frame], .bytes_sz = shown->frame_szs[frame]};
    }
    assert_int_equal(td_check_recorded(check, &prog, recorded, 2, false, &report), TD_OK);
    assert_int_equal(report->verdict, TD_VERDICT_AGREE);
    recorded[0] = recorded[1];
    assert_int_equal(td_check_recorded(check, &prog, recorded, 2, false, &report), TD_OK);
    assert_int_equal(report->verdict, TD_VERDICT_DIVERGE);
    assert_int_equal(td_check_recorded(check, &prog, recorded, 1, false, &report), TD_REJECT);
    test_free(copies[0]);
    test_free(copies[1]);
    td_prog_clear(&prog);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_unsupported_is_named),
        cmocka_unit_test(test_a_divergence_has_an_address),
        cmocka_unit_test(test_who_disagrees_with_itself_is_flaky),
        cmocka_unit_test(test_the_same_again_after_all_that),
        cmocka_unit_test(test_recorded_frames_stand_in),
    };

    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
