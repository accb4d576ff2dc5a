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

/* is_plain_type: attributes of the type's instances are found as object and Module find
   them.  Modules of one type come in rows, so the last one that was is remembered. */
static bool
is_plain_type(td_builder_t *b, PyTypeObject *type)
{
    bool is_known = (type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG) != 0 &&
                    b->plain_module.type == type && b->plain_module.version == type->tp_version_tag;

    if (is_known) {
        return true;
    }
    if (_PyType_Lookup(type, b->names.getattr) != b->tables.module_getattr ||
        _PyType_Lookup(type, b->names.getattribute) !=
            PyDict_GetItemWithError(PyBaseObject_Type.tp_dict, b->names.getattribute)) {
        return false;
    }
    b->plain_module = (td_route_t){.type = type, .version = type->tp_version_tag};
    return true;
}

/* is_plain: as is_plain_type, and in exact dicts. */
static bool
is_plain(td_builder_t *b, PyObject *module)
{
    PyObject *dict = instance_dict(module); /* borrowed */

    return dict != NULL && PyDict_CheckExact(dict) && is_plain_type(b, Py_TYPE(module));
}

static bool
is_exact_dict(td_builder_t *b, PyObject *value)
{
    return PyDict_CheckExact(value) || (PyObject *)Py_TYPE(value) == b->tables.ordered_dict;
}

/* from_tables mirrors Module.__getattr__: 1, 0, or -1: a table is no plain dict. */
static int
from_tables(td_builder_t *b, PyObject *module, PyObject *name, PyObject **found)
{
    PyObject *const tables[] = {b->names.own_parameters, b->names.own_buffers,
                                b->names.own_modules};

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        PyObject *table = PyDict_GetItemWithError(instance_dict(module), tables[i]); /* borrowed */

        if (table != NULL && !is_exact_dict(b, table)) {
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
    PyObject *id    = PyLong_FromVoidPtr(object); /* owned */
    PyObject *found = NULL;                       /* borrowed */

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

int
td_module_is_dynamic(td_builder_t *b, PyObject *module)
{
    PyObject *dict   = instance_dict(module); /* borrowed */
    PyObject *marked = NULL;                  /* borrowed */
    int       answer = 0;
    int       got    = 0;

    if (dict != NULL && PyDict_GetItemWithError(dict, b->names.forward) != NULL) {
        return 1;
    }
    got = is_forced(b, module, &answer);
    if (got != 0) {
        return got < 0 ? -1 : answer;
    }
    if (td_is_a(module, b->tables.lazy_module)) {
        return 0;
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
            plain = is_exact_dict(b, hooks) && has_plain_keys(hooks);
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

enum { NESTED_MAX = 64 }; /* a deeper tree of modules is left to torch itself */

/* A walk over a module and those below it, as named_parameters() walks. */
typedef struct {
    td_builder_t *b;
    PyObject     *table;   /* borrowed: the name of the members' table */
    td_pmap_t     modules; /* met */
    td_pmap_t     members; /* met */
    PyObject     *names;   /* owned list of str */
} walk_t;

/* answers_itself: the module has something of its own in the place of one of the methods
   that the walk stands for. */
static bool
answers_itself(td_builder_t *b, PyObject *module, bool is_root)
{
    td_names_t const  *n = &b->names;
    td_tables_t const *t = &b->tables;
    struct {
        PyObject *name, *method;
    } const methods[] = {
        {n->named_modules, t->module_named_modules},
        {n->named_parameters, t->module_named_parameters},
        {n->named_buffers, t->module_named_buffers},
        {n->named_members, t->module_named_members},
    };
    size_t cnt = is_root ? sizeof methods / sizeof *methods : 1;

    if (!is_plain(b, module) || td_is_lying(b, NULL, module) ||
        Py_TYPE(module)->tp_hash != PyBaseObject_Type.tp_hash) {
        return true;
    }
    for (size_t i = 0; i < cnt; i++) {
        if (_PyType_Lookup(Py_TYPE(module), methods[i].name) != methods[i].method ||
            PyDict_GetItemWithError(instance_dict(module), methods[i].name) != NULL) {
            return true;
        }
    }
    return false;
}

/* own_table gives one of the module's tables: borrowed; NULL: not as Module makes it. */
static PyObject *
own_table(td_builder_t *b, PyObject *module, PyObject *name)
{
    PyObject *table = PyDict_GetItemWithError(instance_dict(module), name); /* borrowed */

    return table != NULL && is_exact_dict(b, table) && _PyType_Lookup(Py_TYPE(module), name) == NULL
               ? table
               : NULL;
}

/* joined gives prefix.name: a new str. */
static PyObject *
joined(PyObject *prefix, PyObject *name)
{
    return PyUnicode_GET_LENGTH(prefix) == 0 ? Py_NewRef(name)
                                             : PyUnicode_FromFormat("%U.%U", prefix, name);
}

/* A table's items in the table's own order. */
typedef struct {
    PyObject  *table;    /* borrowed */
    PyObject  *iterator; /* owned: of an OrderedDict */
    Py_ssize_t pos;
    PyObject  *key;   /* borrowed from table */
    PyObject  *value; /* borrowed from table */
} items_t;

static bool
items_next(items_t *items)
{
    PyObject *key = NULL; /* owned */

    if (PyDict_CheckExact(items->table)) {
        return PyDict_Next(items->table, &items->pos, &items->key, &items->value) != 0;
    }
    if (items->iterator == NULL) {
        items->iterator =
            PyDict_GET_SIZE(items->table) == 0 ? NULL : PyObject_GetIter(items->table);
    }
    key = items->iterator == NULL ? NULL : PyIter_Next(items->iterator);
    if (key == NULL) {
        return false;
    }
    items->key   = key;
    items->value = PyDict_GetItemWithError(items->table, key);
    Py_DECREF(key); /* the table holds it, and nothing changes the table */
    return items->value != NULL;
}

/* is_member: what a table may hold for the walk to know it by identity: tensors that
   hash as Tensor does. */
static bool
is_member(td_builder_t *b, PyObject *value)
{
    PyObject *tensor = b->tables.tensor; /* borrowed */

    if ((PyObject *)Py_TYPE(value) == tensor || (PyObject *)Py_TYPE(value) == b->tables.parameter) {
        return true;
    }
    return td_is_a(value, tensor) && _PyType_Lookup(Py_TYPE(value), b->names.hash) ==
                                         _PyType_Lookup((PyTypeObject *)tensor, b->names.hash);
}

/* walk_members adds the names of one module's members: 1, 0: torch has to say, -1: stopped. */
static int
walk_members(walk_t *walk, PyObject *module, PyObject *prefix)
{
    items_t items = {.table = own_table(walk->b, module, walk->table)};
    int     good  = items.table == NULL ? 0 : 1;

    while (good == 1 && items_next(&items)) {
        PyObject *name = NULL; /* owned */

        if (items.value == Py_None || td_pmap_get(&walk->members, items.value) != TD_MAP_NONE) {
            continue;
        }
        if (!is_member(walk->b, items.value) || !PyUnicode_CheckExact(items.key)) {
            good = 0;
            break;
        }
        name = joined(prefix, items.key);
        if (name == NULL || !td_pmap_put(&walk->members, items.value, 0) ||
            PyList_Append(walk->names, name) < 0) {
            good = -1;
        }
        Py_XDECREF(name);
    }
    Py_CLEAR(items.iterator);
    return good;
}

static int walk_module(walk_t *walk, PyObject *module, PyObject *prefix, int depth);

/* walk_children goes on below: as walk_members. */
static int
walk_children(walk_t *walk, PyObject *module, PyObject *prefix, int depth)
{
    items_t items = {.table = own_table(walk->b, module, walk->b->names.own_modules)};
    int     good  = items.table == NULL ? 0 : 1;

    while (good == 1 && items_next(&items)) {
        PyObject *name = NULL; /* owned */

        if (items.value == Py_None) {
            continue;
        }
        if (!td_is_a(items.value, walk->b->tables.module) || !PyUnicode_CheckExact(items.key)) {
            good = 0;
            break;
        }
        name = joined(prefix, items.key);
        good = name == NULL ? -1 : walk_module(walk, items.value, name, depth + 1);
        Py_XDECREF(name);
    }
    Py_CLEAR(items.iterator);
    return good;
}

static int
walk_module(walk_t *walk, PyObject *module, PyObject *prefix, int depth)
{
    int good = 0;

    if (depth > NESTED_MAX || answers_itself(walk->b, module, depth == 0)) {
        return 0;
    }
    if (td_pmap_get(&walk->modules, module) != TD_MAP_NONE) {
        return 1;
    }
    if (!td_pmap_put(&walk->modules, module, 0)) {
        return -1;
    }
    good = walk_members(walk, module, prefix);
    return good == 1 ? walk_children(walk, module, prefix, depth) : good;
}

/* members_read collects the names without asking anybody: 1 with names, 0: torch has to
   say, -1: stopped. */
static int
members_read(td_builder_t *b, PyObject *module, bool buffers, PyObject **names)
{
    walk_t    walk  = {.b     = b,
                       .table = buffers ? b->names.own_buffers : b->names.own_parameters,
                       .names = PyList_New(0)};
    PyObject *empty = PyUnicode_FromString(""); /* owned */
    int       good  = -1;

    if (walk.names != NULL && empty != NULL) {
        good = walk_module(&walk, module, empty, 0);
    }
    if (good < 0) {
        td_stop_python(b);
    }
    td_pmap_clear(&walk.modules);
    td_pmap_clear(&walk.members);
    Py_XDECREF(empty);
    if (good == 1) {
        *names = walk.names;
    } else {
        Py_CLEAR(walk.names);
    }
    return good;
}

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

/* members_asked has the module's own methods say the names. */
static bool
members_asked(td_builder_t *b, PyObject *module, bool buffers,
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

bool
td_module_members(td_builder_t *b, PyObject *module, bool buffers,
                  bool (*each)(void *ctx, PyObject *name), void *ctx)
{
    PyObject *names = NULL; /* owned */
    int       got   = members_read(b, module, buffers, &names);
    bool      good  = true;

    if (got <= 0) {
        return got == 0 && members_asked(b, module, buffers, each, ctx);
    }
    for (Py_ssize_t i = 0; good && i < PyList_GET_SIZE(names); i++) {
        PyObject *name = PyList_GET_ITEM(names, i); /* borrowed */

        good = td_keep(b, name) && each(ctx, name);
    }
    Py_DECREF(names);
    return good;
}
