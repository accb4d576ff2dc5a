/* td_replay.h: puts the records of one program into another, changed on the way.

   Indices are absolute in memory, so what is inserted, changed or left out does
   not shift what the other records mean: maps lead from the old nodes and roots
   to the new ones.  A record that is no longer valid after a change becomes the
   nearest one that is (a node None, a source its base) or is left out. */
#ifndef TD_GEN_REPLAY_H
#define TD_GEN_REPLAY_H

#include "gen/td_gen_private.h"

typedef struct td_replay td_replay_t;

struct td_replay {
    td_gen_t        *gen;                 /* borrowed: the program that is made */
    td_prog_t const *from;                /* borrowed */
    uint32_t         node, step, setting; /* the next of each in from */
    uint32_t         in_frame;            /* roots of from's current frame so far */
    uint16_t        *nodes;               /* owned: old node -> new node */
    uint16_t        *roots;               /* owned: old root of the frame -> new one */
    uint16_t         edges[TD_EDGE_CNT_MAX + 1];
    td_arg_t         args[TD_ARG_CNT_MAX];
    /* Changes on the way; NULL or UINT32_MAX: none.  A hook gets the record with
       its indices already new (but for a root's source) and may change it;
       false leaves the record out.  Edges are in `edges` and may grow there. */
    uint32_t at_node, at_step;
    bool (*on_node)(td_replay_t *replay, td_node_t *node);
    bool (*on_step)(td_replay_t *replay, td_step_t *step);
    /* For the root at at_step: a source on top of its own, a name for its lowest. */
    td_src_t  on_top;   /* kind 0: none; base is filled in */
    td_text_t new_name; /* bytes NULL: none */
};

/* td_replay_init is false when memory ran out; td_replay_clear is needed either
   way. */
bool td_replay_init(td_replay_t *replay, td_gen_t *gen, td_prog_t const *from);
void td_replay_clear(td_replay_t *replay);

/* td_replay_record puts record r of from; records are replayed in their order,
   td_replay_skip passes one over.  Failures stick in gen->status. */
void td_replay_record(td_replay_t *replay, uint32_t r);
void td_replay_skip(td_replay_t *replay, uint32_t r);

#endif
