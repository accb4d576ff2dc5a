/* td_mutate.c: every mutation is a replay with something done on the way. */
#include "gen/td_mutate.h"

#include <string.h>

#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "gen/td_replay.h"
#include "gen/td_trim.h"
#include "graph/td_rules.h"
#include "graph/td_wire.h"

static td_mutator_info_t const mutators[] = {
#define X(NAME, text, weight, effect, meaning) {text, weight, TD_EFFECT_##effect, meaning},
#include "gen/mutators.def"
#undef X
};

td_mutator_info_t const *
td_mutator_info(td_mutator_t mutator)
{
    TD_ASSERT((size_t)mutator < TD_MUTATOR_CNT);
    return &mutators[mutator];
}

/* A mutation under way. */
typedef struct {
    td_replay_t      replay;
    td_gen_t        *gen;
    td_prog_t const *from;
    uint32_t         at; /* before record `at` something is made */
    void (*make)(td_gen_t *gen);
    uint32_t skip_from, skip_to;   /* records that are left out */
    uint32_t again_from, again_to; /* steps that are put once more at the end */
    char     text[TD_NAME_SZ_MAX + 1];
} mutate_t;

static uint32_t
below(mutate_t *m, uint32_t cnt)
{
    return (uint32_t)td_rng_below(&m->gen->rng, cnt);
}

/* ---- on nodes ---- */

static bool
on_payload(td_replay_t *replay, td_node_t *node)
{
    td_gen_payload(replay->gen, node);
    return true;
}

static int64_t
nudged(td_gen_t *gen, int64_t value)
{
    int64_t by = td_rng_chance(&gen->rng, 50) ? 1 : -1;

    return (int64_t)((uint64_t)value + (uint64_t)by);
}

static void
nudge_tensor(td_gen_t *gen, td_tensor_t *tensor)
{
    if (tensor->dim_cnt != 0) {
        uint64_t at = td_rng_below(&gen->rng, tensor->dim_cnt);

        tensor->dim[at] = (uint16_t)(nudged(gen, tensor->dim[at]) & 0xF);
    }
}

static bool
on_nudge(td_replay_t *replay, td_node_t *node)
{
    td_gen_t *gen = replay->gen;
    uint64_t  at;

    switch (td_kind_info(node->kind)->payload) {
    case TD_PAYLOAD_INT:
        node->i = nudged(gen, node->i);
        break;
    case TD_PAYLOAD_RANGE:
        at              = td_rng_below(&gen->rng, 2);
        node->range[at] = nudged(gen, node->range[at]);
        break;
    case TD_PAYLOAD_TENSOR:
        nudge_tensor(gen, &node->tensor);
        break;
    case TD_PAYLOAD_CHOICE:
        node->i = (node->i + 1) % (int64_t)td_choice_cnt(node->kind);
        break;
    default:
        td_gen_payload(gen, node);
    }
    return true;
}

/* As many of the edges as the new kind takes. */
static void
fit_edges(td_replay_t *replay, td_node_t *node)
{
    td_kind_info_t const *info = td_kind_info(node->kind);

    if (node->edge_cnt > info->edge_max) {
        node->edge_cnt = info->edge_max;
    }
    while (node->edge_cnt < info->edge_min && replay->gen->prog->node_cnt != 0) {
        replay->edges[node->edge_cnt++] = td_gen_pick(replay->gen);
    }
    if (td_rules_is_paired(node->kind) && node->edge_cnt > info->edge_min) {
        node->edge_cnt = (uint16_t)(node->edge_cnt - (node->edge_cnt - info->edge_min) % 2);
    }
    node->edge = replay->edges;
}

static bool
on_kind(td_replay_t *replay, td_node_t *node)
{
    node->kind = td_gen_kind(replay->gen);
    td_gen_payload(replay->gen, node);
    fit_edges(replay, node);
    return true;
}

static bool
on_edge(td_replay_t *replay, td_node_t *node)
{
    if (node->edge_cnt != 0) {
        replay->edges[td_rng_below(&replay->gen->rng, node->edge_cnt)] = td_gen_pick(replay->gen);
    }
    return true;
}

static bool
on_edge_add(td_replay_t *replay, td_node_t *node)
{
    uint16_t more = td_rules_is_paired(node->kind) ? 2 : 1;

    if (replay->gen->prog->node_cnt != 0 &&
        node->edge_cnt + more <= td_kind_info(node->kind)->edge_max) {
        for (uint16_t i = 0; i < more; i++) {
            replay->edges[node->edge_cnt++] = td_gen_pick(replay->gen);
        }
    }
    return true;
}

static bool
on_edge_drop(td_replay_t *replay, td_node_t *node)
{
    uint16_t less = td_rules_is_paired(node->kind) ? 2 : 1;
    uint16_t from = td_kind_info(node->kind)->edge_min;
    uint32_t at;

    if (node->edge_cnt >= from + less) {
        at = from + less * (uint32_t)td_rng_below(&replay->gen->rng,
                                                  (uint64_t)(node->edge_cnt - from) / less);
        memmove(replay->edges + at, replay->edges + at + less,
                (node->edge_cnt - at - less) * sizeof *replay->edges);
        node->edge_cnt = (uint16_t)(node->edge_cnt - less);
    }
    return true;
}

static bool
on_node_drop(td_replay_t *replay, td_node_t *node)
{
    (void)replay;
    (void)node;
    return false;
}

static bool
has_edges(td_node_t const *node)
{
    return td_kind_info(node->kind)->edge_max != 0;
}

static bool
has_payload(td_node_t const *node)
{
    return td_kind_info(node->kind)->payload != TD_PAYLOAD_NONE;
}

static bool
is_any(td_node_t const *node)
{
    (void)node;
    return true;
}

static struct {
    td_mutator_t mutator;
    bool (*on)(td_replay_t *, td_node_t *);
    bool (*fits)(td_node_t const *);
} const on_nodes[] = {
    {TD_MUTATOR_PAYLOAD, on_payload, has_payload},
    {TD_MUTATOR_NUDGE, on_nudge, has_payload},
    {TD_MUTATOR_KIND, on_kind, is_any},
    {TD_MUTATOR_EDGE, on_edge, has_edges},
    {TD_MUTATOR_EDGE_ADD, on_edge_add, has_edges},
    {TD_MUTATOR_EDGE_DROP, on_edge_drop, has_edges},
    {TD_MUTATOR_NODE_DROP, on_node_drop, is_any},
};

static bool
plan_node(mutate_t *m, td_mutator_t mutator)
{
    for (size_t i = 0; i < sizeof on_nodes / sizeof *on_nodes; i++) {
        uint32_t cnt = m->from->node_cnt, start = cnt != 0 ? below(m, cnt) : 0;

        if (on_nodes[i].mutator != mutator) {
            continue;
        }
        for (uint32_t n = 0; n < cnt; n++) {
            if (on_nodes[i].fits(&m->from->nodes[(start + n) % cnt])) {
                m->replay.at_node = (start + n) % cnt;
                m->replay.on_node = on_nodes[i].on;
                break;
            }
        }
        return true;
    }
    return false;
}

/* ---- on steps ---- */

static bool
on_root_node(td_replay_t *replay, td_step_t *step)
{
    if (replay->gen->prog->node_cnt != 0) {
        step->node = td_gen_pick(replay->gen);
    }
    return true;
}

static bool
on_root_drop(td_replay_t *replay, td_step_t *step)
{
    (void)replay;
    (void)step;
    return false;
}

static bool
on_nothing(td_replay_t *replay, td_step_t *step)
{
    (void)replay;
    (void)step;
    return true;
}

/* A step of that kind, from a random one on; UINT32_MAX: none. */
static uint32_t
find_step(mutate_t *m, bool (*fits)(td_step_t const *))
{
    uint32_t cnt = m->from->step_cnt, start = cnt != 0 ? below(m, cnt) : 0;

    for (uint32_t i = 0; i < cnt; i++) {
        if (fits(&m->from->steps[(start + i) % cnt])) {
            return (start + i) % cnt;
        }
    }
    return UINT32_MAX;
}

static bool
is_no_frame(td_step_t const *step)
{
    return step->kind != TD_STEP_FRAME;
}

static bool
is_frame(td_step_t const *step)
{
    return step->kind == TD_STEP_FRAME;
}

static bool
is_build(td_step_t const *step)
{
    return step->kind == TD_STEP_ROOT && step->op == TD_ENTRY_BUILD;
}

static td_text_t
draw_name(mutate_t *m)
{
    return td_text(td_wire_name(td_rng_below(&m->gen->rng, td_wire_name_cnt())));
}

static bool
plan_step(mutate_t *m, td_mutator_t mutator)
{
    td_replay_t *replay = &m->replay;

    switch (mutator) {
    case TD_MUTATOR_ROOT_NODE:
    case TD_MUTATOR_ROOT_DROP:
        replay->at_step = find_step(m, is_no_frame);
        replay->on_step = mutator == TD_MUTATOR_ROOT_NODE ? on_root_node : on_root_drop;
        return true;
    case TD_MUTATOR_SOURCE_TOP:
        replay->at_step = find_step(m, is_build);
        replay->on_step = on_nothing;
        replay->on_top  = (td_src_t){.kind = TD_SOURCE_ATTR, .name = draw_name(m)};
        return true;
    case TD_MUTATOR_SOURCE_NAME:
        replay->at_step  = find_step(m, is_build);
        replay->on_step  = on_nothing;
        replay->new_name = draw_name(m);
        return true;
    default:
        return false;
    }
}

/* ---- on the stream ---- */

static void
make_node(td_gen_t *gen)
{
    uint16_t node = td_gen_node(gen);

    (void)node;
}

static void
make_frame_mark(td_gen_t *gen)
{
    td_step_t const frame = {.kind = TD_STEP_FRAME};

    if (td_gen_put_step(gen, &frame)) {
        gen->frame_cnt = 0;
    }
}

static void
make_setting(td_gen_t *gen)
{
    size_t key   = td_rng_below(&gen->rng, td_config_cnt());
    size_t value = td_rng_weighted(&gen->rng, gen->weights->config[key], TD_WEIGHTS_VALUE_CNT);
    td_setting_t setting = {.key = (uint8_t)key, .value = (uint8_t)value};

    if (gen->status == TD_OK && value != TD_WEIGHTS_VALUE_CNT &&
        td_rules_setting(gen->prog, setting) == NULL) {
        gen->status = td_draft_put_setting(&gen->draft, setting);
        td_gen_follow(gen);
    }
}

/* A root needs a frame and an object. */
static void
make_root(td_gen_t *gen)
{
    if (gen->prog->node_cnt == 0) {
        td_gen_node(gen);
    }
    if (gen->draft.frame_root_cnt < 0) {
        make_frame_mark(gen);
    }
    if (gen->status == TD_OK) {
        td_gen_enter(gen);
    }
}

static void
make_change(td_gen_t *gen)
{
    if (gen->prog->node_cnt != 0) {
        td_gen_change(gen);
    }
}

static struct {
    td_mutator_t mutator;
    void (*make)(td_gen_t *);
} const makers[] = {
    {TD_MUTATOR_NODE_ADD, make_node},          {TD_MUTATOR_ROOT_ADD, make_root},
    {TD_MUTATOR_ROOT_ALIAS, td_gen_alias},     {TD_MUTATOR_CHANGE_ADD, make_change},
    {TD_MUTATOR_FRAME_SPLIT, make_frame_mark}, {TD_MUTATOR_CONFIG_SET, make_setting},
};

/* The record that is step `step`. */
static uint32_t
record_of_step(td_prog_t const *prog, uint32_t step)
{
    uint32_t r = 0, cnt = 0;

    while (r < prog->order_cnt && (prog->order[r] != TD_RECORD_STEP || cnt++ != step)) {
        r++;
    }
    return r;
}

/* Before which record something is made: an alias needs a root before it. */
static uint32_t
place_for(mutate_t *m, td_mutator_t mutator)
{
    uint32_t root;

    if (mutator == TD_MUTATOR_CONFIG_SET) {
        return 0;
    }
    root = mutator == TD_MUTATOR_ROOT_ALIAS ? find_step(m, is_build) : UINT32_MAX;
    return root != UINT32_MAX ? record_of_step(m->from, root) + 1
                              : below(m, m->from->order_cnt + 1);
}

static bool
plan_make(mutate_t *m, td_mutator_t mutator)
{
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
        if (makers[i].mutator == mutator) {
            m->make = makers[i].make;
            m->at   = place_for(m, mutator);
            return true;
        }
    }
    return false;
}

/* The steps of a frame, its mark first. */
static void
find_frame(mutate_t *m, uint32_t *first, uint32_t *end)
{
    *first = find_step(m, is_frame);
    *end   = *first;
    if (*first != UINT32_MAX) {
        do {
            ++*end;
        } while (*end < m->from->step_cnt && !is_frame(&m->from->steps[*end]));
    } else {
        *first = *end = 0;
    }
}

static void
plan_config_drop(mutate_t *m)
{
    td_prog_t const *prog = m->from;
    uint32_t         cnt = prog->order_cnt, start = cnt != 0 ? below(m, cnt) : 0;

    for (uint32_t i = 0; i < cnt; i++) {
        uint32_t r = (start + i) % cnt;

        if (prog->order[r] == TD_RECORD_SETTING || prog->order[r] == TD_RECORD_EXPORT) {
            m->skip_from = r;
            m->skip_to   = r + 1;
            return;
        }
    }
}

static void
plan_stream(mutate_t *m, td_mutator_t mutator)
{
    uint32_t first, end;

    switch (mutator) {
    case TD_MUTATOR_FRAME_AGAIN:
        find_frame(m, &m->again_from, &m->again_to);
        break;
    case TD_MUTATOR_FRAME_DROP:
        /* Nodes in between go too: what later frames use of them stands in. */
        find_frame(m, &first, &end);
        m->skip_from = record_of_step(m->from, first);
        m->skip_to   = end > first ? record_of_step(m->from, end) : m->skip_from;
        break;
    case TD_MUTATOR_CONFIG_DROP:
        plan_config_drop(m);
        break;
    default:
        TD_ASSERT(mutator == TD_MUTATOR_TAIL_DROP);
        m->skip_to   = m->from->order_cnt;
        m->skip_from = m->skip_to - 1 - below(m, 1 + m->skip_to / 4) % m->skip_to;
    }
}

static void
plan(mutate_t *m, td_mutator_t mutator)
{
    if (!plan_node(m, mutator) && !plan_step(m, mutator) && !plan_make(m, mutator)) {
        plan_stream(m, mutator);
    }
}

/* The steps of a frame once more: their indices lead where they led before. */
static void
build_again(mutate_t *m)
{
    td_replay_t *replay = &m->replay;

    uint32_t any_step = record_of_step(m->from, m->again_from);

    replay->at_step  = UINT32_MAX;
    replay->in_frame = 0;
    replay->step     = m->again_from;
    while (replay->step < m->again_to && m->gen->status == TD_OK) {
        td_replay_record(replay, any_step); /* it is replay->step that counts */
    }
}

static void
run(mutate_t *m)
{
    for (uint32_t r = 0; r <= m->from->order_cnt; r++) {
        if (r == m->at && m->make != NULL && !td_gen_is_full(m->gen)) {
            m->make(m->gen);
        }
        if (r == m->from->order_cnt) {
            break;
        }
        if (r >= m->skip_from && r < m->skip_to) {
            td_replay_skip(&m->replay, r);
        } else {
            td_replay_record(&m->replay, r);
        }
    }
    build_again(m);
    td_gen_need_root(m->gen);
}

/* ---- one mutation ---- */

static td_status_t
mutate_records(td_mutator_t mutator, td_prog_t const *from, uint64_t seed,
               td_weights_t const *weights, td_prog_t *to)
{
    mutate_t *m   = td_calloc(1, sizeof *m); /* owned */
    td_gen_t *gen = NULL;                    /* owned */

    if (m != NULL) {
        gen = td_gen_new(to, seed, TD_INPUT_SZ_MAX, weights);
    }
    if (gen == NULL) {
        td_free(m);
        return TD_NOMEM;
    }
    m->gen  = gen;
    m->from = from;
    if (td_replay_init(&m->replay, gen, from)) {
        plan(m, mutator);
        run(m);
    } else {
        gen->status = TD_NOMEM;
    }
    td_replay_clear(&m->replay);
    td_free(m);
    return td_gen_end(gen);
}

static td_status_t
mutate_byte(td_prog_t const *from, uint64_t seed, td_prog_t *to)
{
    uint8_t    *bytes = NULL; /* owned */
    size_t      sz    = 0;
    td_rng_t    rng;
    td_status_t status;

    td_rng_init(&rng, seed);
    TD_TRY(td_prog_encode(from, &bytes, &sz));
    if (sz > 1) {
        bytes[td_rng_between(&rng, 1, (int64_t)sz - 1)] = (uint8_t)td_rng_u64(&rng);
    }
    TD_TRY(td_prog_repair(bytes, sz, to, NULL));
done:
    td_free(bytes);
    return status;
}

td_status_t
td_mutate_with(td_mutator_t mutator, td_prog_t const *from, uint64_t seed, size_t sz_max,
               td_weights_t const *weights, td_prog_t *to)
{
    td_status_t status;

    TD_ASSERT((size_t)mutator < TD_MUTATOR_CNT);
    if (mutator == TD_MUTATOR_BYTE) {
        status = mutate_byte(from, seed, to);
    } else {
        status = mutate_records(mutator, from, seed, weights, to);
    }
    if (status == TD_OK) {
        status = td_trim(to, sz_max);
    }
    if (status != TD_OK) {
        td_prog_clear(to);
    }
    return status;
}
