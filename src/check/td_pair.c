/* td_pair.c: running both sides, each on objects of its own. */
#include "check/td_check_private.h"

#include <string.h>

#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "base/td_clock.h"
#include "py/td_py_audit.h"

void
td_run_recycle(td_run_t *run)
{
    td_arena_t arena = run->arena;

    td_arena_reset(&arena);
    memset(run, 0, sizeof *run);
    run->arena = arena;
}

/* ---- objects ------------------------------------------------------------------ */

static td_status_t
frames_are_sound(PyObject *frames)
{
    if (!PyList_Check(frames)) {
        PyErr_Format(PyExc_TypeError, "frames() gave %.100s, not a list of frames",
                     Py_TYPE(frames)->tp_name);
        return TD_PYERR;
    }
    return TD_OK;
}

static td_status_t
live_from_case(td_case_t const *in, td_live_t *live)
{
    td_status_t status = TD_PYERR;
    PyObject   *frames = NULL; /* owned */

    if (PyCallable_Check(in->frames)) {
        frames = PyObject_CallNoArgs(in->frames);
    } else {
        frames = Py_NewRef(in->frames);
    }
    if (frames != NULL) {
        status = frames_are_sound(frames);
    }
    if (status == TD_OK) {
        status = td_live_from_case(frames, in->config, in->constraints, in->export_mode, in->shared,
                                   live);
    }
    Py_XDECREF(frames);
    return status;
}

td_status_t
td_maker_make(td_check_t *check, td_maker_t const *maker, td_live_t *live)
{
    td_status_t status;
    uint64_t    before = 0;

    *live = (td_live_t){0};
    TD_TRY(td_reference_reset(check->reference));
    before = td_clock_ns();
    if (maker->prog != NULL) {
        TD_TRY(td_live_from_program(maker->prog, live));
    } else {
        TD_TRY(live_from_case(maker->in, live));
    }
    check->making_ns += td_clock_ns() - before;
done:
    return status;
}

/* ---- the plan ------------------------------------------------------------------- */

static char const *
entry_of(PyObject *spec)
{
    static char const *const words[] = {"do",       "sourceless", "fxcall",
                                        "fxmethod", "method",     "compile"};
    PyObject                *word    = PyTuple_GET_ITEM(spec, 0); /* borrowed */

    for (size_t idx = 0; idx < sizeof words / sizeof *words; idx++) {
        if (PyUnicode_Check(word) && PyUnicode_CompareWithASCIIString(word, words[idx]) == 0) {
            return words[idx];
        }
    }
    return "build";
}

static td_status_t
plan_make(td_check_t *check, td_live_t const *live, td_plan_t *plan)
{
    plan->frame_cnt = (size_t)PyList_GET_SIZE(live->frames);
    plan->live_cnt  = plan->frame_cnt;
    plan->entries   = td_arena_alloc(&check->arena, plan->frame_cnt * sizeof *plan->entries);
    plan->step_cnt  = td_arena_alloc(&check->arena, plan->frame_cnt * sizeof *plan->step_cnt);
    if (plan->entries == NULL || plan->step_cnt == NULL) {
        return TD_NOMEM;
    }
    for (size_t frame = 0; frame < plan->frame_cnt; frame++) {
        PyObject *steps = PyList_GET_ITEM(live->frames, (Py_ssize_t)frame); /* borrowed */
        size_t    cnt   = (size_t)PyList_GET_SIZE(steps);

        plan->step_cnt[frame] = cnt;
        plan->entries[frame]  = td_arena_alloc(&check->arena, cnt * sizeof **plan->entries);
        if (plan->entries[frame] == NULL) {
            return TD_NOMEM;
        }
        for (size_t step = 0; step < cnt; step++) {
            PyObject *pair = PyList_GET_ITEM(steps, (Py_ssize_t)step); /* borrowed */

            plan->entries[frame][step] = entry_of(PyTuple_GET_ITEM(pair, 0));
        }
    }
    return TD_OK;
}

static bool
frame_fits(PyObject *steps, td_plan_t const *plan, size_t frame)
{
    if ((size_t)PyList_GET_SIZE(steps) != plan->step_cnt[frame]) {
        return false;
    }
    for (size_t step = 0; step < plan->step_cnt[frame]; step++) {
        PyObject *pair = PyList_GET_ITEM(steps, (Py_ssize_t)step); /* borrowed */

        if (strcmp(entry_of(PyTuple_GET_ITEM(pair, 0)), plan->entries[frame][step]) != 0) {
            return false;
        }
    }
    return true;
}

static td_status_t
plan_fits(td_live_t const *live, td_plan_t const *plan)
{
    size_t cnt = (size_t)PyList_GET_SIZE(live->frames);

    if (cnt != plan->live_cnt) {
        PyErr_Format(PyExc_TypeError,
                     "frames() gave %zu frames, then %zu: it must give the same at every call",
                     plan->live_cnt, cnt);
        return TD_PYERR;
    }
    for (size_t frame = 0; frame < cnt; frame++) {
        if (!frame_fits(PyList_GET_ITEM(live->frames, (Py_ssize_t)frame), plan, frame)) {
            PyErr_Format(PyExc_TypeError,
                         "frames() gave another frame %zu: it must give the same at every call",
                         frame);
            return TD_PYERR;
        }
    }
    return TD_OK;
}

td_status_t
td_plan_hold(td_check_t *check, td_live_t const *live, td_plan_t *plan)
{
    return plan->step_cnt == NULL ? plan_make(check, live, plan) : plan_fits(live, plan);
}

bool
td_plan_is_compile(td_plan_t const *plan, size_t frame, size_t step)
{
    return strcmp(plan->entries[frame][step], "compile") == 0;
}

bool
td_plan_is_root(td_plan_t const *plan, size_t frame, size_t step)
{
    return strcmp(plan->entries[frame][step], "do") != 0 && !td_plan_is_compile(plan, frame, step);
}

static bool
plan_compiles(td_plan_t const *plan)
{
    for (size_t frame = 0; frame < plan->live_cnt; frame++) {
        for (size_t step = 0; step < plan->step_cnt[frame]; step++) {
            if (td_plan_is_compile(plan, frame, step)) {
                return true;
            }
        }
    }
    return false;
}

/* plan_grow adds the contexts of run to a plan that has none yet. */
static td_status_t
plan_grow(td_check_t *check, td_run_t const *run, td_plan_t *plan)
{
    char const ***entries  = td_arena_alloc(&check->arena, run->frame_cnt * sizeof *entries);
    size_t       *step_cnt = td_arena_alloc(&check->arena, run->frame_cnt * sizeof *step_cnt);

    if (entries == NULL || step_cnt == NULL) {
        return TD_NOMEM;
    }
    memcpy(entries, plan->entries, plan->frame_cnt * sizeof *entries);
    memcpy(step_cnt, plan->step_cnt, plan->frame_cnt * sizeof *step_cnt);
    for (size_t frame = plan->frame_cnt; frame < run->frame_cnt; frame++) {
        size_t cnt = run->frames[frame].outcome_cnt;

        step_cnt[frame] = cnt;
        entries[frame]  = td_arena_alloc(&check->arena, cnt * sizeof **entries);
        if (entries[frame] == NULL) {
            return TD_NOMEM;
        }
        for (size_t step = 0; step < cnt; step++) {
            entries[frame][step] = run->frames[frame].outcomes[step].entry;
        }
    }
    plan->entries   = entries;
    plan->step_cnt  = step_cnt;
    plan->frame_cnt = run->frame_cnt;
    return TD_OK;
}

static bool
contexts_fit(td_run_t const *run, td_plan_t const *plan)
{
    if (run->frame_cnt != plan->frame_cnt) {
        return false;
    }
    for (size_t frame = plan->live_cnt; frame < plan->frame_cnt; frame++) {
        if (run->frames[frame].outcome_cnt != plan->step_cnt[frame]) {
            return false;
        }
    }
    return true;
}

/* Every run of one program makes the same contexts, and both sides the same. */
static td_status_t
plan_join(td_check_t *check, td_run_t const runs[TD_SIDE_CNT], td_plan_t *plan)
{
    td_status_t     status    = TD_OK;
    td_run_t const *reference = &runs[TD_SIDE_REFERENCE];

    if (reference->failed != NULL || !plan_compiles(plan)) {
        return TD_OK;
    }
    if (plan->frame_cnt == plan->live_cnt) {
        TD_TRY(plan_grow(check, reference, plan));
    }
    for (size_t which = 0; which < TD_SIDE_CNT; which++) {
        if (!contexts_fit(&runs[which], plan)) {
            PyErr_SetString(PyExc_RuntimeError,
                            "a compile step made other contexts when it was run again");
            return TD_PYERR;
        }
    }
done:
    return status;
}

size_t
td_plan_root(td_plan_t const *plan, size_t frame, size_t step)
{
    size_t root = 0;

    for (size_t idx = 0; idx < step; idx++) {
        root += td_plan_is_root(plan, frame, idx);
    }
    return root;
}

/* ---- one side --------------------------------------------------------------------- */

static td_status_t
user_calls_take(td_live_t const *live, td_run_t *run)
{
    Py_ssize_t cnt = live->user_calls == NULL ? 0 : PyList_GET_SIZE(live->user_calls);

    run->user_calls = td_arena_alloc(&run->arena, (size_t)cnt * sizeof *run->user_calls);
    if (run->user_calls == NULL) {
        return TD_NOMEM;
    }
    for (Py_ssize_t idx = 0; idx < cnt; idx++) {
        Py_ssize_t  sz;
        char const *text = PyUnicode_AsUTF8AndSize(PyList_GET_ITEM(live->user_calls, idx), &sz);
        char const *copy = text == NULL ? NULL : td_arena_dup(&run->arena, text, (size_t)sz);

        if (copy == NULL) {
            return text == NULL ? TD_PYERR : TD_NOMEM;
        }
        run->user_calls[run->user_call_cnt++] = copy;
    }
    return TD_OK;
}

/* Replaces the bytes of each frame by what the lie makes of them. */
static td_status_t
lie_tell(td_check_t *check, td_which_t which, td_run_t *run)
{
    for (size_t frame = 0; check->lie[which] != NULL && frame < run->frame_cnt; frame++) {
        td_run_frame_t *honest = &run->frames[frame];
        uint8_t        *bytes  = NULL; /* owned */
        size_t          sz     = 0;

        if (honest->bytes == NULL || !check->lie[which](check->lie_ctx[which], frame, honest->bytes,
                                                        honest->bytes_sz, &bytes, &sz)) {
            continue;
        }
        honest->bytes    = (uint8_t const *)td_arena_dup(&run->arena, (char const *)bytes, sz);
        honest->bytes_sz = sz;
        td_free(bytes);
        if (honest->bytes == NULL) {
            return TD_NOMEM;
        }
    }
    return TD_OK;
}

/* What a reference would have said that is wrong about everything. */
static td_status_t
deafen(td_run_t *run)
{
    td_status_t status;
    uint8_t    *bytes = NULL; /* owned */
    size_t      sz    = 0;
    td_obs_t   *obs   = td_obs_new(); /* owned */

    if (obs == NULL) {
        return TD_NOMEM;
    }
    TD_TRY(td_obs_encode(obs, td_obs_cstr(obs, "wrong"), &bytes, &sz));
    for (size_t frame = 0; frame < run->frame_cnt; frame++) {
        td_run_frame_t *wrong = &run->frames[frame];

        wrong->bytes    = (uint8_t const *)td_arena_dup(&run->arena, (char const *)bytes, sz);
        wrong->bytes_sz = sz;
        if (wrong->bytes == NULL) {
            status = TD_NOMEM;
            goto done;
        }
        for (size_t step = 0; step < wrong->outcome_cnt; step++) {
            wrong->outcomes[step] = (td_outcome_t){.kind     = TD_OUTCOME_EXCEPTION,
                                                   .arm      = "L0/wrong",
                                                   .why      = "Wrong",
                                                   .function = "wrong"};
        }
    }
done:
    td_free(bytes);
    td_obs_free(obs);
    return status;
}

static td_status_t
run_on(td_check_t *check, td_which_t which, td_live_t const *live, td_run_limit_t const *limit,
       td_run_t *run)
{
    td_status_t status;
    td_side_t  *side = check->sides[which];

    td_run_recycle(run);
    TD_TRY(side->run(side, live, limit, run));
    TD_TRY(user_calls_take(live, run));
    TD_TRY(lie_tell(check, which, run));
    if (check->deaf && which == TD_SIDE_REFERENCE) {
        TD_TRY(deafen(run));
    }
done:
    return status;
}

/* made_run runs one side on objects that were made for it, which are given back. */
static td_status_t
made_run(td_check_t *check, td_which_t which, td_live_t *live, td_run_limit_t const *limit,
         td_run_t *run)
{
    td_status_t status = run_on(check, which, live, limit, run);
    uint64_t    before = td_clock_ns();

    td_live_clear(live);
    check->making_ns += td_clock_ns() - before;
    return status;
}

static td_status_t
run_side(td_check_t *check, td_maker_t const *maker, td_which_t which, td_run_limit_t const *limit,
         td_run_t *run, td_plan_t *plan)
{
    td_status_t status;
    td_live_t   live; /* owned */

    TD_TRY(td_maker_make(check, maker, &live));
    TD_TRY(td_plan_hold(check, &live, plan));
    return made_run(check, which, &live, limit, run);
done:
    td_live_clear(&live);
    return status;
}

td_status_t
td_pair_run_one(td_check_t *check, td_maker_t const *maker, td_which_t which, td_run_t *run)
{
    td_plan_t plan = {0};

    return run_side(check, maker, which, NULL, run, &plan);
}

/* ---- both ---------------------------------------------------------------------------- */

static td_status_t
run_shared(td_check_t *check, td_live_t *live, td_run_limit_t const *limit,
           td_run_t runs[TD_SIDE_CNT])
{
    td_status_t status;

    live->shared = 1;
    TD_TRY(td_pair_shared(check, live, limit, runs));
    TD_TRY(lie_tell(check, TD_SIDE_REFERENCE, &runs[TD_SIDE_REFERENCE]));
    TD_TRY(lie_tell(check, TD_SIDE_SUBJECT, &runs[TD_SIDE_SUBJECT]));
done:
    td_live_clear(live);
    return status;
}

/* run_apart gives each side objects of its own; live are those of the first. */
static td_status_t
run_apart(td_check_t *check, td_maker_t const *maker, td_live_t *live, td_run_limit_t const *limit,
          td_run_t runs[TD_SIDE_CNT], td_plan_t *plan)
{
    td_status_t status;
    td_which_t  first  = check->swapped ? TD_SIDE_SUBJECT : TD_SIDE_REFERENCE;
    td_which_t  second = check->swapped ? TD_SIDE_REFERENCE : TD_SIDE_SUBJECT;

    TD_TRY(made_run(check, first, live, limit, &runs[first]));
    /* With nothing to compare it to, the other side is not asked. */
    if (runs[TD_SIDE_REFERENCE].failed == NULL) {
        check->sides[second]->recorded = &runs[first];
        TD_TRY(run_side(check, maker, second, limit, &runs[second], plan));
    }
done:
    check->sides[second]->recorded = NULL;
    return status;
}

/* Objects that nobody can make twice are shared, and so are those that a subject meets in
   the compiler's own contexts. */
static bool
is_shared(td_check_t const *check, td_maker_t const *maker, td_plan_t const *plan)
{
    return (maker->in != NULL && maker->in->shared) ||
           (!check->recorded && td_side_subject_table(check->sides[TD_SIDE_SUBJECT]) != NULL &&
            plan_compiles(plan));
}

td_status_t
td_pair_run(td_check_t *check, td_maker_t const *maker, td_run_limit_t const *limit,
            td_run_t runs[TD_SIDE_CNT], td_plan_t *plan)
{
    td_status_t status;
    td_live_t   live; /* owned, handed on */

    td_run_recycle(&runs[TD_SIDE_REFERENCE]);
    td_run_recycle(&runs[TD_SIDE_SUBJECT]);
    TD_TRY(td_maker_make(check, maker, &live));
    status = td_plan_hold(check, &live, plan);
    if (status != TD_OK) {
        td_live_clear(&live);
        return status;
    }
    if (is_shared(check, maker, plan)) {
        TD_TRY(run_shared(check, &live, limit, runs));
    } else {
        TD_TRY(run_apart(check, maker, &live, limit, runs, plan));
    }
    TD_TRY(plan_join(check, runs, plan));
done:
    return status;
}

/* ---- the subject alone, audited -------------------------------------------------------- */

static td_status_t
census_compare(td_check_t *check, td_audit_t const *audit, PyObject *objects, char const **why)
{
    Py_ssize_t was, now;
    Py_ssize_t idx = td_audit_refs_differ(audit, &was, &now);

    if (idx >= 0) {
        *why = td_report_keepf(check, "object %zd (%s): %zd references before, %zd after", idx,
                               Py_TYPE(PyTuple_GET_ITEM(objects, idx))->tp_name, was, now);
    }
    return TD_OK;
}

/* The do steps of a program alone. */
static td_status_t
steps_do(td_live_t const *live)
{
    for (Py_ssize_t frame = 0; frame < PyList_GET_SIZE(live->frames); frame++) {
        PyObject *steps = PyList_GET_ITEM(live->frames, frame); /* borrowed */

        for (Py_ssize_t idx = 0; idx < PyList_GET_SIZE(steps); idx++) {
            PyObject *step   = PyList_GET_ITEM(steps, idx); /* borrowed */
            PyObject *result = NULL;                        /* owned */

            if (!td_step_is_do(step)) {
                continue;
            }
            result = PyObject_CallNoArgs(PyTuple_GET_ITEM(step, 1));
            Py_XDECREF(result);
            if (result == NULL) {
                return TD_PYERR;
            }
        }
    }
    return TD_OK;
}

/* What the program's own do steps change in the counts of its objects, seen on
   objects made for that: one number an object in *moved (owned by the caller). */
static td_status_t
census_of_steps(td_check_t *check, td_maker_t const *maker, Py_ssize_t **moved)
{
    td_status_t status;
    td_live_t   live;        /* owned */
    td_audit_t  audit = {0}; /* owned */

    TD_TRY(td_maker_make(check, maker, &live));
    TD_TRY(td_audit_init(&audit, live.objects));
    TD_TRY(steps_do(&live));
    *moved = td_calloc((size_t)PyTuple_GET_SIZE(live.objects) + 1, sizeof **moved);
    if (*moved == NULL) {
        status = TD_NOMEM;
        goto done;
    }
    for (Py_ssize_t idx = 0; idx < PyTuple_GET_SIZE(live.objects); idx++) {
        (*moved)[idx] = Py_REFCNT(PyTuple_GET_ITEM(live.objects, idx)) - audit.refcnts[idx];
    }
done:
    td_audit_clear(&audit);
    td_live_clear(&live);
    return status;
}

/* settle has the tables made that a process makes once: they hold objects that a program
   may bring too. */
static td_status_t
settle(td_check_t *check)
{
    PyObject *tables = td_reference_tables(check->reference); /* owned */

    Py_XDECREF(tables);
    return tables == NULL ? TD_PYERR : TD_OK;
}

/* A run that failed left out steps of the program: what they would have moved may be where
   it was. */
static void
allow_steps_left_out(td_audit_t *audit, PyObject *objects, Py_ssize_t const *moved)
{
    for (Py_ssize_t idx = 0; idx < PyTuple_GET_SIZE(objects); idx++) {
        Py_ssize_t with    = audit->refcnts[idx];
        Py_ssize_t without = with - moved[idx];
        Py_ssize_t now     = Py_REFCNT(PyTuple_GET_ITEM(objects, idx));

        if ((without <= now && now <= with) || (with <= now && now <= without)) {
            audit->refcnts[idx] = now;
        }
    }
}

td_status_t
td_quiet_run(td_check_t *check, td_maker_t const *maker, bool with_records, char const **why)
{
    td_status_t status;
    td_status_t ran   = TD_OK;
    td_live_t   live  = {0};  /* owned */
    td_audit_t  audit = {0};  /* owned */
    Py_ssize_t *moved = NULL; /* owned */
    td_run_t   *run   = &check->runs[TD_SIDE_SUBJECT];

    *why = NULL;
    TD_TRY(settle(check));
    TD_TRY(census_of_steps(check, maker, &moved));
    TD_TRY(td_maker_make(check, maker, &live));
    PyGC_Collect(); /* what garbage still holds would be let go while references are counted */
    TD_TRY(td_audit_init(&audit, live.objects));
    for (Py_ssize_t idx = 0; idx < PyTuple_GET_SIZE(live.objects); idx++) {
        audit.refcnts[idx] += moved[idx];
    }
    /* A subject that failed holds nothing either. */
    check->sides[TD_SIDE_SUBJECT]->recorded = with_records ? &check->runs[TD_SIDE_REFERENCE] : NULL;
    ran                                     = run_on(check, TD_SIDE_SUBJECT, &live, NULL, run);
    check->sides[TD_SIDE_SUBJECT]->recorded = NULL;
    if (ran != TD_OK) {
        allow_steps_left_out(&audit, live.objects, moved);
    }
    TD_TRY(census_compare(check, &audit, live.objects, why));
    status = *why == NULL ? ran : TD_OK;
done:
    td_free(moved);
    td_audit_clear(&audit);
    td_live_clear(&live);
    return status;
}
