/* td_gen.c: the plan of a program: config values, objects, frames, changes. */
#include "gen/td_gen.h"

#include <string.h>

#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "gen/td_gen_private.h"
#include "gen/td_trim.h"

/* ---- config values ---- */

enum { UNSET = -1 };

static int
draw_setting(td_gen_t *gen, size_t key)
{
    size_t value;

    if (!td_rng_chance(&gen->rng, gen->weights->config_percent)) {
        return UNSET;
    }
    value = td_rng_weighted(&gen->rng, gen->weights->config[key], TD_WEIGHTS_VALUE_CNT);
    return value == TD_WEIGHTS_VALUE_CNT ? UNSET : (int)value;
}

static bool
is_set(int const *values, char const *name, char const *text)
{
    int key = td_config_find(name);

    return key >= 0 && values[key] != UNSET &&
           strcmp(td_config_value((size_t)key, (size_t)values[key]), text) == 0;
}

/* Values under which every int becomes a symbol go with specialize_int, where
   nothing dynamic is wanted; without it hardly a root would be left. */
static void
keep_static(td_gen_t *gen, int *values)
{
    int  key      = td_config_find("specialize_int");
    int  unbacked = td_config_find("force_unspec_int_unbacked_size_like");
    bool dynamic =
        is_set(values, "force_unspec_int_unbacked_size_like", "True") ||
        (is_set(values, "assume_static_by_default", "False") && td_rng_chance(&gen->rng, 80));

    if (!dynamic || gen->weights->drift_percent != 0 || key < 0 || unbacked < 0) {
        return;
    }
    if (gen->weights->config[key][1] != 0) {
        values[key] = 1; /* True */
    } else if (is_set(values, "force_unspec_int_unbacked_size_like", "True")) {
        values[unbacked] = UNSET;
    }
}

void
td_gen_config(td_gen_t *gen)
{
    int values[TD_WEIGHTS_CONFIG_CNT];

    for (size_t key = 0; key < td_config_cnt(); key++) {
        values[key] = draw_setting(gen, key);
    }
    keep_static(gen, values);
    for (size_t key = 0; key < td_config_cnt() && gen->status == TD_OK; key++) {
        if (values[key] != UNSET) {
            td_setting_t setting = {.key = (uint8_t)key, .value = (uint8_t)values[key]};

            gen->status = td_draft_put_setting(&gen->draft, setting);
        }
    }
    if (gen->status == TD_OK && td_rng_chance(&gen->rng, gen->weights->export_percent)) {
        gen->status = td_draft_put_export(&gen->draft);
    }
    td_gen_follow(gen);
}

/* ---- changes ---- */

/* What can be done to a kind of object. */
static bool
applies(uint8_t op, uint8_t kind)
{
    bool list = kind == TD_KIND_LIST || kind == TD_KIND_DEQUE;
    bool dict =
        kind == TD_KIND_DICT || kind == TD_KIND_ORDERED_DICT || kind == TD_KIND_DEFAULT_DICT;
    bool tensor = kind == TD_KIND_TENSOR || kind == TD_KIND_PARAMETER;
    bool module = kind == TD_KIND_NN_MODULE || kind == TD_KIND_MODULE;

    switch (op) {
    case TD_DO_APPEND:
    case TD_DO_REVERSE:
        return list;
    case TD_DO_SETITEM:
    case TD_DO_DELITEM:
        return list || dict;
    case TD_DO_CLEAR:
        return list || dict || kind == TD_KIND_SET;
    case TD_DO_SETATTR:
        return tensor || kind == TD_KIND_OBJECT || module;
    case TD_DO_MARK_CLASS_DYNAMIC:
    case TD_DO_MAKE_NEW:
    case TD_DO_PATCH_FORWARD:
        return module;
    case TD_DO_MOVE_TO_END:
        return kind == TD_KIND_ORDERED_DICT;
    default:
        return tensor;
    }
}

static bool
is_changeable(td_gen_t const *gen, uint16_t node)
{
    for (uint8_t op = 0; op < TD_WEIGHTS_DO_CNT; op++) {
        if (gen->weights->change[op] != 0 && applies(op, gen->prog->nodes[node].kind)) {
            return true;
        }
    }
    return false;
}

/* The key or index that a change works on; -1 when there is none. */
static int
pick_place(td_gen_t *gen, uint16_t node)
{
    td_shadow_items_t const *items = td_shadow_items(&gen->shadow, node);
    uint8_t                  kind  = gen->prog->nodes[node].kind;
    uint32_t at = items->cnt != 0 ? (uint32_t)td_rng_below(&gen->rng, items->cnt) : 0;

    if (kind != TD_KIND_LIST && kind != TD_KIND_DEQUE) {
        return items->cnt != 0 ? items->items[at & ~1u] : td_gen_find(gen, td_gen_is_dict_key);
    }
    if (items->cnt == 0 || gen->weights->kind[TD_KIND_INT] == 0) {
        return -1;
    }
    return td_gen_int(gen, at);
}

/* A value to put into node; one that holds node only where cycles may be. */
static int
pick_value(td_gen_t *gen, uint16_t node)
{
    if (gen->cycles && td_rng_chance(&gen->rng, 50)) {
        return node;
    }
    for (int tries = 0; tries < 6; tries++) {
        uint16_t value = td_gen_pick(gen);

        if (gen->cycles || !td_shadow_reaches(&gen->shadow, value, node)) {
            return value;
        }
    }
    return -1;
}

/* Fills in the operands; false when they can't be had. */
static bool
draw_operands(td_gen_t *gen, td_step_t *step)
{
    int place = 0, value = 0;

    switch (step->op) {
    case TD_DO_SETITEM:
    case TD_DO_DELITEM:
    case TD_DO_MOVE_TO_END:
        place          = pick_place(gen, step->node);
        value          = step->op == TD_DO_SETITEM ? pick_value(gen, step->node) : 0;
        step->other[0] = (uint16_t)place;
        step->other[1] = (uint16_t)value;
        break;
    case TD_DO_APPEND:
    case TD_DO_PATCH_FORWARD:
        value          = pick_value(gen, step->node);
        step->other[0] = (uint16_t)value;
        break;
    case TD_DO_SETATTR:
        value          = pick_value(gen, step->node);
        step->other[0] = (uint16_t)value;
        step->name     = (td_text_t){.bytes = &"abcdw"[td_rng_below(&gen->rng, 5)], .sz = 1};
        break;
    default:
        step->num[0] = td_rng_between(&gen->rng, 0, 2); /* a dim, where one is asked for */
    }
    return place >= 0 && value >= 0 && gen->status == TD_OK;
}

void
td_gen_change(td_gen_t *gen)
{
    int       node = td_gen_find(gen, is_changeable);
    td_step_t step = {.kind = TD_STEP_DO, .name = {.bytes = ""}};
    uint32_t  weight[TD_WEIGHTS_DO_CNT];

    if (node < 0 || gen->status != TD_OK) {
        return;
    }
    for (uint8_t op = 0; op < TD_WEIGHTS_DO_CNT; op++) {
        weight[op] = applies(op, gen->prog->nodes[node].kind) ? gen->weights->change[op] : 0;
    }
    step.node = (uint16_t)node;
    step.op   = (uint8_t)td_rng_weighted(&gen->rng, weight, TD_WEIGHTS_DO_CNT);
    if (draw_operands(gen, &step) && td_gen_put_step(gen, &step)) {
        td_shadow_change(&gen->shadow, &step);
    }
}

/* ---- the plan ---- */

static uint32_t
draw_node_cnt(td_gen_t *gen)
{
    uint64_t draw = td_rng_below(&gen->rng, 100);

    if (draw < 10) {
        return (uint32_t)td_rng_between(&gen->rng, 1, 7);
    }
    return (uint32_t)(draw < 92 ? td_rng_between(&gen->rng, 8, 30)
                                : td_rng_between(&gen->rng, 31, 120));
}

static uint32_t
draw_frame_cnt(td_gen_t *gen)
{
    if (!td_rng_chance(&gen->rng, gen->weights->frames_percent)) {
        return 1;
    }
    return td_rng_chance(&gen->rng, 70) ? 2 : (uint32_t)td_rng_between(&gen->rng, 3, 5);
}

static bool
is_full(td_gen_t const *gen)
{
    /* Half of it is for the frames. */
    return gen->status != TD_OK || gen->draft.out.sz > gen->sz_max / 2;
}

static void
make_between_frames(td_gen_t *gen)
{
    uint64_t nodes, changes;

    if (!td_rng_chance(&gen->rng, gen->weights->change_percent)) {
        return;
    }
    nodes   = td_rng_below(&gen->rng, 3);
    changes = td_rng_between(&gen->rng, 1, 3);
    for (uint64_t i = 0; i < nodes && !is_full(gen); i++) {
        td_gen_node(gen);
    }
    for (uint64_t i = 0; i < changes && !is_full(gen); i++) {
        td_gen_change(gen);
    }
}

static void
make(td_gen_t *gen, uint32_t node_cnt)
{
    uint32_t frame_cnt;

    td_gen_config(gen);
    gen->cycles = td_rng_below(&gen->rng, 1000) < 4;
    node_cnt    = node_cnt != 0 ? node_cnt : draw_node_cnt(gen);
    td_gen_node(gen);
    for (uint32_t i = 1; i < node_cnt && !is_full(gen); i++) {
        td_gen_node(gen);
    }
    if (td_rng_chance(&gen->rng, 10) || gen->cycles) {
        td_gen_change(gen);
    }
    frame_cnt = draw_frame_cnt(gen);
    for (uint32_t i = 0; i < frame_cnt && gen->status == TD_OK; i++) {
        if (i != 0) {
            make_between_frames(gen);
        }
        td_gen_frame(gen, i == 0);
    }
    td_gen_need_root(gen);
}

bool
td_gen_is_full(td_gen_t const *gen)
{
    /* A root with its sources takes some 600 bytes at the very most. */
    return gen->status != TD_OK || gen->draft.out.sz + 600 > gen->sz_max;
}

void
td_gen_follow(td_gen_t *gen)
{
    td_shadow_follow(&gen->shadow);
    if (gen->shadow.failed) {
        gen->status = TD_NOMEM;
    }
}

td_gen_t *
td_gen_new(td_prog_t *prog, uint64_t seed, size_t sz_max, td_weights_t const *weights)
{
    td_gen_t *gen = td_calloc(1, sizeof *gen); /* too large for the stack */

    if (gen == NULL) {
        return NULL;
    }
    gen->weights = weights;
    gen->prog    = prog;
    gen->sz_max  = sz_max < TD_INPUT_SZ_MAX ? sz_max : TD_INPUT_SZ_MAX;
    td_rng_init(&gen->rng, seed);
    td_shadow_init(&gen->shadow, prog);
    gen->status = td_draft_init(&gen->draft, prog);
    return gen;
}

td_status_t
td_gen_end(td_gen_t *gen)
{
    td_status_t status = gen->shadow.failed ? TD_NOMEM : gen->status;

    td_shadow_clear(&gen->shadow);
    td_draft_clear(&gen->draft);
    td_free(gen);
    return status == TD_LIMIT ? TD_OK : status;
}

td_status_t
td_gen(td_prog_t *prog, uint64_t seed, size_t sz_max, uint32_t node_cnt,
       td_weights_t const *weights)
{
    td_gen_t   *gen    = NULL; /* owned */
    td_status_t status = sz_max < TD_PROG_SZ_MIN ? TD_LIMIT : TD_OK;
    bool        fits   = true;

    if (status == TD_OK) {
        gen    = td_gen_new(prog, seed, sz_max, weights);
        status = gen != NULL ? gen->status : TD_NOMEM;
    }
    if (status == TD_OK) {
        make(gen, node_cnt);
        fits = gen->draft.out.sz + 1 <= sz_max; /* the end record */
    }
    if (gen != NULL) {
        status = td_gen_end(gen);
    }
    if (status == TD_OK && !fits) {
        status = td_trim(prog, sz_max);
    }
    if (status != TD_OK) {
        td_prog_clear(prog);
    }
    return status;
}
