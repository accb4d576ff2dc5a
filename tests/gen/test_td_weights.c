/* test_td_weights.c: lists of words keep what they name, swarms what was there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen_programs.h"

static void
everything_is_on_at_first(void **state)
{
    td_weights_t weights;

    (void)state;
    td_weights_init(&weights);
    for (int tag = 0; tag < TD_WEIGHTS_KIND_CNT; tag++) {
        assert_int_equal(weights.kind[tag] != 0, td_kind_info((uint8_t)tag) != NULL);
    }
    for (int tag = 0; tag < TD_WEIGHTS_SOURCE_CNT; tag++) {
        assert_int_equal(weights.source[tag] != 0, td_source_info((uint8_t)tag) != NULL);
    }
    for (size_t key = 0; key < td_config_cnt(); key++) {
        for (size_t value = 0; value < td_config_value_cnt(key); value++) {
            assert_true(weights.config[key][value] != 0);
        }
    }
}

static void
words_name_families_kinds_and_the_rest(void **state)
{
    td_weights_t weights = weights_only("dict, int\tlocal specialize_int,build,append");

    (void)state;
    for (int tag = 0; tag < TD_WEIGHTS_KIND_CNT; tag++) {
        td_kind_info_t const *info = td_kind_info((uint8_t)tag);
        bool on = info != NULL && (strcmp(info->family, "dict") == 0 || tag == TD_KIND_INT);

        assert_int_equal(weights.kind[tag] != 0, on);
    }
    for (int tag = 0; tag < TD_WEIGHTS_SOURCE_CNT; tag++) {
        assert_int_equal(weights.source[tag] != 0, tag == TD_SOURCE_LOCAL);
    }
    assert_true(weights.config[0][0] != 0 && weights.config[0][1] != 0);
    assert_true(weights.config[1][0] == 0 && weights.config[1][1] == 0);
    assert_true(weights.entry[TD_ENTRY_BUILD] != 0 && weights.entry[TD_ENTRY_SOURCELESS] == 0);
    assert_true(weights.change[TD_DO_APPEND] != 0 && weights.change[TD_DO_CLEAR] == 0);
    assert_int_equal(weights.export_percent, 0);
    assert_int_equal(weights.drift_percent, 100);
}

static void
what_is_not_named_stays(void **state)
{
    td_weights_t weights = weights_only("int,export"), all;

    (void)state;
    td_weights_init(&all);
    assert_memory_equal(weights.source, all.source, sizeof all.source);
    assert_memory_equal(weights.entry, all.entry, sizeof all.entry);
    assert_memory_equal(weights.config, all.config, sizeof all.config);
    assert_int_equal(weights.export_percent, all.export_percent);
}

static void
sorts_settle_what_is_ambiguous(void **state)
{
    td_weights_t weights = weights_only("kind:list,source:type,entry:method");

    (void)state;
    assert_true(weights.kind[TD_KIND_LIST] != 0);
    assert_true(weights.kind[TD_KIND_TUPLE] == 0);
    assert_true(weights.source[TD_SOURCE_TYPE] != 0 && weights.source[TD_SOURCE_LOCAL] == 0);
    assert_true(weights.entry[TD_ENTRY_METHOD] != 0 && weights.entry[TD_ENTRY_BUILD] == 0);
    weights = weights_only("list");
    assert_true(weights.kind[TD_KIND_LIST] != 0 && weights.kind[TD_KIND_TUPLE] != 0);
}

static void
static_lets_nothing_drift(void **state)
{
    td_weights_t weights = weights_only("tensor,static");

    (void)state;
    assert_int_equal(weights.drift_percent, 0);
    assert_int_equal(weights.change[TD_DO_MARK_DYNAMIC], 0);
    assert_int_equal(weights.change[TD_DO_MARK_WEAK_DYNAMIC], 0);
}

static void
words_behind_a_minus_take_away(void **state)
{
    td_weights_t weights = weights_only("-tuple,-source:type,-builtin.intern,-dtype.bool");
    td_rng_t     rng;

    (void)state;
    assert_true(weights.kind[TD_KIND_TUPLE] == 0 && !weights.may.kind[TD_KIND_TUPLE]);
    assert_true(weights.kind[TD_KIND_LIST] != 0 && weights.may.kind[TD_KIND_LIST]);
    assert_true(weights.source[TD_SOURCE_TYPE] == 0 && weights.source[TD_SOURCE_LOCAL] != 0);
    td_rng_init(&rng, 1);
    for (int i = 0; i < 300; i++) {
        size_t idx = td_weights_choice(&weights, &rng, TD_KIND_BUILTIN);

        assert_string_not_equal(td_choice_name(TD_KIND_BUILTIN, idx), "intern");
    }
}

static void
a_kind_without_choices_is_gone(void **state)
{
    td_weights_t weights = weights_only("-device.cpu,-device.meta,-device.cuda");

    (void)state;
    assert_int_equal(weights.kind[TD_KIND_DEVICE], 0);
    assert_false(weights.may.kind[TD_KIND_DEVICE]);
}

static void
plain_keys_are_literals_and_their_like(void **state)
{
    static bool const plain[] = {true,  true,  true, true, true,  true,
                                 false, false, true, true, false, false};
    td_prog_t         prog =
        program("%0 = none\n%1 = bool true\n%2 = int 1\n%3 = float 1.5\n%4 = str \"a\"\n"
                "%5 = enum Color_RED\n%6 = dtype float32\n%7 = bytes b\"a\"\n%8 = tuple %2 %4\n"
                "%9 = tuple %8\n%10 = tuple %5\n%11 = list\nframe\nroot sourceless %0\n");

    (void)state;
    for (uint16_t i = 0; i < prog.node_cnt; i++) {
        assert_int_equal(td_weights_plain_key(&prog, i), plain[i]);
    }
    td_prog_clear(&prog);
}

static struct {
    char const *list, *why;
} const refusals[] = {
    {"int,tree",
     "'tree' is no kind, family, source, config value, entry point or change of programs"},
    {"kind:local",
     "'kind:local' is no kind, family, source, config value, entry point or change of programs"},
    {"leaf:int",
     "'leaf:int' is no kind, family, source, config value, entry point or change of programs"},
    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...' is too long for a name"},
};

static void
unknown_words_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        td_weights_t weights;
        char         why[200];

        td_weights_init(&weights);
        assert_int_equal(td_weights_only(&weights, refusals[i].list, why), TD_REJECT);
        if (i < 3) {
            assert_string_equal(why, refusals[i].why);
        } else {
            assert_non_null(strstr(why, "is too long for a name"));
        }
    }
}

static void
a_list_after_a_list_must_leave_something(void **state)
{
    td_weights_t weights = weights_only("int");
    char         why[200];

    (void)state;
    assert_int_equal(td_weights_only(&weights, "str", why), TD_REJECT);
    assert_string_equal(why, "no object kind or no entry point is left");
}

static void
swarms_differ_and_keep_what_is_off(void **state)
{
    td_weights_t weights = weights_only(DONE_FAMILIES), first, second;
    uint32_t     off     = 0;

    (void)state;
    td_weights_swarm(&weights, 1, &first);
    td_weights_swarm(&weights, 1, &second);
    assert_memory_equal(&first, &second, sizeof first);
    for (uint64_t seed = 0; seed < 200; seed++) {
        bool any = false;

        td_weights_swarm(&weights, seed, &first);
        for (int tag = 0; tag < TD_WEIGHTS_KIND_CNT; tag++) {
            assert_true(first.kind[tag] == 0 || weights.kind[tag] != 0);
            off += first.kind[tag] == 0 && weights.kind[tag] != 0;
            any |= first.kind[tag] != 0;
        }
        assert_true(any);
        assert_int_equal(first.drift_percent, 0);
        assert_memory_equal(&first.may, &weights.may, sizeof first.may);
        assert_memory_equal(first.entry, weights.entry, sizeof first.entry);
    }
    assert_in_range(off, 500, 1500); /* of 25 kinds in 200 swarms, a fifth */
}

static void
the_text_names_what_is_on(void **state)
{
    td_weights_t weights = weights_only("int,local,build,trace_numpy,append");
    char        *text    = td_weights_text(&weights);

    (void)state;
    assert_string_equal(
        text, "{\"kinds\": {\"int\": 22}, \"sources\": {\"local\": 60}, \"entries\": "
              "{\"build\": 100}, \"changes\": {\"append\": 12}, \"config\": [\"trace_numpy\"], "
              "\"export_percent\": 0, \"drift_percent\": 100}");
    td_free(text);
    td_nomem_arm(1);
    assert_null(td_weights_text(&weights));
    assert_true(td_nomem_disarm());
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(everything_is_on_at_first),
        cmocka_unit_test(words_name_families_kinds_and_the_rest),
        cmocka_unit_test(what_is_not_named_stays),
        cmocka_unit_test(sorts_settle_what_is_ambiguous),
        cmocka_unit_test(static_lets_nothing_drift),
        cmocka_unit_test(words_behind_a_minus_take_away),
        cmocka_unit_test(a_kind_without_choices_is_gone),
        cmocka_unit_test(plain_keys_are_literals_and_their_like),
        cmocka_unit_test(unknown_words_are_refused),
        cmocka_unit_test(a_list_after_a_list_must_leave_something),
        cmocka_unit_test(swarms_differ_and_keep_what_is_off),
        cmocka_unit_test(the_text_names_what_is_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
