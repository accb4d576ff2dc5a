/* side_reference.c: the reference as a side. */
#include "base/td_alloc.h"
#include "check/td_side.h"

#include <stdio.h>

typedef struct {
    td_side_t       side;
    td_reference_t *reference; /* borrowed */
} side_reference_t;

static td_status_t
reference_run(td_side_t *side, td_live_t const *live, td_run_limit_t const *limit, td_run_t *run)
{
    side_reference_t *self   = (side_reference_t *)side;
    td_status_t       status = td_reference_run(self->reference, live, limit, run);

    if (status != TD_OK && status != TD_PYERR) {
        snprintf(side->why, sizeof side->why, "reference: %s", td_status_text(status));
    }
    return status;
}

static void
reference_free(td_side_t *side)
{
    td_free(side);
}

td_side_t *
td_side_reference_new(td_reference_t *reference)
{
    side_reference_t *self = td_calloc(1, sizeof *self);

    if (self == NULL) {
        return NULL;
    }
    self->side.name = "reference";
    self->side.run  = reference_run;
    self->side.free = reference_free;
    self->reference = reference;
    return &self->side;
}
