/* side_recorded.c: what the reference did once, in the reference's place. */
#include "check/td_side.h"

#include <stdio.h>

#include "base/td_alloc.h"

typedef struct {
    td_side_t                  side;
    td_recorded_frame_t const *frames; /* borrowed; those of the next program */
    size_t                     frame_cnt;
} side_recorded_t;

static bool
compiles(td_live_t const *live)
{
    for (Py_ssize_t frame = 0; frame < PyList_GET_SIZE(live->frames); frame++) {
        PyObject *steps = PyList_GET_ITEM(live->frames, frame); /* borrowed */

        for (Py_ssize_t step = 0; step < PyList_GET_SIZE(steps); step++) {
            if (td_step_is_compile(PyList_GET_ITEM(steps, step))) {
                return true;
            }
        }
    }
    return false;
}

/* What each root's outcome was is in the frame's record alone. */
static td_status_t
recorded_run(td_side_t *side, td_live_t const *live, td_run_limit_t const *limit, td_run_t *run)
{
    td_status_t      status;
    side_recorded_t *self = (side_recorded_t *)side;

    (void)limit; /* what was recorded cannot be cut: whoever judges knows */
    TD_TRY(td_side_frames_alloc(live, run));
    /* What stands behind the program's frames are contexts that only a compiler makes. */
    if (run->frame_cnt > self->frame_cnt || (run->frame_cnt < self->frame_cnt && !compiles(live))) {
        snprintf(side->why, sizeof side->why, "%zu frames are recorded, the program has %zu",
                 self->frame_cnt, run->frame_cnt);
        return TD_REJECT;
    }
    for (size_t frame = 0; frame < run->frame_cnt; frame++) {
        run->frames[frame].bytes    = self->frames[frame].bytes;
        run->frames[frame].bytes_sz = self->frames[frame].bytes_sz;
        if (self->frames[frame].record_cnt >= run->frames[frame].outcome_cnt) {
            run->frames[frame].records = self->frames[frame].records;
        }
        for (size_t step = 0; step < run->frames[frame].outcome_cnt; step++) {
            run->frames[frame].outcomes[step].kind = TD_OUTCOME_TRACKER;
        }
    }
done:
    return status;
}

static void
recorded_free(td_side_t *side)
{
    td_free(side);
}

td_side_t *
td_side_recorded_new(void)
{
    side_recorded_t *self = td_calloc(1, sizeof *self);

    if (self == NULL) {
        return NULL;
    }
    self->side.name = "recorded";
    self->side.run  = recorded_run;
    self->side.free = recorded_free;
    return &self->side;
}

void
td_side_recorded_set(td_side_t *side, td_recorded_frame_t const *frames, size_t frame_cnt)
{
    ((side_recorded_t *)side)->frames    = frames;
    ((side_recorded_t *)side)->frame_cnt = frame_cnt;
}
