/* td_gen.h: a fresh program from a seed.

   What it aims at is what a frame of a real program has: objects that share
   parts, the same object under two names, containers in containers, locals and
   globals and items of them, the next frame with the same names and some objects
   changed; with a few odd ones in between.  Cycles are rare, as they end in a
   RecursionError on both sides. */
#ifndef TD_GEN_GEN_H
#define TD_GEN_GEN_H

#include "gen/td_weights.h"

/* td_gen makes a program in prog (initialised, empty).  The same arguments give
   the same program.  Its binary form has at most sz_max bytes; node_cnt nodes
   are aimed at (0: drawn, 8 to some 100).  TD_LIMIT when sz_max is below
   TD_PROG_SZ_MIN; TD_NOMEM; prog is then empty. */
td_status_t td_gen(td_prog_t *prog, uint64_t seed, size_t sz_max, uint32_t node_cnt,
                   td_weights_t const *weights);

#endif
