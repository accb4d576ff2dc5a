/* td_trim.c: cuts at record borders; looks at every record. */
#include "gen/td_trim.h"

#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "gen/td_shadow.h"
#include "graph/td_encode.h"

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
records_allowed(td_prog_t const *prog, td_weights_t const *weights)
{
    bool allowed = !prog->export_mode || weights->export_percent != 0;

    for (uint32_t i = 0; allowed && i < prog->node_cnt; i++) {
        allowed = weights->kind[prog->nodes[i].kind] != 0 || prog->nodes[i].kind == TD_KIND_NONE;
    }
    for (uint32_t i = 0; allowed && i < prog->source_cnt; i++) {
        allowed = weights->source[prog->sources[i].kind] != 0;
    }
    for (uint32_t i = 0; allowed && i < prog->setting_cnt; i++) {
        allowed = weights->config[prog->settings[i].key][prog->settings[i].value] != 0;
    }
    for (uint32_t i = 0; allowed && i < prog->step_cnt; i++) {
        td_step_t const *step = &prog->steps[i];

        allowed = (step->kind != TD_STEP_ROOT || weights->entry[step->op] != 0) &&
                  (step->kind != TD_STEP_DO || weights->change[step->op] != 0) &&
                  (step->kind != TD_STEP_CONSTRAINT || weights->export_percent != 0);
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
td_trim_allowed(td_prog_t const *prog, td_weights_t const *weights, bool *allowed)
{
    td_shadow_t shadow;
    bool        failed = false;

    *allowed = records_allowed(prog, weights);
    if (*allowed && weights->drift_percent == 0) {
        td_shadow_init(&shadow, prog);
        td_shadow_follow(&shadow);
        *allowed = !shadow.failed && !drifts(&shadow, prog);
        failed   = shadow.failed;
        td_shadow_clear(&shadow);
    }
    return failed ? TD_NOMEM : TD_OK;
}
