/* test_td_writer.c: writes in order, up to its bound, and remembers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/td_alloc.h"
#include "base/td_writer.h"

static void
writes_little_endian(void **state)
{
    td_writer_t writer;
    size_t      sz = 0;
    uint8_t    *taken;

    (void)state;
    td_writer_init(&writer, SIZE_MAX);
    td_writer_put_u8(&writer, 1);
    td_writer_put_u16(&writer, 0x0302);
    td_writer_put_u32(&writer, 0x07060504);
    td_writer_put_u64(&writer, UINT64_C(0x0f0e0d0c0b0a0908));
    td_writer_put_text(&writer, "ab");
    td_writer_put_bytes(&writer, "", 0);
    td_writer_put_format(&writer, "%d!", 42);
    taken = td_writer_take(&writer, &sz);
    assert_int_equal(sz, 20);
    assert_memory_equal(taken, "\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17ab42!", 21);
    td_free(taken);
    assert_int_equal(writer.sz, 0);
    assert_int_equal(writer.status, TD_OK);
}

static void
taking_nothing_gives_an_empty_text(void **state)
{
    td_writer_t writer;
    uint8_t    *taken;

    (void)state;
    td_writer_init(&writer, SIZE_MAX);
    taken = td_writer_take(&writer, NULL);
    assert_string_equal((char *)taken, "");
    td_free(taken);
}

static void
the_bound_holds_and_sticks(void **state)
{
    td_writer_t writer;

    (void)state;
    td_writer_init(&writer, 5);
    td_writer_put_u32(&writer, 0);
    td_writer_put_u16(&writer, 0);
    assert_int_equal(writer.status, TD_LIMIT);
    td_writer_put_u8(&writer, 0); /* though it would fit */
    assert_int_equal(writer.sz, 4);
    td_writer_reset(&writer);
    assert_int_equal(writer.status, TD_OK);
    td_writer_put_bytes(&writer, "12345", 5);
    assert_int_equal(writer.status, TD_OK);
    td_writer_put_u8(&writer, 0);
    assert_null(td_writer_take(&writer, NULL));
    assert_int_equal(writer.status, TD_LIMIT);
}

static void
a_format_is_bounded(void **state)
{
    td_writer_t writer;
    char        text[600];

    (void)state;
    memset(text, 'x', sizeof text);
    text[511] = '\0';
    td_writer_init(&writer, SIZE_MAX);
    td_writer_put_format(&writer, "%s", text);
    assert_int_equal(writer.sz, 511);
    text[511] = 'x';
    text[512] = '\0';
    td_writer_put_format(&writer, "%s", text);
    assert_int_equal(writer.status, TD_LIMIT);
    td_writer_clear(&writer);
}

static void
memory_that_runs_out_sticks(void **state)
{
    int64_t     before = td_alloc_live_cnt();
    td_writer_t writer;

    (void)state;
    td_writer_init(&writer, SIZE_MAX);
    td_writer_put_u8(&writer, 1);
    td_nomem_arm(1);
    for (int i = 0; i < 1000; i++) {
        td_writer_put_u8(&writer, 1);
    }
    assert_true(td_nomem_disarm());
    assert_int_equal(writer.status, TD_NOMEM);
    td_writer_clear(&writer);
    assert_int_equal(td_alloc_live_cnt(), before);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(writes_little_endian),
        cmocka_unit_test(taking_nothing_gives_an_empty_text),
        cmocka_unit_test(the_bound_holds_and_sticks),
        cmocka_unit_test(a_format_is_bounded),
        cmocka_unit_test(memory_that_runs_out_sticks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
