/* test_td_ops.c: the tables of sources, entries, changes and lists, and what is
   published of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/td_graph.h"

/* On the wire of every corpus there is: rows are added, never changed. */
typedef struct {
    int         tag;
    char const *name, *operands;
} op_t;

static op_t const sources[] = {
    {1, "local", "n"},       {2, "cell", "n"},    {3, "global", "n"},    {4, "attr", "bn"},
    {5, "item", "bk"},       {6, "param", "bn"},  {7, "nnmodule", "b"},  {8, "notnn", "b"},
    {9, "fsdp", "b"},        {10, "const", "n"},  {11, "random", "i"},   {12, "weak", "n"},
    {13, "tupleiter", "bi"}, {14, "odict", "bk"}, {15, "default", "bi"}, {16, "type", "b"},
    {17, "numpy", "b"},
};

static op_t const entries[] = {
    {1, "build", "so"},    {2, "sourceless", "o"}, {3, "fxcall", "oa"},
    {4, "fxmethod", "na"}, {5, "method", "ma"},    {6, "compile", "ca"},
};

static op_t const dos[] = {
    {1, "append", "ox"},
    {2, "setitem", "oxx"},
    {3, "delitem", "ox"},
    {4, "clear", "o"},
    {5, "setattr", "onx"},
    {6, "mark_dynamic", "oi"},
    {7, "mark_weak_dynamic", "oi"},
    {8, "mark_static", "oi"},
    {9, "mark_static_address", "oi"},
    {10, "reverse", "o"},
    {11, "move_to_end", "ox"},
    {12, "mark_class_dynamic", "o"},
    {13, "make_new", "o"},
    {14, "patch_forward", "ox"},
};

static char const *const dtypes[] = {
    "float32", "float64", "float16", "bfloat16", "int64",     "int32",
    "int16",   "int8",    "uint8",   "bool",     "complex64", "complex128",
};

static char const *const layouts[] = {
    "contiguous", "transposed", "expanded", "offset", "strided", "channels_last",
    "sparse_coo", "sparse_csr", "meta",     "conj",   "nonleaf",
};

static char const *const methods[] = {
    "wrap_unspecialized_primitive",
    "wrap_to_fake_tensor_and_record",
    "_dataclasses_fields_lambda",
    "wrap_constant_literal",
    "GraphArg.example",
    "GraphArg.__eq__",
    "TrackedFake.__eq__",
    "TrackedFake.__hash__",
    "GraphArg.load",
    "GraphArg.erase",
    "VariableBuilder.__init__",
    "SourcelessBuilder.__call__",
};

static char const *const compiles[] = {
    "frame", "setattr", "item", "fields", "random",
};

/* Name, then values. */
static char const *const configs[][5] = {
    {"specialize_int", "False", "True"},
    {"assume_static_by_default", "True", "False"},
    {"automatic_dynamic_shapes", "True", "False"},
    {"trace_numpy", "True", "False"},
    {"allow_rnn", "False", "True"},
    {"allow_ignore_mark_dynamic", "False", "True"},
    {"force_nn_module_property_static_shapes", "True", "False"},
    {"force_parameter_static_shapes", "True", "False"},
    {"skip_fsdp_guards", "True", "False"},
    {"capture_scalar_outputs", "False", "True"},
    {"capture_dynamic_output_shape_ops", "False", "True"},
    {"traceable_tensor_subclasses", "set()", "{TaggedTensor}", "every_subclass"},
    {"functorch.functionalize_rng_ops", "False", "True"},
    {"force_unspec_int_unbacked_size_like", "False", "True"},
};

#define CNT(table) (sizeof(table) / sizeof *(table))

static void
check_ops(op_t const *ops, size_t cnt, td_op_info_t const *(*info)(uint8_t),
          int (*find)(char const *))
{
    size_t there = 0;

    for (size_t i = 0; i < cnt; i++) {
        assert_int_equal(find(ops[i].name), ops[i].tag);
        assert_string_equal(info((uint8_t)ops[i].tag)->name, ops[i].name);
        assert_string_equal(info((uint8_t)ops[i].tag)->operands, ops[i].operands);
    }
    for (int tag = 0; tag < 256; tag++) {
        there += info((uint8_t)tag) != NULL;
    }
    assert_int_equal(there, cnt); /* a new row is published here */
    assert_int_equal(find("no_such_word"), -1);
    assert_null(info(0));
}

static void
published_ops_mean_what_they_meant(void **state)
{
    (void)state;
    check_ops(sources, CNT(sources), td_source_info, td_source_find);
    check_ops(entries, CNT(entries), td_entry_info, td_entry_find);
    check_ops(dos, CNT(dos), td_do_info, td_do_find);
}

static void
check_list(char const *const *list, size_t cnt, size_t there, char const *(*at)(size_t))
{
    assert_int_equal(there, cnt);
    for (size_t i = 0; i < cnt; i++) {
        assert_string_equal(at(i), list[i]);
    }
}

static void
published_lists_mean_what_they_meant(void **state)
{
    (void)state;
    check_list(dtypes, CNT(dtypes), td_dtype_cnt(), td_dtype_name);
    check_list(layouts, CNT(layouts), TD_LAYOUT_CNT, td_layout_name);
    check_list(methods, CNT(methods), td_method_cnt(), td_method_name);
    check_list(compiles, CNT(compiles), td_compile_cnt(), td_compile_name);
    assert_null(td_layout_name(TD_LAYOUT_CNT));
}

static void
published_config_values_mean_what_they_meant(void **state)
{
    (void)state;
    assert_int_equal(td_config_cnt(), CNT(configs));
    for (size_t key = 0; key < CNT(configs); key++) {
        size_t cnt = 0;

        assert_int_equal(td_config_find(configs[key][0]), key);
        assert_string_equal(td_config_name(key), configs[key][0]);
        while (cnt + 1 < 5 && configs[key][cnt + 1] != NULL) {
            assert_string_equal(td_config_value(key, cnt), configs[key][cnt + 1]);
            cnt++;
        }
        assert_int_equal(td_config_value_cnt(key), cnt);
    }
    assert_int_equal(td_config_find("no_such_key"), -1);
}

static void
dtypes_say_what_they_are(void **state)
{
    (void)state;
    for (size_t i = 0; i < td_dtype_cnt(); i++) {
        bool complex  = strncmp(td_dtype_name(i), "complex", 7) == 0;
        bool floating = complex || strstr(td_dtype_name(i), "float") != NULL;

        assert_int_equal(td_dtype_is_complex(i), complex);
        assert_int_equal(td_dtype_is_floating(i), floating);
    }
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(published_ops_mean_what_they_meant),
        cmocka_unit_test(published_lists_mean_what_they_meant),
        cmocka_unit_test(published_config_values_mean_what_they_meant),
        cmocka_unit_test(dtypes_say_what_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
