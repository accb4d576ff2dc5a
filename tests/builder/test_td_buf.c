/* test_td_buf.c: text grows, and a failure sticks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/td_alloc.h"
#include "builder/td_buf.h"

static void
text_grows(void **state)
{
    td_buf_t buf;

    (void)state;
    td_buf_init(&buf);
    for (int i = 0; i < 1000; i++) {
        td_buf_put(&buf, "ab", 2);
    }
    td_buf_putc(&buf, '.');
    td_buf_put_i64(&buf, INT64_MIN);
    td_buf_puts(&buf, "!");
    assert_false(buf.failed);
    assert_int_equal(buf.sz, 2000 + 1 + 20 + 1);
    assert_string_equal(buf.bytes + 2000, ".-9223372036854775808!");
    td_buf_reset(&buf);
    assert_int_equal(buf.sz, 0);
    assert_string_equal(buf.bytes, "");
    td_buf_clear(&buf);
}

static void
a_failure_sticks(void **state)
{
    int64_t  before = td_alloc_live_cnt();
    td_buf_t buf;

    (void)state;
    td_buf_init(&buf);
    td_nomem_arm(1);
    td_buf_puts(&buf, "a");
    assert_true(td_nomem_disarm());
    assert_true(buf.failed);
    td_buf_puts(&buf, "b");
    assert_int_equal(buf.sz, 0);
    td_buf_reset(&buf);
    td_buf_puts(&buf, "c");
    assert_string_equal(buf.bytes, "c");
    td_buf_clear(&buf);
    assert_int_equal(td_alloc_live_cnt(), before);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {cmocka_unit_test(text_grows),
                                       cmocka_unit_test(a_failure_sticks)};

    return cmocka_run_group_tests_name("builder.td_buf", tests, NULL, NULL);
}
