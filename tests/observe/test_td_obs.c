/* test_td_obs.c: values are interned, ordered by content, and numbered by first sight. */
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

static void
equal_values_have_equal_ids(void **state)
{
    td_obs_t *obs     = td_obs_new();
    td_val_t  a       = td_obs_pair(obs, td_obs_cstr(obs, "x"), td_obs_int(obs, 5));
    td_val_t  b       = td_obs_pair(obs, td_obs_cstr(obs, "x"), td_obs_int(obs, 5));
    td_val_t  list[2] = {td_obs_int(obs, 1), td_obs_int(obs, 2)};

    (void)state;
    assert_int_equal(a, b);
    assert_int_not_equal(a, td_obs_pair(obs, td_obs_cstr(obs, "x"), td_obs_int(obs, 6)));
    assert_int_not_equal(td_obs_list(obs, list, 2), td_obs_bag(obs, list, 2));
    assert_int_not_equal(td_obs_int(obs, 1), td_obs_bool(obs, true));
    assert_int_not_equal(td_obs_int(obs, 1), td_obs_float(obs, 1.0));
    assert_int_not_equal(td_obs_float(obs, 0.0), td_obs_float(obs, -0.0));
    assert_int_not_equal(td_obs_str(obs, "a\0b", 3), td_obs_cstr(obs, "a"));
    assert_int_not_equal(td_obs_null(obs), td_obs_absent(obs));
    assert_int_equal(td_obs_str(obs, NULL, 0), td_obs_cstr(obs, ""));
    assert_int_not_equal(td_obs_list(obs, NULL, 0), td_obs_bag(obs, NULL, 0));
    assert_int_equal(td_obs_status(obs), TD_OK);
    td_obs_free(obs);
}

static void
atoms_read_back(void **state)
{
    td_obs_t *obs = td_obs_new();
    size_t    sz;
    double    nan;
    uint64_t  bits = UINT64_C(0x7FF800000000ABCD);

    (void)state;
    memcpy(&nan, &bits, sizeof nan);
    assert_true(td_obs_get_bool(obs, td_obs_bool(obs, true)));
    assert_int_equal(td_obs_get_int(obs, td_obs_int(obs, INT64_MIN)), INT64_MIN);
    nan = td_obs_get_float(obs, td_obs_float(obs, nan));
    assert_memory_equal(&nan, &bits, sizeof nan);
    assert_string_equal(td_obs_get_str(obs, td_obs_bigint(obs, "-9223372036854775809"), &sz),
                        "-9223372036854775809");
    assert_int_equal(sz, 20);
    assert_memory_equal(td_obs_get_str(obs, td_obs_str(obs, "a\0b", 3), &sz), "a\0b", 4);
    assert_int_equal(sz, 3);
    td_obs_free(obs);
}

static void
the_order_of_making_does_not_matter(void **state)
{
    td_obs_t *obs = td_obs_new();
    td_rng_t  rng;
    td_val_t  members[40];

    (void)state;
    td_rng_init(&rng, 7);
    for (int round = 0; round < 300; round++) {
        size_t   cnt = td_rng_below(&rng, 40);
        td_val_t bag;

        for (size_t idx = 0; idx < cnt; idx++) {
            members[idx] = random_value(obs, &rng, 2);
        }
        bag = td_obs_bag(obs, members, cnt);
        for (size_t idx = cnt; idx > 1; idx--) {
            size_t   other   = td_rng_below(&rng, idx);
            td_val_t swapped = members[idx - 1];

            members[idx - 1] = members[other];
            members[other]   = swapped;
        }
        assert_int_equal(td_obs_bag(obs, members, cnt), bag);
        for (size_t idx = 1; idx < cnt; idx++) {
            assert_true(td_obs_cmp(obs, td_obs_get_item(obs, bag, idx - 1),
                                   td_obs_get_item(obs, bag, idx)) <= 0);
        }
    }
    assert_int_equal(td_obs_status(obs), TD_OK);
    td_obs_free(obs);
}

static void
a_bag_counts_equal_members(void **state)
{
    td_obs_t *obs      = td_obs_new();
    td_val_t  x        = td_obs_cstr(obs, "x");
    td_val_t  twice[2] = {x, x};

    (void)state;
    assert_int_not_equal(td_obs_bag(obs, twice, 1), td_obs_bag(obs, twice, 2));
    assert_int_equal(td_obs_get_cnt(obs, td_obs_bag(obs, twice, 2)), 2);
    td_obs_free(obs);
}

static void
the_order_is_total(void **state)
{
    td_obs_t *obs = td_obs_new();
    td_rng_t  rng;

    (void)state;
    td_rng_init(&rng, 11);
    for (int round = 0; round < 20000; round++) {
        td_val_t a  = random_value(obs, &rng, 2);
        td_val_t b  = random_value(obs, &rng, 2);
        td_val_t c  = random_value(obs, &rng, 2);
        int      ab = td_obs_cmp(obs, a, b), bc = td_obs_cmp(obs, b, c);

        assert_int_equal(ab == 0, a == b);
        assert_true((ab < 0) == (td_obs_cmp(obs, b, a) > 0));
        if (ab <= 0 && bc <= 0) {
            assert_true(td_obs_cmp(obs, a, c) <= 0);
        }
        if (round % 100 == 0) {
            td_obs_reset(obs);
        }
    }
    td_obs_free(obs);
}

static void
ordinals_count_from_first_sight(void **state)
{
    td_obs_t *obs = td_obs_new();
    char      things[3000];
    bool      again;
    uint32_t  found = 99;

    (void)state;
    for (int round = 0; round < 3; round++) {
        for (uint32_t idx = 0; idx < sizeof things; idx++) {
            assert_false(td_obs_find_ordinal(obs, TD_SPACE_TRACKER, &things[idx], &found));
            assert_int_equal(td_obs_ordinal(obs, TD_SPACE_TRACKER, &things[idx], &again), idx);
            assert_false(again);
        }
        for (uint32_t idx = 0; idx < sizeof things; idx += 7) {
            assert_int_equal(td_obs_ordinal(obs, TD_SPACE_TRACKER, &things[idx], &again), idx);
            assert_true(again);
            assert_true(td_obs_find_ordinal(obs, TD_SPACE_TRACKER, &things[idx], &found));
            assert_int_equal(found, idx);
        }
        assert_true(td_obs_find_ordinal(obs, TD_SPACE_TRACKER, &things[1], NULL));
        assert_int_equal(td_obs_ordinal(obs, TD_SPACE_NODE, &things[5], NULL), 0);
        td_obs_reset(obs);
    }
    td_obs_free(obs);
}

/* Identities that lie as close or as far apart as they can, and two regions that
   fall on the same slots: each in time that does not grow with the square. */
static void
any_spacing_of_identities_is_good(void **state)
{
    static uintptr_t const strides[] = {1, 8, 16, 24, 48, 4096, (uintptr_t)1 << 20};
    td_obs_t              *obs       = td_obs_new();

    (void)state;
    for (size_t idx = 0; idx < sizeof strides / sizeof *strides; idx++) {
        for (uintptr_t number = 0; number < 20000; number++) {
            uintptr_t region = (number & 1) << 40;
            uintptr_t place  = (number / 2 + 1) * strides[idx] + region;

            assert_int_equal(td_obs_ordinal(obs, TD_SPACE_OBJECT, (void *)place, NULL), number);
        }
        td_obs_reset(obs);
    }
    td_obs_free(obs);
}

static void
fill(td_obs_field_t *fields, td_obs_t *obs, td_class_t class_id, size_t *cnt)
{
    td_field_t const *order = td_class_fields(class_id, cnt);

    for (size_t idx = 0; idx < *cnt; idx++) {
        fields[idx] = (td_obs_field_t){order[idx], td_obs_int(obs, (int64_t)idx)};
    }
}

static void
a_record_takes_its_fields_in_any_order(void **state)
{
    td_obs_t      *obs = td_obs_new();
    td_obs_field_t fields[TD_CLASS_FIELD_CNT_MAX], turned[TD_CLASS_FIELD_CNT_MAX];
    size_t         cnt;
    td_val_t       record;

    (void)state;
    fill(fields, obs, TD_CLASS_ListVariable, &cnt);
    assert_true(cnt >= 4);
    for (size_t idx = 0; idx < cnt; idx++) {
        turned[idx] = fields[cnt - 1 - idx];
    }
    record = td_obs_record(obs, TD_CLASS_ListVariable, fields, cnt);
    assert_int_equal(record, td_obs_record(obs, TD_CLASS_ListVariable, turned, cnt));
    assert_int_equal(td_obs_get_class(obs, record), TD_CLASS_ListVariable);
    assert_int_equal(td_obs_get_field(obs, record, cnt - 1), TD_FIELD_VariableTracker_guards);
    assert_int_equal(td_obs_get_int(obs, td_obs_get_item(obs, record, 2)), 2);
    assert_int_equal(td_obs_status(obs), TD_OK);
    td_obs_free(obs);
}

/* What is wrong, and the word that td_obs_why must have. */
static void
a_wrong_record_sticks_and_is_named(void **state)
{
    td_obs_field_t fields[TD_CLASS_FIELD_CNT_MAX];
    size_t         cnt;

    (void)state;
    for (int wrong = 0; wrong < 4; wrong++) {
        static char const *const words[] = {"is missing", "is given twice", "is not compared there",
                                            "is no value"};
        td_obs_t                *obs     = td_obs_new();

        fill(fields, obs, TD_CLASS_ListVariable, &cnt);
        switch (wrong) {
        case 0:
            cnt--;
            break;
        case 1:
            fields[1] = fields[0];
            break;
        case 2:
            fields[0].field = TD_FIELD_Frame_roots;
            break;
        default:
            fields[0].value = TD_VAL_NONE;
            break;
        }
        assert_int_equal(td_obs_record(obs, TD_CLASS_ListVariable, fields, cnt), TD_VAL_NONE);
        assert_int_equal(td_obs_status(obs), TD_INTERNAL);
        assert_non_null(strstr(td_obs_why(obs), "ListVariable"));
        assert_non_null(strstr(td_obs_why(obs), words[wrong]));
        assert_int_equal(td_obs_int(obs, 1), TD_VAL_NONE);
        td_obs_reset(obs);
        assert_int_equal(td_obs_status(obs), TD_OK);
        assert_string_equal(td_obs_why(obs), "");
        assert_int_not_equal(td_obs_int(obs, 1), TD_VAL_NONE);
        td_obs_free(obs);
    }
}

static void
wrong_text_is_refused(void **state)
{
    static struct {
        char const *text;
        bool        big;
    } const wrong[] = {
        {"\xFF", false},
        {"\xC3", false},
        {"\xC0\x80", false},
        {"\xF5\x80\x80\x80", false},
        {"\xE0\x80\x80", false},
        {"a\x80", false},
        {"\xF4\x90\x80\x80", false},
        {"", true},
        {"1", true},
        {"9223372036854775807", true},
        {"-9223372036854775808", true},
        {"09223372036854775808", true},
        {"+99999999999999999999", true},
        {"9999999999999999999x", true},
        {"-", true},
    };

    (void)state;
    for (size_t idx = 0; idx < sizeof wrong / sizeof *wrong; idx++) {
        td_obs_t *obs = td_obs_new();
        td_val_t  val = wrong[idx].big ? td_obs_bigint(obs, wrong[idx].text)
                                       : td_obs_cstr(obs, wrong[idx].text);

        assert_int_equal(val, TD_VAL_NONE);
        assert_int_equal(td_obs_status(obs), TD_INTERNAL);
        td_obs_free(obs);
    }
}

static void
nesting_has_a_bound(void **state)
{
    td_obs_t *obs = td_obs_new();
    td_val_t  val = td_obs_null(obs);

    (void)state;
    for (int depth = 0; depth < TD_VALUE_DEPTH_MAX; depth++) {
        val = td_obs_list(obs, &val, 1);
    }
    assert_int_equal(td_obs_status(obs), TD_OK);
    assert_int_equal(td_obs_list(obs, &val, 1), TD_VAL_NONE);
    assert_int_equal(td_obs_status(obs), TD_LIMIT);
    td_obs_free(obs);
}

/* Many values, so that every table grows; reset must leave nothing behind. */
static void
reset_forgets_and_keeps_nothing(void **state)
{
    int64_t   before = td_alloc_live_cnt();
    td_obs_t *obs    = td_obs_new();

    (void)state;
    for (int round = 0; round < 3; round++) {
        td_val_t first = td_obs_int(obs, round);

        for (int64_t number = 0; number < 20000; number++) {
            td_obs_int(obs, number * 3);
        }
        assert_int_equal(first, 1);
        assert_int_equal(td_obs_int(obs, 59997), td_obs_int(obs, 59997));
        assert_int_equal(td_obs_status(obs), TD_OK);
        td_obs_reset(obs);
    }
    td_obs_free(obs);
    td_obs_free(NULL);
    assert_int_equal(td_alloc_live_cnt(), before);
}

static td_status_t
work_a_little(td_obs_t *obs, uint8_t **bytes, size_t *sz)
{
    td_rng_t rng;
    td_val_t members[200];

    td_rng_init(&rng, 3);
    for (uintptr_t idx = 0; idx < 200; idx++) {
        td_obs_ordinal(obs, TD_SPACE_OBJECT, (void *)(16 * idx + 16), NULL);
        members[idx] = random_value(obs, &rng, 3);
    }
    return td_obs_encode(obs, td_obs_bag(obs, members, 200), bytes, sz);
}

static void
every_failing_allocation_is_told(void **state)
{
    int64_t  before = td_alloc_live_cnt();
    uint64_t nth    = 1;
    bool     struck = true;

    (void)state;
    for (; struck; nth++) {
        uint8_t    *bytes = NULL;
        size_t      sz;
        td_obs_t   *obs;
        td_status_t status = TD_NOMEM;

        td_nomem_arm(nth);
        obs = td_obs_new();
        if (obs != NULL) {
            status = work_a_little(obs, &bytes, &sz);
            assert_int_equal(status, td_obs_status(obs));
        }
        struck = td_nomem_disarm();
        assert_int_equal(status, struck ? TD_NOMEM : TD_OK);
        assert_true(struck == (bytes == NULL));
        if (struck && obs != NULL) {
            td_obs_reset(obs);
            assert_int_equal(work_a_little(obs, &bytes, &sz), TD_OK);
        }
        td_free(bytes);
        td_obs_free(obs);
        assert_int_equal(td_alloc_live_cnt(), before);
    }
    assert_true(nth > 15);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(equal_values_have_equal_ids),
        cmocka_unit_test(atoms_read_back),
        cmocka_unit_test(the_order_of_making_does_not_matter),
        cmocka_unit_test(a_bag_counts_equal_members),
        cmocka_unit_test(the_order_is_total),
        cmocka_unit_test(ordinals_count_from_first_sight),
        cmocka_unit_test(any_spacing_of_identities_is_good),
        cmocka_unit_test(a_record_takes_its_fields_in_any_order),
        cmocka_unit_test(a_wrong_record_sticks_and_is_named),
        cmocka_unit_test(wrong_text_is_refused),
        cmocka_unit_test(nesting_has_a_bound),
        cmocka_unit_test(reset_forgets_and_keeps_nothing),
        cmocka_unit_test(every_failing_allocation_is_told),
    };

    return cmocka_run_group_tests_name("observe.td_obs", tests, NULL, NULL);
}
