/* test_td_reader.c: what is no code is read as one, with a note of where and why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/td_wire.h"

static td_refusal_t refusal;

static td_reader_t
reader_of(char const *bytes, size_t sz)
{
    td_reader_t reader;

    memset(&refusal, 0, sizeof refusal);
    td_reader_init(&reader, (uint8_t const *)bytes, sz, &refusal);
    return reader;
}

#define READER(bytes) reader_of(bytes, sizeof(bytes) - 1)

static void
expect_note(td_reader_t const *reader, size_t off, char const *what)
{
    assert_true(reader->noted);
    assert_string_equal(refusal.what, what);
    assert_int_equal(refusal.offset, off);
}

static void
counts_are_kept_small(void **state)
{
    td_reader_t reader = READER("\x02\xF7");

    (void)state;
    assert_int_equal(td_reader_count(&reader, 10), 2);
    assert_int_equal(td_reader_count(&reader, 10), 3);
    expect_note(&reader, 1, "0xf7 is no count");
    reader = READER("\x05");
    assert_int_equal(td_reader_count(&reader, 3), 1);
    expect_note(&reader, 0, "5 is too many here (at most 3)");
}

static void
choices_go_round(void **state)
{
    td_reader_t reader = READER("\x07\x10\x27");

    (void)state;
    assert_int_equal(td_reader_below(&reader, 3, "dtype"), 1);
    expect_note(&reader, 0, "there is no dtype 7");
    assert_int_equal(td_reader_u16(&reader, 1000), 0x2710 % 1000);
    expect_note(&reader, 0, "there is no dtype 7"); /* the first note stays */
}

static void
texts_become_utf8(void **state)
{
    char        buffer[TD_NAME_SZ_MAX + 1];
    td_reader_t reader = READER("\xE3"
                                "a\xFF\xC3z");
    td_text_t   text   = td_reader_text(&reader, buffer);

    (void)state;
    assert_int_equal(text.sz, 4);
    assert_memory_equal(text.bytes, "a??z", 4);
    expect_note(&reader, 2, "the text is not utf-8");
    reader = READER("\xDF");
    text   = td_reader_text(&reader, buffer);
    assert_true(text.sz < 32);
    expect_note(&reader, 0, "there is no name 0xdf");
}

static void
what_is_cut_off_is_noted_at_the_end(void **state)
{
    char        buffer[TD_NAME_SZ_MAX + 1];
    td_reader_t reader = READER("\xFF\xFFxyz");
    td_text_t   text   = td_reader_text(&reader, buffer);

    (void)state;
    assert_int_equal(text.sz, 3);
    expect_note(&reader, 5, "the program ends inside a text");
    assert_int_equal(td_reader_u8(&reader), 0);
    reader = READER("\x80");
    assert_int_equal(td_reader_index(&reader), 0);
    expect_note(&reader, 1, "the program ends inside a record");
}

static void
numbers_become_ones_that_exist(void **state)
{
    char        buffer[TD_NAME_SZ_MAX + 1];
    td_reader_t reader = READER("\xFF\x03"
                                "123");
    td_text_t   text   = td_reader_decimal(&reader, buffer);

    (void)state;
    assert_true(text.sz >= 19);
    expect_note(&reader, 0, "these are no digits of an int outside 64 bits");
    reader = READER("\xF0");
    assert_true(td_reader_float(&reader) == td_wire_float(0xF0 % td_wire_float_cnt()));
    expect_note(&reader, 0, "there is no float 0xf0");
    reader = READER("\x30xyz");
    assert_int_equal(td_reader_bytes(&reader, buffer).sz, 0);
    expect_note(&reader, 0, "0x30 is no length");
}

static void
nobody_need_ask_why(void **state)
{
    td_reader_t reader;

    (void)state;
    td_reader_init(&reader, NULL, 0, NULL);
    assert_int_equal(td_reader_u8(&reader), 0);
    assert_int_equal(td_reader_int(&reader), -32);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(counts_are_kept_small),
        cmocka_unit_test(choices_go_round),
        cmocka_unit_test(texts_become_utf8),
        cmocka_unit_test(what_is_cut_off_is_noted_at_the_end),
        cmocka_unit_test(numbers_become_ones_that_exist),
        cmocka_unit_test(nobody_need_ask_why),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
