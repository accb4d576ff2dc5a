/* wrap_dict.c: dict, OrderedDict and defaultdict with keys that can be spelled. */
#include <math.h>
#include <stdio.h>

#include "builder/td_builder_private.h"
#include "builder/td_leaf.h"
#include "py/td_call.h"

/* One dict while it is being wrapped. */
typedef struct {
    PyObject **keys;   /* in the arena; kept for the frame */
    PyObject **values; /* in the arena; borrowed from the dict: nothing that runs here changes it */
    td_src_id_t *subs; /* sources that stand for keys (weak references), or NULL */
    uint32_t     cnt;
    PyObject    *heard; /* owned dict, where hashing some key runs code of its class: what is done
                           with the keys is done there in the reference's order; or NULL */
} pairs_t;

/* ---- keys ------------------------------------------------------------------- */

/* names_apart says whether a key's repr is unlike that of every other key: not so
   for NaN, and not known for enum members and what has an order of its own. */
static bool
names_apart(PyObject *key)
{
    if (PyFloat_CheckExact(key)) {
        return !isnan(PyFloat_AS_DOUBLE(key));
    }
    return PyUnicode_CheckExact(key) || PyLong_CheckExact(key) || PyBool_Check(key) ||
           key == Py_None;
}

static bool
pair_put(td_builder_t *b, pairs_t *pairs, PyObject *key, PyObject *value)
{
    if (!names_apart(key)) {
        b->frame.text_mode = true;
    }
    pairs->keys[pairs->cnt]     = key;
    pairs->values[pairs->cnt++] = value;
    if (pairs->heard == NULL && td_hash_is_own(b, key)) {
        pairs->heard = PyDict_New();
        if (pairs->heard == NULL) {
            return td_stop_python(b);
        }
    }
    return td_keep(b, key);
}

/* from_ordered reads an OrderedDict in its own order, which is not that of the dict
   below it. */
static bool
from_ordered(td_builder_t *b, PyObject *value, pairs_t *pairs)
{
    PyObject *iterator = PyObject_GetIter(value); /* owned; C code, the class is exact */
    PyObject *key      = NULL;                    /* owned */
    bool      good     = iterator != NULL;

    while (good && (key = PyIter_Next(iterator)) != NULL) {
        PyObject *item = PyDict_GetItemWithError(value, key); /* borrowed */

        good = item != NULL && pair_put(b, pairs, key, item);
        Py_DECREF(key);
    }
    Py_XDECREF(iterator);
    if (PyErr_Occurred()) {
        return td_stop_python(b);
    }
    return good;
}

static bool
read_pairs(td_builder_t *b, PyObject *value, pairs_t *pairs)
{
    size_t     cnt  = (size_t)PyDict_GET_SIZE(value);
    PyObject  *key  = NULL; /* borrowed from value */
    PyObject  *item = NULL; /* borrowed from value */
    Py_ssize_t pos  = 0;

    pairs->keys = td_arena_alloc_raw(&b->frame.arena, 2 * cnt * sizeof *pairs->keys);
    if (pairs->keys == NULL) {
        return td_stop_nomem(b);
    }
    pairs->values = pairs->keys + cnt;
    while (PyDict_Next(value, &pos, &key, &item)) {
        if (!pair_put(b, pairs, key, item)) {
            return false;
        }
    }
    if (pairs->heard == NULL && !PyDict_CheckExact(value) &&
        (PyObject *)Py_TYPE(value) == b->tables.ordered_dict && !TD_PLANT(DICT_ORDER)) {
        pairs->cnt = 0;
        return from_ordered(b, value, pairs);
    }
    return true;
}

/* ---- keys that are heard ------------------------------------------------------------ */

/* go_through begins a walk over the keys where somebody hears of it: *iterator (owned) is NULL
   where nobody does. */
static bool
go_through(td_builder_t *b, PyObject *value, pairs_t const *pairs, PyObject **iterator)
{
    *iterator = NULL;
    if (pairs->heard == NULL) {
        return true;
    }
    *iterator = PyObject_GetIter(value); /* C code, the class is exact */
    return *iterator != NULL || td_stop_python(b);
}

/* next_key puts down the key at a place, as going through the dict gives it, which hashes those
   of an OrderedDict; behind the last one there is none.  iterator may be NULL. */
static bool
next_key(td_builder_t *b, PyObject *iterator, pairs_t *pairs, uint32_t at)
{
    PyObject *key = iterator == NULL ? NULL : PyIter_Next(iterator); /* owned until kept */

    if (iterator == NULL || (key == NULL && at == pairs->cnt && !PyErr_Occurred())) {
        return true;
    }
    if (key == NULL) {
        return td_stop_passing(b, "L446/for/some", __func__);
    }
    if (at == pairs->cnt) {
        Py_DECREF(key);
        return td_stop_unsupported(b, "L446/for/some", __func__, "a dict that grows");
    }
    pairs->keys[at] = key;
    return td_keep_steal(b, key);
}

/* next_value mirrors value[k], which hashes the key and may compare it with others. */
static bool
next_value(td_builder_t *b, PyObject *value, pairs_t *pairs, uint32_t at)
{
    if (pairs->heard == NULL || TD_PLANT(KEY_UNHEARD)) {
        return true;
    }
    pairs->values[at] = PyObject_GetItem(value, pairs->keys[at]);
    return pairs->values[at] == NULL ? td_stop_passing(b, "L446/for/some", __func__)
                                     : td_keep_steal(b, pairs->values[at]);
}

/* note_key mirrors result[k] = ..., which does the same among the keys so far. */
static bool
note_key(td_builder_t *b, pairs_t *pairs, uint32_t at)
{
    if (pairs->heard == NULL) {
        return true;
    }
    if (PyDict_SetItem(pairs->heard, pairs->keys[at], Py_None) < 0) {
        return td_stop_passing(b, "L446/for/some", __func__);
    }
    return PyDict_GET_SIZE(pairs->heard) == (Py_ssize_t)at + 1 ||
           td_stop_unsupported(b, "L446/for/some", __func__, "keys that are equal at times");
}

/* all_again mirrors what the tracker's constructor does to know what it contains: it makes the
   dict again, twice. */
static bool
all_again(td_builder_t *b, pairs_t *pairs)
{
    for (int i = 0; i < 2 && pairs->heard != NULL; i++) {
        Py_SETREF(pairs->heard, PyDict_New());
        if (pairs->heard == NULL) {
            return td_stop_python(b);
        }
        for (uint32_t at = 0; at < pairs->cnt; at++) {
            if (!note_key(b, pairs, at)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- keys by weak reference ----------------------------------------------------- */

/* weak_source makes GlobalWeakRefSource(name). */
static td_src_id_t
weak_source(td_builder_t *b, PyObject *name)
{
    PyObject **keys = td_alloc_in(b, sizeof *keys);
    td_at_t    at   = {0};

    if (keys == NULL) {
        return 0;
    }
    keys[0] = name;
    at      = td_source_block_add(&b->frame.sources, NULL, TD_SOURCE_CLASS_GlobalWeakRefSource,
                                  TD_PAYLOAD_KEYS, keys, NULL, 1, TD_WHERE_GLOBAL);
    if (at.id == 0) {
        td_stop_nomem(b);
    }
    return at.id;
}

int
td_is_global(td_builder_t *b, PyObject *name)
{
    for (uint32_t i = 0; i < b->frame.globals.cnt; i++) {
        if (PyUnicode_Compare(b->frame.globals.at[i].name, name) == 0) {
            return 1;
        }
    }
    return PyDict_Contains(b->frame.f_globals, name);
}

/* store_global_weakref mirrors InstructionTranslator.store_global_weakref. */
static bool
store_global_weakref(td_builder_t *b, PyObject *name, td_src_id_t source, PyObject *key)
{
    td_guard_t    alive = {.source = source, .kind = TD_GUARD_WEAKREF_ALIVE};
    td_guard_id_t guard = td_guard_add(&b->frame.guards, &alive);
    td_global_t   row   = {.name = name, .key = key};
    int           there = 0;
    PyObject     *text  = NULL; /* owned until kept */

    if (guard == 0 || !(TD_PLANT(DEAD_KEY) || TD_ARRAY_PUSH(b->frame.output_guards, guard))) {
        return td_stop_nomem(b);
    }
    there = td_is_global(b, name);
    if (there != 0) {
        return there > 0 || td_stop_python(b);
    }
    if (!PyType_SUPPORTS_WEAKREFS(Py_TYPE(key))) {
        text = PyUnicode_FromFormat("cannot create weak reference to '%s' object",
                                    Py_TYPE(key)->tp_name);
        if (text == NULL) {
            return td_stop_python(b);
        }
        return td_keep_steal(b, text) &&
               td_stop_raise_text(b, "L433/if/T", __func__, "TypeError", text);
    }
    return TD_ARRAY_PUSH(b->frame.globals, row) || td_stop_nomem(b);
}

/* store_key mirrors the loop that stores key variables in globals, for one of them: for a
   Parameter, and for any key below a local's `state`. */
static bool
store_key(td_builder_t *b, td_at_t const *at, pairs_t *pairs, uint32_t i)
{
    bool is_member =
        at->cls == TD_SOURCE_CLASS_AttrSource || at->cls == TD_SOURCE_CLASS_ParamBufferSource;
    char        text[64];
    PyObject   *name = NULL; /* owned until kept */
    td_src_id_t weak = 0;
    int         is   = !is_member && PyUnicode_CheckExact(pairs->keys[i])
                           ? 0
                           : td_key_is_tensor(b, at, pairs->keys[i]);

    if (is == 0) {
        return true;
    }
    if (pairs->subs == NULL) {
        pairs->subs = td_alloc_in(b, pairs->cnt * sizeof *pairs->subs);
    }
    snprintf(text, sizeof text, "__dict_key_%llu", (unsigned long long)(uintptr_t)pairs->keys[i]);
    name = is < 0 || pairs->subs == NULL ? NULL : PyUnicode_FromString(text);
    if (name == NULL || !td_keep_steal(b, name)) {
        return b->stop.kind != TD_STOP_NONE ? false : td_stop_python(b);
    }
    weak           = weak_source(b, name);
    pairs->subs[i] = weak;
    return weak != 0 && store_global_weakref(b, name, weak, pairs->keys[i]);
}

static bool
store_keys(td_builder_t *b, td_at_t const *at, PyObject *value, pairs_t *pairs)
{
    PyObject *iterator = NULL; /* owned */
    bool      good     = go_through(b, value, pairs, &iterator);

    for (uint32_t i = 0; good && i < pairs->cnt; i++) {
        good = next_key(b, iterator, pairs, i) && store_key(b, at, pairs, i);
    }
    good = good && next_key(b, iterator, pairs, pairs->cnt);
    Py_XDECREF(iterator);
    return good;
}

/* ---- the dict ----------------------------------------------------------------------- */

/* dict_guards: an empty dict of a module is guarded by its truth value alone. */
static bool
dict_guards(td_builder_t *b, td_at_t const *at, uint32_t cnt, td_guard_id_t *guard)
{
    bool falsy = false;

    if (cnt == 0) {
        if (!td_guard_source_of(b, at)) {
            return false;
        }
        falsy = td_where_is_nn_module((td_where_t)at->where);
    }
    return TD_PLANT(DROPPED_GUARD) ||
           td_make_guards(b, at, falsy ? TD_GUARD_BOOL_FALSE : TD_GUARD_DICT_KEYS, guard);
}

/* dict_of makes the payload of what was read of a dict; its items are still to be built.
   NULL: stopped. */
static td_dict_t *
dict_of(td_builder_t *b, PyObject *value, pairs_t const *pairs)
{
    td_dict_t *dict = td_alloc_in(b, sizeof *dict + pairs->cnt * sizeof(td_var_t));

    if (dict != NULL) {
        *dict = (td_dict_t){.items = (td_var_t *)(dict + 1),
                            .keys  = pairs->keys,
                            .cnt   = pairs->cnt,
                            .cls   = TD_PLANT(LOST_DICT_CLASS) ? (PyObject *)&PyDict_Type
                                                               : (PyObject *)Py_TYPE(value)};
    }
    return dict;
}

static bool
build_values(td_builder_t *b, td_at_t const *at, PyObject *value, pairs_t *pairs,
             td_guard_id_t guard, td_dict_t *dict)
{
    td_at_t   first    = {0};
    PyObject *iterator = NULL; /* owned */
    bool      good     = false;
    bool      leaves   = false;

    if (!td_children(b, at, TD_SOURCE_CLASS_GetItemSource,
                     pairs->subs == NULL ? TD_PAYLOAD_KEYS : TD_PAYLOAD_SOURCES, pairs->keys,
                     pairs->subs, pairs->cnt, &first)) {
        return false;
    }
    leaves = pairs->heard == NULL && td_leaves_of(b, &first, guard);
    good   = go_through(b, value, pairs, &iterator);
    for (uint32_t i = 0; good && i < pairs->cnt; i++) {
        td_at_t child = td_source_nth(&first, i);

        if (leaves && td_leaf_takes(pairs->values[i]) && !b->frame.text_mode) {
            good = td_leaf_build(b, &child, pairs->values[i], guard, &dict->items[i]);
            continue;
        }
        good = next_key(b, iterator, pairs, i) && next_value(b, value, pairs, i) &&
               td_build(b, &child, pairs->values[i], &dict->items[i]) &&
               td_var_add_guards(b, &dict->items[i], guard) && note_key(b, pairs, i);
    }
    good = good && next_key(b, iterator, pairs, pairs->cnt);
    Py_XDECREF(iterator);
    return good;
}

/* build_factory mirrors self._wrap(value.default_factory): under the dict's own
   source, and neither cloned nor tracked. */
static bool
build_factory(td_builder_t *b, td_at_t const *at, PyObject *value, td_dict_t *dict)
{
    PyObject *factory = td_call_attr(value, b->names.default_factory); /* owned until kept */

    if (factory == NULL) {
        return td_stop_python(b);
    }
    dict->factory = td_keep_steal(b, factory) ? td_alloc_in(b, sizeof *dict->factory) : NULL;
    return dict->factory != NULL &&
           (TD_PLANT(FACTORY_TRACKED) ? td_build : td_wrap)(b, at, factory, dict->factory);
}

/* wrap_pairs makes the tracker of a dict that was read. */
static bool
wrap_pairs(td_builder_t *b, td_at_t const *at, PyObject *value, pairs_t *pairs, td_guard_id_t guard,
           td_var_t *out)
{
    td_dict_t *dict       = store_keys(b, at, value, pairs) ? dict_of(b, value, pairs) : NULL;
    bool       is_default = (PyObject *)Py_TYPE(value) == b->tables.default_dict;

    if (dict == NULL) {
        return false;
    }
    b->frames += TD_DEPTH_COMP;
    if (!build_values(b, at, value, pairs, guard, dict)) {
        return false;
    }
    b->frames -= TD_DEPTH_COMP;
    if (is_default) {
        b->moved = (td_at_t){0};
        if (!build_factory(b, at, value, dict)) {
            return false;
        }
        at = b->moved.id != 0 ? &b->moved : at;
    }
    if (!all_again(b, pairs)) {
        return false;
    }
    td_var_make(out, is_default ? TD_CLASS_DefaultDictVariable : TD_CLASS_ConstDictVariable, guard);
    out->of.dict = dict;
    return td_track_obj(b, at, value, TD_CLASS_MutableSideEffects, out);
}

/* td_wrap_dict mirrors the dict branch of VariableBuilder._wrap. */
bool
td_wrap_dict(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    pairs_t       pairs = {0};
    td_guard_id_t guard = 0;
    bool          good  = false;

    good = dict_guards(b, at, (uint32_t)PyDict_GET_SIZE(value), &guard) &&
           read_pairs(b, value, &pairs) && wrap_pairs(b, at, value, &pairs, guard, out);
    Py_CLEAR(pairs.heard);
    return good;
}

/* ---- the registry of pytree nodes ------------------------------------------------------ */

/* node_of makes the tracker of one entry: an object that is only pointed at, and that
   nothing tracks. */
static bool
node_of(td_builder_t *b, td_at_t const *at, PyObject *value, td_guard_id_t guard, td_var_t *out)
{
    td_var_make(out, TD_CLASS_UserDefinedObjectVariable, guard);
    out->source   = at->id;
    out->of.value = value;
    return td_keep(b, value);
}

static bool
nodes_of(td_builder_t *b, td_at_t const *at, pairs_t const *pairs, td_guard_id_t guard,
         td_dict_t *dict)
{
    td_at_t first = {0};

    if (!td_children(b, at, TD_SOURCE_CLASS_GetItemSource, TD_PAYLOAD_KEYS, pairs->keys, NULL,
                     pairs->cnt, &first)) {
        return false;
    }
    for (uint32_t i = 0; i < pairs->cnt; i++) {
        td_at_t child = td_source_nth(&first, i);

        if (!node_of(b, &child, pairs->values[i], guard, &dict->items[i])) {
            return false;
        }
    }
    return true;
}

/* td_wrap_supported_nodes: its version is guarded in the name of each entry, and of the
   whole by what it takes over from them. */
bool
td_wrap_supported_nodes(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    pairs_t       pairs = {0};
    td_dict_t    *dict  = NULL;
    td_guard_id_t guard = 0;

    if (read_pairs(b, value, &pairs) &&
        (pairs.cnt == 0 || td_make_guards(b, at, TD_GUARD_DICT_VERSION, &guard))) {
        dict = dict_of(b, value, &pairs);
    }
    Py_CLEAR(pairs.heard);
    if (dict == NULL || !nodes_of(b, at, &pairs, TD_PLANT(UNVERSIONED) ? 0 : guard, dict)) {
        return false;
    }
    td_var_make(out, TD_CLASS_ConstDictVariable, 0);
    out->of.dict = dict;
    return true;
}
