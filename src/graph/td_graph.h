/* td_graph.h: programs that describe graphs of Python objects and the builder
   calls made on them.

   A *program* is one stream of *records* in the order in which they happen:

     node        an object: its *kind* (kinds.def), its *payload* (its own data)
                 and its *edges* (indices of earlier nodes that it contains)
     source      where a root comes from: kind (sources.def), base, payload
     config      a Dynamo config value that holds for the whole program
     export      export mode for the whole program
     frame       begins a frame; frames share the frame state
     root        one builder call in the current frame: entry point, source, node
     do          one change of an object (dos.def), made before the next root;
                 before the first frame it is part of making the objects
     constraint  an export constraint of the current frame

   Edges point backwards, so a program is acyclic by construction; cycles come
   from do records (append, setitem, setattr).

   The binary form is this stream, record by record, behind one version byte
   (0xA0 | version, so that it is never text; td_wire.h has the bytes); the text
   form is one line a record (td_asm.c has the grammar).  Both say the same; asm
   and disasm round-trip exactly.

   A program is *valid* when (td_rules.h checks all of it, for every way in):

     * the limits of td_limits.h hold, and its binary form is no larger than
       TD_INPUT_SZ_MAX;
     * every index (edge, base, key, operand, argument) points at something
       earlier in the stream;
     * a node has as many edges as its kind allows; those of dict and
       ordered_dict are pairs, default_dict's after the first too; the edge of
       odict_values is an ordered_dict, the edge of tuple_iterator a tuple;
     * names and strs are utf-8; a bigint is the shortest decimal of an int
       outside int64; the step of a range is not 0;
     * a tensor's storage holds at most TD_NUMEL_MAX elements, its layout fits
       its dims and dtype (td_layout_fits), and it requires grad only when it
       is floating or complex; a parameter is a leaf; an ndarray has a dtype
       and a layout that numpy has;
     * a source has at most TD_SOURCE_DEPTH_MAX bases below it, its key is a
       node that can be a key (literals, enum members, classes, tuples of such,
       slices of such), its idx is below TD_EDGE_CNT_MAX;
     * equal sources are one record, and a source's record stands right before
       the first root that needs it, after its base's;
     * roots and constraints stand in a frame, and a "ref" argument means an
       earlier root of the same frame;
     * a constraint's tensors are tensors or parameters that have the dims it
       names, and 0 <= min <= max;
     * a config key is set at most once, and export stands at most once;
     * there is at least one root; the binary form ends in the end record. */
#ifndef TD_GRAPH_GRAPH_H
#define TD_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/td_arena.h"
#include "base/td_limits.h"
#include "base/td_status.h"

enum { TD_FORMAT_VERSION = 1 };

/* What a kind's own data looks like.  The words in brackets are its text form. */
typedef enum {
    TD_PAYLOAD_NONE,
    TD_PAYLOAD_BOOL,   /* node.i: 0 or 1                       (true) */
    TD_PAYLOAD_INT,    /* node.i                                (-5) */
    TD_PAYLOAD_BIGINT, /* node.text: decimal, outside int64     (1180591620717411303424) */
    TD_PAYLOAD_FLOAT, /* node.f, compared by bits    (1.5, -0.0, nan, nan:7ff8000000000001) */
    TD_PAYLOAD_TEXT,   /* node.text: utf-8                      ("a\n") */
    TD_PAYLOAD_BYTES,  /* node.text: any bytes                  (b"\x00") */
    TD_PAYLOAD_CHOICE, /* node.i: index into the kind's choices (a bare word of choices.def) */
    TD_PAYLOAD_RANGE,  /* node.range: start, stop, step         (2 9 3) */
    TD_PAYLOAD_DIMS,   /* node.dims: a list of ints             ([2, 3]) */
    TD_PAYLOAD_TENSOR, /* node.tensor                           (float32[2, 3] layout flags) */
} td_payload_t;

/* How a tensor's memory is laid out. */
#define TD_LAYOUT_LIST(X)                                                           \
    X(0, CONTIGUOUS, "contiguous")                                                  \
    X(1, TRANSPOSED, "transposed")       /* last two dims swapped: a view */        \
    X(2, EXPANDED, "expanded")           /* first dim expanded: stride 0 */         \
    X(3, OFFSET, "offset")               /* a slice [1:] of a larger base */        \
    X(4, STRIDED, "strided")             /* every second element of the last dim */ \
    X(5, CHANNELS_LAST, "channels_last") /* 4 dims only */                          \
    X(6, SPARSE_COO, "sparse_coo")                                                  \
    X(7, SPARSE_CSR, "sparse_csr")                                                  \
    X(8, META, "meta")        /* device meta */                                     \
    X(9, CONJ, "conj")        /* complex dtypes only */                             \
    X(10, NONLEAF, "nonleaf") /* result of an operation on a tensor that requires grad */

typedef enum {
#define X(tag, NAME, text) TD_LAYOUT_##NAME = tag,
    TD_LAYOUT_LIST(X)
#undef X
        TD_LAYOUT_CNT
} td_layout_t;

typedef struct {
    uint8_t  dtype;         /* index into dtypes.def */
    uint8_t  layout;        /* td_layout_t */
    uint8_t  requires_grad; /* 0 or 1; floating and complex dtypes only */
    uint8_t  dim_cnt;
    uint16_t dim[TD_DIM_CNT_MAX];
} td_tensor_t;

typedef struct {
    char const *bytes; /* NUL-terminated for convenience; may hold NUL inside */
    uint32_t    sz;
} td_text_t;

td_text_t td_text(char const *text); /* borrows a NUL-terminated one */

typedef enum {
#define X(tag, NAME, text, payload, edge_min, edge_max, family, meaning) TD_KIND_##NAME = tag,
#include "graph/kinds.def"
#undef X
    TD_KIND_TAG_END = 256
} td_kind_t;

typedef struct {
    uint8_t         kind; /* td_kind_t */
    uint16_t        edge_cnt;
    uint16_t const *edge; /* indices of earlier nodes */
    union {
        int64_t     i;
        double      f;
        td_text_t   text;
        int64_t     range[3];
        td_tensor_t tensor;
        struct {
            uint8_t        cnt;
            int64_t const *dim;
        } dims;
    };
} td_node_t;

typedef enum {
#define X(tag, NAME, text, operands, meaning) TD_SOURCE_##NAME = tag,
#include "graph/sources.def"
#undef X
    TD_SOURCE_TAG_END = 256
} td_source_kind_t;

typedef struct {
    uint8_t   kind; /* td_source_kind_t */
    uint16_t  base; /* index of an earlier source, where the kind has one */
    td_text_t name; /* where the kind has one */
    int64_t   idx;  /* where the kind has one */
    uint16_t  key;  /* index of a node (the key object), where the kind has one */
} td_src_t;

typedef enum {
#define X(tag, NAME, text, operands, meaning) TD_ENTRY_##NAME = tag,
#include "graph/entries.def"
#undef X
    TD_ENTRY_TAG_END = 256
} td_entry_t;

typedef enum {
#define X(tag, NAME, text, operands, meaning) TD_DO_##NAME = tag,
#include "graph/dos.def"
#undef X
    TD_DO_TAG_END = 256
} td_do_t;

typedef enum { TD_STEP_FRAME, TD_STEP_ROOT, TD_STEP_DO, TD_STEP_CONSTRAINT } td_step_kind_t;

/* An argument of fxcall, fxmethod, method: a node, or the i-th tracker that the
   current frame built. */
typedef struct {
    bool     is_ref; /* ("ref", idx) */
    uint16_t idx;
} td_arg_t;

typedef struct {
    uint8_t  kind;     /* td_step_kind_t */
    uint8_t  op;       /* ROOT: td_entry_t; DO: td_do_t */
    uint32_t node_cnt; /* nodes that exist when the step runs */
    uint16_t source;   /* ROOT build: index of the source */
    uint16_t node;     /* ROOT: the object; DO: the object that changes; CONSTRAINT: the tensor */
    uint16_t other[2]; /* DO: operands; CONSTRAINT: other[0] is the tensor it is tied to, if tied */
    int64_t  num[3];   /* DO: a dim; CONSTRAINT: dim, min, max */
    uint8_t  tied;     /* CONSTRAINT: 1 when dims are tied; num[1] is then the other dim */
    td_text_t
        name; /* DO setattr, ROOT fxmethod, method, compile; CONSTRAINT: debug name or empty */
    uint8_t         arg_cnt;
    td_arg_t const *arg;
} td_step_t;

typedef struct {
    uint8_t key;   /* index into configs.def */
    uint8_t value; /* index into that row's values */
} td_setting_t;

typedef struct {
    td_arena_t    arena; /* owns everything below */
    td_node_t    *nodes;
    uint32_t      node_cnt;
    td_src_t     *sources;
    uint32_t      source_cnt;
    td_step_t    *steps;
    uint32_t      step_cnt;
    td_setting_t *settings;
    uint32_t      setting_cnt; /* in stream order, each key at most once */
    bool          export_mode;
    /* The stream's order: record r is the next one of this type. */
    uint8_t *order;
    uint32_t order_cnt; /* td_record_t */
} td_prog_t;

typedef enum {
    TD_RECORD_NODE,
    TD_RECORD_SOURCE,
    TD_RECORD_STEP,
    TD_RECORD_SETTING,
    TD_RECORD_EXPORT
} td_record_t;

void td_prog_init(td_prog_t *prog);
void td_prog_clear(td_prog_t *prog); /* gives all memory back */

/* Where and why something was refused. */
typedef struct {
    size_t offset;       /* binary: byte; text: byte */
    int    line, column; /* text only, from 1; 0 in binary */
    char   what[200];    /* "node 3: kind 'list' has no payload", one line */
} td_refusal_t;

/* td_prog_decode is strict: TD_OK, or TD_REJECT with the first reason, or
   TD_NOMEM.  prog is initialised; after a failure it is empty. */
td_status_t td_prog_decode(uint8_t const *bytes, size_t sz, td_prog_t *prog, td_refusal_t *refusal);

/* td_prog_repair makes a program of any bytes, changing as little as it can; it
   fails only for want of memory.  changed (may be NULL) says whether the bytes
   were no valid program.  Idempotent: encoding the result and repairing it again
   changes nothing.  td_prog_decode accepts exactly when changed is false. */
td_status_t td_prog_repair(uint8_t const *bytes, size_t sz, td_prog_t *prog, bool *changed);

/* td_prog_encode writes the canonical binary form; the caller frees *bytes with
   td_free. */
td_status_t td_prog_encode(td_prog_t const *prog, uint8_t **bytes, size_t *sz);

/* td_prog_asm reads the text form (strict); td_prog_disasm writes it (NUL-
   terminated, the caller frees it with td_free; NULL for want of memory). */
td_status_t td_prog_asm(char const *text, size_t sz, td_prog_t *prog, td_refusal_t *refusal);
char       *td_prog_disasm(td_prog_t const *prog);

/* td_prog_load reads either form, told apart by the first byte. */
td_status_t td_prog_load(uint8_t const *bytes, size_t sz, td_prog_t *prog, td_refusal_t *refusal);

/* Tables. */
typedef struct {
    char const  *name; /* "list": the word of the text form; NULL: no such kind */
    td_payload_t payload;
    uint16_t     edge_min, edge_max;
    char const  *family; /* "list", "tensor", ...: what --only and done lists name */
    char const  *meaning;
} td_kind_info_t;

td_kind_info_t const *td_kind_info(uint8_t tag);      /* NULL: no such kind */
int                   td_kind_find(char const *name); /* tag, or -1 */

/* Choices of a CHOICE kind: words, and the dotted path of the object each means. */
size_t      td_choice_cnt(uint8_t kind);
char const *td_choice_name(uint8_t kind, size_t idx); /* "len" */
char const *td_choice_path(uint8_t kind, size_t idx); /* "builtins.len" or "tandem.objects.Point" */

typedef struct {
    char const *name;
    char const *operands;
    char const *meaning;
} td_op_info_t;
td_op_info_t const *td_source_info(uint8_t tag); /* NULL: no such source kind */
td_op_info_t const *td_entry_info(uint8_t tag);  /* the same for the others */
td_op_info_t const *td_do_info(uint8_t tag);
int                 td_source_find(char const *name); /* tag, or -1 */
int                 td_entry_find(char const *name);
int                 td_do_find(char const *name);

size_t      td_dtype_cnt(void);
char const *td_dtype_name(size_t idx);        /* "float32" */
bool        td_dtype_is_floating(size_t idx); /* complex ones too: they can require grad */
bool        td_dtype_is_complex(size_t idx);

char const *td_layout_name(size_t idx); /* "transposed"; NULL: no such layout */
/* td_layout_fits says whether a tensor of that kind (TENSOR, PARAMETER or
   NDARRAY) can have that layout, given its dtype, dim_cnt and requires_grad. */
bool td_layout_fits(uint8_t kind, td_tensor_t const *tensor);
/* td_tensor_storage_cnt bounds the elements of the storage behind it; dims of 0
   count as 1. */
uint64_t td_tensor_storage_cnt(td_tensor_t const *tensor);

/* The listed functions of METHOD and COMPILE roots. */
size_t      td_method_cnt(void);
char const *td_method_name(size_t idx);
size_t      td_compile_cnt(void);
char const *td_compile_name(size_t idx);

size_t      td_config_cnt(void);
int         td_config_find(char const *name); /* key, or -1 */
char const *td_config_name(size_t key);
size_t      td_config_value_cnt(size_t key);
char const *td_config_value(size_t key, size_t value); /* text of a Python literal: "True" */

#endif
