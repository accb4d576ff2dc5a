/* test_td_cursor.c: reads in order, never past the end, and remembers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/td_cursor.h"

static uint8_t const bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static void
reads_little_endian(void **state)
{
    td_cursor_t cursor;

    (void)state;
    td_cursor_init(&cursor, bytes, sizeof bytes);
    assert_int_equal(td_cursor_get_u8(&cursor), 1);
    assert_int_equal(td_cursor_get_u16(&cursor), 0x0302);
    assert_int_equal(td_cursor_get_u32(&cursor), 0x07060504);
    assert_true(td_cursor_get_u64(&cursor) == UINT64_C(0x0f0e0d0c0b0a0908));
    assert_int_equal(td_cursor_left(&cursor), 1);
    assert_ptr_equal(td_cursor_get_bytes(&cursor, 1), bytes + 15);
    assert_int_equal(td_cursor_left(&cursor), 0);
    assert_int_equal(cursor.status, TD_OK);
}

static void
the_first_failure_sticks(void **state)
{
    td_cursor_t cursor;

    (void)state;
    td_cursor_init(&cursor, bytes, 3);
    assert_int_equal(td_cursor_get_u32(&cursor), 0);
    assert_int_equal(cursor.status, TD_REJECT);
    assert_int_equal(td_cursor_left(&cursor), 0);
    assert_int_equal(td_cursor_get_u8(&cursor), 0); /* though a byte is there */
    assert_null(td_cursor_get_bytes(&cursor, 0));
    assert_int_equal(cursor.off, 0);
}

static void
nothing_can_be_read(void **state)
{
    td_cursor_t cursor;

    (void)state;
    td_cursor_init(&cursor, NULL, 0);
    assert_int_equal(td_cursor_left(&cursor), 0);
    assert_int_equal(cursor.status, TD_OK);
    assert_int_equal(td_cursor_get_u8(&cursor), 0);
    assert_int_equal(cursor.status, TD_REJECT);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(reads_little_endian),
        cmocka_unit_test(the_first_failure_sticks),
        cmocka_unit_test(nothing_can_be_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
