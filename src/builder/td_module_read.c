/* td_module_read.c: what a module is asked for before it is registered.

   torch.nn.Module answers by code of its own (__getattr__, named_parameters); where a
   module has nothing else in its place, C reads the tables behind it.  What a class
   made of its own is called, as often as the reference calls it. */
#include <string.h>

#include "builder/td_builder_private.h"
#include "py/td_call.h"

/* ---- attributes --------------------------------------------------------------------- */

/* instance_dict: borrowed; NULL: there is none. */
static PyObject *
instance_dict(PyObject *module)
{
    PyObject **dict = _PyObject_GetDictPtr(module);

    return dict == NULL ? NULL : *dict;
}

/* is_plain: attributes are found as object and Module find them, and in exact dicts. */
static bool
is_plain(td_builder_t *b, PyObject *module)
{
    PyObject *dict = instance_dict(module); /* borrowed */

    return dict != NULL && PyDict_CheckExact(dict) && td_module_has_plain_attrs(b, module);
}

/* from_tables mirrors Module.__getattr__: 1, 0, or -1: a table is no plain dict. */
static int
from_tables(td_builder_t *b, PyObject *module, PyObject *name, PyObject **found)
{
    PyObject *const tables[] = {b->names.own_parameters, b->names.own_buffers,
                                b->names.own_modules};

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        PyObject *table = PyDict_GetItemWithError(instance_dict(module), tables[i]); /* borrowed */

        if (table != NULL && !td_is_exact_dict(b, table)) {
            return -1;
        }
        *found = table == NULL || PyDict_GET_SIZE(table) == 0
                     ? NULL
                     : Py_XNewRef(PyDict_GetItemWithError(table, name));
        if (*found != NULL) {
            return 1;
        }
    }
    return 0;
}

/* from_module finds an attribute where no code is asked: 1, 0, or -1: it is. */
static int
from_module(td_builder_t *b, PyObject *module, PyObject *name, PyObject **found)
{
    PyObject *of_class = _PyType_Lookup(Py_TYPE(module), name); /* borrowed */

    if (!is_plain(b, module) || (of_class != NULL && Py_TYPE(of_class)->tp_descr_get != NULL)) {
        return -1;
    }
    *found = Py_XNewRef(PyDict_GetItemWithError(instance_dict(module), name));
    if (*found == NULL) {
        *found = Py_XNewRef(of_class);
    }
    return *found != NULL ? 1 : from_tables(b, module, name, found);
}

int
td_module_attr(td_builder_t *b, PyObject *module, PyObject *name, PyObject **found)
{
    int got = from_module(b, module, name, found);

    if (got >= 0) {
        return got;
    }
    *found = td_call_attr(module, name);
    if (*found != NULL) {
        return 1;
    }
    if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        return 0;
    }
    td_stop_passing(b, "L888/if/T", __func__);
    return -1;
}

/* truth_of lets go of found (stolen): 1, 0, -1: stopped. */
static int
truth_of(td_builder_t *b, PyObject *found)
{
    int truth = -1;

    if (found == Py_None || PyBool_Check(found) || PyLong_CheckExact(found) ||
        PyUnicode_CheckExact(found)) {
        truth = PyObject_IsTrue(found);
    } else {
        td_stop_unsupported(b, "L905/if/T", __func__,
                            "a mark of a module that is no bool, int, str or None");
    }
    Py_DECREF(found);
    return truth;
}

int
td_module_truth(td_builder_t *b, PyObject *module, PyObject *name)
{
    PyObject *found = NULL; /* owned, handed on */
    int       got   = td_module_attr(b, module, name, &found);

    return got == 1 ? truth_of(b, found) : got;
}

/* ---- dynamic modules ---------------------------------------------------------------------- */

/* by_id gives table[id(object)], borrowed; NULL: not there, or (stopped) an exception. */
static PyObject *
by_id(td_builder_t *b, PyObject *table, PyObject *object)
{
    PyObject *id    = NULL; /* owned */
    PyObject *found = NULL; /* borrowed */

    if (PyDict_Check(table) && PyDict_GET_SIZE(table) == 0) {
        return NULL;
    }
    id = PyLong_FromVoidPtr(object);
    if (id == NULL || !PyDict_Check(table)) {
        td_stop_python(b);
    } else {
        found = PyDict_GetItemWithError(table, id);
    }
    Py_XDECREF(id);
    return found;
}

/* is_of_now mirrors GenerationTracker.check. */
static int
is_of_now(td_builder_t *b, PyObject *module)
{
    PyObject *made = by_id(b, b->tables.generation_values, module); /* borrowed */
    PyObject *now = PyDict_GetItemWithError(((PyTypeObject *)b->tables.generation_tracker)->tp_dict,
                                            b->names.generation); /* borrowed */

    if (b->stop.kind != TD_STOP_NONE) {
        return -1;
    }
    if (TD_PLANT(STALE_GENERATION) || made == NULL || now == NULL || !PyLong_CheckExact(made) ||
        !PyLong_CheckExact(now)) {
        return 0;
    }
    return PyObject_RichCompareBool(made, now, Py_EQ);
}

/* is_forced: the module says itself what it is: 1 with *answer, 0, -1: stopped.  The
   reference reads the attribute twice. */
static int
is_forced(td_builder_t *b, PyObject *module, int *answer)
{
    PyObject *found = NULL; /* owned */
    int       got   = td_module_attr(b, module, b->names.force_dynamic, &found);

    Py_CLEAR(found);
    if (got != 1) {
        return got;
    }
    got = from_module(b, module, b->names.force_dynamic, &found);
    if (got < 0) {
        found = td_call_attr(module, b->names.force_dynamic);
    }
    if (found == NULL) {
        if (got == 0) {
            td_stop_unsupported(b, "L888/if/T", __func__, "an attribute that goes away");
        } else {
            td_stop_passing(b, "L888/if/T", __func__);
        }
        return -1;
    }
    *answer = truth_of(b, found);
    return *answer < 0 ? -1 : 1;
}

/* says_itself: what the module says of itself decides: 1 with *answer, 0, -1: stopped. */
static int
says_itself(td_builder_t *b, PyObject *module, int *answer)
{
    PyObject *dict = instance_dict(module); /* borrowed */
    int       got  = 0;

    if (dict != NULL && PyDict_GetItemWithError(dict, b->names.forward) != NULL) {
        *answer = 1;
        return 1;
    }
    got = is_forced(b, module, answer);
    return got != 0 ? got : td_is_a(module, b->tables.lazy_module);
}

int
td_module_is_dynamic(td_builder_t *b, PyObject *module, td_module_own_t const *own)
{
    PyObject *marked = NULL; /* borrowed */
    int       answer = 0;
    int       got    = 0;

    if (own == NULL || own->is_special) {
        got = says_itself(b, module, &answer);
    }
    if (got != 0) {
        return got < 0 ? -1 : answer;
    }
    marked = by_id(b, b->tables.dynamic_classes, (PyObject *)Py_TYPE(module));
    if (marked != NULL && marked != Py_False) {
        return 1;
    }
    return b->stop.kind != TD_STOP_NONE ? -1 : is_of_now(b, module);
}

/* ---- hooks ---------------------------------------------------------------------------------- */

/* has_plain_keys: looking a dict's own keys up runs nobody's code. */
static bool
has_plain_keys(PyObject *dict)
{
    PyObject  *key = NULL; /* borrowed */
    Py_ssize_t pos = 0;

    while (PyDict_Next(dict, &pos, &key, NULL)) {
        if (!PyLong_CheckExact(key) && !PyUnicode_CheckExact(key)) {
            return false;
        }
    }
    return true;
}

bool
td_module_look_at_hooks(td_builder_t *b, PyObject *module)
{
    td_names_t const *n = &b->names;
    /* Those of forward come first: they are warned of apart from the others. */
    PyObject *const tables[] = {
        n->forward_pre_hooks,         n->forward_hooks,
        n->backward_pre_hooks,        n->backward_hooks,
        n->state_dict_pre_hooks,      n->state_dict_hooks,
        n->load_state_dict_pre_hooks, n->load_state_dict_post_hooks,
    };

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        PyObject *hooks = NULL; /* owned */
        int       got   = td_module_attr(b, module, tables[i], &hooks);
        bool      plain = got == 0;

        if (got == 1) {
            plain = td_is_exact_dict(b, hooks) && has_plain_keys(hooks);
        }
        Py_XDECREF(hooks);
        if (got < 0) {
            return false;
        }
        if (!plain) {
            return td_stop_unsupported(b, "L937/ret/reached", __func__,
                                       "hooks of a module that are no plain dict");
        }
    }
    return true;
}

/* ---- members --------------------------------------------------------------------------------- */

/* next_name gives the name of the next pair that torch's iterator yields: 1 (a new
   reference), 0 at the end, -1: stopped. */
static int
next_name(td_builder_t *b, PyObject *iterator, PyObject **name)
{
    PyObject *pair = PyIter_Next(iterator); /* owned */

    if (pair == NULL) {
        return PyErr_Occurred() ? (td_stop_passing(b, "L937/ret/reached", __func__), -1) : 0;
    }
    if (!PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2 ||
        !PyUnicode_CheckExact(PyTuple_GET_ITEM(pair, 0))) {
        td_stop_unsupported(b, "L937/ret/reached", __func__,
                            "members of a module that have no pairs of name and member");
        Py_DECREF(pair);
        return -1;
    }
    *name = Py_NewRef(PyTuple_GET_ITEM(pair, 0));
    Py_DECREF(pair);
    return 1;
}

bool
td_module_members(td_builder_t *b, PyObject *module, bool buffers,
                  bool (*each)(void *ctx, PyObject *name), void *ctx)
{
    PyObject *method   = buffers ? b->names.named_buffers : b->names.named_parameters;
    PyObject *given    = td_call_method(method, &module, 1);             /* owned */
    PyObject *iterator = given == NULL ? NULL : PyObject_GetIter(given); /* owned */
    PyObject *name     = NULL;                                           /* owned until kept */
    int       got      = 1;

    if (iterator == NULL) {
        td_stop_passing(b, "L937/ret/reached", __func__);
        got = -1;
    }
    while (got == 1 && (got = next_name(b, iterator, &name)) == 1) {
        got = td_keep_steal(b, name) && each(ctx, name) ? 1 : -1;
    }
    Py_XDECREF(iterator);
    Py_XDECREF(given);
    return got == 0;
}
