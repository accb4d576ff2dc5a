/* td_shadow.c: follows contents and names. */
#include "gen/td_shadow.h"

#include <string.h>

#include "base/td_assert.h"
#include "base/td_rng.h"
#include "graph/td_rules.h"

enum {
    WALK_STEP_MAX  = 4000, /* names of one root; beyond, we say that it drifts */
    WALK_DEPTH_MAX = 100,
    SEEN_CAP_FIRST = 256,
};

/* Parts of names, so that different spellings hash differently. */
enum { NAME_LOCAL = 1, NAME_GLOBAL, NAME_ATTR, NAME_ITEM, NAME_OTHER };

void
td_shadow_init(td_shadow_t *shadow, td_prog_t const *prog)
{
    memset(shadow, 0, sizeof *shadow);
    td_arena_init(&shadow->arena);
    shadow->prog          = prog;
    shadow->assume_static = true;
    shadow->automatic     = true;
}

void
td_shadow_clear(td_shadow_t *shadow)
{
    td_arena_clear(&shadow->arena);
}

/* ---- hashes ---- */

static uint64_t
mix(uint64_t left, uint64_t right)
{
    return td_rng_mix(left ^ td_rng_mix(right));
}

static uint64_t
mix_text(uint64_t hash, char const *bytes, size_t sz)
{
    hash = mix(hash, sz);
    for (size_t i = 0; i < sz; i++) {
        hash = mix(hash, (uint8_t)bytes[i]);
    }
    return hash;
}

/* What a key's repr() spells. */
static uint64_t
key_hash(td_shadow_t const *shadow, uint16_t idx)
{
    td_node_t const *node = &shadow->prog->nodes[idx];
    uint64_t         hash = mix(node->kind, 77);

    switch (td_kind_info(node->kind)->payload) {
    case TD_PAYLOAD_BOOL:
    case TD_PAYLOAD_INT:
    case TD_PAYLOAD_CHOICE:
        return mix(hash, (uint64_t)node->i);
    case TD_PAYLOAD_TEXT:
    case TD_PAYLOAD_BYTES:
    case TD_PAYLOAD_BIGINT:
        return mix_text(hash, node->text.bytes, node->text.sz);
    case TD_PAYLOAD_FLOAT:
        return mix_text(hash, (char const *)&node->f, sizeof node->f);
    case TD_PAYLOAD_DIMS:
        return mix_text(hash, (char const *)node->dims.dim,
                        node->dims.cnt * sizeof *node->dims.dim);
    case TD_PAYLOAD_RANGE:
        return mix_text(hash, (char const *)node->range, sizeof node->range);
    case TD_PAYLOAD_NONE:
    case TD_PAYLOAD_TENSOR:
        break;
    }
    if (node->kind == TD_KIND_NONE) {
        return hash;
    }
    if (node->kind != TD_KIND_TUPLE && node->kind != TD_KIND_SLICE) {
        return mix(hash, idx);
    }
    for (int i = 0; i < node->edge_cnt; i++) {
        hash = mix(hash, key_hash(shadow, node->edge[i]));
    }
    return hash;
}

static uint64_t
index_hash(uint64_t name, int64_t index)
{
    /* The same as for a key that is this int. */
    return mix(mix(name, NAME_ITEM), mix(mix(TD_KIND_INT, 77), (uint64_t)index));
}

static uint64_t
item_hash(td_shadow_t const *shadow, uint64_t name, uint16_t key)
{
    return mix(mix(name, NAME_ITEM), key_hash(shadow, key));
}

/* A dot in an attribute's name is one more attribute. */
static uint64_t
attr_hash(uint64_t name, char const *bytes, size_t sz)
{
    size_t start = 0;

    for (size_t i = 0; i <= sz; i++) {
        if (i == sz || bytes[i] == '.') {
            name  = mix_text(mix(name, NAME_ATTR), bytes + start, i - start);
            start = i + 1;
        }
    }
    return name;
}

static uint64_t
source_hash(td_shadow_t const *shadow, td_src_t const *src)
{
    char const *operands = td_source_info(src->kind)->operands;
    uint64_t    base     = strchr(operands, 'b') != NULL ? shadow->names[src->base] : 0;

    switch (src->kind) {
    case TD_SOURCE_LOCAL:
    case TD_SOURCE_CELL:
        return mix_text(NAME_LOCAL, src->name.bytes, src->name.sz);
    case TD_SOURCE_GLOBAL:
        return mix_text(NAME_GLOBAL, src->name.bytes, src->name.sz);
    case TD_SOURCE_ATTR:
    case TD_SOURCE_PARAM:
        return attr_hash(base, src->name.bytes, src->name.sz);
    case TD_SOURCE_ITEM:
        return item_hash(shadow, base, src->key);
    case TD_SOURCE_NNMODULE:
    case TD_SOURCE_NOTNN:
    case TD_SOURCE_FSDP:
        return base;
    case TD_SOURCE_ODICT:
        return mix(item_hash(shadow, base, src->key), NAME_OTHER);
    default:
        base = mix(mix(base, NAME_OTHER), src->kind);
        base = mix(base, (uint64_t)src->idx);
        return src->name.bytes != NULL ? mix_text(base, src->name.bytes, src->name.sz) : base;
    }
}

static bool
source_is_local(td_shadow_t const *shadow, td_src_t const *src)
{
    switch (src->kind) {
    case TD_SOURCE_LOCAL:
    case TD_SOURCE_CELL:
        return true;
    case TD_SOURCE_GLOBAL:
    case TD_SOURCE_CONST:
    case TD_SOURCE_WEAK:
    case TD_SOURCE_RANDOM:
        return false;
    default:
        /* Module sources specialize too; that is not relied on. */
        return shadow->locals[src->base];
    }
}

/* ---- following the program ---- */

/* Like realloc, inside the arena. */
static void *
grown(td_shadow_t *shadow, void const *array, uint32_t cnt, uint32_t cap, size_t item_sz)
{
    void *wider = td_arena_alloc(&shadow->arena, cap * item_sz);

    if (wider == NULL) {
        shadow->failed = true;
    } else if (cnt != 0) {
        memcpy(wider, array, cnt * item_sz);
    }
    return wider;
}

static void
items_push(td_shadow_t *shadow, td_shadow_items_t *items, uint16_t node)
{
    if (items->cnt == items->cap) {
        uint32_t  cap   = items->cap == 0 ? 4 : items->cap * 2;
        uint16_t *wider = grown(shadow, items->items, items->cnt, cap, sizeof *wider);

        if (wider == NULL) {
            return;
        }
        items->items = wider;
        items->cap   = cap;
    }
    items->items[items->cnt++] = node;
}

/* The index of a key among a dict's items, or -1. */
static int
key_find(td_shadow_t const *shadow, td_shadow_items_t const *items, uint16_t key)
{
    for (uint32_t i = 0; i + 1 < items->cnt; i += 2) {
        if (td_shadow_same_key(shadow, items->items[i], key)) {
            return (int)i;
        }
    }
    return -1;
}

static void
dict_set(td_shadow_t *shadow, td_shadow_items_t *items, uint16_t key, uint16_t value)
{
    int at = key_find(shadow, items, key);

    if (at >= 0) {
        items->items[at + 1] = value;
        return;
    }
    items_push(shadow, items, key);
    items_push(shadow, items, value);
}

static void
follow_node(td_shadow_t *shadow, uint32_t idx)
{
    td_node_t const   *node  = &shadow->prog->nodes[idx];
    td_shadow_items_t *items = &shadow->items[idx];
    bool               dict  = td_rules_is_paired(node->kind);
    int                from  = node->kind == TD_KIND_DEFAULT_DICT ? 1 : 0;

    memset(items, 0, sizeof *items);
    for (int i = from; i < node->edge_cnt; i++) {
        if (!dict) {
            items_push(shadow, items, node->edge[i]);
        } else if ((i - from) % 2 != 0) {
            dict_set(shadow, items, node->edge[i - 1], node->edge[i]);
        }
    }
}

static void
follow_sources(td_shadow_t *shadow)
{
    td_prog_t const *prog = shadow->prog;

    if (prog->source_cnt > shadow->source_cap) {
        uint32_t  cap    = prog->source_cnt * 2 + 16;
        uint64_t *names  = grown(shadow, shadow->names, shadow->source_cnt, cap, sizeof *names);
        bool     *locals = grown(shadow, shadow->locals, shadow->source_cnt, cap, sizeof *locals);

        if (shadow->failed) {
            return;
        }
        shadow->names      = names;
        shadow->locals     = locals;
        shadow->source_cap = cap;
    }
    for (; shadow->source_cnt < prog->source_cnt; shadow->source_cnt++) {
        td_src_t const *src = &prog->sources[shadow->source_cnt];

        shadow->names[shadow->source_cnt]  = source_hash(shadow, src);
        shadow->locals[shadow->source_cnt] = source_is_local(shadow, src);
    }
}

static void
follow_settings(td_shadow_t *shadow)
{
    for (uint32_t i = 0; i < shadow->prog->setting_cnt; i++) {
        td_setting_t setting = shadow->prog->settings[i];
        char const  *name    = td_config_name(setting.key);
        bool         on      = strcmp(td_config_value(setting.key, setting.value), "True") == 0;

        if (strcmp(name, "specialize_int") == 0) {
            shadow->specialize_int = on;
        } else if (strcmp(name, "assume_static_by_default") == 0) {
            shadow->assume_static = on;
        } else if (strcmp(name, "automatic_dynamic_shapes") == 0) {
            shadow->automatic = on;
        } else if (strcmp(name, "force_unspec_int_unbacked_size_like") == 0) {
            shadow->unbacked_ints = on;
        }
    }
}

void
td_shadow_follow(td_shadow_t *shadow)
{
    td_prog_t const *prog = shadow->prog;

    if (shadow->failed) {
        return;
    }
    if (prog->node_cnt > shadow->node_cap) {
        uint32_t           cap = prog->node_cnt * 2 + 16;
        td_shadow_items_t *items =
            grown(shadow, shadow->items, shadow->node_cnt, cap, sizeof *items);

        if (shadow->failed) {
            return;
        }
        shadow->items    = items;
        shadow->node_cap = cap;
    }
    for (; shadow->node_cnt < prog->node_cnt && !shadow->failed; shadow->node_cnt++) {
        follow_node(shadow, shadow->node_cnt);
    }
    follow_sources(shadow);
    follow_settings(shadow);
}

void
td_shadow_forget(td_shadow_t *shadow)
{
    if (shadow->source_cnt > shadow->prog->source_cnt) {
        shadow->source_cnt = shadow->prog->source_cnt;
    }
}

td_shadow_items_t const *
td_shadow_items(td_shadow_t const *shadow, uint16_t node)
{
    static td_shadow_items_t const nothing;

    TD_ASSERT(node < shadow->node_cnt || shadow->failed);
    return node < shadow->node_cnt ? &shadow->items[node] : &nothing;
}

bool
td_shadow_same_key(td_shadow_t const *shadow, uint16_t left, uint16_t right)
{
    return left == right || key_hash(shadow, left) == key_hash(shadow, right);
}

/* ---- changes ---- */

static void
items_remove(td_shadow_items_t *items, uint32_t at, uint32_t cnt)
{
    memmove(items->items + at, items->items + at + cnt,
            (items->cnt - at - cnt) * sizeof *items->items);
    items->cnt -= cnt;
}

static void
change_list(td_shadow_t *shadow, td_shadow_items_t *items, td_step_t const *step)
{
    td_node_t const *key      = &shadow->prog->nodes[step->other[0]];
    bool             at_index = key->kind == TD_KIND_INT && items->cnt != 0 && key->i >= 0;
    uint32_t         at       = at_index ? (uint32_t)((uint64_t)key->i % items->cnt) : 0;

    switch (step->op) {
    case TD_DO_APPEND:
        items_push(shadow, items, step->other[0]);
        break;
    case TD_DO_SETITEM:
        if (at_index) {
            items->items[at] = step->other[1];
        } else {
            items->unknown |= items->cnt != 0;
        }
        break;
    case TD_DO_DELITEM:
        if (at_index) {
            items_remove(items, at, 1);
        } else {
            items->unknown |= items->cnt != 0;
        }
        break;
    case TD_DO_CLEAR:
        items->cnt = 0;
        break;
    case TD_DO_REVERSE:
        for (uint32_t i = 0; i < items->cnt / 2; i++) {
            uint16_t kept = items->items[i];

            items->items[i]                  = items->items[items->cnt - 1 - i];
            items->items[items->cnt - 1 - i] = kept;
        }
        break;
    default:
        break;
    }
}

static void
change_dict(td_shadow_t *shadow, td_shadow_items_t *items, td_step_t const *step)
{
    int at = key_find(shadow, items, step->other[0]);

    switch (step->op) {
    case TD_DO_SETITEM:
        dict_set(shadow, items, step->other[0], step->other[1]);
        break;
    case TD_DO_DELITEM:
        if (at >= 0) {
            items_remove(items, (uint32_t)at, 2);
        } else {
            items->unknown |=
                items->cnt != 0; /* keys that are equal but not the same: 1 and True */
        }
        break;
    case TD_DO_CLEAR:
        items->cnt = 0;
        break;
    default:
        break;
    }
}

void
td_shadow_change(td_shadow_t *shadow, td_step_t const *step)
{
    td_shadow_items_t *items;

    if (shadow->failed) {
        return;
    }
    TD_ASSERT(step->kind == TD_STEP_DO && step->node < shadow->node_cnt);
    items = &shadow->items[step->node];
    switch (shadow->prog->nodes[step->node].kind) {
    case TD_KIND_LIST:
    case TD_KIND_DEQUE:
        change_list(shadow, items, step);
        break;
    case TD_KIND_DICT:
    case TD_KIND_ORDERED_DICT:
    case TD_KIND_DEFAULT_DICT:
        change_dict(shadow, items, step);
        break;
    default:
        items->unknown |= step->op == TD_DO_SETATTR;
    }
}

/* ---- walks ---- */

static bool
reaches(td_shadow_t const *shadow, uint16_t node, uint16_t target, int depth, int *left)
{
    td_shadow_items_t const *items = td_shadow_items(shadow, node);

    if (node == target || depth == WALK_DEPTH_MAX || --*left < 0) {
        return true;
    }
    for (uint32_t i = 0; i < items->cnt; i++) {
        if (reaches(shadow, items->items[i], target, depth + 1, left)) {
            return true;
        }
    }
    return false;
}

bool
td_shadow_reaches(td_shadow_t const *shadow, uint16_t node, uint16_t target)
{
    int left = WALK_STEP_MAX;

    return reaches(shadow, node, target, 0, &left);
}

/* One look at a root: first to compare, then to remember. */
typedef struct {
    td_shadow_t *shadow;
    bool         local, remember, drifts;
    int          left;
} walk_t;

static void seen_put(td_shadow_t *shadow, uint64_t name, uint64_t value);

static void
seen_grow(td_shadow_t *shadow)
{
    uint32_t  old_cap  = shadow->seen_cap;
    uint64_t *old_keys = shadow->keys, *old_values = shadow->values;
    uint32_t  cap    = old_cap == 0 ? SEEN_CAP_FIRST : old_cap * 2;
    uint64_t *keys   = grown(shadow, NULL, 0, cap, sizeof *keys);
    uint64_t *values = grown(shadow, NULL, 0, cap, sizeof *values);

    if (shadow->failed) {
        return;
    }
    shadow->keys     = keys;
    shadow->values   = values;
    shadow->seen_cap = cap;
    shadow->seen_cnt = 0;
    for (uint32_t i = 0; i < old_cap; i++) {
        if (old_keys[i] != 0) {
            seen_put(shadow, old_keys[i], old_values[i]);
        }
    }
}

/* Where a name is, or would be. */
static uint32_t
seen_slot(td_shadow_t const *shadow, uint64_t name)
{
    uint32_t slot = (uint32_t)name & (shadow->seen_cap - 1);

    while (shadow->keys[slot] != 0 && shadow->keys[slot] != name) {
        slot = (slot + 1) & (shadow->seen_cap - 1);
    }
    return slot;
}

static void
seen_put(td_shadow_t *shadow, uint64_t name, uint64_t value)
{
    uint32_t slot;

    if (shadow->seen_cnt * 2 >= shadow->seen_cap) {
        seen_grow(shadow);
    }
    if (shadow->failed) {
        return;
    }
    slot = seen_slot(shadow, name);
    shadow->seen_cnt += shadow->keys[slot] == 0;
    shadow->keys[slot]   = name;
    shadow->values[slot] = value;
}

/* A value under a name: another one than before drifts. */
static void
see(walk_t *walk, uint64_t name, uint64_t value)
{
    td_shadow_t *shadow = walk->shadow;
    uint32_t     slot;

    name += name == 0;
    if (walk->remember) {
        seen_put(shadow, name, value);
        return;
    }
    if (shadow->seen_cap != 0) {
        slot = seen_slot(shadow, name);
        walk->drifts |=
            shadow->automatic && shadow->keys[slot] == name && shadow->values[slot] != value;
    }
}

static void
see_int(walk_t *walk, uint64_t name, int64_t value)
{
    td_shadow_t const *shadow = walk->shadow;

    if (shadow->specialize_int) {
        return;
    }
    walk->drifts |= shadow->unbacked_ints;
    if (!walk->local || value == 0 || value == 1) {
        return;
    }
    walk->drifts |= !shadow->assume_static;
    see(walk, name, mix(1, (uint64_t)value));
}

static void
see_tensor(walk_t *walk, uint64_t name, td_tensor_t const *tensor)
{
    uint64_t value = mix(2, tensor->dim_cnt);

    for (int i = 0; i < tensor->dim_cnt; i++) {
        value = mix(value, tensor->dim[i]);
    }
    walk->drifts |= !walk->shadow->assume_static && tensor->dim_cnt != 0;
    see(walk, name, value);
}

static void walk_node(walk_t *walk, uint64_t name, uint16_t idx, int depth);

static void
walk_fields(walk_t *walk, uint64_t name, td_node_t const *node, int depth)
{
    static char const *const field[] = {"start", "stop", "step"};

    for (int i = 0; i < 3; i++) {
        uint64_t of_field = attr_hash(name, field[i], strlen(field[i]));

        if (node->kind == TD_KIND_RANGE) {
            see_int(walk, of_field, node->range[i]);
        } else {
            walk_node(walk, of_field, node->edge[i], depth + 1);
        }
    }
}

static void
walk_items(walk_t *walk, uint64_t name, uint16_t idx, int depth)
{
    td_shadow_t const       *shadow = walk->shadow;
    td_shadow_items_t const *items  = td_shadow_items(shadow, idx);
    bool                     dict   = td_rules_is_paired(shadow->prog->nodes[idx].kind);

    walk->drifts |= items->unknown;
    for (uint32_t i = 0; i < items->cnt; i++) {
        if (!dict) {
            walk_node(walk, index_hash(name, i), items->items[i], depth + 1);
        } else if (i % 2 != 0) {
            walk_node(walk, item_hash(shadow, name, items->items[i - 1]), items->items[i],
                      depth + 1);
        }
    }
}

/* The values of an OrderedDict, by place. */
static void
walk_values(walk_t *walk, uint64_t name, uint16_t idx, int depth)
{
    td_shadow_items_t const *items = td_shadow_items(walk->shadow, idx);

    walk->drifts |= items->unknown;
    for (uint32_t i = 1; i < items->cnt; i += 2) {
        walk_node(walk, index_hash(name, i / 2), items->items[i], depth + 1);
    }
}

static void
walk_node(walk_t *walk, uint64_t name, uint16_t idx, int depth)
{
    td_node_t const *node = &walk->shadow->prog->nodes[idx];

    if (walk->drifts || depth == WALK_DEPTH_MAX || --walk->left < 0) {
        walk->drifts = true;
        return;
    }
    switch (node->kind) {
    case TD_KIND_INT:
        see_int(walk, name, node->i);
        break;
    case TD_KIND_BIGINT:
        see_int(walk, name, (int64_t)key_hash(walk->shadow, idx));
        break;
    case TD_KIND_TENSOR:
    case TD_KIND_PARAMETER:
    case TD_KIND_NDARRAY:
        see_tensor(walk, name, &node->tensor);
        break;
    case TD_KIND_SIZE:
        for (int i = 0; i < node->dims.cnt; i++) {
            see_int(walk, index_hash(name, i), node->dims.dim[i]);
        }
        break;
    case TD_KIND_RANGE:
    case TD_KIND_SLICE:
        walk_fields(walk, name, node, depth);
        break;
    case TD_KIND_ODICT_VALUES:
        walk_values(walk, name, node->edge[0], depth);
        break;
    default:
        walk_items(walk, name, idx, depth);
    }
}

bool
td_shadow_drifts(td_shadow_t *shadow, uint16_t source, uint16_t node)
{
    walk_t walk = {.shadow = shadow, .left = WALK_STEP_MAX};

    if (shadow->failed) {
        return true;
    }
    TD_ASSERT(source < shadow->source_cnt && node < shadow->node_cnt);
    walk.local = shadow->locals[source];
    walk_node(&walk, shadow->names[source], node, 0);
    if (walk.drifts) {
        return true;
    }
    walk.remember = true;
    walk.left     = WALK_STEP_MAX;
    walk_node(&walk, shadow->names[source], node, 0);
    return false;
}
