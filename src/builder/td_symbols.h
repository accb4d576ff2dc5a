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
    bool         replaced; /* another symbol, at index by, stands for it: they are equal */
    uint32_t     by;
} td_symbol_t;

typedef struct {
    int64_t  value;
    uint32_t symbol;
} td_duck_t; /* of val_to_var, without 0 and 1 */

typedef struct {
    char const *x, *y; /* names, in the arena */
} td_symbol_guard_t;   /* Eq(x, y) */

typedef struct {
    td_symbol_t *at; /* owned */
    uint32_t     cnt, cap;
    uint32_t     unbacked_cnt; /* of those */
    td_duck_t   *ducks; /* owned, in order of insertion */
    uint32_t     duck_cnt, duck_cap;
    td_pmap_t    duck_by_value;
    td_symbol_guard_t *guards; /* owned */
    uint32_t           guard_cnt, guard_cap;
} td_symbols_t;

void td_symbols_init(td_symbols_t *symbols);
void td_symbols_clear(td_symbols_t *symbols);

#endif
