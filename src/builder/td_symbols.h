/* td_symbols.h: the symbols of a frame: what torch's ShapeEnv (2.1.2) knows once a
   build has made ints and sizes symbolic.

   A *symbol* stands for a number of the frame's inputs ("s0"), in order of
   creation.  A size that is *static* stays an int; one shaped by the *duck* shares
   the symbol of an equal number; a *dynamic* one has a symbol of its own.  0 and 1
   are never symbols.  An *unbacked* symbol ("i0") stands for a number that nobody
   has seen. */
#ifndef TD_BUILDER_SYMBOLS_H
#define TD_BUILDER_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/td_arena.h"
#include "builder/td_graph_in.h"
#include "builder/td_map.h"

typedef struct {
    char const  *name;  /* in the arena */
    PyObject    *value; /* int, borrowed from the frame's keep; NULL: unbacked */
    int64_t      lower, upper;
    td_src_id_t *sources; /* in the arena */
    uint32_t     source_cnt, source_cap;
    bool         replaced;  /* another symbol, at index by, stands for it: they are equal */
    bool         is_number; /* number stands for it */
    bool         is_refined;
    uint32_t     by;
    uint32_t     refined_at; /* is_refined: after so many others */
    int64_t      number;
    char const  *lower_guard, *upper_guard; /* what made its range narrower; or NULL */
} td_symbol_t;

typedef struct {
    int64_t  value;
    uint32_t symbol;
} td_duck_t; /* of val_to_var, without 0 and 1 */

typedef struct {
    char const *text; /* in the arena, as sympy spells it */
} td_symbol_guard_t;

typedef struct {
    uint32_t symbol; /* that is replaced */
    uint32_t by;     /* the symbol that took its place; TD_MAP_NONE: its number did */
} td_replacement_t;

typedef struct {
    td_symbol_t       *at; /* owned */
    uint32_t           cnt, cap;
    uint32_t           unbacked_cnt; /* of those */
    td_duck_t         *ducks;        /* owned, in order of insertion */
    uint32_t           duck_cnt, duck_cap;
    td_pmap_t          duck_by_value;
    td_symbol_guard_t *guards; /* owned */
    uint32_t           guard_cnt, guard_cap;
    td_replacement_t  *replacements; /* owned, in order of insertion */
    uint32_t           replacement_cnt, replacement_cap;
    struct {
        char const *source; /* in the arena: a dim's name */
        PyObject   *name;   /* borrowed from the frame's keep */
    } * debug_names;        /* owned, in order of insertion */
    uint32_t  debug_name_cnt, debug_name_cap;
    uint32_t  refined_cnt; /* symbols whose range was narrowed */
    td_smap_t asked;       /* questions, spelled in the arena */
    uint32_t  ask_cnt;     /* of those and of others that nobody wrote down, at most */
} td_symbols_t;

void td_symbols_init(td_symbols_t *symbols);
void td_symbols_clear(td_symbols_t *symbols);

#endif
