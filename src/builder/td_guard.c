/* td_guard.c: guards, and sets of them. */
#include "builder/td_guard.h"

#include <string.h>

#include "base/td_alloc.h"

char const *
td_guard_kind_name(td_guard_kind_t kind)
{
    static char const *const names[TD_GUARD_KIND_CNT] = {
        [TD_GUARD_NONE] = "",
#define X(name) [TD_GUARD_##name] = #name,
#include "builder/guards.def"
#undef X
    };

    return (unsigned)kind < TD_GUARD_KIND_CNT ? names[kind] : "";
}

void
td_guards_init(td_guards_t *guards)
{
    memset(guards, 0, sizeof *guards);
    guards->cnt = 1;
}

void
td_guards_clear(td_guards_t *guards)
{
    td_free(guards->guards);
    memset(guards, 0, sizeof *guards);
}

bool
td_guards_grow(td_guards_t *guards)
{
    enum { FIRST = 64, MANY = 1 << 14 };
    uint32_t    cap   = guards->cap == 0 ? FIRST : (guards->cap < MANY ? 4 : 2) * guards->cap;
    td_guard_t *grown = td_realloc(guards->guards, cap * sizeof *grown);

    if (grown == NULL) {
        return false;
    }
    guards->guards = grown;
    guards->cap    = cap;
    return true;
}
