/* gen_programs.h: programs made, written and compared, for the tests of this room. */
#ifndef TD_TEST_GEN_PROGRAMS_H
#define TD_TEST_GEN_PROGRAMS_H

#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"
#include "gen/td_gen.h"
#include "gen/td_trim.h"

#define DONE_FAMILIES \
    "literal,list,slice,dict,tensor,callable,local,cell,global,attr,item,build,sourceless,static"

static inline td_weights_t
weights_only(char const *list)
{
    td_weights_t weights;
    char         why[200];

    td_weights_init(&weights);
    assert_int_equal(td_weights_only(&weights, list, why), TD_OK);
    return weights;
}

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

static inline td_prog_t
generated(uint64_t seed, td_weights_t const *weights)
{
    td_prog_t prog;

    td_prog_init(&prog);
    assert_int_equal(td_gen(&prog, seed, 4096, 0, weights), TD_OK);
    return prog;
}

/* The binary form of a program; the caller frees it with td_free. */
static inline uint8_t *
bytes_of(td_prog_t const *prog, size_t *sz)
{
    uint8_t *bytes = NULL;

    assert_int_equal(td_prog_encode(prog, &bytes, sz), TD_OK);
    return bytes;
}

static inline bool
same_programs(td_prog_t const *left, td_prog_t const *right)
{
    size_t   left_sz = 0, right_sz = 0;
    uint8_t *left_bytes = bytes_of(left, &left_sz), *right_bytes = bytes_of(right, &right_sz);
    bool     same = left_sz == right_sz && memcmp(left_bytes, right_bytes, left_sz) == 0;

    td_free(left_bytes);
    td_free(right_bytes);
    return same;
}

/* What the strict decoder says of a program's own bytes. */
static inline void
require_valid(td_prog_t const *prog, size_t sz_max)
{
    size_t       sz    = 0;
    uint8_t     *bytes = bytes_of(prog, &sz);
    td_prog_t    again;
    td_refusal_t refusal = {.what = ""};

    td_prog_init(&again);
    if (td_prog_decode(bytes, sz, &again, &refusal) != TD_OK) {
        print_error("byte %zu: %s\n", refusal.offset, refusal.what);
        assert_true(false && "the program is valid");
    }
    assert_true(sz <= sz_max);
    td_prog_clear(&again);
    td_free(bytes);
}

static inline void
require_text(td_prog_t const *prog, char const *lines)
{
    char *text = td_prog_disasm(prog);

    assert_non_null(text);
    assert_string_equal(text + strlen("tandem 1\n"), lines);
    td_free(text);
}

#endif
