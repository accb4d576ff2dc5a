/* td_bare.h: the bare reference, which speed is measured against.

   It does for a program what the builder needs and no more: the same contexts,
   patches, garbage collector and stack depth as td_reference_run, but no
   observation is taken, no change looked for and no outcome noted. */
#ifndef TD_REFERENCE_BARE_H
#define TD_REFERENCE_BARE_H

#include "live/td_live.h"
#include "reference/td_reference.h"

typedef struct {
    uint64_t context_ns; /* opening and closing the contexts of all frames */
    uint64_t roots_ns;   /* all roots */
    size_t   root_cnt;
} td_bare_t;

/* td_bare_run builds live's frames and adds to *bare what it took.  Arms are not its
   business: td_reference_watch_arms(reference, false) before it.  TD_PYERR: the
   reference broke outside every root, or the program is bad input. */
td_status_t td_bare_run(td_reference_t *reference, td_live_t const *live, td_bare_t *bare);

#endif
