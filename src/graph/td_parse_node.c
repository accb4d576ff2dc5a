/* td_parse_node.c: nodes out of bytes, made valid. */
#include <string.h>

#include "base/td_assert.h"
#include "graph/td_parse.h"
#include "graph/td_rules.h"

uint16_t
td_parse_back(td_parser_t *p, uint32_t cnt, char const *what)
{
    size_t   off      = p->reader.in.off;
    uint32_t distance = td_reader_index(&p->reader);

    if (distance >= cnt) {
        td_reader_note(&p->reader, off, "%u %ss back: there are only %u", distance + 1, what, cnt);
        distance = cnt != 0 ? distance % cnt : 0;
    }
    return (uint16_t)(cnt != 0 ? cnt - 1 - distance : 0);
}

uint16_t
td_parse_node_ref(td_parser_t *p)
{
    return td_parse_back(p, p->draft.prog->node_cnt, "node");
}

/* The largest dims that still fit, from the left. */
static void
repair_dims(td_parser_t *p, td_tensor_t *tensor)
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
read_dim(td_parser_t *p)
{
    size_t  off = p->reader.in.off;
    uint8_t dim = td_reader_u8(&p->reader);

    if (dim > TD_DIM_SIZE_MAX) {
        td_reader_note(&p->reader, off, "%u is too large for a dim (at most %d)", dim,
                       TD_DIM_SIZE_MAX);
        dim &= 7;
    }
    return dim;
}

static void
repair_layout(td_parser_t *p, uint8_t kind, td_tensor_t *tensor)
{
    bool can_grad = td_dtype_is_floating(tensor->dtype) && kind != TD_KIND_NDARRAY;

    if (tensor->requires_grad && !can_grad) {
        td_reader_note(&p->reader, p->off,
                       "only tensors of a floating or complex dtype can require grad");
        tensor->requires_grad = 0;
    }
    if (!td_layout_fits(kind, tensor)) {
        td_reader_note(&p->reader, p->off,
                       "the layout does not fit the dims, the dtype or the kind");
        tensor->layout = TD_LAYOUT_CONTIGUOUS;
    }
}

static void
read_tensor(td_parser_t *p, uint8_t kind, td_tensor_t *tensor)
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
read_range(td_parser_t *p, td_node_t *node)
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
read_size(td_parser_t *p, td_node_t *node)
{
    uint32_t cnt = td_reader_count(&p->reader, TD_SIZE_CNT_MAX);

    for (uint32_t i = 0; i < cnt; i++) {
        p->dims[i] = td_reader_int(&p->reader);
    }
    node->dims.cnt = (uint8_t)cnt;
    node->dims.dim = p->dims;
}

static void
read_payload(td_parser_t *p, td_node_t *node)
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
read_edges(td_parser_t *p, td_node_t *node)
{
    td_kind_info_t const *info = td_kind_info(node->kind);
    uint32_t              max = info->edge_max, min = info->edge_min, cnt = min;
    bool                  paired = td_rules_is_paired(node->kind);

    if (min != max) {
        cnt = td_reader_count(&p->reader, paired ? (max - min) / 2 : max - min);
        cnt = min + (paired ? 2 * cnt : cnt);
    }
    TD_ASSERT(cnt <= TD_EDGE_CNT_MAX + 1);
    for (uint32_t i = 0; i < cnt; i++) {
        if (i >= min && td_cursor_left(&p->reader.in) == 0) {
            td_reader_note(&p->reader, p->reader.in.sz, "the program ends inside a record");
            cnt = i - (paired ? (i - min) % 2 : 0);
            break;
        }
        p->edges[i] = td_parse_node_ref(p);
    }
    node->edge     = p->edges;
    node->edge_cnt = (uint16_t)(p->draft.prog->node_cnt != 0 ? cnt : 0);
}

/* A view shows a node of one kind: the newest one, if it shows another. */
static bool
repair_view(td_parser_t *p, td_node_t const *node, uint8_t viewed, int last)
{
    if (p->draft.prog->nodes[node->edge[0]].kind == viewed) {
        return true;
    }
    td_reader_note(&p->reader, p->off, "the edge of %s is no %s", td_kind_info(node->kind)->name,
                   td_kind_info(viewed)->name);
    p->edges[0] = (uint16_t)(last != TD_PARSE_NONE ? last : 0);
    return last != TD_PARSE_NONE;
}

/* What can't be completed becomes None. */
static void
repair_edges(td_parser_t *p, td_node_t *node)
{
    bool whole = node->edge_cnt >= td_kind_info(node->kind)->edge_min;

    if (whole && node->kind == TD_KIND_ODICT_VALUES) {
        whole = repair_view(p, node, TD_KIND_ORDERED_DICT, p->last_odict);
    } else if (whole && node->kind == TD_KIND_TUPLE_ITERATOR) {
        whole = repair_view(p, node, TD_KIND_TUPLE, p->last_tuple);
    }
    if (!whole) {
        td_reader_note(&p->reader, p->off, "%s has nothing to point at",
                       td_kind_info(node->kind)->name);
        node->kind     = TD_KIND_NONE;
        node->edge_cnt = 0;
    }
}

static void
remember_node(td_parser_t *p)
{
    int     idx  = (int)p->draft.prog->node_cnt - 1;
    uint8_t kind = p->draft.prog->nodes[idx].kind;

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

td_status_t
td_parse_node(td_parser_t *p, uint8_t kind)
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
