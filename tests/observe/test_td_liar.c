/* test_td_liar.c: every lie about every attribute is caught and named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/td_alloc.h"
#include "observe/td_liar.h"
#include "random_value.h"
#include "value_text.h"

enum { SEED_CNT = 6 };

static td_val_t
any_source(td_obs_t *obs, td_source_class_t source_class, td_rng_t *rng)
{
    td_source_class_info_t const *info = td_source_class_info(source_class);
    td_val_t                      fields[TD_SOURCE_FIELD_CNT_MAX];

    for (size_t idx = 0; idx < info->field_cnt; idx++) {
        switch (info->kinds[idx]) {
        case TD_SOURCE_FIELD_SOURCE:
            fields[idx] = td_form_local(obs, "base", 4, false);
            break;
        case TD_SOURCE_FIELD_BOOL:
            fields[idx] = td_obs_bool(obs, td_rng_below(rng, 2) == 0);
            break;
        case TD_SOURCE_FIELD_INT:
            fields[idx] = td_obs_int(obs, (int64_t)td_rng_below(rng, 9));
            break;
        case TD_SOURCE_FIELD_STR:
        case TD_SOURCE_FIELD_PROP:
            fields[idx] = td_obs_cstr(obs, "SIZE");
            break;
        default:
            fields[idx] = random_atom(obs, rng);
            break;
        }
    }
    return td_form_source(obs, source_class, fields, info->field_cnt);
}

/* A frame with a record of every class, a tree of every source class and a guard. */
static td_val_t
whole_frame(td_obs_t *obs, td_rng_t *rng)
{
    td_val_t          items[TD_CLASS_CNT + TD_SOURCE_CLASS_CNT + 1];
    td_obs_field_t    fields[TD_CLASS_FIELD_CNT_MAX];
    size_t            cnt = 0, field_cnt;
    td_field_t const *order;

    for (td_class_t class_id = TD_CLASS_NONE + 1; class_id < TD_CLASS_CNT; class_id++) {
        order = td_class_fields(class_id, &field_cnt);
        if (!is_record_class(class_id)) {
            continue;
        }
        for (size_t idx = 0; idx < field_cnt; idx++) {
            fields[idx] = (td_obs_field_t){order[idx], random_value(obs, rng, 2)};
        }
        items[cnt++] = td_obs_record(obs, class_id, fields, field_cnt);
    }
    for (td_source_class_t source_class = 0; source_class < TD_SOURCE_CLASS_CNT; source_class++) {
        items[cnt++] = any_source(obs, source_class, rng);
    }
    items[cnt] = td_form_guard(obs, items[cnt - 1], "ID_MATCH", false, td_obs_null(obs));
    cnt++;
    order = td_class_fields(TD_CLASS_Frame, &field_cnt);
    for (size_t idx = 0; idx < field_cnt; idx++) {
        bool roots = order[idx] == TD_FIELD_Frame_roots;
        fields[idx] =
            (td_obs_field_t){order[idx], roots ? td_obs_list(obs, items, cnt) : td_obs_null(obs)};
    }
    return td_obs_record(obs, TD_CLASS_Frame, fields, field_cnt);
}

/* Tells the lie and has it found; says whether there was something to lie about. */
static bool
is_caught(td_obs_t *obs, uint8_t const *bytes, size_t sz, td_class_t class_id, td_field_t field)
{
    td_lie_t      lie;
    td_obs_diff_t diffs[4];
    td_val_t      truth, told;
    size_t        cnt;

    if (!td_liar_tell(obs, bytes, sz, class_id, field, &lie)) {
        assert_int_equal(td_obs_status(obs), TD_OK);
        return false;
    }
    assert_int_equal(td_obs_decode(obs, bytes, sz, &truth), TD_OK);
    assert_int_equal(td_obs_decode(obs, lie.bytes, lie.sz, &told), TD_OK);
    cnt = td_obs_diff(obs, truth, told, diffs, 4);
    if (cnt == 0 || strcmp(diffs[0].field, lie.field) != 0) {
        fail_msg("lie about %s: %s at %s", lie.field, cnt != 0 ? diffs[0].field : "not found",
                 cnt != 0 ? diffs[0].path : "");
    }
    td_free(lie.bytes);
    return true;
}

static void
every_attribute_of_every_class_is_lied_about(void **state)
{
    td_obs_t *obs = td_obs_new();
    td_rng_t  rng;
    size_t    told_cnt = 0, sz;
    uint8_t  *bytes;

    (void)state;
    td_rng_init(&rng, 12);
    for (int seed = 0; seed < SEED_CNT; seed++) {
        assert_int_equal(td_obs_encode(obs, whole_frame(obs, &rng), &bytes, &sz), TD_OK);
        for (td_class_t class_id = TD_CLASS_NONE + 1; class_id < TD_CLASS_CNT; class_id++) {
            size_t            field_cnt;
            td_field_t const *fields = td_class_fields(class_id, &field_cnt);
            bool              has_instances =
                is_record_class(class_id) || class_id == TD_CLASS_Guard ||
                td_source_class_find(td_class_name(class_id)) != TD_SOURCE_CLASS_CNT;

            for (size_t idx = 0; idx < field_cnt; idx++) {
                bool by_class = class_id != TD_CLASS_Guard;

                td_obs_reset(obs);
                assert_int_equal(
                    is_caught(obs, bytes, sz, by_class ? class_id : TD_CLASS_NONE, fields[idx]),
                    has_instances);
                told_cnt += has_instances;
            }
        }
        td_free(bytes);
        td_obs_reset(obs);
    }
    assert_true(told_cnt > 1000);
    td_obs_free(obs);
}

static void
every_row_of_the_schema_is_lied_about(void **state)
{
    td_obs_t *obs = td_obs_new();
    td_rng_t  rng;
    size_t    sz;
    uint8_t  *bytes;

    (void)state;
    td_rng_init(&rng, 13);
    assert_int_equal(td_obs_encode(obs, whole_frame(obs, &rng), &bytes, &sz), TD_OK);
    for (td_field_t field = TD_FIELD_NONE + 1; field < TD_FIELD_CNT; field++) {
        if (td_field_info(field)->disposition == TD_COMPARED) {
            td_obs_reset(obs);
            assert_true(is_caught(obs, bytes, sz, TD_CLASS_NONE, field));
        }
    }
    td_free(bytes);
    td_obs_free(obs);
}

/* Each kind of value, as another one of its shape. */
static void
lies_keep_the_shape(void **state)
{
    static char const *const table[][2] = {
        {"absent", "null"},
        {"null", "'liar'"},
        {"true", "false"},
        {"5", "6"},
        {"'a'", "'a''"},
        {"[1, 2]", "[1]"},
        {"(1, 2)", "(1)"},
        {"['object', 3]", "['object', 4]"},
        {"['tuple', [1, 2]]", "['tuple', [1]]"},
        {"ListVariable{}", "null"},
    };
    td_obs_t *obs = td_obs_new();

    (void)state;
    for (size_t idx = 0; idx < sizeof table / sizeof *table; idx++) {
        td_val_t lie =
            td_liar_change(obs, value_of(obs, table[idx][0]), TD_FIELD_ConstantVariable_value);
        td_val_t expected = strcmp(table[idx][0], "'a'") == 0 ? td_obs_cstr(obs, "a'")
                                                              : value_of(obs, table[idx][1]);

        assert_int_equal(lie, expected);
    }
    assert_int_equal(
        td_liar_change(obs, td_obs_int(obs, INT64_MAX), TD_FIELD_ConstantVariable_value),
        td_obs_int(obs, 0));
    assert_int_equal(td_liar_change(obs, td_obs_null(obs), TD_FIELD_VariableTracker_source),
                     td_form_local(obs, "liar", 4, false));
    assert_int_not_equal(
        td_liar_change(obs, td_obs_float(obs, 0.0), TD_FIELD_ConstantVariable_value),
        td_obs_float(obs, 0.0));
    assert_int_not_equal(
        td_liar_change(obs, td_obs_bag(obs, NULL, 0), TD_FIELD_VariableTracker_guards),
        td_obs_bag(obs, NULL, 0));
    assert_int_equal(td_obs_status(obs), TD_OK);
    td_obs_free(obs);
}

static void
nothing_to_lie_about_is_told(void **state)
{
    td_obs_t *obs = td_obs_new();
    td_lie_t  lie;
    uint8_t  *bytes;
    size_t    sz;

    (void)state;
    assert_int_equal(td_obs_encode(obs, value_of(obs, "[ListVariable{}]"), &bytes, &sz), TD_OK);
    assert_false(
        td_liar_tell(obs, bytes, sz, TD_CLASS_NONE, TD_FIELD_ConstantVariable_value, &lie));
    assert_false(td_liar_tell(obs, bytes, sz, TD_CLASS_TupleVariable,
                              TD_FIELD_BaseListVariable_items, &lie));
    assert_null(lie.bytes);
    assert_true(td_liar_tell(obs, bytes, sz, TD_CLASS_NONE, TD_FIELD_BaseListVariable_items, &lie));
    td_free(lie.bytes);
    assert_false(
        td_liar_tell(obs, bytes, sz - 1, TD_CLASS_NONE, TD_FIELD_BaseListVariable_items, &lie));
    assert_int_equal(td_obs_status(obs), TD_OK);
    assert_string_not_equal(td_obs_why(obs), "");
    td_free(bytes);
    td_obs_free(obs);
}

static void
a_failing_allocation_is_told(void **state)
{
    td_obs_t *obs = td_obs_new();
    uint8_t  *bytes;
    size_t    sz;
    int64_t   before;
    bool      struck = true;

    (void)state;
    assert_int_equal(
        td_obs_encode(obs, value_of(obs, "[ListVariable{source=L'x', items=[1]}]"), &bytes, &sz),
        TD_OK);
    td_obs_free(obs);
    before = td_alloc_live_cnt();
    for (uint64_t nth = 1; struck; nth++) {
        td_lie_t lie;
        bool     is_told;

        obs = td_obs_new();
        td_nomem_arm(nth);
        is_told =
            td_liar_tell(obs, bytes, sz, TD_CLASS_NONE, TD_FIELD_BaseListVariable_items, &lie);
        struck = td_nomem_disarm();
        assert_true(struck != is_told);
        assert_int_equal(td_obs_status(obs), struck ? TD_NOMEM : TD_OK);
        td_free(lie.bytes);
        td_obs_free(obs);
        assert_int_equal(td_alloc_live_cnt(), before);
    }
    td_free(bytes);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_attribute_of_every_class_is_lied_about),
        cmocka_unit_test(every_row_of_the_schema_is_lied_about),
        cmocka_unit_test(lies_keep_the_shape),
        cmocka_unit_test(nothing_to_lie_about_is_told),
        cmocka_unit_test(a_failing_allocation_is_told),
    };

    return cmocka_run_group_tests_name("observe.td_liar", tests, NULL, NULL);
}
