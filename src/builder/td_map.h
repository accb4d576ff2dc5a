/* td_map.h: two hash maps to 32-bit numbers, one keyed by address, one by text.

   Open addressing, never more than half full, nothing is ever deleted.  They
   are small at first and cleared by what was used, so that a program of three
   objects does not pay for one of a million. */
#ifndef TD_BUILDER_MAP_H
#define TD_BUILDER_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TD_MAP_NONE = UINT32_MAX }; /* no such key; never a value */

typedef struct {
    void const *key; /* NULL: free */
    uint32_t    value;
} td_pmap_slot_t;

typedef struct {
    td_pmap_slot_t *slots; /* owned; cap of them, a power of two */
    uint32_t        cap, cnt;
} td_pmap_t;

void     td_pmap_init(td_pmap_t *map);
void     td_pmap_clear(td_pmap_t *map);                      /* gives the memory back */
uint32_t td_pmap_get(td_pmap_t const *map, void const *key); /* TD_MAP_NONE: not there */
/* overwrites; false: no memory */
bool td_pmap_put(td_pmap_t *map, void const *key, uint32_t value);
/* adds *value where the key is not there, and gives what is there; false: no memory */
bool td_pmap_add(td_pmap_t *map, void const *key, uint32_t *value);

typedef struct {
    char const *key; /* borrowed: whoever puts keeps the text; NULL: free */
    uint32_t    key_sz;
    uint32_t    hash;
    uint32_t    value;
} td_smap_slot_t;

typedef struct {
    td_smap_slot_t *slots;
    uint32_t        cap, cnt;
} td_smap_t;

void     td_smap_init(td_smap_t *map);
void     td_smap_clear(td_smap_t *map);
uint32_t td_smap_get(td_smap_t const *map, char const *key, size_t key_sz);
bool     td_smap_put(td_smap_t *map, char const *key, size_t key_sz, uint32_t value);

/* The same with what td_smap_hash gives for the key: for whoever asks twice. */
uint32_t td_smap_hash(char const *key, size_t key_sz);
uint32_t td_smap_get_hashed(td_smap_t const *map, char const *key, size_t key_sz, uint32_t hash);
bool     td_smap_put_hashed(td_smap_t *map, char const *key, size_t key_sz, uint32_t hash,
                            uint32_t value);

#endif
