/* td_rng.c: xoshiro256** behind a splitmix64 seed. */
#include "base/td_rng.h"

#include "base/td_assert.h"

static uint64_t
rotate_left(uint64_t number, int by)
{
    return (number << by) | (number >> (64 - by));
}

uint64_t
td_rng_mix(uint64_t number)
{
    number += UINT64_C(0x9e3779b97f4a7c15);
    number = (number ^ (number >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    number = (number ^ (number >> 27)) * UINT64_C(0x94d049bb133111eb);
    return number ^ (number >> 31);
}

void
td_rng_init(td_rng_t *rng, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        rng->state[i] = td_rng_mix(seed);
        seed += UINT64_C(0x9e3779b97f4a7c15);
    }
}

uint64_t
td_rng_u64(td_rng_t *rng)
{
    uint64_t *s      = rng->state;
    uint64_t  result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t  kept   = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= kept;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t
td_rng_below(td_rng_t *rng, uint64_t bound)
{
    uint64_t floor, draw;

    if (bound <= 1) {
        return 0;
    }
    /* Draws below 2^64 mod bound are thrown away: what is left is even. */
    floor = (UINT64_MAX - bound + 1) % bound;
    do {
        draw = td_rng_u64(rng);
    } while (draw < floor);
    return draw % bound;
}

int64_t
td_rng_between(td_rng_t *rng, int64_t min, int64_t max)
{
    uint64_t span = (uint64_t)max - (uint64_t)min + 1;
    uint64_t draw;

    TD_ASSERT(min <= max);
    draw = span == 0 ? td_rng_u64(rng) : td_rng_below(rng, span);
    return (int64_t)((uint64_t)min + draw);
}

bool
td_rng_chance(td_rng_t *rng, unsigned percent)
{
    return td_rng_below(rng, 100) < percent;
}

size_t
td_rng_weighted(td_rng_t *rng, uint32_t const *weight, size_t cnt)
{
    uint64_t sum = 0, draw;

    for (size_t i = 0; i < cnt; i++) {
        sum += weight[i];
    }
    if (sum == 0) {
        return cnt;
    }
    draw = td_rng_below(rng, sum);
    for (size_t i = 0; i < cnt; i++) {
        if (draw < weight[i]) {
            return i;
        }
        draw -= weight[i];
    }
    TD_ASSERT(!"the weights do not add up");
    return cnt;
}
