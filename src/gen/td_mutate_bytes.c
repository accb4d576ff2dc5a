/* td_mutate_bytes.c: mutation as an engine wants it, in place. */
#include <string.h>

#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "gen/td_gen.h"
#include "gen/td_mutate.h"
#include "gen/td_trim.h"

enum { ATTEMPT_CNT = 6 }; /* before a fresh program is made instead */

static td_mutator_t
draw_mutator(td_rng_t *rng, bool may_grow)
{
    uint32_t weight[TD_MUTATOR_CNT];

    for (int i = 0; i < TD_MUTATOR_CNT; i++) {
        td_mutator_info_t const *info = td_mutator_info((td_mutator_t)i);

        weight[i] = may_grow || info->effect != TD_EFFECT_GROW ? info->weight : 0;
    }
    return (td_mutator_t)td_rng_weighted(rng, weight, TD_MUTATOR_CNT);
}

/* Applies a few mutators in a row; to is the result. */
static td_status_t
mutate_some(td_prog_t const *from, td_rng_t *rng, size_t sz_max, bool may_grow,
            td_weights_t const *weights, td_prog_t *to, td_mutate_trail_t *trail)
{
    uint64_t    cnt    = 1 + td_rng_below(rng, td_rng_chance(rng, 60) ? 1 : TD_MUTATE_CNT_MAX);
    td_status_t status = TD_OK;

    trail->cnt = 0;
    for (uint64_t i = 0; i < cnt && status == TD_OK; i++) {
        td_mutator_t mutator = draw_mutator(rng, may_grow);
        td_prog_t    next;

        td_prog_init(&next);
        status =
            td_mutate_with(mutator, i == 0 ? from : to, td_rng_u64(rng), sz_max, weights, &next);
        td_prog_clear(to);
        *to                       = next;
        trail->done[trail->cnt++] = mutator;
    }
    return status;
}

/* The first result that is allowed; a fresh program when none is. */
static td_status_t
mutate_allowed(td_prog_t const *from, size_t sz, td_rng_t *rng, size_t sz_max,
               td_weights_t const *weights, td_prog_t *to, td_mutate_trail_t *trail)
{
    bool        allowed = false;
    td_status_t status  = TD_OK;

    for (int attempt = 0; attempt < ATTEMPT_CNT && !allowed; attempt++) {
        td_prog_clear(to);
        TD_TRY(mutate_some(from, rng, sz_max, sz < sz_max, weights, to, trail));
        TD_TRY(td_trim_allowed(to, weights, &allowed));
    }
    trail->fresh = !allowed;
    if (!allowed) {
        trail->cnt = 0;
        td_prog_clear(to);
        TD_TRY(td_gen(to, td_rng_u64(rng), sz_max, 0, weights));
    }
done:
    return status;
}

static size_t
write_back(td_prog_t const *prog, uint8_t *data, size_t sz_max)
{
    uint8_t *bytes = NULL; /* owned */
    size_t   sz    = 0;

    if (td_prog_encode(prog, &bytes, &sz) != TD_OK) {
        return 0;
    }
    TD_ASSERT(sz <= sz_max);
    memcpy(data, bytes, sz);
    td_free(bytes);
    return sz;
}

size_t
td_mutate(uint8_t *data, size_t sz, size_t sz_max, uint64_t seed, td_weights_t const *weights,
          td_mutate_trail_t *trail)
{
    td_mutate_trail_t ignored;
    td_prog_t         from, to;
    td_rng_t          rng;
    size_t            new_sz = 0;
    td_status_t       status;

    td_rng_init(&rng, seed);
    td_prog_init(&from);
    td_prog_init(&to);
    TD_TRY(td_prog_repair(data, sz, &from, NULL));
    TD_TRY(mutate_allowed(&from, sz, &rng, sz_max, weights, &to, trail != NULL ? trail : &ignored));
    new_sz = write_back(&to, data, sz_max);
done:
    td_prog_clear(&to);
    td_prog_clear(&from);
    return new_sz;
}
