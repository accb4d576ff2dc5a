/* subject_liar.c: a subject that says of every root that it built it, and of
   every frame the same wrong thing.  It is also what a third party's smallest
   subject looks like: this header, a table, one exported function. */
#include "builder/td_abi.h"

static int
program_open(td_abi_program_v1 const *program, void **self)
{
    *self = (void *)program; /* anything that is not NULL: there is no state */
    return 0;
}

static int
frame_open(void *self, td_abi_frame_v1 const *frame)
{
    (void)self, (void)frame;
    return 0;
}

static int
root(void *self, td_abi_root_v1 const *root, td_abi_outcome_v1 *outcome)
{
    (void)self, (void)root;
    outcome->kind     = TD_ABI_TRACKER;
    outcome->arm      = "L1/lie";
    outcome->why      = "";
    outcome->function = "root";
    return 0;
}

static int
frame_observe(void *self, td_abi_sink_v1 sink, void *ctx)
{
    static uint8_t const no_observation[] = "nothing to see here";

    (void)self;
    return sink(ctx, no_observation, sizeof no_observation - 1);
}

static void
close_nothing(void *self)
{
    (void)self;
}

static char const *
no_error(void *self)
{
    (void)self;
    return "";
}

static td_abi_subject_v1 const table = {
    .struct_sz      = sizeof table,
    .name           = "liar",
    .abi_version    = TD_ABI_VERSION,
    .schema_version = 1,
    .program_open   = program_open,
    .frame_open     = frame_open,
    .root           = root,
    .frame_observe  = frame_observe,
    .frame_close    = close_nothing,
    .program_close  = close_nothing,
    .error          = no_error,
};

td_abi_subject_v1 const *
td_subject_v1(void)
{
    return &table;
}
