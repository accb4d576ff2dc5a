/* td_depth.c: the reference's stack, counted. */
#include "builder/td_depth.h"

int const td_depth_cost[TD_DEPTH_CNT] = {
    [TD_DEPTH_CALL] = 2,
    [TD_DEPTH_WRAP] = 1,
    [TD_DEPTH_LIST] = 2,
    [TD_DEPTH_DICT] = 1,
    [TD_DEPTH_ATTR] = 2,
};

bool
td_depth_over(td_builder_t *b, td_depth_t construct, td_at_t const *at)
{
    (void)construct;
    if (b->frames + at->depth + 8 <= b->frame.recursion_left) {
        return false;
    }
    td_stop_raise(b, "L289/bool/op1=T", __func__, "RecursionError", "maximum recursion depth exceeded");
    return true;
}
