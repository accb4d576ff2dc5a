/* td_limits.h: every bound of the project, each with its reason. */
#ifndef TD_BASE_LIMITS_H
#define TD_BASE_LIMITS_H

#include <stdint.h>

enum {
    TD_NODE_CNT_MAX   = 32767, /* nodes in one program; an index fits in 15 bits on the wire */
    TD_EDGE_CNT_MAX   = 1024,  /* edges of one node; longer containers teach nothing new */
    TD_SOURCE_CNT_MAX = 4096,  /* source nodes in one program */
    TD_SOURCE_DEPTH_MAX = 32,  /* bases below a source; the reference's name() recurses */
    TD_STEP_CNT_MAX   = 4096,  /* frames, roots and do steps in one program */
    TD_FRAME_CNT_MAX  = 64,    /* frames of one program; automatic dynamic settles within 3 */
    TD_INPUT_SZ_MAX   = 65536, /* bytes of one binary program; our -max_len */
    TD_NAME_SZ_MAX    = 255,   /* bytes of one name or string payload */
    TD_ARG_CNT_MAX    = 8,     /* arguments of one root; more than any listed function takes */
    TD_SIZE_CNT_MAX   = 16,    /* ints of one torch.Size object */
    TD_DIM_CNT_MAX    = 6,     /* dims of one tensor */
    TD_DIM_SIZE_MAX   = 64,    /* size of one dim: keeps a tensor below 64^6 only with the next */
    /* Nesting of one observed value: a chain of TD_SOURCE_CNT_MAX sources and a tree of
       trackers fit, and recursion over it stays within 2 MB of stack. */
    TD_VALUE_DEPTH_MAX = 8192,
    TD_NUMEL_MAX      = 65536, /* elements of one tensor's storage: making it stays cheap */
};

_Static_assert(TD_NODE_CNT_MAX <= 0x7FFF, "a node's index fits in 15 bits on the wire");
_Static_assert(TD_SOURCE_CNT_MAX <= 0x7FFF, "a source's index fits in 15 bits on the wire");

#endif
