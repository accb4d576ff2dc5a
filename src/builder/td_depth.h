/* td_depth.h: the reference's stack, counted.

   The reference recurses in Python, and where Python's limit ends it, it ends with
   a RecursionError.  This builder keeps count of the frames (and of the C calls
   that count as such) that the reference would have, and ends at the same value,
   with the same message, with the same things left behind.

   What reaches deepest at a level are the walks along the chain of the value's
   source: guard_source(), name() and hash() call themselves once a link.  Each
   walk is a *reach*; the numbers were measured on CPython 3.11.7 with torch 2.1.2
   by lowering the limit one by one, at 60 levels of lists (td_depth.c has them). */
#ifndef TD_BUILDER_DEPTH_H
#define TD_BUILDER_DEPTH_H

#include "builder/td_builder_private.h"

/* Frames that a construct keeps while what is below it runs. */
enum {
    TD_DEPTH_CALL = 2, /* VariableBuilder(...)(value): the call of the instance, and __call__ */
    TD_DEPTH_WRAP = 1, /* _wrap */
    TD_DEPTH_FUNC = 1, /* wrap_literal, wrap_listlike, ... */
    TD_DEPTH_COMP = 1, /* a comprehension */
};

/* How far a walk reaches beyond the frames that are there, for a source without
   links; each link adds one, or two for a hash. */
typedef enum {
    TD_REACH_WHERE    = 5,  /* source.guard_source() */
    TD_REACH_WHERE_IN = 6,  /* the same in a function of its own */
    TD_REACH_GUARDS   = 10, /* make_guards(...): guard_source() twice, then hash(Guard) */
} td_reach_t;

enum { TD_REACH_INIT = 8, TD_REACH_INIT_CONSTANT = 7 }; /* VariableBuilder(tx, source): its name */
enum { TD_REACH_HASH = 5 };                             /* a source as key of a dict: two a link */

/* td_depth_over stops with the RecursionError of a walk that reaches by excess too
   far.  Gives false. */
bool td_depth_over(td_builder_t *b, td_reach_t reach, int excess);

/* td_depth_reach: false (stopped) when the walk does not fit. */
static inline bool
td_depth_reach(td_builder_t *b, td_reach_t reach, int links)
{
    int excess = b->frames + links + (int)reach - b->frame.recursion_left;

    return excess <= 0 || td_depth_over(b, reach, excess);
}

/* td_depth_init: the same for a builder that is made. */
bool td_depth_init_over(td_builder_t *b, td_at_t const *at, int excess);

static inline bool
td_depth_init(td_builder_t *b, td_at_t const *at)
{
    int reach  = at->where == TD_WHERE_CONSTANT ? TD_REACH_INIT_CONSTANT : TD_REACH_INIT;
    int excess = b->frames + at->depth + reach - b->frame.recursion_left;

    return excess <= 0 || td_depth_init_over(b, at, excess);
}

/* td_depth_hash: the same for a source that becomes a key. */
bool td_depth_hash_over(td_builder_t *b, int excess);

static inline bool
td_depth_hash(td_builder_t *b, int links)
{
    int excess = b->frames + 2 * links + TD_REACH_HASH - b->frame.recursion_left;

    return excess <= 0 || td_depth_hash_over(b, excess);
}

/* td_hash_source: what happens where the reference hashes a source: the stack may end,
   and a slice in an index has no hash.  arm: where. */
bool td_hash_source(td_builder_t *b, td_at_t const *at, char const *arm);

#endif
