/* live_scalars.c: objects that hold nothing but their own value. */
#include "live/live_private.h"

#include "base/td_assert.h"

PyObject *
live_make_none(live_maker_t *maker, td_node_t const *node)
{
    (void)maker;
    (void)node;
    return Py_NewRef(Py_None);
}

PyObject *
live_make_bool(live_maker_t *maker, td_node_t const *node)
{
    (void)maker;
    return PyBool_FromLong(node->i != 0);
}

PyObject *
live_make_int(live_maker_t *maker, td_node_t const *node)
{
    (void)maker;
    return PyLong_FromLongLong(node->i);
}

PyObject *
live_make_bigint(live_maker_t *maker, td_node_t const *node)
{
    (void)maker;
    return PyLong_FromString(node->text.bytes, NULL, 10);
}

PyObject *
live_make_float(live_maker_t *maker, td_node_t const *node)
{
    (void)maker;
    return PyFloat_FromDouble(node->f);
}

PyObject *
live_make_str(live_maker_t *maker, td_node_t const *node)
{
    (void)maker;
    return PyUnicode_DecodeUTF8(node->text.bytes, (Py_ssize_t)node->text.sz, "strict");
}

PyObject *
live_make_bytes(live_maker_t *maker, td_node_t const *node)
{
    (void)maker;
    return PyBytes_FromStringAndSize(node->text.bytes, (Py_ssize_t)node->text.sz);
}

/* number gives the double of an exact number, and 0 for anything else or an int
   that no double holds. */
static double
number(PyObject *object)
{
    double value = 0.0;

    if (PyFloat_CheckExact(object)) {
        return PyFloat_AS_DOUBLE(object);
    }
    if (!PyLong_CheckExact(object) && !PyBool_Check(object)) {
        return 0.0;
    }
    value = PyLong_AsDouble(object);
    if (PyErr_Occurred() != NULL) {
        PyErr_Clear();
        return 0.0;
    }
    return value;
}

PyObject *
live_make_complex(live_maker_t *maker, td_node_t const *node)
{
    TD_ASSERT(node->edge_cnt == 2);
    return PyComplex_FromDoubles(number(live_edge(maker, node, 0)),
                                 number(live_edge(maker, node, 1)));
}
