/* td_graph_in.h: the graph that a build writes: inputs, fake tensors, and what
   they are called.

   A *node* is an fx node: a placeholder (a graph input) or a get_attr.  A *fake*
   is what the reference's FakeTensor knows, as a record.  A *number* is an int or
   an expression over the frame's symbols. */
#ifndef TD_BUILDER_GRAPH_IN_H
#define TD_BUILDER_GRAPH_IN_H

#include <stdbool.h>
#include <stdint.h>

#include "builder/td_source.h"

/* A product of a number and of symbols, which a replacement may turn into others. */
typedef struct {
    int64_t   coef;
    uint32_t *factors; /* indices of symbols, in the arena, one for each power */
    uint32_t  cnt;
} td_product_t;

/* A number that shapes are made of. */
typedef struct {
    int64_t      hint;
    td_product_t product; /* without factors: the plain int hint */
    bool         no_hint; /* nobody knows the number: hint is no part of it */
    char const  *expr;    /* of an operator's result: the text of an expression; else NULL */
    char const  *type;    /* of such: its class */
    PyObject    *known;   /* of such: a hint of another type than int, from the keep; or NULL */
} td_num_t;

/* How a dim of a tensor becomes a number; see td_symbols.h. */
typedef enum { TD_DIM_STATIC, TD_DIM_DUCK, TD_DIM_DYNAMIC } td_dim_t;

/* What the user said about a dim: nothing, that it is dynamic (RelaxedUnspecConstraint),
   that it has been seen to change (the same with warn_only), or that it is of a range of an
   exported program (StrictMinMaxConstraint). */
typedef enum {
    TD_CONSTRAINT_NONE,
    TD_CONSTRAINT_MARKED,
    TD_CONSTRAINT_SEEN,
    TD_CONSTRAINT_STRICT
} td_constraint_t;

typedef struct {
    int64_t   lower, upper;
    bool      is_endless; /* upper is no number */
    PyObject *debug_name; /* borrowed from the frame's keep; NULL: None */
} td_range_t;

/* The dims of one tensor, in the arena; cnt 0: each is static, without constraint. */
typedef struct {
    uint8_t    *dims;        /* td_dim_t */
    uint8_t    *constraints; /* td_constraint_t */
    td_range_t *ranges;      /* of the dims that are TD_CONSTRAINT_STRICT; NULL: none is */
    uint32_t    cnt;
    td_num_t   *sizes; /* what the tensor's size() said; NULL: nobody asked yet */
} td_dims_t;

typedef struct td_fake td_fake_t;
struct td_fake {
    PyObject *dtype, *device, *layout; /* borrowed: dtype and layout are immortal, device from
                                          the frame's keep */
    PyObject *real;            /* borrowed, weak: the tensor it stands for, for identity only */
    td_num_t *sizes, *strides; /* ndim each; strides NULL for sparse layouts */
    td_num_t  offset;
    uint32_t  ndim;
    uint32_t  number; /* order of creation in the frame */
    bool      requires_grad, is_leaf, is_param, is_sparse, is_coalesced;
    bool      is_foreign;  /* of a mode that is not the frame's */
    bool      has_symbols; /* in sizes, strides or offset */
    bool      is_copy;     /* no fake but a real copy of a tensor */
    bool      is_kept;     /* of such: it is no copy but what an operator gave */
    bool      is_clone;    /* of a copy: it can't be laid out like its tensor, and is dense */
    PyObject *copy_class;  /* of a copy or wrapper: its class, from the keep; NULL: Tensor */
    bool      is_wrapper;  /* it wraps other fakes, which are attributes of it */
    uint32_t  part_cnt;
    struct {
        char const *name;
        td_fake_t  *fake;
    } * parts;
    PyObject  *marks; /* of a copy: its own set of dynamic dims, from the keep, or NULL */
    td_fake_t *base;  /* the view base's fake, or NULL */
    td_fake_t *grad;  /* .grad's fake, or NULL */
};

/* Whether a graph argument has its example still. */
typedef enum { TD_ARG_HELD, TD_ARG_DEAD, TD_ARG_ERASED } td_arg_state_t;

typedef struct {
    td_src_id_t     source;
    uint8_t         state;   /* td_arg_state_t */
    PyObject       *example; /* borrowed: the tensor behind a TensorWeakRef */
    td_fake_t      *fake;    /* NULL: None */
    td_num_t const *number;  /* the symbolic int that is the example instead; or NULL */
    bool            is_unspecialized;
    bool            is_tensor;
    bool            is_strong; /* the example is kept as example_strong_ref too */
} td_grapharg_t;

typedef enum {
    TD_OP_PLACEHOLDER,
    TD_OP_GET_ATTR,
    TD_OP_CALL_FUNCTION,
    TD_OP_CALL_METHOD
} td_fxop_t;

typedef struct td_fxnode td_fxnode_t;
struct td_fxnode {
    uint8_t         op;   /* td_fxop_t */
    char const     *name; /* in the arena */
    char const     *target;
    size_t          name_sz, target_sz;
    uint32_t        timestamp;   /* of the frame, when the node was made */
    PyObject       *type;        /* borrowed class, or NULL for None */
    td_grapharg_t  *grapharg;    /* NULL: no such meta key */
    td_fake_t      *example;     /* NULL: no such meta key, or number */
    td_num_t const *number;      /* the example of a symbolic int, or NULL */
    PyObject       *value;       /* borrowed from the frame's keep: any other example, or NULL */
    PyObject       *callee;      /* as above: what a call_function node calls; else NULL */
    PyObject       *args;        /* as above: a tuple (td_value.h), NULL: () */
    PyObject       *tensor_dict; /* borrowed dict from the frame's keep; NULL: no such meta key */
    td_fxnode_t    *next, *prev; /* in graph order */
};

typedef struct {
    td_fake_t        *fake;        /* NULL: a symbolic int */
    td_num_t const   *number;      /* that int */
    uint8_t const    *constraints; /* td_constraint_t of each dim; NULL: none has one */
    td_range_t const *ranges;      /* of the strict ones; NULL: there is none */
    td_src_id_t       source;
} td_tracked_fake_t;

#endif
