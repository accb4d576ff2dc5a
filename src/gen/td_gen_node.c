/* td_gen_node.c: objects. */
#include <stdio.h>
#include <string.h>

#include "base/td_assert.h"
#include "gen/td_gen_private.h"
#include "graph/td_rules.h"
#include "graph/td_wire.h"

void
td_gen_use(td_gen_t *gen, uint16_t node)
{
    gen->uses[node] += gen->uses[node] != UINT8_MAX;
}

uint16_t
td_gen_node_of(td_gen_t *gen, td_node_t *node)
{
    if (gen->status != TD_OK) {
        return 0;
    }
    gen->status = td_draft_put_node(&gen->draft, node);
    TD_ASSERT(gen->status != TD_REJECT);
    if (gen->status != TD_OK) {
        return 0;
    }
    td_gen_follow(gen);
    for (int i = 0; i < node->edge_cnt; i++) {
        td_gen_use(gen, node->edge[i]);
    }
    return (uint16_t)(gen->prog->node_cnt - 1);
}

uint16_t
td_gen_int(td_gen_t *gen, int64_t value)
{
    td_node_t node = {.kind = TD_KIND_INT, .i = value};

    for (uint32_t i = 0; i < gen->prog->node_cnt; i++) {
        if (gen->prog->nodes[i].kind == TD_KIND_INT && gen->prog->nodes[i].i == value) {
            return (uint16_t)i;
        }
    }
    return td_gen_node_of(gen, &node);
}

/* ---- picking earlier nodes ---- */

static uint16_t
pick_any(td_gen_t *gen)
{
    return (uint16_t)td_rng_below(&gen->rng, gen->prog->node_cnt);
}

uint16_t
td_gen_pick(td_gen_t *gen)
{
    TD_ASSERT(gen->prog->node_cnt != 0);
    if (td_rng_chance(&gen->rng, gen->weights->share_percent)) {
        return pick_any(gen);
    }
    for (int tries = 0; tries < 6; tries++) {
        uint16_t node = pick_any(gen);

        if (gen->uses[node] == 0) {
            return node;
        }
    }
    return pick_any(gen);
}

int
td_gen_find(td_gen_t *gen, bool (*pred)(td_gen_t const *gen, uint16_t node))
{
    uint32_t cnt   = gen->prog->node_cnt;
    uint32_t start = (uint32_t)td_rng_below(&gen->rng, cnt);

    for (uint32_t i = 0; i < cnt; i++) {
        uint16_t node = (uint16_t)((start + i) % cnt);

        if (pred(gen, node)) {
            return node;
        }
    }
    return -1;
}

bool
td_gen_is_key(td_gen_t const *gen, uint16_t node)
{
    return gen->draft.is_key[node] &&
           (!gen->weights->may.plain_keys || td_weights_plain_key(gen->prog, node));
}

static bool
is_plain_key(td_gen_t const *gen, uint16_t node)
{
    uint8_t kind = gen->prog->nodes[node].kind;

    return kind == TD_KIND_STR || kind == TD_KIND_INT;
}

static bool
is_hashable(td_gen_t const *gen, uint16_t node)
{
    switch (gen->prog->nodes[node].kind) {
    case TD_KIND_LIST:
    case TD_KIND_DICT:
    case TD_KIND_ORDERED_DICT:
    case TD_KIND_DEFAULT_DICT:
    case TD_KIND_DEQUE:
    case TD_KIND_SET:
    case TD_KIND_OPTIMIZER_PART:
    case TD_KIND_STAND_IN:
    case TD_KIND_FX_OPTION:
        return false;
    default:
        return true;
    }
}

bool
td_gen_is_dict_key(td_gen_t const *gen, uint16_t node)
{
    return td_gen_is_key(gen, node) && gen->prog->nodes[node].kind != TD_KIND_SLICE;
}

/* A node to be a dict's key or a set's member; -1: there is none. */
static int
pick_key(td_gen_t *gen)
{
    bool odd  = td_rng_chance(&gen->rng, gen->weights->odd_percent);
    int  node = td_rng_chance(&gen->rng, 75) ? td_gen_find(gen, is_plain_key) : -1;

    if (gen->weights->may.plain_keys) {
        return node >= 0 ? node : td_gen_find(gen, td_gen_is_dict_key);
    }
    if (node < 0 && !odd) {
        node = td_gen_find(gen, td_gen_is_dict_key);
    }
    if (node < 0) {
        node = td_gen_find(gen, is_hashable);
    }
    return node >= 0 ? node : td_gen_pick(gen);
}

/* ---- payloads ---- */

static int64_t
draw_int(td_gen_t *gen)
{
    uint64_t draw = td_rng_below(&gen->rng, 100);

    if (draw < 70) {
        return td_rng_between(&gen->rng, -3, 12);
    }
    if (draw < 90) {
        return td_wire_int(td_rng_below(&gen->rng, td_wire_int_cnt()));
    }
    return (int64_t)(td_rng_u64(&gen->rng) >> td_rng_below(&gen->rng, 64));
}

static double
draw_float(td_gen_t *gen)
{
    uint64_t draw = td_rng_below(&gen->rng, 100), bits;
    double   value;

    if (draw < 60) {
        return td_wire_float(td_rng_below(&gen->rng, td_wire_float_cnt()));
    }
    if (draw < 90) {
        return (double)td_rng_between(&gen->rng, -1000, 1000) / 8.0;
    }
    bits = td_rng_u64(&gen->rng);
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Mostly one of the common names; else up to 12 characters, some not ASCII. */
static td_text_t
draw_text(td_gen_t *gen, char *buffer)
{
    static char const *const letters[] = {"a", "b", "Z",  "0",        "_",           " ",
                                          ".", "'", "\n", "\xc3\xa4", "\xe2\x82\xac"};
    uint64_t                 cnt;
    size_t                   sz = 0;

    if (td_rng_chance(&gen->rng, 80)) {
        return td_text(td_wire_name(td_rng_below(&gen->rng, td_wire_name_cnt())));
    }
    cnt = td_rng_below(&gen->rng, 12);
    for (uint64_t i = 0; i < cnt; i++) {
        char const *letter = letters[td_rng_below(&gen->rng, sizeof letters / sizeof *letters)];

        memcpy(buffer + sz, letter, strlen(letter));
        sz += strlen(letter);
    }
    return (td_text_t){.bytes = buffer, .sz = (uint32_t)sz};
}

static td_text_t
draw_bytes(td_gen_t *gen, char *buffer)
{
    td_text_t bytes = {.bytes = buffer, .sz = (uint32_t)td_rng_below(&gen->rng, 9)};

    for (uint32_t i = 0; i < bytes.sz; i++) {
        buffer[i] = (char)td_rng_u64(&gen->rng);
    }
    return bytes;
}

static td_text_t
draw_bigint(td_gen_t *gen, char *buffer)
{
    if (td_rng_chance(&gen->rng, 70)) {
        return td_text(td_wire_decimal(td_rng_below(&gen->rng, td_wire_decimal_cnt())));
    }
    snprintf(buffer, TD_NAME_SZ_MAX, "%s%llu%019llu", td_rng_chance(&gen->rng, 30) ? "-" : "",
             (unsigned long long)td_rng_between(&gen->rng, 10, 1000000),
             (unsigned long long)td_rng_below(&gen->rng, UINT64_C(10000000000000000000)));
    return td_text(buffer);
}

static void
draw_range(td_gen_t *gen, td_node_t *node)
{
    node->range[0] = td_rng_chance(&gen->rng, 60) ? 0 : draw_int(gen);
    node->range[1] = draw_int(gen);
    node->range[2] = td_rng_chance(&gen->rng, 60) ? 1 : draw_int(gen);
    node->range[2] += node->range[2] == 0;
}

static uint16_t
draw_dim(td_gen_t *gen)
{
    uint64_t draw = td_rng_below(&gen->rng, 100);

    if (draw < 4) {
        return 0;
    }
    return (uint16_t)(draw < 14 ? 1 : td_rng_between(&gen->rng, 2, draw < 90 ? 8 : 16));
}

static void
draw_layout(td_gen_t *gen, uint8_t kind, td_tensor_t *tensor)
{
    for (int tries = 0; tries < 8; tries++) {
        tensor->layout = (uint8_t)td_rng_below(&gen->rng, TD_LAYOUT_CNT);
        if (td_layout_fits(kind, tensor)) {
            return;
        }
    }
    tensor->layout = TD_LAYOUT_CONTIGUOUS;
}

/* Where every free dim becomes a symbol and that is not wanted, most tensors
   have none. */
static uint8_t
draw_dim_cnt(td_gen_t *gen)
{
    static uint8_t const cnt[] = {0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 4, 4, 5};

    if (gen->weights->drift_percent == 0 && !gen->shadow.assume_static &&
        td_rng_chance(&gen->rng, 90)) {
        return 0;
    }
    return cnt[td_rng_below(&gen->rng, sizeof cnt)];
}

static void
draw_tensor(td_gen_t *gen, uint8_t kind, td_tensor_t *tensor)
{
    tensor->dtype =
        (uint8_t)(td_rng_chance(&gen->rng, 50) ? 0 : td_rng_below(&gen->rng, td_dtype_cnt()));
    if (kind == TD_KIND_NDARRAY && strcmp(td_dtype_name(tensor->dtype), "bfloat16") == 0) {
        tensor->dtype = 0;
    }
    tensor->dim_cnt = draw_dim_cnt(gen);
    for (int i = 0; i < tensor->dim_cnt; i++) {
        tensor->dim[i] = draw_dim(gen);
    }
    if (td_dtype_is_floating(tensor->dtype) && kind != TD_KIND_NDARRAY) {
        tensor->requires_grad = td_rng_chance(&gen->rng, kind == TD_KIND_PARAMETER ? 85 : 20);
    }
    if (td_rng_chance(&gen->rng, 35)) {
        draw_layout(gen, kind, tensor);
    }
    for (int i = 0; td_tensor_storage_cnt(tensor) > TD_NUMEL_MAX; i++) {
        tensor->dim[i] = 1;
    }
}

void
td_gen_payload(td_gen_t *gen, td_node_t *node)
{
    switch (td_kind_info(node->kind)->payload) {
    case TD_PAYLOAD_NONE:
        break;
    case TD_PAYLOAD_BOOL:
        node->i = td_rng_chance(&gen->rng, 50);
        break;
    case TD_PAYLOAD_INT:
        node->i = draw_int(gen);
        break;
    case TD_PAYLOAD_CHOICE:
        node->i = (int64_t)td_weights_choice(gen->weights, &gen->rng, node->kind);
        break;
    case TD_PAYLOAD_BIGINT:
        node->text = draw_bigint(gen, gen->text);
        break;
    case TD_PAYLOAD_FLOAT:
        node->f = draw_float(gen);
        break;
    case TD_PAYLOAD_TEXT:
        node->text = draw_text(gen, gen->text);
        break;
    case TD_PAYLOAD_BYTES:
        node->text = draw_bytes(gen, gen->text);
        break;
    case TD_PAYLOAD_RANGE:
        draw_range(gen, node);
        break;
    case TD_PAYLOAD_DIMS:
        node->dims.cnt = (uint8_t)td_rng_below(&gen->rng, 5);
        node->dims.dim = gen->dims;
        for (int i = 0; i < node->dims.cnt; i++) {
            gen->dims[i] = draw_dim(gen);
        }
        break;
    case TD_PAYLOAD_TENSOR:
        draw_tensor(gen, node->kind, &node->tensor);
        break;
    }
}

static bool
drift_tensor(td_gen_t *gen, td_tensor_t *tensor)
{
    uint16_t *dim;
    uint16_t  was;

    if (tensor->dim_cnt == 0) {
        return false;
    }
    dim  = &tensor->dim[td_rng_below(&gen->rng, tensor->dim_cnt)];
    was  = *dim;
    *dim = draw_dim(gen);
    if (*dim == was) {
        *dim = (uint16_t)(was == 0 ? 2 : was - 1);
    }
    return td_tensor_storage_cnt(tensor) <= TD_NUMEL_MAX;
}

int
td_gen_drifted(td_gen_t *gen, uint16_t idx)
{
    td_node_t node = gen->prog->nodes[idx];

    if (node.kind == TD_KIND_INT && node.i < INT64_MAX - 3) {
        node.i += (int64_t)td_rng_between(&gen->rng, 1, 3);
    } else if (!td_rules_is_tensor(&node) || !drift_tensor(gen, &node.tensor)) {
        return -1;
    }
    return td_gen_node_of(gen, &node);
}

/* ---- edges ---- */

enum { EDGE_BUFFER_CNT = 64 };

/* Mostly a handful, now and then none or many. */
static uint32_t
draw_edge_cnt(td_gen_t *gen, uint32_t max)
{
    uint64_t draw = td_rng_below(&gen->rng, 100);
    uint32_t cnt  = (uint32_t)(draw < 8    ? 0
                               : draw < 97 ? td_rng_between(&gen->rng, 1, 5)
                                           : td_rng_between(&gen->rng, 6, 20));

    return cnt < max ? cnt : max;
}

static bool
is_callable(td_gen_t const *gen, uint16_t node)
{
    switch (gen->prog->nodes[node].kind) {
    case TD_KIND_FUNCTION:
    case TD_KIND_BUILTIN:
    case TD_KIND_CLASS:
    case TD_KIND_TORCH:
        return true;
    default:
        return false;
    }
}

static bool
is_slice_part(td_gen_t const *gen, uint16_t node)
{
    uint8_t kind = gen->prog->nodes[node].kind;

    return kind == TD_KIND_INT || kind == TD_KIND_NONE;
}

static bool
is_ordered_dict(td_gen_t const *gen, uint16_t node)
{
    return gen->prog->nodes[node].kind == TD_KIND_ORDERED_DICT;
}

static bool
is_optimizer(td_gen_t const *gen, uint16_t node)
{
    return gen->prog->nodes[node].kind == TD_KIND_OPTIMIZER;
}

static bool
is_tensor(td_gen_t const *gen, uint16_t node)
{
    return gen->prog->nodes[node].kind == TD_KIND_TENSOR;
}

static bool
is_leaf(td_gen_t const *gen, uint16_t node)
{
    return gen->prog->nodes[node].kind == TD_KIND_PARAMETER;
}

static bool
is_tuple(td_gen_t const *gen, uint16_t node)
{
    return gen->prog->nodes[node].kind == TD_KIND_TUPLE;
}

static bool
is_module(td_gen_t const *gen, uint16_t node)
{
    uint8_t kind = gen->prog->nodes[node].kind;

    return kind == TD_KIND_MODULE || kind == TD_KIND_NN_MODULE;
}

/* What modules are made to hold. */
static bool
is_module_part(td_gen_t const *gen, uint16_t node)
{
    uint8_t kind = gen->prog->nodes[node].kind;

    return is_module(gen, node) || kind == TD_KIND_PARAMETER || kind == TD_KIND_TENSOR;
}

static uint16_t
find_or_pick(td_gen_t *gen, bool (*pred)(td_gen_t const *, uint16_t))
{
    int node = td_rng_chance(&gen->rng, gen->weights->odd_percent) ? -1 : td_gen_find(gen, pred);

    return node >= 0 ? (uint16_t)node : td_gen_pick(gen);
}

static bool
has_key(td_gen_t const *gen, uint16_t const *edges, uint32_t from, uint32_t cnt, uint16_t key)
{
    for (uint32_t i = from; i < cnt; i += 2) {
        if (td_shadow_same_key(&gen->shadow, edges[i], key)) {
            return true;
        }
    }
    return false;
}

/* Equal keys are rare in what people write. */
static void
draw_pairs(td_gen_t *gen, td_node_t *node, uint16_t *edges)
{
    uint32_t from = node->edge_cnt, cnt = draw_edge_cnt(gen, 12);

    for (uint32_t i = 0; i < cnt; i++) {
        int key = pick_key(gen);

        if (key < 0 || (has_key(gen, edges, from, node->edge_cnt, (uint16_t)key) &&
                        !td_rng_chance(&gen->rng, gen->weights->odd_percent))) {
            continue;
        }
        edges[node->edge_cnt++] = (uint16_t)key;
        edges[node->edge_cnt++] = td_gen_pick(gen);
    }
}

/* Edges whose meaning a kind fixes; false when there is nothing to point at. */
static bool
draw_fixed_edges(td_gen_t *gen, td_node_t *node, uint16_t *edges)
{
    int viewed = -1;

    switch (node->kind) {
    case TD_KIND_ODICT_VALUES:
    case TD_KIND_TUPLE_ITERATOR:
        viewed =
            td_gen_find(gen, node->kind == TD_KIND_TUPLE_ITERATOR ? is_tuple : is_ordered_dict);
        edges[node->edge_cnt++] = (uint16_t)(viewed >= 0 ? viewed : 0);
        return viewed >= 0;
    case TD_KIND_SLICE:
        for (int i = 0; i < 3; i++) {
            edges[node->edge_cnt++] = find_or_pick(gen, is_slice_part);
        }
        return true;
    case TD_KIND_MEMBER:
        viewed                  = td_gen_find(gen, is_module);
        edges[node->edge_cnt++] = (uint16_t)(viewed >= 0 ? viewed : 0);
        return viewed >= 0;
    case TD_KIND_MODULE:
        edges[node->edge_cnt++] = find_or_pick(gen, is_module_part);
        return true;
    case TD_KIND_OPTIMIZER:
    case TD_KIND_OPTIMIZER_PART:
        edges[node->edge_cnt++] =
            find_or_pick(gen, node->kind == TD_KIND_OPTIMIZER ? is_leaf : is_optimizer);
        return true;
    case TD_KIND_SUBCLASS_TENSOR:
        edges[node->edge_cnt++] = find_or_pick(gen, is_tensor);
        return true;
    case TD_KIND_DEFAULT_DICT:
    case TD_KIND_PARTIAL:
    case TD_KIND_KEYWORDS:
        edges[node->edge_cnt++] = find_or_pick(gen, is_callable);
        return true;
    default:
        return true;
    }
}

static bool
draw_edges(td_gen_t *gen, td_node_t *node, uint16_t *edges)
{
    td_kind_info_t const *info = td_kind_info(node->kind);
    bool                  set  = node->kind == TD_KIND_SET || node->kind == TD_KIND_FROZENSET;
    uint32_t              cnt;

    node->edge = edges;
    if (info->edge_max == 0 || gen->prog->node_cnt == 0) {
        return info->edge_min == 0;
    }
    if (!draw_fixed_edges(gen, node, edges)) {
        return false;
    }
    if (td_rules_is_paired(node->kind)) {
        draw_pairs(gen, node, edges);
        return true;
    }
    cnt = info->edge_min + draw_edge_cnt(gen, info->edge_max - info->edge_min);
    while (node->edge_cnt < cnt) {
        int key = set ? pick_key(gen) : -1;

        edges[node->edge_cnt++] = key >= 0 ? (uint16_t)key : td_gen_pick(gen);
    }
    return true;
}

/* ---- kinds ---- */

/* Something to hold comes before what holds it. */
uint8_t
td_gen_kind(td_gen_t *gen)
{
    uint32_t weight[TD_WEIGHTS_KIND_CNT];
    bool     leaves_only = gen->prog->node_cnt < 3;
    size_t   kind;

    for (size_t tag = 0; tag < TD_WEIGHTS_KIND_CNT; tag++) {
        bool leaf = td_kind_info((uint8_t)tag) != NULL && td_kind_info((uint8_t)tag)->edge_max == 0;

        weight[tag] = leaf || !leaves_only ? gen->weights->kind[tag] : 0;
    }
    kind = td_rng_weighted(&gen->rng, weight, TD_WEIGHTS_KIND_CNT);
    if (kind == TD_WEIGHTS_KIND_CNT) {
        kind = td_rng_weighted(&gen->rng, gen->weights->kind, TD_WEIGHTS_KIND_CNT);
    }
    return (uint8_t)(kind == TD_WEIGHTS_KIND_CNT ? TD_KIND_NONE : kind);
}

uint16_t
td_gen_node(td_gen_t *gen)
{
    uint16_t  edges[EDGE_BUFFER_CNT];
    td_node_t node;

    for (int tries = 0; tries < 8; tries++) {
        memset(&node, 0, sizeof node);
        node.kind = td_gen_kind(gen);
        td_gen_payload(gen, &node);
        if (draw_edges(gen, &node, edges)) {
            return td_gen_node_of(gen, &node);
        }
    }
    /* Every kind that is switched on wants something that is not there. */
    node = (td_node_t){.kind = TD_KIND_NONE};
    return td_gen_node_of(gen, &node);
}
