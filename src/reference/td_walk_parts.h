/* td_walk_parts.h: what the files of td_walk share among themselves. */
#ifndef TD_REFERENCE_WALK_PARTS_H
#define TD_REFERENCE_WALK_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "observe/td_forms.h"
#include "observe/td_schema.h"
#include "py/td_canon.h"
#include "reference/td_walk.h"

/* ---- memory from object to value, good for one run ------------------------ */

typedef struct {
    PyObject const *key; /* borrowed; NULL: free */
    td_val_t        val;
} walk_memo_entry_t;

typedef struct {
    walk_memo_entry_t *entries; /* owned; NULL before the first use */
    size_t             mask;    /* size - 1 */
    size_t             cnt;
} walk_memo_t;

td_val_t walk_memo_find(walk_memo_t const *memo, PyObject const *key); /* TD_VAL_NONE: not there */
/* walk_memo_put forgets silently when memory runs out: it is only a memory. */
void walk_memo_put(walk_memo_t *memo, PyObject const *key, td_val_t val);
void walk_memo_reset(walk_memo_t *memo);
void walk_memo_clear(walk_memo_t *memo);

/* ---- classes --------------------------------------------------------------- */

enum {
    WALK_SLOT_MAX   = 64,  /* rows of one class with its parents'; the largest has 36 */
    WALK_LOOKUP_CNT = 256, /* slots of the table from attribute name to row */
};

typedef struct {
    PyObject              *name; /* owned, interned */
    td_field_t             field;
    td_field_info_t const *info;
} walk_slot_t;

typedef struct {
    td_class_t  id;
    size_t      slot_cnt;
    walk_slot_t slots[WALK_SLOT_MAX];         /* in schema order */
    PyObject   *lookup_keys[WALK_LOOKUP_CNT]; /* owned */
    uint8_t     lookup_slots[WALK_LOOKUP_CNT];
    size_t      lookup_used;
} walk_class_t;

/* A type of the reference's world and what its instances are read as. */
typedef struct walk_type walk_type_t;
struct walk_type {
    PyTypeObject     *type;   /* owned */
    walk_class_t     *rows;   /* owned by the walk */
    td_source_class_t source; /* TD_SOURCE_CLASS_CNT: instances are no sources */
    walk_type_t      *next;
};

/* ---- the walk --------------------------------------------------------------- */

enum { WALK_TYPE_BUCKET_CNT = 256 };

struct td_walk {
#define TD_WALK_TYPE(field, module, attr) PyTypeObject *field;   /* owned */
#define TD_WALK_NAME(text)                PyObject *name_##text; /* owned */
#include "reference/walk.def"
#undef TD_WALK_TYPE
#undef TD_WALK_NAME
    PyObject     *name_torch_dot;              /* owned: "torch." */
    PyTypeObject *tensor_base;                 /* borrowed: the C type below torch.Tensor */
    walk_class_t *classes[TD_CLASS_CNT];       /* owned, made when first asked for */
    walk_type_t  *types[WALK_TYPE_BUCKET_CNT]; /* owned */

    /* good for one run */
    td_obs_t              *obs;   /* borrowed */
    td_walk_frame_t const *frame; /* borrowed */
    PyObject              *graph; /* borrowed: the root graph */
    td_canon_t             canon;
    walk_memo_t            sources, guards, exprs;
    size_t                 tracker_cnt;
    td_status_t            status;
    char                   why[256];
};

/* walk_reject ends the run: the first reason stays.  Gives TD_VAL_NONE. */
td_val_t walk_reject(td_walk_t *walk, char const *format, ...)
    __attribute__((format(printf, 2, 3)));

/* walk_class: the rows of a class, made when first asked for; NULL: no memory. */
walk_class_t *walk_class(td_walk_t *walk, td_class_t id);

/* walk_type: how instances of type are read, NULL when the schema does not know
   it (no rejection yet).  Only for types of the reference's world: each is kept. */
walk_type_t *walk_type(td_walk_t *walk, PyTypeObject *type);

/* walk_collect sorts the items of attributes by the rows of a class: values has
   one entry for each slot, borrowed or NULL.  false: one is in no row. */
bool walk_collect(td_walk_t *walk, walk_class_t *rows, PyObject *attributes, PyObject **values);

/* walk_is_unused: false, with a rejection, when slot says that value is empty (or not
   there, NULL) and it is not. */
bool walk_is_unused(td_walk_t *walk, walk_slot_t const *slot, PyObject *value);

/* walk_record reads attributes (an instance dict or a dict of meta keys) as a
   record of class id. */
td_val_t walk_record(td_walk_t *walk, td_class_t id, PyObject *attributes);

/* walk_instance is walk_record for the instance dict of an object. */
td_val_t walk_instance(td_walk_t *walk, td_class_t id, PyObject *object);

/* walk_dict: the instance dict of object, borrowed; rejects when it has none. */
PyObject *walk_dict(td_walk_t *walk, PyObject *object);

/* walk_get: an attribute of the instance dict, borrowed, NULL if not there. */
PyObject *walk_get(td_walk_t *walk, PyObject *object, PyObject *name);

/* walk_must: the same, but rejects when it is not there. */
PyObject *walk_must(td_walk_t *walk, PyObject *object, PyObject *name);

/* walk_empty: None, False, 0, "" or a container with nothing in it. */
bool walk_empty(td_walk_t *walk, PyObject *value);

/* ---- forms (td_form_t) ------------------------------------------------------ */

td_val_t walk_form(td_walk_t *walk, walk_slot_t const *slot, PyObject *value);
td_val_t walk_value(td_walk_t *walk, PyObject *value);
td_val_t walk_source(td_walk_t *walk, PyObject *source);
td_val_t walk_sources(td_walk_t *walk, PyObject *list);
td_val_t walk_guards(td_walk_t *walk, PyObject *set);
td_val_t walk_mutable_local(td_walk_t *walk, PyObject *local);
td_val_t walk_contains(td_walk_t *walk, PyObject *set);
td_val_t walk_tracker(td_walk_t *walk, PyObject *tracker);
td_val_t walk_trackers(td_walk_t *walk, PyObject *sequence);
td_val_t walk_tracker_dict(td_walk_t *walk, PyObject *dict);
td_val_t walk_proxy(td_walk_t *walk, PyObject *proxy);
td_val_t walk_node(td_walk_t *walk, PyObject *node); /* ["node", ordinal] */
td_val_t walk_sym(td_walk_t *walk, PyObject *number);
td_val_t walk_shape(td_walk_t *walk, PyObject *shape);
td_val_t walk_formats(td_walk_t *walk, PyObject *formats);
td_val_t walk_name(td_walk_t *walk, PyObject *name); /* a str that may hold ids */
td_val_t walk_expr(td_walk_t *walk, PyObject *expr); /* sympy or number, as text */
td_val_t walk_tensor(td_walk_t *walk, PyObject *tensor);
td_val_t walk_function(td_walk_t *walk, PyObject *function);
bool     walk_is_sym(td_walk_t const *walk, PyObject *value);
bool     walk_is_tensor(td_walk_t const *walk, PyObject *value);

/* walk_special: td_canon_special_t of the walk. */
td_val_t walk_special(void *ctx, PyObject *value);

/* walk_write: values of fields with form WRITER (td_walk_context.c). */
td_val_t walk_write(td_walk_t *walk, walk_slot_t const *slot, PyObject *value);

/* walk_roots: the list of Root records. */
td_val_t walk_roots(td_walk_t *walk);

/* walk_graph_nodes takes the ordinals of all nodes of graph, in graph order. */
void     walk_graph_nodes(td_walk_t *walk, PyObject *graph);
td_val_t walk_graph(td_walk_t *walk, PyObject *graph);

/* ---- lists that are made item by item --------------------------------------- */

enum { WALK_ITEM_LOCAL_MAX = 24 };

typedef struct {
    td_walk_t *walk;
    td_val_t   local[WALK_ITEM_LOCAL_MAX];
    td_val_t  *items; /* local, or owned */
    size_t     cnt, cap;
} walk_list_t;

void     walk_list_init(walk_list_t *list, td_walk_t *walk);
void     walk_list_add(walk_list_t *list, td_val_t val);
td_val_t walk_list_end(walk_list_t *list); /* a list; frees what it used */
td_val_t walk_list_end_bag(walk_list_t *list);

/* walk_each calls each with every pair of a dict (any subclass, in the order of
   the plain dict) and gives the list of results. */
typedef td_val_t (*walk_pair_t)(td_walk_t *walk, PyObject *key, PyObject *value);
td_val_t walk_each(td_walk_t *walk, PyObject *dict, walk_pair_t each);

#endif
