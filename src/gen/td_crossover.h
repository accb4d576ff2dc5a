/* td_crossover.h: one program out of two. */
#ifndef TD_GEN_CROSSOVER_H
#define TD_GEN_CROSSOVER_H

#include "gen/td_weights.h"

/* td_crossover writes to out (room for sz_max) a program that begins like the one
   in left and goes on with a piece of the one in right, whose indices keep their
   meaning; both may be any bytes.  Gives its size; 0 as td_mutate. What weights
   switch off is not in the result as long as it is in neither parent; if it is,
   or if the two together become dynamic, left is what comes out. */
size_t td_crossover(uint8_t const *left, size_t left_sz, uint8_t const *right, size_t right_sz,
                    uint8_t *out, size_t sz_max, uint64_t seed, td_weights_t const *weights);

#endif
