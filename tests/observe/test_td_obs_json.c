/* test_td_obs_json.c: how observations are shown, as JSON and as a tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/td_alloc.h"
#include "value_text.h"

static void
expect_json(td_obs_t *obs, td_val_t val, char const *text)
{
    char *json = td_obs_json(obs, val, false);

    assert_non_null(json);
    assert_string_equal(json, text);
    td_free(json);
}

static void
atoms_are_json(void **state)
{
    td_obs_t *obs = td_obs_new();

    (void)state;
    expect_json(obs, value_of(obs, "[null, true, false, 0, -1, 1.5, -0.0, 'a']"),
                "[null, true, false, 0, -1, 1.5, -0.0, \"a\"]");
    expect_json(obs, td_obs_int(obs, INT64_C(9007199254740992)), "9007199254740992");
    expect_json(obs, td_obs_int(obs, INT64_C(9007199254740993)), "\"9007199254740993\"");
    expect_json(obs, td_obs_int(obs, INT64_MIN), "\"-9223372036854775808\"");
    expect_json(obs, td_obs_bigint(obs, "9223372036854775808"), "\"9223372036854775808\"");
    expect_json(obs, td_obs_float(obs, 1e300 * 1e300), "\"inf\"");
    expect_json(obs, td_obs_float(obs, 1e16), "1e+16");
    expect_json(obs, td_obs_str(obs, "\"\\\n\0\xC3\xA9\xED\xA0\x80", 9),
                "\"\\\"\\\\\\u000a\\u0000\xC3\xA9\\ud800\"");
    expect_json(obs, td_obs_absent(obs), "null");
    expect_json(obs, value_of(obs, "[[], (), [1, [2]]]"), "[[], [], [1, [2]]]");
    assert_null(td_obs_json(obs, TD_VAL_NONE, false));
    td_obs_free(obs);
}

static void
trackers_have_source_guards_and_fields(void **state)
{
    td_obs_t *obs = td_obs_new();

    (void)state;
    expect_json(
        obs,
        value_of(obs, "ConstantVariable{source=['AttrSource', L'm', 'w'], value=5, guards=("
                      "[L'b', 'ID_MATCH', false, null],"
                      "[L'a', 'TYPE_MATCH', true, null],"
                      "[L'a', 'TENSOR_MATCH', false, [['value', ['weakref', ['object', 3]]]]])}"),
        "{\"kind\":\"ConstantVariable\","
        "\"source\":\"L['m'].w\","
        "\"source_tree\":[\"AttrSource\", [\"LocalSource\", \"m\", false], \"w\"],"
        "\"guards\":["
        "[\"L['a']\", \"TENSOR_MATCH\", {\"guard_source\": \"LOCAL\", "
        "\"source_tree\": [\"LocalSource\", \"a\", false], "
        "\"payload\": {\"value\": [\"weakref\", [\"object\", 3]]}}], "
        "[\"L['a']\", \"TYPE_MATCH\", {\"guard_source\": \"LOCAL\", "
        "\"source_tree\": [\"LocalSource\", \"a\", false], \"is_volatile\": true}], "
        "[\"L['b']\", \"ID_MATCH\", {\"guard_source\": \"LOCAL\", "
        "\"source_tree\": [\"LocalSource\", \"b\", false]}]],"
        "\"fields\":{\"value\":5,\"mutable_local\":null,\"recursively_contains\":null}}");
    td_obs_free(obs);
}

static void
numbers_that_json_lacks_have_their_type_beside_them(void **state)
{
    td_obs_t      *obs   = td_obs_new();
    td_val_t const far[] = {
        td_obs_int(obs, INT64_C(-9007199254740993)),
        td_obs_bigint(obs, "9223372036854775808"),
        td_obs_float(obs, -1e300 * 1e300),
        td_obs_str(obs, "inf", 3),
        td_obs_float(obs, 0.5),
    };
    char const *const texts[] = {
        "\"scalar\":\"-9007199254740993\",\"scalar_kind\":\"int\"",
        "\"scalar\":\"9223372036854775808\",\"scalar_kind\":\"int\"",
        "\"scalar\":\"-inf\",\"scalar_kind\":\"float\"",
        "\"scalar\":\"inf\"",
        "\"scalar\":0.5",
    };

    (void)state;
    for (size_t idx = 0; idx < sizeof(far) / sizeof(far[0]); idx++) {
        td_obs_field_t fields[2] = {
            {.field = TD_FIELD_FrameStateSizeEntry_scalar, .value = far[idx]},
            {.field = TD_FIELD_FrameStateSizeEntry_size, .value = td_obs_null(obs)},
        };
        char text[160];

        (void)snprintf(text, sizeof(text), "{\"kind\":\"FrameStateSizeEntry\",%s,\"size\":null}",
                       texts[idx]);
        expect_json(obs, td_obs_record(obs, TD_CLASS_FrameStateSizeEntry, fields, 2), text);
    }
    td_obs_free(obs);
}

static void
a_payload_is_an_object_whatever_it_holds(void **state)
{
    td_obs_t *obs   = td_obs_new();
    td_val_t  value = value_of(obs, "ConstantVariable{guards=([L'a', 'TENSOR_MATCH', false, "
                                     "[['value', Exception{kind='E', message='m'}]]])}");
    char     *json  = td_obs_json(obs, value, false);

    (void)state;
    assert_non_null(json);
    assert_non_null(strstr(json, "\"payload\": {\"value\": {\"kind\":\"E\""));
    td_free(json);
    td_obs_free(obs);
}

static void
roots_leave_out_what_they_have_not(void **state)
{
    td_obs_t *obs = td_obs_new();

    (void)state;
    expect_json(obs,
                value_of(obs, "Root{source=L'x', outcome='exception', exception=Exception{"
                              "kind='torch._dynamo.exc.Unsupported', message='no'}}"),
                "{\"kind\":\"Root\",\"source\":\"L['x']\",\"source_tree\":[\"LocalSource\", \"x\", "
                "false],\"outcome\":\"exception\",\"exception\":{\"kind\":\"Unsupported\","
                "\"class\":\"torch._dynamo.exc.Unsupported\",\"message\":\"no\"}}");
    expect_json(obs, value_of(obs, "Root{outcome='do'}"),
                "{\"kind\":\"Root\",\"source\":null,\"source_tree\":null,\"outcome\":\"do\"}");
    td_obs_free(obs);
}

static void
a_frame_collects_its_graph_args(void **state)
{
    td_obs_t *obs = td_obs_new();
    char     *json =
        td_obs_json(obs,
                    value_of(obs, "Frame{graph=[Node{name='l_x_', meta=NodeMeta{grapharg="
                                  "GraphArg{source=L'x', is_tensor=true}}}, Node{name='add'}]}"),
                    false);

    (void)state;
    assert_non_null(json);
    assert_non_null(strstr(json, "\"graph_args\":[{\"kind\":\"GraphArg\",\"source\":\"L['x']\""));
    td_free(json);
    td_obs_free(obs);
}

static void
indented_json_has_a_line_for_each_member(void **state)
{
    td_obs_t *obs  = td_obs_new();
    char     *json = td_obs_json(obs,
                                 value_of(obs, "Root{source=L'x', tracker=ConstantVariable{"
                                                   "value=[1, 2], guards=("
                                                   "[L'x', 'A', false, null])}}"),
                                 true);

    (void)state;
    assert_non_null(json);
    assert_string_equal(json,
                        "{\n"
                        "  \"kind\": \"Root\",\n"
                        "  \"source\": \"L['x']\",\n"
                        "  \"source_tree\": [\"LocalSource\", \"x\", false],\n"
                        "  \"tracker\": {\n"
                        "    \"kind\": \"ConstantVariable\",\n"
                        "    \"source\": null,\n"
                        "    \"source_tree\": null,\n"
                        "    \"guards\": [\n"
                        "      [\"L['x']\", \"A\", {\"guard_source\": \"LOCAL\", \"source_tree\": "
                        "[\"LocalSource\", \"x\", false]}]\n"
                        "    ],\n"
                        "    \"fields\": {\n"
                        "      \"value\": [1, 2],\n"
                        "      \"mutable_local\": null,\n"
                        "      \"recursively_contains\": null\n"
                        "    }\n"
                        "  }\n"
                        "}");
    td_free(json);
    td_obs_free(obs);
}

static void
trees_are_for_people(void **state)
{
    td_obs_t *obs = td_obs_new();
    char     *tree;

    (void)state;
    tree = td_obs_tree_text(obs,
                            value_of(obs, "Root{source=L'x', outcome='tracker', tracker="
                                          "ListVariable{source=L'x', items=["
                                          "ConstantVariable{value=['torch.dtype', 'float32']},"
                                          "ConstantVariable{value=[1, 'a']}], guards=("
                                          "[L'x', 'TYPE_MATCH', true, null],"
                                          "[L'x', 'TENSOR_MATCH', false, [['value', 3]]])}}"),
                            false);
    assert_non_null(tree);
    assert_string_equal(tree, "Root\n"
                              "  source: L['x'] (LocalSource)\n"
                              "  outcome: 'tracker'\n"
                              "  tracker: ListVariable\n"
                              "    source: L['x'] (LocalSource)\n"
                              "    items: \n"
                              "      [0] ConstantVariable\n"
                              "        source: None\n"
                              "        value: torch.float32\n"
                              "        mutable_local: None\n"
                              "        recursively_contains: None\n"
                              "        guards: None\n"
                              "      [1] ConstantVariable\n"
                              "        source: None\n"
                              "        value: [1, 'a']\n"
                              "        mutable_local: None\n"
                              "        recursively_contains: None\n"
                              "        guards: None\n"
                              "    mutable_local: None\n"
                              "    recursively_contains: None\n"
                              "    guards: \n"
                              "      TENSOR_MATCH L['x'] (LocalSource) LOCAL [<value 3>]\n"
                              "      TYPE_MATCH L['x'] (LocalSource) LOCAL volatile\n");
    td_free(tree);
    td_obs_free(obs);
}

static void
colours_and_control_characters_are_kept_apart(void **state)
{
    td_obs_t *obs  = td_obs_new();
    td_val_t  name = td_obs_cstr(obs, "\x1b[2Jc");
    td_val_t  tree = td_form_source(obs, TD_SOURCE_CLASS_ConstantSource, &name, 1);
    char     *text = td_obs_tree_text(obs, tree, true);

    (void)state;
    assert_string_equal(text, "\x1b[36m\\x1b[2Jc\x1b[0m (ConstantSource)\n");
    td_free(text);
    td_obs_free(obs);
}

/* A value that is endless when written out ends with NULL, not with the memory. */
static void
endless_text_is_refused(void **state)
{
    static char text[100000];
    td_obs_t   *obs = td_obs_new();
    td_val_t    val;

    (void)state;
    memset(text, 'x', sizeof text);
    val = td_obs_str(obs, text, sizeof text);
    for (int doubling = 0; doubling < 60; doubling++) {
        val = td_obs_pair(obs, val, val);
    }
    assert_null(td_obs_json(obs, val, false));
    assert_null(td_obs_tree_text(obs, val, false));
    assert_int_equal(td_obs_status(obs), TD_OK);
    td_obs_free(obs);
}

static void
a_failing_allocation_is_told(void **state)
{
    td_obs_t *obs    = td_obs_new();
    bool      struck = true;

    (void)state;
    for (uint64_t nth = 1; struck; nth++) {
        td_val_t val =
            value_of(obs, "ListVariable{source=L'x', guards=([L'x', 'A', false, null])}");
        char *text[2];

        td_nomem_arm(nth);
        text[0] = td_obs_json(obs, val, true);
        text[1] = td_obs_tree_text(obs, val, true);
        struck  = td_nomem_disarm();
        assert_true(struck == (text[0] == NULL || text[1] == NULL));
        td_free(text[0]);
        td_free(text[1]);
        td_obs_reset(obs);
    }
    td_obs_free(obs);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(atoms_are_json),
        cmocka_unit_test(trackers_have_source_guards_and_fields),
        cmocka_unit_test(numbers_that_json_lacks_have_their_type_beside_them),
        cmocka_unit_test(a_payload_is_an_object_whatever_it_holds),
        cmocka_unit_test(roots_leave_out_what_they_have_not),
        cmocka_unit_test(a_frame_collects_its_graph_args),
        cmocka_unit_test(indented_json_has_a_line_for_each_member),
        cmocka_unit_test(trees_are_for_people),
        cmocka_unit_test(colours_and_control_characters_are_kept_apart),
        cmocka_unit_test(endless_text_is_refused),
        cmocka_unit_test(a_failing_allocation_is_told),
    };

    return cmocka_run_group_tests_name("observe.td_obs_json", tests, NULL, NULL);
}
