/* test_td_parse_node.c: what the repair makes of nodes that are not valid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "programs.h"

/* Bytes behind the version byte; the nodes that come of them. */
static struct {
    char const *bytes;
    size_t      sz;
    char const *nodes;
} const rows[] = {
#define ROW(bytes, nodes)               \
    {                                   \
        bytes, sizeof(bytes) - 1, nodes \
    }
    ROW("\x02\x03", "%0 = bool true\n"),
    ROW("\x08\x00\x08\x05", "%0 = dtype float32\n%1 = dtype int64\n"),
    ROW("\x0F\x20\x29\x20", "%0 = range 0 9 1\n"),
    ROW("\x09\x22\x21\x22", "%0 = size [1, 2]\n"),                    /* a wild count is small */
    ROW("\x01\x0A\x02\x00\x05", "%0 = none\n%1 = list %0 %0\n"),      /* edges go round */
    ROW("\x0A\x02\x00\x00\x01", "%0 = list\n%1 = none\n"),            /* nothing to point at */
    ROW("\x10\x00\x00\x00", "%0 = none\n"),                           /* a slice of nothing */
    ROW("\x01\x0A\x14\x00", "%0 = none\n%1 = list\n"),                /* cut off inside the edges */
    ROW("\x01\x11\x02\x00\x00\x00", "%0 = none\n%1 = dict %0: %0\n"), /* half a pair is none */
    ROW("\x01\x13", "%0 = none\n%1 = default_dict %0\n"),
    ROW("\x01\x0E\x00", "%0 = none\n%1 = none\n"), /* no ordered_dict anywhere */
    ROW("\x12\x00\x01\x0E\x00", "%0 = ordered_dict\n%1 = none\n%2 = odict_values %0\n"),
    ROW("\x0B\x00\x01\x1B\x00", "%0 = tuple\n%1 = none\n%2 = tuple_iterator %0\n"),
    ROW("\x14\x04\x80\x00", "%0 = tensor int64[]\n"),        /* ints require no grad */
    ROW("\x14\x00\x01\x00", "%0 = tensor float32[]\n"),      /* nothing to transpose */
    ROW("\x14\x0C\x0B\x01\x42", "%0 = tensor float32[2]\n"), /* dtype, layout, dim go round */
    ROW("\x14\x00\x00\x03\x40\x40\x40", "%0 = tensor float32[64, 64, 8]\n"), /* too many elements */
    ROW("\x14\x00\x8A\x00", "%0 = tensor float32[] nonleaf grad\n"),
    ROW("\x1A\x00\x8A\x00", "%0 = parameter float32[] grad\n"), /* parameters are leaves */
    ROW("\x21\x03\x08\x00", "%0 = ndarray float32[]\n"),        /* no bfloat16, no meta */
    ROW("\x00", "%0 = none\n"),                                 /* no such kind */
#undef ROW
};

static void
nodes_become_valid_ones(void **state)
{
    char    text[2000], want[2000];
    uint8_t bytes[64];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bytes[0] = 0xA1;
        memcpy(bytes + 1, rows[i].bytes, rows[i].sz);
        repaired(bytes, rows[i].sz + 1, text, sizeof text);
        *strstr(text, "frame\n") = '\0';
        snprintf(want, sizeof want, "%s", rows[i].nodes);
        assert_string_equal(text, want);
    }
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(nodes_become_valid_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
