/* td_leaf.c: see td_leaf.h. */
#include "builder/td_leaf.h"

/* Faults that tests plant lie in the long way, each in one place. */
#ifdef TD_PLANTED
enum { IS_OPEN = 0 };
#else
enum { IS_OPEN = 1 };
#endif

bool
td_leaves_of(td_builder_t *b, td_at_t const *first, td_guard_id_t added)
{
    td_config_t const *cfg    = &b->cfg;
    td_frame_t const  *frame  = &b->frame;
    int                frames = b->frames + TD_DEPTH_CALL + TD_DEPTH_WRAP + 2 * TD_DEPTH_FUNC;

    if (first->where != TD_WHERE_LOCAL || !first->fresh || frame->text_mode || added == 0 ||
        !IS_OPEN) {
        return false;
    }
    /* The walk that reaches furthest. */
    if (frames + first->depth + (int)TD_REACH_GUARDS > frame->recursion_left) {
        return false;
    }
    return cfg->specialize_int || (!cfg->force_unspec_int && cfg->assume_static_by_default);
}
