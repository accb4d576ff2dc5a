/* td_module_walk.c: the members of a module and of those below it, as named_parameters()
   and named_buffers() list them, in one go for both.  No code is run. */
#include "builder/td_builder_private.h"

enum { NESTED_MAX = 64, FEW_MAX = 8 }; /* a deeper tree of modules is left to torch itself */

/* Objects that were met: most modules have a few. */
typedef struct {
    void const *few[FEW_MAX];
    uint32_t    few_cnt;
    td_pmap_t   more;
} met_t;

typedef struct {
    td_builder_t *b;
    met_t         modules, parameters, buffers;
} walk_t;

/* met_add: 1: it is new, 0: met before, -1: no memory. */
static int
met_add(met_t *met, void const *object)
{
    for (uint32_t i = 0; i < met->few_cnt; i++) {
        if (met->few[i] == object) {
            return 0;
        }
    }
    if (met->few_cnt < FEW_MAX) {
        met->few[met->few_cnt++] = object;
        return 1;
    }
    if (td_pmap_get(&met->more, object) != TD_MAP_NONE) {
        return 0;
    }
    return td_pmap_put(&met->more, object, 0) ? 1 : -1;
}

/* joined gives prefix.name: a new str; prefix NULL: none. */
static PyObject *
joined(PyObject *prefix, PyObject *name)
{
    return prefix == NULL ? Py_NewRef(name) : PyUnicode_FromFormat("%U.%U", prefix, name);
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

/* walk_members adds the names of one module's members of one kind: 1, 0: torch has to say,
   -1: stopped. */
static int
walk_members(walk_t *walk, PyObject *table, PyObject *prefix, bool buffers)
{
    td_builder_t *b     = walk->b;
    met_t        *met   = buffers ? &walk->buffers : &walk->parameters;
    items_t       items = {.table = table};
    int           good  = 1;

    while (good == 1 && items_next(&items)) {
        PyObject *name = NULL; /* owned until kept */

        if (items.value == Py_None) {
            continue;
        }
        if (!is_member(b, items.value) || !PyUnicode_CheckExact(items.key)) {
            good = 0;
            break;
        }
        good = met_add(met, items.value);
        if (good <= 0) {
            good = good == 0 ? 1 : -1;
            continue;
        }
        name = joined(prefix, items.key);
        good = name != NULL && td_keep_steal(b, name) && TD_ARRAY_PUSH(b->members[buffers], name)
                   ? 1
                   : -1;
    }
    Py_CLEAR(items.iterator);
    return good == 1 && PyErr_Occurred() ? -1 : good; /* no end of the table, but no memory */
}

static int walk_module(walk_t *walk, PyObject *module, td_module_own_t const *own, PyObject *prefix,
                       int depth);

/* walk_child goes on in one module below: as walk_members. */
static int
walk_child(walk_t *walk, items_t const *items, PyObject *prefix, int depth)
{
    td_module_own_t own  = {0};
    PyObject       *name = NULL; /* owned */
    int             good = 0;

    if (items->value == Py_None) {
        return 1;
    }
    if (!PyUnicode_CheckExact(items->key) || depth > NESTED_MAX ||
        !td_module_own(walk->b, items->value, &own)) {
        return 0;
    }
    name = joined(prefix, items->key);
    good = name == NULL ? -1 : walk_module(walk, items->value, &own, name, depth);
    Py_XDECREF(name);
    return good;
}

static int
walk_module(walk_t *walk, PyObject *module, td_module_own_t const *own, PyObject *prefix, int depth)
{
    items_t children = {.table = own->at[TD_OWN_MODULES]};
    int     good     = 0;

    for (int i = TD_OWN_PARAMETERS; i <= TD_OWN_MODULES; i++) {
        if (own->at[i] == NULL || !td_is_exact_dict(walk->b, own->at[i])) {
            return 0;
        }
    }
    good = met_add(&walk->modules, module);
    if (good <= 0) {
        return good == 0 ? 1 : -1;
    }
    good = walk_members(walk, own->at[TD_OWN_PARAMETERS], prefix, false);
    if (good == 1) {
        good = walk_members(walk, own->at[TD_OWN_BUFFERS], prefix, true);
    }
    while (good == 1 && items_next(&children)) {
        good = walk_child(walk, &children, prefix, depth + 1);
    }
    Py_CLEAR(children.iterator);
    return good == 1 && PyErr_Occurred() ? -1 : good;
}

int
td_module_walk(td_builder_t *b, PyObject *module, td_module_own_t const *own)
{
    walk_t walk = {.b = b};
    int    good = 0;

    b->members[0].cnt = 0;
    b->members[1].cnt = 0;
    good              = walk_module(&walk, module, own, NULL, 0);
    if (good < 0) {
        td_stop_python(b);
    }
    td_pmap_clear(&walk.modules.more);
    td_pmap_clear(&walk.parameters.more);
    td_pmap_clear(&walk.buffers.more);
    return good;
}
