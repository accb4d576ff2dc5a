/* test_target_decode.c: the target says nothing about what holds, whatever it is
   given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/td_alloc.h"
#include "base/td_rng.h"
#include "target/td_target.h"

static void
any_bytes_are_fine(void **state)
{
    int64_t  before = td_alloc_live_cnt();
    uint8_t  bytes[600];
    td_rng_t rng;

    (void)state;
    td_rng_init(&rng, 1);
    assert_int_equal(td_target_decode(NULL, 0), 0);
    for (int i = 0; i < 3000; i++) {
        size_t sz = td_rng_below(&rng, sizeof bytes);

        for (size_t at = 0; at < sz; at++) {
            bytes[at] = (uint8_t)td_rng_u64(&rng);
        }
        assert_int_equal(td_target_decode(bytes, sz), 0);
    }
    assert_int_equal(td_alloc_live_cnt(), before);
}

static void
valid_programs_are_fine(void **state)
{
    static uint8_t const bytes[] = {0xA1, 0x01, 0xE0, 0x81, 0x00, 0xA1, 0x00, 0x00, 0xE5};

    (void)state;
    for (size_t sz = 0; sz <= sizeof bytes; sz++) {
        assert_int_equal(td_target_decode(bytes, sz), 0);
    }
}

static void
memory_that_runs_out_is_no_finding(void **state)
{
    static uint8_t const bytes[] = {0xA1, 0x06, 0xE1, 'a',  'b',  0xE0,
                                    0x81, 0x00, 0xA1, 0x00, 0x00, 0xE5};
    bool                 fired   = true;

    (void)state;
    for (uint64_t nth = 1; fired; nth++) {
        td_nomem_arm(nth);
        assert_int_equal(td_target_decode(bytes, sizeof bytes), 0);
        fired = td_nomem_disarm();
    }
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(any_bytes_are_fine),
        cmocka_unit_test(valid_programs_are_fine),
        cmocka_unit_test(memory_that_runs_out_is_no_finding),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
