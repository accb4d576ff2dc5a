/* td_gen_private.h: shared by the generator's own files. */
#ifndef TD_GEN_PRIVATE_H
#define TD_GEN_PRIVATE_H

#include "gen/td_gen.h"
#include "gen/td_shadow.h"
#include "graph/td_draft.h"

enum { TD_GEN_BINDING_MAX = 64, TD_GEN_ROOT_MAX = 64 };

/* A *binding*: an object that a frame had under a source. */
typedef struct {
    uint16_t source, node;
} td_gen_binding_t;

typedef struct {
    td_rng_t            rng;
    td_weights_t const *weights;
    td_draft_t          draft;
    td_prog_t          *prog;
    td_shadow_t         shadow;
    size_t              sz_max;
    uint8_t             uses[TD_NODE_CNT_MAX]; /* edges and roots at each node, up to 255 */
    td_gen_binding_t    bindings[TD_GEN_BINDING_MAX];
    uint32_t            binding_cnt;
    td_gen_binding_t frame[TD_GEN_ROOT_MAX]; /* roots of the current frame, of all entry points */
    uint32_t         frame_cnt;
    td_draft_mark_t  mark;      /* before the sources of the root being made */
    uint32_t         fresh_cnt; /* names made up so far */
    bool             cycles;    /* this program may have cycles */
    /* Scratch for the payload of the node being made. */
    char        text[TD_NAME_SZ_MAX + 1];
    int64_t     dims[TD_SIZE_CNT_MAX];
    td_status_t status; /* the first failure sticks; TD_LIMIT: the program is full */
} td_gen_t;

/* td_gen_new begins a program; NULL for want of memory.  td_gen_end frees gen and
   says how it went: TD_OK also for a program that got full. */
td_gen_t   *td_gen_new(td_prog_t *prog, uint64_t seed, size_t sz_max, td_weights_t const *weights);
td_status_t td_gen_end(td_gen_t *gen);

/* td_gen_follow shows the shadow what was put. */
void td_gen_follow(td_gen_t *gen);

/* td_gen_is_full says that no more should be begun. */
bool td_gen_is_full(td_gen_t const *gen);

/* All give a node's index; the program is full or memory ran out once gen->status
   is not TD_OK, the index is then 0. */
uint16_t td_gen_node(td_gen_t *gen);                     /* any kind that is switched on */
uint16_t td_gen_node_of(td_gen_t *gen, td_node_t *node); /* this one */
uint16_t td_gen_int(td_gen_t *gen, int64_t value); /* an int node of that value, found or made */
/* td_gen_drifted makes what node may be in a later frame under the same name: an int or a
   tensor's dim is another one.  -1: this node has nothing that could drift. */
int      td_gen_drifted(td_gen_t *gen, uint16_t node);
uint8_t  td_gen_kind(td_gen_t *gen);
void     td_gen_payload(td_gen_t *gen, td_node_t *node); /* draws one; its texts are in gen */
/* An earlier node to point at: mostly one that nothing points at yet. */
uint16_t td_gen_pick(td_gen_t *gen);
/* An earlier node that pred accepts; -1: none was found. */
int  td_gen_find(td_gen_t *gen, bool (*pred)(td_gen_t const *gen, uint16_t node));
void td_gen_use(td_gen_t *gen, uint16_t node);
bool td_gen_is_key(td_gen_t const *gen, uint16_t node); /* of a source */
bool td_gen_is_dict_key(td_gen_t const *gen, uint16_t node);

/* td_gen_config draws config values; td_gen_change one change of an object. */
void td_gen_config(td_gen_t *gen);
void td_gen_change(td_gen_t *gen);

/* td_gen_method_args draws operands that a function of methods.def (by index) can take;
   gives how many, at most 4. */
uint8_t td_gen_method_args(td_gen_t *gen, size_t method, td_arg_t *args);

/* td_gen_frame makes one frame with its roots. */
void td_gen_frame(td_gen_t *gen, bool is_first);

/* td_gen_enter makes one root in the current frame, td_gen_alias builds an object
   of the frame again, td_gen_remember keeps a root that somebody else put. */
void td_gen_enter(td_gen_t *gen);
void td_gen_alias(td_gen_t *gen);
void td_gen_remember(td_gen_t *gen, uint16_t source, uint16_t node, bool is_new);

/* td_gen_need_root makes a root if there is none, also in a program that is full
   (a draft keeps room for one). */
void td_gen_need_root(td_gen_t *gen);

/* td_gen_put_step puts a step and keeps gen's books. */
bool td_gen_put_step(td_gen_t *gen, td_step_t const *step);

#endif
