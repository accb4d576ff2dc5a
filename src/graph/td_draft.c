/* td_draft.c: puts records behind one another, checked and counted. */
#include "graph/td_draft.h"

#include <string.h>

#include "base/td_assert.h"
#include "graph/td_encode.h"
#include "graph/td_rules.h"
#include "graph/td_wire.h"

enum {
    RECORDS_SZ_MAX = TD_INPUT_SZ_MAX - 1, /* the end record is one byte */
    /* Kept free until there is a root, so that one can always be added: every
       frame there may be, a small source, a root and their node. */
    SZ_RESERVED   = TD_FRAME_CNT_MAX + 32,
    STEP_RESERVED = TD_FRAME_CNT_MAX + 2,
    CAP_FIRST     = 16,
};

td_text_t
td_text(char const *text)
{
    return (td_text_t){.bytes = text, .sz = (uint32_t)strlen(text)};
}

void
td_prog_init(td_prog_t *prog)
{
    memset(prog, 0, sizeof *prog);
    td_arena_init(&prog->arena);
}

void
td_prog_clear(td_prog_t *prog)
{
    td_arena_clear(&prog->arena);
    td_prog_init(prog);
}

td_status_t
td_draft_init(td_draft_t *draft, td_prog_t *prog)
{
    TD_ASSERT(prog->order_cnt == 0 && prog->arena.used_sz == 0);
    memset(draft, 0, sizeof *draft);
    draft->prog           = prog;
    draft->frame_root_cnt = -1;
    td_writer_init(&draft->out, RECORDS_SZ_MAX);
    td_writer_put_u8(&draft->out, TD_WIRE_VERSION);
    return draft->out.status;
}

void
td_draft_clear(td_draft_t *draft)
{
    td_writer_clear(&draft->out);
    draft->prog = NULL;
}

/* Makes room for one more item; *grown is the array then.  Arrays only ever grow
   inside the arena. */
static td_status_t
reserve(td_draft_t *draft, void *array, uint32_t cnt, uint32_t *cap, size_t item_sz, void **grown)
{
    uint32_t wider = *cap == 0 ? CAP_FIRST : *cap * 2;

    *grown = array;
    if (cnt < *cap) {
        return TD_OK;
    }
    *grown = td_arena_alloc(&draft->prog->arena, wider * item_sz);
    if (*grown == NULL) {
        return TD_NOMEM;
    }
    if (cnt != 0) {
        memcpy(*grown, array, cnt * item_sz);
    }
    *cap = wider;
    return TD_OK;
}

/* RESERVE is reserve for an array of any type, inside a function with `done`. */
#define RESERVE(array, cnt, cap)                                          \
    do {                                                                  \
        void *grown;                                                      \
                                                                          \
        TD_TRY(reserve(draft, array, cnt, cap, sizeof *(array), &grown)); \
        (array) = grown;                                                  \
    } while (0)

static td_status_t
refuse(td_draft_t *draft, td_status_t status, char const *why)
{
    draft->why = why;
    return status;
}

static td_status_t
text_own(td_draft_t *draft, td_text_t *text)
{
    text->bytes = td_arena_dup(&draft->prog->arena, text->bytes, text->sz);
    return text->bytes != NULL ? TD_OK : TD_NOMEM;
}

/* Copies an array into the arena; *array is then the copy. */
static td_status_t
array_own(td_draft_t *draft, void const *bytes, size_t sz, void const **copy)
{
    *copy = NULL;
    if (sz == 0) {
        return TD_OK;
    }
    *copy = td_arena_dup(&draft->prog->arena, bytes, sz);
    return *copy != NULL ? TD_OK : TD_NOMEM;
}

/* What was written for the record since sz stays only if it fits. */
static td_status_t
admit(td_draft_t *draft, size_t sz, size_t sz_max)
{
    if (draft->out.status == TD_OK && draft->out.sz <= sz_max) {
        return TD_OK;
    }
    if (draft->out.status == TD_NOMEM) {
        return TD_NOMEM;
    }
    draft->out.sz     = sz;
    draft->out.status = TD_OK;
    return refuse(draft, TD_LIMIT, "the program is full: too many bytes");
}

static size_t
ordinary_sz_max(td_draft_t const *draft)
{
    return draft->root_cnt != 0 ? RECORDS_SZ_MAX : RECORDS_SZ_MAX - SZ_RESERVED;
}

static td_status_t
order_put(td_draft_t *draft, td_record_t record)
{
    td_prog_t  *prog   = draft->prog;
    td_status_t status = TD_OK;

    RESERVE(prog->order, prog->order_cnt, &draft->order_cap);
    prog->order[prog->order_cnt++] = (uint8_t)record;
done:
    return status;
}

static bool
edges_are_keys(td_draft_t const *draft, td_node_t const *node)
{
    for (int i = 0; i < node->edge_cnt; i++) {
        if (!draft->is_key[node->edge[i]]) {
            return false;
        }
    }
    return true;
}

static td_status_t
node_own(td_draft_t *draft, td_node_t *node)
{
    td_payload_t payload = td_kind_info(node->kind)->payload;
    void const  *copy    = NULL;
    td_status_t  status  = TD_OK;

    if (payload == TD_PAYLOAD_TEXT || payload == TD_PAYLOAD_BYTES || payload == TD_PAYLOAD_BIGINT) {
        TD_TRY(text_own(draft, &node->text));
    }
    if (payload == TD_PAYLOAD_DIMS) {
        TD_TRY(array_own(draft, node->dims.dim, node->dims.cnt * sizeof *node->dims.dim, &copy));
        node->dims.dim = copy;
    }
    TD_TRY(array_own(draft, node->edge, node->edge_cnt * sizeof *node->edge, &copy));
    node->edge = copy;
done:
    return status;
}

static td_status_t
node_check(td_draft_t *draft, td_node_t const *node)
{
    char const *why = td_rules_node(draft->prog, node);

    TD_ASSERT(draft->source_used_cnt == draft->prog->source_cnt);
    if (why != NULL) {
        return refuse(draft, TD_REJECT, why);
    }
    if (draft->prog->node_cnt == TD_NODE_CNT_MAX) {
        return refuse(draft, TD_LIMIT, "the program is full: too many nodes");
    }
    return TD_OK;
}

td_status_t
td_draft_put_node(td_draft_t *draft, td_node_t const *node)
{
    td_prog_t  *prog  = draft->prog;
    uint32_t    cap   = draft->node_cap;
    size_t      sz    = draft->out.sz;
    td_node_t   owned = *node;
    td_status_t status;

    TD_TRY(node_check(draft, node));
    td_encode_node(&draft->out, node, prog->node_cnt);
    TD_TRY(admit(draft, sz, ordinary_sz_max(draft)));
    RESERVE(draft->is_key, prog->node_cnt, &cap);
    RESERVE(prog->nodes, prog->node_cnt, &draft->node_cap);
    TD_TRY(node_own(draft, &owned));
    TD_TRY(order_put(draft, TD_RECORD_NODE));
    draft->is_key[prog->node_cnt] = td_rules_is_key(node, edges_are_keys(draft, node));
    prog->nodes[prog->node_cnt++] = owned;
done:
    return status;
}

static bool
text_equal(td_text_t left, td_text_t right)
{
    return left.sz == right.sz && (left.sz == 0 || memcmp(left.bytes, right.bytes, left.sz) == 0);
}

static bool
source_has(td_src_t const *src, char operand)
{
    return strchr(td_source_info(src->kind)->operands, operand) != NULL;
}

static bool
source_equal(td_src_t const *left, td_src_t const *right)
{
    return left->kind == right->kind && (!source_has(left, 'b') || left->base == right->base) &&
           (!source_has(left, 'n') || text_equal(left->name, right->name)) &&
           (!source_has(left, 'k') || left->key == right->key) &&
           (!source_has(left, 'i') || left->idx == right->idx);
}

static td_status_t
source_check(td_draft_t *draft, td_src_t const *src)
{
    char const *why = td_rules_source(draft->prog, src);

    if (why != NULL) {
        return refuse(draft, TD_REJECT, why);
    }
    if (source_has(src, 'k') && !draft->is_key[src->key]) {
        return refuse(draft, TD_REJECT,
                      "its key is no literal, enum member, class, or tuple or slice of such");
    }
    if (source_has(src, 'b') && draft->depth[src->base] >= TD_SOURCE_DEPTH_MAX) {
        return refuse(draft, TD_REJECT, "it is nested too deeply");
    }
    return TD_OK;
}

/* A new one among the sources. */
static td_status_t
source_add(td_draft_t *draft, td_src_t const *src)
{
    td_prog_t  *prog  = draft->prog;
    uint32_t    cap   = draft->source_cap;
    size_t      sz    = draft->out.sz;
    td_src_t    owned = *src;
    td_status_t status;

    if (prog->source_cnt == TD_SOURCE_CNT_MAX) {
        return refuse(draft, TD_LIMIT, "the program is full: too many sources");
    }
    td_encode_source(&draft->out, src, prog->node_cnt, prog->source_cnt);
    TD_TRY(admit(draft, sz, RECORDS_SZ_MAX));
    RESERVE(draft->depth, prog->source_cnt, &cap);
    RESERVE(prog->sources, prog->source_cnt, &draft->source_cap);
    if (source_has(src, 'n')) {
        TD_TRY(text_own(draft, &owned.name));
    }
    TD_TRY(order_put(draft, TD_RECORD_SOURCE));
    draft->depth[prog->source_cnt]    = source_has(src, 'b') ? draft->depth[src->base] + 1 : 0;
    prog->sources[prog->source_cnt++] = owned;
done:
    return status;
}

td_status_t
td_draft_put_source(td_draft_t *draft, td_src_t const *src, uint16_t *idx)
{
    td_status_t status = source_check(draft, src);

    if (status != TD_OK) {
        return status;
    }
    /* Newest first: neighbours in the stream tend to share their bases. */
    for (uint32_t i = draft->prog->source_cnt; i > 0; i--) {
        if (source_equal(&draft->prog->sources[i - 1], src)) {
            *idx = (uint16_t)(i - 1);
            return TD_OK;
        }
    }
    status = source_add(draft, src);
    if (status == TD_OK) {
        *idx = (uint16_t)(draft->prog->source_cnt - 1);
    }
    return status;
}

td_draft_mark_t
td_draft_mark(td_draft_t const *draft)
{
    return (td_draft_mark_t){
        .sz         = draft->out.sz,
        .source_cnt = draft->prog->source_cnt,
        .order_cnt  = draft->prog->order_cnt,
    };
}

void
td_draft_rewind(td_draft_t *draft, td_draft_mark_t mark)
{
    TD_ASSERT(mark.source_cnt == draft->source_used_cnt);
    draft->out.sz           = mark.sz;
    draft->prog->source_cnt = mark.source_cnt;
    draft->prog->order_cnt  = mark.order_cnt;
}

/* Every source that waits is on the way from the root's source down. */
static bool
sources_are_used(td_draft_t const *draft, td_step_t const *step)
{
    uint32_t cnt  = draft->prog->source_cnt;
    bool     used = cnt == draft->source_used_cnt;

    if (used || step->kind != TD_STEP_ROOT || step->op != TD_ENTRY_BUILD) {
        return used;
    }
    for (uint32_t i = draft->source_used_cnt + 1; i < cnt; i++) {
        if (draft->prog->sources[i].base != i - 1) {
            return false;
        }
    }
    return step->source == cnt - 1;
}

static td_status_t
step_check(td_draft_t *draft, td_step_t const *step)
{
    char const *why      = td_rules_step(draft->prog, step, draft->frame_root_cnt);
    bool        ordinary = step->kind == TD_STEP_DO || step->kind == TD_STEP_CONSTRAINT;
    uint32_t    kept     = ordinary && draft->root_cnt == 0 ? STEP_RESERVED : 0;

    if (why != NULL) {
        return refuse(draft, TD_REJECT, why);
    }
    TD_ASSERT(sources_are_used(draft, step));
    if (draft->prog->step_cnt >= TD_STEP_CNT_MAX - kept) {
        return refuse(draft, TD_LIMIT, "the program is full: too many steps");
    }
    if (step->kind == TD_STEP_FRAME && draft->frame_cnt == TD_FRAME_CNT_MAX) {
        return refuse(draft, TD_LIMIT, "the program is full: too many frames");
    }
    return TD_OK;
}

static bool
step_has_name(td_step_t const *step)
{
    td_op_info_t const *info = step->kind == TD_STEP_ROOT ? td_entry_info(step->op)
                               : step->kind == TD_STEP_DO ? td_do_info(step->op)
                                                          : NULL;

    return step->kind == TD_STEP_CONSTRAINT ||
           (info != NULL && strpbrk(info->operands, "nmc") != NULL);
}

static td_status_t
step_own(td_draft_t *draft, td_step_t *step)
{
    void const *copy   = NULL;
    td_status_t status = TD_OK;

    step->node_cnt = draft->prog->node_cnt;
    if (step_has_name(step)) {
        TD_TRY(text_own(draft, &step->name));
    }
    TD_TRY(array_own(draft, step->arg, step->arg_cnt * sizeof *step->arg, &copy));
    step->arg = copy;
done:
    return status;
}

static void
step_count(td_draft_t *draft, td_step_t const *step)
{
    if (step->kind == TD_STEP_FRAME) {
        draft->frame_cnt++;
        draft->frame_root_cnt = 0;
    }
    if (step->kind == TD_STEP_ROOT) {
        draft->root_cnt++;
        draft->frame_root_cnt++;
        draft->source_used_cnt = draft->prog->source_cnt;
    }
}

td_status_t
td_draft_put_step(td_draft_t *draft, td_step_t const *step)
{
    td_prog_t  *prog     = draft->prog;
    size_t      sz       = draft->out.sz;
    td_step_t   owned    = *step;
    bool        ordinary = step->kind == TD_STEP_DO || step->kind == TD_STEP_CONSTRAINT;
    td_status_t status;

    TD_TRY(step_check(draft, step));
    td_encode_step(&draft->out, step, prog->node_cnt, prog->source_cnt);
    TD_TRY(admit(draft, sz, ordinary ? ordinary_sz_max(draft) : RECORDS_SZ_MAX));
    RESERVE(prog->steps, prog->step_cnt, &draft->step_cap);
    TD_TRY(step_own(draft, &owned));
    TD_TRY(order_put(draft, TD_RECORD_STEP));
    prog->steps[prog->step_cnt++] = owned;
    step_count(draft, &owned);
done:
    return status;
}

td_status_t
td_draft_put_setting(td_draft_t *draft, td_setting_t setting)
{
    td_prog_t  *prog = draft->prog;
    size_t      sz   = draft->out.sz;
    char const *why  = td_rules_setting(prog, setting);
    td_status_t status;

    TD_ASSERT(draft->source_used_cnt == prog->source_cnt);
    if (why != NULL) {
        return refuse(draft, TD_REJECT, why);
    }
    td_encode_setting(&draft->out, setting);
    TD_TRY(admit(draft, sz, ordinary_sz_max(draft)));
    RESERVE(prog->settings, prog->setting_cnt, &draft->setting_cap);
    TD_TRY(order_put(draft, TD_RECORD_SETTING));
    prog->settings[prog->setting_cnt++] = setting;
done:
    return status;
}

td_status_t
td_draft_put_export(td_draft_t *draft)
{
    size_t      sz = draft->out.sz;
    td_status_t status;

    TD_ASSERT(draft->source_used_cnt == draft->prog->source_cnt);
    if (draft->prog->export_mode) {
        return refuse(draft, TD_REJECT, "export stands there already");
    }
    td_encode_export(&draft->out);
    TD_TRY(admit(draft, sz, ordinary_sz_max(draft)));
    TD_TRY(order_put(draft, TD_RECORD_EXPORT));
    draft->prog->export_mode = true;
done:
    return status;
}

td_status_t
td_draft_finish(td_draft_t *draft)
{
    TD_ASSERT(draft->source_used_cnt == draft->prog->source_cnt);
    if (draft->root_cnt == 0) {
        return refuse(draft, TD_REJECT, "there is no root");
    }
    draft->out.sz_max = TD_INPUT_SZ_MAX;
    td_encode_end(&draft->out);
    return draft->out.status;
}
