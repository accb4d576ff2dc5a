/* test_td_run.c: a run owns its memory and gives all of it back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/td_alloc.h"
#include "observe/td_run.h"

static void
a_cleared_run_is_empty(void **state)
{
    int64_t  before = td_alloc_live_cnt();
    td_run_t run;

    (void)state;
    td_run_init(&run);
    run.frames    = td_arena_alloc(&run.arena, sizeof *run.frames);
    run.frame_cnt = 1;
    run.failed    = td_arena_dup(&run.arena, "why", 3);
    run.arms[3]   = 5;
    td_run_clear(&run);
    assert_int_equal(td_alloc_live_cnt(), before);
    assert_null(run.frames);
    assert_null(run.failed);
    assert_int_equal(run.frame_cnt, 0);
    assert_int_equal(run.arms[3], 0);
    td_run_clear(&run);
    assert_int_equal(td_alloc_live_cnt(), before);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {cmocka_unit_test(a_cleared_run_is_empty)};

    return cmocka_run_group_tests_name("observe.td_run", tests, NULL, NULL);
}
