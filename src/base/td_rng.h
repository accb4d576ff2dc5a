/* td_rng.h: the only source of chance; seeded, the same on every machine.

   splitmix64 spreads the seed, xoshiro256** draws. */
#ifndef TD_BASE_RNG_H
#define TD_BASE_RNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t state[4];
} td_rng_t;

void     td_rng_init(td_rng_t *rng, uint64_t seed); /* any seed */
uint64_t td_rng_u64(td_rng_t *rng);

/* td_rng_below draws evenly from 0 .. bound - 1; bound 0 gives 0. */
uint64_t td_rng_below(td_rng_t *rng, uint64_t bound);

/* td_rng_between draws evenly from min .. max, both included; min <= max. */
int64_t td_rng_between(td_rng_t *rng, int64_t min, int64_t max);

/* td_rng_chance is true in percent of 100 draws. */
bool td_rng_chance(td_rng_t *rng, unsigned percent);

/* td_rng_weighted draws an index below cnt, each as often as its weight says;
   all weights 0 give cnt (nothing to draw). */
size_t td_rng_weighted(td_rng_t *rng, uint32_t const *weight, size_t cnt);

/* td_rng_mix gives another well-spread number for a number: seeds from seeds. */
uint64_t td_rng_mix(uint64_t number);

#endif
