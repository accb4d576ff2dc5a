/* live_hash.c: what hashing an object takes, told from its node. */
#include <math.h>

#include "live/live_private.h"

int
live_forgive(void)
{
    if (PyErr_ExceptionMatches(PyExc_MemoryError) || !PyErr_ExceptionMatches(PyExc_Exception)) {
        return 0;
    }
    PyErr_Clear();
    return 1;
}

/* members adds up the members of a tuple-like object. */
static live_hash_t
members(live_maker_t const *maker, td_node_t const *node)
{
    uint32_t cost  = 1;
    uint8_t  fixed = 1;

    for (size_t i = 0; i < node->edge_cnt && cost <= LIVE_HASH_COST_MAX; i++) {
        live_hash_t member = maker->hash[node->edge[i]];

        cost += member.cost;
        fixed &= member.fixed;
    }
    if (cost > LIVE_HASH_COST_MAX) {
        return (live_hash_t){LIVE_HASH_NONE, 0};
    }
    return (live_hash_t){(uint16_t)cost, fixed};
}

static int
is_nan(live_maker_t const *maker, uint16_t idx)
{
    td_node_t const *node = &maker->prog->nodes[idx];

    return node->kind == TD_KIND_FLOAT && isnan(node->f);
}

/* A namedtuple's missing fields are None, whose hash is an address. */
static live_hash_t
namedtuple_hash(live_maker_t const *maker, td_node_t const *node)
{
    live_hash_t hash = members(maker, node);

    hash.fixed = 0;
    return hash;
}

live_hash_t
live_hash(live_maker_t const *maker, td_node_t const *node)
{
    switch (node->kind) {
    case TD_KIND_BOOL:
    case TD_KIND_INT:
    case TD_KIND_BIGINT:
    case TD_KIND_STR:
    case TD_KIND_BYTES:
    case TD_KIND_RANGE:
    case TD_KIND_SIZE:
    case TD_KIND_DEVICE:
    case TD_KIND_ENUM:
    case TD_KIND_NP_SCALAR:
        return (live_hash_t){1, 1};
    case TD_KIND_FLOAT:
        return (live_hash_t){1, !isnan(node->f)}; /* a NaN hashes by address */
    case TD_KIND_COMPLEX:
        return (live_hash_t){1, !is_nan(maker, node->edge[0]) && !is_nan(maker, node->edge[1])};
    case TD_KIND_TUPLE:
    case TD_KIND_FROZENSET:
        return members(maker, node);
    case TD_KIND_NAMEDTUPLE:
        return namedtuple_hash(maker, node);
    case TD_KIND_LIST:
    case TD_KIND_DEQUE:
    case TD_KIND_SET:
    case TD_KIND_SLICE:
    case TD_KIND_DICT:
    case TD_KIND_ORDERED_DICT:
    case TD_KIND_DEFAULT_DICT:
    case TD_KIND_NDARRAY:
    case TD_KIND_ODD_ARRAY:
    case TD_KIND_OPTIMIZER_PART:
    case TD_KIND_STAND_IN:
    case TD_KIND_FX_OPTION:
        return (live_hash_t){LIVE_HASH_NONE, 0};
    default:
        return (live_hash_t){1, 0}; /* by address, or by code of its own */
    }
}
