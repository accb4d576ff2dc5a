/* td_decode.c: bytes -> program, leniently; the strict decoder accepts exactly
   what came through unchanged.

   There is one parser.  It reads record by record, makes each one valid where it
   is not, and puts it into a draft, whose bytes are canonical: input and draft
   differ exactly when something had to be changed. */
#include <stdio.h>
#include <string.h>

#include "base/td_assert.h"
#include "graph/td_draft.h"
#include "graph/td_rules.h"
#include "graph/td_wire.h"

enum {
    WIRE_SOURCE_MAX = 0x7FFF, /* sources read, duplicates and unused ones too */
    NOT_PUT         = 0xFFFF, /* a source that no root has needed yet */
    NONE_YET        = -1,
};

/* A source as it was read; put into the draft when a root needs it. */
typedef struct {
    td_src_t src;   /* base: index into wire sources */
    uint16_t put;   /* index in the program, or NOT_PUT */
    uint8_t  depth;
} wire_source_t;

typedef struct {
    td_reader_t    reader;
    td_draft_t     draft;
    td_arena_t     scratch; /* wire sources and their names */
    wire_source_t *sources;
    uint32_t       source_cnt, source_cap;
    size_t         off;     /* of the record being read */
    /* The newest node of each sort that an operand may have to be. */
    int            last_odict, last_tuple, last_key, last_tensor;
    char           text[TD_NAME_SZ_MAX + 1];
    uint16_t       edges[TD_EDGE_CNT_MAX + 1];
    int64_t        dims[TD_SIZE_CNT_MAX];
    td_arg_t       args[TD_ARG_CNT_MAX];
} parser_t;

static uint32_t
node_cnt(parser_t const *p)
{
    return p->draft.prog->node_cnt;
}

/* An earlier thing out of cnt, by its distance from the newest.  With cnt 0 it
   is 0 and means nothing. */
static uint16_t
read_back(parser_t *p, uint32_t cnt, char const *what)
{
    size_t   off      = p->reader.in.off;
    uint32_t distance = td_reader_index(&p->reader);

    if (distance >= cnt) {
        td_reader_note(&p->reader, off, "%u %ss back: there are only %u", distance + 1, what, cnt);
        distance = cnt != 0 ? distance % cnt : 0;
    }
    return (uint16_t)(cnt != 0 ? cnt - 1 - distance : 0);
}

static uint16_t
read_node_ref(parser_t *p)
{
    return read_back(p, node_cnt(p), "node");
}

/* ---- nodes ---- */

/* The largest dims that still fit, from the left. */
static void
repair_dims(parser_t *p, td_tensor_t *tensor)
{
    uint64_t room = TD_NUMEL_MAX / 2;

    if (td_tensor_storage_cnt(tensor) <= TD_NUMEL_MAX) {
        return;
    }
    td_reader_note(&p->reader, p->off, "the tensor holds too many elements");
    for (int i = 0; i < tensor->dim_cnt; i++) {
        if (tensor->dim[i] > room) {
            tensor->dim[i] = (uint16_t)room;
        }
        room /= tensor->dim[i] != 0 ? tensor->dim[i] : 1;
    }
}

static uint16_t
read_dim(parser_t *p)
{
    size_t  off = p->reader.in.off;
    uint8_t dim = td_reader_u8(&p->reader);

    if (dim > TD_DIM_SIZE_MAX) {
        td_reader_note(&p->reader, off, "%u is too large for a dim (at most %d)", dim, TD_DIM_SIZE_MAX);
        dim &= 7;
    }
    return dim;
}

static void
repair_layout(parser_t *p, uint8_t kind, td_tensor_t *tensor)
{
    bool can_grad = td_dtype_is_floating(tensor->dtype) && kind != TD_KIND_NDARRAY;

    if (tensor->requires_grad && !can_grad) {
        td_reader_note(&p->reader, p->off, "only tensors of a floating or complex dtype can require grad");
        tensor->requires_grad = 0;
    }
    if (!td_layout_fits(kind, tensor)) {
        td_reader_note(&p->reader, p->off, "the layout does not fit the dims, the dtype or the kind");
        tensor->layout = TD_LAYOUT_CONTIGUOUS;
    }
}

static void
read_tensor(parser_t *p, uint8_t kind, td_tensor_t *tensor)
{
    size_t  off = p->reader.in.off;
    uint8_t flags;

    tensor->dtype = td_reader_below(&p->reader, td_dtype_cnt(), "dtype");
    if (kind == TD_KIND_NDARRAY && strcmp(td_dtype_name(tensor->dtype), "bfloat16") == 0) {
        td_reader_note(&p->reader, off, "numpy has no bfloat16");
        tensor->dtype = 0;
    }
    flags                 = td_reader_u8(&p->reader);
    tensor->requires_grad = flags >> 7;
    tensor->layout        = flags & 0x7F;
    if (tensor->layout >= TD_LAYOUT_CNT) {
        td_reader_note(&p->reader, off + 1, "there is no layout %u", tensor->layout);
        tensor->layout %= TD_LAYOUT_CNT;
    }
    tensor->dim_cnt = td_reader_below(&p->reader, TD_DIM_CNT_MAX + 1, "number of dims");
    for (int i = 0; i < tensor->dim_cnt; i++) {
        tensor->dim[i] = read_dim(p);
    }
    repair_layout(p, kind, tensor);
    repair_dims(p, tensor);
}

static void
read_range(parser_t *p, td_node_t *node)
{
    for (int i = 0; i < 3; i++) {
        node->range[i] = td_reader_int(&p->reader);
    }
    if (node->range[2] == 0) {
        td_reader_note(&p->reader, p->off, "the step of a range is 0");
        node->range[2] = 1;
    }
}

static void
read_size(parser_t *p, td_node_t *node)
{
    uint32_t cnt = td_reader_count(&p->reader, TD_SIZE_CNT_MAX);

    for (uint32_t i = 0; i < cnt; i++) {
        p->dims[i] = td_reader_int(&p->reader);
    }
    node->dims.cnt = (uint8_t)cnt;
    node->dims.dim = p->dims;
}

static void
read_payload(parser_t *p, td_node_t *node)
{
    switch (td_kind_info(node->kind)->payload) {
    case TD_PAYLOAD_NONE:
        break;
    case TD_PAYLOAD_BOOL:
        node->i = td_reader_below(&p->reader, 2, "bool");
        break;
    case TD_PAYLOAD_CHOICE:
        node->i = td_reader_below(&p->reader, td_choice_cnt(node->kind), "choice");
        break;
    case TD_PAYLOAD_INT:
        node->i = td_reader_int(&p->reader);
        break;
    case TD_PAYLOAD_BIGINT:
        node->text = td_reader_decimal(&p->reader, p->text);
        break;
    case TD_PAYLOAD_FLOAT:
        node->f = td_reader_float(&p->reader);
        break;
    case TD_PAYLOAD_TEXT:
        node->text = td_reader_text(&p->reader, p->text);
        break;
    case TD_PAYLOAD_BYTES:
        node->text = td_reader_bytes(&p->reader, p->text);
        break;
    case TD_PAYLOAD_RANGE:
        read_range(p, node);
        break;
    case TD_PAYLOAD_DIMS:
        read_size(p, node);
        break;
    case TD_PAYLOAD_TENSOR:
        read_tensor(p, node->kind, &node->tensor);
        break;
    }
}

static void
read_edges(parser_t *p, td_node_t *node)
{
    td_kind_info_t const *info = td_kind_info(node->kind);
    uint32_t              max = info->edge_max, min = info->edge_min, cnt = min;

    if (min != max) {
        bool paired = td_rules_is_paired(node->kind);

        cnt = td_reader_count(&p->reader, paired ? (max - min) / 2 : max - min);
        cnt = min + (paired ? 2 * cnt : cnt);
    }
    TD_ASSERT(cnt <= TD_EDGE_CNT_MAX + 1);
    for (uint32_t i = 0; i < cnt; i++) {
        p->edges[i] = read_node_ref(p);
    }
    node->edge     = p->edges;
    node->edge_cnt = (uint16_t)(node_cnt(p) != 0 ? cnt : 0);
}

/* A view shows a node of one kind: the newest one, if it shows another. */
static bool
repair_view(parser_t *p, td_node_t const *node, uint8_t viewed, int last)
{
    if (p->draft.prog->nodes[node->edge[0]].kind == viewed) {
        return true;
    }
    td_reader_note(&p->reader, p->off, "the edge of %s is no %s", td_kind_info(node->kind)->name,
                   td_kind_info(viewed)->name);
    p->edges[0] = (uint16_t)(last != NONE_YET ? last : 0);
    return last != NONE_YET;
}

/* What can't be completed becomes None. */
static void
repair_edges(parser_t *p, td_node_t *node)
{
    bool whole = node->edge_cnt >= td_kind_info(node->kind)->edge_min;

    if (whole && node->kind == TD_KIND_ODICT_VALUES) {
        whole = repair_view(p, node, TD_KIND_ORDERED_DICT, p->last_odict);
    } else if (whole && node->kind == TD_KIND_TUPLE_ITERATOR) {
        whole = repair_view(p, node, TD_KIND_TUPLE, p->last_tuple);
    }
    if (!whole) {
        td_reader_note(&p->reader, p->off, "%s has nothing to point at", td_kind_info(node->kind)->name);
        node->kind     = TD_KIND_NONE;
        node->edge_cnt = 0;
    }
}

static void
remember_node(parser_t *p)
{
    int      idx  = (int)node_cnt(p) - 1;
    uint8_t  kind = p->draft.prog->nodes[idx].kind;

    if (kind == TD_KIND_ORDERED_DICT) {
        p->last_odict = idx;
    } else if (kind == TD_KIND_TUPLE) {
        p->last_tuple = idx;
    } else if (td_rules_is_tensor(&p->draft.prog->nodes[idx]) &&
               p->draft.prog->nodes[idx].tensor.dim_cnt != 0) {
        p->last_tensor = idx;
    }
    if (p->draft.is_key[idx]) {
        p->last_key = idx;
    }
}

static td_status_t
read_node(parser_t *p, uint8_t kind)
{
    td_node_t   node = {.kind = kind};
    td_status_t status;

    read_payload(p, &node);
    read_edges(p, &node);
    repair_edges(p, &node);
    status = td_draft_put_node(&p->draft, &node);
    if (status == TD_OK) {
        remember_node(p);
    }
    return status;
}

/* ---- sources ---- */

static td_status_t
wire_source_push(parser_t *p, wire_source_t source)
{
    if (p->source_cnt == p->source_cap) {
        uint32_t       cap   = p->source_cap == 0 ? 16 : p->source_cap * 2;
        wire_source_t *wider = td_arena_alloc(&p->scratch, cap * sizeof *wider);

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
repair_depth(parser_t *p, wire_source_t *source)
{
    while (p->sources[source->src.base].depth >= TD_SOURCE_DEPTH_MAX) {
        td_reader_note(&p->reader, p->off, "the source is nested too deeply");
        source->src.base = p->sources[source->src.base].src.base;
    }
    source->depth = p->sources[source->src.base].depth + 1;
}

static void
read_key(parser_t *p, td_src_t *src, bool *whole)
{
    src->key = read_node_ref(p);
    if (node_cnt(p) != 0 && p->draft.is_key[src->key]) {
        return;
    }
    td_reader_note(&p->reader, p->off, "the key is no literal, enum member, class, or tuple or slice of such");
    *whole   = *whole && p->last_key != NONE_YET;
    src->key = (uint16_t)(*whole ? p->last_key : 0);
}

/* Reads the operands; false when the source can't be completed. */
static bool
read_operands(parser_t *p, td_src_t *src)
{
    bool whole = true;

    for (char const *what = td_source_info(src->kind)->operands; *what != '\0'; what++) {
        switch (*what) {
        case 'b':
            src->base = read_back(p, p->source_cnt, "source");
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

static td_text_t
text_of(char const *text)
{
    return (td_text_t){.bytes = text, .sz = (uint32_t)strlen(text)};
}

static td_status_t
read_source(parser_t *p, uint8_t kind)
{
    wire_source_t source = {.src = {.kind = kind}, .put = NOT_PUT};
    bool          based  = strchr(td_source_info(kind)->operands, 'b') != NULL;

    if (!read_operands(p, &source.src)) {
        td_reader_note(&p->reader, p->off, "the source has no base or no key");
        /* A local of the same name, if it has one, is the nearest. */
        source.src = (td_src_t){
            .kind = TD_SOURCE_LOCAL,
            .name = source.src.name.bytes != NULL ? source.src.name : text_of("x"),
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
    if (p->source_cnt == WIRE_SOURCE_MAX) {
        return TD_OK;
    }
    return wire_source_push(p, source);
}

/* Puts a source that a root needs, its bases first. */
static td_status_t
put_source(parser_t *p, uint16_t wire_idx, uint16_t *idx)
{
    wire_source_t *source = &p->sources[wire_idx];
    td_src_t       src    = source->src;
    td_status_t    status = TD_OK;

    if (source->put == NOT_PUT) {
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

static td_status_t
put_frame(parser_t *p)
{
    td_step_t const frame = {.kind = TD_STEP_FRAME};

    return td_draft_put_step(&p->draft, &frame);
}

static td_status_t
need_frame(parser_t *p)
{
    if (p->draft.frame_root_cnt >= 0) {
        return TD_OK;
    }
    td_reader_note(&p->reader, p->off, "a root stands before the first frame");
    return put_frame(p);
}

static void
read_args(parser_t *p, td_step_t *step)
{
    uint32_t cnt = td_reader_count(&p->reader, TD_ARG_CNT_MAX), kept = 0;

    for (uint32_t i = 0; i < cnt; i++) {
        size_t   off = p->reader.in.off;
        td_arg_t arg;
        uint32_t idx = td_reader_arg(&p->reader, &arg.is_ref);
        uint32_t end = arg.is_ref ? (uint32_t)p->draft.frame_root_cnt : node_cnt(p);

        if (idx >= end) {
            td_reader_note(&p->reader, off, "there is no such %s", arg.is_ref ? "earlier root" : "node");
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
read_listed(parser_t *p, size_t cnt, char const *(*at)(size_t))
{
    return text_of(at(td_reader_below(&p->reader, cnt, "listed function")));
}

/* Reads a root's operands; the source as an index among the wire sources. */
static void
read_root_operands(parser_t *p, td_step_t *step)
{
    for (char const *what = td_entry_info(step->op)->operands; *what != '\0'; what++) {
        switch (*what) {
        case 's':
            step->source = read_back(p, p->source_cnt, "source");
            break;
        case 'o':
            step->node = read_node_ref(p);
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
put_root(parser_t *p, td_step_t *step)
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

static td_status_t
read_root(parser_t *p, uint8_t op)
{
    bool        needs_node   = strchr(td_entry_info(op)->operands, 'o') != NULL;
    bool        needs_source = strchr(td_entry_info(op)->operands, 's') != NULL;
    td_step_t   step         = {.kind = TD_STEP_ROOT, .op = op};
    td_status_t status       = TD_OK;

    if (needs_node && node_cnt(p) == 0) {
        td_reader_note(&p->reader, p->off, "a root stands before the first node");
        read_root_operands(p, &step);
        return TD_OK;
    }
    TD_TRY(need_frame(p));
    if (needs_source && p->source_cnt == 0) {
        wire_source_t local = {.src = {.kind = TD_SOURCE_LOCAL, .name = text_of("x")}, .put = NOT_PUT};

        td_reader_note(&p->reader, p->off, "a root has no source");
        TD_TRY(wire_source_push(p, local));
    }
    read_root_operands(p, &step);
    TD_TRY(put_root(p, &step));
done:
    return status;
}

static td_status_t
read_do(parser_t *p, uint8_t op)
{
    td_step_t step  = {.kind = TD_STEP_DO, .op = op};
    size_t    other = 0;

    for (char const *what = td_do_info(op)->operands; *what != '\0'; what++) {
        switch (*what) {
        case 'o':
            step.node = read_node_ref(p);
            break;
        case 'x':
            step.other[other++] = read_node_ref(p);
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
    return node_cnt(p) != 0 ? td_draft_put_step(&p->draft, &step) : TD_OK;
}

/* A tensor with dims and one of its dims; false when there is none at all. */
static bool
read_tensor_dim(parser_t *p, uint16_t *node, int64_t *dim)
{
    td_node_t const *nodes = p->draft.prog->nodes;
    uint8_t          raw;

    *node = read_node_ref(p);
    if (p->last_tensor == NONE_YET) {
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
read_bounds(parser_t *p, td_step_t *step)
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

static td_status_t
read_constraint(parser_t *p, bool tied)
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

/* ---- the stream ---- */

static td_status_t
read_setting(parser_t *p)
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
read_export(parser_t *p)
{
    td_status_t status = td_draft_put_export(&p->draft);

    if (status == TD_REJECT) {
        td_reader_note(&p->reader, p->off, "%s", p->draft.why);
        return TD_OK;
    }
    return status;
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
repair_opcode(parser_t *p, uint8_t byte)
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
    return byte <= TD_WIRE_SETTING;
}

static td_status_t
read_record(parser_t *p)
{
    uint8_t op;

    p->off = p->reader.in.off;
    op     = td_reader_u8(&p->reader);
    if (!is_opcode(op)) {
        op = repair_opcode(p, op);
    }
    if (op < TD_WIRE_SOURCE) {
        return read_node(p, op);
    }
    if (op < TD_WIRE_ENTRY) {
        return read_source(p, op - TD_WIRE_SOURCE);
    }
    if (op < TD_WIRE_DO) {
        return read_root(p, op - TD_WIRE_ENTRY);
    }
    if (op < TD_WIRE_FRAME) {
        return read_do(p, op - TD_WIRE_DO);
    }
    switch (op) {
    case TD_WIRE_FRAME:
        return put_frame(p);
    case TD_WIRE_EXPORT:
        return read_export(p);
    case TD_WIRE_SETTING:
        return read_setting(p);
    default:
        return read_constraint(p, op == TD_WIRE_TIED);
    }
}

/* A program without roots builds nothing: it gets one, on its last node. */
static td_status_t
add_root(parser_t *p)
{
    td_node_t const none   = {.kind = TD_KIND_NONE};
    td_src_t const  local  = {.kind = TD_SOURCE_LOCAL, .name = text_of("x")};
    td_step_t       root   = {.kind = TD_STEP_ROOT, .op = TD_ENTRY_BUILD};
    td_status_t     status = TD_OK;

    td_reader_note(&p->reader, p->reader.in.sz, "there is no root");
    if (node_cnt(p) == 0) {
        TD_TRY(td_draft_put_node(&p->draft, &none));
    }
    if (p->draft.frame_root_cnt < 0) {
        TD_TRY(put_frame(p));
    }
    TD_TRY(td_draft_put_source(&p->draft, &local, &root.source));
    root.node = (uint16_t)(node_cnt(p) - 1);
    TD_TRY(td_draft_put_step(&p->draft, &root));
done:
    TD_ASSERT(status == TD_OK || status == TD_NOMEM);
    return status;
}

static void
read_version(parser_t *p)
{
    uint8_t version;

    if (p->reader.in.sz == 0) {
        td_reader_note(&p->reader, 0, "the program is empty");
    }
    version = td_reader_u8(&p->reader);
    if (version >> 4 == 0xA && version != TD_WIRE_VERSION) {
        td_reader_note(&p->reader, 0, "the program has format version %d; this tool reads version %d",
                       version & 0xF, TD_FORMAT_VERSION);
    } else if (version != TD_WIRE_VERSION) {
        td_reader_note(&p->reader, 0, "a program begins with 0x%02x, not with 0x%02x", TD_WIRE_VERSION, version);
    }
}

static td_status_t
read_stream(parser_t *p)
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
    if (status == TD_OK && p->draft.root_cnt == 0) {
        status = add_root(p);
    }
    return status;
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
is_changed(parser_t *p, uint8_t const *bytes, size_t sz)
{
    td_writer_t const *out = &p->draft.out;

    if (out->sz == sz && memcmp(out->bytes, bytes, sz) == 0) {
        return false;
    }
    td_reader_note(&p->reader, differs_at(out->bytes, out->sz, bytes, sz),
                   "not in its canonical form (something is spelled longer than it need be, or a source "
                   "does not stand right before the first root that needs it)");
    return true;
}

static td_status_t
parse(uint8_t const *bytes, size_t sz, td_prog_t *prog, td_refusal_t *refusal, bool *changed)
{
    size_t      read_sz = sz < TD_INPUT_SZ_MAX ? sz : TD_INPUT_SZ_MAX;
    parser_t    p;
    td_status_t status;

    td_reader_init(&p.reader, bytes, read_sz, refusal);
    memset(&p.draft, 0, sizeof p.draft);
    td_arena_init(&p.scratch);
    p.sources    = NULL;
    p.source_cnt = p.source_cap = 0;
    p.off        = 0;
    p.last_odict = p.last_tuple = p.last_key = p.last_tensor = NONE_YET;
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
