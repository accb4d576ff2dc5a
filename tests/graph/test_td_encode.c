/* test_td_encode.c: programs byte by byte, as published. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/td_encode.h"
#include "programs.h"

static struct {
    char const *lines;
    char const *bytes;
    size_t      sz;
} const rows[] = {
#define ROW(lines, bytes)               \
    {                                   \
        lines, bytes, sizeof(bytes) - 1 \
    }
    ROW("%0 = none\nframe\nroot build local(\"x\") %0\n", "\xA1\x01\xE0\x81\x00\xA1\x00\x00\xE5"),
    ROW("%0 = int 5\n%1 = list %0 %0\n%2 = dict %0: %1\nframe\nroot sourceless %0\n",
        "\xA1\x03\x25\x0A\x02\x00\x00\x11\x01\x01\x00\xE0\xA2\x02\xE5"),
    ROW("%0 = tensor float64[2, 3] transposed grad\nframe\nroot sourceless %0\nconstraint %0 dim 1 "
        "in 2..\n"
        "constraint %0 dim 0 == %0 dim 1 name \"x\"\n",
        "\xA1\x14\x01\x81\x02\x02\x03\xE0\xA2\x00\xE2\x00\x01\x22\xE9\x27\xE3\x00\x00\x00\x01\x00"
        "\xE5"),
    ROW("config specialize_int = True\nexport\n%0 = str \"w\"\nframe\n"
        "root build attr(item(local(\"self\"), %0), \"w\") %0\nroot build item(local(\"self\"), "
        "%0) %0\n",
        "\xA1\xE4\x00\x01\xE1\x06\x03\xE0\x81\x02\x85\x00\x00\x84\x00\x03\xA1\x00\x00\xA1\x01\x00"
        "\xE5"),
    ROW("%0 = function scale\ndo setattr %0 \"w\" %0\nframe\nroot sourceless %0\n"
        "root fxcall %0 (ref 0, %0)\nroot method \"GraphArg.example\" ()\nroot compile \"item\" "
        "()\n",
        "\xA1\x15\x00\xB5\x00\x03\x00\xE0\xA2\x00\xA3\x00\x02\x01\x00\xA5\x04\x00\xA6\x02\x00\xE5"),
#undef ROW
};

static void
programs_have_the_published_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        td_prog_t prog  = program(rows[i].lines);
        uint8_t  *bytes = NULL;
        size_t    sz    = 0;

        assert_int_equal(td_prog_encode(&prog, &bytes, &sz), TD_OK);
        assert_int_equal(sz, rows[i].sz);
        assert_memory_equal(bytes, rows[i].bytes, sz);
        td_free(bytes);
        td_prog_clear(&prog);
    }
}

static void
offsets_are_where_records_begin(void **state)
{
    td_prog_t   prog = program(rows[0].lines);
    size_t      off[5];
    td_writer_t out;

    (void)state;
    assert_int_equal(prog.order_cnt, 4); /* node, frame, source, root */
    td_writer_init(&out, SIZE_MAX);
    td_encode_records(&out, &prog, off);
    assert_int_equal(off[0], 1);
    assert_int_equal(off[1], 2);
    assert_int_equal(off[2], 3);
    assert_int_equal(off[3], 5);
    assert_int_equal(off[4], 8);
    td_writer_clear(&out);
    td_prog_clear(&prog);
}

static void
memory_may_run_out(void **state)
{
    td_prog_t prog  = program(rows[1].lines);
    uint8_t  *bytes = NULL;
    size_t    sz    = 0;

    (void)state;
    td_nomem_arm(1);
    assert_int_equal(td_prog_encode(&prog, &bytes, &sz), TD_NOMEM);
    assert_true(td_nomem_disarm());
    assert_null(bytes);
    td_prog_clear(&prog);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(programs_have_the_published_bytes),
        cmocka_unit_test(offsets_are_where_records_begin),
        cmocka_unit_test(memory_may_run_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
