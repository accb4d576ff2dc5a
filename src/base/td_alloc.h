/* td_alloc.h: the one way to memory for our own C code.

   Thin wrappers of malloc and friends, so that a test can let the n-th
   allocation fail and count what was never given back.  Not meant for several
   threads at once: whoever allocates holds the interpreter's lock or runs alone. */
#ifndef TD_BASE_ALLOC_H
#define TD_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Like malloc, calloc, realloc, free; sz 0 gives a valid pointer.  NULL when
   memory ran out or an armed failure struck.  Blocks are ordinary malloc'ed
   ones, so a caller outside may free them with free() (and is then counted as
   never having given them back). */
void *td_malloc(size_t sz);
void *td_calloc(size_t cnt, size_t sz);
void *td_realloc(void *block, size_t sz); /* on failure block stays as it was */
void  td_free(void *block);               /* NULL is fine */

/* td_nomem_arm lets the nth allocation from now on (from 1) fail, once.
   td_nomem_disarm ends that and says whether it struck. */
void td_nomem_arm(uint64_t nth);
bool td_nomem_disarm(void);

/* td_nomem_strikes counts an allocation, and says whether it is the one to fail: for those
   who give out memory that they have already. */
bool td_nomem_strikes(void);

/* td_room_refused says whether room that is there already is to be refused all the same:
   where lines are counted every use of it may be the one that fails, and not only that for
   which more is fetched. */
static inline bool
td_room_refused(void)
{
#ifdef TD_COVERED
    return td_nomem_strikes();
#else
    return false;
#endif
}

/* td_alloc_live_cnt counts blocks handed out and not yet given back. */
int64_t td_alloc_live_cnt(void);

#endif
