/* td_reference_run.c: one program on the reference, frame by frame. */
#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"
#include "py/td_changes.h"
#include "py/td_py_depth.h"
#include "py/td_py_error.h"
#include "py/td_records.h"
#include "reference/td_reference_private.h"

/* ---- small things ------------------------------------------------------------- */

static td_status_t
hook(td_reference_run_t *self, size_t step_idx)
{
    if (self->reference->hook == NULL) {
        return TD_OK;
    }
    return self->reference->hook(self->reference->hook_ctx, self->frame_idx, step_idx);
}

/* failed notes that the reference broke outside every root, from the pending
   exception.  Bad input and an interruption are no failure of the reference: they
   stay pending. */
static td_status_t
failed(td_reference_run_t *self, char const *during)
{
    char text[512], line[600];

    if (PyErr_ExceptionMatches(self->reference->bad[0]) ||
        PyErr_ExceptionMatches(self->reference->bad[1]) ||
        PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
        return TD_PYERR;
    }
    td_py_error_text(text, sizeof text);
    snprintf(line, sizeof line, "frame %zu, %s: %s", self->frame_idx, during, text);
    self->run->failed = td_arena_dup(&self->run->arena, line, strlen(line));
    return self->run->failed == NULL ? TD_NOMEM : TD_OK;
}

static bool
within(td_reference_run_t const *self, size_t step_idx)
{
    td_run_limit_t const *limit = self->limit;

    if (limit == NULL || limit->step_cnt == NULL || self->frame_idx >= limit->frame_cnt) {
        return true;
    }
    return step_idx < limit->step_cnt[self->frame_idx];
}

/* ---- arms ------------------------------------------------------------------------ */

/* arms_take adds the arms of the last step to run's set, gives the deciding one
   (-1: none) and empties the trace. */
static td_status_t
arms_take(td_reference_run_t *self, bool raised, Py_ssize_t *deciding)
{
    td_reference_t *reference = self->reference;
    PyObject       *trace     = reference->trace;

    *deciding = -1;
    if (reference->arms_on) {
        for (Py_ssize_t at = PyList_GET_SIZE(trace) - 1; at >= 0; at--) {
            PyLongObject const *number = (PyLongObject *)PyList_GET_ITEM(trace, at); /* borrowed */
            /* ours, and at most TD_ARM_CNT_MAX: one digit, none for 0 */
            size_t arm = Py_SIZE(number) == 0 ? 0 : number->ob_digit[0];

            self->run->arms[arm / 64] |= (uint64_t)1 << (arm % 64);
            if (*deciding < 0 && (raised || reference->arm_decides[arm])) {
                *deciding = (Py_ssize_t)arm;
            }
        }
    }
    return PyList_SetSlice(trace, 0, PyList_GET_SIZE(trace), NULL) < 0 ? TD_PYERR : TD_OK;
}

/* ---- one step ---------------------------------------------------------------------- */

/* item_get gives lists.<list>[step_idx]; a new reference. */
static PyObject *
item_get(PyObject *lists, char const *list, size_t step_idx)
{
    PyObject *items = PyObject_GetAttrString(lists, list);
    PyObject *item  = items == NULL ? NULL : PySequence_GetItem(items, (Py_ssize_t)step_idx);

    Py_XDECREF(items);
    return item;
}

/* exception_note says of an exception outcome what it is. */
static td_status_t
exception_note(td_reference_run_t *self, PyObject *lists, size_t step_idx, td_outcome_t *out)
{
    PyObject   *error    = item_get(lists, "values", step_idx);
    PyObject   *internal = item_get(lists, "internal", step_idx);
    td_status_t status   = TD_PYERR;

    if (error == NULL || internal == NULL) {
        goto done;
    }
    out->internal_error = internal == Py_True;
    out->why =
        td_arena_dup(&self->run->arena, Py_TYPE(error)->tp_name, strlen(Py_TYPE(error)->tp_name));
    status = out->why == NULL ? TD_NOMEM : TD_OK;
    if (PyErr_GivenExceptionMatches(error, PyExc_MemoryError)) {
        out->kind = TD_OUTCOME_POISONED;
        out->why  = "out-of-memory";
    }
done:
    Py_XDECREF(error);
    Py_XDECREF(internal);
    return status;
}

td_status_t
td_run_outcome_note(td_reference_run_t *self, PyObject *lists, size_t step_idx, int kind,
                    td_outcome_t *out)
{
    static td_outcome_kind_t const kinds[] = {
        TD_OUTCOME_NOT_RUN, TD_OUTCOME_TRACKER, TD_OUTCOME_EXCEPTION,
        TD_OUTCOME_DO,      TD_OUTCOME_VALUE,
    };
    td_status_t status   = TD_OK;
    Py_ssize_t  deciding = -1;

    out->kind = kinds[kind];
    TD_TRY(arms_take(self, out->kind == TD_OUTCOME_EXCEPTION, &deciding));
    if (deciding >= 0) {
        out->arm      = self->reference->arm_ids[deciding];
        out->function = self->reference->arm_functions[deciding];
    }
    if (out->kind == TD_OUTCOME_EXCEPTION) {
        TD_TRY(exception_note(self, lists, step_idx, out));
    }
done:
    return status;
}

td_status_t
td_run_records_take(td_reference_run_t *self, PyObject *lists, size_t step_idx, char const **out)
{
    PyObject   *records = item_get(lists, "records", step_idx); /* owned */
    td_status_t status  = records == NULL ? TD_PYERR : TD_OK;

    if (records != NULL && records != Py_None) {
        status = td_records_write(self->reference->obs, self->live->objects, records,
                                  &self->run->arena, out);
    }
    Py_XDECREF(records);
    return status;
}

static td_status_t
step_run(td_reference_run_t *self, PyObject *step, size_t step_idx, td_outcome_t *out)
{
    PyObject   *index, *result = NULL;
    int         kind;
    td_status_t status;

    index = PyLong_FromSize_t(step_idx);
    if (index != NULL) {
        result = PyObject_CallOneArg(step, index);
        Py_DECREF(index);
    }
    if (result == NULL) {
        return failed(self, "do step");
    }
    kind = (int)PyLong_AsLong(result);
    Py_DECREF(result);
    TD_TRY(td_calls_end(self));
    TD_TRY(td_run_outcome_note(self, self->frame, step_idx, kind, out));
    TD_TRY(td_run_records_take(self, self->frame, step_idx,
                               &self->run->frames[self->frame_idx].records[step_idx]));
done:
    return status;
}

/* ---- one frame ------------------------------------------------------------------------ */

/* What is run even where a frame was cut: it builds nothing in the frame itself. */
static bool
is_outside(PyObject *steps, size_t step_idx)
{
    PyObject *spec =
        PyTuple_GET_ITEM(PyList_GET_ITEM(steps, (Py_ssize_t)step_idx), 0); /* borrowed */
    PyObject *kind =
        PyTuple_Check(spec) && PyTuple_GET_SIZE(spec) > 0 ? PyTuple_GET_ITEM(spec, 0) : NULL;

    return kind != NULL && PyUnicode_Check(kind) &&
           (PyUnicode_CompareWithASCIIString(kind, "do") == 0 ||
            PyUnicode_CompareWithASCIIString(kind, "compile") == 0);
}

static td_status_t
steps_run(td_reference_run_t *self, PyObject *steps, td_run_frame_t *out)
{
    PyObject   *step   = PyObject_GetAttrString(self->frame, "step");
    td_status_t status = step == NULL ? TD_PYERR : TD_OK;

    TD_TRY(status);
    for (size_t idx = 0; idx < out->outcome_cnt && self->run->failed == NULL; idx++) {
        if (within(self, idx) || is_outside(steps, idx)) {
            TD_TRY(step_run(self, step, idx, &out->outcomes[idx]));
            TD_TRY(hook(self, idx));
        }
    }
done:
    Py_XDECREF(step);
    return status;
}

/* walk_frame reads the open frame into a record; what does not fit the schema is
   the harness's own failure. */
static td_status_t
walk_frame(td_reference_run_t *self, td_walk_frame_t const *frame, td_val_t *record)
{
    td_reference_t *reference = self->reference;
    td_status_t     status    = td_walk_run(reference->walk, reference->obs, frame, record);

    if (status == TD_REJECT || status == TD_INTERNAL) {
        PyErr_Format(PyExc_RuntimeError, "frame %zu does not fit the schema: %s", self->frame_idx,
                     td_walk_why(reference->walk));
        status = TD_PYERR;
    }
    return status;
}

td_status_t
td_run_walk(td_reference_run_t *self, PyObject *lists, size_t globals_cnt,
            td_changes_t const *changes, uint8_t **bytes, size_t *bytes_sz)
{
    td_obs_t       *obs    = self->reference->obs;
    td_val_t        record = TD_VAL_NONE;
    td_walk_frame_t frame  = {
         .objects      = self->live->objects,
         .tx           = PyObject_GetAttrString(lists, "tx"),
         .kinds        = PyObject_GetAttrString(lists, "kinds"),
         .values       = PyObject_GetAttrString(lists, "values"),
         .sources      = PyObject_GetAttrString(lists, "sources"),
         .globals_skip = globals_cnt,
         .changes      = changes,
         .is_live      = lists != self->frame,
    };
    td_status_t status = TD_PYERR;

    if (frame.tx == NULL || frame.kinds == NULL || frame.values == NULL || frame.sources == NULL) {
        goto done;
    }
    td_obs_reset(obs);
    TD_TRY(walk_frame(self, &frame, &record));
    TD_TRY(td_obs_encode(obs, record, bytes, bytes_sz));
done:
    Py_CLEAR(frame.tx);
    Py_CLEAR(frame.kinds);
    Py_CLEAR(frame.values);
    Py_CLEAR(frame.sources);
    return status;
}

/* frame_write keeps the canonical bytes of the open frame in run's arena. */
static td_status_t
frame_write(td_reference_run_t *self, size_t globals_cnt, td_changes_t const *changes,
            td_run_frame_t *out)
{
    uint8_t    *bytes = NULL; /* owned */
    td_status_t status;

    TD_TRY(td_run_walk(self, self->frame, globals_cnt, changes, &bytes, &out->bytes_sz));
    out->bytes =
        (uint8_t const *)td_arena_dup(&self->run->arena, (char const *)bytes, out->bytes_sz);
    status = out->bytes == NULL ? TD_NOMEM : TD_OK;
done:
    td_free(bytes);
    return status;
}

static td_status_t
globals_count(td_reference_run_t *self, size_t *cnt)
{
    PyObject  *globals = PyObject_GetAttrString(self->frame, "f_globals");
    Py_ssize_t size    = globals == NULL ? -1 : PyDict_Size(globals);

    *cnt = (size_t)size;
    Py_XDECREF(globals);
    return size < 0 ? TD_PYERR : TD_OK;
}

/* frame_close leaves the context; a pending exception stays pending. */
static td_status_t
frame_close(td_reference_run_t *self)
{
    td_py_error_t error;
    PyObject     *result;
    td_status_t   status = TD_OK;

    if (self->frame == NULL) {
        return TD_OK;
    }
    td_py_error_fetch(&error);
    result = PyObject_CallMethod(self->program, "close_frame", NULL);
    if (result == NULL) {
        status = failed(self, "closing the context");
    }
    Py_XDECREF(result);
    Py_CLEAR(self->frame);
    td_py_error_restore(&error);
    return status;
}

static td_status_t
frame_steps(td_reference_run_t *self, PyObject *steps, td_run_frame_t *out)
{
    td_changes_t *changes     = td_changes_new(self->live->objects);
    size_t        globals_cnt = 0;
    td_status_t   status      = changes == NULL ? TD_NOMEM : TD_OK;

    TD_TRY(status);
    TD_TRY(globals_count(self, &globals_cnt));
    TD_TRY(td_calls_watch(self));
    TD_TRY(hook(self, TD_STEP_BEGIN));
    TD_TRY(steps_run(self, steps, out));
    if (self->run->failed == NULL) {
        TD_TRY(frame_write(self, globals_cnt, changes, out));
        TD_TRY(hook(self, TD_STEP_END));
    }
done:
    td_changes_free(changes);
    return status;
}

static td_status_t
frame_run(td_reference_run_t *self)
{
    PyObject *steps =
        PyList_GET_ITEM(self->live->frames, (Py_ssize_t)self->frame_idx); /* borrowed */
    td_run_frame_t *out = &self->run->frames[self->frame_idx];
    td_status_t     status, closed;

    out->outcome_cnt = (size_t)PyList_GET_SIZE(steps);
    out->outcomes    = td_arena_alloc(&self->run->arena, out->outcome_cnt * sizeof *out->outcomes);
    out->records     = td_arena_alloc(&self->run->arena, out->outcome_cnt * sizeof *out->records);
    if (out->outcomes == NULL || out->records == NULL) {
        return TD_NOMEM;
    }
    for (size_t idx = 0; idx < out->outcome_cnt; idx++) {
        out->records[idx]  = NULL;
        out->outcomes[idx] = (td_outcome_t){.arm = "", .why = "", .function = ""};
    }
    self->frame = PyObject_CallMethod(self->program, "open", "n", (Py_ssize_t)self->frame_idx);
    if (self->frame == NULL) {
        return failed(self, "opening the context");
    }
    status = frame_steps(self, steps, out);
    closed = frame_close(self);
    return status != TD_OK ? status : closed;
}

/* ---- the program ---------------------------------------------------------------------- */

static td_status_t
program_open(td_reference_run_t *self)
{
    td_live_t const *live = self->live;

    self->program = PyObject_CallFunctionObjArgs(self->reference->program, live->frames,
                                                 live->config, live->constraints,
                                                 live->export_mode ? Py_True : Py_False, NULL);
    return self->program == NULL ? failed(self, "opening the program") : TD_OK;
}

/* program_close puts the configuration back; a pending exception stays pending. */
static td_status_t
program_close(td_reference_run_t *self)
{
    td_py_error_t error;
    PyObject     *result;
    td_status_t   status = TD_OK;

    if (self->program == NULL) {
        return TD_OK;
    }
    td_py_error_fetch(&error);
    result = PyObject_CallMethod(self->program, "close", NULL);
    if (result == NULL) {
        status = failed(self, "closing the program");
    }
    Py_XDECREF(result);
    Py_CLEAR(self->program);
    td_py_error_restore(&error);
    return status;
}

static td_status_t
frames_run(td_reference_run_t *self)
{
    td_run_t   *run    = self->run;
    td_status_t status = TD_OK;

    run->frame_cnt = (size_t)PyList_GET_SIZE(self->live->frames);
    run->frames    = td_arena_alloc(&run->arena, run->frame_cnt * sizeof *run->frames);
    if (run->frames == NULL) {
        return TD_NOMEM;
    }
    TD_TRY(program_open(self));
    for (; self->frame_idx < run->frame_cnt && run->failed == NULL; self->frame_idx++) {
        TD_TRY(frame_run(self));
    }
done:
    return status;
}

td_status_t
td_reference_run(td_reference_t *reference, td_live_t const *live, td_run_limit_t const *limit,
                 td_run_t *run)
{
    td_reference_run_t self = {.reference = reference, .live = live, .limit = limit, .run = run};
    int collects = PyGC_Disable(); /* when garbage dies hangs on the schedule of reset alone */
    td_py_depth_t depth;
    td_status_t   status, closed;

    td_py_depth_enter(&depth);
    status = frames_run(&self);
    closed = program_close(&self);
    td_py_depth_leave(&depth);
    td_free(self.state);
    td_changes_free(self.changes);
    td_py_error_clear(&self.call_error);
    if (status == TD_OK) {
        status = td_run_join(run);
    }
    if (collects) {
        PyGC_Enable();
    }
    return status != TD_OK ? status : closed;
}
