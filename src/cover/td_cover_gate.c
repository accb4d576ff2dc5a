/* td_cover_gate.c: the subject's table once more, with a gate at each function: an
   allocation of CPython's may fail inside, and none does outside (td_cover.h).

   The subject's own table goes by another name in this library (scripts/tandem.cmake). */
#include "builder/td_abi.h"
#include "py/td_py_audit.h"

static td_abi_subject_v1 const *
plain(void)
{
    return td_subject_v1();
}

#undef td_subject_v1

/* ---- inside -------------------------------------------------------------------------- */

static int
program_open(td_abi_program_v1 const *program, void **self)
{
    int failed;

    td_py_nomem_release();
    failed = plain()->program_open(program, self);
    td_py_nomem_hold();
    return failed;
}

static int
frame_open(void *self, td_abi_frame_v1 const *frame)
{
    int failed;

    td_py_nomem_release();
    failed = plain()->frame_open(self, frame);
    td_py_nomem_hold();
    return failed;
}

static int
root(void *self, td_abi_root_v1 const *in, td_abi_outcome_v1 *out)
{
    int failed;

    td_py_nomem_release();
    failed = plain()->root(self, in, out);
    td_py_nomem_hold();
    return failed;
}

static void
frame_close(void *self)
{
    td_py_nomem_release();
    plain()->frame_close(self);
    td_py_nomem_hold();
}

static void
program_close(void *self)
{
    td_py_nomem_release();
    plain()->program_close(self);
    td_py_nomem_hold();
}

/* ---- and out again -------------------------------------------------------------------- */

typedef struct {
    td_abi_sink_v1 sink;
    void (*row)(void *ctx, char const *path, char const *arm, char const *function);
    void *ctx;
} out_t;

static int
sink_held(void *ctx, uint8_t const *bytes, size_t sz)
{
    out_t const *out = ctx;
    int          failed;

    td_py_nomem_hold();
    failed = out->sink(out->ctx, bytes, sz);
    td_py_nomem_release();
    return failed;
}

static int
frame_observe(void *self, td_abi_sink_v1 sink, void *ctx)
{
    out_t out = {.sink = sink, .ctx = ctx};
    int   failed;

    td_py_nomem_release();
    failed = plain()->frame_observe(self, sink_held, &out);
    td_py_nomem_hold();
    return failed;
}

static void
row_held(void *ctx, char const *path, char const *arm, char const *function)
{
    out_t const *out = ctx;

    td_py_nomem_hold();
    out->row(out->ctx, path, arm, function);
    td_py_nomem_release();
}

static int
trail(void *self, void (*row)(void *ctx, char const *path, char const *arm, char const *function),
      void *ctx)
{
    out_t out = {.row = row, .ctx = ctx};
    int   failed;

    td_py_nomem_release();
    failed = plain()->trail(self, row_held, &out);
    td_py_nomem_hold();
    return failed;
}

/* ---- the table ------------------------------------------------------------------------ */

__attribute__((visibility("default"))) td_abi_subject_v1 const *
td_subject_v1(void)
{
    static td_abi_subject_v1 table;

    table               = *plain();
    table.program_open  = program_open;
    table.frame_open    = frame_open;
    table.root          = root;
    table.frame_observe = frame_observe;
    table.frame_close   = frame_close;
    table.program_close = program_close;
    table.trail         = trail;
    return &table;
}
