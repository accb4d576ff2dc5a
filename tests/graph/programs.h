/* programs.h: programs out of texts and dice, for the tests of this room. */
#ifndef TD_TEST_PROGRAMS_H
#define TD_TEST_PROGRAMS_H

#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"
#include "base/td_rng.h"
#include "graph/td_graph.h"

/* A program from its lines behind the header; it must be valid. */
static inline td_prog_t
program(char const *lines)
{
    char         text[8192];
    td_prog_t    prog;
    td_refusal_t refusal = {.what = ""};
    int          sz      = snprintf(text, sizeof text, "tandem 1\n%s", lines);

    td_prog_init(&prog);
    assert_true(sz > 0 && (size_t)sz < sizeof text);
    if (td_prog_asm(text, (size_t)sz, &prog, &refusal) != TD_OK) {
        print_error("%d:%d: %s\nin\n%s\n", refusal.line, refusal.column, refusal.what, text);
    }
    assert_true(prog.order_cnt != 0);
    return prog;
}

/* The lines of a program behind the header, in buffer. */
static inline char *
lines_of(td_prog_t const *prog, char *buffer, size_t sz)
{
    char *text = td_prog_disasm(prog);

    assert_non_null(text);
    assert_int_equal(strncmp(text, "tandem 1\n", 9), 0);
    snprintf(buffer, sz, "%s", text + 9);
    td_free(text);
    return buffer;
}

/* Bytes that are mostly no program. */
static inline size_t
random_bytes(td_rng_t *rng, uint8_t *bytes, size_t sz_min, size_t sz_max)
{
    size_t sz = (size_t)td_rng_between(rng, (int64_t)sz_min, (int64_t)sz_max);

    for (size_t i = 0; i < sz; i++) {
        bytes[i] = (uint8_t)td_rng_u64(rng);
    }
    return sz;
}

/* What the repair makes of bytes, as lines; its canonical bytes are valid. */
static inline char *
repaired(uint8_t const *bytes, size_t sz, char *buffer, size_t buffer_sz)
{
    td_prog_t prog;

    td_prog_init(&prog);
    assert_int_equal(td_prog_repair(bytes, sz, &prog, NULL), TD_OK);
    lines_of(&prog, buffer, buffer_sz);
    td_prog_clear(&prog);
    return buffer;
}

#endif
