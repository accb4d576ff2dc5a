/* side_subject.c: a subject as a side, led through the table of td_abi.h. */
#include "base/td_alloc.h"
#include "check/td_side.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/td_assert.h"
#include "py/td_records.h"

typedef struct {
    td_side_t                side;
    td_abi_subject_v1 const *table;     /* borrowed from the library */
    td_reference_t          *reference; /* borrowed */
    char const              *revision;  /* borrowed */
    void                    *library;   /* owned; NULL: linked in */
} side_subject_t;

static side_subject_t *
subject_of(td_side_t *side)
{
    return (side_subject_t *)side;
}

/* ---- who watches ----------------------------------------------------------- */

static struct {
    td_watch_hook_t hook;
    void           *ctx;
} watcher;

void
td_side_watch(td_watch_hook_t hook, void *ctx)
{
    watcher.hook = hook;
    watcher.ctx  = ctx;
}

static void
enter(void)
{
    if (watcher.hook != NULL) {
        watcher.hook(watcher.ctx, true);
    }
}

static int
leave(int result)
{
    if (watcher.hook != NULL) {
        watcher.hook(watcher.ctx, false);
    }
    return result;
}

/* WATCHED(call) is a call of the subject with somebody told before and after. */
#define WATCHED(call) (enter(), leave(call))

/* ---- what a frame begins with -------------------------------------------- */

static bool
is_word(PyObject *object, char const *word)
{
    return PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, word) == 0;
}

/* The variables that a frame's sources name, as tandem.oracle.context.scopes has
   them: a root's local or cell is a local, its global is a global; the first root
   of a name wins. */
static int
scope_put(PyObject *step, PyObject *locals, PyObject *globals)
{
    PyObject *spec  = PyTuple_GET_ITEM(step, 0); /* borrowed */
    PyObject *value = PyTuple_GET_ITEM(step, 1); /* borrowed */
    PyObject *word, *name;                       /* borrowed from spec */
    PyObject *scope = NULL;                      /* borrowed */

    if (PyTuple_GET_SIZE(spec) < 2) {
        return 0;
    }
    word = PyTuple_GET_ITEM(spec, 0);
    name = PyTuple_GET_ITEM(spec, 1);
    if (is_word(word, "local") || is_word(word, "cell")) {
        scope = locals;
    } else if (is_word(word, "global")) {
        scope = globals;
    }
    return scope == NULL || PyDict_SetDefault(scope, name, value) != NULL ? 0 : -1;
}

static td_status_t
scope_make(td_subject_run_t *run, PyObject *steps)
{
    PyObject *torch = Py_XNewRef(PyImport_AddModule("torch")); /* owned */

    run->locals  = PyDict_New();
    run->globals = Py_BuildValue("{s:N,s:s}", "torch", torch, "__name__", "tandem_program");
    if (run->locals == NULL || run->globals == NULL) {
        return TD_PYERR;
    }
    for (Py_ssize_t idx = 0; idx < PyList_GET_SIZE(steps); idx++) {
        if (scope_put(PyList_GET_ITEM(steps, idx), run->locals, run->globals) < 0) {
            return TD_PYERR;
        }
    }
    return TD_OK;
}

/* ---- the run, step by step ------------------------------------------------ */

/* A non-zero return of a subject is a failure of the subject itself. */
static td_status_t
broken(td_subject_run_t *run, char const *call)
{
    side_subject_t *subject = subject_of(run->side);
    char const     *why     = run->self == NULL ? NULL : subject->table->error(run->self);

    snprintf(run->side->why, sizeof run->side->why, "subject %s: %s failed: %s",
             subject->table->name, call, why == NULL ? "no reason given" : why);
    PyErr_Clear();
    return TD_INTERNAL;
}

/* The contract says that no call leaves a Python exception; one that does would
   surface somewhere else and be blamed on the wrong side. */
static td_status_t
quiet(td_subject_run_t *run, char const *call)
{
    if (PyErr_Occurred()) {
        return broken(run, call);
    }
    return TD_OK;
}

static PyObject *
live_steps(td_live_t const *live, size_t frame_idx)
{
    PyObject *steps = PyList_GET_ITEM(live->frames, (Py_ssize_t)frame_idx); /* borrowed */

    TD_ASSERT(PyList_Check(steps));
    return steps;
}

td_status_t
td_side_frames_alloc(td_live_t const *live, td_run_t *out)
{
    out->frame_cnt = (size_t)PyList_GET_SIZE(live->frames);
    out->frames    = td_arena_alloc(&out->arena, out->frame_cnt * sizeof *out->frames);
    if (out->frames == NULL) {
        return TD_NOMEM;
    }
    for (size_t idx = 0; idx < out->frame_cnt; idx++) {
        td_run_frame_t *frame = &out->frames[idx];

        frame->outcome_cnt = (size_t)PyList_GET_SIZE(live_steps(live, idx));
        frame->outcomes = td_arena_alloc(&out->arena, frame->outcome_cnt * sizeof *frame->outcomes);
        if (frame->outcomes == NULL) {
            return TD_NOMEM;
        }
        for (size_t step = 0; step < frame->outcome_cnt; step++) {
            frame->outcomes[step] =
                (td_outcome_t){.kind = TD_OUTCOME_NOT_RUN, .arm = "", .why = "", .function = ""};
        }
    }
    return TD_OK;
}

/* program_open opens the subject's program under run's config. */
static td_status_t
program_open(td_subject_run_t *run, int export_mode, size_t frame_cnt)
{
    td_status_t     status  = TD_OK;
    side_subject_t *subject = subject_of(run->side);

    run->tables = td_reference_tables(subject->reference);
    if (run->tables == NULL) {
        return TD_PYERR;
    }
    td_abi_program_v1 program = {
        .struct_sz   = sizeof program,
        .objects     = run->live->objects,
        .config      = run->config,
        .tables      = run->tables,
        .revision    = subject->revision,
        .export_mode = export_mode,
        .no_trail    = !run->side->want_trail,
        .frame_cnt   = frame_cnt,
    };
    if (WATCHED(subject->table->program_open(&program, &run->self)) != 0) {
        return broken(run, "program_open");
    }
    TD_TRY(quiet(run, "program_open"));
done:
    return status;
}

td_status_t
td_subject_run_open(td_subject_run_t *run, td_side_t *side, td_live_t const *live, td_run_t *out)
{
    td_status_t status;

    *run = (td_subject_run_t){.side = side, .live = live, .run = out};
    TD_TRY(td_side_frames_alloc(live, out));
    run->config = td_reference_config(subject_of(side)->reference, live->config);
    if (run->config == NULL) {
        return TD_PYERR;
    }
    TD_TRY(program_open(run, live->export_mode, out->frame_cnt));
done:
    return status;
}

td_status_t
td_subject_run_frame(td_subject_run_t *run, size_t frame_idx)
{
    td_status_t     status;
    side_subject_t *subject     = subject_of(run->side);
    PyObject       *constraints = Py_None; /* borrowed */

    TD_TRY(scope_make(run, live_steps(run->live, frame_idx)));
    /* On shared objects the reference has just opened this frame. */
    if (!run->live->shared && td_reference_enter_frame(subject->reference) < 0) {
        return TD_PYERR;
    }
    if (run->live->constraints != NULL) {
        constraints = PyList_GetItem(run->live->constraints, (Py_ssize_t)frame_idx);
        if (constraints == NULL) {
            return TD_PYERR;
        }
    }
    td_abi_frame_v1 frame = {
        .struct_sz      = sizeof frame,
        .f_locals       = run->locals,
        .f_globals      = run->globals,
        .constraints    = constraints,
        .recursion_left = td_reference_recursion_left(subject->reference),
    };
    if (WATCHED(subject->table->frame_open(run->self, &frame)) != 0) {
        return broken(run, "frame_open");
    }
    run->frame_idx = frame_idx;
    run->frame     = &run->run->frames[frame_idx];
    run->open      = true;
    run->stopped   = false;
    TD_TRY(quiet(run, "frame_open"));
done:
    return status;
}

/* Outcomes of td_abi.h in the words of td_run.h. */
static td_outcome_kind_t
outcome_kind(int kind)
{
    switch (kind) {
    case TD_ABI_TRACKER:
        return TD_OUTCOME_TRACKER;
    case TD_ABI_VALUE:
        return TD_OUTCOME_VALUE;
    case TD_ABI_EXCEPTION:
        return TD_OUTCOME_EXCEPTION;
    case TD_ABI_UNSUPPORTED:
        return TD_OUTCOME_UNSUPPORTED;
    case TD_ABI_POISONED:
        return TD_OUTCOME_POISONED;
    default:
        return TD_OUTCOME_NOT_RUN;
    }
}

static char const *
keep(td_arena_t *arena, char const *text)
{
    char *copy = text == NULL ? NULL : td_arena_dup(arena, text, strlen(text));

    return copy == NULL ? "" : copy;
}

/* records_of gives the operator records of a step: *records is owned, NULL where none
   were kept. */
static td_status_t
records_of(td_subject_run_t *run, size_t step_idx, PyObject **records)
{
    td_run_t const       *recorded = run->side->recorded;
    td_run_frame_t const *frame    = NULL;

    *records = NULL;
    if (recorded == NULL || run->frame_idx >= recorded->frame_cnt) {
        return TD_OK;
    }
    frame = &recorded->frames[run->frame_idx];
    if (frame->records == NULL || step_idx >= frame->outcome_cnt ||
        frame->records[step_idx] == NULL) {
        return TD_OK;
    }
    *records = td_records_read(frame->records[step_idx]);
    return *records == NULL ? TD_PYERR : TD_OK;
}

/* root_give has the subject build one root. */
static td_status_t
root_give(td_subject_run_t *run, td_abi_root_v1 const *root, td_outcome_t *out)
{
    td_status_t       status;
    side_subject_t   *subject = subject_of(run->side);
    td_abi_outcome_v1 outcome = {.struct_sz = sizeof outcome};

    if (WATCHED(subject->table->root(run->self, root, &outcome)) != 0) {
        return broken(run, "root");
    }
    out->kind = outcome_kind(outcome.kind);
    if (out->kind == TD_OUTCOME_NOT_RUN) {
        return broken(run, "root (outcome of no known kind)");
    }
    out->arm      = keep(&run->run->arena, outcome.arm);
    out->why      = keep(&run->run->arena, outcome.why);
    out->function = keep(&run->run->arena, outcome.function);
    run->stopped  = out->kind == TD_OUTCOME_UNSUPPORTED || out->kind == TD_OUTCOME_POISONED;
    TD_TRY(quiet(run, "root"));
done:
    return status;
}

static td_status_t
root_build(td_subject_run_t *run, PyObject *step, size_t step_idx, td_outcome_t *out)
{
    td_status_t status;
    PyObject   *records = NULL; /* owned */

    TD_TRY(records_of(run, step_idx, &records));
    td_abi_root_v1 root = {
        .struct_sz = sizeof root,
        .spec      = PyTuple_GET_ITEM(step, 0),
        .value     = PyTuple_GET_ITEM(step, 1),
        .records   = records,
        .step_idx  = step_idx,
    };
    TD_TRY(root_give(run, &root, out));
done:
    Py_XDECREF(records);
    return status;
}

bool
td_step_is_do(PyObject *step)
{
    return is_word(PyTuple_GET_ITEM(PyTuple_GET_ITEM(step, 0), 0), "do");
}

bool
td_step_is_compile(PyObject *step)
{
    return is_word(PyTuple_GET_ITEM(PyTuple_GET_ITEM(step, 0), 0), "compile");
}

td_status_t
td_subject_run_step(td_subject_run_t *run, size_t step_idx, bool build)
{
    PyObject *step = PyList_GET_ITEM(live_steps(run->live, run->frame_idx), (Py_ssize_t)step_idx);
    td_outcome_t *out = &run->run->frames[run->frame_idx].outcomes[step_idx];

    if (td_step_is_do(step)) {
        PyObject *result = NULL; /* owned */

        out->kind = TD_OUTCOME_DO;
        if (run->live->shared) {
            return TD_OK; /* the reference ran it, on the same objects */
        }
        result = PyObject_CallNoArgs(PyTuple_GET_ITEM(step, 1));
        Py_XDECREF(result);
        return result == NULL ? TD_PYERR : TD_OK;
    }
    if (td_step_is_compile(step)) {
        /* Its builder calls are roots of contexts that only the reference makes. */
        out->kind = TD_OUTCOME_DO;
        if (!run->live->shared) {
            out->kind     = TD_OUTCOME_UNSUPPORTED;
            out->arm      = "L211/fn/entered";
            out->why      = "the compiler's calls, without the reference beside";
            out->function = __func__;
        }
        return TD_OK;
    }
    if (!build || run->stopped) {
        return TD_OK;
    }
    return root_build(run, step, step_idx, out);
}

/* ---- what came out --------------------------------------------------------- */

typedef struct {
    uint8_t *bytes; /* malloc'ed */
    size_t   sz, cap;
} sink_t;

static int
sink_put(void *ctx, uint8_t const *bytes, size_t sz)
{
    sink_t *sink = ctx;

    if (sink->cap - sink->sz < sz) {
        size_t   cap  = 2 * (sink->sz + sz) + 4096;
        uint8_t *more = td_realloc(sink->bytes, cap);

        if (more == NULL) {
            return -1;
        }
        sink->bytes = more;
        sink->cap   = cap;
    }
    if (sz > 0) {
        memcpy(sink->bytes + sink->sz, bytes, sz);
    }
    sink->sz += sz;
    return 0;
}

static void
trail_row(void *ctx, char const *path, char const *arm, char const *function)
{
    td_subject_run_t *run   = ctx;
    td_arena_t       *arena = &run->run->arena;
    td_run_frame_t   *frame = run->frame;

    if (frame->trail_cnt == run->trail_cap) {
        size_t        cap  = run->trail_cap * 2 + 64;
        td_run_row_t *more = td_arena_alloc(arena, cap * sizeof *more);

        if (more == NULL) {
            return; /* the trail is shown, never judged: a shorter one is no error */
        }
        if (frame->trail_cnt > 0) {
            memcpy(more, frame->trail, frame->trail_cnt * sizeof *more);
        }
        frame->trail   = more;
        run->trail_cap = cap;
    }
    frame->trail[frame->trail_cnt++] = (td_run_row_t){
        .path = keep(arena, path), .arm = keep(arena, arm), .function = keep(arena, function)};
}

static td_status_t
trail_take(td_subject_run_t *run)
{
    td_abi_subject_v1 const *table = subject_of(run->side)->table;
    bool                     there = table->struct_sz >= sizeof *table && table->trail != NULL;

    run->trail_cap = 0;
    if (run->side->want_trail && there && table->trail(run->self, trail_row, run) != 0) {
        return broken(run, "trail");
    }
    return quiet(run, "trail");
}

static void
frame_close(td_subject_run_t *run)
{
    if (run->open) {
        enter();
        subject_of(run->side)->table->frame_close(run->self);
        (void)leave(0);
    }
    run->open = false;
    Py_CLEAR(run->globals);
    Py_CLEAR(run->locals);
}

/* frame_observe keeps what the open frame holds now. */
static td_status_t
frame_observe(td_subject_run_t *run)
{
    td_status_t     status;
    sink_t          sink    = {0};
    side_subject_t *subject = subject_of(run->side);
    td_run_frame_t *frame   = run->frame;

    if (WATCHED(subject->table->frame_observe(run->self, sink_put, &sink)) != 0) {
        status = broken(run, "frame_observe");
        goto done;
    }
    frame->bytes =
        (uint8_t const *)td_arena_dup(&run->run->arena, (char const *)sink.bytes, sink.sz);
    frame->bytes_sz = sink.sz;
    if (frame->bytes == NULL) {
        status = TD_NOMEM;
        goto done;
    }
    TD_TRY(quiet(run, "frame_observe"));
done:
    td_free(sink.bytes);
    return status;
}

td_status_t
td_subject_run_end(td_subject_run_t *run)
{
    td_status_t status;

    TD_TRY(frame_observe(run));
    TD_TRY(trail_take(run));
done:
    frame_close(run);
    return status;
}

void
td_subject_run_close(td_subject_run_t *run)
{
    frame_close(run);
    if (run->self != NULL) {
        enter();
        subject_of(run->side)->table->program_close(run->self);
        (void)leave(0);
        run->self = NULL;
    }
    Py_CLEAR(run->tables);
    Py_CLEAR(run->config);
}

/* ---- somebody else's context -------------------------------------------------- */

td_status_t
td_subject_context_open(td_subject_run_t *run, td_side_t *side, td_live_t const *live,
                        td_run_t *out, PyObject *context)
{
    td_status_t status;
    PyObject   *own = NULL; /* owned */

    *run        = (td_subject_run_t){.side = side, .live = live, .run = out};
    run->config = td_reference_config(subject_of(side)->reference, live->config);
    own         = PyObject_GetAttrString(context, "config");
    if (run->config == NULL || own == NULL || PyDict_Update(run->config, own) < 0) {
        status = TD_PYERR;
        goto done;
    }
    TD_TRY(program_open(run, 0, 0));
done:
    Py_XDECREF(own);
    return status;
}

td_status_t
td_subject_context_begin(td_subject_run_t *run, td_reference_call_t const *call)
{
    td_status_t     status;
    side_subject_t *subject = subject_of(run->side);

    run->locals  = PyObject_GetAttrString(call->context, "f_locals");
    run->globals = PyObject_GetAttrString(call->context, "f_globals");
    if (run->locals == NULL || run->globals == NULL) {
        return TD_PYERR;
    }
    run->frame = td_run_context_add(run->run);
    if (run->frame == NULL) {
        return TD_NOMEM;
    }
    td_abi_frame_v1 frame = {
        .struct_sz      = sizeof frame,
        .f_locals       = run->locals,
        .f_globals      = run->globals,
        .constraints    = Py_None,
        .recursion_left = call->recursion_left,
    };
    if (WATCHED(subject->table->frame_open(run->self, &frame)) != 0) {
        return broken(run, "frame_open");
    }
    run->open    = true;
    run->stopped = false;
    TD_TRY(quiet(run, "frame_open"));
done:
    return status;
}

/* untold gives why nobody can be given the call; "": somebody can.  NULL: an exception. */
static char const *
untold(td_subject_run_t *run, td_reference_call_t const *call)
{
    PyObject   *list = PyObject_GetAttrString(call->context, "untold"); /* owned */
    PyObject   *why  = list == NULL ? NULL : PyList_GetItem(list, (Py_ssize_t)call->step_idx);
    char const *text = why == NULL ? NULL : why == Py_None ? "" : PyUnicode_AsUTF8(why);

    text = text == NULL ? NULL : keep(&run->run->arena, text);
    Py_XDECREF(list);
    return text;
}

static td_status_t
call_give(td_subject_run_t *run, td_reference_call_t const *call, td_outcome_t *out)
{
    td_status_t     status  = TD_PYERR;
    PyObject       *steps   = PyObject_GetAttrString(call->context, "steps"); /* owned */
    PyObject       *step    = NULL;                                           /* borrowed */
    PyObject       *records = NULL;                                           /* owned */
    td_abi_state_v1 state   = {
          .struct_sz = sizeof state, .bytes = call->state, .bytes_sz = call->state_sz};

    step = steps == NULL ? NULL : PyList_GetItem(steps, (Py_ssize_t)call->step_idx);
    if (step == NULL) {
        goto done;
    }
    records = call->records == NULL ? NULL : td_records_read(call->records);
    if (call->records != NULL && records == NULL) {
        goto done;
    }
    td_abi_root_v1 root = {
        .struct_sz      = sizeof root,
        .spec           = PyTuple_GET_ITEM(step, 0),
        .value          = PyTuple_GET_ITEM(step, 1),
        .records        = records,
        .step_idx       = call->step_idx,
        .state          = &state,
        .recursion_left = call->recursion_left,
    };
    TD_TRY(root_give(run, &root, out));
    TD_TRY(frame_observe(run));
done:
    Py_XDECREF(records);
    Py_XDECREF(steps);
    return status;
}

td_status_t
td_subject_context_call(td_subject_run_t *run, td_reference_call_t const *call)
{
    td_outcome_t *out = NULL;
    char const   *why = untold(run, call);

    if (why == NULL) {
        return TD_PYERR;
    }
    if (!td_run_step_add(run->run, run->frame)) {
        return TD_NOMEM;
    }
    out = &run->frame->outcomes[call->step_idx];
    if (!call->wanted || run->stopped) {
        return TD_OK;
    }
    if (why[0] == '\0') {
        return call_give(run, call, out);
    }
    out->kind     = TD_OUTCOME_UNSUPPORTED;
    out->arm      = "L211/fn/entered";
    out->why      = why;
    out->function = __func__;
    run->stopped  = true;
    return TD_OK;
}

td_status_t
td_subject_context_end(td_subject_run_t *run)
{
    td_status_t status = run->open ? trail_take(run) : TD_OK;

    frame_close(run);
    return status;
}

/* ---- the side -------------------------------------------------------------- */

static bool
within(td_run_limit_t const *limit, size_t frame_idx, size_t step_idx)
{
    return limit == NULL || limit->step_cnt == NULL || frame_idx >= limit->frame_cnt ||
           step_idx < limit->step_cnt[frame_idx];
}

static td_status_t
subject_run(td_side_t *side, td_live_t const *live, td_run_limit_t const *limit, td_run_t *out)
{
    td_status_t      status;
    td_subject_run_t run;

    TD_TRY(td_subject_run_open(&run, side, live, out));
    for (size_t frame_idx = 0; frame_idx < out->frame_cnt; frame_idx++) {
        TD_TRY(td_subject_run_frame(&run, frame_idx));
        for (size_t step_idx = 0; step_idx < out->frames[frame_idx].outcome_cnt; step_idx++) {
            TD_TRY(td_subject_run_step(&run, step_idx, within(limit, frame_idx, step_idx)));
        }
        TD_TRY(td_subject_run_end(&run));
    }
done:
    td_subject_run_close(&run);
    return status;
}

static void
subject_free(td_side_t *side)
{
    if (side != NULL) {
        if (subject_of(side)->library != NULL) {
            dlclose(subject_of(side)->library);
        }
        td_free(side);
    }
}

/* ---- loading ----------------------------------------------------------------- */

typedef td_abi_subject_v1 const *(*subject_entry_t)(void);

static subject_entry_t
entry_find(char const *path, void **library, char *why, size_t why_sz)
{
    subject_entry_t entry = NULL;
    FILE           *file  = fopen(path, "rb");

    if (file == NULL) {
        snprintf(why, why_sz, "%s: cannot be opened", path);
        return NULL;
    }
    fclose(file);
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*library == NULL) {
        snprintf(why, why_sz, "%s: is no loadable shared object: %s", path, dlerror());
        return NULL;
    }
    /* POSIX's own way of turning an object pointer into a function pointer. */
    *(void **)&entry = dlsym(*library, "td_subject_v1");
    if (entry == NULL) {
        snprintf(why, why_sz, "%s: is no subject: it has no function td_subject_v1", path);
    }
    return entry;
}

/* Everything up to abi_version must be there before a member can be believed. */
static bool
table_fits(td_abi_subject_v1 const *table, char const *path, char *why, size_t why_sz)
{
    if (table == NULL || table->struct_sz < offsetof(td_abi_subject_v1, trail)) {
        snprintf(why, why_sz, "%s: the subject's table is missing or too short", path);
        return false;
    }
    if (table->abi_version != TD_ABI_VERSION) {
        snprintf(why, why_sz, "%s: the subject has ABI version %u, this tandem has %d", path,
                 (unsigned)table->abi_version, TD_ABI_VERSION);
        return false;
    }
    if (table->schema_version != TD_OBS_SCHEMA_VERSION) {
        snprintf(why, why_sz, "%s: the subject writes observations of schema %u, this tandem of %d",
                 path, (unsigned)table->schema_version, TD_OBS_SCHEMA_VERSION);
        return false;
    }
    return true;
}

td_side_t *
td_side_subject_new(char const *path, char const *revision, td_reference_t *reference, char *why,
                    size_t why_sz)
{
    side_subject_t *self  = td_calloc(1, sizeof *self);
    subject_entry_t entry = td_subject_v1;

    if (self == NULL) {
        snprintf(why, why_sz, "out of memory");
        return NULL;
    }
    if (path != NULL) {
        entry = entry_find(path, &self->library, why, why_sz);
    }
    self->table = entry == NULL ? NULL : entry();
    if (entry == NULL || !table_fits(self->table, path == NULL ? "built in" : path, why, why_sz)) {
        subject_free(&self->side);
        return NULL;
    }
    self->side.name = "subject";
    self->side.run  = subject_run;
    self->side.free = subject_free;
    self->revision  = revision;
    self->reference = reference;
    return &self->side;
}

td_abi_subject_v1 const *
td_side_subject_table(td_side_t const *side)
{
    return side->run == subject_run ? ((side_subject_t const *)side)->table : NULL;
}

bool
td_side_done(td_side_t const *side, char const *arm)
{
    td_abi_subject_v1 const *table = td_side_subject_table(side);

    for (size_t idx = 0; table != NULL && idx < table->done_cnt; idx++) {
        if (strcmp(table->done[idx], arm) == 0) {
            return true;
        }
    }
    return false;
}
