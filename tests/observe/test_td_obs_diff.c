/* test_td_obs_diff.c: every difference has its address, once, in build order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/td_alloc.h"
#include "random_value.h"
#include "value_text.h"

typedef struct {
    char const *reference, *subject;
    char const *found; /* "path field reference|subject; ..." with values as JSON, - for none */
} diff_case_t;

static void
describe(td_obs_t *obs, td_val_t reference, td_val_t subject, char *out, size_t out_sz)
{
    td_obs_diff_t diffs[16];
    size_t        cnt = td_obs_diff(obs, reference, subject, diffs, 16);
    size_t        len = 0;

    out[0] = '\0';
    for (size_t idx = 0; idx < cnt; idx++) {
        char *one = td_obs_json(obs, diffs[idx].reference, false);
        char *two = td_obs_json(obs, diffs[idx].subject, false);

        len += (size_t)snprintf(out + len, out_sz - len, "%s%s %s %.30s|%.30s",
                                idx != 0 ? "; " : "", diffs[idx].path, diffs[idx].field,
                                one != NULL ? one : "-", two != NULL ? two : "-");
        assert_true(len < out_sz);
        td_free(one);
        td_free(two);
    }
}

static void
differences_have_addresses(void **state)
{
    static diff_case_t const table[] = {
        {"5", "5", ""},
        {"5", "6", "  5|6"},
        {"5", "5.0", "  5|5.0"},
        {"[1, 2]", "[1, 3]", "[1]  2|3"},
        {"[1, 2]", "[1]", "[1]  2|-"},
        {"[1]", "[1, 2, 3]", "[1]  -|2; [2]  -|3"},
        {"[1]", "(1)", "  [1]|[1]"},
        {"(1, 2)", "(3, 2)", "  1|-;   -|3"},
        {"ConstantVariable{value=5}", "ConstantVariable{value=6}",
         "value ConstantVariable.value 5|6"},
        {"Frame{roots=[Root{tracker=ConstantVariable{value=1}}, Root{tracker=ListVariable{items=["
         "ConstantVariable{value=1}, ConstantVariable{value='a', guards=([L'x', 'ID_MATCH', false, "
         "null])}]}}]}",
         "Frame{roots=[Root{tracker=ConstantVariable{value=1}}, Root{tracker=ListVariable{items=["
         "ConstantVariable{value=1}, ConstantVariable{value='a', guards=()}]}}]}",
         "roots[1].tracker.items[1].guards ConstantVariable.guards [\"L['x']\", \"ID_MATCH\", "
         "{\"guard|-"},
        /* a source is one value, whatever differs inside */
        {"ListVariable{source=['AttrSource', L'x', 'a']}",
         "ListVariable{source=['AttrSource', L'y', 'b']}",
         "source ListVariable.source [\"AttrSource\", [\"LocalSource\",|[\"AttrSource\", "
         "[\"LocalSource\","},
        /* another class: the record itself */
        {"ListVariable{items=[ConstantVariable{}]}", "ListVariable{items=[EnumVariable{}]}",
         "items[0] ConstantVariable.kind "
         "{\"kind\":\"ConstantVariable\",\"so|{\"kind\":\"EnumVariable\",\"source"},
        {"Root{tracker=ListVariable{}}", "Root{tracker=null}",
         "tracker Root.tracker {\"kind\":\"ListVariable\",\"source|null"},
        /* build order: fields in schema order, lists by index */
        {"ListVariable{source=L'a', items=[1, 2], mutable_local=3}",
         "ListVariable{source=L'b', items=[1, 4], mutable_local=5}",
         "source ListVariable.source [\"LocalSource\", \"a\", false]|[\"LocalSource\", \"b\", "
         "false]; "
         "items[1] ListVariable.items 2|4; mutable_local ListVariable.mutable_local 3|5"},
        /* a dict of trackers */
        {"ConstDictVariable{items=[['a', ConstantVariable{value=1}], ['b', "
         "ConstantVariable{value=2}]]}",
         "ConstDictVariable{items=[['a', ConstantVariable{value=1}], ['c', "
         "ConstantVariable{value=3}]]}",
         "items[1].key ConstDictVariable.items \"b\"|\"c\"; items[1].value.value "
         "ConstantVariable.value 2|3"},
        /* members of a bag count */
        {"ListVariable{guards=([L'x', 'A', false, null], [L'x', 'A', false, null])}",
         "ListVariable{guards=([L'x', 'A', false, null])}",
         "guards ListVariable.guards [\"L['x']\", \"A\", {\"guard_source|-"},
    };
    td_obs_t *obs = td_obs_new();
    char      found[1024];

    (void)state;
    for (size_t idx = 0; idx < sizeof table / sizeof *table; idx++) {
        describe(obs, value_of(obs, table[idx].reference), value_of(obs, table[idx].subject), found,
                 sizeof found);
        if (strcmp(found, table[idx].found) != 0) {
            fail_msg("case %zu:\n  found    %s\n  expected %s", idx, found, table[idx].found);
        }
    }
    td_obs_free(obs);
}

static void
a_shared_record_is_searched_once(void **state)
{
    td_obs_t *obs = td_obs_new();
    char      found[512];
    td_val_t  one = value_of(obs, "ConstantVariable{value=1}");
    td_val_t  two = value_of(obs, "ConstantVariable{value=2}");

    (void)state;
    for (int doubling = 0; doubling < 60; doubling++) {
        one = td_obs_pair(obs, one, one);
        two = td_obs_pair(obs, two, two);
        if (doubling % 5 == 0) { /* records here and there, so that pairs recur */
            td_val_t pair[2] = {one, two};

            for (int side = 0; side < 2; side++) {
                td_obs_field_t    fields[TD_CLASS_FIELD_CNT_MAX];
                size_t            cnt;
                td_field_t const *order = td_class_fields(TD_CLASS_ListVariable, &cnt);

                for (size_t idx = 0; idx < cnt; idx++) {
                    fields[idx] =
                        (td_obs_field_t){order[idx], order[idx] == TD_FIELD_BaseListVariable_items
                                                         ? pair[side]
                                                         : td_obs_null(obs)};
                }
                pair[side] = td_obs_record(obs, TD_CLASS_ListVariable, fields, cnt);
            }
            one = pair[0];
            two = pair[1];
        }
    }
    describe(obs, one, two, found, sizeof found);
    assert_int_equal(td_obs_status(obs), TD_OK);
    assert_non_null(strstr(found, "value ConstantVariable.value 1|2"));
    assert_null(strchr(found, ';'));
    td_obs_free(obs);
}

static void
no_more_are_stored_than_asked_for(void **state)
{
    td_obs_t     *obs = td_obs_new();
    td_obs_diff_t diffs[4];
    td_val_t      one = value_of(obs, "[1, 2, 3, (1, 2, 3)]");
    td_val_t      two = value_of(obs, "[4, 5, 6, (4, 5, 6)]");

    (void)state;
    assert_int_equal(td_obs_diff(obs, one, two, diffs, 0), 0);
    assert_int_equal(td_obs_diff(obs, one, two, diffs, 2), 2);
    assert_string_equal(diffs[1].path, "[1]");
    assert_int_equal(td_obs_diff(obs, one, two, diffs, 4), 4);
    assert_string_equal(diffs[3].path, "[3]");
    assert_int_equal(td_obs_diff(obs, one, TD_VAL_NONE, diffs, 4), 1);
    assert_int_equal(td_obs_diff(obs, TD_VAL_NONE, TD_VAL_NONE, diffs, 4), 0);
    td_obs_free(obs);
}

static void
random_values_differ_exactly_when_their_ids_do(void **state)
{
    td_obs_t *obs = td_obs_new();
    td_rng_t  rng;

    (void)state;
    td_rng_init(&rng, 8);
    for (int round = 0; round < 5000; round++) {
        td_val_t      one = random_value(obs, &rng, 3), two = random_value(obs, &rng, 3);
        td_obs_diff_t diffs[8], turned[8];
        size_t        cnt = td_obs_diff(obs, one, two, diffs, 8);

        assert_int_equal(cnt == 0, one == two);
        assert_int_equal(td_obs_diff(obs, two, one, turned, 8), cnt);
        for (size_t idx = 0; idx < cnt; idx++) {
            assert_int_not_equal(diffs[idx].reference, diffs[idx].subject);
        }
        if (round % 50 == 0) {
            td_obs_reset(obs);
        }
    }
    td_obs_free(obs);
}

static void
a_failing_allocation_is_told(void **state)
{
    td_obs_t *obs    = td_obs_new();
    bool      struck = true;

    (void)state;
    for (uint64_t nth = 1; struck; nth++) {
        td_obs_diff_t diffs[16];
        td_val_t      one = value_of(obs, "[ListVariable{items=[1, 2]}, 3]");
        td_val_t      two = value_of(obs, "[ListVariable{items=[4, 2]}, 5]");
        size_t        cnt;

        td_nomem_arm(nth);
        cnt    = td_obs_diff(obs, one, two, diffs, 16);
        struck = td_nomem_disarm();
        assert_int_equal(td_obs_status(obs), struck ? TD_NOMEM : TD_OK);
        assert_true(struck ? cnt < 2 : cnt == 2);
        td_obs_reset(obs);
    }
    td_obs_free(obs);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(differences_have_addresses),
        cmocka_unit_test(a_shared_record_is_searched_once),
        cmocka_unit_test(no_more_are_stored_than_asked_for),
        cmocka_unit_test(random_values_differ_exactly_when_their_ids_do),
        cmocka_unit_test(a_failing_allocation_is_told),
    };

    return cmocka_run_group_tests_name("observe.td_obs_diff", tests, NULL, NULL);
}
