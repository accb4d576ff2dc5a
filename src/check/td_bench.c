/* td_bench.c: passes that are timed. */
#include "check/td_bench.h"

#include <limits.h>
#include <malloc.h>
#include <string.h>

#include "base/td_alloc.h"
#include "base/td_clock.h"
#include "check/td_check_private.h"
#include "reference/td_bare.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define HAVE_CALLGRIND 1
#else
#define HAVE_CALLGRIND                  0
#define CALLGRIND_ZERO_STATS            ((void)0)
#define CALLGRIND_START_INSTRUMENTATION ((void)0)
#define CALLGRIND_STOP_INSTRUMENTATION  ((void)0)
#define CALLGRIND_DUMP_STATS_AT(name)   ((void)(name))
#endif

bool
td_bench_counts(void)
{
    return HAVE_CALLGRIND;
}

uint64_t
td_bench_clock_ns(void)
{
    enum { ROUNDS = 1000 };
    uint64_t before = td_clock_ns();

    for (int round = 1; round < ROUNDS; round++) {
        (void)td_clock_ns();
    }
    return (td_clock_ns() - before) / ROUNDS;
}

uint64_t
td_bench_making_ns(td_check_t const *check)
{
    return check->making_ns;
}

void
td_bench_keep_memory(void)
{
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

/* ---- objects ------------------------------------------------------------------ */

static td_status_t
objects_make(td_check_t *check, td_maker_t const *maker, td_live_t *live, td_bench_t *bench)
{
    td_status_t status;
    uint64_t    before = td_clock_ns();

    if (maker->prog != NULL) {
        TD_TRY(td_reference_reset(check->reference));
        bench->reset_ns += td_clock_ns() - before;
        before = td_clock_ns();
        TD_TRY(td_live_from_program(maker->prog, live));
    } else {
        TD_TRY(td_maker_make(check, maker, live));
    }
    bench->make_ns += td_clock_ns() - before;
done:
    return status;
}

static void
objects_drop(td_live_t *live, td_bench_t *bench)
{
    uint64_t before = td_clock_ns();

    td_live_clear(live);
    bench->make_ns += td_clock_ns() - before;
}

/* ---- the subject -------------------------------------------------------------- */

/* Bytes that malloc has given out, to whomever. */
static size_t
memory_in_use(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static td_status_t
subject_failed(td_subject_run_t *run, td_abi_subject_v1 const *table, char const *call)
{
    char const *why = table->error(run->self);

    PyErr_Clear();
    return td_check_fail(TD_INTERNAL, "subject %s: %s failed: %s", table->name, call,
                         why == NULL ? "no reason given" : why);
}

/* Builds cnt roots, up to the first that is not built; gives how many were. */
static td_status_t
roots_time(td_subject_run_t *run, td_abi_root_v1 const *roots, size_t cnt, td_bench_t *bench,
           size_t *built)
{
    td_abi_subject_v1 const *table   = td_side_subject_table(run->side);
    td_abi_outcome_v1        outcome = {.struct_sz = sizeof outcome};
    size_t                   held    = bench->want_memory ? memory_in_use() : 0;
    uint64_t                 before;
    int                      failed = 0;
    size_t                   idx    = 0;

    if (bench->count != NULL) {
        CALLGRIND_START_INSTRUMENTATION;
        CALLGRIND_ZERO_STATS;
    }
    before = td_clock_ns();
    for (; idx < cnt; idx++) {
        failed = table->root(run->self, &roots[idx], &outcome);
        if (failed != 0 || outcome.kind == TD_ABI_UNSUPPORTED || outcome.kind == TD_ABI_POISONED) {
            break;
        }
    }
    bench->roots_ns += td_clock_ns() - before;
    bench->stretch_cnt++;
    if (bench->count != NULL) {
        CALLGRIND_DUMP_STATS_AT(bench->count);
        CALLGRIND_STOP_INSTRUMENTATION;
    }
    bench->memory_sz += bench->want_memory ? memory_in_use() - held : 0;
    bench->root_cnt += idx;
    *built = idx;
    return failed == 0 ? TD_OK : subject_failed(run, table, "root");
}

/* Roots that stand beside each other are timed in one go: a reading of the clock costs
   more than a small root. */
static td_status_t
stretch_time(td_subject_run_t *run, PyObject *steps, Py_ssize_t begin, Py_ssize_t end,
             td_bench_t *bench)
{
    size_t          cnt   = (size_t)(end - begin);
    size_t          built = 0;
    td_abi_root_v1 *roots = td_calloc(cnt, sizeof *roots); /* owned */
    td_status_t     status;

    if (roots == NULL) {
        return TD_NOMEM;
    }
    for (size_t idx = 0; idx < cnt; idx++) {
        PyObject *step = PyList_GET_ITEM(steps, begin + (Py_ssize_t)idx); /* borrowed */

        roots[idx].struct_sz = sizeof *roots;
        roots[idx].spec      = PyTuple_GET_ITEM(step, 0);
        roots[idx].value     = PyTuple_GET_ITEM(step, 1);
    }
    status = roots_time(run, roots, cnt, bench, &built);
    bench->stopped_cnt += cnt - built;
    run->stopped = built < cnt;
    td_free(roots);
    return status;
}

static td_status_t
steps_time(td_subject_run_t *run, PyObject *steps, td_bench_t *bench)
{
    td_status_t status = TD_OK;
    Py_ssize_t  cnt    = PyList_GET_SIZE(steps);

    for (Py_ssize_t at = 0; at < cnt;) {
        Py_ssize_t end = at;

        while (end < cnt && !td_step_is_do(PyList_GET_ITEM(steps, end))) {
            end++;
        }
        if (end == at) {
            TD_TRY(td_subject_run_step(run, (size_t)at, false));
            end++;
        } else if (run->stopped) {
            bench->stopped_cnt += (size_t)(end - at);
        } else {
            TD_TRY(stretch_time(run, steps, at, end, bench));
        }
        at = end;
    }
done:
    return status;
}

static td_status_t
frame_time(td_subject_run_t *run, size_t frame_idx, td_bench_t *bench)
{
    td_status_t              status;
    td_abi_subject_v1 const *table  = td_side_subject_table(run->side);
    uint64_t                 before = td_clock_ns();

    TD_TRY(td_subject_run_frame(run, frame_idx));
    bench->context_ns += td_clock_ns() - before;
    TD_TRY(steps_time(run, PyList_GET_ITEM(run->live->frames, (Py_ssize_t)frame_idx), bench));
    before = td_clock_ns();
    table->frame_close(run->self);
    run->open = false;
    Py_CLEAR(run->globals);
    Py_CLEAR(run->locals);
    bench->context_ns += td_clock_ns() - before;
done:
    return status;
}

static td_status_t
subject_time(td_check_t *check, td_live_t const *live, td_bench_t *bench)
{
    td_status_t      status;
    td_subject_run_t run;
    td_run_t        *out      = &check->runs[TD_SIDE_SUBJECT];
    int              collects = PyGC_Disable(); /* as for the reference */
    uint64_t         before   = td_clock_ns();

    td_run_recycle(out);
    TD_TRY(td_subject_run_open(&run, check->sides[TD_SIDE_SUBJECT], live, out));
    for (size_t frame_idx = 0; frame_idx < out->frame_cnt; frame_idx++) {
        TD_TRY(frame_time(&run, frame_idx, bench));
    }
done:
    td_subject_run_close(&run);
    bench->run_ns += td_clock_ns() - before;
    if (collects) {
        PyGC_Enable();
    }
    return status;
}

/* ---- the reference ------------------------------------------------------------ */

static td_status_t
reference_time(td_check_t *check, td_live_t const *live, td_bench_t *bench)
{
    td_bare_t   bare   = {0};
    uint64_t    before = td_clock_ns();
    td_status_t status = td_bare_run(check->reference, live, &bare);

    bench->run_ns += td_clock_ns() - before;
    bench->context_ns += bare.context_ns;
    bench->roots_ns += bare.roots_ns;
    bench->root_cnt += bare.root_cnt;
    bench->stretch_cnt += bare.root_cnt;
    return status;
}

/* ---- a pass ------------------------------------------------------------------- */

static td_status_t
pass(td_check_t *check, td_maker_t const *maker, td_which_t which, td_bench_t *bench)
{
    td_status_t status;
    td_live_t   live = {0}; /* owned */

    if (which == TD_SIDE_SUBJECT && td_side_subject_table(check->sides[which]) == NULL) {
        return td_check_fail(TD_INTERNAL, "there is no subject to measure");
    }
    TD_TRY(objects_make(check, maker, &live, bench));
    if (which == TD_SIDE_SUBJECT) {
        TD_TRY(subject_time(check, &live, bench));
    } else {
        TD_TRY(reference_time(check, &live, bench));
    }
done:
    objects_drop(&live, bench);
    if (status != TD_OK && status != TD_PYERR && status != TD_INTERNAL) {
        td_check_fail(status, "%s", td_status_text(status));
    }
    return status;
}

td_status_t
td_bench_program(td_check_t *check, td_prog_t const *prog, td_which_t which, td_bench_t *bench)
{
    td_maker_t maker = {.prog = prog};

    return pass(check, &maker, which, bench);
}

td_status_t
td_bench_case(td_check_t *check, td_case_t const *in, td_which_t which, td_bench_t *bench)
{
    td_maker_t maker = {.in = in};

    return pass(check, &maker, which, bench);
}
