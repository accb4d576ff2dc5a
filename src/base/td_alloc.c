/* td_alloc.c: malloc and friends behind a failure that tests can arm. */
#include "base/td_alloc.h"

#include <stdlib.h>

static uint64_t nomem_countdown; /* 0: not armed */
static bool     nomem_fired;
static int64_t  live_cnt;

bool
td_nomem_strikes(void)
{
    if (nomem_countdown == 0 || --nomem_countdown != 0) {
        return false;
    }
    nomem_fired = true;
    return true;
}

static void *
counted(void *block)
{
    live_cnt += block != NULL;
    return block;
}

void *
td_malloc(size_t sz)
{
    return td_nomem_strikes() ? NULL : counted(malloc(sz != 0 ? sz : 1));
}

void *
td_calloc(size_t cnt, size_t sz)
{
    if (cnt == 0 || sz == 0) {
        cnt = sz = 1;
    }
    return td_nomem_strikes() || cnt > SIZE_MAX / sz ? NULL : counted(calloc(cnt, sz));
}

void *
td_realloc(void *block, size_t sz)
{
    void *moved;

    if (td_nomem_strikes()) {
        return NULL;
    }
    moved = realloc(block, sz != 0 ? sz : 1);
    if (block == NULL) {
        counted(moved);
    }
    return moved;
}

void
td_free(void *block)
{
    live_cnt -= block != NULL;
    free(block);
}

void
td_nomem_arm(uint64_t nth)
{
    nomem_countdown = nth;
    nomem_fired     = false;
}

bool
td_nomem_disarm(void)
{
    nomem_countdown = 0;
    return nomem_fired;
}

int64_t
td_alloc_live_cnt(void)
{
    return live_cnt;
}
