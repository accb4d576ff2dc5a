/* subject_refuses.c: a subject that calls an arm done and answers "unsupported"
   for it, or for an arm that it never claimed when the object is a float. */
#include "builder/td_abi.h"

static int
program_open(td_abi_program_v1 const *program, void **self)
{
    *self = (void *)program;
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
    (void)self;
    outcome->kind     = TD_ABI_UNSUPPORTED;
    outcome->arm      = PyFloat_CheckExact(root->value) ? "L2/undone" : "L1/done";
    outcome->why      = "refused";
    outcome->function = "root";
    return 0;
}

static int
frame_observe(void *self, td_abi_sink_v1 sink, void *ctx)
{
    (void)self, (void)sink, (void)ctx;
    return 0;
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

static char const *const done[] = {"L1/done", "literal"};

static td_abi_subject_v1 const table = {
    .struct_sz      = sizeof table,
    .name           = "refuses",
    .abi_version    = TD_ABI_VERSION,
    .schema_version = 1,
    .done           = done,
    .done_cnt       = 2,
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
