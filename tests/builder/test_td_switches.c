/* test_td_switches.c: each revision has the switches that its column says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "builder/td_switches.h"

static void
a_revision_has_its_column(void **state)
{
    td_switches_t of_mission   = 0;
    td_switches_t of_installed = 0;

    (void)state;
    assert_true(td_switches_find("mission", &of_mission));
    assert_true(td_switches_find("installed", &of_installed));
#define X(name, mission, installed, what, program)                              \
    assert_int_equal(td_switches_has(of_mission, TD_SWITCH_##name), (mission)); \
    assert_int_equal(td_switches_has(of_installed, TD_SWITCH_##name), (installed));
#include "builder/switches.def"
#undef X
}

static void
a_switch_is_on_in_one_revision(void **state)
{
    td_switches_t of_mission   = 0;
    td_switches_t of_installed = 0;

    (void)state;
    assert_true(td_switches_find("mission", &of_mission));
    assert_true(td_switches_find("installed", &of_installed));
    assert_int_equal(of_mission & of_installed, 0);
    assert_int_equal(of_mission | of_installed, (UINT64_C(1) << TD_SWITCH_CNT) - 1);
}

static void
another_word_is_no_revision(void **state)
{
    td_switches_t switches = 5;

    (void)state;
    assert_false(td_switches_find("", &switches));
    assert_false(td_switches_find("auto", &switches));
    assert_false(td_switches_find("missions", &switches));
    assert_int_equal(switches, 5);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_revision_has_its_column),
        cmocka_unit_test(a_switch_is_on_in_one_revision),
        cmocka_unit_test(another_word_is_no_revision),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
