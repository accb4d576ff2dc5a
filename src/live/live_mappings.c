/* live_mappings.c: dicts of each kind. */
#include "live/live_private.h"

#include "base/td_assert.h"
#include "py/td_call.h"

/* pairs_fill sets each key that has a hash, from the edge at `from` on. */
static int
pairs_fill(live_maker_t *maker, td_node_t const *node, size_t from, PyObject *dict)
{
    for (size_t i = from; i + 1 < node->edge_cnt; i += 2) {
        PyObject *key   = live_edge(maker, node, i);     /* borrowed from objects */
        PyObject *value = live_edge(maker, node, i + 1); /* borrowed from objects */
        int       result;

        if (maker->hash[node->edge[i]].cost == LIVE_HASH_NONE) {
            continue;
        }
        result = PyODict_Check(dict) ? PyODict_SetItem(dict, key, value)
                                     : PyDict_SetItem(dict, key, value);
        if (result < 0 && !live_forgive()) {
            return -1;
        }
    }
    return 0;
}

static PyObject *
dict_made(live_maker_t *maker, td_node_t const *node, size_t from, PyObject *dict)
{
    if (dict != NULL && pairs_fill(maker, node, from, dict) < 0) {
        Py_CLEAR(dict);
    }
    return dict;
}

PyObject *
live_make_dict(live_maker_t *maker, td_node_t const *node)
{
    return dict_made(maker, node, 0, PyDict_New());
}

PyObject *
live_make_ordered_dict(live_maker_t *maker, td_node_t const *node)
{
    return dict_made(maker, node, 0, PyODict_New());
}

PyObject *
live_make_default_dict(live_maker_t *maker, td_node_t const *node)
{
    PyObject *factory = live_edge(maker, node, 0); /* borrowed from objects */

    if (!PyCallable_Check(factory)) {
        factory = Py_None;
    }
    return dict_made(maker, node, 1, td_call(maker->state->default_dict, &factory, 1));
}

PyObject *
live_make_odict_values(live_maker_t *maker, td_node_t const *node)
{
    PyObject *dict = live_edge(maker, node, 0); /* borrowed from objects */

    TD_ASSERT(PyODict_CheckExact(dict));
    return td_call_method(maker->state->name_values, &dict, 1);
}
