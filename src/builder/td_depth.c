/* td_depth.c: the reference's stack, counted. */
#include "builder/td_depth.h"

#include "builder/td_plant.h"

/* Which call of a walk finds no room, for an excess of 1, 2, ...; the last entry
   stands for all beyond.  A walk ends in C calls (repr of the name, a look-up on
   an enum), which say what they were doing; the links themselves do or do not. */
typedef struct {
    char const *const *texts;
    int                cnt;
} ends_t;

#define PLAIN   "maximum recursion depth exceeded"
#define CALLING "maximum recursion depth exceeded while calling a Python object"
#define REPR    "maximum recursion depth exceeded while getting the repr of an object"
#define CHECK   "maximum recursion depth exceeded in __instancecheck__"

static char const *const of_where[] = {CALLING, PLAIN};
/* Three walks, of which an earlier one that fails as well is the one that raises. */
static char const *const of_guards[] = {REPR, CALLING, CALLING, PLAIN, CALLING, PLAIN};

static ends_t
ends(td_reach_t reach)
{
    return reach == TD_REACH_GUARDS ? (ends_t){of_guards, 6} : (ends_t){of_where, 2};
}

bool
td_depth_over(td_builder_t *b, td_reach_t reach, int excess)
{
    ends_t of = ends(reach);

    return td_stop_raise(b, "L289/bool/op1=T", __func__, "RecursionError",
                         of.texts[(excess < of.cnt ? excess : of.cnt) - 1]);
}

/* link_end says which call of name() of one link finds no room before the next link
   is asked, when only room more calls fit; NULL: none. */
static char const *
link_end(td_source_class_t cls, int room)
{
    switch (cls) {
    case TD_SOURCE_CLASS_GetItemSource: /* isinstance(index, Source), which asks an ABC */
    case TD_SOURCE_CLASS_ODictGetItemSource:
        return room >= 2 ? NULL : room == 1 ? CALLING : CHECK;
    case TD_SOURCE_CLASS_AttrSource: /* member.isidentifier() */
    case TD_SOURCE_CLASS_ParamBufferSource:
        return room >= 1 ? NULL : CALLING;
    default:
        break;
    }
    return room >= 0 ? NULL : PLAIN;
}

bool
td_depth_init_over(td_builder_t *b, td_at_t const *at, int excess)
{
    int                   room = TD_REACH_INIT - 6 - excess + at->depth; /* at the outermost link */
    char const           *text = NULL;
    td_src_block_t const *block = td_source_block(&b->frame.sources, at->id);

    if (at->where == TD_WHERE_CONSTANT) {
        room -= TD_REACH_INIT - TD_REACH_INIT_CONSTANT;
    }
    for (; text == NULL && block->base != 0; room--) {
        text  = link_end((td_source_class_t)block->cls, room);
        block = td_source_block(&b->frame.sources, block->base);
    }
    if (text == NULL) { /* the root: repr(name), a call and what it calls */
        text = room >= 1 ? REPR : CALLING;
    }
    return td_stop_raise(b, "L211/fn/entered", __func__, "RecursionError", text);
}

bool
td_depth_hash_over(td_builder_t *b, int excess)
{
    return td_stop_raise(b, "L1034/if/F", __func__, "RecursionError",
                         excess % 2 == 1 ? CALLING : PLAIN);
}

bool
td_hash_source(td_builder_t *b, td_at_t const *at, char const *arm)
{
    return td_depth_hash(b, at->depth) &&
           (td_source_is_hashable(&b->frame.sources, at->id) || TD_PLANT(SLICE_AS_KEY) ||
            td_stop_raise(b, arm, __func__, "TypeError", "unhashable type: 'slice'"));
}
