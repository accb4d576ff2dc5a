/* live_case.c: what a case file gives, checked and brought into live's form. */

#include "base/td_assert.h"
#include "live/live_private.h"
#include "py/td_call.h"

static int
is_sequence(PyObject *object)
{
    return PyList_Check(object) || PyTuple_Check(object);
}

/* placed puts where a pair stands before the message of the pending TypeError. */
static void
placed(Py_ssize_t frame, Py_ssize_t idx)
{
    PyObject *type = NULL, *value = NULL, *trace = NULL; /* owned */

    if (PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Fetch(&type, &value, &trace);
        PyErr_Format(PyExc_TypeError, "frame %zd, entry %zd: %S", frame, idx,
                     value != NULL ? value : type);
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

/* pair_check takes one (spec, object) of a case; -1 with a TypeError that says
   where it stands. */
static int
pair_check(PyObject *pair, Py_ssize_t frame, Py_ssize_t idx)
{
    if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
        PyErr_Format(PyExc_TypeError, "frame %zd, entry %zd: not a pair (source_spec, object)",
                     frame, idx);
        return -1;
    }
    if (live_spec_check(PyTuple_GET_ITEM(pair, 0)) < 0) {
        placed(frame, idx);
        return -1;
    }
    return 0;
}

/* members_copied gives the members of a list or tuple as a list.  A subclass may lie
   about them when asked, so nobody asks it. */
static PyObject *
members_copied(PyObject *sequence)
{
    Py_ssize_t cnt  = PySequence_Fast_GET_SIZE(sequence);
    PyObject  *list = PyList_New(cnt); /* owned, returned */

    for (Py_ssize_t i = 0; list != NULL && i < cnt; i++) {
        PyList_SET_ITEM(list, i, Py_NewRef(PySequence_Fast_GET_ITEM(sequence, i)));
    }
    return list;
}

/* pair_copied gives (spec, object) as a tuple that is no subclass. */
static PyObject *
pair_copied(PyObject *pair, Py_ssize_t frame, Py_ssize_t idx)
{
    if (pair_check(pair, frame, idx) < 0) {
        return NULL;
    }
    return PyTuple_CheckExact(pair)
               ? Py_NewRef(pair)
               : PyTuple_Pack(2, PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1));
}

/* frame_copied gives a frame as a list of pairs. */
static PyObject *
frame_copied(PyObject *frame, Py_ssize_t idx)
{
    PyObject *list = NULL; /* owned, returned */

    if (!is_sequence(frame)) {
        PyErr_Format(PyExc_TypeError, "frame %zd: not a list of (source_spec, object)", idx);
        return NULL;
    }
    list = members_copied(frame);
    for (Py_ssize_t i = 0; list != NULL && i < PyList_GET_SIZE(list); i++) {
        PyObject *pair = pair_copied(PyList_GET_ITEM(list, i), idx, i); /* owned */

        if (pair == NULL || PyList_SetItem(list, i, pair) < 0) { /* steals the pair */
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *
frames_copied(PyObject *frames)
{
    PyObject *list = NULL; /* owned, returned */

    if (!is_sequence(frames)) {
        PyErr_SetString(PyExc_TypeError, "frames() must return a list of frames");
        return NULL;
    }
    list = PyList_New(0);
    for (Py_ssize_t i = 0; list != NULL && i < PySequence_Fast_GET_SIZE(frames); i++) {
        PyObject *frame = frame_copied(PySequence_Fast_GET_ITEM(frames, i), i); /* owned */

        if (frame == NULL || PyList_Append(list, frame) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(frame);
    }
    return list;
}

/* constraints_of asks the case for the constraints of one frame. */
static PyObject *
constraints_of(PyObject *constraints, Py_ssize_t idx, PyObject *frame)
{
    PyObject *args[2] = {NULL, frame};
    PyObject *result  = NULL; /* owned, returned */

    if (constraints == NULL || constraints == Py_None) {
        return Py_NewRef(Py_None);
    }
    args[0] = PyLong_FromSsize_t(idx);
    if (args[0] != NULL) {
        result = td_call(constraints, args, 2);
    }
    Py_XDECREF(args[0]);
    if (result != NULL && result != Py_None && !PyList_Check(result)) {
        PyErr_Format(PyExc_TypeError, "frame %zd: constraints() must return a list or None", idx);
        Py_CLEAR(result);
    }
    return result;
}

/* constraints_all: a case's objects all exist by now, so that ids are good. */
static PyObject *
constraints_all(PyObject *constraints, PyObject *frames)
{
    PyObject *list = PyList_New(0); /* owned, returned */

    for (Py_ssize_t i = 0; list != NULL && i < PyList_GET_SIZE(frames); i++) {
        PyObject *one = constraints_of(constraints, i, PyList_GET_ITEM(frames, i)); /* owned */

        if (one == NULL || PyList_Append(list, one) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(one);
    }
    return list;
}

/* classes_check asks that traceable_tensor_subclasses is what builders look classes up in;
   -1 with a TypeError otherwise. */
static int
classes_check(PyObject *config)
{
    PyObject *key     = PyUnicode_FromString("traceable_tensor_subclasses"); /* owned */
    PyObject *classes = NULL; /* borrowed from config */

    if (key != NULL) {
        classes = PyDict_GetItemWithError(config, key);
    }
    if (classes != NULL && !PyAnySet_Check(classes)) {
        PyErr_SetString(PyExc_TypeError, "CONFIG: traceable_tensor_subclasses must be a set");
    }
    Py_XDECREF(key);
    return PyErr_Occurred() != NULL ? -1 : 0;
}

static PyObject *
config_copied(PyObject *config)
{
    if (config == NULL || config == Py_None) {
        return PyDict_New();
    }
    if (!PyDict_Check(config)) {
        PyErr_SetString(PyExc_TypeError, "CONFIG must be a dict");
        return NULL;
    }
    return classes_check(config) < 0 ? NULL : PyDict_Copy(config);
}

td_status_t
td_live_from_case(PyObject *frames, PyObject *config, PyObject *constraints, int export_mode,
                  int shared, td_live_t *live)
{
    td_status_t status = TD_PYERR;

    *live        = (td_live_t){0};
    live->frames = frames_copied(frames);
    if (live->frames == NULL) {
        goto done;
    }
    live->config = config_copied(config);
    if (live->config == NULL) {
        goto done;
    }
    live->objects = live_walk(live->frames);
    if (live->objects == NULL) {
        goto done;
    }
    live->constraints = constraints_all(constraints, live->frames);
    if (live->constraints == NULL) {
        goto done;
    }
    live->user_calls = PyList_New(0);
    if (live->user_calls == NULL) {
        goto done;
    }
    live->export_mode = export_mode;
    live->shared      = shared;
    status            = TD_OK;

done:
    if (status != TD_OK) {
        td_live_clear(live);
    }
    TD_ASSERT((status == TD_PYERR) == (PyErr_Occurred() != NULL));
    return status;
}
