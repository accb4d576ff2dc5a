/* td_run.c: the lifetime of a run. */
#include "observe/td_run.h"

#include <string.h>

void
td_run_init(td_run_t *run)
{
    memset(run, 0, sizeof *run);
    td_arena_init(&run->arena);
}

void
td_run_clear(td_run_t *run)
{
    td_arena_clear(&run->arena);
    td_run_init(run);
}

/* grown gives an array of cap items that begins with the cnt items at `at`; NULL: no memory. */
static void *
grown(td_run_t *run, void const *at, size_t cnt, size_t cap, size_t item_sz)
{
    void *more = td_arena_alloc(&run->arena, cap * item_sz);

    if (more != NULL && cnt > 0) {
        memcpy(more, at, cnt * item_sz);
    }
    return more;
}

td_run_frame_t *
td_run_context_add(td_run_t *run)
{
    td_run_frame_t *context = NULL;

    if (run->context_cnt == run->context_cap) {
        size_t          cap  = run->context_cap * 2 + 4;
        td_run_frame_t *more = grown(run, run->contexts, run->context_cnt, cap, sizeof *more);

        if (more == NULL) {
            return NULL;
        }
        run->contexts    = more;
        run->context_cap = cap;
    }
    context  = &run->contexts[run->context_cnt++];
    *context = (td_run_frame_t){0};
    return context;
}

bool
td_run_step_add(td_run_t *run, td_run_frame_t *context)
{
    if (context->outcome_cnt == context->outcome_cap) {
        size_t        cap = context->outcome_cap * 2 + 8;
        td_outcome_t *outcomes =
            grown(run, context->outcomes, context->outcome_cnt, cap, sizeof *outcomes);
        char const **records =
            grown(run, context->records, context->outcome_cnt, cap, sizeof *records);

        if (outcomes == NULL || records == NULL) {
            return false;
        }
        context->outcomes    = outcomes;
        context->records     = records;
        context->outcome_cap = cap;
    }
    context->records[context->outcome_cnt]  = NULL;
    context->outcomes[context->outcome_cnt] = (td_outcome_t){
        .kind = TD_OUTCOME_NOT_RUN, .arm = "", .why = "", .function = "", .entry = "build"};
    context->outcome_cnt++;
    return true;
}

td_status_t
td_run_join(td_run_t *run)
{
    size_t          cnt = run->frame_cnt + run->context_cnt;
    td_run_frame_t *all = NULL;

    if (run->context_cnt == 0) {
        return TD_OK;
    }
    all = grown(run, run->frames, run->frame_cnt, cnt, sizeof *all);
    if (all == NULL) {
        return TD_NOMEM;
    }
    memcpy(all + run->frame_cnt, run->contexts, run->context_cnt * sizeof *all);
    run->frames      = all;
    run->frame_cnt   = cnt;
    run->context_cnt = 0;
    return TD_OK;
}
