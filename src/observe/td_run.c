/* td_run.c: the lifetime of a run. */
#include "observe/td_run.h"

#include <string.h>

void
td_run_init(td_run_t *run)
{
    memset(run, 0, sizeof *run);
    td_arena_init(&run->arena);
}

void
td_run_clear(td_run_t *run)
{
    td_arena_clear(&run->arena);
    td_run_init(run);
}
