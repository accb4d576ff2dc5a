/* td_mutate.h: named changes of programs.

   A *mutation* makes a program that is like another one.  Every result is valid;
   all chance comes from the seed. */
#ifndef TD_GEN_MUTATE_H
#define TD_GEN_MUTATE_H

#include "gen/td_weights.h"

typedef enum {
#define X(NAME, text, weight, effect, meaning) TD_MUTATOR_##NAME,
#include "gen/mutators.def"
#undef X
    TD_MUTATOR_CNT
} td_mutator_t;

typedef enum { TD_EFFECT_KEEP, TD_EFFECT_GROW, TD_EFFECT_SHRINK } td_effect_t;

typedef struct {
    char const *name;
    uint32_t    weight;
    td_effect_t effect;
    char const *meaning;
} td_mutator_info_t;

td_mutator_info_t const *td_mutator_info(td_mutator_t mutator);

/* td_mutate_with applies one mutator to from; to (initialised, empty) gets the
   result, of at most sz_max bytes.  It may be equal to from: not every mutator
   finds something to change.  TD_LIMIT below TD_PROG_SZ_MIN; TD_NOMEM; to is
   then empty. */
td_status_t td_mutate_with(td_mutator_t mutator, td_prog_t const *from, uint64_t seed,
                           size_t sz_max, td_weights_t const *weights, td_prog_t *to);

enum { TD_MUTATE_CNT_MAX = 4 }; /* mutations of one td_mutate */

/* What td_mutate did. */
typedef struct {
    td_mutator_t done[TD_MUTATE_CNT_MAX];
    uint32_t     cnt;
    bool         fresh; /* nothing allowed came of it: a generated program instead */
} td_mutate_trail_t;

/* td_mutate changes the program in data (any bytes: repaired first) in place, one
   to TD_MUTATE_CNT_MAX mutations, and gives its new size, at most sz_max; data
   has room for sz_max.  What weights switch off is not in the result
   (td_trim_allowed).  trail may be NULL.  0: sz_max is below TD_PROG_SZ_MIN or memory ran
   out; data is then as it was. */
size_t td_mutate(uint8_t *data, size_t sz, size_t sz_max, uint64_t seed,
                 td_weights_t const *weights, td_mutate_trail_t *trail);

#endif
