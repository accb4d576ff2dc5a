/* td_shadow.h: what a program's objects hold while it is being made, and which
   names its frames have seen.

   The generator asks it two things: what is in a container by now (changes were
   made since), and whether a root would *drift*: build an int or a tensor size
   that the frame state knows under the same name with another value, which makes
   it dynamic under automatic dynamic shapes.  It errs on the side of saying so. */
#ifndef TD_GEN_SHADOW_H
#define TD_GEN_SHADOW_H

#include "graph/td_graph.h"

typedef struct {
    uint16_t *items; /* node indices; of dicts key, value, key, value... without the factory */
    uint32_t  cnt, cap;
    bool      unknown; /* changed in a way that is not followed */
} td_shadow_items_t;

typedef struct {
    td_prog_t const   *prog;  /* borrowed: the program so far */
    td_arena_t         arena; /* owns everything below */
    td_shadow_items_t *items;
    uint32_t           node_cnt, node_cap;
    uint64_t          *names;  /* of each source: a hash of what its name() spells */
    bool              *locals; /* of each source: ints under it may be unspecialized */
    uint32_t           source_cnt, source_cap;
    uint64_t          *keys, *values;
    uint32_t           seen_cnt, seen_cap; /* the frame state: name -> value */
    /* Config values that decide. */
    bool specialize_int, assume_static, automatic, unbacked_ints;
    bool failed; /* memory ran out: sticky; what is asked then has no meaning, but is safe */
} td_shadow_t;

void td_shadow_init(td_shadow_t     *shadow,
                    td_prog_t const *prog); /* with the default config values */
void td_shadow_clear(td_shadow_t *shadow);

/* td_shadow_follow takes in what was put into the program since it last looked:
   nodes, sources, settings; changes one by one through td_shadow_change. */
void td_shadow_follow(td_shadow_t *shadow);
void td_shadow_forget(td_shadow_t *shadow); /* sources that the draft took back */
void td_shadow_change(td_shadow_t *shadow, td_step_t const *step);

/* What a node holds by now. */
td_shadow_items_t const *td_shadow_items(td_shadow_t const *shadow, uint16_t node);

/* Whether node holds target, at any depth (or is it). */
bool td_shadow_reaches(td_shadow_t const *shadow, uint16_t node, uint16_t target);

/* td_shadow_drifts says whether building node from source would make something
   dynamic; when not, its names are remembered. */
bool td_shadow_drifts(td_shadow_t *shadow, uint16_t source, uint16_t node);

/* td_shadow_same_key says whether two nodes are surely the same dict key. */
bool td_shadow_same_key(td_shadow_t const *shadow, uint16_t left, uint16_t right);

#endif
