/* td_abi.h: the versioned border between the harness and a subject.

   A subject is a shared object (or a static library) with one exported symbol,
   td_subject_v1, that gives a table of functions.  Every struct begins with its
   own size, so that later versions can append members; a member beyond
   struct_sz does not exist.  This header is all that a third party's subject
   needs besides Python.h.

   Order of calls: program_open, then for each frame frame_open, root..., do...,
   frame_observe, frame_close, then program_close.  All calls come from one
   thread that holds the GIL, with no Python exception set; a subject leaves none
   set.  A subject keeps alive within a frame what the reference's trackers keep
   alive, and nothing after frame_close but the frame state.

   A failure of the subject itself (not of the build) is a non-zero return; the
   harness then stops with exit 3 and prints `error`. */
#ifndef TD_BUILDER_ABI_H
#define TD_BUILDER_ABI_H

#include <Python.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TD_ABI_VERSION = 1 };

/* ---- in ------------------------------------------------------------------ */

typedef struct {
    size_t      struct_sz;
    PyObject   *objects;  /* borrowed tuple: the program's objects, index = ordinal */
    PyObject   *config;   /* borrowed dict: every Dynamo config value a builder may read, as
                                 in force */
    PyObject   *tables;   /* borrowed dict: module data of Dynamo read as data at each build
                                 (see src/builder/td_tables.h for the keys) */
    char const *revision; /* "mission" or "installed" */
    int         export_mode;
    int         no_trail;  /* not 0: nobody will ask for the trail */
    size_t      frame_cnt; /* how many frames the program has; 0: not said */
} td_abi_program_v1;

/* An operator record: what one run of an operator on fake tensors did.  Numbers
   that depend on shapes are expressions over the frame's symbols as text in the
   form of the symbols field of the schema ("s0", "2*s0*s1", "7"). */
typedef struct {
    size_t             struct_sz;
    char const        *dtype, *device, *layout, *class_name;
    char const *const *sizes;
    size_t             size_cnt;
    char const *const *strides;
    size_t             stride_cnt;
    char const        *storage_offset;
    int                requires_grad, is_sparse, is_quantized;
} td_abi_fake_v1;

typedef struct td_abi_value_v1 td_abi_value_v1;
struct td_abi_value_v1 {
    size_t                 struct_sz;
    int                    kind;  /* 0 plain object, 1 fake tensor, 2 symbolic number, 3
                                         sequence */
    PyObject              *plain; /* kind 0, borrowed */
    td_abi_fake_v1 const  *fake;  /* kind 1 */
    char const            *expr;  /* kind 2: expression; hint and type beside it */
    char const            *hint, *type_name;
    PyObject              *sequence_type; /* kind 3, borrowed class */
    td_abi_value_v1 const *items;
    size_t                 item_cnt; /* kind 3 */
};

typedef struct {
    size_t                 struct_sz;
    char const            *target; /* canonical name of what was called, with op
                                                 ("call_method size") */
    td_abi_value_v1 const *args;
    size_t                 arg_cnt;
    char const            *exception_class; /* NULL: it returned result */
    char const            *exception_text;
    td_abi_value_v1        result;
    char const *const     *symbols_created;
    size_t                 symbol_cnt; /* "s1=4 source" rows, in creation
                                                                  order */
    char const *const     *guards;
    size_t                 guard_cnt; /* ShapeEnv guard expressions
                                                                  added */
    char const *const     *replacements;
    size_t                 replacement_cnt;
    char const *const     *ranges;
    size_t                 range_cnt;
} td_abi_oprec_v1;

/* A state record: the context that a frame starts from.  NULL means fresh.  All
   texts are canonical bytes of the record class of the schema that names them. */
typedef struct {
    size_t         struct_sz;
    uint8_t const *bytes; /* canonical bytes of a Frame record without roots */
    size_t         bytes_sz;
} td_abi_state_v1;

typedef struct {
    size_t                 struct_sz;
    PyObject              *f_locals;       /* borrowed dict */
    PyObject              *f_globals;      /* borrowed dict; the subject reads it and writes
                                            nothing */
    PyObject              *constraints;    /* borrowed list of export constraints, or None */
    td_abi_state_v1 const *state;          /* NULL: fresh */
    int                    recursion_left; /* Python frames left at the root, as the reference
                                              has them */
} td_abi_frame_v1;

typedef struct {
    size_t                 struct_sz;
    PyObject              *spec;  /* borrowed tuple: source_spec of the cases page, entry point
                                       included */
    PyObject              *value; /* borrowed */
    td_abi_oprec_v1 const *records;
    size_t                 record_cnt;   /* what the subject's build may ask for,
                                                          in order */
    int                    have_records; /* 0: none were kept; asking is "no operator record" */
} td_abi_root_v1;

/* ---- out ----------------------------------------------------------------- */

enum { TD_ABI_TRACKER = 1, TD_ABI_EXCEPTION = 2, TD_ABI_UNSUPPORTED = 3, TD_ABI_POISONED = 4 };

typedef struct {
    size_t      struct_sz;
    int         kind;
    char const *arm;      /* id of the reference's arm that decided, as the subject names it;
                             never NULL */
    char const *why;      /* UNSUPPORTED: what is not there; POISONED: the reason; EXCEPTION:
                             class name; else "" */
    char const *function; /* the C function that decided; never NULL */
} td_abi_outcome_v1;      /* texts live until frame_close */

typedef int (*td_abi_sink_v1)(void *ctx, uint8_t const *bytes, size_t sz);

typedef struct {
    size_t      struct_sz;
    char const *name;        /* shown to people */
    uint32_t    abi_version; /* TD_ABI_VERSION */
    uint32_t    schema_version;
    /* Arms that the subject calls done: an unsupported answer for one of them is
       a divergence.  Families by name, see `tandem gen --only`. */
    char const *const *done;
    size_t             done_cnt;

    int (*program_open)(td_abi_program_v1 const *program, void **self);
    int (*frame_open)(void *self, td_abi_frame_v1 const *frame);
    int (*root)(void *self, td_abi_root_v1 const *root, td_abi_outcome_v1 *outcome);
    /* canonical bytes of the Frame record */
    int (*frame_observe)(void *self, td_abi_sink_v1 sink, void *ctx);
    void (*frame_close)(void *self);
    void (*program_close)(void *self);
    char const *(*error)(void *self); /* one line about the last non-zero return */
    /* trail: optional (NULL); calls row for each decision of the frame in build order. */
    int (*trail)(void *self,
                 void (*row)(void *ctx, char const *path, char const *arm, char const *function),
                 void *ctx);
} td_abi_subject_v1;

/* The one symbol that a subject shows. */
__attribute__((visibility("default"))) td_abi_subject_v1 const *td_subject_v1(void);

#ifdef __cplusplus
}
#endif
#endif
