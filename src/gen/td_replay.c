/* td_replay.c: old records, new indices. */
#include "gen/td_replay.h"

#include <string.h>

#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "graph/td_rules.h"

bool
td_replay_init(td_replay_t *replay, td_gen_t *gen, td_prog_t const *from)
{
    memset(replay, 0, sizeof *replay);
    replay->gen     = gen;
    replay->from    = from;
    replay->at_node = replay->at_step = UINT32_MAX;
    replay->nodes = td_calloc((size_t)from->node_cnt + 1, sizeof *replay->nodes);
    replay->roots = td_calloc((size_t)from->step_cnt + 1, sizeof *replay->roots);
    return replay->nodes != NULL && replay->roots != NULL;
}

void
td_replay_clear(td_replay_t *replay)
{
    td_free(replay->nodes);
    td_free(replay->roots);
}

/* ---- nodes ---- */

/* Whether there is a node to lead to; makes one where there is none at all. */
static bool
has_nodes(td_replay_t *replay)
{
    td_node_t none = {.kind = TD_KIND_NONE};

    if (replay->gen->prog->node_cnt == 0) {
        td_gen_node_of(replay->gen, &none);
    }
    return replay->gen->status == TD_OK;
}

/* A node that is left out leads to some other one from now on. */
static uint16_t
stand_in(td_replay_t *replay)
{
    return has_nodes(replay) ? td_gen_pick(replay->gen) : 0;
}

static void
map_edges(td_replay_t *replay, td_node_t *node)
{
    for (int i = 0; i < node->edge_cnt; i++) {
        replay->edges[i] = replay->nodes[node->edge[i]];
    }
    node->edge = replay->edges;
}

/* Edges that stand for other nodes than they did may not fit a view any more. */
static void
put_node(td_replay_t *replay, td_node_t *node)
{
    td_node_t none = {.kind = TD_KIND_NONE};
    bool      fits = td_rules_node(replay->gen->prog, node) == NULL;

    replay->nodes[replay->node] = td_gen_node_of(replay->gen, fits ? node : &none);
}

static void
replay_node(td_replay_t *replay)
{
    td_node_t node = replay->from->nodes[replay->node];
    bool      kept = true;

    map_edges(replay, &node);
    if (replay->node == replay->at_node) {
        kept = replay->on_node(replay, &node);
    }
    if (kept) {
        put_node(replay, &node);
    } else {
        replay->nodes[replay->node] = stand_in(replay);
    }
    replay->node++;
}

/* ---- sources ---- */

static bool
source_has(td_src_t const *src, char operand)
{
    return strchr(td_source_info(src->kind)->operands, operand) != NULL;
}

/* Puts a source on top of its base; what is refused becomes its base, or a local. */
static uint16_t
put_source(td_replay_t *replay, td_src_t const *src)
{
    td_src_t const local  = {.kind = TD_SOURCE_LOCAL, .name = {.bytes = "x", .sz = 1}};
    td_draft_t    *draft  = &replay->gen->draft;
    uint16_t       idx    = src->base;
    td_status_t    status = td_draft_put_source(draft, src, &idx);

    if (status == TD_REJECT && !source_has(src, 'b')) {
        status = td_draft_put_source(draft, &local, &idx);
    }
    if (status != TD_OK && status != TD_REJECT) {
        replay->gen->status = status;
    }
    return idx;
}

static uint16_t
replay_source(td_replay_t *replay, uint16_t old, bool rename)
{
    td_src_t src = replay->from->sources[old];

    if (source_has(&src, 'b')) {
        src.base = replay_source(replay, src.base, rename);
    } else if (rename && replay->new_name.bytes != NULL && source_has(&src, 'n')) {
        src.name = replay->new_name;
    }
    if (source_has(&src, 'k')) {
        src.key = replay->nodes[src.key];
    }
    return replay->gen->status == TD_OK ? put_source(replay, &src) : 0;
}

static uint16_t
replay_sources(td_replay_t *replay, uint16_t old)
{
    bool     here   = replay->step == replay->at_step;
    uint16_t source = replay_source(replay, old, here);
    td_src_t on_top = replay->on_top;

    if (here && on_top.kind != 0 && replay->gen->status == TD_OK) {
        on_top.base = source;
        source      = put_source(replay, &on_top);
    }
    td_gen_follow(replay->gen);
    return source;
}

/* ---- steps ---- */

static void
map_args(td_replay_t *replay, td_step_t *step)
{
    uint8_t  kept = 0;
    uint32_t root_cnt =
        (uint32_t)(replay->gen->draft.frame_root_cnt > 0 ? replay->gen->draft.frame_root_cnt : 0);

    for (int i = 0; i < step->arg_cnt; i++) {
        td_arg_t arg = step->arg[i];

        arg.idx = arg.is_ref ? replay->roots[arg.idx] : replay->nodes[arg.idx];
        if (!arg.is_ref || arg.idx < root_cnt) {
            replay->args[kept++] = arg;
        }
    }
    step->arg     = replay->args;
    step->arg_cnt = kept;
}

static void
map_step(td_replay_t *replay, td_step_t *step)
{
    step->node = replay->nodes[step->node];
    if (step->kind == TD_STEP_DO || step->tied) {
        step->other[0] = replay->nodes[step->other[0]];
        step->other[1] = replay->nodes[step->other[1]];
    }
    map_args(replay, step);
}

/* A frame that was left out takes its mark, not its roots. */
static void
need_frame(td_replay_t *replay)
{
    td_step_t const frame = {.kind = TD_STEP_FRAME};

    if (replay->gen->draft.frame_root_cnt < 0) {
        td_gen_put_step(replay->gen, &frame);
    }
}

static void
put_root(td_replay_t *replay, td_step_t *step)
{
    td_gen_t       *gen   = replay->gen;
    td_draft_mark_t mark  = td_draft_mark(&gen->draft);
    bool            build = step->op == TD_ENTRY_BUILD;

    if (build) {
        step->source = replay_sources(replay, step->source);
    }
    if (td_gen_put_step(gen, step)) {
        replay->roots[replay->in_frame] = (uint16_t)(gen->draft.frame_root_cnt - 1);
        if (build) {
            td_gen_remember(gen, step->source, step->node, true);
        }
    } else {
        td_draft_rewind(&gen->draft, mark);
        td_shadow_forget(&gen->shadow);
    }
}

static void
put_step(td_replay_t *replay, td_step_t *step)
{
    td_gen_t *gen      = replay->gen;
    bool      in_frame = step->kind == TD_STEP_ROOT || step->kind == TD_STEP_CONSTRAINT;

    if (in_frame) {
        need_frame(replay);
    }
    if (gen->status != TD_OK || !has_nodes(replay)) {
        return;
    }
    if (step->kind == TD_STEP_ROOT) {
        put_root(replay, step);
    } else if (td_rules_step(gen->prog, step, gen->draft.frame_root_cnt) == NULL &&
               td_gen_put_step(gen, step)) {
        if (step->kind == TD_STEP_DO) {
            td_shadow_change(&gen->shadow, step);
        } else if (step->kind == TD_STEP_FRAME) {
            gen->frame_cnt = 0;
        }
    }
}

static void
replay_step(td_replay_t *replay)
{
    td_step_t step = replay->from->steps[replay->step];
    bool      kept = true, is_root = step.kind == TD_STEP_ROOT;

    map_step(replay, &step);
    if (replay->step == replay->at_step && replay->on_step != NULL) {
        kept = replay->on_step(replay, &step);
    }
    if (step.kind == TD_STEP_FRAME) {
        replay->in_frame = 0;
    }
    /* A root that is left out leads to the one before, or to none. */
    replay->roots[replay->in_frame] =
        (uint16_t)(replay->gen->draft.frame_root_cnt > 0 ? replay->gen->draft.frame_root_cnt - 1
                                                         : 0);
    if (kept) {
        put_step(replay, &step);
    }
    replay->in_frame += is_root;
    replay->step++;
}

/* ---- records ---- */

static void
keep(td_replay_t *replay, td_status_t status)
{
    if (status == TD_LIMIT || status == TD_NOMEM) {
        replay->gen->status = status;
    }
}

void
td_replay_record(td_replay_t *replay, uint32_t r)
{
    td_gen_t *gen = replay->gen;

    if (gen->status != TD_OK) {
        return;
    }
    switch ((td_record_t)replay->from->order[r]) {
    case TD_RECORD_NODE:
        replay_node(replay);
        break;
    case TD_RECORD_STEP:
        replay_step(replay);
        break;
    case TD_RECORD_SETTING:
        keep(replay, td_draft_put_setting(&gen->draft, replay->from->settings[replay->setting++]));
        td_gen_follow(gen);
        break;
    case TD_RECORD_EXPORT:
        keep(replay, td_draft_put_export(&gen->draft));
        break;
    case TD_RECORD_SOURCE:
        break; /* put with the root that uses it */
    }
}

void
td_replay_skip(td_replay_t *replay, uint32_t r)
{
    switch ((td_record_t)replay->from->order[r]) {
    case TD_RECORD_NODE:
        replay->nodes[replay->node++] = stand_in(replay);
        break;
    case TD_RECORD_STEP:
        if (replay->from->steps[replay->step].kind == TD_STEP_FRAME) {
            replay->in_frame = 0;
        }
        replay->in_frame += replay->from->steps[replay->step++].kind == TD_STEP_ROOT;
        break;
    case TD_RECORD_SETTING:
        replay->setting++;
        break;
    case TD_RECORD_SOURCE:
    case TD_RECORD_EXPORT:
        break;
    }
}
