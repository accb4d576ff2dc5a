/* td_trim.h: programs cut to a size, and held against weights. */
#ifndef TD_GEN_TRIM_H
#define TD_GEN_TRIM_H

#include "gen/td_weights.h"

enum { TD_PROG_SZ_MIN = 9 }; /* of the smallest program there is: None as a local */

/* td_trim drops records from the end of prog until its binary form has at most
   sz_max bytes; it stays a program.  TD_LIMIT below TD_PROG_SZ_MIN; TD_NOMEM. In
   both cases prog is empty. */
td_status_t td_trim(td_prog_t *prog, size_t sz_max);

/* td_trim_allowed says in *allowed whether prog holds nothing but what it may
   (weights->may, not what a swarm left out) and, with drift_percent 0, nothing
   that becomes dynamic.  None is always allowed.  TD_NOMEM. */
td_status_t td_trim_allowed(td_prog_t const *prog, td_weights_t const *weights, bool *allowed);

/* td_trim_drifts says in *found whether prog may make something dynamic.  TD_NOMEM. */
td_status_t td_trim_drifts(td_prog_t const *prog, bool *found);

#endif
