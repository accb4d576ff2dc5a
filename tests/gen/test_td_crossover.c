/* test_td_crossover.c: children are valid, fit, and have something of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen/td_crossover.h"
#include "gen_programs.h"

/* Crosses the programs of two seeds. */
static size_t
crossed(uint64_t left_seed, uint64_t right_seed, td_weights_t const *weights, uint8_t *out,
        size_t sz_max)
{
    td_prog_t left = generated(left_seed, weights), right = generated(right_seed, weights);
    size_t    left_sz = 0, right_sz = 0, sz;
    uint8_t  *left_bytes = bytes_of(&left, &left_sz), *right_bytes = bytes_of(&right, &right_sz);

    sz = td_crossover(left_bytes, left_sz, right_bytes, right_sz, out, sz_max, left_seed, weights);
    td_free(left_bytes);
    td_free(right_bytes);
    td_prog_clear(&left);
    td_prog_clear(&right);
    return sz;
}

static void
children_are_valid_and_fit(void **state)
{
    static size_t const sizes[] = {TD_PROG_SZ_MIN, 50, 300, 4096};
    uint8_t             out[4096];
    td_weights_t        weights;

    (void)state;
    td_weights_init(&weights);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (uint64_t seed = 0; seed < 100; seed++) {
            size_t       sz = crossed(seed, seed + 1000, &weights, out, sizes[i]);
            td_prog_t    prog;
            td_refusal_t refusal = {.what = ""};

            assert_in_range(sz, TD_PROG_SZ_MIN, sizes[i]);
            td_prog_init(&prog);
            assert_int_equal(td_prog_decode(out, sz, &prog, &refusal), TD_OK);
            td_prog_clear(&prog);
        }
    }
}

static void
both_parents_are_in_the_child(void **state)
{
    static char const left_lines[] = "%0 = str \"left side\"\nframe\nroot build local(\"x\") %0\n";
    static char const right_lines[] =
        "%0 = str \"right side\"\n%1 = list %0\nframe\nroot build local(\"x\") %1\n";
    td_prog_t    left = program(left_lines), right = program(right_lines);
    size_t       left_sz = 0, right_sz = 0;
    uint8_t     *left_bytes = bytes_of(&left, &left_sz), *right_bytes = bytes_of(&right, &right_sz);
    uint32_t     both = 0;
    td_weights_t weights;

    (void)state;
    td_weights_init(&weights);
    for (uint64_t seed = 0; seed < 100; seed++) {
        uint8_t out[512];
        size_t  sz = td_crossover(left_bytes, left_sz, right_bytes, right_sz, out, sizeof out, seed,
                                  &weights);
        td_prog_t child;
        char     *text;

        td_prog_init(&child);
        assert_int_equal(td_prog_repair(out, sz, &child, NULL), TD_OK);
        text = td_prog_disasm(&child);
        /* The list of the right one holds the str of the right one still. */
        both += strstr(text, "left side") != NULL &&
                strstr(text, "%1 = str \"right side\"\n%2 = list %1") != NULL;
        td_free(text);
        td_prog_clear(&child);
    }
    assert_true(both > 20);
    td_free(left_bytes);
    td_free(right_bytes);
    td_prog_clear(&left);
    td_prog_clear(&right);
}

static void
weights_are_kept(void **state)
{
    td_weights_t weights = weights_only(DONE_FAMILIES);
    uint8_t      out[4096];

    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        size_t    sz = crossed(seed, seed + 1, &weights, out, sizeof out);
        td_prog_t child;
        bool      allowed = false;

        td_prog_init(&child);
        assert_int_equal(td_prog_repair(out, sz, &child, NULL), TD_OK);
        assert_int_equal(td_trim_allowed(&child, &weights, &allowed), TD_OK);
        assert_true(allowed);
        td_prog_clear(&child);
    }
}

static void
too_little_room_gives_nothing(void **state)
{
    uint8_t      out[16];
    td_weights_t weights;

    (void)state;
    td_weights_init(&weights);
    assert_int_equal(crossed(1, 2, &weights, out, TD_PROG_SZ_MIN - 1), 0);
}

static void
every_allocation_may_fail(void **state)
{
    static uint8_t const left[] = {0xA1, 0x0A, 0x00}, right[] = {0xA1, 0x06, 0xE1, 'a', 'b'};
    int64_t              before = td_alloc_live_cnt();
    bool                 fired  = true;
    td_weights_t         weights;

    (void)state;
    td_weights_init(&weights);
    for (uint64_t nth = 1; fired; nth++) {
        uint8_t out[512];
        size_t  sz;

        td_nomem_arm(nth);
        sz    = td_crossover(left, sizeof left, right, sizeof right, out, sizeof out, 1, &weights);
        fired = td_nomem_disarm();
        assert_int_equal(sz == 0, fired);
        assert_int_equal(td_alloc_live_cnt(), before);
    }
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(children_are_valid_and_fit),
        cmocka_unit_test(both_parents_are_in_the_child),
        cmocka_unit_test(weights_are_kept),
        cmocka_unit_test(too_little_room_gives_nothing),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
