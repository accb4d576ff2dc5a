/* test_td_mutate_bytes.c: mutation in place, as an engine asks for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen/td_mutate.h"
#include "gen_programs.h"

static void
require_program(uint8_t const *bytes, size_t sz)
{
    td_prog_t    prog;
    td_refusal_t refusal = {.what = ""};

    td_prog_init(&prog);
    assert_int_equal(td_prog_decode(bytes, sz, &prog, &refusal), TD_OK);
    td_prog_clear(&prog);
}

static void
results_are_valid_and_fit(void **state)
{
    static size_t const sizes[] = {TD_PROG_SZ_MIN, 20, 100, 1000, 4096};
    uint8_t             bytes[4096];
    td_weights_t        weights;
    td_rng_t            rng;

    (void)state;
    td_weights_init(&weights);
    td_rng_init(&rng, 1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t sz = 0;

        for (uint64_t seed = 0; seed < 300; seed++) {
            /* Now and then from bytes that are no program. */
            for (size_t at = 0; seed % 50 == 0 && at < sizes[i]; at++) {
                bytes[at] = (uint8_t)td_rng_u64(&rng);
                sz        = at + 1;
            }
            sz = td_mutate(bytes, sz, sizes[i], seed, &weights, NULL);
            assert_in_range(sz, TD_PROG_SZ_MIN, sizes[i]);
            require_program(bytes, sz);
        }
    }
}

static void
chance_comes_from_the_seed(void **state)
{
    uint8_t           first[512], second[512];
    td_mutate_trail_t first_trail, second_trail;
    size_t            first_sz = 0, second_sz = 0;
    td_weights_t      weights;

    (void)state;
    td_weights_init(&weights);
    for (uint64_t seed = 0; seed < 300; seed++) {
        first_sz  = td_mutate(first, first_sz, sizeof first, seed, &weights, &first_trail);
        second_sz = td_mutate(second, second_sz, sizeof second, seed, &weights, &second_trail);
        assert_int_equal(first_sz, second_sz);
        assert_memory_equal(first, second, first_sz);
        assert_int_equal(first_trail.cnt, second_trail.cnt);
        assert_in_range(first_trail.cnt, 1, TD_MUTATE_CNT_MAX);
        assert_memory_equal(first_trail.done, second_trail.done,
                            first_trail.cnt * sizeof *first_trail.done);
    }
}

/* What weights switch off does not come in, and what has it gets out of it. */
static void
weights_are_kept(void **state)
{
    td_weights_t      weights = weights_only(DONE_FAMILIES), all;
    uint8_t           bytes[2048];
    size_t            sz    = 0;
    uint32_t          fresh = 0, cnt = 0;
    td_mutate_trail_t trail;

    (void)state;
    td_weights_init(&all);
    for (uint64_t seed = 0; seed < 1000; seed++, cnt++) {
        td_prog_t prog;
        bool      allowed = false;

        if (seed % 100 == 99) {
            td_prog_t odd       = generated(seed, &all);
            uint8_t  *odd_bytes = bytes_of(&odd, &sz);

            sz = sz < sizeof bytes ? sz : sizeof bytes;
            memcpy(bytes, odd_bytes, sz);
            td_free(odd_bytes);
            td_prog_clear(&odd);
        }
        sz = td_mutate(bytes, sz, sizeof bytes, seed, &weights, &trail);
        fresh += trail.fresh;
        td_prog_init(&prog);
        assert_int_equal(td_prog_repair(bytes, sz, &prog, NULL), TD_OK);
        assert_int_equal(td_trim_allowed(&prog, &weights, &allowed), TD_OK);
        assert_true(allowed);
        td_prog_clear(&prog);
    }
    assert_in_range(fresh, 5, 100); /* from what was odd; else hardly ever */
}

static void
too_little_room_gives_nothing(void **state)
{
    uint8_t      bytes[16] = {1, 2, 3};
    td_weights_t weights;

    (void)state;
    td_weights_init(&weights);
    assert_int_equal(td_mutate(bytes, 3, TD_PROG_SZ_MIN - 1, 1, &weights, NULL), 0);
    assert_memory_equal(bytes, "\1\2\3", 3);
}

static void
every_allocation_may_fail(void **state)
{
    int64_t      before  = td_alloc_live_cnt();
    bool         fired   = true;
    td_weights_t weights = weights_only(DONE_FAMILIES);

    (void)state;
    for (uint64_t nth = 1; fired; nth++) {
        uint8_t bytes[512] = {0xA1, 0x0A, 0x00};
        size_t  sz;

        td_nomem_arm(nth);
        sz    = td_mutate(bytes, 3, sizeof bytes, 3, &weights, NULL);
        fired = td_nomem_disarm();
        assert_int_equal(sz == 0, fired);
        assert_int_equal(td_alloc_live_cnt(), before);
        assert_true(!fired || memcmp(bytes, "\xA1\x0A\x00", 3) == 0);
    }
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(results_are_valid_and_fit),
        cmocka_unit_test(chance_comes_from_the_seed),
        cmocka_unit_test(weights_are_kept),
        cmocka_unit_test(too_little_room_gives_nothing),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
