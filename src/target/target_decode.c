/* target_decode.c: the strict decoder held against the repair, and every form of
   a program against the others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/td_alloc.h"
#include "graph/td_graph.h"
#include "target/td_target.h"

static void
require(bool holds, char const *claim, char const *detail)
{
    if (!holds) {
        fprintf(stderr, "decode: it does not hold that %s: %s\n", claim, detail);
        abort();
    }
}

/* Both functions free what they were given; bytes that memory ran out for are
   NULL and hold against nothing. */
static void
require_same_bytes(td_prog_t const *prog, uint8_t const *want, size_t want_sz, char const *claim)
{
    uint8_t    *bytes  = NULL; /* owned */
    size_t      sz     = 0;
    td_status_t status = td_prog_encode(prog, &bytes, &sz);

    if (status != TD_NOMEM) {
        require(status == TD_OK, "every program can be encoded", td_status_text(status));
        require(sz == want_sz && memcmp(bytes, want, sz) == 0, claim, "the bytes differ");
    }
    td_free(bytes);
}

static void
check_binary(uint8_t const *bytes, size_t sz)
{
    td_prog_t    prog;
    td_refusal_t refusal = {.what = ""};
    td_status_t  status;

    td_prog_init(&prog);
    status = td_prog_decode(bytes, sz, &prog, &refusal);
    if (status != TD_NOMEM) {
        require(status == TD_OK, "the strict decoder accepts what the repair made", refusal.what);
        require_same_bytes(&prog, bytes, sz, "decoding and encoding gives the same bytes");
    }
    td_prog_clear(&prog);
}

static void
check_text(td_prog_t const *prog, uint8_t const *bytes, size_t sz)
{
    td_prog_t    again;
    td_refusal_t refusal = {.what = ""};
    char        *text    = td_prog_disasm(prog); /* owned */
    td_status_t  status;

    if (text == NULL) {
        return;
    }
    td_prog_init(&again);
    status = td_prog_load((uint8_t const *)text, strlen(text), &again, &refusal);
    if (status != TD_NOMEM) {
        require(status == TD_OK, "the assembler reads what the disassembler wrote", refusal.what);
        require_same_bytes(&again, bytes, sz, "disassembling and assembling gives the same bytes");
    }
    td_prog_clear(&again);
    td_free(text);
}

static void
check_strict(uint8_t const *data, size_t sz, bool changed)
{
    td_prog_t    prog;
    td_refusal_t refusal = {.what = ""};
    td_status_t  status;

    td_prog_init(&prog);
    status = td_prog_decode(data, sz, &prog, &refusal);
    if (status == TD_OK) {
        require(!changed, "the strict decoder accepts only what the repair leaves alone",
                "it accepts");
    } else if (status != TD_NOMEM) {
        require(changed, "the strict decoder accepts all that the repair leaves alone",
                refusal.what);
        require(refusal.what[0] != '\0' && refusal.offset <= sz, "a refusal says where and why",
                refusal.what);
    }
    td_prog_clear(&prog);
}

int
td_target_decode(uint8_t const *data, size_t sz)
{
    td_prog_t prog;
    bool      changed  = false;
    uint8_t  *bytes    = NULL; /* owned */
    size_t    bytes_sz = 0;

    td_prog_init(&prog);
    if (td_prog_repair(data, sz, &prog, &changed) == TD_OK) {
        check_strict(data, sz, changed);
        if (td_prog_encode(&prog, &bytes, &bytes_sz) == TD_OK) {
            require(changed || (bytes_sz == sz && memcmp(bytes, data, sz) == 0),
                    "the repair changes nothing in a valid program", "the bytes differ");
            check_binary(bytes, bytes_sz);
            check_text(&prog, bytes, bytes_sz);
        }
    }
    td_free(bytes);
    td_prog_clear(&prog);
    return 0;
}
