/* td_crossover.c: the beginning of one program, then a piece of another. */
#include "gen/td_crossover.h"

#include <string.h>

#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "gen/td_replay.h"
#include "gen/td_trim.h"

static void
replay_range(td_replay_t *replay, uint32_t first, uint32_t end)
{
    for (uint32_t r = 0; r < replay->from->order_cnt && r < end; r++) {
        if (r >= first) {
            td_replay_record(replay, r);
        } else {
            td_replay_skip(replay, r);
        }
    }
}

/* Objects of the right one that its piece needs stand before it, so the piece
   begins at its start half of the time, else its nodes alone are taken along. */
static void
replay_right(td_gen_t *gen, td_replay_t *replay)
{
    td_prog_t const *from  = replay->from;
    uint32_t         first = 0;

    if (td_rng_chance(&gen->rng, 50)) {
        first = (uint32_t)td_rng_below(&gen->rng, from->order_cnt);
    }
    for (uint32_t r = 0; r < from->order_cnt; r++) {
        if (r >= first || from->order[r] == TD_RECORD_NODE) {
            td_replay_record(replay, r);
        } else {
            td_replay_skip(replay, r);
        }
    }
}

static td_status_t
cross(td_prog_t const *left, td_prog_t const *right, uint64_t seed, td_weights_t const *weights,
      td_prog_t *to)
{
    td_gen_t    *gen     = td_gen_new(to, seed, TD_INPUT_SZ_MAX, weights); /* owned */
    td_replay_t *replays = td_calloc(2, sizeof *replays);                  /* owned */

    if (gen == NULL || replays == NULL) {
        td_free(replays);
        if (gen != NULL) {
            td_gen_end(gen);
        }
        return TD_NOMEM;
    }
    if (td_replay_init(&replays[0], gen, left) && td_replay_init(&replays[1], gen, right)) {
        replay_range(&replays[0], 0, (uint32_t)td_rng_between(&gen->rng, 1, left->order_cnt));
        replay_right(gen, &replays[1]);
        td_gen_need_root(gen);
    } else {
        gen->status = TD_NOMEM;
    }
    td_replay_clear(&replays[0]);
    td_replay_clear(&replays[1]);
    td_free(replays);
    return td_gen_end(gen);
}

/* Writes prog to out; its size, 0 for want of memory. */
static size_t
write_out(td_prog_t const *prog, uint8_t *out, size_t sz_max)
{
    uint8_t *bytes = NULL; /* owned */
    size_t   sz    = 0;

    if (td_prog_encode(prog, &bytes, &sz) != TD_OK) {
        return 0;
    }
    TD_ASSERT(sz <= sz_max);
    memcpy(out, bytes, sz);
    td_free(bytes);
    return sz;
}

size_t
td_crossover(uint8_t const *left, size_t left_sz, uint8_t const *right, size_t right_sz,
             uint8_t *out, size_t sz_max, uint64_t seed, td_weights_t const *weights)
{
    td_prog_t   first, second, to;
    bool        allowed = false;
    size_t      sz      = 0;
    td_status_t status;

    td_prog_init(&first);
    td_prog_init(&second);
    td_prog_init(&to);
    TD_TRY(td_prog_repair(left, left_sz, &first, NULL));
    TD_TRY(td_prog_repair(right, right_sz, &second, NULL));
    TD_TRY(cross(&first, &second, seed, weights, &to));
    TD_TRY(td_trim(&to, sz_max));
    TD_TRY(td_trim_allowed(&to, weights, &allowed));
    if (!allowed) {
        TD_TRY(td_trim(&first, sz_max));
    }
    sz = write_out(allowed ? &to : &first, out, sz_max);
done:
    td_prog_clear(&to);
    td_prog_clear(&second);
    td_prog_clear(&first);
    return sz;
}
