/* td_obs_space.c: identities become ordinals in the order of first sight. */
#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "observe/td_obs.h"
#include "observe/td_obs_private.h"

enum { SPACE_SLOT_CNT_FIRST = 64 }; /* kept at most half full */

/* Neighbours in memory stay neighbours in the table: objects are mostly met in
   the order in which they were allocated, and scrambling would cost a cache miss
   each.  Only what lies in different 64 KB, or closer together than objects can,
   is scattered. */
static uint32_t
home_slot(td_obs_space_t const *map, void const *identity)
{
    uintptr_t bits = (uintptr_t)identity;
    uint32_t  far  = (uint32_t)(bits >> 16) << 4 | (uint32_t)(bits & 15);

    return ((uint32_t)(bits >> 4) + far * 0x9E3779B1u) & (map->slot_cnt - 1);
}

/* The slot of identity, or the free one where it belongs.  Steps grow (1, 2, 3,
   ..., which meets every slot of a power of two), so that two runs of neighbours
   that fall together do not wait for each other's end. */
static uint32_t
slot_find(td_obs_space_t const *map, void const *identity)
{
    uint32_t slot = home_slot(map, identity);

    for (uint32_t step = 1;
         map->slots[slot].identity != NULL && map->slots[slot].identity != identity; step++) {
        slot = (slot + step) & (map->slot_cnt - 1);
    }
    return slot;
}

static void
slot_fill(td_obs_space_t *map, uint32_t slot, void const *identity, uint32_t ordinal)
{
    map->slots[slot]   = (td_obs_identity_t){identity, ordinal};
    map->used[ordinal] = slot;
}

static bool
space_grow(td_obs_space_t *map)
{
    uint32_t           old_cnt  = map->slot_cnt;
    uint32_t           slot_cnt = old_cnt != 0 ? old_cnt * 2 : SPACE_SLOT_CNT_FIRST;
    td_obs_identity_t *old      = map->slots; /* owned until the end */
    td_obs_identity_t *slots;                 /* owned by map at the end */
    uint32_t          *used;

    if (old_cnt > UINT32_MAX / 4) {
        return false;
    }
    used = td_realloc(map->used, slot_cnt / 2 * sizeof *used);
    if (used == NULL) {
        return false;
    }
    map->used = used;
    slots     = td_calloc(slot_cnt, sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    map->slots    = slots;
    map->slot_cnt = slot_cnt;
    for (uint32_t slot = 0; slot < old_cnt; slot++) {
        if (old[slot].identity != NULL) {
            slot_fill(map, slot_find(map, old[slot].identity), old[slot].identity,
                      old[slot].ordinal);
        }
    }
    td_free(old);
    return true;
}

uint32_t
td_obs_ordinal(td_obs_t *obs, td_space_t space, void const *identity, bool *again)
{
    td_obs_space_t *map = &obs->spaces[space];
    uint32_t        slot;
    bool            met;

    TD_ASSERT(space < TD_SPACE_CNT);
    TD_ASSERT(identity != NULL);
    if (again != NULL) {
        *again = false;
    }
    if (map->cnt >= map->slot_cnt / 2 && !space_grow(map)) {
        td_obs_fail(obs, TD_NOMEM, "no memory");
        return 0;
    }
    slot = slot_find(map, identity);
    met  = map->slots[slot].identity != NULL;
    if (!met) {
        slot_fill(map, slot, identity, map->cnt++);
    }
    if (again != NULL) {
        *again = met;
    }
    return map->slots[slot].ordinal;
}

bool
td_obs_find_ordinal(td_obs_t const *obs, td_space_t space, void const *identity, uint32_t *ordinal)
{
    td_obs_space_t const *map = &obs->spaces[space];
    uint32_t              slot;

    TD_ASSERT(space < TD_SPACE_CNT);
    if (map->slot_cnt == 0 || identity == NULL) {
        return false;
    }
    slot = slot_find(map, identity);
    if (map->slots[slot].identity == NULL) {
        return false;
    }
    if (ordinal != NULL) {
        *ordinal = map->slots[slot].ordinal;
    }
    return true;
}
