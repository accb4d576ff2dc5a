/* td_gen_frame.c: frames, roots and the sources that they come from. */
#include <stdio.h>
#include <string.h>

#include "base/td_assert.h"
#include "gen/td_gen_private.h"
#include "graph/td_rules.h"
#include "graph/td_wire.h"

bool
td_gen_put_step(td_gen_t *gen, td_step_t const *step)
{
    if (gen->status != TD_OK) {
        return false;
    }
    gen->status = td_draft_put_step(&gen->draft, step);
    TD_ASSERT(gen->status != TD_REJECT);
    return gen->status == TD_OK;
}

/* ---- sources ---- */

static bool
has_operand(uint8_t kind, char operand)
{
    return strchr(td_source_info(kind)->operands, operand) != NULL;
}

static bool
name_is_taken(td_gen_t const *gen, uint8_t kind, td_text_t name)
{
    for (uint32_t i = 0; i < gen->prog->source_cnt; i++) {
        td_src_t const *src = &gen->prog->sources[i];

        if (src->kind == kind && src->name.sz == name.sz &&
            memcmp(src->name.bytes, name.bytes, name.sz) == 0) {
            return true;
        }
    }
    return false;
}

enum { USUAL_NAME_CNT = 32 }; /* the first of names.def are what variables are called */

/* A variable's name: one of the common ones, or one made up. */
static td_text_t
draw_name(td_gen_t *gen, uint8_t kind, char *buffer)
{
    static char const *const stems[] = {"x", "arg", "layer_", "h", "tmp_"};
    td_text_t                name;

    for (int tries = 0; tries < 4; tries++) {
        bool usual = td_rng_chance(&gen->rng, 70);

        name = td_text(
            td_wire_name(td_rng_below(&gen->rng, usual ? USUAL_NAME_CNT : td_wire_name_cnt())));
        if (!name_is_taken(gen, kind, name) ||
            td_rng_chance(&gen->rng, gen->weights->odd_percent)) {
            return name;
        }
    }
    snprintf(buffer, TD_NAME_SZ_MAX, "%s%u",
             stems[td_rng_below(&gen->rng, sizeof stems / sizeof *stems)], gen->fresh_cnt++);
    return td_text(buffer);
}

/* A source on top of nothing; LOCAL when no such kind is switched on. */
static uint8_t
draw_base_kind(td_gen_t *gen)
{
    uint32_t weight[TD_WEIGHTS_SOURCE_CNT];
    size_t   kind;

    for (size_t tag = 0; tag < TD_WEIGHTS_SOURCE_CNT; tag++) {
        bool base   = td_source_info((uint8_t)tag) != NULL && !has_operand((uint8_t)tag, 'b');
        weight[tag] = base ? gen->weights->source[tag] : 0;
    }
    kind = td_rng_weighted(&gen->rng, weight, TD_WEIGHTS_SOURCE_CNT);
    return (uint8_t)(kind == TD_WEIGHTS_SOURCE_CNT ? TD_SOURCE_LOCAL : kind);
}

static uint16_t
put_source(td_gen_t *gen, td_src_t const *src)
{
    uint16_t    idx    = 0;
    td_status_t status = gen->status;

    if (status == TD_OK) {
        status = td_draft_put_source(&gen->draft, src, &idx);
        TD_ASSERT(status != TD_REJECT);
        gen->status = status;
    }
    td_gen_follow(gen);
    return idx;
}

static uint16_t
put_base(td_gen_t *gen)
{
    char     buffer[TD_NAME_SZ_MAX + 1];
    td_src_t src = {.kind = draw_base_kind(gen)};

    if (has_operand(src.kind, 'n')) {
        src.name = draw_name(gen, src.kind, buffer);
    }
    if (has_operand(src.kind, 'i')) {
        src.idx = (int64_t)td_rng_below(&gen->rng, 4);
    }
    return put_source(gen, &src);
}

/* What is asked of an object by name. */
static td_text_t
draw_attr(td_gen_t *gen, td_node_t const *node)
{
    static char const *const attrs[]   = {"a", "b", "c", "d"};
    static char const *const weights[] = {"weight", "bias", "training", "_forward_hooks"};

    if (node != NULL && node->kind == TD_KIND_OBJECT) {
        return td_text(attrs[td_rng_below(&gen->rng, 4)]);
    }
    if (node != NULL && node->kind == TD_KIND_NN_MODULE) {
        return td_text(weights[td_rng_below(&gen->rng, 4)]);
    }
    if (node != NULL && node->kind == TD_KIND_MODULE && td_rng_chance(&gen->rng, 70)) {
        return td_text(attrs[td_rng_below(&gen->rng, 4)]);
    }
    return td_text(td_wire_name(td_rng_below(&gen->rng, td_wire_name_cnt())));
}

/* An item of a binding's object, if it holds any: sets source and node.  The key's
   node is there before any source is put. */
static bool
draw_item_of(td_gen_t *gen, td_gen_binding_t const *binding, td_src_t *src, uint16_t *node)
{
    td_shadow_items_t const *items = td_shadow_items(&gen->shadow, binding->node);
    uint8_t                  kind  = gen->prog->nodes[binding->node].kind;
    uint32_t                 at;

    if (items->cnt == 0 || gen->draft.depth[binding->source] >= 4) {
        return false;
    }
    at        = (uint32_t)td_rng_below(&gen->rng, items->cnt);
    src->base = binding->source;
    if (td_rules_is_paired(kind)) {
        src->key = items->items[at & ~1u];
        *node    = items->items[at | 1u];
        return td_gen_is_key(gen, src->key);
    }
    *node = items->items[at];
    if (kind != TD_KIND_LIST && kind != TD_KIND_TUPLE && kind != TD_KIND_NAMEDTUPLE) {
        return false;
    }
    if (gen->weights->kind[TD_KIND_INT] == 0) {
        return false;
    }
    src->key = td_gen_int(gen, at);
    return gen->status == TD_OK;
}

/* An item of something that the frame has already. */
static bool
draw_item(td_gen_t *gen, td_src_t *src, uint16_t *node)
{
    for (int tries = 0; tries < 8 && gen->binding_cnt != 0; tries++) {
        uint64_t at = td_rng_below(&gen->rng, gen->binding_cnt);

        if (draw_item_of(gen, &gen->bindings[at], src, node)) {
            return true;
        }
    }
    return false;
}

/* An operand that a source kind needs and that no real container gave. */
static bool
draw_odd_key(td_gen_t *gen, td_src_t *src)
{
    int key = td_gen_find(gen, td_gen_is_key);

    src->key = (uint16_t)(key >= 0 ? key : 0);
    return key >= 0;
}

/* The base: what the frame has already, or something new. */
static uint16_t
draw_base(td_gen_t *gen, td_node_t const **node)
{
    if (gen->binding_cnt != 0 && td_rng_chance(&gen->rng, 60)) {
        td_gen_binding_t const *binding = &gen->bindings[td_rng_below(&gen->rng, gen->binding_cnt)];

        if (gen->draft.depth[binding->source] < 4) {
            *node = &gen->prog->nodes[binding->node];
            return binding->source;
        }
    }
    *node = NULL;
    return put_base(gen);
}

/* Draws a source for *node and puts it; an item's source chooses the node. */
static uint16_t
draw_source(td_gen_t *gen, uint16_t *node)
{
    size_t           kind = td_rng_weighted(&gen->rng, gen->weights->source, TD_WEIGHTS_SOURCE_CNT);
    td_src_t         src  = {.kind = (uint8_t)kind};
    td_node_t const *base = NULL;
    bool             item = false;

    gen->mark = td_draft_mark(&gen->draft);
    if (kind == TD_WEIGHTS_SOURCE_CNT || !has_operand(src.kind, 'b')) {
        return put_base(gen);
    }
    if (kind == TD_SOURCE_ITEM) {
        uint16_t of_item = *node;

        item      = draw_item(gen, &src, &of_item);
        *node     = item ? of_item : *node;
        gen->mark = td_draft_mark(&gen->draft); /* behind the key's node */
        if (!item && !td_rng_chance(&gen->rng, 2 * gen->weights->odd_percent)) {
            return put_base(gen);
        }
    }
    if (!item && has_operand(src.kind, 'k') && !draw_odd_key(gen, &src)) {
        return put_base(gen);
    }
    if (!item) {
        src.base = draw_base(gen, &base);
    }
    if (has_operand(src.kind, 'n')) {
        src.name = draw_attr(gen, base);
    }
    if (has_operand(src.kind, 'i')) {
        src.idx = (int64_t)td_rng_below(&gen->rng, 4);
    }
    return put_source(gen, &src);
}

/* ---- roots ---- */

void
td_gen_remember(td_gen_t *gen, uint16_t source, uint16_t node, bool is_new)
{
    td_gen_binding_t binding = {.source = source, .node = node};

    td_gen_use(gen, node);
    if (gen->frame_cnt < TD_GEN_ROOT_MAX) {
        gen->frame[gen->frame_cnt++] = binding;
    }
    if (is_new && gen->binding_cnt < TD_GEN_BINDING_MAX) {
        gen->bindings[gen->binding_cnt++] = binding;
    }
}

/* Whether what would become dynamic is let through this time. */
static bool
may_build(td_gen_t *gen, uint16_t source, uint16_t node)
{
    unsigned percent = gen->weights->drift_percent;

    return percent >= 100 || !td_shadow_drifts(&gen->shadow, source, node) ||
           td_rng_chance(&gen->rng, percent);
}

/* Builds node from source, both there; false when it would drift. */
static bool
put_build(td_gen_t *gen, uint16_t source, uint16_t node, bool is_new)
{
    td_step_t step = {.kind = TD_STEP_ROOT, .op = TD_ENTRY_BUILD, .source = source, .node = node};

    if (gen->status != TD_OK || !may_build(gen, source, node) || !td_gen_put_step(gen, &step)) {
        return false;
    }
    td_gen_remember(gen, source, node, is_new);
    return true;
}

/* An object for a root: one that the frame has already, else mostly one that
   nothing uses. */
static uint16_t
pick_root(td_gen_t *gen)
{
    if (gen->frame_cnt != 0 && td_rng_chance(&gen->rng, gen->weights->alias_percent)) {
        return gen->frame[td_rng_below(&gen->rng, gen->frame_cnt)].node;
    }
    if (td_rng_chance(&gen->rng, 70)) {
        /* The newest unused one: it holds most. */
        for (uint32_t i = gen->prog->node_cnt; i > 0; i--) {
            if (gen->uses[i - 1] == 0) {
                return (uint16_t)(i - 1);
            }
        }
    }
    return (uint16_t)td_rng_below(&gen->rng, gen->prog->node_cnt);
}

/* Builds a node, or one that is picked (PICK), from a new source. */
enum { PICK = -1 };

static void
build_new(td_gen_t *gen, int wanted)
{
    for (int tries = 0; tries < 6 && gen->status == TD_OK; tries++) {
        uint16_t node   = wanted == PICK ? pick_root(gen) : (uint16_t)wanted;
        uint16_t source = draw_source(gen, &node);

        if (put_build(gen, source, node, true)) {
            return;
        }
        td_draft_rewind(&gen->draft, gen->mark);
        td_shadow_forget(&gen->shadow);
    }
}

/* Percent of names whose object is another size or number in a later frame, where that
   may become dynamic. */
enum { AGAIN_DRIFTED = 45 };

/* The same name in a later frame: mostly the same object. */
static void
build_again(td_gen_t *gen, td_gen_binding_t binding)
{
    bool other   = td_rng_chance(&gen->rng, 12);
    int  drifted = -1;

    if (gen->weights->drift_percent != 0 && td_rng_chance(&gen->rng, AGAIN_DRIFTED)) {
        drifted = td_gen_drifted(gen, binding.node);
    }
    if (drifted >= 0 && put_build(gen, binding.source, (uint16_t)drifted, false)) {
        return;
    }
    if (!other || !put_build(gen, binding.source, pick_root(gen), false)) {
        put_build(gen, binding.source, binding.node, false);
    }
}

static bool
is_called(td_gen_t const *gen, uint16_t node)
{
    uint8_t kind = gen->prog->nodes[node].kind;

    return kind == TD_KIND_TORCH || kind == TD_KIND_FUNCTION || kind == TD_KIND_BUILTIN ||
           kind == TD_KIND_CALLEE;
}

static uint8_t
draw_args(td_gen_t *gen, td_arg_t *args)
{
    uint8_t cnt = (uint8_t)td_rng_below(&gen->rng, 4);

    for (int i = 0; i < cnt; i++) {
        args[i].is_ref = gen->draft.frame_root_cnt > 0 && td_rng_chance(&gen->rng, 70);
        args[i].idx =
            (uint16_t)(args[i].is_ref ? td_rng_below(&gen->rng, (uint64_t)gen->draft.frame_root_cnt)
                                      : td_rng_below(&gen->rng, gen->prog->node_cnt));
    }
    return cnt;
}

static td_text_t
draw_listed(td_gen_t *gen, size_t cnt, char const *(*at)(size_t))
{
    return td_text(at(td_rng_below(&gen->rng, cnt)));
}

/* A function that is compiled takes objects, and two of them more often than not. */
static void
objects_alone(td_gen_t *gen, td_step_t *step)
{
    td_arg_t *args = (td_arg_t *)step->arg;

    if (step->arg_cnt < 2 && td_rng_chance(&gen->rng, 80)) {
        step->arg_cnt = 2;
        args[0] = args[1] = (td_arg_t){.is_ref = true};
    }
    for (int i = 0; i < step->arg_cnt; i++) {
        if (args[i].is_ref) {
            args[i] = (td_arg_t){.idx = (uint16_t)td_rng_below(&gen->rng, gen->prog->node_cnt)};
        }
    }
}

/* A root through another entry point than build. */
static void
enter_otherwise(td_gen_t *gen, uint8_t op)
{
    td_arg_t  args[4];
    td_step_t step     = {.kind = TD_STEP_ROOT, .op = op, .arg = args};
    int       callable = td_gen_find(gen, is_called);
    size_t    method   = 0;

    if (strchr(td_entry_info(op)->operands, 'a') != NULL) {
        step.arg_cnt = draw_args(gen, args);
    }
    step.node = op == TD_ENTRY_FXCALL && callable >= 0 ? (uint16_t)callable : pick_root(gen);
    if (op == TD_ENTRY_METHOD) {
        method = td_rng_below(&gen->rng, td_method_cnt());
        step.arg_cnt =
            td_rng_chance(&gen->rng, 90) ? td_gen_method_args(gen, method, args) : step.arg_cnt;
    }
    step.name = op == TD_ENTRY_METHOD    ? td_text(td_method_name(method))
                : op == TD_ENTRY_COMPILE ? draw_listed(gen, td_compile_cnt(), td_compile_name)
                                         : draw_listed(gen, td_wire_name_cnt(), td_wire_name);
    if (op == TD_ENTRY_COMPILE) {
        objects_alone(gen, &step);
    }
    if (td_gen_put_step(gen, &step) && op == TD_ENTRY_SOURCELESS) {
        td_gen_use(gen, step.node);
    }
}

void
td_gen_enter(td_gen_t *gen)
{
    size_t op = td_rng_weighted(&gen->rng, gen->weights->entry, TD_WEIGHTS_ENTRY_CNT);

    if (op == TD_ENTRY_BUILD && gen->frame_cnt != 0 && td_rng_chance(&gen->rng, 4)) {
        td_gen_binding_t twice = gen->frame[td_rng_below(&gen->rng, gen->frame_cnt)];

        put_build(gen, twice.source, twice.node, false);
    } else if (op == TD_ENTRY_BUILD) {
        build_new(gen, PICK);
    } else if (op != TD_WEIGHTS_ENTRY_CNT) {
        enter_otherwise(gen, (uint8_t)op);
    }
}

void
td_gen_alias(td_gen_t *gen)
{
    if (gen->frame_cnt != 0) {
        build_new(gen, gen->frame[td_rng_below(&gen->rng, gen->frame_cnt)].node);
    }
}

/* ---- frames ---- */

static bool
has_dims(td_gen_t const *gen, uint16_t node)
{
    td_node_t const *at = &gen->prog->nodes[node];

    return td_rules_is_tensor(at) && at->tensor.dim_cnt != 0;
}

static void
constrain(td_gen_t *gen)
{
    int              node = td_gen_find(gen, has_dims), other = td_gen_find(gen, has_dims);
    td_node_t const *nodes = gen->prog->nodes;
    td_step_t        step  = {.kind = TD_STEP_CONSTRAINT, .name = {.bytes = ""}};

    if (node < 0) {
        return;
    }
    step.node   = (uint16_t)node;
    step.num[0] = (int64_t)td_rng_below(&gen->rng, nodes[node].tensor.dim_cnt);
    step.tied   = td_rng_chance(&gen->rng, 40);
    if (step.tied) {
        step.other[0] = (uint16_t)other;
        step.num[1]   = (int64_t)td_rng_below(&gen->rng, nodes[other].tensor.dim_cnt);
    } else {
        step.num[1] = td_rng_between(&gen->rng, 0, 3);
        step.num[2] = td_rng_chance(&gen->rng, 50) ? INT64_MAX : td_rng_between(&gen->rng, 3, 100);
    }
    if (td_rng_chance(&gen->rng, 30)) {
        step.name = draw_listed(gen, td_wire_name_cnt(), td_wire_name);
    }
    td_gen_put_step(gen, &step);
}

void
td_gen_frame(td_gen_t *gen, bool is_first)
{
    td_step_t const frame = {.kind = TD_STEP_FRAME};
    uint32_t        again = is_first ? 0 : gen->binding_cnt;
    int64_t news = is_first ? td_rng_between(&gen->rng, 2, 7) : td_rng_between(&gen->rng, 0, 2);

    if (!td_gen_put_step(gen, &frame)) {
        return;
    }
    gen->frame_cnt = 0;
    if (gen->prog->export_mode && td_rng_chance(&gen->rng, 60)) {
        constrain(gen);
    }
    for (uint32_t i = 0; i < again && !td_gen_is_full(gen); i++) {
        if (td_rng_chance(&gen->rng, 75)) {
            build_again(gen, gen->bindings[i]);
        }
    }
    for (int64_t i = 0; i < news && !td_gen_is_full(gen); i++) {
        td_gen_enter(gen);
    }
}

void
td_gen_need_root(td_gen_t *gen)
{
    td_node_t       none  = {.kind = TD_KIND_NONE};
    td_src_t const  local = {.kind = TD_SOURCE_LOCAL, .name = {.bytes = "x", .sz = 1}};
    td_step_t const frame = {.kind = TD_STEP_FRAME};
    td_step_t       root  = {.kind = TD_STEP_ROOT, .op = TD_ENTRY_BUILD};

    if (gen->draft.root_cnt != 0 || gen->status == TD_NOMEM) {
        return;
    }
    gen->status = TD_OK;
    /* None becomes nothing dynamic; when full, the last node has to do. */
    root.node = td_gen_node_of(gen, &none);
    if (gen->status == TD_LIMIT) {
        gen->status = TD_OK;
        root.node   = (uint16_t)(gen->prog->node_cnt - 1);
    }
    if (gen->draft.frame_root_cnt < 0) {
        td_gen_put_step(gen, &frame);
    }
    root.source = put_source(gen, &local);
    td_gen_put_step(gen, &root);
    TD_ASSERT(gen->status == TD_OK || gen->status == TD_NOMEM);
}
