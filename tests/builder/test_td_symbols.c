/* test_td_symbols.c: what becomes of numbers under dims: symbols, their order, products. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/td_alloc.h"
#include "builder/td_frame.h"

enum { DIM_MAX = 12, DEEP = 1 << 20 };

#define S TD_DIM_STATIC
#define U TD_DIM_DUCK
#define D TD_DIM_DYNAMIC

/* A tensor's numbers and what they are to become, one word a number, with blanks. */
typedef struct {
    uint32_t    ndim;
    int64_t     sizes[DIM_MAX], strides[DIM_MAX];
    int64_t     offset;
    uint8_t     dims[DIM_MAX];
    char const *become; /* sizes, strides, offset */
    uint32_t    symbol_cnt;
} shape_t;

static shape_t const shapes[] = {
    {3, {2, 3, 4}, {12, 4, 1}, 0, {S, S, S}, "2 3 4 12 4 1 0", 0},
    {3, {2, 3, 4}, {12, 4, 1}, 0, {D, D, D}, "s0 s1 s2 s1*s2 s2 1 0", 3},
    {3, {2, 3, 4}, {12, 4, 1}, 0, {S, D, S}, "2 s0 4 4*s0 4 1 0", 1},
    {2, {4, 4}, {4, 1}, 0, {U, U}, "s0 s0 s0 1 0", 1},
    {2, {4, 4}, {4, 1}, 0, {D, U}, "s0 s1 s1 1 0", 2},
    {3, {5, 5, 5}, {25, 5, 1}, 0, {U, U, U}, "s0 s0 s0 s0**2 s0 1 0", 1},
    {2, {1, 0}, {1, 1}, 0, {D, D}, "1 0 1 1 0", 0},
    {2, {1, 5}, {5, 1}, 0, {D, D}, "1 s0 s0 1 0", 1},
    {2, {3, 2}, {1, 3}, 0, {D, D}, "s0 s1 1 s0 0", 2},
    {2, {3, 2}, {0, 1}, 2, {U, U}, "s0 s1 0 1 s1", 2},
    {3, {2, 2, 3}, {6, 3, 1}, 0, {U, U, U}, "s0 s0 s1 s0*s1 s1 1 0", 2},
    {12,
     {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13},
     {0, 0, 0, 0, 0, 0, 0, 0, 0, 156, 13, 1},
     0,
     {D, D, D, D, D, D, D, D, D, D, D, D},
     "s0 s1 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 0 0 0 0 0 0 0 0 0 s10*s11 s11 1 0",
     12},
};

static td_builder_t
builder_new(td_at_t *at, PyObject **name)
{
    td_builder_t b = {.frame_open = true};

    td_arena_init(&b.frame.arena);
    td_sources_init(&b.frame.sources, &PySet_Type);
    td_symbols_init(&b.frame.symbols);
    b.frame.recursion_left = DEEP;
    *at = td_source_block_add(&b.frame.sources, NULL, TD_SOURCE_CLASS_LocalSource, TD_PAYLOAD_KEYS,
                              name, NULL, 1, TD_WHERE_LOCAL);
    assert_int_not_equal(at->id, 0);
    return b;
}

static td_fake_t
fake_of(shape_t const *shape, td_num_t sizes[DIM_MAX], td_num_t strides[DIM_MAX])
{
    td_fake_t fake = {.sizes = sizes, .strides = strides, .ndim = shape->ndim};

    memset(sizes, 0, DIM_MAX * sizeof *sizes);
    memset(strides, 0, DIM_MAX * sizeof *strides);
    for (uint32_t i = 0; i < shape->ndim; i++) {
        sizes[i].hint   = shape->sizes[i];
        strides[i].hint = shape->strides[i];
    }
    fake.offset.hint = shape->offset;
    return fake;
}

static void
put(td_builder_t const *b, td_buf_t *text, td_num_t const *num)
{
    td_buf_puts(text, text->sz == 0 ? "" : " ");
    td_num_put(b, num, text);
}

static void
assert_spelled(td_builder_t const *b, td_num_t const *num, char const *expected)
{
    td_buf_t text = {0};

    td_num_put(b, num, &text);
    assert_string_equal(text.bytes, expected);
    td_buf_clear(&text);
}

static void
numbers_become_symbols_and_products(void **state)
{
    PyObject *name = PyUnicode_FromString("x");

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        shape_t const *shape = &shapes[i];
        td_num_t       sizes[DIM_MAX], strides[DIM_MAX];
        td_fake_t      fake = fake_of(shape, sizes, strides);
        td_dims_t      dims = {.dims = (uint8_t *)shape->dims, .cnt = shape->ndim};
        td_at_t        at;
        td_builder_t   b    = builder_new(&at, &name);
        td_buf_t       text = {0};

        assert_true(td_symbols_of_fake(&b, &at, &dims, &fake));
        for (uint32_t dim = 0; dim < 2 * shape->ndim; dim++) {
            put(&b, &text, dim < shape->ndim ? &sizes[dim] : &strides[dim - shape->ndim]);
        }
        put(&b, &text, &fake.offset);
        assert_string_equal(text.bytes, shape->become);
        assert_int_equal(b.frame.symbols.cnt, shape->symbol_cnt);
        assert_int_equal(fake.has_symbols, shape->symbol_cnt != 0);
        td_buf_clear(&text);
        td_frame_close(&b);
    }
    Py_DECREF(name);
}

static void
a_shared_symbol_knows_each_of_its_sources(void **state)
{
    shape_t const *shape = &shapes[3];
    PyObject      *name  = PyUnicode_FromString("x");
    td_num_t       sizes[DIM_MAX], strides[DIM_MAX];
    td_fake_t      fake = fake_of(shape, sizes, strides);
    td_dims_t      dims = {.dims = (uint8_t *)shape->dims, .cnt = shape->ndim};
    td_at_t        at;
    td_builder_t   b = builder_new(&at, &name);

    (void)state;
    assert_true(td_symbols_of_fake(&b, &at, &dims, &fake));
    assert_int_equal(b.frame.symbols.at[0].source_cnt, 2);
    assert_int_equal(b.frame.symbols.at[0].lower, 2);
    assert_true(td_num_is_symbol(&b, &sizes[0]) && td_num_is_symbol(&b, &strides[0]));
    assert_false(td_num_is_symbol(&b, &strides[1]));
    td_frame_close(&b);
    Py_DECREF(name);
}

static void
ints_and_unbacked_ones_are_counted_apart(void **state)
{
    PyObject    *name = PyUnicode_FromString("x"), *value = PyLong_FromLong(-3);
    td_at_t      at;
    td_builder_t b = builder_new(&at, &name);
    td_num_t     nums[4];

    (void)state;
    memset(nums, 0, sizeof nums);
    assert_true(td_symbol_of_int(&b, &at, value, &nums[0]));
    assert_true(td_symbol_unbacked(&b, &nums[1]));
    assert_true(td_symbol_of_int(&b, &at, value, &nums[2]));
    assert_true(td_symbol_unbacked(&b, &nums[3]));
    assert_spelled(&b, &nums[0], "s0");
    assert_spelled(&b, &nums[1], "i0");
    assert_spelled(&b, &nums[2], "s1");
    assert_spelled(&b, &nums[3], "i1");
    assert_int_equal(nums[2].hint, -3);
    assert_true(nums[3].no_hint && !nums[2].no_hint);
    assert_true(b.frame.symbols.at[0].lower == INT64_MIN && b.frame.symbols.at[1].lower == 2);
    td_frame_close(&b);
    Py_DECREF(value);
    Py_DECREF(name);
}

static void
of_two_equal_symbols_the_last_by_name_goes(void **state)
{
    PyObject    *name = PyUnicode_FromString("x"), *value = PyLong_FromLong(7);
    td_at_t      at;
    td_builder_t b = builder_new(&at, &name);
    td_num_t     nums[11], plain = {.hint = 7};

    (void)state;
    memset(nums, 0, sizeof nums);
    for (int i = 0; i < 11; i++) {
        assert_true(td_symbol_of_int(&b, &at, value, &nums[i]));
    }
    assert_true(td_symbols_equal(&b, &nums[10], &nums[9]));
    assert_string_equal(td_num_name_now(&b, &nums[9]), "s10");
    assert_true(td_symbols_equal(&b, &nums[9], &nums[0]));
    assert_string_equal(td_num_name_now(&b, &nums[9]), "s0");
    assert_spelled(&b, &nums[9], "s9");
    assert_true(td_symbols_equal(&b, &nums[9], &nums[10]));
    assert_int_equal(b.frame.symbols.guard_cnt, 2);
    assert_string_equal(b.frame.symbols.guards[0].text, "Eq(s10, s9)");
    assert_true(td_symbols_equal(&b, &plain, &plain));
    assert_int_equal(b.frame.symbols.guard_cnt, 2);
    assert_true(td_symbols_equal(&b, &plain, &nums[9]));
    assert_string_equal(b.frame.symbols.guards[2].text, "Eq(7, s0)");
    assert_false(td_num_is_symbol(&b, &nums[10]));
    assert_true(td_symbols_equal(&b, &nums[9], &plain));
    assert_int_equal(b.frame.symbols.guard_cnt, 3);
    td_frame_close(&b);
    Py_DECREF(value);
    Py_DECREF(name);
}

static void
an_int_beyond_64_bits_is_refused_after_its_symbol_is_made(void **state)
{
    PyObject    *name  = PyUnicode_FromString("x");
    PyObject    *value = PyLong_FromString("10000000000000000000000", NULL, 16);
    td_at_t      at;
    td_builder_t b   = builder_new(&at, &name);
    td_num_t     num = {0};

    (void)state;
    assert_false(td_symbol_of_int(&b, &at, value, &num));
    assert_int_equal(b.stop.kind, TD_STOP_EXCEPTION);
    assert_string_equal(
        PyUnicode_AsUTF8(b.stop.text),
        "309485009821345068724781056 not in range [-9223372036854775808, 9223372036854775807]");
    assert_int_equal(b.frame.symbols.cnt, 1);
    assert_int_equal(b.frame.symbols.at[0].source_cnt, 0);
    td_frame_close(&b);
    Py_DECREF(value);
    Py_DECREF(name);
}

static void
no_memory_stops_the_root_and_leaves_nothing(void **state)
{
    shape_t const *shape  = &shapes[sizeof shapes / sizeof *shapes - 1];
    PyObject      *name   = PyUnicode_FromString("x");
    int64_t        live   = td_alloc_live_cnt();
    bool           struck = true;

    (void)state;
    for (uint64_t nth = 1; struck; nth++) {
        td_num_t     sizes[DIM_MAX], strides[DIM_MAX];
        td_fake_t    fake = fake_of(shape, sizes, strides);
        td_dims_t    dims = {.dims = (uint8_t *)shape->dims, .cnt = shape->ndim};
        td_at_t      at;
        td_builder_t b = builder_new(&at, &name);
        bool         good;

        td_nomem_arm(nth);
        good   = td_symbols_of_fake(&b, &at, &dims, &fake);
        struck = td_nomem_disarm();
        assert_int_equal(good, !struck);
        assert_int_equal(b.stop.kind, struck ? TD_STOP_FAILED : TD_STOP_NONE);
        td_frame_close(&b);
        assert_int_equal(td_alloc_live_cnt(), live);
    }
    Py_DECREF(name);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(numbers_become_symbols_and_products),
        cmocka_unit_test(a_shared_symbol_knows_each_of_its_sources),
        cmocka_unit_test(ints_and_unbacked_ones_are_counted_apart),
        cmocka_unit_test(of_two_equal_symbols_the_last_by_name_goes),
        cmocka_unit_test(an_int_beyond_64_bits_is_refused_after_its_symbol_is_made),
        cmocka_unit_test(no_memory_stops_the_root_and_leaves_nothing),
    };

    Py_InitializeEx(0);
    return cmocka_run_group_tests_name("builder.td_symbols", tests, NULL, NULL);
}
