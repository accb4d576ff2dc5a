/* test_td_alloc.c: blocks are counted, and the armed one fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/td_alloc.h"

static void
blocks_are_counted(void **state)
{
    int64_t before = td_alloc_live_cnt();
    char   *first, *second;

    (void)state;
    first  = td_malloc(0);
    second = td_calloc(3, 5);
    assert_non_null(first);
    assert_non_null(second);
    assert_int_equal(td_alloc_live_cnt(), before + 2);
    for (int i = 0; i < 15; i++) {
        assert_int_equal(second[i], 0);
    }
    second = td_realloc(second, 1000);
    assert_int_equal(td_alloc_live_cnt(), before + 2);
    first = td_realloc(first, 10);
    td_free(first);
    td_free(second);
    td_free(NULL);
    assert_int_equal(td_alloc_live_cnt(), before);
    first = td_realloc(NULL, 4);
    assert_int_equal(td_alloc_live_cnt(), before + 1);
    td_free(first);
}

static void
the_armed_allocation_fails_once(void **state)
{
    void *blocks[4];

    (void)state;
    td_nomem_arm(2);
    blocks[0] = td_malloc(8);
    blocks[1] = td_calloc(1, 8);
    blocks[2] = td_realloc(blocks[0], 16);
    assert_non_null(blocks[0]);
    assert_null(blocks[1]);
    assert_non_null(blocks[2]);
    assert_true(td_nomem_disarm());
    td_nomem_arm(1);
    assert_null(td_realloc(blocks[2], 32)); /* the block stays */
    memset(blocks[2], 1, 16);
    assert_true(td_nomem_disarm());
    td_free(blocks[2]);
}

static void
what_was_not_reached_did_not_strike(void **state)
{
    void *block;

    (void)state;
    td_nomem_arm(2);
    block = td_malloc(1);
    assert_false(td_nomem_disarm());
    td_free(block);
    block = td_malloc(1); /* no longer armed */
    assert_non_null(block);
    td_free(block);
}

static void
what_overflows_is_refused(void **state)
{
    size_t volatile many = SIZE_MAX / 2; /* out of sight of the compiler, which knows better */

    (void)state;
    assert_null(td_calloc(many, 3));
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(blocks_are_counted),
        cmocka_unit_test(the_armed_allocation_fails_once),
        cmocka_unit_test(what_was_not_reached_did_not_strike),
        cmocka_unit_test(what_overflows_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
