/* td_guard.h: guards, and sets of them.

   A *guard* is a number of one td_guards_t; 0 stands for "no guard is made"
   (make_guards gave None).  A plain guard is equal to another of the same source,
   kind and volatility; one with a payload (a functools.partial in the reference)
   is equal to itself alone.

   A tracker's set of guards is never built: it holds its own guard, the one its
   container added, whatever was added later, and the sets of its children; they
   are enumerated when somebody looks (td_observe.c). */
#ifndef TD_BUILDER_GUARD_H
#define TD_BUILDER_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/td_alloc.h"
#include "builder/td_source.h"

typedef enum {
    TD_GUARD_NONE,
#define X(name) TD_GUARD_##name,
#include "builder/guards.def"
#undef X
    TD_GUARD_KIND_CNT
} td_guard_kind_t;

char const *td_guard_kind_name(td_guard_kind_t kind); /* "TYPE_MATCH"; "" for NONE */

typedef uint32_t td_guard_id_t; /* 0: no guard */

typedef struct {
    td_src_id_t source;
    uint8_t     kind; /* td_guard_kind_t */
    bool        is_volatile;
    bool        has_payload; /* TENSOR_MATCH and DUPLICATE_INPUT only */
    bool        is_strong;   /* TENSOR_MATCH: holds the tensor itself, not a weak reference */
    union {
        td_src_id_t source_b; /* payload of DUPLICATE_INPUT */
        PyObject   *tensor;   /* payload of TENSOR_MATCH: borrowed from the frame's weak or strong
                                 keep */
    };
} td_guard_t;

typedef struct {
    td_guard_t *guards; /* owned; index 0 is unused */
    uint32_t    cnt, cap;
} td_guards_t;

void td_guards_init(td_guards_t *guards);
void td_guards_clear(td_guards_t *guards);

bool td_guards_grow(td_guards_t *guards);

/* td_guard_add makes a guard; 0: no memory. */
static inline td_guard_id_t
td_guard_add(td_guards_t *guards, td_guard_t const *guard)
{
    if (td_room_refused() || (guards->cnt >= guards->cap && !td_guards_grow(guards))) {
        return 0;
    }
    guards->guards[guards->cnt] = *guard;
    return guards->cnt++;
}

/* Guards added to a tracker beyond the two that it has room for: newest first. */
typedef struct td_more td_more_t;
struct td_more {
    td_guard_id_t    guard;
    td_more_t const *next;
};

#endif
