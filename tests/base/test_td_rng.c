/* test_td_rng.c: the same draws everywhere, in their bounds, and even. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/td_rng.h"

/* From the published reference code of splitmix64 and xoshiro256**: what a seed
   gives must never change, corpora and findings name seeds. */
static void
a_seed_gives_what_it_always_gave(void **state)
{
    td_rng_t rng;

    (void)state;
    assert_true(td_rng_mix(0) == UINT64_C(0xe220a8397b1dcdaf));
    td_rng_init(&rng, 0);
    assert_true(td_rng_u64(&rng) == UINT64_C(0x99ec5f36cb75f2b4));
    assert_true(td_rng_u64(&rng) == UINT64_C(0xbf6e1f784956452a));
    assert_true(td_rng_u64(&rng) == UINT64_C(0x1a5f849d4933e6e0));
}

static void
draws_stay_in_their_bounds(void **state)
{
    td_rng_t rng;

    (void)state;
    td_rng_init(&rng, 7);
    for (int i = 0; i < 10000; i++) {
        int64_t between = td_rng_between(&rng, -3, 4);

        assert_true(td_rng_below(&rng, 10) < 10);
        assert_true(between >= -3 && between <= 4);
        assert_false(td_rng_chance(&rng, 0));
        assert_true(td_rng_chance(&rng, 100));
    }
    assert_int_equal(td_rng_below(&rng, 0), 0);
    assert_int_equal(td_rng_below(&rng, 1), 0);
    assert_int_equal(td_rng_between(&rng, 5, 5), 5);
    td_rng_between(&rng, INT64_MIN, INT64_MAX); /* the whole range has no size in 64 bits */
}

static void
draws_are_even(void **state)
{
    uint32_t cnt[8] = {0};
    td_rng_t rng;

    (void)state;
    td_rng_init(&rng, 1);
    for (int i = 0; i < 80000; i++) {
        cnt[td_rng_below(&rng, 8)]++;
    }
    for (int i = 0; i < 8; i++) {
        assert_in_range(cnt[i], 9600, 10400);
    }
}

static void
weights_are_kept(void **state)
{
    uint32_t const weight[4] = {0, 1, 3, 0}, none[2] = {0, 0};
    uint32_t       cnt[4] = {0};
    td_rng_t       rng;

    (void)state;
    td_rng_init(&rng, 2);
    for (int i = 0; i < 40000; i++) {
        cnt[td_rng_weighted(&rng, weight, 4)]++;
    }
    assert_int_equal(cnt[0] + cnt[3], 0);
    assert_in_range(cnt[1], 9500, 10500);
    assert_int_equal(td_rng_weighted(&rng, none, 2), 2);
    assert_int_equal(td_rng_weighted(&rng, none, 0), 0);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_seed_gives_what_it_always_gave),
        cmocka_unit_test(draws_stay_in_their_bounds),
        cmocka_unit_test(draws_are_even),
        cmocka_unit_test(weights_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
