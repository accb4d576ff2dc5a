/* test_td_shadow.c: what would become dynamic is seen, and what objects hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen/td_shadow.h"
#include "gen_programs.h"

/* Whether some root of the program drifts. */
static struct {
    bool        drifts;
    char const *lines;
} const rows[] = {
    /* The same name with another int, in another frame or in the same. */
    {true, "%0 = int 5\n%1 = int 6\nframe\nroot build local(\"x\") %0\nframe\nroot build "
           "local(\"x\") %1\n"},
    {true,
     "%0 = int 5\n%1 = int 6\nframe\nroot build local(\"x\") %0\nroot build cell(\"x\") %1\n"},
    {false, "%0 = int 5\n%1 = int 6\nframe\nroot build local(\"x\") %0\nframe\nroot build "
            "local(\"y\") %1\n"},
    {false, "%0 = int 5\n%1 = int 5\nframe\nroot build local(\"x\") %0\nframe\nroot build "
            "local(\"x\") %1\n"},
    /* 0 and 1 are special, globals too. */
    {false, "%0 = int 0\n%1 = int 1\nframe\nroot build local(\"x\") %0\nframe\nroot build "
            "local(\"x\") %1\n"},
    {false, "%0 = int 5\n%1 = int 6\nframe\nroot build global(\"x\") %0\nframe\nroot build "
            "global(\"x\") %1\n"},
    /* Config values that decide. */
    {false, "config specialize_int = True\n%0 = int 5\n%1 = int 6\nframe\nroot build local(\"x\") "
            "%0\nframe\n"
            "root build local(\"x\") %1\n"},
    {false, "config automatic_dynamic_shapes = False\n%0 = int 5\n%1 = int 6\nframe\n"
            "root build local(\"x\") %0\nframe\nroot build local(\"x\") %1\n"},
    {true,
     "config assume_static_by_default = False\n%0 = int 5\nframe\nroot build local(\"x\") %0\n"},
    {false,
     "config assume_static_by_default = False\nconfig specialize_int = True\n%0 = int 5\n"
     "%1 = tensor float32[]\nframe\nroot build local(\"x\") %0\nroot build local(\"y\") %1\n"},
    {true, "config assume_static_by_default = False\n%0 = tensor float32[3]\nframe\nroot build "
           "local(\"x\") %0\n"},
    {true, "config force_unspec_int_unbacked_size_like = True\n%0 = int 1\nframe\nroot build "
           "global(\"x\") %0\n"},
    /* Tensors: sizes and ranks, and a tensor where an int was. */
    {true,
     "%0 = tensor float32[3]\n%1 = tensor float32[4]\nframe\nroot build global(\"x\") %0\nframe\n"
     "root build global(\"x\") %1\n"},
    {true,
     "%0 = tensor float32[3]\n%1 = tensor float32[3, 1]\nframe\nroot build local(\"x\") %0\nframe\n"
     "root build local(\"x\") %1\n"},
    {false, "%0 = tensor float32[3]\n%1 = tensor int8[3] strided\nframe\nroot build local(\"x\") "
            "%0\nframe\n"
            "root build local(\"x\") %1\n"},
    {true, "%0 = tensor float32[3]\n%1 = int 3\nframe\nroot build local(\"x\") %0\nframe\n"
           "root build local(\"x\") %1\n"},
    /* Inside containers, by the names that the builder gives. */
    {true, "%0 = int 5\n%1 = list %0\n%2 = int 6\n%3 = int 0\nframe\nroot build local(\"x\") %1\n"
           "root build item(local(\"x\"), %3) %2\n"},
    {false, "%0 = int 5\n%1 = list %0\n%2 = int 6\n%3 = int 1\nframe\nroot build local(\"x\") %1\n"
            "root build item(local(\"x\"), %3) %2\n"},
    {true, "%0 = int 5\n%1 = str \"w\"\n%2 = dict %1: %0\n%3 = int 6\nframe\nroot build "
           "local(\"x\") %2\nframe\n"
           "root build item(local(\"x\"), %1) %3\n"},
    {true, "%0 = range 2 9 3\n%1 = int 4\nframe\nroot build local(\"x\") %0\n"
           "root build attr(local(\"x\"), \"start\") %1\n"},
    {false, "%0 = range 2 9 3\n%1 = int 9\nframe\nroot build local(\"x\") %0\n"
            "root build attr(local(\"x\"), \"stop\") %1\n"},
    {true, "%0 = size [2, 3]\n%1 = size [2, 4]\nframe\nroot build local(\"x\") %0\nframe\n"
           "root build local(\"x\") %1\n"},
    {true, "%0 = int 5\n%1 = int 6\nframe\nroot build attr(attr(local(\"x\"), \"a\"), \"b\") %0\n"
           "root build attr(local(\"x\"), \"a.b\") %1\n"},
    {true, "%0 = int 5\n%1 = int 6\nframe\nroot build notnn(local(\"x\")) %0\nroot build "
           "local(\"x\") %1\n"},
    {true, "%0 = str \"k\"\n%1 = int 5\n%2 = ordered_dict %0: %1\n%3 = odict_values %2\n%4 = int "
           "6\n%5 = int 0\n"
           "frame\nroot build local(\"x\") %3\nroot build item(local(\"x\"), %5) %4\n"},
    /* Changes are followed. */
    {true, "%0 = int 5\n%1 = list %0\n%2 = int 6\n%3 = int 0\nframe\nroot build local(\"x\") %1\n"
           "do setitem %1 %3 %2\nframe\nroot build local(\"x\") %1\n"},
    {false, "%0 = int 5\n%1 = list %0\n%2 = int 6\nframe\nroot build local(\"x\") %1\ndo append %1 "
            "%2\nframe\n"
            "root build local(\"x\") %1\n"},
    {true, "%0 = int 5\n%1 = int 6\n%2 = list %0 %1\nframe\nroot build local(\"x\") %2\ndo reverse "
           "%2\nframe\n"
           "root build local(\"x\") %2\n"},
    {false,
     "%0 = int 5\n%1 = int 6\n%2 = list %0 %1\nframe\nroot build local(\"x\") %2\ndo reverse %2\n"
     "do reverse %2\ndo clear %2\nframe\nroot build local(\"x\") %2\n"},
    {true,
     "%0 = str \"k\"\n%1 = int 5\n%2 = dict %0: %1\n%3 = int 6\nframe\nroot build local(\"x\") %2\n"
     "do setitem %2 %0 %3\nframe\nroot build local(\"x\") %2\n"},
    {false,
     "%0 = str \"k\"\n%1 = int 5\n%2 = dict %0: %1\n%3 = int 6\nframe\nroot build local(\"x\") %2\n"
     "do delitem %2 %0\nframe\nroot build local(\"x\") %2\n"},
    {true, "%0 = list\n%1 = str \"k\"\n%2 = int 5\ndo append %0 %2\ndo setitem %0 %1 %2\nframe\n"
           "root build local(\"x\") %0\n"}, /* not followed: a list has no such index */
    /* A cycle has no end. */
    {true, "%0 = list\n%1 = list %0\ndo append %0 %1\nframe\nroot build local(\"x\") %0\n"},
};

static bool
program_drifts(td_prog_t const *prog)
{
    td_weights_t weights;
    bool         allowed = false;

    td_weights_init(&weights);
    weights.drift_percent = 0;
    assert_int_equal(td_trim_allowed(prog, &weights, &allowed), TD_OK);
    return !allowed;
}

static void
what_becomes_dynamic_is_seen(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        td_prog_t prog = program(rows[i].lines);

        if (program_drifts(&prog) != rows[i].drifts) {
            print_error("%s\n", rows[i].lines);
        }
        assert_int_equal(program_drifts(&prog), rows[i].drifts);
        td_prog_clear(&prog);
    }
}

static void
contents_follow_changes(void **state)
{
    td_prog_t prog =
        program("%0 = int 5\n%1 = int 1\n%2 = list %0 %0\n%3 = dict %0: %1, %1: %0\n%4 = list %2\n"
                "do append %2 %1\ndo delitem %2 %1\ndo delitem %3 %0\ndo setitem %3 %0 %2\n"
                "frame\nroot build local(\"x\") %2\n");
    td_shadow_t shadow;

    (void)state;
    td_shadow_init(&shadow, &prog);
    td_shadow_follow(&shadow);
    for (uint32_t i = 0; i < 4; i++) {
        td_shadow_change(&shadow, &prog.steps[i]);
    }
    assert_int_equal(td_shadow_items(&shadow, 2)->cnt, 2); /* %0 %1 */
    assert_int_equal(td_shadow_items(&shadow, 2)->items[1], 1);
    assert_int_equal(td_shadow_items(&shadow, 3)->cnt, 4); /* %1: %0, %0: %2 */
    assert_int_equal(td_shadow_items(&shadow, 3)->items[0], 1);
    assert_int_equal(td_shadow_items(&shadow, 3)->items[3], 2);
    assert_true(td_shadow_reaches(&shadow, 4, 0));
    assert_true(td_shadow_reaches(&shadow, 4, 4));
    assert_false(td_shadow_reaches(&shadow, 4, 3));
    assert_true(td_shadow_reaches(&shadow, 3, 2)); /* since the change */
    td_shadow_clear(&shadow);
    td_prog_clear(&prog);
}

static void
equal_keys_are_the_same(void **state)
{
    td_prog_t prog =
        program("%0 = int 5\n%1 = int 5\n%2 = bool true\n%3 = int 1\n%4 = tuple %0 %3\n"
                "%5 = tuple %1 %3\n%6 = str \"a\"\n%7 = bytes b\"a\"\nframe\nroot sourceless %0\n");
    td_shadow_t shadow;

    (void)state;
    td_shadow_init(&shadow, &prog);
    td_shadow_follow(&shadow);
    assert_true(td_shadow_same_key(&shadow, 0, 1));
    assert_true(td_shadow_same_key(&shadow, 4, 5));
    assert_false(td_shadow_same_key(&shadow, 2, 3)); /* equal, but not surely spelled the same */
    assert_false(td_shadow_same_key(&shadow, 6, 7));
    td_shadow_clear(&shadow);
    td_prog_clear(&prog);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(what_becomes_dynamic_is_seen),
        cmocka_unit_test(contents_follow_changes),
        cmocka_unit_test(equal_keys_are_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
