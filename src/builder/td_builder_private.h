/* td_builder_private.h: what the files of this room share, and nobody else sees.

   A *program* (td_builder_t) has configuration values, tables and a frame state;
   a *frame* (td_frame_t) is everything that one output graph holds.  A *wrap*
   function makes the tracker of one value: it fills *out and gives true, or
   *stops* the root: td_stop_t says with which outcome. */
#ifndef TD_BUILDER_PRIVATE_H
#define TD_BUILDER_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/td_alloc.h"
#include "base/td_arena.h"
#include "builder/td_abi.h"
#include "builder/td_buf.h"
#include "builder/td_fxname.h"
#include "builder/td_map.h"
#include "builder/td_plant.h"
#include "builder/td_switches.h"
#include "builder/td_symbols.h"
#include "builder/td_tables.h"
#include "builder/td_var.h"
#include "py/td_changes.h"
#include "py/td_py.h"

/* ---- outcomes ------------------------------------------------------------ */

typedef enum {
    TD_STOP_NONE,
    TD_STOP_EXCEPTION,   /* what the reference raises here */
    TD_STOP_UNSUPPORTED, /* an arm that this builder does not have */
    TD_STOP_POISONED,    /* recursion-band */
    TD_STOP_FAILED       /* this builder broke: no memory, or a Python exception of its own */
} td_stop_kind_t;

typedef struct {
    td_stop_kind_t kind;
    char const    *arm;      /* the reference's arm that decided; static */
    char const    *function; /* static */
    char const    *why;      /* UNSUPPORTED, POISONED: one line; EXCEPTION: class name; in the
                                arena or static */
    char const    *message;  /* EXCEPTION: message, UTF-8 in the arena or static */
    size_t         message_sz;
    PyObject      *text;      /* EXCEPTION: the message as a str instead, from the frame's keep;
                                or NULL */
    char const    *key_error; /* EXCEPTION KeyError: the GuardSource member that is its argument;
                                 else NULL */
} td_stop_t;

/* ---- configuration ------------------------------------------------------- */

/* X(field, key in the config dict): truth values that this builder reads. */
#define TD_CONFIG_LIST(X)                                                   \
    X(specialize_int, "specialize_int")                                     \
    X(assume_static_by_default, "assume_static_by_default")                 \
    X(automatic_dynamic_shapes, "automatic_dynamic_shapes")                 \
    X(trace_numpy, "trace_numpy")                                           \
    X(allow_rnn, "allow_rnn")                                               \
    X(allow_ignore_mark_dynamic, "allow_ignore_mark_dynamic")               \
    X(static_nn_properties, "force_nn_module_property_static_shapes")       \
    X(static_parameters, "force_parameter_static_shapes")                   \
    X(skip_fsdp_guards, "skip_fsdp_guards")                                 \
    X(capture_scalar_outputs, "capture_scalar_outputs")                     \
    X(capture_dynamic_output_shape_ops, "capture_dynamic_output_shape_ops") \
    X(functionalize_rng, "functorch.functionalize_rng_ops")                 \
    X(force_unspec_int, "force_unspec_int_unbacked_size_like")

typedef struct {
#define X(field, key) bool field;
    TD_CONFIG_LIST(X)
#undef X
    PyObject *traceable_tensor_subclasses; /* borrowed from the config dict: a set of classes */
} td_config_t;

/* One str for each row of names.def. */
typedef struct {
#define X(field, text) PyObject *field; /* borrowed from the table of td_names_get */
#include "builder/names.def"
#undef X
} td_names_t;

/* td_names_get gives the names, interned at the first call and kept for good: programs
   are many, and none changes a name.  NULL: out of memory, no exception set. */
td_names_t const *td_names_get(void);

/* ---- frame state ---------------------------------------------------------- */

/* FrameStateSizeEntry: what was seen under one source name in all frames. */
typedef struct {
    char const *name;     /* malloc'ed; NULL: not spelled yet, see source */
    PyObject   *scalar;   /* owned int, or NULL for None */
    PyObject   *symbolic; /* owned: the sizes as they were, some of them symbolic; or NULL */
    int64_t    *size;     /* size_cnt dims, TD_DIM_NONE for None; NULL for None; in sizes */
    union {
        uint32_t    name_sz;
        td_src_id_t source; /* of the frame that made it, while name is NULL */
    };
    uint32_t size_cnt;
} td_state_entry_t;

#define TD_DIM_NONE INT64_MIN /* a dim of a frame state entry that is None */

typedef struct {
    td_state_entry_t *entries; /* owned, in order of insertion */
    uint32_t          cnt, cap;
    td_smap_t         by_name; /* the first indexed_cnt of them */
    uint32_t          indexed_cnt;
    td_arena_t        sizes; /* the dims of entries */
} td_frame_state_t;

/* ---- a frame --------------------------------------------------------------- */

typedef struct {
    PyObject *item;     /* borrowed from the keep */
    td_var_t *variable; /* in the arena */
} td_tracked_t;

typedef struct {
    td_src_id_t source;
    td_var_t   *variable;
    uint32_t    older; /* index of the input before it with this hash; TD_MAP_NONE: none */
} td_input_t;          /* of input_source_to_var */

typedef struct {
    PyObject  *tensor; /* borrowed */
    td_fake_t *fake;
} td_sizes_strides_t;

typedef struct {
    PyObject      *value; /* a number of numpy's, in keep */
    td_grapharg_t *arg;   /* whose example torch.tensor(value) is */
    uint32_t       row;   /* of sizes_strides, whose tensor it is too */
} td_unmade_t;            /* a tensor that nobody has asked for yet */

typedef struct {
    td_fxnode_t *node;
    td_fake_t   *copy;
    PyObject    *same; /* borrowed from the frame's keep: a fake tensor, which is not copied */
} td_real_value_t;

typedef struct {
    td_src_id_t source;
    uint32_t    cnt; /* stacks */
} td_user_stacks_t;

typedef struct {
    PyObject          *tensor;  /* borrowed */
    td_src_id_t const *sources; /* in the arena; NULL: the first alone */
    td_src_id_t        first;
    uint32_t           cnt;
} td_id_sources_t;

static inline td_src_id_t const *
td_id_sources(td_id_sources_t const *row)
{
    return row->sources == NULL ? &row->first : row->sources;
}

typedef struct {
    char const *key;
    size_t      key_sz;
    PyObject   *value; /* from the keep */
} td_module_t;         /* of nn_modules */

typedef struct {
    char const *name;
    size_t      name_sz;
    td_src_id_t source;
} td_param_name_t; /* of param_name_to_source */

typedef struct {
    PyObject *name;      /* str from the keep */
    PyObject *key;       /* the object behind the weak reference */
    bool      is_strong; /* the object itself is the global */
} td_global_t;           /* a global that the build installed */

typedef enum {
    TD_ROOT_TRACKER,
    TD_ROOT_EXCEPTION,
    TD_ROOT_DO,
    TD_ROOT_OTHER,
    TD_ROOT_VALUE
} td_root_kind_t;

typedef struct {
    uint8_t     kind;     /* td_root_kind_t */
    size_t      step_idx; /* among the steps of the frame */
    td_src_id_t source;   /* 0: none */
    td_var_t   *var;
    PyObject   *value;     /* VALUE: from the frame's keep (td_value.h); else NULL */
    char const *exception; /* class */
    char const *message;
    size_t      message_sz;
    PyObject   *text;
    char const *key_error; /* the GuardSource member that a KeyError was raised with, or NULL */
} td_root_t;

typedef struct {
    td_src_id_t source;
    char const *arm;
    char const *function;
} td_trail_t;

typedef struct {
    char const *name; /* of the source, in the arena */
    size_t      name_sz;
    td_var_t   *var; /* in the arena */
} td_unspec_t;       /* of unspec_variable_map */

/* A growable array; TD_ARRAY_PUSH gives false when memory ran out. */
#define TD_ARRAY(type)     \
    struct {               \
        type    *at;       \
        uint32_t cnt, cap; \
    }
bool td_array_grow(void **at, uint32_t *cap, size_t item_sz);
#define TD_ARRAY_PUSH(array, item)                                                                 \
    (!td_room_refused() && ((array).cnt < (array).cap ||                                           \
                            td_array_grow((void **)&(array).at, &(array).cap, sizeof *(array).at)) \
         ? ((array).at[(array).cnt++] = (item), true)                                              \
         : false)

typedef struct {
    td_arena_t   arena; /* nodes, payloads, texts */
    td_sources_t sources;
    td_guards_t  guards;
    TD_ARRAY(PyObject *) keep; /* owned references, given back at the end */
    TD_ARRAY(td_root_t) roots;
    TD_ARRAY(td_trail_t) trail;

    td_pmap_t tracked_by_id;        /* id(item) -> index into tracked */
    TD_ARRAY(td_tracked_t) tracked; /* SideEffects.id_to_variable */
    TD_ARRAY(PyObject *) keepalive; /* SideEffects.keepalive; borrowed from the keep */

    TD_ARRAY(td_guard_id_t)
    output_guards;               /* GuardsContext.dynamo_guards, equal ones may
                                                   repeat */
    TD_ARRAY(td_input_t) inputs; /* OutputGraph.input_source_to_var */
    uint32_t  inputs_indexed;    /* so many of them are in input_by_hash */
    td_pmap_t input_by_hash;     /* (hash + 1) * 16 -> index of the newest input that has it */
    TD_ARRAY(td_tracked_fake_t) tracked_fakes;
    TD_ARRAY(td_id_sources_t) id_sources;       /* tracked_fakes_id_to_source */
    TD_ARRAY(td_sizes_strides_t) sizes_strides; /* tensor_weakref_to_sizes_strides */
    TD_ARRAY(td_unmade_t) unmade;
    TD_ARRAY(td_real_value_t) real_values;  /* SubgraphTracer.real_value_cache */
    TD_ARRAY(td_user_stacks_t) user_stacks; /* source_to_user_stacks */
    TD_ARRAY(td_module_t) modules;
    TD_ARRAY(td_param_name_t) param_names;
    TD_ARRAY(td_global_t) globals; /* installed; cleanups has one hook for each */

    td_namespace_t names;       /* of the fx graph */
    td_smap_t      input_names; /* targets of placeholders */
    struct {
        td_buf_t name, target, free, snake;
    } texts; /* what names of inputs are made in; nothing is kept there */
    TD_ARRAY(td_fxnode_t *) input_nodes; /* placeholders in input_name_to_proxy's order */
    TD_ARRAY(td_fxnode_t *) node_order;  /* all nodes in order of creation */
    td_fxnode_t *first, *last;           /* graph order */
    td_fxnode_t *last_input;
    td_smap_t    module_names;
    td_pmap_t    module_by_value; /* -> index into modules */
    td_smap_t    param_index;     /* -> index into param_names */
    td_symbols_t symbols;
    TD_ARRAY(td_unspec_t) unspec;
    td_smap_t unspec_names;    /* -> index into unspec */
    td_pmap_t sizes_by_tensor; /* -> index into sizes_strides */
    td_pmap_t fake_by_tensor;  /* the fake mode's memo -> index into fakes */
    TD_ARRAY(td_fake_t *) fakes;

    td_smap_t root_names;   /* plain local and global names that roots used */
    PyObject *sys_dict;     /* borrowed: of the module sys, once it was asked for; or NULL */
    PyObject *checked_file; /* in keep: the str that skipfiles was asked about last, or NULL */
    bool      checked_skip; /* and what it said */
    bool      text_mode;    /* names may repeat: look them up by text */
    bool      user_allowed; /* has_user_defined_allowed_in_graph */

    PyObject     *empty;       /* in keep: the dict that stands for every empty one; or NULL */
    PyObject     *f_locals;    /* owned */
    PyObject     *f_globals;   /* owned */
    PyObject     *constraints; /* owned */
    int           recursion_left;
    bool          has_state;    /* the frame starts from a state record */
    uint32_t      timestamp;    /* of the output graph; somebody else's goes on between roots, */
    uint32_t      random_calls; /* and so do the random numbers that its translator drew, */
    bool          prev_other;   /* and the instruction under which it traces calls */
    uint32_t      root_trail;   /* index of the running root's first decision */
    uint32_t      epoch;        /* of marks on payloads */
    td_changes_t *changes; /* owned: how the program's objects looked when the frame was opened */
} td_frame_t;

/* What the ladder of rules is known to say of a type: bits of rows that refuse every
   object of it. */
typedef struct {
    PyTypeObject *type;    /* borrowed, for identity; NULL: free */
    unsigned      version; /* tp_version_tag: another one is another type, or this one changed */
    uint64_t      no[2];
} td_route_t;

enum { TD_ROUTE_CNT = 32 };

/* How tensors of one class are read (td_tensor_read.h): borrowed from the class, all or none. */
typedef struct {
    PyTypeObject *type; /* borrowed, for identity; NULL: not fetched */
    unsigned      version;
    PyObject     *shape, *dtype, *layout, *device, *requires_grad, *is_leaf, *grad, *base;
    PyObject     *stride, *storage_offset;
} td_reader_t;

/* The tables that each module has of its own: X(name of them, number).  Hooks of forward come
   first among the hooks: they are warned of apart from the others. */
#define TD_OWN_LIST(X)                                      \
    X(own_parameters, PARAMETERS)                           \
    X(own_buffers, BUFFERS)                                 \
    X(own_modules, MODULES)                                 \
    X(forward_pre_hooks, FORWARD_PRE_HOOKS)                 \
    X(forward_hooks, FORWARD_HOOKS)                         \
    X(backward_pre_hooks, BACKWARD_PRE_HOOKS)               \
    X(backward_hooks, BACKWARD_HOOKS)                       \
    X(state_dict_pre_hooks, STATE_DICT_PRE_HOOKS)           \
    X(state_dict_hooks, STATE_DICT_HOOKS)                   \
    X(load_state_dict_pre_hooks, LOAD_STATE_DICT_PRE_HOOKS) \
    X(load_state_dict_post_hooks, LOAD_STATE_DICT_POST_HOOKS)

typedef enum {
#define X(field, place) TD_OWN_##place,
    TD_OWN_LIST(X)
#undef X
        TD_OWN_CNT,
    TD_OWN_HOOKS_FIRST = TD_OWN_FORWARD_PRE_HOOKS,
} td_own_place_t;

/* What a plain module has in its own dict. */
typedef struct {
    PyObject *at[TD_OWN_CNT]; /* borrowed; NULL: not there */
    bool      is_special;     /* it or its type may say that it is dynamic, lazy, recurrent or
                                 managed */
} td_module_own_t;

/* A key that counts in such a dict, and what for. */
typedef struct {
    PyObject const *name; /* borrowed, for identity; NULL: free */
    int             place;
} td_own_key_t;

enum { TD_OWN_KEY_CNT = 64, TD_MODULE_TYPE_CNT = 8 };

/* What the type of a module decides, as in td_route_t. */
typedef struct {
    PyTypeObject *type;
    unsigned      version;
    bool          has_plain_attrs; /* found as object and Module find them */
    bool          is_plain;        /* and nothing of its own in the place of what the walk over
                                      members stands for */
    bool          is_special;      /* as in td_module_own_t */
} td_module_type_t;

/* Whether modes of torch's are on, which may answer for its functions. */
typedef enum { TD_MODES_UNKNOWN, TD_MODES_NONE, TD_MODES_SOME } td_modes_t;

/* ---- a program -------------------------------------------------------------- */

typedef struct {
    PyObject        *objects;    /* owned tuple */
    PyObject        *config;     /* owned dict */
    PyObject        *table_dict; /* owned dict */
    td_switches_t    switches;   /* of the revision that is followed */
    td_config_t      cfg;
    td_tables_t      tables;
    td_names_t       names;
    td_frame_state_t state;
    td_frame_t       frame;
    bool             frame_open;
    bool             export_mode;
    bool             no_trail;  /* nobody asks for more than a root's first decision */
    size_t           frame_cnt; /* of the program; 0: not known */
    uint32_t         frame_idx;
    td_route_t       routes[TD_ROUTE_CNT];
    td_reader_t      readers[2]; /* of Tensor and of Parameter */
    td_module_type_t module_types[TD_MODULE_TYPE_CNT];
    td_own_key_t     own_keys[TD_OWN_KEY_CNT]; /* open addressing, by address */
    bool             has_own_keys;
    /* Borrowed from the frame's keep: what td_module_walk found; [1]: buffers. */
    TD_ARRAY(PyObject *) members[2];
    PyObject *plain_dtype;  /* borrowed, immortal: of the last tensor that nothing was odd */
    PyObject *plain_layout; /* about; for identity only */
    td_stop_t stop;         /* why the running root stopped */
    td_at_t   moved;        /* the source that the last _wrap left its builder with, where it is
                                another than it had; else id 0 */
    td_abi_state_v1 const *context; /* borrowed: what the running root is to be built on, where the
                                       frame is somebody else's; or NULL */
    PyObject              *records; /* borrowed: operator records of the running root, or NULL */
    Py_ssize_t             record_idx; /* the next of them */
    PyObject              *value; /* borrowed from the frame's keep (td_value.h): what the running
                                    root gave instead of a tracker; or NULL */
    td_modes_t             modes; /* as the running root found them */
    int  frames;                  /* Python frames that the reference has on its stack now, from the
                                root */
    char why[256];
} td_builder_t;

/* td_switch says whether the revision that is followed has what switches.def calls which. */
static inline bool
td_switch(td_builder_t const *b, td_switch_t which)
{
    return td_switches_has(b->switches, which);
}

/* ---- stopping (all give false, for `return td_stop_...`) ----------------------- */

bool td_stop_unsupported(td_builder_t *b, char const *arm, char const *function, char const *why);
bool td_stop_raise(td_builder_t *b, char const *arm, char const *function, char const *cls,
                   char const *message);
bool td_stop_raise_text(td_builder_t *b, char const *arm, char const *function, char const *cls,
                        PyObject *text);
bool td_stop_nomem(td_builder_t *b);
/* td_stop_passing: the pending exception is what the reference raises too. */
bool td_stop_passing(td_builder_t *b, char const *arm, char const *function);
/* td_stop_python: an exception is set that the reference would not see: this builder broke.  It
   is cleared. */
bool td_stop_python(td_builder_t *b);

/* ---- the frame's own memory ---------------------------------------------------- */

/* td_keep takes a new reference to value for the rest of the frame; td_keep_steal
   one that the caller owns (given back at once on failure).  False: stopped. */
bool td_keep(td_builder_t *b, PyObject *value);
bool td_keep_steal(td_builder_t *b, PyObject *value);

/* td_alloc_in gives zeroed bytes of the frame's arena.  NULL: stopped. */
static inline void *
td_alloc_in(td_builder_t *b, size_t sz)
{
    void *block = td_arena_alloc(&b->frame.arena, sz);

    if (block == NULL) {
        td_stop_nomem(b);
    }
    return block;
}

/* td_trail_add notes a decision; where no trail is wanted, a root's first one, which is
   part of its outcome. */
void td_trail_push(td_builder_t *b, td_at_t const *at, char const *arm, char const *function);

static inline void
td_trail_add(td_builder_t *b, td_at_t const *at, char const *arm, char const *function)
{
    if (!b->no_trail || b->frame.trail.cnt == b->frame.root_trail) {
        td_trail_push(b, at, arm, function);
    }
}

/* td_reserve makes room for what cnt values more will need, so that it need not move
   again and again.  What cannot be had now is asked for again when it is needed. */
void td_reserve(td_builder_t *b, uint32_t cnt);

/* ---- sources, guards, trackers --------------------------------------------------- */

/* td_make_source reads a source spec; the source has id 0 when it stopped. */
bool td_make_source(td_builder_t *b, PyObject *spec, td_at_t *at);

/* td_spell_source: the same for a source that no root is built under. */
bool td_spell_source(td_builder_t *b, PyObject *spec, td_at_t *at);

/* td_children makes the sources of a container's members. */
bool td_children(td_builder_t *b, td_at_t const *base, td_source_class_t cls,
                 td_src_payload_t payload, PyObject *const *keys, td_src_id_t const *subs,
                 uint32_t cnt, td_at_t *first);

/* td_source_on makes a source of a class without own fields over base; td_source_attr
   one that names a member: it mirrors AttrSource.__post_init__, where a dotted member
   is a chain of links, of which only the last has the class asked for. */
bool td_source_on(td_builder_t *b, td_at_t const *base, td_source_class_t cls, td_at_t *at);
bool td_source_attr(td_builder_t *b, td_at_t const *base, td_source_class_t cls, PyObject *member,
                    td_at_t *at);

/* td_guard_source_of stops with KeyError where guard_source() raises. */
bool td_guard_source_of(td_builder_t *b, td_at_t const *at);

/* td_make_guards mirrors VariableBuilder.make_guards for one kind: *guard is 0
   where it gives None.  td_source_guard mirrors Source.make_guard: it raises
   NotImplementedError for constant sources. */
bool td_make_guards(td_builder_t *b, td_at_t const *at, td_guard_kind_t kind, td_guard_id_t *guard);
bool td_source_guard(td_builder_t *b, td_at_t const *at, td_guard_kind_t kind, bool is_volatile,
                     td_guard_id_t *guard);

/* td_var_make starts a tracker of class cls in *out: no source, guard alone. */
void td_var_make(td_var_t *out, td_class_t cls, td_guard_id_t guard);

/* td_var_clone makes *out a node of its own (an alias becomes a copy);
   td_var_add_guards mirrors add_guards: a clone, unless guard is 0. */
void td_var_clone(td_var_t *out);
bool td_var_add_guards(td_builder_t *b, td_var_t *out, td_guard_id_t guard);

/* td_point_at makes a tracker of class cls that holds value, with a guard of kind. */
bool td_point_at(td_builder_t *b, td_at_t const *at, PyObject *value, td_class_t cls,
                 td_guard_kind_t kind, bool with_source, td_var_t *out);

/* td_items_new reserves cnt trackers side by side. */
td_items_t *td_items_new(td_builder_t *b, uint32_t cnt);

/* ---- side effects ------------------------------------------------------------------ */

td_var_t *td_side_effects_find(td_builder_t *b, PyObject *item); /* NULL: not tracked */

/* td_track_obj mirrors SideEffects._track_obj: a clone of *out with a mutable local
   of class cls and the source is stored for item; *out becomes an alias of it. */
bool td_track_obj(td_builder_t *b, td_at_t const *at, PyObject *item, td_class_t cls,
                  td_var_t *out);

/* ---- building ------------------------------------------------------------------------- */

/* td_build mirrors VariableBuilder(tx, source)(value). */
bool td_build(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out);

/* td_wrap mirrors VariableBuilder._wrap. */
bool td_wrap(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out);

/* td_enter runs a root by the entry point that its spec names; *at is its source, with
   id 0 where it has none. */
bool td_enter(td_builder_t *b, td_abi_root_v1 const *in, td_at_t *at, td_var_t *out);

/* td_build_sourceless mirrors SourcelessBuilder()(tx, value). */
bool td_build_sourceless(td_builder_t *b, PyObject *value, td_var_t *out);

/* td_torch_variable mirrors the constructor of TorchVariable: it puts what the tracker
   holds (borrowed) in the place of *value.  td_function_variable mirrors that of
   UserFunctionVariable.  arm: where the reference is. */
bool td_torch_variable(td_builder_t *b, char const *arm, PyObject **value);
bool td_function_variable(td_builder_t *b, char const *arm, PyObject *value,
                          td_function_t **function);

/* td_function_copied mirrors the constructor that runs again for a copy of the tracker, and for
   a copy of that: what stands in the function's place is asked in turn.  given_out: the copy is
   what the builder gives. */
bool td_function_copied(td_builder_t *b, td_function_t const *function, PyObject *value,
                        bool given_out);

/* td_graph_call mirrors create_proxy of a call_function (callee) or call_method (name)
   node; args is a tuple of td_operand_arg (borrowed).  NULL: stopped. */
td_fxnode_t *td_graph_call(td_builder_t *b, PyObject *callee, PyObject *name, PyObject *args);

/* td_wrap_fx_call mirrors wrap_fx_proxy on a node that calls something. */
bool td_wrap_fx_call(td_builder_t *b, td_fxnode_t *node, td_var_t *out);

/* td_context_read takes over from the record what only its owner changes.  False: stopped. */
bool td_context_read(td_builder_t *b);

/* td_context_begin says whether the running root can be built here: somebody else's context
   must be what this builder's roots made of it.  False: stopped.  Where there is no such
   context it can. */
bool td_context_begin(td_builder_t *b);

/* td_context_guards finds the guards that a call in somebody else's context was given (rows of
   td_abi.h), which roots before it made.  False: stopped. */
bool td_context_guards(td_builder_t *b, PyObject *rows, td_more_t const **out);

/* td_context_operand gives an operand with the nodes that ("node", name) stands for in it, at
   any depth, as values: a new reference; NULL: stopped.  Where there is no context it gives
   arg itself. */
PyObject *td_context_operand(td_builder_t *b, PyObject *arg);

/* td_build_fx runs a root of entry fxcall or fxmethod. */
bool td_build_fx(td_builder_t *b, PyObject *callee, PyObject *name, PyObject *args, td_var_t *out);

typedef bool td_wrap_fn_t(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out);

/* Prototypes of every wrap function and predicate that rules.def names. */
#define WRAP(wrap)             td_wrap_fn_t wrap;
#define TEST(wanted)           int wanted(td_builder_t *b, td_at_t const *at, PyObject *value);
#define EXACT(type, arm, wrap) WRAP(wrap)
#define EXACT_UNDONE(type, arm, why)
#define IDENT(object, arm, wrap) WRAP(wrap)
#define IDENT_UNDONE(object, arm, why)
#define RULE(predicate, arm, wrap)           TEST(predicate) WRAP(wrap)
#define UNDONE(predicate, arm, why)          TEST(predicate)
#define RULE_IF(name, predicate, arm, wrap)  TEST(predicate) WRAP(wrap)
#define UNDONE_IF(name, predicate, arm, why) TEST(predicate)
#include "builder/rules.def"
#undef EXACT
#undef EXACT_UNDONE
#undef IDENT
#undef IDENT_UNDONE
#undef RULE
#undef UNDONE
#undef RULE_IF
#undef UNDONE_IF
#undef WRAP
#undef TEST

/* ---- predicates -------------------------------------------------------------------------
   Those of rules.def and these give 1, 0, or -1: stopped.  They change nothing. */

/* td_literal mirrors ConstantVariable.is_literal. */
int td_literal(td_builder_t *b, PyObject *value);

/* td_is_a is isinstance by type alone: right for objects that td_is_lying let by. */
static inline int
td_is_a(PyObject *value, PyObject *cls)
{
    return PyType_IsSubtype(Py_TYPE(value), (PyTypeObject *)cls);
}

/* td_is_parameter mirrors isinstance(value, torch.nn.Parameter), whose metaclass
   also takes tensors marked _is_param. */
int td_is_parameter(td_builder_t *b, PyObject *value);

/* td_call_listed calls a function of the builder's file by name, as a root of the entry
   "method" does; args is a tuple. */
bool td_call_listed(td_builder_t *b, PyObject *name, PyObject *args, td_var_t *out);

/* td_wrap_constant_literal mirrors SourcelessBuilder's function of that name,
   td_wrap_unspecialized_int what wrap_unspecialized_primitive does with an int at a source
   that is neither constant nor random, specialize_int or not. */
bool td_wrap_constant_literal(td_builder_t *b, PyObject *value, td_var_t *out);
bool td_wrap_unspecialized_int(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out);

/* td_has_lying_meta: the class's metaclass answers for itself what the reference asks of
   every class that it meets: its hash and equality, its attributes. */
bool td_has_lying_meta(PyTypeObject *type);

/* td_lying_asked gives what isinstance(value, cls) answers: 1, 0, or -1: stopped. cls may be
   None: its library is not there.  td_lying_takes_in stops where an answer that nobody can
   follow is believed: -1. */
int td_lying_asked(td_builder_t *b, PyObject *value, PyObject *cls, char const *arm);
int td_lying_takes_in(td_builder_t *b, char const *arm);

/* td_stand_in gives the function that a collective is rewritten to (borrowed), NULL where it
   is none. */
PyObject *td_stand_in(td_builder_t *b, PyObject *value);

/* td_lying_allowed mirrors is_allowed, td_lying_key the condition on the keys of a dict, for
   an object that td_is_lying holds. */
int td_lying_allowed(td_builder_t *b, PyObject *value);
int td_lying_key(td_builder_t *b, td_at_t const *at, PyObject *key);

/* td_meet_module mirrors what is_allowed does first: it asks the value for its __module__.
   False: stopped. */
bool td_meet_module(td_builder_t *b, PyObject *value);

/* td_getattr_static mirrors inspect.getattr_static: borrowed, NULL when there is no
   such attribute.  Runs no code. */
PyObject *td_getattr_static(PyObject *value, PyObject *name);

/* td_hash_is_own: hashing a key runs code of its class, which may be a program's. */
bool td_hash_is_own(td_builder_t *b, PyObject *key);

/* td_key_is_tensor mirrors VariableBuilder.tensor_can_be_dict_key. */
int td_key_is_tensor(td_builder_t *b, td_at_t const *at, PyObject *key);

/* ---- frame state --------------------------------------------------------------------------- */

void td_frame_state_init(td_frame_state_t *state);
void td_frame_state_clear(td_frame_state_t *state);
/* td_frame_state_get finds or makes the entry of a source's name; *fresh says it
   is new (all None, at the end).  NULL: stopped. */
td_state_entry_t *td_frame_state_get(td_builder_t *b, td_at_t const *at, bool *fresh);
/* td_frame_state_knows says in *known whether a source's name has an entry.  False: stopped. */
bool td_frame_state_knows(td_builder_t *b, td_at_t const *at, bool *known);
/* td_frame_state_spell gives every entry its text; before a frame is let go. */
bool td_frame_state_spell(td_builder_t *b);

/* ---- tensors
   ---------------------------------------------------------------------------------- */

/* td_graph_input mirrors SubgraphTracer.create_graph_input; td_graph_get_attr the
   create_proxy of a get_attr node.  NULL: stopped. */
td_fxnode_t *td_graph_input(td_builder_t *b, td_at_t const *at, PyObject *type);
/* td_graph_input_of makes an input that is named by one source and comes from another. */
td_fxnode_t *td_graph_input_of(td_builder_t *b, td_at_t const *at, td_at_t const *source,
                               PyObject *type);
td_fxnode_t *td_graph_get_attr(td_builder_t *b, char const *target, size_t target_sz);

/* td_graph_bind mirrors bind_symint of add_symbol_bindings: a graph input named by the
   symbol num, before the last input.  False: stopped. */
bool td_graph_bind(td_builder_t *b, td_at_t const *source, td_num_t const *num);

/* td_constraints_of puts together what the export constraints of the frame say about the cnt
   dims of a tensor: they intersect, and agree on a debug name.  td_constraint_named notes the
   debug name of one of them.  False: stopped. */
bool td_constraints_of(td_builder_t *b, PyObject *tensor, uint32_t cnt, td_dims_t *dims);
bool td_constraint_named(td_builder_t *b, td_at_t const *at, td_dims_t const *dims, uint32_t dim);

/* td_automatic_dynamic mirrors _automatic_dynamic for tensors whose shape is not static
   in any case. */
bool td_automatic_dynamic(td_builder_t *b, td_at_t const *at, PyObject *tensor, td_dims_t *dims);

/* td_fake_of mirrors FakeTensorMode.from_tensor, memo included.  at: the tensor's
   source.  is_root: called by the builder, not for a base or a gradient.  NULL:
   stopped. */
td_fake_t *td_fake_of(td_builder_t *b, td_at_t const *at, PyObject *tensor, td_dims_t const *dims,
                      bool is_root);

/* td_fake_copy mirrors clone_input: what a real copy of a tensor is.  NULL: stopped. */
td_fake_t *td_fake_copy(td_builder_t *b, PyObject *tensor);

/* td_fake_kinds puts into a record what dtype, layout and device a tensor says it has (dtypes
   and layouts live as long as torch; a device is an object of its own), and what it says of
   gradients.  td_fake_sizes puts in sizes, strides and offset, those of dims where the builder
   asked before (is_root).  td_is_compressed: of a layout that the meta converter does not do. */
bool td_fake_kinds(td_builder_t *b, PyObject *tensor, td_fake_t *fake);
bool td_fake_sizes(td_builder_t *b, PyObject *tensor, td_dims_t const *dims, td_fake_t *fake,
                   bool is_root);
bool td_is_compressed(td_builder_t *b, PyObject *layout);

/* td_symbols_of_fake mirrors create_symbolic_sizes_strides_storage_offset: it turns the
   numbers of a fake made of ints into what they are under dims. */
bool td_symbols_of_fake(td_builder_t *b, td_at_t const *at, td_dims_t const *dims, td_fake_t *fake);

/* td_num_is_symbol: one symbol and nothing else, by now; td_num_name_now: the name of what
   stands for it by now.  td_num_times gives x * y (false: stopped).  td_num_put writes a
   number as sympy spells it, as it was made. */
char const *td_num_name_now(td_builder_t const *b, td_num_t const *num);
bool        td_num_is_symbol(td_builder_t const *b, td_num_t const *num);
bool        td_num_times(td_builder_t *b, td_num_t const *x, td_num_t const *y, td_num_t *out);
void        td_num_put(td_builder_t const *b, td_num_t const *num, td_buf_t *out);

/* td_fake_is_whole mirrors not free_symbols(fake): no symbol stands in its sizes, strides and
   offset that is no number by now. */
bool td_fake_is_whole(td_builder_t const *b, td_fake_t const *fake);

/* td_symbols_equal asks whether two numbers of equal hints are equal: false, stopped. */
bool td_symbols_equal(td_builder_t *b, td_num_t const *x, td_num_t const *y);

/* td_symbols_fit says whether the reference has stack enough to make symbols here. */
bool td_symbols_fit(td_builder_t *b, td_at_t const *at);

/* td_symbol_of_int mirrors create_unspecified_symint_and_symbol: a new symbol for an int,
   DYNAMIC. */
bool td_symbol_of_int(td_builder_t *b, td_at_t const *at, PyObject *value, td_num_t *num);

/* td_symbol_unbacked mirrors create_unbacked_symint and _constrain_range_for_size: a new
   symbol for a size that nobody has seen. */
bool td_symbol_unbacked(td_builder_t *b, td_num_t *num);

/* td_tensor_attr reads an attribute of a tensor, td_tensor_flag one that is a bool,
   td_tensor_call the result of a method without arguments.  New references, or
   NULL (-1): stopped. */
PyObject *td_tensor_attr(td_builder_t *b, PyObject *tensor, PyObject *name);
PyObject *td_tensor_call(td_builder_t *b, PyObject *tensor, PyObject *name);
int       td_tensor_flag(td_builder_t *b, PyObject *tensor, PyObject *name);

/* td_tensor_size is td_tensor_call of size(), where what it raises is the
   reference's exception too. */
PyObject *td_tensor_size(td_builder_t *b, PyObject *tensor);

/* td_mark gives an attribute that was set on an object itself, a tensor say: borrowed,
   NULL when there is none. */
PyObject *td_mark(PyObject *tensor, PyObject *name);

/* td_remember_copy mirrors real_value_cache[proxy.node] = _clone_input(tensor). */
bool td_remember_copy(td_builder_t *b, td_fxnode_t *node, PyObject *tensor);

/* td_wrap_to_fake mirrors wrap_to_fake_tensor_and_record for an exact tensor or a listed
   subclass: NULL, stopped. */
td_fake_t *td_wrap_to_fake(td_builder_t *b, td_at_t const *at, PyObject *tensor);

/* td_wrap_fx_tensor mirrors wrap_fx_proxy for a real tensor: guards go to the
   output, the tensor becomes fake, *out its TensorVariable. */
bool td_wrap_fx_tensor(td_builder_t *b, td_at_t const *at, PyObject *tensor, td_fxnode_t *node,
                       bool should_specialize, td_guard_id_t guard, td_guard_id_t second,
                       td_var_t *out);

/* td_wrap_fx_real is the same for a tensor of a class that nobody takes for a plain tensor:
   it stays real, and a copy of it is the example. */
bool td_wrap_fx_real(td_builder_t *b, td_at_t const *at, PyObject *tensor, td_fxnode_t *node,
                     bool should_specialize, td_guard_id_t guard, td_guard_id_t second,
                     td_var_t *out);

/* td_is_fake_tensor: fake, of a mode that is not the frame's: programs have no other.
   td_is_subclass_tensor: of another class than Tensor, Parameter and FakeTensor. */
bool td_is_fake_tensor(td_builder_t *b, PyObject *tensor);
bool td_is_subclass_tensor(td_builder_t *b, PyObject *tensor);

/* td_stays_real: a subclass that is neither fake nor made fake; td_is_wrapper: one that wraps
   tensors, and is made fake by making fakes of these.  td_wrapper_admit mirrors what is asked of
   an example before anything is made of it.  td_wrapper_fake makes it fake, with its own code and
   a record of what that did.  td_record_wrapper gives that fake, by the record, of its parts;
   td_record_clone raises what copying it raised. */
bool       td_stays_real(td_builder_t *b, td_at_t const *at, PyObject *tensor);
bool       td_is_wrapper(td_builder_t *b, PyObject *tensor);
bool       td_wrapper_admit(td_builder_t *b, PyObject *tensor);
td_fake_t *td_wrapper_fake(td_builder_t *b, td_at_t const *at, PyObject *tensor);
td_fake_t *td_record_wrapper(td_builder_t *b, PyObject *cls, td_fake_t **parts, uint32_t cnt);
bool       td_record_clone(td_builder_t *b);

/* td_size_hint gives a size, an int or a symbolic one, as an int.  False: stopped. */
bool td_size_hint(td_builder_t *b, PyObject *size, int64_t *hint);

/* td_size_symbol gives the name of the symbol that a size is, as long as the size lives; NULL:
   it is an int, or no symbol alone. */
char const *td_size_symbol(td_builder_t *b, PyObject *size);

/* td_module_key mirrors how register_attr_or_module names what it registers: it finds the
   name that value has, or makes one of the text and notes it in nn_modules; *fresh says
   which. */
bool td_module_key(td_builder_t *b, PyObject *value, char const *text, size_t text_sz,
                   td_module_t *module, bool *fresh);

/* td_param_name mirrors param_name_to_source[name] = source.  name lives as long as the
   frame. */
bool td_param_name(td_builder_t *b, char const *name, size_t name_sz, td_src_id_t source);
/* td_numbers_make makes the tensors of numbers that nobody has asked for yet.  False: stopped. */
bool td_numbers_make(td_builder_t *b);

/* td_note_sizes mirrors tensor_weakref_to_sizes_strides[WeakIdRef(e)] = ... */
bool td_note_sizes(td_builder_t *b, PyObject *tensor, td_fake_t *fake);

/* td_input_store mirrors input_source_to_var[source] = *out, which becomes an alias of what
   is stored. */
bool td_input_store(td_builder_t *b, td_at_t const *at, td_var_t *out);

/* td_refuse_input mirrors the refusal of an exported program to take another input: a
   symbolic int (number) or a number of numpy that became a tensor, that is no argument. */
bool td_is_extra_input(td_builder_t *b, td_at_t const *at);
bool td_refuse_input(td_builder_t *b, td_at_t const *at, td_num_t const *number, PyObject *tensor);

/* td_find_unspec mirrors the look into unspec_variable_map: *found is NULL when the name
   is not there.  td_note_unspec stores *out under its name; *out becomes an alias of what
   is stored. */
bool td_find_unspec(td_builder_t *b, td_at_t const *at, td_var_t **found);
bool td_note_unspec(td_builder_t *b, td_at_t const *at, td_var_t *out);
/* td_torch_function_ask_dims and _ask_rest run the __torch_function__ of a tensor's class
   as often, and in the order, as the reference does by reading the tensor: before and
   after its dims are looked at.  Nothing happens where the class has none of its own. */
bool td_torch_function_ask_dims(td_builder_t *b, td_at_t const *at, PyObject *tensor,
                                bool is_static);
bool td_torch_function_ask_rest(td_builder_t *b, PyObject *tensor);

/* td_torch_function_copy mirrors clone_input of a tensor of a subclass: it runs the class's
   code as the reference does, and gives the copy.  NULL: stopped. */
td_fake_t *td_torch_function_copy(td_builder_t *b, PyObject *tensor);

/* td_quiet_begin switches __torch_function__ off where tensor has one; *off is what
   td_quiet_end gives back (owned; NULL: nothing was switched). */
bool td_quiet_begin(td_builder_t *b, PyObject *tensor, PyObject **off);
void td_quiet_end(td_builder_t *b, PyObject *off);

/* td_wrap_override mirrors TensorWithTFOverrideVariable.create; *out is the tracker of the
   tensor and becomes that of the subclass. */
bool td_wrap_override(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out);

/* td_is_global says whether the frame's globals have name, its own or installed; -1 with
   an exception. */
int td_is_global(td_builder_t *b, PyObject *name);

/* td_register_attr mirrors register_attr_or_module for a tensor. */
bool td_register_attr(td_builder_t *b, td_at_t const *at, PyObject *tensor, td_var_t *out);

/* ---- modules ---------------------------------------------------------------------------- */

/* td_is_exact_dict: a dict or OrderedDict itself. */
static inline bool
td_is_exact_dict(td_builder_t const *b, PyObject *value)
{
    return PyDict_CheckExact(value) || (PyObject *)Py_TYPE(value) == b->tables.ordered_dict;
}

/* td_module_own reads what a plain module has of its own, valid until code runs; false: it
   is none, and has to be asked.  Runs no code. */
bool td_module_own(td_builder_t *b, PyObject *module, td_module_own_t *own);

/* td_module_has_no_hooks: its tables of hooks are plain and empty. */
bool td_module_has_no_hooks(td_builder_t *b, td_module_own_t const *own);

/* td_module_has_plain_attrs: the type lets object and Module find attributes. */
bool td_module_has_plain_attrs(td_builder_t *b, PyObject *module);

/* td_module_walk finds the names that named_parameters() and named_buffers() of a plain
   module give without asking anybody, in b->members: 1, 0: torch has to say, -1: stopped. */
int td_module_walk(td_builder_t *b, PyObject *module, td_module_own_t const *own);

/* td_register_module mirrors register_attr_or_module for a module.  name: the source that
   its name is made of; own: of td_module_own, or NULL. */
bool td_register_module(td_builder_t *b, td_at_t const *at, td_src_id_t name, PyObject *module,
                        td_module_own_t const *own, td_var_t *out);

/* td_module_attr mirrors getattr(module, name): 1 with a new reference in *found, 0 where
   it raises AttributeError, -1: stopped by what else it raises.  May run user code. */
int td_module_attr(td_builder_t *b, PyObject *module, PyObject *name, PyObject **found);

/* td_module_truth mirrors bool(getattr(module, name, False)): 1, 0, -1: stopped. */
int td_module_truth(td_builder_t *b, PyObject *module, PyObject *name);

/* td_module_is_dynamic mirrors mutation_guard.is_dynamic_nn_module: 1, 0, -1: stopped.
   own: as in td_register_module. */
int td_module_is_dynamic(td_builder_t *b, PyObject *module, td_module_own_t const *own);

/* td_module_look_at_hooks mirrors the two calls of nnmodule_has_hooks, whose answers decide
   about warnings alone. */
bool td_module_look_at_hooks(td_builder_t *b, PyObject *module);

/* td_module_members has the module's own methods say the names that named_parameters()
   (named_buffers() for buffers) yields; each is called with one (a str, kept for the frame)
   as it comes. */
bool td_module_members(td_builder_t *b, PyObject *module, bool buffers,
                       bool (*each)(void *ctx, PyObject *name), void *ctx);

/* td_module_var_source is what the constructors of trackers of modules that are not
   specialised do with the source that they are given. */
bool td_module_var_source(td_builder_t *b, td_at_t const *at, td_class_t cls, td_src_id_t *source);

/* ---- observing
   ----------------------------------------------------------------------------------- */

int td_observe_frame(td_builder_t *b, td_abi_sink_v1 sink, void *ctx);

/* td_take_guards takes over from the running root's context which of the guards that roots
   made its owner put into the output meanwhile.  False: stopped. */
bool td_take_guards(td_builder_t *b);

#endif
