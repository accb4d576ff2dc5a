/* td_arena.h: memory of one input; reset, never freed piecemeal.

   An arena hands out blocks from chunks that never move, so a pointer into it
   stays good until the next td_arena_reset.  Nothing in it has a destructor. */
#ifndef TD_BASE_ARENA_H
#define TD_BASE_ARENA_H

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct td_arena_chunk td_arena_chunk_t;

typedef struct {
    td_arena_chunk_t *chunk;   /* newest first; NULL before the first block */
    char             *free;    /* what is left of it */
    size_t            free_sz; /* a multiple of the largest alignment */
    size_t            used_sz; /* bytes handed out since the last reset */
} td_arena_t;

void td_arena_init(td_arena_t *arena);  /* allocates nothing */
void td_arena_clear(td_arena_t *arena); /* gives all memory back */
void td_arena_reset(td_arena_t *arena); /* forgets all blocks, keeps one chunk */

/* td_arena_alloc_raw gives sz bytes that hold anything, aligned for any type; NULL when
   memory ran out (sz 0 gives a valid pointer).  td_arena_alloc_slow is the same where the
   newest chunk does not decide. */
void *td_arena_alloc_slow(td_arena_t *arena, size_t sz);

static inline void *
td_arena_alloc_raw(td_arena_t *arena, size_t sz)
{
#ifndef TD_COVERED /* where lines are counted every block may be the one that fails */
    size_t room = (sz + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);

    if (room - 1 < arena->free_sz) { /* neither 0 nor too much */
        void *block = arena->free;

        arena->free += room;
        arena->free_sz -= room;
        arena->used_sz += room;
        return block;
    }
#endif
    return td_arena_alloc_slow(arena, sz);
}

/* td_arena_alloc gives zeroed bytes. */
static inline void *
td_arena_alloc(td_arena_t *arena, size_t sz)
{
    void *block = td_arena_alloc_raw(arena, sz);

    return block == NULL || sz > SIZE_MAX / 2 ? NULL : memset(block, 0, sz);
}

/* td_arena_dup copies sz bytes and adds a NUL behind them; NULL as above. */
char *td_arena_dup(td_arena_t *arena, char const *bytes, size_t sz);

#endif
