/* live_others.c: looked-up objects, instances of user classes, partials, modules. */
#include "live/live_private.h"

#include "base/td_assert.h"
#include "py/td_call.h"

enum { ATTR_CNT_MAX = 4 }; /* attributes or keywords a, b, c, d of a node */

static char const attr_names[ATTR_CNT_MAX][2] = {"a", "b", "c", "d"};

static int
is_watched(td_state_t const *state, PyObject *object)
{
    return PyObject_TypeCheck(object, (PyTypeObject *)state->watched) ||
           PyObject_TypeCheck(object, (PyTypeObject *)state->noting_tensor) ||
           Py_IS_TYPE(object, (PyTypeObject *)state->logging_pair);
}

int
live_attach(live_maker_t *maker, td_node_t const *node, PyObject *object)
{
    PyObject *args[3] = {object, maker->calls, NULL};
    PyObject *result  = NULL; /* owned */

    if (!is_watched(maker->state, object)) {
        return 0;
    }
    args[2] = PyLong_FromSsize_t(node - maker->prog->nodes);
    if (args[2] != NULL) {
        result = td_call(maker->state->attach, args, 3);
    }
    Py_XDECREF(args[2]);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

PyObject *
live_make_choice(live_maker_t *maker, td_node_t const *node)
{
    PyObject *choice = live_choice((td_kind_t)node->kind, (size_t)node->i); /* borrowed */

    (void)maker;
    if (choice == NULL) {
        return NULL;
    }
    if (live_choice_is_factory((td_kind_t)node->kind, (size_t)node->i)) {
        return td_call(choice, NULL, 0);
    }
    return Py_NewRef(choice);
}

/* Attributes are set past any __setattr__ of the class: making an object must
   not run the code that is to be watched. */
static int
attrs_fill(live_maker_t *maker, td_node_t const *node, PyObject *object)
{
    for (size_t i = 0; i < node->edge_cnt && i < ATTR_CNT_MAX; i++) {
        PyObject *name   = PyUnicode_InternFromString(attr_names[i]); /* owned */
        int       result = -1;

        if (name != NULL) {
            result = PyObject_GenericSetAttr(object, name, live_edge(maker, node, i));
        }
        Py_XDECREF(name);
        if (result < 0) {
            return -1;
        }
    }
    return 0;
}

PyObject *
live_make_object(live_maker_t *maker, td_node_t const *node)
{
    PyObject *cls    = live_choice(TD_KIND_OBJECT, (size_t)node->i); /* borrowed */
    PyObject *object = NULL;                                         /* owned, returned */

    if (cls != NULL) {
        object = td_call(cls, NULL, 0);
    }
    if (object == NULL) {
        return NULL;
    }
    if (attrs_fill(maker, node, object) < 0 || live_attach(maker, node, object) < 0) {
        Py_CLEAR(object);
    }
    return object;
}

/* callable_edge gives the first edge, or int where it is not callable: the kind is what
   it is whatever the edge is.  Borrowed. */
static PyObject *
callable_edge(live_maker_t *maker, td_node_t const *node)
{
    PyObject *func = live_edge(maker, node, 0);

    return PyCallable_Check(func) ? func : (PyObject *)&PyLong_Type;
}

PyObject *
live_make_keywords(live_maker_t *maker, td_node_t const *node)
{
    PyObject *args[1 + ATTR_CNT_MAX];
    size_t    cnt   = node->edge_cnt - 1u;
    PyObject *names = NULL; /* owned */
    PyObject *made  = NULL; /* owned, returned */

    TD_ASSERT(cnt <= ATTR_CNT_MAX);
    args[0] = callable_edge(maker, node);
    names   = PyTuple_New((Py_ssize_t)cnt);
    for (size_t i = 0; names != NULL && i < cnt; i++) {
        PyObject *name = PyUnicode_InternFromString(attr_names[i]); /* owned, stolen */

        if (name == NULL) {
            Py_CLEAR(names);
            break;
        }
        PyTuple_SET_ITEM(names, (Py_ssize_t)i, name);
        args[1 + i] = live_edge(maker, node, 1 + i); /* borrowed from objects */
    }
    if (names != NULL) {
        made = td_call_kw(maker->state->partial, args, 1, names);
    }
    Py_XDECREF(names);
    return made;
}

PyObject *
live_make_applied(live_maker_t *maker, td_node_t const *node)
{
    PyObject *choice = live_choice((td_kind_t)node->kind, (size_t)node->i); /* borrowed */
    PyObject *args[ATTR_CNT_MAX];
    PyObject *object = NULL; /* owned, returned */

    TD_ASSERT(node->edge_cnt <= ATTR_CNT_MAX);
    for (size_t i = 0; i < node->edge_cnt; i++) {
        args[i] = live_edge(maker, node, i); /* borrowed from objects */
    }
    object = choice == NULL ? NULL : td_call(choice, args, node->edge_cnt);
    if (object != NULL && live_attach(maker, node, object) < 0) {
        Py_CLEAR(object);
    }
    return object;
}

PyObject *
live_make_partial(live_maker_t *maker, td_node_t const *node)
{
    PyObject *args[16];
    size_t    cnt = node->edge_cnt;

    TD_ASSERT(cnt >= 1 && cnt <= sizeof args / sizeof args[0]);
    args[0] = callable_edge(maker, node);
    for (size_t i = 1; i < cnt; i++) {
        args[i] = live_edge(maker, node, i); /* borrowed from objects */
    }
    return td_call(maker->state->partial, args, cnt);
}

/* ---- modules ------------------------------------------------------------------------ */

PyObject *
live_make_module(live_maker_t *maker, td_node_t const *node)
{
    PyObject *make = live_choice(TD_KIND_MODULE, (size_t)node->i); /* borrowed */
    PyObject *edges[ATTR_CNT_MAX];
    PyObject *module = NULL; /* owned, returned */

    TD_ASSERT(node->edge_cnt <= ATTR_CNT_MAX);
    for (size_t i = 0; i < node->edge_cnt; i++) {
        edges[i] = live_edge(maker, node, i); /* borrowed from objects */
    }
    module = make == NULL ? NULL : td_call(make, edges, node->edge_cnt);
    if (module != NULL && live_attach(maker, node, module) < 0) {
        Py_CLEAR(module);
    }
    return module;
}

PyObject *
live_make_member(live_maker_t *maker, td_node_t const *node)
{
    PyObject *args[2] = {live_edge(maker, node, 0), NULL};

    args[1] = live_choice(TD_KIND_MEMBER, (size_t)node->i); /* borrowed */
    return args[1] == NULL ? NULL : td_call(maker->state->member_of, args, 2);
}
