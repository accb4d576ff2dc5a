/* live_walk.c: the objects that a case's frames reach, or a program's modules, found
   by reading what an object is made of; no code of the objects' own runs. */
#include "live/live_private.h"

#include "base/td_assert.h"
#include "py/td_call.h"

enum { OBJECT_CNT_MAX = 1000000 }; /* more is left to ordinals of first sight; bounds memory */

/* The walk goes breadth first: `found` is both the result and the queue. */
typedef struct {
    td_state_t const *state;
    PyObject         *found; /* owned list, in order of discovery */
    PyObject         *seen;  /* owned dict: address -> None */
} walk_t;

static int
is_atom(PyObject *object)
{
    return object == Py_None || PyBool_Check(object) || PyLong_CheckExact(object) ||
           PyFloat_CheckExact(object) || PyUnicode_CheckExact(object);
}

/* note marks object as seen: 1, 0 where it was before, -1 with an exception. */
static int
note(walk_t *walk, PyObject *object)
{
    PyObject *address = PyLong_FromVoidPtr(object); /* owned */
    int       result  = address == NULL ? -1 : PyDict_Contains(walk->seen, address);

    if (result >= 0) {
        result = result == 1 ? 0 : PyDict_SetItem(walk->seen, address, Py_None) < 0 ? -1 : 1;
    }
    Py_XDECREF(address);
    return result;
}

static int
meet(void *ctx, PyObject *object)
{
    walk_t *walk   = ctx;
    int     result = 0;

    /* A weak reference to an object is one to everybody who takes one. */
    if (is_atom(object) || PyWeakref_CheckRefExact(object) ||
        PyList_GET_SIZE(walk->found) >= OBJECT_CNT_MAX) {
        return 0;
    }
    result = note(walk, object);
    return result == 1 ? PyList_Append(walk->found, object) : result;
}

static int
sequence_meet(walk_t *walk, PyObject *sequence)
{
    /* The size is read anew each time: what is met cannot change it, but a list
       is not ours. */
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence); i++) {
        if (meet(walk, PySequence_Fast_GET_ITEM(sequence, i)) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
dict_meet(walk_t *walk, PyObject *dict, int with_keys)
{
    PyObject  *key   = NULL; /* borrowed from dict */
    PyObject  *value = NULL; /* borrowed from dict */
    Py_ssize_t at    = 0;

    while (PyDict_Next(dict, &at, &key, &value)) {
        if ((with_keys && meet(walk, key) < 0) || meet(walk, value) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
set_meet(walk_t *walk, PyObject *set)
{
    PyObject  *member = NULL; /* borrowed from set */
    Py_ssize_t at     = 0;
    Py_hash_t  hash   = 0;

    while (_PySet_NextEntry(set, &at, &member, &hash)) {
        if (meet(walk, member) < 0) {
            return -1;
        }
    }
    return 0;
}

/* iterated meets what an object of a C class without subclasses gives. */
static int
iterated_meet(walk_t *walk, PyObject *object)
{
    PyObject *list   = PySequence_List(object); /* owned */
    int       result = list == NULL ? -1 : sequence_meet(walk, list);

    Py_XDECREF(list);
    return result;
}

static int
attr_meet(walk_t *walk, PyObject *object, PyObject *name)
{
    PyObject *value  = td_call_attr(object, name); /* owned */
    int       result = value == NULL ? -1 : meet(walk, value);

    Py_XDECREF(value);
    return result;
}

static int
partial_meet(walk_t *walk, PyObject *object)
{
    td_state_t const *state = walk->state;

    if (attr_meet(walk, object, state->name_func) < 0 ||
        attr_meet(walk, object, state->name_args) < 0) {
        return -1;
    }
    return attr_meet(walk, object, state->name_keywords);
}

static int
slice_meet(walk_t *walk, PyObject *object)
{
    PySliceObject *slice = (PySliceObject *)object;

    if (meet(walk, slice->start) < 0 || meet(walk, slice->stop) < 0) {
        return -1;
    }
    return meet(walk, slice->step);
}

/* contents_meet meets what a container or a bound thing holds. */
static int
contents_meet(walk_t *walk, PyObject *object)
{
    td_state_t const *state = walk->state;

    if (PyList_Check(object) || PyTuple_Check(object)) {
        return sequence_meet(walk, object);
    }
    if (PyDict_Check(object)) {
        return dict_meet(walk, object, 1);
    }
    if (PyAnySet_Check(object)) {
        return set_meet(walk, object);
    }
    if (PySlice_Check(object)) {
        return slice_meet(walk, object);
    }
    if (PyMethod_Check(object)) {
        return meet(walk, PyMethod_GET_SELF(object));
    }
    if (Py_IS_TYPE(object, (PyTypeObject *)state->deque)) {
        return iterated_meet(walk, object);
    }
    if (Py_IS_TYPE(object, (PyTypeObject *)state->partial)) {
        return partial_meet(walk, object);
    }
    /* Exactly these: a subclass may compute _base by code of its own. */
    if (Py_IS_TYPE(object, (PyTypeObject *)state->tensor) ||
        Py_IS_TYPE(object, (PyTypeObject *)state->parameter)) {
        return attr_meet(walk, object, state->name__base);
    }
    return 0;
}

/* Classes, modules, functions and torch's operators are leaves: their dicts lead
   into the whole process, and those of operators grow while it runs. */
static int
is_leaf(td_state_t const *state, PyObject *object)
{
    return PyType_Check(object) || PyModule_Check(object) || PyFunction_Check(object) ||
           Py_IS_TYPE(object, (PyTypeObject *)state->op_overload) ||
           Py_IS_TYPE(object, (PyTypeObject *)state->op_packet);
}

/* instance_meet meets the values of the instance dict. */
static int
instance_meet(walk_t *walk, PyObject *object)
{
    PyObject **dict = NULL; /* the place in object */

    if (is_leaf(walk->state, object)) {
        return 0;
    }
    dict = _PyObject_GetDictPtr(object);
    if (dict == NULL || *dict == NULL || !PyDict_Check(*dict)) {
        return 0;
    }
    return dict_meet(walk, *dict, 0);
}

/* frame_meet meets what the pairs of one frame hand in: values, then what their
   specs hold.  A do step's callable is a step, no object of the program. */
static int
frame_meet(walk_t *walk, PyObject *frame)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(frame); i++) {
        PyObject *pair = PyList_GET_ITEM(frame, i); /* borrowed */
        PyObject *spec = PyTuple_GET_ITEM(pair, 0); /* borrowed */
        PyObject *word = PyTuple_GET_ITEM(spec, 0); /* borrowed */

        if (PyUnicode_CompareWithASCIIString(word, "do") == 0) {
            continue;
        }
        if (meet(walk, PyTuple_GET_ITEM(pair, 1)) < 0 || live_spec_objects(spec, meet, walk) < 0) {
            return -1;
        }
    }
    return 0;
}

/* queue_meet meets what is below everything that was found. */
static int
queue_meet(walk_t *walk)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(walk->found); i++) {
        PyObject *object = PyList_GET_ITEM(walk->found, i); /* borrowed; found only grows */

        if (contents_meet(walk, object) < 0 || instance_meet(walk, object) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
walk_all(walk_t *walk, PyObject *frames)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(frames); i++) {
        if (frame_meet(walk, PyList_GET_ITEM(frames, i)) < 0) {
            return -1;
        }
    }
    return queue_meet(walk);
}

/* members_meet meets what is below those objects whose node may hold more than its edges. */
static int
members_meet(walk_t *walk, td_prog_t const *prog, PyObject *objects)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(objects); i++) {
        PyObject *object = PyTuple_GET_ITEM(objects, i); /* borrowed */

        if (!is_atom(object) && note(walk, object) < 0) {
            return -1;
        }
        if (live_holds_more(prog->nodes[i].kind) && PyList_Append(walk->found, object) < 0) {
            return -1;
        }
    }
    return 0;
}

PyObject *
live_reach(td_prog_t const *prog, PyObject *objects)
{
    walk_t     walk   = {0};
    PyObject  *more   = NULL; /* owned */
    PyObject  *result = NULL; /* owned, returned */
    Py_ssize_t roots  = 0;

    walk.state = td_state_get();
    walk.found = PyList_New(0);
    walk.seen  = PyDict_New();
    if (walk.state != NULL && walk.found != NULL && walk.seen != NULL &&
        members_meet(&walk, prog, objects) == 0) {
        roots = PyList_GET_SIZE(walk.found);
        if (queue_meet(&walk) == 0 && PyList_SetSlice(walk.found, 0, roots, NULL) == 0) {
            more = PyList_AsTuple(walk.found);
        }
    }
    result = more == NULL ? NULL : PySequence_Concat(objects, more);
    Py_XDECREF(more);
    Py_CLEAR(walk.seen);
    Py_CLEAR(walk.found);
    return result;
}

PyObject *
live_walk(PyObject *frames)
{
    walk_t    walk   = {0};
    PyObject *result = NULL; /* owned, returned */

    TD_ASSERT(PyList_CheckExact(frames));
    walk.state = td_state_get();
    walk.found = PyList_New(0);
    walk.seen  = PyDict_New();
    if (walk.state != NULL && walk.found != NULL && walk.seen != NULL &&
        walk_all(&walk, frames) == 0) {
        result = PyList_AsTuple(walk.found);
    }
    Py_CLEAR(walk.seen);
    Py_CLEAR(walk.found);
    return result;
}
