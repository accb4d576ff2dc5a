/* test_td_lex.c: words, numbers and texts, and where they fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "graph/td_lex.h"

static td_refusal_t refusal;

static td_lex_t
line_of(char const *text)
{
    td_lex_t lex;

    memset(&refusal, 0, sizeof refusal);
    td_lex_init(&lex, text, strlen(text), &refusal);
    assert_true(td_lex_next_line(&lex));
    return lex;
}

static void
expect_failure(td_lex_t const *lex, int line, int column, char const *what)
{
    assert_true(lex->failed);
    assert_string_equal(refusal.what, what);
    assert_int_equal(refusal.line, line);
    assert_int_equal(refusal.column, column);
}

static void
lines_that_say_nothing_are_passed(void **state)
{
    td_lex_t lex = line_of("\n  # a comment\n\t\r\n  word # tail\n\n");
    char     word[TD_WORD_SZ_MAX + 1];

    (void)state;
    assert_int_equal(lex.line, 4);
    td_lex_word(&lex, word, "a word");
    assert_string_equal(word, "word");
    td_lex_end(&lex);
    assert_false(td_lex_next_line(&lex));
    assert_false(lex.failed);
}

static void
columns_count_characters(void **state)
{
    td_lex_t lex = line_of("\"\xC3\xA4\xC3\xB6\" x");
    char     buffer[TD_NAME_SZ_MAX + 1];

    (void)state;
    assert_int_equal(td_lex_string(&lex, buffer).sz, 4);
    td_lex_end(&lex);
    expect_failure(&lex, 1, 6, "the line should end here");
}

static void
the_first_failure_sticks(void **state)
{
    td_lex_t lex = line_of("5");
    char     word[TD_WORD_SZ_MAX + 1];

    (void)state;
    td_lex_word(&lex, word, "a name");
    expect_failure(&lex, 1, 1, "a name is missing here");
    assert_string_equal(word, "");
    assert_int_equal(td_lex_int(&lex, 0, 9, "a digit"), 0);
    td_lex_expect(&lex, '(');
    expect_failure(&lex, 1, 1, "a name is missing here");
    assert_false(td_lex_next_line(&lex));
}

static struct {
    char const *text;
    double      value;
} const floats[] = {
    {"1.5", 1.5},      {"-0.0", -0.0},      {"1e300", 1e300},
    {"inf", INFINITY}, {"-inf", -INFINITY}, {"5e-324", 5e-324},
};

static void
floats_are_read_to_the_bit(void **state)
{
    td_lex_t lex;
    double   value;
    uint64_t bits;

    (void)state;
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        lex   = line_of(floats[i].text);
        value = td_lex_float(&lex);
        assert_false(lex.failed);
        assert_memory_equal(&value, &floats[i].value, sizeof value);
    }
    lex   = line_of("nan:fff8000000000123");
    value = td_lex_float(&lex);
    memcpy(&bits, &value, sizeof bits);
    assert_true(bits == UINT64_C(0xfff8000000000123));
}

static char const *const no_floats[] = {"x",        "1e999",  "0x10", "nan:3ff0000000000000",
                                        "nan:7ff8", "nan(1)", "1.5x"};

static void
what_is_no_float_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof no_floats / sizeof *no_floats; i++) {
        td_lex_t lex = line_of(no_floats[i]);

        td_lex_float(&lex);
        expect_failure(&lex, 1, 1, "this is no float that fits in 64 bits");
    }
}

static void
ints_have_bounds(void **state)
{
    td_lex_t lex = line_of("-9223372036854775808 9223372036854775808");

    (void)state;
    assert_true(td_lex_int(&lex, INT64_MIN, INT64_MAX, "it") == INT64_MIN);
    td_lex_int(&lex, INT64_MIN, INT64_MAX, "it");
    expect_failure(&lex, 1, 22, "it is out of range");
    lex = line_of("12");
    td_lex_int(&lex, 0, 11, "it");
    expect_failure(&lex, 1, 1, "it is out of range");
    lex = line_of("-");
    td_lex_int(&lex, 0, 11, "it");
    expect_failure(&lex, 1, 1, "it is missing here");
    lex = line_of("99999999999999999999999999");
    td_lex_int(&lex, 0, 11, "it");
    expect_failure(&lex, 1, 1, "it is out of range");
}

static void
escapes_are_understood(void **state)
{
    td_lex_t  lex = line_of("\"a\\n\\t\\r\\\"\\\\\\x01#\" b\"\\xff\\x00\"");
    char      buffer[TD_NAME_SZ_MAX + 1];
    td_text_t text = td_lex_string(&lex, buffer);

    (void)state;
    assert_int_equal(text.sz, 8);
    assert_memory_equal(text.bytes, "a\n\t\r\"\\\x01#", 8);
    text = td_lex_bytes(&lex, buffer);
    assert_int_equal(text.sz, 2);
    assert_memory_equal(text.bytes, "\xFF\x00", 2);
    assert_false(lex.failed);
}

static struct {
    char const *text;
    int         column;
    char const *what;
} const no_strings[] = {
    {"x", 1, "'\"' is missing here"},
    {"\"abc", 1, "the text does not end in this line"},
    {"\"a\\q\"", 3, "there is no such escape (only \\n \\t \\r \\\" \\\\ \\xNN)"},
    {"\"\\x8f\"", 4, "in a text, \\x goes up to 7f: write the character itself"},
    {"\"\\xg0\"", 4, "two hexadecimal digits are missing here"},
    {"\"\xFF\"", 1, "the text is not utf-8"},
    {"\"\\", 2, "there is no such escape (only \\n \\t \\r \\\" \\\\ \\xNN)"},
};

static void
what_is_no_string_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof no_strings / sizeof *no_strings; i++) {
        td_lex_t lex = line_of(no_strings[i].text);
        char     buffer[TD_NAME_SZ_MAX + 1];

        td_lex_string(&lex, buffer);
        expect_failure(&lex, 1, no_strings[i].column, no_strings[i].what);
    }
}

static void
texts_have_a_limit(void **state)
{
    char     text[TD_NAME_SZ_MAX + 4], buffer[TD_NAME_SZ_MAX + 1];
    td_lex_t lex;

    (void)state;
    memset(text, 'x', sizeof text);
    text[0]                  = '"';
    text[TD_NAME_SZ_MAX + 1] = '"';
    text[TD_NAME_SZ_MAX + 2] = '\0';
    lex                      = line_of(text);
    assert_int_equal(td_lex_string(&lex, buffer).sz, TD_NAME_SZ_MAX);
    text[TD_NAME_SZ_MAX + 1] = 'x';
    text[TD_NAME_SZ_MAX + 2] = '"';
    text[TD_NAME_SZ_MAX + 3] = '\0';
    lex                      = line_of(text);
    td_lex_string(&lex, buffer);
    expect_failure(&lex, 1, 1, "the text has more than 255 bytes");
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(lines_that_say_nothing_are_passed),
        cmocka_unit_test(columns_count_characters),
        cmocka_unit_test(the_first_failure_sticks),
        cmocka_unit_test(floats_are_read_to_the_bit),
        cmocka_unit_test(what_is_no_float_is_refused),
        cmocka_unit_test(ints_have_bounds),
        cmocka_unit_test(escapes_are_understood),
        cmocka_unit_test(what_is_no_string_is_refused),
        cmocka_unit_test(texts_have_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
