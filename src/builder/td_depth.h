/* td_depth.h: the reference's stack, counted.

   The reference recurses in Python, and where Python's limit ends it, it ends
   with a RecursionError.  This builder keeps count of the frames that the
   reference would have, construct by construct, and ends at the same value with
   the same exception.  The table was measured on CPython 3.11.7 (td_depth.c). */
#ifndef TD_BUILDER_DEPTH_H
#define TD_BUILDER_DEPTH_H

#include "builder/td_builder_private.h"

/* Frames (and C calls that count as such) that a construct adds while what is
   below it runs. */
typedef enum {
    TD_DEPTH_CALL, /* VariableBuilder.__call__ */
    TD_DEPTH_WRAP, /* VariableBuilder._wrap */
    TD_DEPTH_LIST, /* wrap_listlike and its comprehension */
    TD_DEPTH_DICT, /* the comprehension of the dict branch */
    TD_DEPTH_ATTR, /* wrap_slice_range and its comprehension */
    TD_DEPTH_CNT
} td_depth_t;

extern int const td_depth_cost[TD_DEPTH_CNT];

/* td_depth_over: the stack is too small for what construct does before anything
   below it is built; stops with RecursionError. */
bool td_depth_over(td_builder_t *b, td_depth_t construct, td_at_t const *at);

static inline bool
td_depth_enter(td_builder_t *b, td_depth_t construct, td_at_t const *at)
{
    b->frames += td_depth_cost[construct];
    return !td_depth_over(b, construct, at);
}

static inline void
td_depth_leave(td_builder_t *b, td_depth_t construct)
{
    b->frames -= td_depth_cost[construct];
}

#endif
