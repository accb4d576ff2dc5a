/* live_sequences.c: objects that hold others in an order, and sets. */
#include "live/live_private.h"

#include "base/td_assert.h"
#include "py/td_call.h"

/* tuple_of_edges gives a tuple of cnt members: the objects of the edges, then
   None for what is missing. */
static PyObject *
tuple_of_edges(live_maker_t *maker, td_node_t const *node, size_t cnt)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)cnt); /* owned, returned */

    if (tuple == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < cnt; i++) {
        PyObject *member = i < node->edge_cnt ? live_edge(maker, node, i) : Py_None;

        PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, Py_NewRef(member));
    }
    return tuple;
}

PyObject *
live_make_size(live_maker_t *maker, td_node_t const *node)
{
    PyObject *dims   = PyTuple_New(node->dims.cnt); /* owned */
    PyObject *result = NULL;                        /* owned, returned */

    for (size_t i = 0; dims != NULL && i < node->dims.cnt; i++) {
        PyObject *dim = PyLong_FromLongLong(node->dims.dim[i]); /* owned, stolen by the tuple */

        if (dim == NULL) {
            Py_CLEAR(dims);
            break;
        }
        PyTuple_SET_ITEM(dims, (Py_ssize_t)i, dim);
    }
    if (dims != NULL) {
        result = td_call(maker->state->size, &dims, 1);
    }
    Py_XDECREF(dims);
    return result;
}

PyObject *
live_make_list(live_maker_t *maker, td_node_t const *node)
{
    PyObject *list = PyList_New(node->edge_cnt); /* owned, returned */

    for (size_t i = 0; list != NULL && i < node->edge_cnt; i++) {
        PyList_SET_ITEM(list, (Py_ssize_t)i, Py_NewRef(live_edge(maker, node, i)));
    }
    return list;
}

PyObject *
live_make_tuple(live_maker_t *maker, td_node_t const *node)
{
    return tuple_of_edges(maker, node, node->edge_cnt);
}

/* field_cnt asks the class how many members its instances have: -1 with an
   exception. */
static Py_ssize_t
field_cnt(live_maker_t *maker, PyObject *cls, int *is_namedtuple)
{
    PyObject  *fields = NULL; /* owned */
    Py_ssize_t cnt    = -1;

    fields = PyDict_GetItemWithError(((PyTypeObject *)cls)->tp_dict, maker->state->name__fields);
    *is_namedtuple = fields != NULL && PyTuple_CheckExact(fields);
    if (*is_namedtuple) {
        return PyTuple_GET_SIZE(fields); /* borrowed from the class's dict */
    }
    if (PyErr_Occurred() != NULL) {
        return -1;
    }
    fields = PyObject_GetAttrString(cls, "n_sequence_fields");
    if (fields != NULL) {
        cnt = PyLong_AsSsize_t(fields);
    }
    Py_XDECREF(fields);
    return cnt;
}

/* A namedtuple is made as _make does, by tuple's own constructor; a struct
   sequence (torch.return_types) by its class. */
PyObject *
live_make_namedtuple(live_maker_t *maker, td_node_t const *node)
{
    PyObject  *cls           = live_choice(TD_KIND_NAMEDTUPLE, (size_t)node->i); /* borrowed */
    PyObject  *members       = NULL;                                             /* owned */
    PyObject  *args          = NULL;                                             /* owned */
    PyObject  *result        = NULL; /* owned, returned */
    int        is_namedtuple = 0;
    Py_ssize_t cnt           = 0;

    if (cls == NULL) {
        return NULL;
    }
    cnt = field_cnt(maker, cls, &is_namedtuple);
    if (cnt < 0) {
        return NULL;
    }
    members = tuple_of_edges(maker, node, (size_t)cnt);
    args    = members == NULL ? NULL : PyTuple_Pack(1, members);
    if (args != NULL && is_namedtuple) {
        result = PyTuple_Type.tp_new((PyTypeObject *)cls, args, NULL);
    } else if (args != NULL) {
        result = ((PyTypeObject *)cls)->tp_new((PyTypeObject *)cls, args, NULL);
    }
    if (result != NULL && live_attach(maker, node, result) < 0) {
        Py_CLEAR(result);
    }
    Py_XDECREF(args);
    Py_XDECREF(members);
    return result;
}

PyObject *
live_make_deque(live_maker_t *maker, td_node_t const *node)
{
    PyObject *members = tuple_of_edges(maker, node, node->edge_cnt); /* owned */
    PyObject *result  = NULL;                                        /* owned, returned */

    if (members != NULL) {
        result = td_call(maker->state->deque, &members, 1);
    }
    Py_XDECREF(members);
    return result;
}

PyObject *
live_make_range(live_maker_t *maker, td_node_t const *node)
{
    PyObject *ends[3] = {NULL}; /* owned */
    PyObject *result  = NULL;   /* owned, returned */

    (void)maker;
    for (size_t i = 0; i < 3; i++) {
        ends[i] = PyLong_FromLongLong(node->range[i]);
        if (ends[i] == NULL) {
            goto done;
        }
    }
    result = td_call((PyObject *)&PyRange_Type, ends, 3);

done:
    Py_XDECREF(ends[2]);
    Py_XDECREF(ends[1]);
    Py_XDECREF(ends[0]);
    return result;
}

PyObject *
live_make_slice(live_maker_t *maker, td_node_t const *node)
{
    TD_ASSERT(node->edge_cnt == 3);
    return PySlice_New(live_edge(maker, node, 0), live_edge(maker, node, 1),
                       live_edge(maker, node, 2));
}

/* alone: the set can have no second member, so that there is no order. */
static int
alone(td_node_t const *node)
{
    for (size_t i = 1; i < node->edge_cnt; i++) {
        if (node->edge[i] != node->edge[0]) {
            return 0;
        }
    }
    return 1;
}

/* set_fill adds what has a hash and, where an order could show, a fixed one. */
static int
set_fill(live_maker_t *maker, td_node_t const *node, PyObject *set)
{
    int any = alone(node);

    for (size_t i = 0; i < node->edge_cnt; i++) {
        live_hash_t hash = maker->hash[node->edge[i]];

        if (hash.cost == LIVE_HASH_NONE || !(any || hash.fixed)) {
            continue;
        }
        if (PySet_Add(set, live_edge(maker, node, i)) < 0 && !live_forgive()) {
            return -1;
        }
    }
    return 0;
}

static PyObject *
set_made(live_maker_t *maker, td_node_t const *node, PyObject *set)
{
    if (set != NULL && set_fill(maker, node, set) < 0) {
        Py_CLEAR(set);
    }
    return set;
}

PyObject *
live_make_set(live_maker_t *maker, td_node_t const *node)
{
    return set_made(maker, node, PySet_New(NULL));
}

PyObject *
live_make_frozenset(live_maker_t *maker, td_node_t const *node)
{
    return set_made(maker, node, PyFrozenSet_New(NULL)); /* nobody else has seen it yet */
}

PyObject *
live_make_tuple_iterator(live_maker_t *maker, td_node_t const *node)
{
    PyObject *tuple = live_edge(maker, node, 0); /* borrowed */

    TD_ASSERT(PyTuple_Check(tuple));
    return PyTuple_Type.tp_iter(tuple);
}
