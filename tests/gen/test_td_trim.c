/* test_td_trim.c: cut to any size; held against weights. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen_programs.h"

static void
any_size_can_be_had(void **state)
{
    td_weights_t weights;

    (void)state;
    td_weights_init(&weights);
    for (uint64_t seed = 0; seed < 60; seed++) {
        td_prog_t prog = generated(seed, &weights);
        size_t    sz   = 0;

        td_free(bytes_of(&prog, &sz));
        td_prog_clear(&prog);
        for (size_t sz_max = TD_PROG_SZ_MIN; sz_max <= sz; sz_max += 1 + sz / 20) {
            prog = generated(seed, &weights);
            assert_int_equal(td_trim(&prog, sz_max), TD_OK);
            require_valid(&prog, sz_max);
            td_prog_clear(&prog);
        }
    }
}

static void
what_fits_stays(void **state)
{
    td_prog_t prog = program("%0 = none\nframe\nroot build local(\"x\") %0\n");

    (void)state;
    assert_int_equal(td_trim(&prog, TD_PROG_SZ_MIN), TD_OK);
    require_text(&prog, "%0 = none\nframe\n  root build local(\"x\") %0\n");
    assert_int_equal(td_trim(&prog, TD_PROG_SZ_MIN - 1), TD_LIMIT);
    assert_int_equal(prog.order_cnt, 0);
}

static void
records_fall_off_the_end(void **state)
{
    td_prog_t prog =
        program("%0 = int 1\nframe\nroot build local(\"x\") %0\nroot build local(\"y\") %0\n"
                "%1 = str \"a long text that takes some bytes\"\nroot build local(\"z\") %1\n");

    (void)state;
    assert_int_equal(td_trim(&prog, 20), TD_OK);
    require_text(&prog,
                 "%0 = int 1\nframe\n  root build local(\"x\") %0\n  root build local(\"y\") %0\n");
    td_prog_clear(&prog);
}

static struct {
    char const *only, *lines;
    bool        allowed;
} const rows[] = {
    {"int", "%0 = int 5\nframe\nroot build local(\"x\") %0\n", true},
    {"str", "%0 = int 5\nframe\nroot build local(\"x\") %0\n", false},
    {"str", "%0 = none\nframe\nroot build local(\"x\") %0\n", true}, /* None always is */
    {"int,global", "%0 = int 5\nframe\nroot build local(\"x\") %0\n", false},
    {"int,build", "%0 = int 5\nframe\nroot sourceless %0\n", false},
    {"int,append", "%0 = int 5\ndo clear %0\nframe\nroot sourceless %0\n", false},
    {"int,trace_numpy", "config trace_numpy = True\n%0 = int 5\nframe\nroot sourceless %0\n", true},
    {"int,trace_numpy", "config allow_rnn = True\n%0 = int 5\nframe\nroot sourceless %0\n", false},
    {"int", "export\n%0 = int 5\nframe\nroot sourceless %0\n", false},
    {"int,export", "export\n%0 = int 5\nframe\nroot sourceless %0\n", true},
    {"tensor", "%0 = tensor int8[2]\nframe\nroot sourceless %0\nconstraint %0 dim 0 in 1..2\n",
     false},
    {"-int", "%0 = int 5\nframe\nroot sourceless %0\n", false},
    {"-dtype.bool", "%0 = dtype bool\nframe\nroot sourceless %0\n", false},
    {"-dtype.bool", "%0 = dtype int64\nframe\nroot sourceless %0\n", true},
    {"plainkeys", "%0 = int 5\n%1 = dict %0: %0\nframe\nroot sourceless %1\n", true},
    {"plainkeys", "%0 = dtype bool\n%1 = dict %0: %0\nframe\nroot sourceless %1\n", false},
    {"plainkeys", "%0 = dtype bool\n%1 = default_dict %0\nframe\nroot sourceless %1\n", true},
    {"plainkeys", "%0 = dtype bool\n%1 = dict\ndo setitem %1 %0 %0\nframe\nroot sourceless %1\n",
     false},
    {"plainkeys", "%0 = dtype bool\nframe\nroot build item(local(\"x\"), %0) %0\n", false},
    {"plainkeys", "%0 = none\n%1 = slice %0 %0 %0\nframe\nroot build item(local(\"x\"), %1) %0\n",
     true},
    {"int,static",
     "%0 = int 5\n%1 = int 6\nframe\nroot build local(\"x\") %0\nroot build local(\"x\") %1\n",
     false},
};

static void
weights_decide_what_is_allowed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        td_weights_t weights = weights_only(rows[i].only);
        td_prog_t    prog    = program(rows[i].lines);
        bool         allowed = !rows[i].allowed;

        assert_int_equal(td_trim_allowed(&prog, &weights, &allowed), TD_OK);
        if (allowed != rows[i].allowed) {
            print_error("%s:\n%s\n", rows[i].only, rows[i].lines);
        }
        assert_int_equal(allowed, rows[i].allowed);
        td_prog_clear(&prog);
    }
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(any_size_can_be_had),
        cmocka_unit_test(what_fits_stays),
        cmocka_unit_test(records_fall_off_the_end),
        cmocka_unit_test(weights_decide_what_is_allowed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
