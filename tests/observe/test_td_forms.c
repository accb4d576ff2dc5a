/* test_td_forms.c: each form has the shape that its header says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "value_text.h"

static void
forms_have_their_shape(void **state)
{
    td_obs_t *obs        = td_obs_new();
    td_val_t  x          = value_of(obs, "L'x'");
    uint32_t  ordinals[] = {5, 0, 2};

    (void)state;
    struct {
        td_val_t    made;
        char const *text;
    } const table[] = {
        {x, "['LocalSource', 'x', false]"},
        {td_form_global_source(obs, "g", 1), "['GlobalSource', 'g']"},
        {td_form_attr(obs, TD_SOURCE_CLASS_AttrSource, x, "a", 1), "['AttrSource', L'x', 'a']"},
        {td_form_attr(obs, TD_SOURCE_CLASS_ParamBufferSource, x, "a.b.c", 5),
         "['ParamBufferSource', ['AttrSource', ['AttrSource', L'x', 'a'], 'b'], 'c']"},
        {td_form_item(obs, TD_SOURCE_CLASS_GetItemSource, x, td_obs_int(obs, 1), false),
         "['GetItemSource', L'x', 1, false]"},
        {td_form_item(obs, TD_SOURCE_CLASS_ODictGetItemSource, x, td_obs_int(obs, 1), false),
         "['ODictGetItemSource', L'x', 1]"},
        {td_form_slice_index(obs, td_obs_int(obs, 1), td_obs_null(obs), td_obs_null(obs)),
         "['tuple', [['class', 'builtins', 'slice'], ['tuple', [1, null, null]]]]"},
        {td_form_tensor_property(obs, x, "SIZE", td_obs_int(obs, 0)),
         "['TensorPropertySource', L'x', 'SIZE', 0]"},
        {td_form_object(obs, 3), "['object', 3]"},
        {td_form_typed(obs, "torch.dtype", td_obs_cstr(obs, "int8")), "['torch.dtype', 'int8']"},
        {td_form_enum(obs, td_form_class(obs, "m", "C"), "A", 1),
         "['enum', ['class', 'm', 'C'], 'A']"},
        {td_form_global(obs, "m", "f.g"), "['global', 'm', 'f.g']"},
        {td_form_bytes(obs, (uint8_t const *)"a\xE9", 2), "['bytes', 'a\xC3\xA9']"},
        {td_form_again(obs, 4), "['again', 4]"},
        {td_form_node(obs, 4), "['node', 4]"},
        {td_form_proxy(obs, 4, "l_x_", 4), "[4, 'l_x_']"},
        {td_form_contains(obs, ordinals, 3), "[0, 2, 5]"},
        {td_form_contains(obs, NULL, 0), "[]"},
        {td_form_sym(obs, "SymInt", "2*s0", 4, td_obs_int(obs, 8)), "['SymInt', '2*s0', 8]"},
        {td_form_guard(obs, x, "ID_MATCH", true, td_obs_null(obs)),
         "[L'x', 'ID_MATCH', true, null]"},
        {td_form_payload(obs, NULL, 0), "[]"},
    };
    for (size_t idx = 0; idx < sizeof table / sizeof *table; idx++) {
        if (table[idx].made != value_of(obs, table[idx].text)) {
            fail_msg("case %zu is not %s", idx, table[idx].text);
        }
    }
    assert_int_equal(td_obs_status(obs), TD_OK);
    td_obs_free(obs);
}

static void
guard_bags_count_equal_rows(void **state)
{
    td_obs_t *obs     = td_obs_new();
    td_val_t  row     = td_form_guard(obs, value_of(obs, "L'x'"), "A", false, td_obs_null(obs));
    td_val_t  rows[2] = {row, row};

    (void)state;
    assert_int_equal(td_form_guards(obs, rows, 2),
                     value_of(obs, "([L'x', 'A', false, null], [L'x', 'A', false, null])"));
    assert_int_not_equal(td_form_guards(obs, rows, 1), td_form_guards(obs, rows, 2));
    td_obs_free(obs);
}

/* A form of another shape is a bug of whoever made it: it sticks and is named. */
static void
wrong_shapes_stick(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 5; wrong++) {
        td_obs_t *obs     = td_obs_new();
        td_val_t  number  = td_obs_int(obs, 1);
        td_val_t  pair[2] = {number, number};
        td_val_t  made;

        switch (wrong) {
        case 0:
            made = td_form_source(obs, TD_SOURCE_CLASS_LocalSource, pair, 1);
            break;
        case 1:
            made = td_form_source(obs, TD_SOURCE_CLASS_LocalSource, pair, 2);
            break;
        case 2:
            made = td_form_chained(obs, TD_SOURCE_CLASS_TypeSource, number);
            break;
        case 3:
            made = td_form_chained(obs, TD_SOURCE_CLASS_TypeSource, TD_VAL_NONE);
            break;
        default:
            made = td_form_guard(obs, number, "A", false, td_obs_null(obs));
            break;
        }
        assert_int_equal(made, TD_VAL_NONE);
        assert_int_equal(td_obs_status(obs), TD_INTERNAL);
        assert_string_not_equal(td_obs_why(obs), "");
        td_obs_free(obs);
    }
}

static void
sources_are_told_from_other_lists(void **state)
{
    td_obs_t *obs = td_obs_new();

    (void)state;
    assert_true(td_form_is_source(obs, value_of(obs, "['AttrSource', L'x', 'a']")));
    assert_true(td_form_is_source(obs, value_of(obs, "['ShapeEnvSource']")));
    assert_false(td_form_is_source(obs, value_of(obs, "['AttrSource', 'a']")));
    assert_false(td_form_is_source(obs, value_of(obs, "['object', 3]")));
    assert_false(td_form_is_source(obs, value_of(obs, "[]")));
    assert_false(td_form_is_source(obs, value_of(obs, "[1, 2]")));
    assert_false(td_form_is_source(obs, value_of(obs, "'LocalSource'")));
    assert_int_equal(td_source_class_find("NoSource"), TD_SOURCE_CLASS_CNT);
    assert_null(td_source_class_info(TD_SOURCE_CLASS_CNT));
    td_obs_free(obs);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(forms_have_their_shape),
        cmocka_unit_test(guard_bags_count_equal_rows),
        cmocka_unit_test(wrong_shapes_stick),
        cmocka_unit_test(sources_are_told_from_other_lists),
    };

    return cmocka_run_group_tests_name("observe.td_forms", tests, NULL, NULL);
}
