/* td_trim.c: cuts at record borders; looks at every record. */
#include "gen/td_trim.h"

#include <string.h>

#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "gen/td_shadow.h"
#include "graph/td_encode.h"
#include "graph/td_rules.h"

/* Replaces prog by the program that the first cnt records make. */
static td_status_t
cut(td_prog_t *prog, uint8_t const *bytes, size_t sz)
{
    td_prog_clear(prog);
    return td_prog_repair(bytes, sz, prog, NULL);
}

/* The records that begin and end within sz_max. */
static uint32_t
records_within(size_t const *off, uint32_t cnt, size_t sz_max)
{
    while (cnt > 0 && off[cnt] > sz_max) {
        cnt--;
    }
    return cnt;
}

static td_status_t
trim_records(td_prog_t *prog, td_writer_t *out, size_t *off, size_t sz_max)
{
    uint32_t    cnt    = prog->order_cnt;
    size_t      sz     = out->sz;
    td_status_t status = TD_OK;

    while (status == TD_OK && sz > sz_max) {
        uint8_t *bytes = NULL; /* owned */

        cnt = records_within(off, cnt, sz_max);
        TD_TRY(cut(prog, out->bytes, off[cnt]));
        /* A cut that takes away the last root gets another one. */
        TD_TRY(td_prog_encode(prog, &bytes, &sz));
        td_free(bytes);
        TD_ASSERT(cnt > 0 || sz <= TD_PROG_SZ_MIN);
        cnt -= cnt > 0;
    }
done:
    return status;
}

td_status_t
td_trim(td_prog_t *prog, size_t sz_max)
{
    td_writer_t out;        /* owned */
    size_t     *off = NULL; /* owned */
    td_status_t status;

    td_writer_init(&out, SIZE_MAX);
    off    = td_calloc(prog->order_cnt + 1, sizeof *off);
    status = off == NULL ? TD_NOMEM : sz_max < TD_PROG_SZ_MIN ? TD_LIMIT : TD_OK;
    if (status == TD_OK) {
        td_encode_records(&out, prog, off);
        status = out.status;
    }
    if (status == TD_OK) {
        status = trim_records(prog, &out, off, sz_max);
    }
    td_free(off);
    td_writer_clear(&out);
    if (status != TD_OK) {
        td_prog_clear(prog);
    }
    return status;
}

/* ---- held against weights ---- */

static bool
node_allowed(td_prog_t const *prog, td_node_t const *node, td_weights_may_t const *may)
{
    bool choice = td_kind_info(node->kind)->payload == TD_PAYLOAD_CHOICE;
    int  from   = td_kind_info(node->kind)->edge_min;

    if (!may->kind[node->kind] || (choice && (may->choice_gone[node->kind] >> node->i & 1) != 0)) {
        return false;
    }
    for (int i = from; may->plain_keys && td_rules_is_paired(node->kind) && i < node->edge_cnt;
         i += 2) {
        if (!td_weights_plain_key(prog, node->edge[i])) {
            return false;
        }
    }
    return true;
}

/* A slice of plain parts is plain for an item. */
static bool
key_allowed(td_prog_t const *prog, uint16_t key)
{
    td_node_t const *node = &prog->nodes[key];

    if (node->kind != TD_KIND_SLICE) {
        return td_weights_plain_key(prog, key);
    }
    return td_weights_plain_key(prog, node->edge[0]) && td_weights_plain_key(prog, node->edge[1]) &&
           td_weights_plain_key(prog, node->edge[2]);
}

static bool
source_allowed(td_prog_t const *prog, td_src_t const *src, td_weights_may_t const *may)
{
    bool keyed = strchr(td_source_info(src->kind)->operands, 'k') != NULL;

    return may->source[src->kind] && (!may->plain_keys || !keyed || key_allowed(prog, src->key));
}

static bool
step_allowed(td_prog_t const *prog, td_step_t const *step, td_weights_t const *weights)
{
    td_weights_may_t const *may = &weights->may;

    switch (step->kind) {
    case TD_STEP_ROOT:
        return may->entry[step->op];
    case TD_STEP_DO:
        return may->change[step->op] && (!may->plain_keys || step->op != TD_DO_SETITEM ||
                                         !td_rules_is_paired(prog->nodes[step->node].kind) ||
                                         td_weights_plain_key(prog, step->other[0]));
    case TD_STEP_CONSTRAINT:
        return weights->export_percent != 0;
    default:
        return true;
    }
}

static bool
records_allowed(td_prog_t const *prog, td_weights_t const *weights)
{
    td_weights_may_t const *may     = &weights->may;
    bool                    allowed = !prog->export_mode || weights->export_percent != 0;

    for (uint32_t i = 0; allowed && i < prog->node_cnt; i++) {
        allowed = node_allowed(prog, &prog->nodes[i], may);
    }
    for (uint32_t i = 0; allowed && i < prog->source_cnt; i++) {
        allowed = source_allowed(prog, &prog->sources[i], may);
    }
    for (uint32_t i = 0; allowed && i < prog->setting_cnt; i++) {
        allowed = may->config[prog->settings[i].key][prog->settings[i].value];
    }
    for (uint32_t i = 0; allowed && i < prog->step_cnt; i++) {
        allowed = step_allowed(prog, &prog->steps[i], weights);
    }
    return allowed;
}

static bool
drifts(td_shadow_t *shadow, td_prog_t const *prog)
{
    for (uint32_t i = 0; i < prog->step_cnt; i++) {
        td_step_t const *step = &prog->steps[i];

        if (step->kind == TD_STEP_DO) {
            td_shadow_change(shadow, step);
        }
        if (step->kind == TD_STEP_ROOT && step->op == TD_ENTRY_BUILD &&
            td_shadow_drifts(shadow, step->source, step->node)) {
            return true;
        }
    }
    return false;
}

td_status_t
td_trim_drifts(td_prog_t const *prog, bool *found)
{
    td_shadow_t shadow;
    td_status_t status;

    td_shadow_init(&shadow, prog);
    td_shadow_follow(&shadow);
    *found = !shadow.failed && drifts(&shadow, prog);
    status = shadow.failed ? TD_NOMEM : TD_OK;
    td_shadow_clear(&shadow);
    return status;
}

td_status_t
td_trim_allowed(td_prog_t const *prog, td_weights_t const *weights, bool *allowed)
{
    td_status_t status = TD_OK;
    bool        found  = false;

    *allowed = records_allowed(prog, weights);
    if (*allowed && weights->drift_percent == 0) {
        status   = td_trim_drifts(prog, &found);
        *allowed = status == TD_OK && !found;
    }
    return status;
}
