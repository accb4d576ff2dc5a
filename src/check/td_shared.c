/* td_shared.c: both sides on the same objects, root by root, the reference
   first.

   What the reference's build of a root changed in the objects is put back before
   the subject builds the same root, and set again after it, so that both meet
   the objects as they were and later roots meet them as a build leaves them.
   Looked after are what a build can change in an object of a program: the
   attributes of an instance and the contents of a list, dict or set. */
#include "check/td_check_private.h"

#include "base/td_assert.h"

/* The state of one object: what it had, so that it can be given back. */
typedef struct {
    PyObject *attributes; /* owned dict or NULL */
    PyObject *contents;   /* owned copy of a list, dict or set, or NULL */
} shot_t;

typedef struct {
    td_check_t           *check;
    td_live_t const      *live;
    td_run_limit_t const *limit;
    td_run_t             *out; /* the other side's */
    td_subject_run_t      run;
    td_subject_run_t      inner;       /* in the contexts of compile steps */
    PyObject             *frame_state; /* owned: that of inner's program, or NULL */
    shot_t               *before;      /* one an object: as the reference met it */
    shot_t               *after;       /* as the reference left it */
    size_t                object_cnt;
} beside_t;

/* ---- snapshots ------------------------------------------------------------------- */

static void
shots_clear(shot_t *shots, size_t cnt)
{
    for (size_t idx = 0; shots != NULL && idx < cnt; idx++) {
        Py_CLEAR(shots[idx].attributes);
        Py_CLEAR(shots[idx].contents);
    }
}

/* The instance dict itself (owned), or NULL without an exception: reading it
   through the slot runs no user code. */
static PyObject *
instance_dict(PyObject *object)
{
    PyObject *dict = NULL;

    if (!PyType_Check(object) && !PyModule_Check(object) && Py_TYPE(object)->tp_dictoffset != 0) {
        dict = PyObject_GenericGetDict(object, NULL);
    }
    if (dict == NULL) {
        PyErr_Clear(); /* an object without a dict has no attributes to put back */
    }
    return dict;
}

static PyObject *
contents_copy(PyObject *object)
{
    if (PyList_Check(object)) {
        return PyList_GetSlice(object, 0, PyList_GET_SIZE(object));
    }
    if (PyDict_Check(object)) {
        return PyDict_Copy(object);
    }
    return PySet_Check(object) ? PySet_New(object) : NULL;
}

static td_status_t
shots_take(PyObject *objects, shot_t *shots, size_t cnt)
{
    shots_clear(shots, cnt);
    for (size_t idx = 0; idx < cnt; idx++) {
        PyObject *object = PyTuple_GET_ITEM(objects, (Py_ssize_t)idx); /* borrowed */
        PyObject *dict   = instance_dict(object);                      /* owned */

        shots[idx].attributes = dict == NULL ? NULL : PyDict_Copy(dict);
        shots[idx].contents   = contents_copy(object);
        Py_XDECREF(dict);
        if (PyErr_Occurred()) {
            return TD_PYERR;
        }
    }
    return TD_OK;
}

/* Whether two dicts hold the same objects in the same order (no __eq__ runs). */
static bool
same_dict(PyObject *a, PyObject *b)
{
    PyObject  *ak, *av, *bk, *bv; /* borrowed; nothing below runs Python code */
    Py_ssize_t ai = 0, bi = 0;

    if (PyDict_GET_SIZE(a) != PyDict_GET_SIZE(b)) {
        return false;
    }
    while (PyDict_Next(a, &ai, &ak, &av) && PyDict_Next(b, &bi, &bk, &bv)) {
        if (ak != bk || av != bv) {
            return false;
        }
    }
    return true;
}

static bool
same_list(PyObject *a, PyObject *b)
{
    if (PyList_GET_SIZE(a) != PyList_GET_SIZE(b)) {
        return false;
    }
    for (Py_ssize_t idx = 0; idx < PyList_GET_SIZE(a); idx++) {
        if (PyList_GET_ITEM(a, idx) != PyList_GET_ITEM(b, idx)) {
            return false;
        }
    }
    return true;
}

/* dict.clear and dict.update of the exact type: a subclass's own methods, which
   may be anything, stay out of it. */
static int
dict_restore(PyObject *dict, PyObject *was)
{
    if (same_dict(dict, was)) {
        return 0;
    }
    PyDict_Clear(dict);
    return PyDict_Update(dict, was);
}

static int
contents_restore(PyObject *object, PyObject *was)
{
    if (PyList_Check(object)) {
        return same_list(object, was) ? 0
                                      : PyList_SetSlice(object, 0, PyList_GET_SIZE(object), was);
    }
    if (PyDict_Check(object)) {
        return dict_restore(object, was);
    }
    if (PySet_GET_SIZE(object) == PySet_GET_SIZE(was)) {
        return 0; /* a build adds to a set or takes away, it never swaps members */
    }
    PyObject *result = PySet_Clear(object) < 0
                           ? NULL
                           : PyObject_CallMethod(object, "update", "O", was); /* owned */

    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

static td_status_t
shots_restore(PyObject *objects, shot_t const *shots, size_t cnt)
{
    for (size_t idx = 0; idx < cnt; idx++) {
        PyObject *object = PyTuple_GET_ITEM(objects, (Py_ssize_t)idx); /* borrowed */
        PyObject *dict   = shots[idx].attributes == NULL ? NULL : instance_dict(object); /* owned */
        int       failed = dict == NULL ? 0 : dict_restore(dict, shots[idx].attributes);

        Py_XDECREF(dict);
        if (failed == 0 && shots[idx].contents != NULL) {
            failed = contents_restore(object, shots[idx].contents);
        }
        if (failed < 0) {
            return TD_PYERR;
        }
    }
    return TD_OK;
}

/* ---- the subject beside the reference --------------------------------------------- */

static bool
within(beside_t const *beside, size_t frame_idx, size_t step_idx)
{
    td_run_limit_t const *limit = beside->limit;

    return limit == NULL || limit->step_cnt == NULL || frame_idx >= limit->frame_cnt ||
           step_idx < limit->step_cnt[frame_idx];
}

static td_status_t
build_beside(beside_t *beside, size_t frame_idx, size_t step_idx)
{
    td_status_t status;
    PyObject   *objects = beside->live->objects; /* borrowed */

    TD_TRY(shots_take(objects, beside->after, beside->object_cnt));
    TD_TRY(shots_restore(objects, beside->before, beside->object_cnt));
    TD_TRY(td_subject_run_step(&beside->run, step_idx, within(beside, frame_idx, step_idx)));
    TD_TRY(shots_restore(objects, beside->after, beside->object_cnt));
done:
    return status;
}

/* A do or compile step changes the objects for both sides; the reference ran it. */
static td_status_t
step_beside(beside_t *beside, size_t frame_idx, size_t step_idx)
{
    td_status_t status;
    PyObject   *steps = PyList_GET_ITEM(beside->live->frames, (Py_ssize_t)frame_idx); /* borrowed */

    PyObject *step = PyList_GET_ITEM(steps, (Py_ssize_t)step_idx); /* borrowed */

    if (td_step_is_do(step) || td_step_is_compile(step)) {
        TD_TRY(td_subject_run_step(&beside->run, step_idx, false));
    } else {
        TD_TRY(build_beside(beside, frame_idx, step_idx));
    }
    TD_TRY(shots_take(beside->live->objects, beside->before, beside->object_cnt));
done:
    return status;
}

static td_status_t
on_step(void *ctx, size_t frame_idx, size_t step_idx)
{
    beside_t *beside = ctx;

    if (step_idx == TD_STEP_BEGIN) {
        return td_subject_run_frame(&beside->run, frame_idx);
    }
    if (step_idx == TD_STEP_END) {
        return td_subject_run_end(&beside->run);
    }
    return step_beside(beside, frame_idx, step_idx);
}

/* ---- beside somebody else's calls ------------------------------------------------- */

/* The frames of one frame state are one program. */
static td_status_t
inner_open(beside_t *beside, td_reference_call_t const *call)
{
    td_status_t status = TD_OK;
    PyObject   *state  = PyObject_GetAttrString(call->context, "frame_state"); /* owned */

    if (state == NULL) {
        return TD_PYERR;
    }
    if (state != beside->frame_state) {
        td_subject_run_close(&beside->inner);
        Py_XSETREF(beside->frame_state, Py_NewRef(state));
        TD_TRY(td_subject_context_open(&beside->inner, beside->run.side, beside->live, beside->out,
                                       call->context));
    }
    TD_TRY(td_subject_context_begin(&beside->inner, call));
done:
    Py_DECREF(state);
    return status;
}

static td_status_t
call_beside(beside_t *beside, td_reference_call_t const *call)
{
    td_status_t status;
    PyObject   *objects = beside->live->objects; /* borrowed */

    TD_TRY(shots_take(objects, beside->after, beside->object_cnt));
    TD_TRY(shots_restore(objects, beside->before, beside->object_cnt));
    TD_TRY(td_subject_context_call(&beside->inner, call));
    TD_TRY(shots_restore(objects, beside->after, beside->object_cnt));
done:
    return status;
}

static td_status_t
on_call(void *ctx, td_call_event_t event, td_reference_call_t const *call)
{
    td_status_t status = TD_OK;
    beside_t   *beside = ctx;

    switch (event) {
    case TD_CALL_BEFORE:
        if (call->step_idx == 0) {
            TD_TRY(inner_open(beside, call));
        }
        TD_TRY(shots_take(beside->live->objects, beside->before, beside->object_cnt));
        break;
    case TD_CALL_AFTER:
        TD_TRY(call_beside(beside, call));
        break;
    case TD_CALL_END:
        TD_TRY(td_subject_context_end(&beside->inner));
        break;
    }
done:
    return status;
}

/* The reference against itself on shared objects: one after the other, since a
   process has one tracing context at a time. */
static td_status_t
reference_twice(td_check_t *check, td_live_t const *live, td_run_limit_t const *limit,
                td_run_t runs[TD_SIDE_CNT])
{
    td_status_t status;

    TD_TRY(check->sides[0]->run(check->sides[0], live, limit, &runs[0]));
    TD_TRY(check->sides[1]->run(check->sides[1], live, limit, &runs[1]));
done:
    return status;
}

static td_status_t
beside_open(beside_t *beside)
{
    td_arena_t *arena = &beside->out->arena;

    beside->object_cnt = (size_t)PyTuple_GET_SIZE(beside->live->objects);
    beside->before     = td_arena_alloc(arena, beside->object_cnt * sizeof *beside->before);
    beside->after      = td_arena_alloc(arena, beside->object_cnt * sizeof *beside->after);
    if (beside->before == NULL || beside->after == NULL) {
        return TD_NOMEM;
    }
    return shots_take(beside->live->objects, beside->before, beside->object_cnt);
}

td_status_t
td_pair_shared(td_check_t *check, td_live_t const *live, td_run_limit_t const *limit,
               td_run_t runs[TD_SIDE_CNT])
{
    td_status_t status;
    td_side_t  *subject = check->sides[TD_SIDE_SUBJECT];
    beside_t beside = {.check = check, .live = live, .limit = limit, .out = &runs[TD_SIDE_SUBJECT]};

    if (td_side_subject_table(subject) == NULL) {
        return reference_twice(check, live, limit, runs);
    }
    TD_TRY(beside_open(&beside));
    TD_TRY(td_subject_run_open(&beside.run, subject, live, beside.out));
    subject->recorded = &runs[TD_SIDE_REFERENCE]; /* which is written step by step, ahead of it */
    td_reference_on_step(check->reference, on_step, &beside);
    td_reference_on_call(check->reference, on_call, &beside);
    status = check->sides[TD_SIDE_REFERENCE]->run(check->sides[TD_SIDE_REFERENCE], live, limit,
                                                  &runs[TD_SIDE_REFERENCE]);
    td_reference_on_step(check->reference, NULL, NULL);
    td_reference_on_call(check->reference, NULL, NULL);
    subject->recorded = NULL;
    TD_TRY(status);
    TD_TRY(td_run_join(beside.out));
done:
    if (beside.inner.side != NULL) {
        td_subject_run_close(&beside.inner);
    }
    if (beside.run.side != NULL) {
        td_subject_run_close(&beside.run);
    }
    Py_CLEAR(beside.frame_state);
    shots_clear(beside.before, beside.object_cnt);
    shots_clear(beside.after, beside.object_cnt);
    return status;
}
