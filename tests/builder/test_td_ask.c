/* test_td_ask.c: which comparisons of products leave a guard, and how it is spelled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/td_alloc.h"
#include "builder/td_ask.h"
#include "builder/td_frame.h"

enum { SYMBOL_CNT = 3, FACTOR_MAX = 4 };

/* A side is a number times symbols: "ab" is s0*s1. */
typedef struct {
    int64_t     x_coef;
    char const *x;
    td_ask_t    op;
    int64_t     y_coef;
    char const *y;
    char const *guard; /* NULL: none */
} row_t;

/* What the symbols stand for. */
static int64_t const values[SYMBOL_CNT] = {5, 3, 4};

static row_t const rows[] = {
    {1, "a", TD_ASK_LT, 1, "b", "s0 >= s1"},
    {1, "b", TD_ASK_LT, 1, "a", "s1 < s0"},
    {1, "a", TD_ASK_EQ, 1, "b", "Ne(s0, s1)"},
    {1, "a", TD_ASK_NE, 1, "b", "Ne(s0, s1)"},
    {1, "a", TD_ASK_NE, 1, "", NULL},
    {1, "a", TD_ASK_LT, 2, "", NULL},
    {3, "", TD_ASK_LT, 1, "a", "3 < s0"},
    {3, "", TD_ASK_LT, 1, "ab", NULL},
    {4, "", TD_ASK_LT, 1, "ab", "4 < s0*s1"},
    {1, "a", TD_ASK_LT, 1, "ab", NULL},
    {1, "ab", TD_ASK_LT, 1, "a", NULL},
    {1, "b", TD_ASK_EQ, 1, "abc", NULL},
    {2, "a", TD_ASK_LT, 1, "ab", "2*s0 < s0*s1"},
    {2, "a", TD_ASK_LT, 2, "ab", NULL},
    {2, "a", TD_ASK_EQ, 7, "", NULL},
    {3, "a", TD_ASK_EQ, 7, "", "Ne(3*s0, 7)"},
    {3, "a", TD_ASK_LT, 2, "ab", "3*s0 < 2*s0*s1"},
    {1, "ab", TD_ASK_LT, 1, "ac", "s0*s1 < s0*s2"},
    {1, "a", TD_ASK_EQ, 1, "a", NULL},
    {5, "", TD_ASK_EQ, 1, "a", "Eq(5, s0)"},
};

static td_builder_t
builder_new(void)
{
    td_builder_t b = {.frame_open = true};

    td_arena_init(&b.frame.arena);
    td_sources_init(&b.frame.sources, &PySet_Type);
    td_symbols_init(&b.frame.symbols);
    b.frame.symbols.at  = td_calloc(SYMBOL_CNT, sizeof *b.frame.symbols.at);
    b.frame.symbols.cnt = SYMBOL_CNT;
    for (uint32_t i = 0; i < SYMBOL_CNT; i++) {
        char const *const names[] = {"s0", "s1", "s2"};

        b.frame.symbols.at[i] = (td_symbol_t){.name = names[i], .lower = 2, .upper = INT64_MAX - 1};
    }
    return b;
}

static td_num_t
num_of(int64_t coef, char const *letters, uint32_t factors[FACTOR_MAX])
{
    td_num_t num = {.hint = coef, .product = {.coef = coef, .factors = factors}};

    for (; *letters != '\0'; letters++) {
        factors[num.product.cnt++] = (uint32_t)(*letters - 'a');
        num.hint *= values[*letters - 'a'];
    }
    return num;
}

static void
only_what_is_not_known_leaves_a_guard(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t     factors[2][FACTOR_MAX];
        td_builder_t b  = builder_new();
        td_num_t     x  = num_of(rows[i].x_coef, rows[i].x, factors[0]);
        td_num_t     y  = num_of(rows[i].y_coef, rows[i].y, factors[1]);
        int          is = td_ask(&b, rows[i].op, &x, &y, false);

        assert_int_equal(is, rows[i].op == TD_ASK_LT   ? x.hint < y.hint
                             : rows[i].op == TD_ASK_EQ ? x.hint == y.hint
                                                       : x.hint != y.hint);
        assert_int_equal(b.frame.symbols.guard_cnt, rows[i].guard != NULL);
        if (rows[i].guard != NULL) {
            assert_string_equal(b.frame.symbols.guards[0].text, rows[i].guard);
        }
        assert_int_equal(td_ask(&b, rows[i].op, &x, &y, false), is);
        assert_int_equal(b.frame.symbols.guard_cnt, rows[i].guard != NULL);
        td_frame_close(&b);
    }
}

static void
what_was_asked_quietly_leaves_no_guard_later(void **state)
{
    uint32_t     factors[2][FACTOR_MAX];
    td_builder_t b = builder_new();
    td_num_t     x = num_of(1, "a", factors[0]);
    td_num_t     y = num_of(1, "b", factors[1]);

    (void)state;
    assert_int_equal(td_ask(&b, TD_ASK_LT, &x, &y, true), 0);
    assert_int_equal(td_ask(&b, TD_ASK_LT, &x, &y, false), 0);
    assert_int_equal(b.frame.symbols.guard_cnt, 0);
    td_frame_close(&b);
}

static void
a_guard_narrows_ranges(void **state)
{
    uint32_t     factors[2][FACTOR_MAX];
    td_builder_t b = builder_new();
    td_num_t     x = num_of(1, "bb", factors[0]);
    td_num_t     y = num_of(2, "a", factors[1]);

    (void)state;
    assert_int_equal(td_ask(&b, TD_ASK_LT, &x, &y, false), 1);
    assert_int_equal(b.frame.symbols.at[0].lower, 2); /* s1**2/2 need be no whole number */
    y = num_of(1, "c", factors[1]);
    x = num_of(3, "", factors[0]);
    assert_int_equal(td_ask(&b, TD_ASK_LT, &x, &y, false), 1);
    assert_int_equal(b.frame.symbols.at[2].lower, 4);
    assert_string_equal(b.frame.symbols.at[2].lower_guard, "3 < s2");
    td_frame_close(&b);
}

static void
a_power_beside_a_multiple_is_not_guessed(void **state)
{
    uint32_t     factors[2][FACTOR_MAX];
    td_builder_t b = builder_new();
    td_num_t     x = num_of(1, "aa", factors[0]);
    td_num_t     y = num_of(2, "a", factors[1]);

    (void)state;
    assert_int_equal(td_ask(&b, TD_ASK_LT, &x, &y, false), -1);
    assert_int_equal(b.stop.kind, TD_STOP_UNSUPPORTED);
    td_frame_close(&b);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(only_what_is_not_known_leaves_a_guard),
        cmocka_unit_test(what_was_asked_quietly_leaves_no_guard_later),
        cmocka_unit_test(a_guard_narrows_ranges),
        cmocka_unit_test(a_power_beside_a_multiple_is_not_guessed),
    };

    Py_InitializeEx(0);
    return cmocka_run_group_tests_name("builder.td_ask", tests, NULL, NULL);
}
