/* test_td_schema.c: the tables say what classes.def and fields.def say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "observe/td_forms.h"
#include "observe/td_schema.h"

static void
classes_are_found_by_name(void **state)
{
    (void)state;
    for (td_class_t class_id = TD_CLASS_NONE + 1; class_id < TD_CLASS_CNT; class_id++) {
        assert_int_equal(td_class_find(td_class_name(class_id)), class_id);
        assert_true(td_class_parent(class_id) < class_id); /* parents first */
    }
    assert_int_equal(td_class_find("NoSuchClass"), TD_CLASS_NONE);
    assert_int_equal(td_class_find(""), TD_CLASS_NONE);
    assert_string_equal(td_class_name(TD_CLASS_CNT), "");
    assert_int_equal(td_class_parent(TD_CLASS_CNT), TD_CLASS_NONE);
}

static void
classes_descend(void **state)
{
    (void)state;
    assert_true(td_class_is_a(TD_CLASS_ListVariable, TD_CLASS_VariableTracker));
    assert_true(td_class_is_a(TD_CLASS_ListVariable, TD_CLASS_ListVariable));
    assert_false(td_class_is_a(TD_CLASS_VariableTracker, TD_CLASS_ListVariable));
    assert_false(td_class_is_a(TD_CLASS_Frame, TD_CLASS_VariableTracker));
    assert_false(td_class_is_a(TD_CLASS_NONE, TD_CLASS_VariableTracker));
}

static void
fields_are_found_in_the_class_or_above(void **state)
{
    (void)state;
    assert_int_equal(td_field_find(TD_CLASS_ListVariable, "guards"),
                     TD_FIELD_VariableTracker_guards);
    assert_int_equal(td_field_find(TD_CLASS_ListVariable, "items"),
                     TD_FIELD_BaseListVariable_items);
    assert_int_equal(td_field_find(TD_CLASS_VariableTracker, "items"), TD_FIELD_NONE);
    assert_int_equal(td_field_find(TD_CLASS_NONE, "items"), TD_FIELD_NONE);
    assert_string_equal(td_field_info(TD_FIELD_BaseListVariable_items)->attribute, "items");
    assert_string_equal(td_field_info(TD_FIELD_BaseListVariable_items)->class_name,
                        "BaseListVariable");
    assert_int_equal(td_field_info(TD_FIELD_BaseListVariable_items)->form, TD_FORM_TRACKERS);
    assert_null(td_field_info(TD_FIELD_CNT));
}

static void
class_fields_are_the_compared_ones_in_order(void **state)
{
    (void)state;
    for (td_class_t class_id = TD_CLASS_NONE + 1; class_id < TD_CLASS_CNT; class_id++) {
        size_t            cnt, expected_cnt = 0;
        td_field_t const *fields = td_class_fields(class_id, &cnt);

        for (td_field_t field = TD_FIELD_NONE + 1; field < TD_FIELD_CNT; field++) {
            td_field_info_t const *info = td_field_info(field);

            if (info->disposition == TD_COMPARED &&
                td_field_find(class_id, info->attribute) == field) {
                assert_true(expected_cnt < cnt);
                assert_int_equal(fields[expected_cnt++], field);
            }
        }
        assert_int_equal(expected_cnt, cnt);
    }
}

static void
trackers_end_with_their_guards(void **state)
{
    (void)state;
    for (td_class_t class_id = TD_CLASS_NONE + 1; class_id < TD_CLASS_CNT; class_id++) {
        size_t            cnt;
        td_field_t const *fields = td_class_fields(class_id, &cnt);

        if (td_class_is_a(class_id, TD_CLASS_VariableTracker)) {
            assert_int_equal(fields[0], TD_FIELD_VariableTracker_source);
            assert_int_equal(fields[cnt - 1], TD_FIELD_VariableTracker_guards);
        }
    }
}

static void
no_class_has_no_fields(void **state)
{
    size_t cnt = 7;

    (void)state;
    assert_null(td_class_fields(TD_CLASS_NONE, &cnt));
    assert_int_equal(cnt, 0);
    cnt = 7;
    assert_null(td_class_fields(TD_CLASS_CNT, &cnt));
    assert_int_equal(cnt, 0);
}

/* Why is given where it must be, in one of the words of the schema. */
static void
every_row_has_its_reason(void **state)
{
    static char const *const reasons[] = {"bookkeeping-of-python", "cache", "backlink",
                                          "later-stage", "address"};

    (void)state;
    for (td_field_t field = TD_FIELD_NONE + 1; field < TD_FIELD_CNT; field++) {
        td_field_info_t const *info  = td_field_info(field);
        bool                   known = false;

        for (size_t idx = 0; idx < sizeof reasons / sizeof *reasons; idx++) {
            known = known || strcmp(info->why, reasons[idx]) == 0;
        }
        if (info->disposition == TD_IGNORED
                ? !known
                : (info->why[0] != '\0') != (info->disposition == TD_IMPLIED)) {
            fail_msg("%s.%s: %s", info->class_name, info->attribute, info->why);
        }
        if (info->disposition == TD_COMPARED) {
            assert_int_not_equal(info->form, TD_FORM_NONE);
        }
    }
}

/* The trees of sources and the schema's rows of them are two lists: they agree. */
static void
source_trees_have_the_rows_of_the_schema(void **state)
{
    size_t class_cnt = 0;

    (void)state;
    for (td_source_class_t source_class = 0; source_class < TD_SOURCE_CLASS_CNT; source_class++) {
        td_source_class_info_t const *info = td_source_class_info(source_class);
        size_t                        cnt;
        td_field_t const             *fields = td_class_fields(td_class_find(info->name), &cnt);

        assert_int_equal(cnt, info->field_cnt);
        for (size_t idx = 0; idx < cnt; idx++) {
            assert_string_equal(td_field_info(fields[idx])->attribute, info->fields[idx]);
        }
    }
    for (td_class_t class_id = TD_CLASS_NONE + 1; class_id < TD_CLASS_CNT; class_id++) {
        class_cnt += td_class_is_a(class_id, TD_CLASS_Source) && class_id != TD_CLASS_Source &&
                     class_id != TD_CLASS_ChainedSource;
    }
    assert_int_equal(class_cnt, TD_SOURCE_CLASS_CNT);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(classes_are_found_by_name),
        cmocka_unit_test(classes_descend),
        cmocka_unit_test(fields_are_found_in_the_class_or_above),
        cmocka_unit_test(class_fields_are_the_compared_ones_in_order),
        cmocka_unit_test(trackers_end_with_their_guards),
        cmocka_unit_test(no_class_has_no_fields),
        cmocka_unit_test(every_row_has_its_reason),
        cmocka_unit_test(source_trees_have_the_rows_of_the_schema),
    };

    return cmocka_run_group_tests_name("observe.td_schema", tests, NULL, NULL);
}
