/* td_map.c: two hash maps to 32-bit numbers, one keyed by address, one by text. */
#include "builder/td_map.h"

#include <string.h>

#include "base/td_alloc.h"

enum { FIRST_CAP = 64, LARGE_CAP = 1 << 22 };

/* Every member is put in its place again when a map grows: it grows fast while that
   costs little memory. */
static uint32_t
grown_cap(uint32_t cap)
{
    return cap == 0 ? FIRST_CAP : cap < LARGE_CAP ? 4 * cap : 2 * cap;
}

/* ---- by address ---------------------------------------------------------- */

/* Objects made one after the other lie side by side; a hash that keeps them so
   keeps the probes in few cache lines. */
static uint32_t
pmap_hash(void const *key)
{
    return (uint32_t)((uintptr_t)key >> 4);
}

void
td_pmap_init(td_pmap_t *map)
{
    memset(map, 0, sizeof *map);
}

void
td_pmap_clear(td_pmap_t *map)
{
    td_free(map->slots);
    memset(map, 0, sizeof *map);
}

static td_pmap_slot_t *
pmap_slot(td_pmap_t const *map, void const *key)
{
    uint32_t mask = map->cap - 1;
    uint32_t idx  = pmap_hash(key) & mask;

    while (map->slots[idx].key != NULL && map->slots[idx].key != key) {
        idx = (idx + 1) & mask;
    }
    return &map->slots[idx];
}

uint32_t
td_pmap_get(td_pmap_t const *map, void const *key)
{
    td_pmap_slot_t const *slot = NULL;

    if (map->cnt == 0) {
        return TD_MAP_NONE;
    }
    slot = pmap_slot(map, key);
    return slot->key == NULL ? TD_MAP_NONE : slot->value;
}

static bool
pmap_grow(td_pmap_t *map)
{
    td_pmap_t old = *map;
    uint32_t  cap = grown_cap(old.cap);

    map->slots = td_calloc(cap, sizeof *map->slots);
    if (map->slots == NULL) {
        *map = old;
        return false;
    }
    map->cap = cap;
    for (uint32_t i = 0; i < old.cap; i++) {
        if (old.slots[i].key != NULL) {
            *pmap_slot(map, old.slots[i].key) = old.slots[i];
        }
    }
    td_free(old.slots);
    return true;
}

/* pmap_take gives the slot of a key, in use or to be used from now on. */
static td_pmap_slot_t *
pmap_take(td_pmap_t *map, void const *key, bool *is_new)
{
    td_pmap_slot_t *slot = NULL;

    if (td_room_refused() || (2 * (map->cnt + 1) > map->cap && !pmap_grow(map))) {
        return NULL;
    }
    slot    = pmap_slot(map, key);
    *is_new = slot->key == NULL;
    map->cnt += *is_new;
    slot->key = key;
    return slot;
}

bool
td_pmap_put(td_pmap_t *map, void const *key, uint32_t value)
{
    bool            is_new = false;
    td_pmap_slot_t *slot   = pmap_take(map, key, &is_new);

    if (slot != NULL) {
        slot->value = value;
    }
    return slot != NULL;
}

bool
td_pmap_add(td_pmap_t *map, void const *key, uint32_t *value)
{
    bool            is_new = false;
    td_pmap_slot_t *slot   = pmap_take(map, key, &is_new);

    if (slot == NULL) {
        return false;
    }
    slot->value = is_new ? *value : slot->value;
    *value      = slot->value;
    return true;
}

/* ---- by text ------------------------------------------------------------- */

/* FNV-1a: short keys, no adversary. */
uint32_t
td_smap_hash(char const *key, size_t key_sz)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < key_sz; i++) {
        hash = (hash ^ (uint8_t)key[i]) * 16777619u;
    }
    return hash;
}

void
td_smap_init(td_smap_t *map)
{
    memset(map, 0, sizeof *map);
}

void
td_smap_clear(td_smap_t *map)
{
    td_free(map->slots);
    memset(map, 0, sizeof *map);
}

static td_smap_slot_t *
smap_slot(td_smap_t const *map, char const *key, size_t key_sz, uint32_t hash)
{
    uint32_t mask = map->cap - 1;
    uint32_t idx  = hash & mask;

    for (;;) {
        td_smap_slot_t *slot = &map->slots[idx];

        if (slot->key == NULL ||
            (slot->hash == hash && slot->key_sz == key_sz && memcmp(slot->key, key, key_sz) == 0)) {
            return slot;
        }
        idx = (idx + 1) & mask;
    }
}

uint32_t
td_smap_get_hashed(td_smap_t const *map, char const *key, size_t key_sz, uint32_t hash)
{
    td_smap_slot_t const *slot = NULL;

    if (map->cnt == 0) {
        return TD_MAP_NONE;
    }
    slot = smap_slot(map, key, key_sz, hash);
    return slot->key == NULL ? TD_MAP_NONE : slot->value;
}

uint32_t
td_smap_get(td_smap_t const *map, char const *key, size_t key_sz)
{
    return map->cnt == 0 ? TD_MAP_NONE
                         : td_smap_get_hashed(map, key, key_sz, td_smap_hash(key, key_sz));
}

static bool
smap_grow(td_smap_t *map)
{
    td_smap_t old = *map;
    uint32_t  cap = grown_cap(old.cap);

    map->slots = td_calloc(cap, sizeof *map->slots);
    if (map->slots == NULL) {
        *map = old;
        return false;
    }
    map->cap = cap;
    for (uint32_t i = 0; i < old.cap; i++) {
        td_smap_slot_t const *slot = &old.slots[i];

        if (slot->key != NULL) {
            *smap_slot(map, slot->key, slot->key_sz, slot->hash) = *slot;
        }
    }
    td_free(old.slots);
    return true;
}

bool
td_smap_put(td_smap_t *map, char const *key, size_t key_sz, uint32_t value)
{
    return td_smap_put_hashed(map, key, key_sz, td_smap_hash(key, key_sz), value);
}

bool
td_smap_put_hashed(td_smap_t *map, char const *key, size_t key_sz, uint32_t hash, uint32_t value)
{
    td_smap_slot_t *slot = NULL;

    if (td_room_refused() || (2 * (map->cnt + 1) > map->cap && !smap_grow(map))) {
        return false;
    }
    slot = smap_slot(map, key, key_sz, hash);
    if (slot->key == NULL) {
        slot->key    = key;
        slot->key_sz = (uint32_t)key_sz;
        slot->hash   = hash;
        map->cnt++;
    }
    slot->value = value;
    return true;
}
