/* td_decode.c: bytes -> program, leniently; the strict decoder accepts exactly
   what came through unchanged.

   There is one parser.  It reads record by record, makes each one valid where it
   is not, and puts it into a draft, whose bytes are canonical: input and draft
   differ exactly when something had to be changed. */
#include <string.h>

#include "base/td_assert.h"
#include "graph/td_parse.h"

static td_status_t
read_setting(td_parser_t *p)
{
    td_setting_t setting;
    td_status_t  status;

    setting.key   = td_reader_below(&p->reader, td_config_cnt(), "config key");
    setting.value = td_reader_below(&p->reader, td_config_value_cnt(setting.key), "config value");
    status        = td_draft_put_setting(&p->draft, setting);
    if (status == TD_REJECT) {
        td_reader_note(&p->reader, p->off, "%s", p->draft.why);
        return TD_OK;
    }
    return status;
}

static td_status_t
read_export(td_parser_t *p)
{
    td_status_t status = td_draft_put_export(&p->draft);

    if (status == TD_REJECT) {
        td_reader_note(&p->reader, p->off, "%s", p->draft.why);
        return TD_OK;
    }
    return status;
}

/* An end record in the middle is left out: what follows is kept. */
static td_status_t
read_end(td_parser_t *p)
{
    if (td_cursor_left(&p->reader.in) != 0) {
        td_reader_note(&p->reader, p->off, "bytes follow the end of the program");
    }
    p->ended = true;
    return TD_OK;
}

/* The nth kind, counted round. */
static uint8_t
kind_nth(unsigned nth)
{
    uint8_t kind = 0;

    for (unsigned i = 0; i <= nth; i++) {
        do {
            kind = (kind + 1) & 0x7F;
        } while (td_kind_info(kind) == NULL);
    }
    return kind;
}

/* An opcode for a byte that is none: mostly a node, so that wild bytes make
   programs with something in them. */
static uint8_t
repair_opcode(td_parser_t *p, uint8_t byte)
{
    td_reader_note(&p->reader, p->off, "no record begins with 0x%02x", byte);
    if (byte >= TD_WIRE_SOURCE && byte < TD_WIRE_ENTRY) {
        return TD_WIRE_SOURCE + (byte & 1 ? TD_SOURCE_LOCAL : TD_SOURCE_ATTR);
    }
    if ((byte >= TD_WIRE_ENTRY && byte < TD_WIRE_DO) || byte >= TD_WIRE_FRAME) {
        return TD_WIRE_ENTRY + TD_ENTRY_BUILD;
    }
    return kind_nth(byte);
}

static bool
is_opcode(uint8_t byte)
{
    if (byte < TD_WIRE_SOURCE) {
        return td_kind_info(byte) != NULL;
    }
    if (byte < TD_WIRE_ENTRY) {
        return td_source_info(byte - TD_WIRE_SOURCE) != NULL;
    }
    if (byte < TD_WIRE_DO) {
        return td_entry_info(byte - TD_WIRE_ENTRY) != NULL;
    }
    if (byte < TD_WIRE_FRAME) {
        return td_do_info(byte - TD_WIRE_DO) != NULL;
    }
    return byte <= TD_WIRE_END;
}

static td_status_t
read_record(td_parser_t *p)
{
    uint8_t op;

    p->off   = p->reader.in.off;
    p->ended = false;
    op       = td_reader_u8(&p->reader);
    if (!is_opcode(op)) {
        op = repair_opcode(p, op);
    }
    if (op < TD_WIRE_SOURCE) {
        return td_parse_node(p, op);
    }
    if (op < TD_WIRE_ENTRY) {
        return td_parse_source(p, op - TD_WIRE_SOURCE);
    }
    if (op < TD_WIRE_DO) {
        return td_parse_root(p, op - TD_WIRE_ENTRY);
    }
    if (op < TD_WIRE_FRAME) {
        return td_parse_do(p, op - TD_WIRE_DO);
    }
    switch (op) {
    case TD_WIRE_FRAME:
        return td_parse_frame(p);
    case TD_WIRE_EXPORT:
        return read_export(p);
    case TD_WIRE_SETTING:
        return read_setting(p);
    case TD_WIRE_END:
        return read_end(p);
    default:
        return td_parse_constraint(p, op == TD_WIRE_TIED);
    }
}

/* A program without roots builds nothing: it gets one, on its last node. */
static td_status_t
add_root(td_parser_t *p)
{
    td_node_t const none   = {.kind = TD_KIND_NONE};
    td_src_t const  local  = {.kind = TD_SOURCE_LOCAL, .name = td_text("x")};
    td_step_t       root   = {.kind = TD_STEP_ROOT, .op = TD_ENTRY_BUILD};
    td_status_t     status = TD_OK;

    td_reader_note(&p->reader, p->reader.in.sz, "there is no root");
    if (p->draft.prog->node_cnt == 0) {
        TD_TRY(td_draft_put_node(&p->draft, &none));
    }
    if (p->draft.frame_root_cnt < 0) {
        TD_TRY(td_parse_frame(p));
    }
    TD_TRY(td_draft_put_source(&p->draft, &local, &root.source));
    root.node = (uint16_t)(p->draft.prog->node_cnt - 1);
    TD_TRY(td_draft_put_step(&p->draft, &root));
done:
    TD_ASSERT(status == TD_OK || status == TD_NOMEM);
    return status;
}

static void
read_version(td_parser_t *p)
{
    uint8_t version;

    if (p->reader.in.sz == 0) {
        td_reader_note(&p->reader, 0, "the program is empty");
    }
    version = td_reader_u8(&p->reader);
    if (version >> 4 == 0xA && version != TD_WIRE_VERSION) {
        td_reader_note(&p->reader, 0,
                       "the program has format version %d; this tool reads version %d",
                       version & 0xF, TD_FORMAT_VERSION);
    } else if (version != TD_WIRE_VERSION) {
        td_reader_note(&p->reader, 0, "a program begins with 0x%02x, not with 0x%02x",
                       TD_WIRE_VERSION, version);
    }
}

static td_status_t
read_stream(td_parser_t *p)
{
    td_status_t status = TD_OK;

    read_version(p);
    while (status == TD_OK && td_cursor_left(&p->reader.in) != 0) {
        status = read_record(p);
    }
    TD_ASSERT(status != TD_REJECT);
    if (status == TD_LIMIT) {
        td_reader_note(&p->reader, p->off, "%s", p->draft.why);
        status = TD_OK;
    }
    if (status == TD_OK && !p->ended) {
        td_reader_note(&p->reader, p->reader.in.sz,
                       "the program is cut off: its end record is missing");
    }
    if (status == TD_OK && p->draft.root_cnt == 0) {
        status = add_root(p);
    }
    return status == TD_OK ? td_draft_finish(&p->draft) : status;
}

/* Where two byte strings part. */
static size_t
differs_at(uint8_t const *left, size_t left_sz, uint8_t const *right, size_t right_sz)
{
    size_t at = 0;

    while (at < left_sz && at < right_sz && left[at] == right[at]) {
        at++;
    }
    return at;
}

static bool
is_changed(td_parser_t *p, uint8_t const *bytes, size_t sz)
{
    td_writer_t const *out = &p->draft.out;

    if (out->sz == sz && memcmp(out->bytes, bytes, sz) == 0) {
        return false;
    }
    td_reader_note(
        &p->reader, differs_at(out->bytes, out->sz, bytes, sz),
        "not in its canonical form (something is spelled longer than it need be, or a source "
        "does not stand right before the first root that needs it)");
    return true;
}

static td_status_t
parse(uint8_t const *bytes, size_t sz, td_prog_t *prog, td_refusal_t *refusal, bool *changed)
{
    size_t      read_sz = sz < TD_INPUT_SZ_MAX ? sz : TD_INPUT_SZ_MAX;
    td_parser_t p;
    td_status_t status;

    td_reader_init(&p.reader, bytes, read_sz, refusal);
    memset(&p.draft, 0, sizeof p.draft);
    td_arena_init(&p.scratch);
    p.sources    = NULL;
    p.source_cnt = p.source_cap = 0;
    p.off                       = 0;
    p.ended                     = false;
    p.last_odict = p.last_tuple = p.last_key = p.last_tensor = TD_PARSE_NONE;
    if (read_sz < sz) {
        td_reader_note(&p.reader, read_sz, "a program has at most %d bytes", TD_INPUT_SZ_MAX);
    }
    TD_TRY(td_draft_init(&p.draft, prog));
    TD_TRY(read_stream(&p));
    *changed = is_changed(&p, bytes, sz);
done:
    td_arena_clear(&p.scratch);
    td_draft_clear(&p.draft);
    if (status != TD_OK) {
        td_prog_clear(prog);
    }
    return status;
}

td_status_t
td_prog_repair(uint8_t const *bytes, size_t sz, td_prog_t *prog, bool *changed)
{
    bool ignored;

    return parse(bytes, sz, prog, NULL, changed != NULL ? changed : &ignored);
}

td_status_t
td_prog_decode(uint8_t const *bytes, size_t sz, td_prog_t *prog, td_refusal_t *refusal)
{
    td_refusal_t ignored;
    bool         changed = false;
    td_status_t  status  = parse(bytes, sz, prog, refusal != NULL ? refusal : &ignored, &changed);

    if (status == TD_OK && changed) {
        td_prog_clear(prog);
        status = TD_REJECT;
    }
    return status;
}
