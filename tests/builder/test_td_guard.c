/* test_td_guard.c: guards keep their numbers, and kinds their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/td_alloc.h"
#include "builder/td_guard.h"

static void
numbers_begin_at_one_and_stay(void **state)
{
    td_guards_t guards;

    (void)state;
    td_guards_init(&guards);
    for (uint32_t i = 1; i <= 200; i++) {
        td_guard_t guard = {.source = i, .kind = TD_GUARD_TYPE_MATCH};

        assert_int_equal(td_guard_add(&guards, &guard), i);
    }
    assert_int_equal(guards.guards[150].source, 150);
    td_guards_clear(&guards);
}

static void
no_memory_is_no_guard(void **state)
{
    td_guards_t guards;
    td_guard_t  guard = {.source = 1};

    (void)state;
    td_guards_init(&guards);
    td_nomem_arm(1);
    assert_int_equal(td_guard_add(&guards, &guard), 0);
    assert_true(td_nomem_disarm());
    assert_int_equal(td_guard_add(&guards, &guard), 1);
    td_guards_clear(&guards);
}

static void
kinds_are_spelled_as_the_reference_spells_them(void **state)
{
    (void)state;
    assert_string_equal(td_guard_kind_name(TD_GUARD_TENSOR_MATCH), "TENSOR_MATCH");
    assert_string_equal(td_guard_kind_name(TD_GUARD_NONE), "");
    assert_string_equal(td_guard_kind_name(TD_GUARD_KIND_CNT), "");
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(numbers_begin_at_one_and_stay),
        cmocka_unit_test(no_memory_is_no_guard),
        cmocka_unit_test(kinds_are_spelled_as_the_reference_spells_them),
    };

    return cmocka_run_group_tests_name("builder.td_guard", tests, NULL, NULL);
}
