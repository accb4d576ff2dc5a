/* td_arena.h: memory of one input; reset, never freed piecemeal.

   An arena hands out blocks from chunks that never move, so a pointer into it
   stays good until the next td_arena_reset.  Nothing in it has a destructor. */
#ifndef TD_BASE_ARENA_H
#define TD_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

typedef struct td_arena_chunk td_arena_chunk_t;

typedef struct {
    td_arena_chunk_t *chunk;   /* newest first; NULL before the first block */
    size_t            used_sz; /* bytes handed out since the last reset */
} td_arena_t;

void td_arena_init(td_arena_t *arena);  /* allocates nothing */
void td_arena_clear(td_arena_t *arena); /* gives all memory back */
void td_arena_reset(td_arena_t *arena); /* forgets all blocks, keeps one chunk */

/* td_arena_alloc gives sz bytes, zeroed, aligned for any type; NULL when memory
   ran out (sz 0 gives a valid pointer). */
void *td_arena_alloc(td_arena_t *arena, size_t sz);

/* td_arena_alloc_raw gives bytes that hold anything. */
void *td_arena_alloc_raw(td_arena_t *arena, size_t sz);

/* td_arena_dup copies sz bytes and adds a NUL behind them; NULL as above. */
char *td_arena_dup(td_arena_t *arena, char const *bytes, size_t sz);

#endif
