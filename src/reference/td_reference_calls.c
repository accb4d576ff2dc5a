/* td_reference_calls.c: builder calls inside a compile step.

   tandem.oracle.calls says when one is about to be made and when it was made.  Right
   before it the context is read into a record, so that somebody else can take over
   there; right after it again: that is what the call left.  What goes wrong on the way
   must not pass through the compiler, which would take it for its own: it is kept until
   the step is over. */
#include <string.h>

#include "base/td_alloc.h"
#include "reference/td_reference_private.h"

/* What is seen while nothing has gone wrong yet. */
typedef struct {
    td_reference_run_t *self;
    PyObject           *context; /* borrowed */
    td_call_event_t     event;
} seen_t;

static td_run_frame_t *
current(td_reference_run_t *self)
{
    return &self->run->contexts[self->run->context_cnt - 1];
}

/* size_of gives len(context.<list>), which may be a dict too; -1: exception. */
static Py_ssize_t
size_of(PyObject *context, char const *list)
{
    PyObject  *items = PyObject_GetAttrString(context, list); /* owned */
    Py_ssize_t size  = items == NULL ? -1 : PyObject_Size(items);

    Py_XDECREF(items);
    return size;
}

static bool
within(td_reference_run_t const *self, size_t step_idx)
{
    td_run_limit_t const *limit = self->limit;
    size_t                frame = self->run->frame_cnt + self->run->context_cnt - 1;

    return limit == NULL || limit->step_cnt == NULL || frame >= limit->frame_cnt ||
           step_idx < limit->step_cnt[frame];
}

static td_status_t
tell(seen_t const *seen, size_t step_idx)
{
    td_reference_run_t *self    = seen->self;
    td_run_frame_t     *context = current(self);
    bool                is_end  = seen->event == TD_CALL_END;
    td_reference_call_t call    = {
           .context        = seen->context,
           .context_idx    = self->run->context_cnt - 1,
           .step_idx       = step_idx,
           .recursion_left = self->recursion_left,
           .state          = self->state,
           .state_sz       = self->state_sz,
           .records        = is_end ? NULL : context->records[step_idx],
           .wanted         = !is_end && within(self, step_idx),
    };

    return self->reference->call_hook == NULL
               ? TD_OK
               : self->reference->call_hook(self->reference->call_hook_ctx, seen->event, &call);
}

/* ---- the three events -------------------------------------------------------------- */

static td_status_t
context_begin(seen_t const *seen)
{
    td_reference_run_t *self = seen->self;
    Py_ssize_t          size = size_of(seen->context, "f_globals");

    if (size < 0) {
        return TD_PYERR;
    }
    self->globals_cnt = (size_t)size;
    self->changes     = td_changes_new(self->live->objects);
    return self->changes == NULL || td_run_context_add(self->run) == NULL ? TD_NOMEM : TD_OK;
}

static char const *
entry_of(PyObject *context, size_t step_idx)
{
    static char const *const words[] = {"sourceless", "fxcall", "fxmethod", "method", "untold"};
    PyObject                *steps   = PyObject_GetAttrString(context, "steps"); /* owned */
    PyObject   *step  = steps == NULL ? NULL : PyList_GetItem(steps, (Py_ssize_t)step_idx);
    PyObject   *spec  = step == NULL ? NULL : PyTuple_GetItem(step, 0); /* borrowed */
    PyObject   *word  = spec == NULL ? NULL : PyTuple_GetItem(spec, 0); /* borrowed */
    char const *found = word == NULL ? NULL : "build";

    for (size_t idx = 0; word != NULL && idx < sizeof words / sizeof *words; idx++) {
        if (PyUnicode_Check(word) && PyUnicode_CompareWithASCIIString(word, words[idx]) == 0) {
            found = words[idx];
        }
    }
    Py_XDECREF(steps);
    return found;
}

static td_status_t
call_begin(seen_t const *seen, size_t step_idx)
{
    td_status_t         status;
    td_reference_run_t *self = seen->self;
    char const         *entry;

    if (self->changes == NULL) {
        TD_TRY(context_begin(seen));
    }
    entry = entry_of(seen->context, step_idx);
    if (entry == NULL) {
        return TD_PYERR;
    }
    if (!td_run_step_add(self->run, current(self))) {
        return TD_NOMEM;
    }
    current(self)->outcomes[step_idx].entry = entry;
    td_free(self->state);
    self->state = NULL;
    TD_TRY(td_run_walk(self, seen->context, self->globals_cnt, self->changes, &self->state,
                       &self->state_sz));
    TD_TRY(tell(seen, step_idx));
done:
    return status;
}

static td_status_t
kind_of(PyObject *context, size_t step_idx, int *kind)
{
    PyObject *kinds = PyObject_GetAttrString(context, "kinds"); /* owned */
    PyObject *one   = kinds == NULL ? NULL : PyList_GetItem(kinds, (Py_ssize_t)step_idx);

    *kind = one == NULL ? 0 : (int)PyLong_AsLong(one);
    Py_XDECREF(kinds);
    return one == NULL ? TD_PYERR : TD_OK;
}

static td_status_t
call_finish(seen_t const *seen, size_t step_idx)
{
    td_status_t         status;
    td_reference_run_t *self    = seen->self;
    td_run_frame_t     *context = current(self);
    td_outcome_t       *outcome = &context->outcomes[step_idx];
    uint8_t            *bytes   = NULL; /* owned */
    int                 kind    = 0;

    TD_TRY(kind_of(seen->context, step_idx, &kind));
    TD_TRY(td_run_outcome_note(self, seen->context, step_idx, kind, outcome));
    TD_TRY(td_run_records_take(self, seen->context, step_idx, &context->records[step_idx]));
    if (within(self, step_idx)) {
        TD_TRY(td_run_walk(self, seen->context, self->globals_cnt, self->changes, &bytes,
                           &context->bytes_sz));
        context->bytes = (uint8_t const *)td_arena_dup(&self->run->arena, (char const *)bytes,
                                                       context->bytes_sz);
        status         = context->bytes == NULL ? TD_NOMEM : TD_OK;
        TD_TRY(status);
    }
    TD_TRY(tell(seen, step_idx));
done:
    td_free(bytes);
    return status;
}

static td_status_t
context_end(seen_t const *seen, size_t step_cnt)
{
    td_status_t status = seen->self->changes == NULL ? TD_OK : tell(seen, step_cnt);

    td_changes_free(seen->self->changes);
    seen->self->changes = NULL;
    return status;
}

static td_status_t
see(seen_t const *seen)
{
    Py_ssize_t cnt = size_of(seen->context, "steps");

    if (cnt < 0) {
        return TD_PYERR;
    }
    switch (seen->event) {
    case TD_CALL_BEFORE:
        return call_begin(seen, (size_t)cnt - 1);
    case TD_CALL_AFTER:
        return call_finish(seen, (size_t)cnt - 1);
    case TD_CALL_END:
        break;
    }
    return context_end(seen, (size_t)cnt);
}

/* ---- the doorway ---------------------------------------------------------------------- */

static char const capsule_name[] = "tandem.calls";

/* notify(event, context): gives None whatever happens. */
static PyObject *
notified(PyObject *capsule, PyObject *const *args, Py_ssize_t cnt)
{
    td_reference_run_t *self = PyCapsule_GetPointer(capsule, capsule_name);
    td_py_error_t       outer; /* of the call that raised, while its frame is left */
    seen_t              seen = {.self = self};

    if (self == NULL || cnt != 2) {
        return NULL;
    }
    seen.event   = (td_call_event_t)PyLong_AsLong(args[0]);
    seen.context = args[1];
    if (self->call_status != TD_OK) {
        Py_RETURN_NONE;
    }
    self->recursion_left = PyThreadState_Get()->recursion_remaining;
    td_py_error_fetch(&outer);
    self->call_status = see(&seen);
    if (self->call_status == TD_PYERR) {
        td_py_error_fetch(&self->call_error);
    }
    td_py_error_restore(&outer);
    Py_RETURN_NONE;
}

td_status_t
td_calls_watch(td_reference_run_t *self)
{
    static PyMethodDef method   = {"notify", (PyCFunction)(void (*)(void))notified, METH_FASTCALL,
                                   NULL};
    PyObject          *capsule  = PyCapsule_New(self, capsule_name, NULL); /* owned */
    PyObject          *function = capsule == NULL ? NULL : PyCFunction_New(&method, capsule);
    int failed = function == NULL ? -1 : PyObject_SetAttrString(self->frame, "notify", function);

    Py_XDECREF(capsule);
    Py_XDECREF(function);
    return failed < 0 ? TD_PYERR : TD_OK;
}

td_status_t
td_calls_end(td_reference_run_t *self)
{
    td_status_t status = self->call_status;

    td_free(self->state);
    self->state = NULL;
    td_changes_free(self->changes); /* of a context that was not ended */
    self->changes = NULL;
    if (status == TD_PYERR) {
        td_py_error_restore(&self->call_error);
    }
    self->call_status = TD_OK;
    return status;
}
