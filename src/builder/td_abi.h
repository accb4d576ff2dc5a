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

/* An operator record says what one run of an operator on fake tensors did: plain
   data, a dict of

     "op", "node"   what was run: "call_function" or "call_method", and the name of its
                    node
     "result"       a VALUE, where it returned
     "exception"    [class, text], where it raised; "<address of callee>" and "<address of
                    owner>" stand for those of what was called and of its __self__
     "fakes"        a list of the tensors that it made, each a dict of "size", "stride"
                    (lists of VALUEs), "offset" (VALUE), "dtype", "device", "layout"
                    (texts), "requires_grad", "is_leaf" (bools), "base", "grad" (VALUEs) and
                    "sort": "own", "param" (a parameter), "foreign" (a fake of another
                    mode) or "real"
     "moved"        a list of texts: what else it changed, in words

   A VALUE is a list that begins with what it is:

     ["none"]  ["bool", true]  ["int", "5"]  ["float", "0x1.8p+0"]  ["str", "a"]
     ["sym", class, expression, VALUE]   a symbolic number and its hint
     ["known", name, path]    what a node has as its example: the node's name, and a list
                              of indices, "base" and "grad" that lead to a part of it
     ["fake", index]          one of "fakes"
     ["seq", class, VALUEs]   a tuple, list, set, Size, or a class of torch.return_types
     ["sub", base, module, class, VALUEs]   of a subclass of the base tuple or list
     ["dict", [[VALUE, VALUE], ...]]        a dict
     ["torch", name]  ["device", text]
     ["other", name, module, class]         anything else, by its class
     ["strange", class]       what a record cannot say */

/* A state record: a context as it is when a frame begins or a root is to be built.  NULL
   means fresh.  Where it belongs to somebody else, more may happen in it between two
   roots than the roots did: a subject starts from it, or says that it cannot.  Words that
   a spec has only there, since a context has what a program cannot name:

     ("node", name)                        an operand: the node of the graph that is called so
     ("option", "given", ((source_spec, kind, is_volatile), ...))
                                           the guards that wrap_fx_proxy is given */
typedef struct {
    size_t         struct_sz;
    uint8_t const *bytes; /* canonical bytes of a Frame record: the roots so far are in it */
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
    size_t    struct_sz;
    PyObject *spec;     /* borrowed tuple: source_spec of the cases page, entry point
                                 included */
    PyObject *value;    /* borrowed */
    PyObject *records;  /* borrowed list of operator records, in the order in which the
                                 subject's build may ask for them; NULL: none were kept, asking is
                                 "no operator record" */
    size_t    step_idx; /* of this root among all steps of the frame, which ("ref", i)
                                 counts */
    /* The context as somebody else's frame has it right before the root, read from there: the
       root is to be built on it.  NULL: the frame is the subject's own, as its roots left it. */
    td_abi_state_v1 const *state;
    int recursion_left; /* with a state: as td_abi_frame_v1 has it, where the call is made */
} td_abi_root_v1;

/* ---- out ----------------------------------------------------------------- */

/* VALUE: a root of entry method gave what is no tracker. */
enum {
    TD_ABI_TRACKER     = 1,
    TD_ABI_EXCEPTION   = 2,
    TD_ABI_UNSUPPORTED = 3,
    TD_ABI_POISONED    = 4,
    TD_ABI_VALUE       = 5
};

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
