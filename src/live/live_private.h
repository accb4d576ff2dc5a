/* live_private.h: shared by this room's files only.

   A *maker* is one materialisation under way.  A *maker function* gives one
   node's object; it may use the objects of the node's edges, which exist. */
#ifndef TD_LIVE_PRIVATE_H
#define TD_LIVE_PRIVATE_H

#include "live/td_live.h"
#include "py/td_state.h"

/* What hashing a node's object takes.  Tuples hash their members each time anew,
   so that shared nesting doubles the work per level: a key that would visit more
   than LIVE_HASH_COST_MAX objects is treated like one that has no hash. */
enum {
    LIVE_HASH_COST_MAX = 1024, /* also bounds the C recursion of a hash */
    LIVE_HASH_NONE     = LIVE_HASH_COST_MAX + 1,
};

typedef struct {
    uint16_t cost;  /* objects visited; LIVE_HASH_NONE: no hash, or too much of it */
    uint8_t  fixed; /* 1: follows from the value, so that the order of a set does too */
} live_hash_t;

typedef struct {
    td_prog_t const  *prog;
    td_state_t const *state;
    PyObject         *objects; /* borrowed from live: tuple being filled, by node */
    live_hash_t      *hash;    /* owned, by node */
    PyObject        **specs;   /* owned array of owned tuples by source; NULL until made */
    PyObject         *calls;   /* borrowed from live: user_calls */
    uint16_t *root_at;  /* owned: entry of the frame's list by root of the frame, dos counted */
    uint32_t  root_cnt; /* roots of the frame so far */
} live_maker_t;

typedef PyObject *(*live_make_t)(live_maker_t *maker, td_node_t const *node);

/* Maker functions: a new reference, or NULL with an exception. */
PyObject *live_make_none(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_bool(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_int(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_bigint(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_float(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_str(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_bytes(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_complex(live_maker_t *maker, td_node_t const *node);

PyObject *live_make_size(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_list(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_tuple(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_namedtuple(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_deque(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_range(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_slice(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_set(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_frozenset(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_tuple_iterator(live_maker_t *maker, td_node_t const *node);

PyObject *live_make_dict(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_ordered_dict(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_default_dict(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_odict_values(live_maker_t *maker, td_node_t const *node);

PyObject *live_make_tensor(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_parameter(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_ndarray(live_maker_t *maker, td_node_t const *node);

PyObject *live_make_choice(live_maker_t    *maker,
                           td_node_t const *node); /* looked up, or its factory's */
/* calls its choice with the objects of its edges */
PyObject *live_make_applied(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_object(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_partial(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_module(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_member(live_maker_t *maker, td_node_t const *node);
PyObject *live_make_keywords(live_maker_t *maker, td_node_t const *node);

/* live_attach lets an object whose class is watched (tandem.objects) note its
   calls: 0, or -1 with an exception. */
int live_attach(live_maker_t *maker, td_node_t const *node, PyObject *object);

/* live_edge gives the object of the idx-th edge: borrowed, idx < node->edge_cnt. */
static inline PyObject *
live_edge(live_maker_t const *maker, td_node_t const *node, size_t idx)
{
    return PyTuple_GET_ITEM(maker->objects, node->edge[idx]);
}

/* live_hash says what hashing a node's object (made or not) takes. */
live_hash_t live_hash(live_maker_t const *maker, td_node_t const *node);

/* live_forgive clears the pending exception and says 1 when it is one that a
   program may cause (any Exception but MemoryError), else leaves it: 0. */
int live_forgive(void);

/* live_choice gives a choice's object, live_dtype a torch.dtype, live_setting a
   config value: borrowed from a table that lives as long as the process. */
PyObject *live_choice(td_kind_t kind, size_t idx);
PyObject *live_dtype(size_t idx);
PyObject *live_setting(size_t key, size_t value);
int       live_choice_is_factory(td_kind_t kind, size_t idx);

/* live_spec gives the spec tuple of a source: borrowed from maker. */
PyObject *live_spec(live_maker_t *maker, uint16_t source);

/* live_root_spec gives the spec of a root step: a new reference.  live_root_value
   the object that goes with it: a new reference too. */
PyObject *live_root_spec(live_maker_t *maker, td_step_t const *step);
PyObject *live_root_value(live_maker_t *maker, td_step_t const *step);

/* live_spec_check says 0 when spec is one of the forms of a case, else -1 with a
   TypeError that says what is wrong with it. */
int live_spec_check(PyObject *spec);

/* live_spec_objects hands each object that a (checked) spec holds, keys and
   arguments, to visit, outermost first.  0, or -1 as soon as visit gives that. */
typedef int (*live_visit_t)(void *ctx, PyObject *object);
int live_spec_objects(PyObject *spec, live_visit_t visit, void *ctx);

/* live_do gives a callable that makes the change of a do step, live_do_now makes
   it at once: 0, or -1 with an exception (a change that the object does not
   allow is left out and no failure). */
PyObject *live_do(live_maker_t *maker, td_step_t const *step);
int       live_do_now(live_maker_t *maker, td_step_t const *step);

/* live_constraints gives the constraints of the frame that begins at steps[at]:
   a new list, or a new reference to None when it has none. */
PyObject *live_constraints(live_maker_t *maker, uint32_t at);

/* live_holds_more says whether the object of such a node holds objects of its own making. */
static inline int
live_holds_more(uint8_t kind)
{
    return kind == TD_KIND_NN_MODULE || kind == TD_KIND_MODULE || kind == TD_KIND_MEMBER ||
           kind == TD_KIND_BOUND_METHOD || kind == TD_KIND_OPTIMIZER ||
           kind == TD_KIND_OPTIMIZER_PART;
}

/* live_reach gives the objects of a program's nodes and behind them those that its modules
   hold beside: a new tuple. */
PyObject *live_reach(td_prog_t const *prog, PyObject *objects);

/* live_walk gives a new tuple of the objects that the frames of a case reach. */
PyObject *live_walk(PyObject *frames);

#endif
