/* test_td_parse_step.c: what the repair makes of sources, roots and changes that
   are not valid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "programs.h"

/* Bytes behind the version byte and %0 = none, %1 = str "x"; the lines behind
   those two. */
static struct {
    char const *bytes;
    size_t      sz;
    char const *lines;
} const rows[] = {
#define ROW(bytes, lines)               \
    {                                   \
        bytes, sizeof(bytes) - 1, lines \
    }
    /* A root needs a frame and a source. */
    ROW("\xA2\x00", "frame\n  root sourceless %1\n"),
    ROW("\xA1\x00\x00", "frame\n  root build local(\"x\") %1\n"),
    ROW("\xE0\xA1\x05\x01", "frame\n  root build local(\"x\") %0\n"),
    /* Without a root there is one on the last node. */
    ROW("", "frame\n  root build local(\"x\") %1\n"),
    ROW("\xE0\xE0", "frame\nframe\n  root build local(\"x\") %1\n"),
    /* Sources: unused ones go, equal ones are one, they stand where they are needed. */
    ROW("\x81\x03\x81\x04\x81\x04\xE0\xA1\x00\x00\xA1\x01\x00",
        "frame\n  root build local(\"m\") %1\n  root build local(\"m\") %1\n"),
    /* A base that is not there: a local of the same name. */
    ROW("\x84\x00\x03\xA1\x00\x00", "frame\n  root build local(\"w\") %1\n"),
    ROW("\x87\x00\xA1\x00\x00", "frame\n  root build local(\"x\") %1\n"),
    ROW("\x81\x02\x84\x05\x03\xA1\x00\x00",
        "frame\n  root build attr(local(\"self\"), \"w\") %1\n"),
    /* A key that is no key: the newest that is. */
    ROW("\x0A\x00\x81\x02\x85\x00\x00\xA1\x00\x00",
        "%2 = list\nframe\n  root build item(local(\"self\"), %1) %2\n"),
    ROW("\x8B\xFF\xFF\xA1\x00\x00", "frame\n  root build random(1023) %1\n"),
    /* Unknown opcodes in the range of sources. */
    ROW("\x9F\x02\xA1\x00\x00", "frame\n  root build local(\"self\") %1\n"),
    /* Arguments: refs go round among the roots before, and out where there is none. */
    ROW("\xE0\xA4\x3D\x02\x03\x02", "frame\n  root fxmethod \"add\" (%0)\n"),
    ROW("\xE0\xA2\x00\xA4\x3D\x01\x07",
        "frame\n  root sourceless %1\n  root fxmethod \"add\" (ref 0)\n"),
    ROW("\xE0\xA5\xF7\x00", "frame\n  root method \"TrackedFake.__hash__\" ()\n"),
    /* Changes. */
    ROW("\xB1\x07\x00", "do append %0 %1\nframe\n  root build local(\"x\") %1\n"),
    /* Constraints: outside a frame and without a tensor they go. */
    ROW("\xE0\xE2\x00\x00\x20\x20\x00\xA2\x00", "frame\n  root sourceless %1\n"),
    ROW("\x14\x00\x00\x01\x03\xE2\x00\x00\x20\x20\x00\xA2\x00",
        "%2 = tensor float32[3]\nframe\n  root sourceless %2\n"),
    ROW("\x14\x00\x00\x01\x03\xE0\xE2\x01\x07\x25\x21\x27\xA2\x00",
        "%2 = tensor float32[3]\nframe\n  constraint %2 dim 0 in 1..5\n  root sourceless %2\n"),
    ROW("\x14\x00\x00\x01\x03\xE0\xE2\x00\x00\x00\x1F\x27\xA2\x00",
        "%2 = tensor float32[3]\nframe\n  constraint %2 dim 0 in 0..0\n  root sourceless %2\n"),
    /* Config values go round; the first of a key stays. */
    ROW("\xE4\x0E\x03\xE4\x00\x00\xA2\x00",
        "config specialize_int = True\nframe\n  root sourceless %1\n"),
#undef ROW
};

static void
steps_become_valid_ones(void **state)
{
    static char const head[] = "\xA1\x01\x06\x00";
    char              text[2000], want[2000];
    uint8_t           bytes[64];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memcpy(bytes, head, 4);
        memcpy(bytes + 4, rows[i].bytes, rows[i].sz);
        repaired(bytes, rows[i].sz + 4, text, sizeof text);
        snprintf(want, sizeof want, "%%0 = none\n%%1 = str \"x\"\n%s", rows[i].lines);
        assert_string_equal(text, want);
    }
}

static void
deep_sources_end_at_their_limit(void **state)
{
    uint8_t   bytes[300] = {0xA1, 0x01, 0x81, 0x00};
    size_t    sz         = 4;
    td_prog_t prog;

    (void)state;
    for (int i = 0; i < 100; i++) {
        bytes[sz++] = 0x88; /* notnn of the source before */
        bytes[sz++] = 0x00;
    }
    bytes[sz++] = 0xA1;
    bytes[sz++] = 0x00;
    bytes[sz++] = 0x00;
    td_prog_init(&prog);
    assert_int_equal(td_prog_repair(bytes, sz, &prog, NULL), TD_OK);
    assert_int_equal(prog.source_cnt, TD_SOURCE_DEPTH_MAX + 1);
    td_prog_clear(&prog);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(steps_become_valid_ones),
        cmocka_unit_test(deep_sources_end_at_their_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
