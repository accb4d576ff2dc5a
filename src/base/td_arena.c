/* td_arena.c: blocks out of chunks that never move. */
#include "base/td_arena.h"

#include "base/td_alloc.h"
#include "base/td_assert.h"

struct td_arena_chunk {
    td_arena_chunk_t *older;
    size_t            sz; /* of data */
    max_align_t       data[];
};

enum {
    CHUNK_SZ_FIRST = 4000,    /* a small program fits; a page with malloc's own header */
    CHUNK_SZ_MAX   = 1 << 20, /* growth doubles up to here, then stays */
};

void
td_arena_init(td_arena_t *arena)
{
    memset(arena, 0, sizeof *arena);
}

static void
chunks_free(td_arena_chunk_t *chunk)
{
    while (chunk != NULL) {
        td_arena_chunk_t *older = chunk->older;

        td_free(chunk);
        chunk = older;
    }
}

/* all_free: nothing of the newest chunk is handed out. */
static void
all_free(td_arena_t *arena)
{
    arena->free    = (char *)arena->chunk->data;
    arena->free_sz = arena->chunk->sz & ~(alignof(max_align_t) - 1);
}

void
td_arena_clear(td_arena_t *arena)
{
    chunks_free(arena->chunk);
    td_arena_init(arena);
}

void
td_arena_reset(td_arena_t *arena)
{
    arena->used_sz = 0;
    if (arena->chunk == NULL) {
        return;
    }
    /* The newest chunk is the largest but for oversized blocks. */
    chunks_free(arena->chunk->older);
    arena->chunk->older = NULL;
    all_free(arena);
}

static td_arena_chunk_t *
chunk_add(td_arena_t *arena, size_t need)
{
    size_t            sz    = CHUNK_SZ_FIRST;
    td_arena_chunk_t *chunk = NULL; /* owned by arena at the end */

    if (arena->chunk != NULL) {
        sz = arena->chunk->sz < CHUNK_SZ_MAX / 2 ? arena->chunk->sz * 2 : CHUNK_SZ_MAX;
    }
    if (sz < need) {
        sz = need;
    }
    if (sz > SIZE_MAX - sizeof *chunk) {
        return NULL;
    }
    chunk = td_malloc(sizeof *chunk + sz);
    if (chunk == NULL) {
        return NULL;
    }
    chunk->older = arena->chunk;
    chunk->sz    = sz;
    arena->chunk = chunk;
    all_free(arena);
    return chunk;
}

void *
td_arena_alloc_slow(td_arena_t *arena, size_t sz)
{
    size_t room;
    char  *block;

    if (sz > SIZE_MAX / 2 || td_room_refused()) {
        return NULL;
    }
    room = (sz + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    if ((arena->chunk == NULL || arena->free_sz < room) && chunk_add(arena, room) == NULL) {
        return NULL;
    }
    block = arena->free;
    TD_ASSERT(room <= arena->free_sz);
    arena->free += room;
    arena->free_sz -= room;
    arena->used_sz += room;
    return block;
}

char *
td_arena_dup(td_arena_t *arena, char const *bytes, size_t sz)
{
    char *copy = sz < SIZE_MAX ? td_arena_alloc_raw(arena, sz + 1) : NULL;

    if (copy == NULL) {
        return NULL;
    }
    if (sz != 0) {
        memcpy(copy, bytes, sz);
    }
    copy[sz] = '\0';
    return copy;
}
