/* td_var.h: trackers, the result objects of a build.

   A *tracker* is a small node; its class is the schema's (the name of the
   reference's VariableTracker subclass).  What the class holds beyond that is its
   *payload*, which clones share: a clone is a node copied to another place.
   Where a node lies is who it is, as an object's address is in the reference.

   An *alias* is no tracker but says, in a place that holds trackers by value,
   that the one meant lives elsewhere. */
#ifndef TD_BUILDER_VAR_H
#define TD_BUILDER_VAR_H

#include <stdbool.h>
#include <stdint.h>

#include "builder/td_graph_in.h"
#include "builder/td_guard.h"
#include "observe/td_schema.h"

enum { TD_VAR_ALIAS = TD_CLASS_NONE };

/* A MutableLocalBase: its address is its identity. */
typedef struct {
    uint16_t    cls;    /* TD_CLASS_MutableLocal, MutableSideEffects, AttributeMutationExisting */
    td_src_id_t source; /* 0 for MutableLocal */
} td_mut_t;

typedef struct td_var td_var_t;

/* Payload of list-like trackers. */
typedef struct {
    td_var_t    *items; /* cnt of them */
    uint32_t     cnt;
    td_mut_t     made_with; /* mutable_local at construction; cls 0: None */
    td_fxnode_t *node;      /* proxy of a SizeVariable, or NULL */
    PyObject    *cls;       /* tuple_cls of NamedTupleVariable; else NULL (borrowed from the frame's
                            keep) */
    uint32_t     mark;      /* for whoever walks trackers: the last walk that was here */
} td_items_t;

/* Payload of dict trackers. */
typedef struct {
    td_var_t        *items;
    PyObject *const *keys; /* borrowed from the frame's keep, dict order */
    uint32_t         cnt;
    PyObject        *cls;       /* user_cls */
    td_var_t        *factory;   /* default_factory; NULL: not a DefaultDictVariable */
    td_mut_t         made_with; /* as above */
    uint32_t         mark;      /* as above */
} td_dict_t;

/* Payload of TensorVariable and of the classes below it. */
typedef struct {
    td_fxnode_t *node;
    td_fake_t   *fake;
    PyObject    *class_type;        /* borrowed from the tables or the frame's keep */
    PyObject    *specialized_value; /* borrowed from the frame's keep, or NULL for None */
    PyObject    *raw_value;    /* of UnspecializedPythonVariable: borrowed from the frame's keep */
    bool         is_unwrapped; /* of the same: need_unwrap is False */
    bool         is_whole;     /* its symbols, if any, were numbers when the tracker was made */
} td_tensor_var_t;

/* Payload of SymNodeVariable. */
typedef struct {
    td_fxnode_t *node;
    td_num_t     number;
    bool         is_one; /* the tracker stands for number == 1, a bool */
} td_sym_var_t;

/* Payload of UserFunctionVariable, and of a collective that another one stands in for. */
typedef struct {
    PyObject   *fn; /* borrowed from the frame's keep */
    bool        is_constant;
    PyObject   *orig_fn;     /* what fn stands in for; borrowed from the frame's keep */
    td_src_id_t orig_source; /* where that was */
} td_function_t;

/* Payload of GetAttrVariable. */
typedef struct {
    td_var_t   *obj;  /* in the arena */
    char const *name; /* static */
} td_attr_var_t;
/* Payload of NNModuleVariable. */
typedef struct {
    PyObject   *type; /* borrowed from the frame's keep */
    char const *key;  /* the name in nn_modules */
    size_t      key_sz;
} td_module_var_t;

typedef struct td_method td_method_t;

/* Payload of FunctoolsPartialVariable: the function, the arguments, the keywords' values. */
typedef struct {
    td_var_t  *all;
    PyObject **keys;     /* keyword_cnt names, borrowed from the frame's keep */
    PyObject  *original; /* borrowed from the frame's keep */
    uint32_t   arg_cnt, keyword_cnt;
    uint32_t   mark; /* as above */
} td_partial_t;

/* A function of the reference's own that a LambdaVariable holds: known by its name. */
typedef struct {
    char const *module, *qualname;
} td_named_t;
/* Payload of TensorWithTFOverrideVariable. */
typedef struct {
    td_var_t   *tensor;   /* the tracker of the tensor alone */
    td_src_id_t source;   /* its source */
    PyObject   *function; /* what __torch_function__ is bound from; from the frame's keep */
    PyObject   *cls;      /* as above */
} td_override_var_t;

struct td_var {
    uint16_t         cls;          /* td_class_t; TD_VAR_ALIAS */
    bool             is_odd_clone; /* cloned an odd number of times since its construction */
    td_src_id_t      source;
    td_guard_id_t    guard; /* its own */
    td_guard_id_t    added; /* its container's */
    td_more_t const *more;  /* those added later */
    td_mut_t        *mut;   /* mutable_local; NULL: None */
    union {
        PyObject          *value; /* trackers of one Python value; borrowed from the frame's keep */
        td_items_t        *list;
        td_dict_t         *dict;
        td_tensor_var_t   *tensor;
        td_sym_var_t      *sym;
        td_function_t     *function;
        td_partial_t      *partial;
        td_named_t const  *named;
        td_attr_var_t     *attr;
        td_module_var_t   *module;
        td_method_t       *method;
        td_override_var_t *override;
        td_var_t          *alias;
    } of;
};

/* Payload of UserMethodVariable. */
struct td_method {
    td_function_t function;
    td_var_t      self; /* obj */
    uint32_t      mark; /* as above */
};

/* td_var_children gives the trackers that a constructor sees among the attributes: all of
   them for recursively_contains; for the guards all but a default factory and what a
   method is bound to.  Borrowed; cnt 0: there are none. */
td_var_t *td_var_children(td_var_t const *var, uint32_t *cnt);

/* td_var_seen marks a payload with a number of the frame's; true when it had that mark
   before, or has nothing below it. */
bool td_var_seen(td_var_t const *var, uint32_t epoch);

/* td_var_target follows an alias. */
static inline td_var_t *
td_var_target(td_var_t *var)
{
    return var->cls == TD_VAR_ALIAS ? var->of.alias : var;
}

#endif
