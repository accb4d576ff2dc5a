/* td_fxname.h: how torch.fx and Dynamo name things; pure C.

   A *target* is the name under which Dynamo asks for a graph input or a module
   ("L_x_0_"); the fx graph makes a *node name* of it ("l_x_0_") that is unique in
   its *namespace*.  The two are made unique by different rules. */
#ifndef TD_BUILDER_FXNAME_H
#define TD_BUILDER_FXNAME_H

#include <stdbool.h>

#include "base/td_arena.h"
#include "base/td_status.h"
#include "builder/td_buf.h"
#include "builder/td_map.h"

/* td_fxname_target puts text with every run of other characters than ASCII
   letters and digits as one underscore: re.sub(r"[^a-zA-Z0-9]+", "_", text). */
void td_fxname_target(td_buf_t *out, char const *text, size_t sz);

/* td_fxname_module_key puts the name under which register_attr_or_module looks
   for a free key: L['x'] and G['x'] are stripped when they are the whole text,
   [3] becomes _3, each other character than a letter or digit one underscore,
   and a name that does not begin with a letter gets "sub" in front. */
void td_fxname_module_key(td_buf_t *out, char const *text, size_t sz);

/* td_fxname_snake puts fx's snake_case of an ASCII text. */
void td_fxname_snake(td_buf_t *out, char const *text, size_t sz);

/* td_fxname_free_suffix puts base itself when taken does not have it, else
   base_0, base_1, ...: the first that is free. */
void td_fxname_free_suffix(td_buf_t *out, td_smap_t const *taken, char const *base, size_t sz);

typedef bool (*td_fxname_reserved_t)(void *ctx, char const *name, size_t sz);

typedef struct {
    char const *text; /* in the arena */
    uint64_t    num;  /* as a base: the last number that was given behind it */
    bool        used; /* as a name */
} td_fxname_row_t;

typedef struct {
    td_arena_t          *arena;    /* borrowed: the texts of names */
    td_smap_t            by_text;  /* names given, and bases that names were made of: indices of
                                      rows, since most are both */
    td_fxname_row_t     *rows;     /* owned */
    uint32_t             row_cnt, row_cap;
    td_fxname_reserved_t reserved; /* a keyword, a builtin, or a global of generated code */
    void                *ctx;
    td_buf_t             base, out; /* what a name is made in */
} td_namespace_t;

void td_namespace_init(td_namespace_t *space, td_arena_t *arena, td_fxname_reserved_t reserved,
                       void *ctx);
void td_namespace_clear(td_namespace_t *space);

/* td_namespace_create gives the name that fx's _Namespace.create_name gives for
   candidate (ASCII) and an object that has none yet; *name lives in the arena.
   TD_NOMEM; TD_LIMIT for a numeric suffix beyond 64 bits. */
td_status_t td_namespace_create(td_namespace_t *space, char const *candidate, size_t sz,
                                char const **name, size_t *name_sz);

#endif
