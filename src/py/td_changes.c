/* td_changes.c: fingerprints of objects, and records of those that moved. */
#include "py/td_changes.h"

#include <stdint.h>

#include "base/td_alloc.h"
#include "py/td_canon_parts.h"

enum {
    CHANGES_DEPTH_MAX =
        5, /* an optimizer's param_groups are two containers deep, a module's hooks one */
    CHANGES_LOCAL_MAX = 4096, /* containers looked into for one object; a cycle ends here */
};

struct td_changes {
    PyObject        *objects;  /* borrowed */
    uint64_t        *prints;   /* owned: one for each object */
    PyObject const **own;      /* owned: hash table of the objects, which speak for themselves */
    size_t           own_mask; /* its size - 1; a power of two - 1 */
};

typedef struct {
    td_changes_t const *changes;
    uint64_t            print;
    int                 budget; /* containers that may still be looked into */
} changes_look_t;

static size_t
changes_slot(td_changes_t const *changes, PyObject const *object)
{
    size_t slot = (size_t)(((uintptr_t)object >> 4) * 0x9E3779B97F4A7C15u >> 20);

    slot &= changes->own_mask;
    while (changes->own[slot] != NULL && changes->own[slot] != object) {
        slot = (slot + 1) & changes->own_mask;
    }
    return slot;
}

static void
changes_mix(changes_look_t *look, uint64_t word)
{
    look->print = (look->print ^ word) * 0x9E3779B97F4A7C15u;
    look->print ^= look->print >> 29;
}

static void changes_look_inside(changes_look_t *look, PyObject *value, int depth);

/* A value: what an atom says, which object anything else is. */
static void
changes_look_at(changes_look_t *look, PyObject *value, int depth)
{
    PyTypeObject *type = Py_TYPE(value);

    if (type == &PyLong_Type || type == &PyFloat_Type || type == &PyUnicode_Type ||
        type == &PyBytes_Type) {
        changes_mix(look, (uint64_t)PyObject_Hash(value)); /* exact types: C code, cannot fail */
        return;
    }
    changes_mix(look, (uint64_t)(uintptr_t)value);
    if (look->changes->own[changes_slot(look->changes, value)] == NULL) {
        changes_look_inside(look, value, depth);
    }
}

static void
changes_look_dict(changes_look_t *look, PyObject *dict, int depth)
{
    Py_ssize_t pos = 0;
    PyObject  *key, *item; /* borrowed */

    changes_mix(look, (uint64_t)PyDict_GET_SIZE(dict));
    while (PyDict_Next(dict, &pos, &key, &item)) {
        changes_look_at(look, key, CHANGES_DEPTH_MAX);
        changes_look_at(look, item, depth);
    }
}

static void
changes_look_set(changes_look_t *look, PyObject *set)
{
    uint64_t   sum = 0; /* the order of a set is nobody's business */
    Py_ssize_t pos = 0;
    PyObject  *key; /* borrowed */
    Py_hash_t  hash;

    while (_PySet_NextEntry(set, &pos, &key, &hash)) {
        sum += ((uint64_t)(uintptr_t)key ^ (uint64_t)hash) * 0xD6E8FEB86659FD93u;
    }
    changes_mix(look, sum);
}

static void
changes_look_iterator(changes_look_t *look, PyObject *iterator)
{
    Py_ssize_t left = PyObject_LengthHint(iterator, -1); /* exact C types */

    if (left < 0) {
        PyErr_Clear();
    }
    changes_mix(look, (uint64_t)left);
}

/* Containers by their items; exact C types only, and dicts of any kind (their
   items are read as a plain dict's). */
static void
changes_look_inside(changes_look_t *look, PyObject *value, int depth)
{
    PyTypeObject *type = Py_TYPE(value);

    if (depth >= CHANGES_DEPTH_MAX || look->budget == 0) {
        return;
    }
    if (PyDict_Check(value)) {
        look->budget--;
        changes_look_dict(look, value, depth + 1);
    } else if (PyList_Check(value) || type == &PyTuple_Type) {
        bool is_list = PyList_Check(value);

        look->budget--;
        changes_mix(look, (uint64_t)Py_SIZE(value));
        for (Py_ssize_t i = 0; i < Py_SIZE(value); ++i) {
            changes_look_at(look, is_list ? PyList_GET_ITEM(value, i) : PyTuple_GET_ITEM(value, i),
                            depth + 1);
        }
    } else if (PyAnySet_Check(value)) {
        changes_look_set(look, value);
    } else if (type == &PyTupleIter_Type || type == &PyListIter_Type) {
        changes_look_iterator(look, value);
    }
}

/* The instance dict (borrowed), or NULL where there is none or it is empty: a
   look at an object may make its dict, and that is no change of it. */
static PyObject *
changes_dict(PyObject *object)
{
    PyObject *dict = td_canon_dict(object);

    return dict != NULL && PyDict_Check(dict) && PyDict_GET_SIZE(dict) > 0 ? dict : NULL;
}

static uint64_t
changes_print(td_changes_t const *changes, PyObject *object)
{
    changes_look_t look = {.changes = changes, .print = 1, .budget = CHANGES_LOCAL_MAX};
    PyObject      *dict;

    if (td_canon_is_atom(object) || PyType_Check(object) || PyModule_Check(object)) {
        return 0;
    }
    dict = changes_dict(object);
    if (dict != NULL) {
        changes_look_dict(&look, dict, 1);
    }
    changes_look_inside(&look, object, 0);
    return look.print;
}

static bool
changes_alloc(td_changes_t *changes, size_t cnt)
{
    size_t size = 16;

    while (size < 2 * cnt) {
        size *= 2;
    }
    changes->own_mask = size - 1;
    changes->prints   = td_malloc(cnt * sizeof(changes->prints[0]));
    changes->own      = td_calloc(size, sizeof(changes->own[0]));
    return changes->prints != NULL && changes->own != NULL;
}

td_changes_t *
td_changes_new(PyObject *objects)
{
    Py_ssize_t    cnt     = PyTuple_GET_SIZE(objects);
    td_changes_t *changes = td_calloc(1, sizeof(*changes));

    if (changes == NULL || !changes_alloc(changes, (size_t)cnt)) {
        td_changes_free(changes);
        return NULL;
    }
    changes->objects = objects;
    for (Py_ssize_t i = 0; i < cnt; ++i) {
        PyObject *object = PyTuple_GET_ITEM(objects, i);

        changes->own[changes_slot(changes, object)] = object;
    }
    for (Py_ssize_t i = 0; i < cnt; ++i) {
        changes->prints[i] = changes_print(changes, PyTuple_GET_ITEM(objects, i));
    }
    return changes;
}

void
td_changes_free(td_changes_t *changes)
{
    if (changes != NULL) {
        td_free(changes->prints);
        td_free(changes->own);
        td_free(changes);
    }
}

/* ---- the second look ----------------------------------------------------- */

static td_val_t
changes_items(td_canon_t *canon, PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);

    if (PyDict_Check(object) || PyList_Check(object) || PyAnySet_Check(object)) {
        return td_canon_contents(canon, object);
    }
    if (type == &PyTupleIter_Type || type == &PyListIter_Type) {
        return td_obs_int(canon->obs, PyObject_LengthHint(object, -1));
    }
    return td_obs_null(canon->obs);
}

static td_val_t
changes_record(td_canon_t *canon, PyObject *object)
{
    PyObject      *dict = changes_dict(object);
    td_obs_field_t fields[3];

    fields[0].field = TD_FIELD_Object_object;
    fields[0].value = td_canon_value(canon, object);
    fields[1].field = TD_FIELD_Object_attributes;
    fields[1].value =
        dict != NULL ? td_canon_contents(canon, dict) : td_obs_list(canon->obs, NULL, 0);
    fields[2].field = TD_FIELD_Object_items;
    fields[2].value = changes_items(canon, object);
    return td_obs_record(canon->obs, TD_CLASS_Object, fields, 3);
}

td_val_t
td_changes_write(td_changes_t const *changes, td_canon_t *canon)
{
    Py_ssize_t         cnt   = PyTuple_GET_SIZE(changes->objects);
    td_val_t          *vals  = td_malloc((size_t)cnt * sizeof(*vals));
    size_t             moved = 0;
    td_val_t           list;
    td_canon_special_t special = canon->special;

    if (vals == NULL) {
        return TD_VAL_NONE;
    }
    canon->special = NULL; /* the same eyes for both sides */
    for (Py_ssize_t i = 0; i < cnt; ++i) {
        PyObject *object = PyTuple_GET_ITEM(changes->objects, i);

        if (changes_print(changes, object) != changes->prints[i]) {
            vals[moved++] = changes_record(canon, object);
        }
    }
    list           = td_obs_list(canon->obs, vals, moved);
    canon->special = special;
    td_free(vals);
    return list;
}
