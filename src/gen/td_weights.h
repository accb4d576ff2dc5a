/* td_weights.h: what a campaign makes programs of, and how much of each.

   *Weights* say how often the generator and the mutator choose each kind,
   source, entry point, change and config value; 0 is never.  A *swarm* is a draw
   of weights: some things are left out, the rest become very unequal, because a
   uniform choice keeps making the same sort of program. */
#ifndef TD_GEN_WEIGHTS_H
#define TD_GEN_WEIGHTS_H

#include "base/td_rng.h"
#include "graph/td_graph.h"

enum {
    TD_WEIGHTS_KIND_CNT   = 128,
    TD_WEIGHTS_SOURCE_CNT = 32,
    TD_WEIGHTS_ENTRY_CNT  = 16,
    TD_WEIGHTS_DO_CNT     = 48,
    TD_WEIGHTS_CONFIG_CNT = 32,
    TD_WEIGHTS_VALUE_CNT  = 4, /* values of one config key */
};

/* What a program may hold at all. */
typedef struct {
    bool     kind[TD_WEIGHTS_KIND_CNT];
    bool     source[TD_WEIGHTS_SOURCE_CNT];
    bool     entry[TD_WEIGHTS_ENTRY_CNT];
    bool     change[TD_WEIGHTS_DO_CNT];
    bool     config[TD_WEIGHTS_CONFIG_CNT][TD_WEIGHTS_VALUE_CNT];
    uint64_t choice_gone[TD_WEIGHTS_KIND_CNT]; /* bit i: choice i of the kind may not be */
    bool
        plain_keys; /* keys of dicts and sources are literals, enum members or tuples of literals */
} td_weights_may_t;

typedef struct {
    uint32_t kind[TD_WEIGHTS_KIND_CNT];                           /* by td_kind_t */
    uint32_t source[TD_WEIGHTS_SOURCE_CNT];                       /* by td_source_kind_t */
    uint32_t entry[TD_WEIGHTS_ENTRY_CNT];                         /* by td_entry_t */
    uint32_t change[TD_WEIGHTS_DO_CNT];                           /* by td_do_t */
    uint32_t config[TD_WEIGHTS_CONFIG_CNT][TD_WEIGHTS_VALUE_CNT]; /* by key and value */
    /* In percent of programs or of choices. */
    unsigned config_percent; /* a key is set */
    unsigned export_percent; /* export mode, with constraints */
    unsigned frames_percent; /* a program has more than one frame */
    unsigned change_percent; /* objects change between two frames */
    unsigned share_percent;  /* an edge goes to a node that has one already */
    unsigned alias_percent;  /* a root's object was a root under another source */
    unsigned odd_percent;    /* a source or a key is not what a real frame has */
    unsigned drift_percent;  /* what would become dynamic is let through: an int or a size that
                                    is another one under the same name; 0: never */
    td_weights_may_t may;    /* what is 0 here only because a swarm left it out may be in a program
                                that is changed */
} td_weights_t;

void td_weights_init(td_weights_t *weights); /* everything, realistically mixed */

/* td_weights_only keeps to what list names: words with commas or blanks between,
   each a family, kind, source, config name, entry point or change; families and
   kinds win where a word is both ("kind:list" and "source:type" say which).  Of
   each sort that is not named at all everything stays; kinds that are left out
   are never made, but for None where a kind needs something to point at.
   A word behind a '-' is taken away instead, also a single choice of a kind:
   "-tuple", "-builtin.intern".  Three more words: "static" keeps ints and sizes
   from becoming dynamic (drift_percent 0, no dynamic marks), "plainkeys" keeps
   the keys of dicts and of sources plain, "export" allows export mode, which a
   list without it switches off.  TD_REJECT with one line in why for an unknown
   word or when no kind is left. */
td_status_t td_weights_only(td_weights_t *weights, char const *list, char why[200]);

/* td_weights_choice draws a choice of a CHOICE kind. */
size_t td_weights_choice(td_weights_t const *weights, td_rng_t *rng, uint8_t kind);

/* td_weights_plain_key says whether a node is what "plainkeys" allows as a key. */
bool td_weights_plain_key(td_prog_t const *prog, uint16_t node);

/* td_weights_swarm draws a swarm from weights: what is 0 stays 0. */
void td_weights_swarm(td_weights_t const *weights, uint64_t seed, td_weights_t *swarm);

/* td_weights_text writes what is switched on, with its weight, as one line of
   JSON (the caller frees it with td_free; NULL for want of memory). */
char *td_weights_text(td_weights_t const *weights);

#endif
