/* td_parse_step.c: sources, roots, changes and constraints out of bytes, made valid. */
#include <string.h>

#include "base/td_assert.h"
#include "graph/td_parse.h"
#include "graph/td_rules.h"

/* ---- sources ---- */

static td_status_t
wire_source_push(td_parser_t *p, td_parse_source_t source)
{
    if (p->source_cnt == p->source_cap) {
        uint32_t           cap   = p->source_cap == 0 ? 16 : p->source_cap * 2;
        td_parse_source_t *wider = td_arena_alloc(&p->scratch, cap * sizeof *wider);

        if (wider == NULL) {
            return TD_NOMEM;
        }
        if (p->source_cnt != 0) {
            memcpy(wider, p->sources, p->source_cnt * sizeof *wider);
        }
        p->sources    = wider;
        p->source_cap = cap;
    }
    p->sources[p->source_cnt++] = source;
    return TD_OK;
}

static void
repair_depth(td_parser_t *p, td_parse_source_t *source)
{
    while (p->sources[source->src.base].depth >= TD_SOURCE_DEPTH_MAX) {
        td_reader_note(&p->reader, p->off, "the source is nested too deeply");
        source->src.base = p->sources[source->src.base].src.base;
    }
    source->depth = p->sources[source->src.base].depth + 1;
}

static void
read_key(td_parser_t *p, td_src_t *src, bool *whole)
{
    src->key = td_parse_node_ref(p);
    if (p->draft.prog->node_cnt != 0 && p->draft.is_key[src->key]) {
        return;
    }
    td_reader_note(&p->reader, p->off,
                   "the key is no literal, enum member, class, or tuple or slice of such");
    *whole   = *whole && p->last_key != TD_PARSE_NONE;
    src->key = (uint16_t)(*whole ? p->last_key : 0);
}

/* Reads the operands; false when the source can't be completed. */
static bool
read_operands(td_parser_t *p, td_src_t *src)
{
    bool whole = true;

    for (char const *what = td_source_info(src->kind)->operands; *what != '\0'; what++) {
        switch (*what) {
        case 'b':
            src->base = td_parse_back(p, p->source_cnt, "source");
            whole     = p->source_cnt != 0;
            break;
        case 'n':
            src->name = td_reader_text(&p->reader, p->text);
            break;
        case 'k':
            read_key(p, src, &whole);
            break;
        default:
            TD_ASSERT(*what == 'i');
            src->idx = td_reader_u16(&p->reader, TD_EDGE_CNT_MAX);
        }
    }
    return whole;
}

td_status_t
td_parse_source(td_parser_t *p, uint8_t kind)
{
    td_parse_source_t source = {.src = {.kind = kind}, .put = TD_PARSE_NOT_PUT};
    bool              based  = strchr(td_source_info(kind)->operands, 'b') != NULL;

    if (!read_operands(p, &source.src)) {
        td_reader_note(&p->reader, p->off, "the source has no base or no key");
        /* A local of the same name, if it has one, is the nearest. */
        source.src = (td_src_t){
            .kind = TD_SOURCE_LOCAL,
            .name = source.src.name.bytes != NULL ? source.src.name : td_text("x"),
        };
        based = false;
    }
    if (based) {
        repair_depth(p, &source);
    }
    if (source.src.name.bytes == p->text) {
        source.src.name.bytes = td_arena_dup(&p->scratch, p->text, source.src.name.sz);
        if (source.src.name.bytes == NULL) {
            return TD_NOMEM;
        }
    }
    if (p->source_cnt == TD_PARSE_SOURCE_MAX) {
        return TD_OK;
    }
    return wire_source_push(p, source);
}

/* Puts a source that a root needs, its bases first. */
static td_status_t
put_source(td_parser_t *p, uint16_t wire_idx, uint16_t *idx)
{
    td_parse_source_t *source = &p->sources[wire_idx];
    td_src_t           src    = source->src;
    td_status_t        status = TD_OK;

    if (source->put == TD_PARSE_NOT_PUT) {
        if (strchr(td_source_info(src.kind)->operands, 'b') != NULL) {
            TD_TRY(put_source(p, src.base, &src.base));
        }
        TD_TRY(td_draft_put_source(&p->draft, &src, &source->put));
    }
    *idx = source->put;
done:
    return status;
}

/* ---- steps ---- */

td_status_t
td_parse_frame(td_parser_t *p)
{
    td_step_t const frame = {.kind = TD_STEP_FRAME};

    return td_draft_put_step(&p->draft, &frame);
}

static td_status_t
need_frame(td_parser_t *p)
{
    if (p->draft.frame_root_cnt >= 0) {
        return TD_OK;
    }
    td_reader_note(&p->reader, p->off, "a root stands before the first frame");
    return td_parse_frame(p);
}

static void
read_args(td_parser_t *p, td_step_t *step)
{
    uint32_t cnt = td_reader_count(&p->reader, TD_ARG_CNT_MAX), kept = 0;

    for (uint32_t i = 0; i < cnt; i++) {
        size_t   off = p->reader.in.off;
        td_arg_t arg;
        uint32_t idx = td_reader_arg(&p->reader, &arg.is_ref);
        uint32_t end = arg.is_ref ? (uint32_t)p->draft.frame_root_cnt : p->draft.prog->node_cnt;

        if (idx >= end) {
            td_reader_note(&p->reader, off, "there is no such %s",
                           arg.is_ref ? "earlier root" : "node");
            if (end == 0) {
                continue;
            }
            idx %= end;
        }
        arg.idx         = (uint16_t)(arg.is_ref ? idx : end - 1 - idx);
        p->args[kept++] = arg;
    }
    step->arg     = p->args;
    step->arg_cnt = (uint8_t)kept;
}

static td_text_t
read_listed(td_parser_t *p, size_t cnt, char const *(*at)(size_t))
{
    return td_text(at(td_reader_below(&p->reader, cnt, "listed function")));
}

/* Reads a root's operands; the source as an index among the wire sources. */
static void
read_root_operands(td_parser_t *p, td_step_t *step)
{
    for (char const *what = td_entry_info(step->op)->operands; *what != '\0'; what++) {
        switch (*what) {
        case 's':
            step->source = td_parse_back(p, p->source_cnt, "source");
            break;
        case 'o':
            step->node = td_parse_node_ref(p);
            break;
        case 'n':
            step->name = td_reader_text(&p->reader, p->text);
            break;
        case 'm':
            step->name = read_listed(p, td_method_cnt(), td_method_name);
            break;
        case 'c':
            step->name = read_listed(p, td_compile_cnt(), td_compile_name);
            break;
        default:
            TD_ASSERT(*what == 'a');
            read_args(p, step);
        }
    }
}

static td_status_t
put_root(td_parser_t *p, td_step_t *step)
{
    td_draft_mark_t mark   = td_draft_mark(&p->draft);
    td_status_t     status = TD_OK;

    if (step->op == TD_ENTRY_BUILD) {
        status = put_source(p, step->source, &step->source);
    }
    if (status == TD_OK) {
        status = td_draft_put_step(&p->draft, step);
    }
    if (status == TD_LIMIT) {
        td_draft_rewind(&p->draft, mark);
    }
    return status;
}

td_status_t
td_parse_root(td_parser_t *p, uint8_t op)
{
    bool        needs_node   = strchr(td_entry_info(op)->operands, 'o') != NULL;
    bool        needs_source = strchr(td_entry_info(op)->operands, 's') != NULL;
    td_step_t   step         = {.kind = TD_STEP_ROOT, .op = op};
    td_status_t status       = TD_OK;

    if (needs_node && p->draft.prog->node_cnt == 0) {
        td_reader_note(&p->reader, p->off, "a root stands before the first node");
        read_root_operands(p, &step);
        return TD_OK;
    }
    TD_TRY(need_frame(p));
    if (needs_source && p->source_cnt == 0) {
        td_parse_source_t local = {.src = {.kind = TD_SOURCE_LOCAL, .name = td_text("x")},
                                   .put = TD_PARSE_NOT_PUT};

        td_reader_note(&p->reader, p->off, "a root has no source");
        TD_TRY(wire_source_push(p, local));
    }
    read_root_operands(p, &step);
    TD_TRY(put_root(p, &step));
done:
    return status;
}

td_status_t
td_parse_do(td_parser_t *p, uint8_t op)
{
    td_step_t step  = {.kind = TD_STEP_DO, .op = op};
    size_t    other = 0;

    for (char const *what = td_do_info(op)->operands; *what != '\0'; what++) {
        switch (*what) {
        case 'o':
            step.node = td_parse_node_ref(p);
            break;
        case 'x':
            step.other[other++] = td_parse_node_ref(p);
            break;
        case 'n':
            step.name = td_reader_text(&p->reader, p->text);
            break;
        default:
            TD_ASSERT(*what == 'i');
            step.num[0] = td_reader_int(&p->reader);
        }
    }
    /* Without a node its indices were noted already. */
    return p->draft.prog->node_cnt != 0 ? td_draft_put_step(&p->draft, &step) : TD_OK;
}

/* A tensor with dims and one of its dims; false when there is none at all. */
static bool
read_tensor_dim(td_parser_t *p, uint16_t *node, int64_t *dim)
{
    td_node_t const *nodes = p->draft.prog->nodes;
    uint8_t          raw;

    *node = td_parse_node_ref(p);
    if (p->last_tensor == TD_PARSE_NONE) {
        td_reader_note(&p->reader, p->off, "there is no tensor to constrain");
        td_reader_u8(&p->reader);
        return false;
    }
    if (!td_rules_is_tensor(&nodes[*node]) || nodes[*node].tensor.dim_cnt == 0) {
        td_reader_note(&p->reader, p->off, "a constraint is on a tensor that has dims");
        *node = (uint16_t)p->last_tensor;
    }
    raw  = td_reader_below(&p->reader, nodes[*node].tensor.dim_cnt, "dim");
    *dim = raw;
    return true;
}

static void
read_bounds(td_parser_t *p, td_step_t *step)
{
    for (int i = 1; i < 3; i++) {
        size_t off = p->reader.in.off;

        step->num[i] = td_reader_int(&p->reader);
        if (step->num[i] < 0) {
            td_reader_note(&p->reader, off, "a size is below 0");
            step->num[i] = 0;
        }
    }
    if (step->num[1] > step->num[2]) {
        int64_t max = step->num[1];

        td_reader_note(&p->reader, p->off, "the smallest size is above the largest");
        step->num[1] = step->num[2];
        step->num[2] = max;
    }
}

td_status_t
td_parse_constraint(td_parser_t *p, bool tied)
{
    td_step_t step  = {.kind = TD_STEP_CONSTRAINT, .tied = tied};
    bool      whole = read_tensor_dim(p, &step.node, &step.num[0]);

    if (tied) {
        whole = read_tensor_dim(p, &step.other[0], &step.num[1]) && whole;
    } else {
        read_bounds(p, &step);
    }
    step.name = td_reader_text(&p->reader, p->text);
    if (p->draft.frame_root_cnt < 0) {
        td_reader_note(&p->reader, p->off, "a constraint stands before the first frame");
        whole = false;
    }
    return whole ? td_draft_put_step(&p->draft, &step) : TD_OK;
}
