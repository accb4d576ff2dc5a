/* test_td_obs_codec.c: values survive their bytes, and nothing else is taken for bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/td_alloc.h"
#include "base/td_limits.h"
#include "observe/td_obs.h"
#include "random_value.h"

static td_val_t
decoded(td_obs_t *obs, uint8_t const *bytes, size_t sz)
{
    td_val_t root;

    assert_int_equal(td_obs_decode(obs, bytes, sz, &root), TD_OK);
    return root;
}

static uint8_t *
encoded(td_obs_t *obs, td_val_t root, size_t *sz)
{
    uint8_t *bytes;

    assert_int_equal(td_obs_encode(obs, root, &bytes, sz), TD_OK);
    return bytes;
}

static void
values_survive_their_bytes(void **state)
{
    td_obs_t *one = td_obs_new(), *two = td_obs_new();
    td_rng_t  rng;

    (void)state;
    td_rng_init(&rng, 1);
    for (int round = 0; round < 30000; round++) {
        size_t   sz, again_sz;
        td_val_t root  = random_value(one, &rng, 1 + round % 4);
        uint8_t *bytes = encoded(one, root, &sz);
        uint8_t *again;

        assert_int_equal(decoded(one, bytes, sz), root);
        again = encoded(two, decoded(two, bytes, sz), &again_sz);
        assert_int_equal(again_sz, sz);
        assert_memory_equal(again, bytes, sz);
        td_free(again);
        td_free(bytes);
        if (round % 50 == 0) {
            td_obs_reset(one);
            td_obs_reset(two);
        }
    }
    td_obs_free(one);
    td_obs_free(two);
}

/* The same value made in another order, with other values in between, so that
   every id is another one. */
static void
bytes_are_a_function_of_content(void **state)
{
    td_obs_t *one = td_obs_new(), *two = td_obs_new();
    td_rng_t  rng, noise;

    (void)state;
    td_rng_init(&rng, 5);
    td_rng_init(&noise, 6);
    for (int round = 0; round < 500; round++) {
        td_val_t members[2][60];
        size_t   sz[2];
        uint8_t *bytes[2];

        for (int idx = 0; idx < 60; idx++) {
            td_rng_t same   = rng;
            int      mirror = 59 - idx;

            random_value(two, &noise, 2);
            members[0][idx]    = random_value(one, &rng, 2);
            members[1][mirror] = random_value(two, &same, 2);
        }
        bytes[0] = encoded(one, td_obs_bag(one, members[0], 60), &sz[0]);
        bytes[1] = encoded(two, td_obs_bag(two, members[1], 60), &sz[1]);
        assert_int_equal(sz[0], sz[1]);
        assert_memory_equal(bytes[0], bytes[1], sz[0]);
        td_free(bytes[0]);
        td_free(bytes[1]);
        td_obs_reset(one);
        td_obs_reset(two);
    }
    td_obs_free(one);
    td_obs_free(two);
}

/* Bytes that are accepted must be the very bytes of what was read. */
static bool
is_refused_or_canonical(td_obs_t *obs, uint8_t const *bytes, size_t sz)
{
    td_val_t    root;
    td_status_t status = td_obs_decode(obs, bytes, sz, &root);
    uint8_t    *again;
    size_t      again_sz;
    bool        same;

    assert_true(status == TD_OK || status == TD_REJECT);
    assert_int_equal(td_obs_status(obs), TD_OK);
    if (status == TD_REJECT) {
        assert_int_equal(root, TD_VAL_NONE);
        assert_int_equal(strncmp(td_obs_why(obs), "byte ", 5), 0);
        return true;
    }
    again = encoded(obs, root, &again_sz);
    same  = again_sz == sz && memcmp(again, bytes, sz) == 0;
    td_free(again);
    return same;
}

static void
every_truncation_is_refused(void **state)
{
    td_obs_t *obs = td_obs_new();
    td_rng_t  rng;

    (void)state;
    td_rng_init(&rng, 2);
    for (int round = 0; round < 300; round++) {
        size_t   sz;
        uint8_t *bytes = encoded(obs, random_value(obs, &rng, 3), &sz);
        td_val_t root;

        for (size_t cut = 0; cut < sz; cut++) {
            uint8_t *part = td_malloc(cut); /* exact, so that reading beyond it is seen */

            memcpy(part, bytes, cut);
            assert_int_equal(td_obs_decode(obs, part, cut, &root), TD_REJECT);
            td_free(part);
        }
        td_free(bytes);
        td_obs_reset(obs);
    }
    td_obs_free(obs);
}

static void
changed_bytes_are_refused_or_canonical(void **state)
{
    td_obs_t *obs = td_obs_new();
    td_rng_t  rng;
    int       accepted_cnt = 0;

    (void)state;
    td_rng_init(&rng, 3);
    for (int round = 0; round < 40000; round++) {
        size_t   sz, at;
        uint8_t *bytes = encoded(obs, random_value(obs, &rng, 1 + round % 4), &sz);
        td_val_t root;

        for (uint64_t change = td_rng_below(&rng, 3) + 1; change > 0; change--) {
            at        = 10 + td_rng_below(&rng, sz - 10);
            bytes[at] = (uint8_t)td_rng_below(&rng, 256);
        }
        accepted_cnt += td_obs_decode(obs, bytes, sz, &root) == TD_OK;
        assert_true(is_refused_or_canonical(obs, bytes, sz));
        td_free(bytes);
        if (round % 20 == 0) {
            td_obs_reset(obs);
        }
    }
    assert_true(accepted_cnt > 400 && accepted_cnt < 39000); /* both happen */
    td_obs_free(obs);
}

typedef struct {
    char const *why;
    uint8_t     bytes[40];
    size_t      sz;
} refusal_t;

/* What a decoder must not forgive: one case for each rule of the format. */
static void
each_rule_is_kept(void **state)
{
    static refusal_t const table[] = {
        {"end too early", {0}, 0},
        {"no value has", {0x0C}, 1},
        {"no value has", {0xC0}, 1},
        {"no value has", {0x18}, 1},
        {"no value has", {0x38}, 1},
        {"longer than it need be", {0x04, 0x02}, 2},             /* int 1 has a short form */
        {"longer than it need be", {0x04, 0x81, 0x80, 0x00}, 4}, /* padded varint */
        {"more than 64 bits",
         {0x04, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02},
         11},
        {"longer than it need be", {0x07, 0x01, 'a'}, 3},  /* short string has a short form */
        {"longer than it need be", {0x08, 0x01, 0x01}, 3}, /* so has a short list */
        {"no utf-8", {0x21, 0xFF}, 2},
        {"not a big int", {0x05, 0x01, '1'}, 3},
        {"beyond the end", {0x08, 0x7F, 0x01}, 3},
        {"not been yet", {0x80}, 1},
        {"not been yet",
         {0x0B, 0xC1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01},
         11}, /* + 64 wraps */
        {"should be a reference", {0x12, 0x21, 'a', 0x21, 'a'}, 5},
        {"not sorted", {0x09, 0x02, 0x42, 0x41}, 4},
        {"behind the end", {0x01, 0x01}, 2},
        {"no class", {0x0A, 0x00}, 2},
        {"no class", {0x0A, 0xFF, 0x7F}, 3},
        {"end too early", {0x22, 'a'}, 2},
        {"end too early", {0x06, 1, 2, 3}, 4},
    };
    td_obs_t *obs = td_obs_new();
    size_t    header_sz;
    uint8_t  *header = encoded(obs, td_obs_null(obs), &header_sz);

    (void)state;
    header_sz--;
    for (size_t idx = 0; idx < sizeof table / sizeof *table; idx++) {
        uint8_t  bytes[64];
        td_val_t root;

        memcpy(bytes, header, header_sz);
        memcpy(bytes + header_sz, table[idx].bytes, table[idx].sz);
        assert_int_equal(td_obs_decode(obs, bytes, header_sz + table[idx].sz, &root), TD_REJECT);
        if (strstr(td_obs_why(obs), table[idx].why) == NULL) {
            fail_msg("case %zu: %s", idx, td_obs_why(obs));
        }
    }
    td_free(header);
    td_obs_free(obs);
}

static void
another_schema_is_refused(void **state)
{
    td_obs_t *obs = td_obs_new();
    size_t    sz;
    uint8_t  *bytes = encoded(obs, td_obs_null(obs), &sz);
    td_val_t  root;

    (void)state;
    for (size_t idx = 0; idx < 10; idx++) {
        bytes[idx] ^= 1;
        assert_int_equal(td_obs_decode(obs, bytes, sz, &root), TD_REJECT);
        assert_non_null(strstr(td_obs_why(obs), idx < 4 ? "not an observation" : "schema version"));
        bytes[idx] ^= 1;
    }
    assert_int_equal(td_obs_decode(obs, bytes, sz, &root), TD_OK);
    assert_string_equal(td_obs_why(obs), "");
    td_free(bytes);
    td_obs_free(obs);
}

/* Hostile nesting must end in a refusal, not at the end of the stack. */
static void
deep_bytes_are_refused(void **state)
{
    enum { DEEP_CNT = 200000 };
    td_obs_t *obs = td_obs_new();
    size_t    sz;
    uint8_t  *head  = encoded(obs, td_obs_null(obs), &sz);
    uint8_t  *bytes = td_malloc(sz + DEEP_CNT);
    td_val_t  root, val = td_obs_null(obs);

    (void)state;
    memcpy(bytes, head, sz - 1);
    memset(bytes + sz - 1, 0x11, DEEP_CNT);
    bytes[sz - 1 + DEEP_CNT] = 0x01;
    assert_int_equal(td_obs_decode(obs, bytes, sz + DEEP_CNT, &root), TD_REJECT);
    assert_non_null(strstr(td_obs_why(obs), "too deep"));
    assert_int_equal(td_obs_status(obs), TD_OK);
    td_free(head);
    td_free(bytes);
    for (int depth = 0; depth < TD_VALUE_DEPTH_MAX; depth++) {
        val = td_obs_list(obs, &val, 1);
    }
    bytes = encoded(obs, val, &sz);
    assert_int_equal(decoded(obs, bytes, sz), val);
    td_free(bytes);
    td_obs_free(obs);
}

static void
shared_values_are_written_once(void **state)
{
    td_obs_t *obs = td_obs_new();
    td_val_t  val = td_obs_cstr(obs, "a long enough text to be seen");
    size_t    sz;

    (void)state;
    for (int doubling = 0; doubling < 40; doubling++) {
        val = td_obs_pair(obs, val, val); /* 2^40 leaves when written out */
    }
    td_free(encoded(obs, val, &sz));
    assert_true(sz < 200);
    td_obs_free(obs);
}

static void
every_failing_allocation_is_told(void **state)
{
    int64_t   before = td_alloc_live_cnt();
    td_obs_t *obs    = td_obs_new();
    td_rng_t  rng;
    td_val_t  members[100], root;
    uint8_t  *bytes;
    size_t    sz;
    bool      struck = true;
    uint64_t  nth    = 1;

    (void)state;
    td_rng_init(&rng, 4);
    for (int idx = 0; idx < 100; idx++) {
        members[idx] = random_value(obs, &rng, 3);
    }
    bytes = encoded(obs, td_obs_list(obs, members, 100), &sz);
    td_obs_free(obs);
    for (; struck; nth++) {
        td_status_t status;

        obs = td_obs_new();
        td_nomem_arm(nth);
        status = td_obs_decode(obs, bytes, sz, &root);
        struck = td_nomem_disarm();
        assert_int_equal(status, struck ? TD_NOMEM : TD_OK);
        assert_int_equal(td_obs_status(obs), status);
        assert_true(struck == (root == TD_VAL_NONE));
        td_obs_free(obs);
    }
    assert_true(nth > 8);
    td_free(bytes);
    assert_int_equal(td_alloc_live_cnt(), before);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(values_survive_their_bytes),
        cmocka_unit_test(bytes_are_a_function_of_content),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(changed_bytes_are_refused_or_canonical),
        cmocka_unit_test(each_rule_is_kept),
        cmocka_unit_test(another_schema_is_refused),
        cmocka_unit_test(deep_bytes_are_refused),
        cmocka_unit_test(shared_values_are_written_once),
        cmocka_unit_test(every_failing_allocation_is_told),
    };

    return cmocka_run_group_tests_name("observe.td_obs_codec", tests, NULL, NULL);
}
