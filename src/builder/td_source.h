/* td_source.h: where a value came from.

   A *source* is a number of one td_sources_t.  Sources are made in *blocks*: the
   children of one container get consecutive numbers and one record, so that an
   item costs nothing but its number.  Nothing is looked up when a source is made;
   two blocks may therefore spell the same source, and whoever cares compares
   with td_source_equal.  Names are text only when somebody asks. */
#ifndef TD_BUILDER_SOURCE_H
#define TD_BUILDER_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/td_arena.h"
#include "builder/td_buf.h"
#include "observe/td_forms.h"
#include "py/td_py.h"

typedef uint32_t td_src_id_t; /* 0: no source (None) */

/* What guard_source() answers.  RAISES: it raises KeyError, see td_source_raised. */
#define TD_WHERE_LIST(X)                                                                           \
    X(LOCAL, 0)                                                                                    \
    X(GLOBAL, 1)                                                                                   \
    X(LOCAL_NN_MODULE, 2) X(GLOBAL_NN_MODULE, 3) X(CONSTANT, 4) X(RANDOM_VALUE, 5) X(SHAPE_ENV, 6) \
        X(LOCAL_FSDP_MODULE, 7) X(GLOBAL_FSDP_MODULE, 8)

typedef enum {
#define X(name, value) TD_WHERE_##name = value,
    TD_WHERE_LIST(X)
#undef X
        TD_WHERE_RAISES
} td_where_t;

char const *td_where_name(td_where_t where); /* "LOCAL", ...; "" for RAISES */

static inline bool
td_where_is_fsdp(td_where_t where)
{
    return where == TD_WHERE_LOCAL_FSDP_MODULE || where == TD_WHERE_GLOBAL_FSDP_MODULE;
}

static inline bool
td_where_is_nn_module(td_where_t where)
{
    return where == TD_WHERE_LOCAL_NN_MODULE || where == TD_WHERE_GLOBAL_NN_MODULE ||
           td_where_is_fsdp(where);
}

static inline bool
td_where_is_local(td_where_t where)
{
    return where == TD_WHERE_LOCAL || where == TD_WHERE_LOCAL_NN_MODULE ||
           where == TD_WHERE_LOCAL_FSDP_MODULE;
}

/* A source together with what the builder asks of it at every step. */
typedef struct {
    td_src_id_t id;
    uint16_t    depth;      /* links from the root, 0 at the root: name() and guard_source()
                               recurse so deep */
    uint8_t     where;      /* td_where_t */
    bool        local_root; /* is_from_local_source */
    bool        fresh;      /* no other source of the frame can have this name */
    uint8_t     cls;        /* td_source_class_t */
} td_at_t;

/* What the members of a block differ in. */
typedef enum {
    TD_PAYLOAD_NOTHING, /* a block of one without own fields */
    TD_PAYLOAD_KEYS,    /* keys[i]: an object (name, member, index, ...) */
    TD_PAYLOAD_INDEX,   /* the index i itself */
    TD_PAYLOAD_SOURCES  /* subs[i] is a source when not 0, else keys[i] */
} td_src_payload_t;

/* What of a tensor a TensorPropertySource names. */
typedef enum { TD_PROP_SIZE, TD_PROP_STRIDE, TD_PROP_STORAGE_OFFSET } td_prop_t;

char const *td_prop_name(td_prop_t prop); /* "SIZE", ... */

typedef struct {
    td_src_id_t        first;
    uint32_t           cnt;
    td_src_id_t        base;    /* 0: none */
    uint8_t            cls;     /* td_source_class_t */
    uint8_t            payload; /* td_src_payload_t */
    uint8_t            where;   /* td_where_t, of each of them */
    bool               flag;    /* cell_or_freevar, index_is_slice, is_kw */
    uint8_t            prop;    /* td_prop_t of a TensorPropertySource */
    bool               local_root;
    uint16_t           depth;
    PyObject *const   *keys; /* borrowed: whoever makes the block keeps them alive */
    td_src_id_t const *subs;
    int64_t            start; /* INDEX: index of the first; else 0 */
} td_src_block_t;

typedef struct {
    PyTypeObject *enum_type; /* borrowed: enum.Enum */
    PyTypeObject *flag_type; /* borrowed: enum.Flag; may be NULL */
    PyTypeObject *
        torch_types[3]; /* borrowed: exact types whose repr is C code of torch's own; may be NULL */
    td_src_block_t *blocks; /* owned */
    uint32_t        block_cnt, block_cap;
    td_src_id_t     next;         /* next free number, from 1 */
    bool            has_odd_keys; /* some index is no literal, or NaN: see td_index.h */
} td_sources_t;

void td_sources_init(td_sources_t *sources, PyTypeObject *enum_type);
void td_sources_clear(td_sources_t *sources);

/* td_source_block_add makes cnt sources of one base (NULL: roots) and gives the
   first; the others follow.  where is used for roots only: a chained source asks
   its base.  at->id is 0 when memory ran out. */
td_at_t td_source_block_add(td_sources_t *sources, td_at_t const *base, td_source_class_t cls,
                            td_src_payload_t payload, PyObject *const *keys,
                            td_src_id_t const *subs, uint32_t cnt, td_where_t where);

/* td_source_property makes TensorPropertySource(base, prop, idx); idx counts for sizes
   and strides only.  id 0: memory ran out. */
td_at_t td_source_property(td_sources_t *sources, td_at_t const *base, td_prop_t prop,
                           uint32_t idx);

/* td_source_item gives the source of a list's or tuple's i-th item after a block
   of INDEX was made; td_source_nth of any block. */
static inline td_at_t
td_source_nth(td_at_t const *first, uint32_t idx)
{
    td_at_t at = *first;

    at.id += idx;
    return at;
}

/* td_source_block finds a source's block; never NULL for a valid id. */
td_src_block_t const *td_source_block(td_sources_t const *sources, td_src_id_t id);

/* td_source_key gives the object that makes id differ in its block (borrowed;
   NULL for INDEX and NOTHING). */
PyObject *td_source_key(td_src_block_t const *block, td_src_id_t id);

/* td_source_name puts what Source.name() gives.  False: memory ran out, or a
   Python exception is set (a repr failed). */
bool td_source_name(td_sources_t const *sources, td_src_id_t id, td_buf_t *out);

/* td_source_repr puts what repr() gives: class, and fields by name.  1: done; 0: a field is of
   a class whose repr is code of somebody's, or says where it lies; -1: memory ran out, or a
   Python exception is set. */
int td_source_repr(td_sources_t const *sources, td_src_id_t id, td_buf_t *out);

/* td_source_equal compares as the dataclasses do: class and fields, where fields
   are compared as Python compares them (1, True and 1.0 are one index).
   td_source_hash agrees with it. */
bool     td_source_equal(td_sources_t const *sources, td_src_id_t a, td_src_id_t b);
uint32_t td_source_hash(td_sources_t const *sources, td_src_id_t id);

/* td_source_is_hashable: whether the source may be a key of a dict; a slice in an index is
   not. */
bool td_source_is_hashable(td_sources_t const *sources, td_src_id_t id);

/* td_source_same_guard says whether guards of a and b that are else alike are one
   member of a set: sources that are equal and called the same. */
bool td_source_same_guard(td_sources_t const *sources, td_src_id_t a, td_src_id_t b);

/* td_source_raised: the guard source for which the tables of module sources have
   no entry: the argument of the KeyError of a RAISES. */
td_where_t td_source_raised(td_sources_t const *sources, td_src_id_t id);

#endif
