/* td_bare.c: one program on the reference, and nothing else. */
#include "reference/td_bare.h"

#include "base/td_clock.h"
#include "py/td_py_depth.h"
#include "py/td_py_error.h"
#include "py/td_state.h"

#include <string.h>

/* What a run has at hand. */
typedef struct {
    td_live_t const *live;    /* borrowed */
    PyObject        *program; /* owned: tandem.oracle.context.Program */
    PyObject        *step;    /* owned: the open frame's step(), or NULL */
    td_bare_t       *bare;    /* borrowed */
} bare_run_t;

static bool
is_do(PyObject *steps, Py_ssize_t idx)
{
    PyObject *spec = PyTuple_GET_ITEM(PyList_GET_ITEM(steps, idx), 0); /* borrowed */
    PyObject *word = PyTuple_GET_ITEM(spec, 0);                        /* borrowed */

    return PyUnicode_Check(word) && PyUnicode_CompareWithASCIIString(word, "do") == 0;
}

static td_status_t
step_call(bare_run_t *self, Py_ssize_t idx)
{
    PyObject *index  = PyLong_FromSsize_t(idx);                                       /* owned */
    PyObject *result = index == NULL ? NULL : PyObject_CallOneArg(self->step, index); /* owned */

    Py_XDECREF(index);
    Py_XDECREF(result);
    return result == NULL ? TD_PYERR : TD_OK;
}

static td_status_t
steps_run(bare_run_t *self, PyObject *steps)
{
    td_status_t status = TD_OK;

    for (Py_ssize_t idx = 0; status == TD_OK && idx < PyList_GET_SIZE(steps); idx++) {
        bool     is_root = !is_do(steps, idx);
        uint64_t before  = td_clock_ns();

        status = step_call(self, idx);
        if (is_root) {
            self->bare->roots_ns += td_clock_ns() - before;
            self->bare->root_cnt++;
        }
    }
    return status;
}

static td_status_t
frame_open(bare_run_t *self, Py_ssize_t frame_idx)
{
    uint64_t  before = td_clock_ns();
    PyObject *frame  = PyObject_CallMethod(self->program, "open", "n", frame_idx); /* owned */

    self->bare->context_ns += td_clock_ns() - before;
    self->step = frame == NULL ? NULL : PyObject_GetAttrString(frame, "step");
    Py_XDECREF(frame);
    return self->step == NULL ? TD_PYERR : TD_OK;
}

/* A pending exception stays pending. */
static td_status_t
close_call(bare_run_t *self, char const *method)
{
    td_py_error_t error;
    PyObject     *result = NULL; /* owned */
    uint64_t      before = td_clock_ns();

    Py_CLEAR(self->step);
    td_py_error_fetch(&error);
    result = PyObject_CallMethod(self->program, method, NULL);
    if (result != NULL || error.type != NULL) {
        td_py_error_restore(&error);
    }
    self->bare->context_ns += td_clock_ns() - before;
    Py_XDECREF(result);
    return result == NULL ? TD_PYERR : TD_OK;
}

static td_status_t
frames_run(bare_run_t *self)
{
    td_status_t status = TD_OK;

    for (Py_ssize_t idx = 0; idx < PyList_GET_SIZE(self->live->frames); idx++) {
        TD_TRY(frame_open(self, idx));
        TD_TRY(steps_run(self, PyList_GET_ITEM(self->live->frames, idx)));
        TD_TRY(close_call(self, "close_frame"));
    }
done:
    return status;
}

static td_status_t
program_run(bare_run_t *self)
{
    td_status_t      status, closed;
    td_live_t const *live = self->live;
    PyObject        *make = td_state_find("tandem.oracle.context", "Program"); /* owned */

    if (make != NULL) {
        self->program =
            PyObject_CallFunctionObjArgs(make, live->frames, live->config, live->constraints,
                                         live->export_mode ? Py_True : Py_False, NULL);
        Py_DECREF(make);
    }
    if (self->program == NULL) {
        return TD_PYERR;
    }
    status = frames_run(self);
    closed = close_call(self, "close");
    Py_CLEAR(self->program);
    return status != TD_OK ? status : closed;
}

td_status_t
td_bare_run(td_reference_t *reference, td_live_t const *live, td_bare_t *bare)
{
    bare_run_t    self     = {.live = live, .bare = bare};
    int           collects = PyGC_Disable();
    td_py_depth_t depth;
    td_status_t   status;

    (void)reference; /* one a process: the modules that it loaded are found by name */
    td_py_depth_enter(&depth);
    status = program_run(&self);
    td_py_depth_leave(&depth);
    if (collects) {
        PyGC_Enable();
    }
    return status;
}
