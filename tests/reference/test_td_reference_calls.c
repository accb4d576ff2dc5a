/* test_td_reference_calls.c: builder calls inside compile steps, and what is told of them. */
#include "reference_runs.h"

#include "base/td_alloc.h"

static char const sums[] = "[[(('compile', 'frame'), (torch.ones(2), 3)), (x, 5)]]";

static void
contexts_stand_behind_the_frames(void **state)
{
    td_run_t run;

    (void)state;
    assert_int_equal(runs_make(sums, "{}", NULL, &run), TD_OK);
    assert_null(run.failed);
    assert_int_equal(run.frame_cnt, 2);
    assert_int_equal(run.frames[0].outcomes[0].kind, TD_OUTCOME_DO);
    assert_int_equal(run.frames[0].outcomes[1].kind, TD_OUTCOME_TRACKER);
    assert_int_equal(run.frames[1].outcome_cnt, 3);
    assert_string_equal(run.frames[1].outcomes[0].entry, "build");
    assert_string_equal(run.frames[1].outcomes[1].entry, "fxcall");
    assert_null(run.frames[1].records[0]);
    assert_non_null(run.frames[1].records[1]);
    assert_non_null(run.frames[1].bytes);
    td_run_clear(&run);
}

static void
a_limit_cuts_what_is_kept(void **state)
{
    size_t const         none[] = {0, 0}, one[] = {0, 1};
    td_run_limit_t const limits[] = {{none, 2}, {one, 2}};
    td_run_t             run, whole;

    (void)state;
    assert_int_equal(runs_make(sums, "{}", &limits[0], &run), TD_OK);
    assert_int_equal(run.frame_cnt, 2);
    assert_null(run.frames[1].bytes);
    td_run_clear(&run);
    assert_int_equal(runs_make(sums, "{}", NULL, &whole), TD_OK);
    assert_int_equal(runs_make(sums, "{}", &limits[1], &run), TD_OK);
    assert_int_equal(run.frames[1].outcome_cnt, 3);
    assert_true(run.frames[1].bytes_sz < whole.frames[1].bytes_sz);
    td_run_clear(&run);
    td_run_clear(&whole);
}

typedef struct {
    size_t      cnt[3];
    int         left; /* recursion_left of the last call */
    td_status_t answer;
} heard_t;

static td_status_t
hear(void *ctx, td_call_event_t event, td_reference_call_t const *call)
{
    heard_t *heard = ctx;

    heard->cnt[event]++;
    if (event != TD_CALL_END) {
        assert_true(call->wanted);
        assert_non_null(call->state);
        heard->left = call->recursion_left;
    }
    return heard->answer;
}

static void
the_hook_is_told_of_each_call(void **state)
{
    heard_t  heard = {.answer = TD_OK};
    td_run_t run;

    (void)state;
    td_reference_on_call(runs_reference(), hear, &heard);
    assert_int_equal(runs_make(sums, "{}", NULL, &run), TD_OK);
    td_reference_on_call(runs_reference(), NULL, NULL);
    assert_int_equal(heard.cnt[TD_CALL_BEFORE], 3);
    assert_int_equal(heard.cnt[TD_CALL_AFTER], 3);
    assert_int_equal(heard.cnt[TD_CALL_END], 1);
    assert_in_range(heard.left, 500, 990);
    td_run_clear(&run);
}

static void
what_the_hook_answers_ends_the_run(void **state)
{
    heard_t  heard = {.answer = TD_LIMIT};
    td_run_t run;

    (void)state;
    td_reference_on_call(runs_reference(), hear, &heard);
    assert_int_equal(runs_make(sums, "{}", NULL, &run), TD_LIMIT);
    td_reference_on_call(runs_reference(), NULL, NULL);
    assert_int_equal(heard.cnt[TD_CALL_BEFORE], 1);
    assert_int_equal(heard.cnt[TD_CALL_AFTER], 0);
    td_run_clear(&run);
}

static void
nothing_is_kept(void **state)
{
    td_run_t run;
    size_t   before;

    (void)state;
    assert_int_equal(runs_make(sums, "{}", NULL, &run), TD_OK);
    td_run_clear(&run);
    before = td_alloc_live_cnt();
    assert_int_equal(runs_make(sums, "{}", NULL, &run), TD_OK);
    td_run_clear(&run);
    assert_int_equal(td_alloc_live_cnt(), before);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(contexts_stand_behind_the_frames),
        cmocka_unit_test(a_limit_cuts_what_is_kept),
        cmocka_unit_test(the_hook_is_told_of_each_call),
        cmocka_unit_test(what_the_hook_answers_ends_the_run),
        cmocka_unit_test(nothing_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
