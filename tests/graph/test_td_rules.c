/* test_td_rules.c: what is valid and what is not, a row each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/td_rules.h"

static struct {
    char const *text;
    size_t      good;
} const utf8_rows[] = {
    {"", 0},
    {"ascii", 5},
    {"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", 9},
    {"a\x80", 1},            /* a tail without a head */
    {"\xC0\xAF", 0},         /* overlong */
    {"\xE0\x80\xAF", 0},     /* overlong */
    {"\xED\xA0\x80", 0},     /* a surrogate */
    {"\xF4\x90\x80\x80", 0}, /* above U+10FFFF */
    {"\xF5", 0},
    {"x\xE2\x82", 1},        /* cut off */
    {"\xED\x9F\xBF", 3},     /* right below the surrogates */
    {"\xF4\x8F\xBF\xBF", 4}, /* U+10FFFF */
};

static void
utf8_is_told_from_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof utf8_rows / sizeof *utf8_rows; i++) {
        assert_int_equal(td_rules_utf8(utf8_rows[i].text, strlen(utf8_rows[i].text)),
                         utf8_rows[i].good);
    }
}

static struct {
    char const *digits;
    bool        is_bigint;
} const bigint_rows[] = {
    {"9223372036854775807", false},
    {"9223372036854775808", true},
    {"-9223372036854775808", false},
    {"-9223372036854775809", true},
    {"10000000000000000000", true},
    {"09223372036854775808", false},
    {"", false},
    {"-", false},
    {"1", false},
    {"99999999999999999x99", false},
    {"-99999999999999999999", true},
    {"--9999999999999999999", false},
};

static void
bigints_are_outside_64_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bigint_rows / sizeof *bigint_rows; i++) {
        assert_int_equal(td_rules_is_bigint(td_text(bigint_rows[i].digits)),
                         bigint_rows[i].is_bigint);
    }
}

enum { FLOAT32 = 0, INT64 = 4, COMPLEX64 = 10 };

static struct {
    uint8_t     kind;
    td_tensor_t tensor;
    bool        fits;
} const layout_rows[] = {
    {TD_KIND_TENSOR, {FLOAT32, TD_LAYOUT_CONTIGUOUS, 0, 0, {0}}, true},
    {TD_KIND_TENSOR, {FLOAT32, TD_LAYOUT_TRANSPOSED, 0, 1, {3}}, false},
    {TD_KIND_TENSOR, {FLOAT32, TD_LAYOUT_TRANSPOSED, 0, 2, {3, 4}}, true},
    {TD_KIND_TENSOR, {FLOAT32, TD_LAYOUT_EXPANDED, 0, 0, {0}}, false},
    {TD_KIND_TENSOR, {FLOAT32, TD_LAYOUT_CHANNELS_LAST, 0, 3, {1, 2, 3}}, false},
    {TD_KIND_TENSOR, {FLOAT32, TD_LAYOUT_CHANNELS_LAST, 0, 4, {1, 2, 3, 4}}, true},
    {TD_KIND_TENSOR, {INT64, TD_LAYOUT_SPARSE_CSR, 0, 2, {2, 2}}, true},
    {TD_KIND_TENSOR, {INT64, TD_LAYOUT_SPARSE_CSR, 0, 3, {2, 2, 2}}, false},
    {TD_KIND_TENSOR, {INT64, TD_LAYOUT_CONJ, 0, 1, {2}}, false},
    {TD_KIND_TENSOR, {COMPLEX64, TD_LAYOUT_CONJ, 0, 1, {2}}, true},
    {TD_KIND_TENSOR, {FLOAT32, TD_LAYOUT_NONLEAF, 0, 1, {2}}, false},
    {TD_KIND_TENSOR, {FLOAT32, TD_LAYOUT_NONLEAF, 1, 1, {2}}, true},
    {TD_KIND_PARAMETER, {FLOAT32, TD_LAYOUT_NONLEAF, 1, 1, {2}}, false},
    {TD_KIND_NDARRAY, {FLOAT32, TD_LAYOUT_META, 0, 1, {2}}, false},
    {TD_KIND_NDARRAY, {FLOAT32, TD_LAYOUT_STRIDED, 0, 1, {2}}, true},
    {TD_KIND_TENSOR, {FLOAT32, TD_LAYOUT_CNT, 0, 1, {2}}, false},
};

static void
layouts_fit_or_not(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof layout_rows / sizeof *layout_rows; i++) {
        assert_int_equal(td_layout_fits(layout_rows[i].kind, &layout_rows[i].tensor),
                         layout_rows[i].fits);
    }
}

static void
storage_is_counted_with_its_base(void **state)
{
    td_tensor_t tensor = {FLOAT32, TD_LAYOUT_CONTIGUOUS, 0, 3, {64, 0, 64}};

    (void)state;
    assert_int_equal(td_tensor_storage_cnt(&tensor), 4096);
    tensor.layout = TD_LAYOUT_STRIDED;
    assert_int_equal(td_tensor_storage_cnt(&tensor), 8192);
    tensor.dim_cnt = 0;
    assert_int_equal(td_tensor_storage_cnt(&tensor), 2);
}

/* The one node before each row is an empty ordered_dict. */
static struct {
    td_node_t   node;
    char const *why;
} const node_rows[] = {
    {{.kind = TD_KIND_NONE}, NULL},
    {{.kind = 0}, "there is no such kind"},
    {{.kind = TD_KIND_BOOL, .i = 2}, "a bool is 0 or 1"},
    {{.kind = TD_KIND_STR, .text = {"\xFF", 1}}, "the text is too long or no utf-8"},
    {{.kind = TD_KIND_BYTES, .text = {"\xFF", 1}}, NULL},
    {{.kind = TD_KIND_BIGINT, .text = {"5", 1}}, "these are no digits of an int outside 64 bits"},
    {{.kind = TD_KIND_DTYPE, .i = 99}, "there is no such choice"},
    {{.kind = TD_KIND_DTYPE, .i = -1}, "there is no such choice"},
    {{.kind = TD_KIND_RANGE, .range = {0, 1, 0}}, "the step of a range is 0"},
    {{.kind = TD_KIND_SIZE, .dims = {.cnt = 17}}, "there are too many dims"},
    {{.kind = TD_KIND_TENSOR, .tensor = {99, 0, 0, 0, {0}}},
     "there is no such dtype, or there are too many dims"},
    {{.kind = TD_KIND_TENSOR, .tensor = {0, 0, 0, 1, {65}}}, "a dim is too large"},
    {{.kind = TD_KIND_TENSOR, .tensor = {INT64, 0, 1, 0, {0}}},
     "only tensors of a floating or complex dtype can require grad"},
    {{.kind = TD_KIND_NDARRAY, .tensor = {3, 0, 0, 0, {0}}}, "numpy has no bfloat16"},
    {{.kind = TD_KIND_TENSOR, .tensor = {0, 1, 0, 0, {0}}},
     "the layout does not fit the dims, the dtype or the kind"},
    {{.kind = TD_KIND_TENSOR, .tensor = {0, 0, 0, 3, {64, 64, 64}}},
     "the tensor holds too many elements"},
    {{.kind = TD_KIND_LIST, .edge_cnt = 1, .edge = (uint16_t[]){0}}, NULL},
    {{.kind = TD_KIND_LIST, .edge_cnt = 1, .edge = (uint16_t[]){1}},
     "an edge points at no earlier node"},
    {{.kind = TD_KIND_NONE, .edge_cnt = 1, .edge = (uint16_t[]){0}},
     "the kind has not that many edges"},
    {{.kind = TD_KIND_SLICE, .edge_cnt = 2, .edge = (uint16_t[]){0, 0}},
     "the kind has not that many edges"},
    {{.kind = TD_KIND_DICT, .edge_cnt = 1, .edge = (uint16_t[]){0}}, "a key has no value"},
    {{.kind = TD_KIND_DEFAULT_DICT, .edge_cnt = 1, .edge = (uint16_t[]){0}}, NULL},
    {{.kind = TD_KIND_DEFAULT_DICT, .edge_cnt = 2, .edge = (uint16_t[]){0, 0}},
     "a key has no value"},
    {{.kind = TD_KIND_ODICT_VALUES, .edge_cnt = 1, .edge = (uint16_t[]){0}}, NULL},
    {{.kind = TD_KIND_TUPLE_ITERATOR, .edge_cnt = 1, .edge = (uint16_t[]){0}},
     "its edge is no tuple"},
};

static td_node_t one_node[] = {{.kind = TD_KIND_ORDERED_DICT}};

static void
expect(char const *why, char const *want)
{
    if (want == NULL) {
        assert_null(why);
    } else {
        assert_non_null(why);
        assert_string_equal(why, want);
    }
}

static void
nodes_are_valid_or_not(void **state)
{
    td_prog_t prog = {.nodes = one_node, .node_cnt = 1};

    (void)state;
    for (size_t i = 0; i < sizeof node_rows / sizeof *node_rows; i++) {
        expect(td_rules_node(&prog, &node_rows[i].node), node_rows[i].why);
    }
}

static struct {
    td_step_t   step;
    int         frame_root_cnt;
    char const *why;
} const step_rows[] = {
    {{.kind = TD_STEP_FRAME}, -1, NULL},
    {{.kind = 9}, 0, "there is no such step"},
    {{.kind = TD_STEP_ROOT, .op = TD_ENTRY_SOURCELESS}, -1, "it stands before the first frame"},
    {{.kind = TD_STEP_ROOT, .op = TD_ENTRY_SOURCELESS}, 0, NULL},
    {{.kind = TD_STEP_ROOT, .op = 0}, 0, "there is no such entry point"},
    {{.kind = TD_STEP_ROOT, .op = TD_ENTRY_SOURCELESS, .node = 1},
     0,
     "its object is no earlier node"},
    {{.kind = TD_STEP_ROOT, .op = TD_ENTRY_BUILD}, 0, "there is no such source"},
    {{.kind = TD_STEP_ROOT, .op = TD_ENTRY_METHOD, .name = {"x", 1}},
     0,
     "methods.def has no such method"},
    {{.kind = TD_STEP_ROOT, .op = TD_ENTRY_COMPILE, .name = {"x", 1}},
     0,
     "compiles.def has no such function"},
    {{.kind = TD_STEP_ROOT, .op = TD_ENTRY_COMPILE, .name = {"item", 4}}, 0, NULL},
    {{.kind    = TD_STEP_ROOT,
      .op      = TD_ENTRY_FXMETHOD,
      .name    = {"x", 1},
      .arg_cnt = 1,
      .arg     = (td_arg_t[]){{true, 1}}},
     1,
     "a ref means no earlier root of the frame"},
    {{.kind    = TD_STEP_ROOT,
      .op      = TD_ENTRY_FXMETHOD,
      .name    = {"x", 1},
      .arg_cnt = 1,
      .arg     = (td_arg_t[]){{false, 1}}},
     1,
     "an argument is no earlier node"},
    {{.kind = TD_STEP_ROOT, .op = TD_ENTRY_FXMETHOD, .name = {"x", 1}, .arg_cnt = 9, .arg = NULL},
     1,
     "there are too many arguments"},
    {{.kind = TD_STEP_DO, .op = TD_DO_CLEAR}, -1, NULL},
    {{.kind = TD_STEP_DO, .op = 0}, -1, "there is no such change"},
    {{.kind = TD_STEP_DO, .op = TD_DO_CLEAR, .node = 1},
     -1,
     "the object that changes is no earlier node"},
    {{.kind = TD_STEP_DO, .op = TD_DO_SETITEM, .other = {0, 1}},
     -1,
     "an operand is no earlier node"},
    {{.kind = TD_STEP_DO, .op = TD_DO_SETATTR, .name = {"\xFF", 1}},
     -1,
     "its name is too long or no utf-8"},
    {{.kind = TD_STEP_CONSTRAINT}, 0, "a constraint is on tensors"},
};

static void
steps_are_valid_or_not(void **state)
{
    td_prog_t prog = {.nodes = one_node, .node_cnt = 1};

    (void)state;
    for (size_t i = 0; i < sizeof step_rows / sizeof *step_rows; i++) {
        expect(td_rules_step(&prog, &step_rows[i].step, step_rows[i].frame_root_cnt),
               step_rows[i].why);
    }
}

static td_node_t tensors[] = {
    {.kind = TD_KIND_TENSOR, .tensor = {0, 0, 0, 2, {2, 3}}},
    {.kind = TD_KIND_PARAMETER, .tensor = {0, 0, 0, 0, {0}}},
};

static struct {
    td_step_t   step;
    char const *why;
} const constraint_rows[] = {
    {{.node = 0, .num = {1, 2, 9}}, NULL},
    {{.node = 0, .num = {2, 2, 9}}, "the tensor has no such dim"},
    {{.node = 1, .num = {0, 2, 9}}, "the tensor has no such dim"},
    {{.node = 0, .num = {0, 3, 2}}, "the smallest size is below 0 or above the largest"},
    {{.node = 0, .num = {0, -1, 2}}, "the smallest size is below 0 or above the largest"},
    {{.node = 0, .tied = 1, .other = {0}, .num = {0, 1, 0}}, NULL},
    {{.node = 0, .tied = 1, .other = {1}, .num = {0, 0, 0}}, "the tensor has no such dim"},
    {{.node = 0, .tied = 1, .other = {2}, .num = {0, 0, 0}}, "a constraint is on tensors"},
};

static void
constraints_are_valid_or_not(void **state)
{
    td_prog_t prog = {.nodes = tensors, .node_cnt = 2};

    (void)state;
    for (size_t i = 0; i < sizeof constraint_rows / sizeof *constraint_rows; i++) {
        td_step_t step = constraint_rows[i].step;

        step.kind = TD_STEP_CONSTRAINT;
        step.name = td_text("");
        expect(td_rules_step(&prog, &step, 0), constraint_rows[i].why);
    }
}

static void
sources_are_valid_or_not(void **state)
{
    td_src_t  local = {.kind = TD_SOURCE_LOCAL, .name = {"x", 1}};
    td_prog_t prog  = {.nodes = one_node, .node_cnt = 1, .sources = &local, .source_cnt = 1};

    (void)state;
    expect(td_rules_source(&prog, &local), NULL);
    expect(td_rules_source(&prog, &(td_src_t){.kind = 0}), "there is no such source kind");
    expect(td_rules_source(&prog, &(td_src_t){.kind = TD_SOURCE_NNMODULE, .base = 1}),
           "its base is no earlier source");
    expect(td_rules_source(&prog, &(td_src_t){.kind = TD_SOURCE_GLOBAL, .name = {"\xFF", 1}}),
           "its name is too long or no utf-8");
    expect(td_rules_source(&prog, &(td_src_t){.kind = TD_SOURCE_ITEM, .key = 1}),
           "its key is no earlier node");
    expect(td_rules_source(&prog, &(td_src_t){.kind = TD_SOURCE_RANDOM, .idx = 1024}),
           "its index is out of range");
    expect(td_rules_source(&prog, &(td_src_t){.kind = TD_SOURCE_RANDOM, .idx = -1}),
           "its index is out of range");
}

static void
settings_are_valid_or_not(void **state)
{
    td_setting_t set  = {.key = 1, .value = 0};
    td_prog_t    prog = {.settings = &set, .setting_cnt = 1};

    (void)state;
    expect(td_rules_setting(&prog, (td_setting_t){0, 0}), NULL);
    expect(td_rules_setting(&prog, (td_setting_t){1, 1}), "the config key is set already");
    expect(td_rules_setting(&prog, (td_setting_t){0, 9}), "there is no such config value");
    expect(td_rules_setting(&prog, (td_setting_t){99, 0}), "there is no such config value");
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(utf8_is_told_from_bytes),
        cmocka_unit_test(bigints_are_outside_64_bits),
        cmocka_unit_test(layouts_fit_or_not),
        cmocka_unit_test(storage_is_counted_with_its_base),
        cmocka_unit_test(nodes_are_valid_or_not),
        cmocka_unit_test(steps_are_valid_or_not),
        cmocka_unit_test(constraints_are_valid_or_not),
        cmocka_unit_test(sources_are_valid_or_not),
        cmocka_unit_test(settings_are_valid_or_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
