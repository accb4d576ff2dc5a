/* td_walk.c: the walker, its memory of classes, and records by the schema. */
#include "reference/td_walk.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "py/td_canon_parts.h"
#include "reference/td_walk_parts.h"

td_val_t
walk_reject(td_walk_t *walk, char const *format, ...)
{
    va_list args;

    if (walk->status == TD_OK) {
        walk->status = TD_REJECT;
        va_start(args, format);
        (void)vsnprintf(walk->why, sizeof(walk->why), format, args);
        va_end(args);
    }
    return TD_VAL_NONE;
}

static void
walk_no_memory(td_walk_t *walk)
{
    if (walk->status == TD_OK) {
        walk->status = TD_NOMEM;
    }
}

/* ---- lists ---------------------------------------------------------------- */

void
walk_list_init(walk_list_t *list, td_walk_t *walk)
{
    list->walk  = walk;
    list->items = list->local;
    list->cnt   = 0;
    list->cap   = WALK_ITEM_LOCAL_MAX;
}

static bool
walk_list_grow(walk_list_t *list)
{
    td_val_t *old   = list->items == list->local ? NULL : list->items;
    td_val_t *grown = td_realloc(old, 2 * list->cap * sizeof(*grown));

    if (grown == NULL) {
        walk_no_memory(list->walk);
        return false;
    }
    if (old == NULL) {
        memcpy(grown, list->local, list->cnt * sizeof(*grown));
    }
    list->items = grown;
    list->cap *= 2;
    return true;
}

void
walk_list_add(walk_list_t *list, td_val_t val)
{
    if (list->cnt < list->cap || walk_list_grow(list)) {
        list->items[list->cnt++] = val;
    }
}

static void
walk_list_clear(walk_list_t *list)
{
    if (list->items != list->local) {
        td_free(list->items);
    }
}

td_val_t
walk_list_end(walk_list_t *list)
{
    td_val_t val = td_obs_list(list->walk->obs, list->items, list->cnt);

    walk_list_clear(list);
    return val;
}

td_val_t
walk_list_end_bag(walk_list_t *list)
{
    td_val_t val = td_obs_bag(list->walk->obs, list->items, list->cnt);

    walk_list_clear(list);
    return val;
}

td_val_t
walk_each(td_walk_t *walk, PyObject *dict, walk_pair_t each)
{
    walk_list_t list;
    Py_ssize_t  pos = 0;
    PyObject   *key, *value; /* borrowed */

    if (dict == NULL || !PyDict_Check(dict)) {
        return walk_reject(walk, "a %s stands where a dict should be",
                           dict == NULL ? "nothing" : Py_TYPE(dict)->tp_name);
    }
    walk_list_init(&list, walk);
    while (PyDict_Next(dict, &pos, &key, &value)) {
        walk_list_add(&list, each(walk, key, value));
    }
    return walk_list_end(&list);
}

/* ---- memory ----------------------------------------------------------------- */

static size_t
walk_memo_slot(walk_memo_t const *memo, PyObject const *key)
{
    size_t slot = (size_t)((((uintptr_t)key >> 4) * 0x9E3779B97F4A7C15u) >> 24) & memo->mask;

    while (memo->entries[slot].key != NULL && memo->entries[slot].key != key) {
        slot = (slot + 1) & memo->mask;
    }
    return slot;
}

td_val_t
walk_memo_find(walk_memo_t const *memo, PyObject const *key)
{
    return memo->entries == NULL ? TD_VAL_NONE : memo->entries[walk_memo_slot(memo, key)].val;
}

static bool
walk_memo_grow(walk_memo_t *memo)
{
    walk_memo_t grown = {.mask = memo->entries == NULL ? 255 : 4 * memo->mask + 3};

    grown.entries = td_calloc(grown.mask + 1, sizeof(*grown.entries));
    if (grown.entries == NULL) {
        return false;
    }
    for (size_t i = 0; memo->entries != NULL && i <= memo->mask; ++i) {
        if (memo->entries[i].key != NULL) {
            grown.entries[walk_memo_slot(&grown, memo->entries[i].key)] = memo->entries[i];
        }
    }
    grown.cnt = memo->cnt;
    td_free(memo->entries);
    *memo = grown;
    return true;
}

void
walk_memo_put(walk_memo_t *memo, PyObject const *key, td_val_t val)
{
    size_t slot;

    if ((memo->entries == NULL || 2 * memo->cnt > memo->mask) && !walk_memo_grow(memo)) {
        return;
    }
    slot = walk_memo_slot(memo, key);
    memo->cnt += memo->entries[slot].key == NULL;
    memo->entries[slot].key = key;
    memo->entries[slot].val = val;
}

void
walk_memo_reset(walk_memo_t *memo)
{
    enum { SPARE = 8 }; /* one large program must not make all later ones slow */

    if (memo->cnt != 0 && memo->mask / SPARE > memo->cnt) {
        walk_memo_clear(memo);
    } else if (memo->cnt != 0) {
        memset(memo->entries, 0, (memo->mask + 1) * sizeof(*memo->entries));
        memo->cnt = 0;
    }
}

void
walk_memo_clear(walk_memo_t *memo)
{
    td_free(memo->entries);
    memset(memo, 0, sizeof(*memo));
}

/* ---- classes ----------------------------------------------------------------- */

static bool
walk_class_add(walk_class_t *rows, td_field_t field)
{
    td_field_info_t const *info = td_field_info(field);
    walk_slot_t           *slot = &rows->slots[rows->slot_cnt];

    TD_ASSERT(rows->slot_cnt < WALK_SLOT_MAX);
    slot->name = PyUnicode_InternFromString(info->attribute);
    if (slot->name == NULL) {
        PyErr_Clear();
        return false;
    }
    slot->field = field;
    slot->info  = info;
    rows->slot_cnt++;
    return true;
}

static void
walk_class_free(walk_class_t *rows)
{
    for (size_t i = 0; rows != NULL && i < rows->slot_cnt; ++i) {
        Py_CLEAR(rows->slots[i].name);
    }
    for (size_t i = 0; rows != NULL && i < WALK_LOOKUP_CNT; ++i) {
        Py_XDECREF(rows->lookup_keys[i]);
    }
    td_free(rows);
}

walk_class_t *
walk_class(td_walk_t *walk, td_class_t id)
{
    walk_class_t *rows = walk->classes[id];

    if (rows != NULL) {
        return rows;
    }
    rows = td_calloc(1, sizeof(*rows));
    if (rows == NULL) {
        walk_no_memory(walk);
        return NULL;
    }
    rows->id = id;
    for (int field = TD_FIELD_NONE + 1; field < TD_FIELD_CNT; ++field) {
        td_field_info_t const *info = td_field_info((td_field_t)field);

        if (td_class_is_a(id, info->class_id) &&
            td_field_find(id, info->attribute) == (td_field_t)field &&
            !walk_class_add(rows, (td_field_t)field)) {
            walk_class_free(rows);
            walk_no_memory(walk);
            return NULL;
        }
    }
    walk->classes[id] = rows;
    return rows;
}

static td_class_t
walk_type_class(td_walk_t *walk, PyTypeObject *type)
{
    char const *dot = strrchr(type->tp_name, '.');
    td_class_t  id  = td_class_find(dot == NULL ? type->tp_name : dot + 1);
    bool ours = PyType_IsSubtype(type, walk->tracker) || PyType_IsSubtype(type, walk->source) ||
                PyType_IsSubtype(type, walk->mutable_local);

    return ours ? id : TD_CLASS_NONE;
}

static walk_type_t *
walk_type_add(td_walk_t *walk, PyTypeObject *type, walk_type_t **bucket)
{
    td_class_t   id = walk_type_class(walk, type);
    walk_type_t *made;

    if (id == TD_CLASS_NONE) {
        return NULL;
    }
    made = td_calloc(1, sizeof(*made));
    if (made == NULL) {
        walk_no_memory(walk);
        return NULL;
    }
    made->rows = walk_class(walk, id);
    if (made->rows == NULL) {
        td_free(made);
        return NULL;
    }
    made->type   = (PyTypeObject *)Py_NewRef(type);
    made->source = td_source_class_find(td_class_name(id));
    made->next   = *bucket;
    *bucket      = made;
    return made;
}

walk_type_t *
walk_type(td_walk_t *walk, PyTypeObject *type)
{
    walk_type_t **bucket = &walk->types[((uintptr_t)type >> 5) % WALK_TYPE_BUCKET_CNT];

    for (walk_type_t *at = *bucket; at != NULL; at = at->next) {
        if (at->type == type) {
            return at;
        }
    }
    return walk_type_add(walk, type, bucket);
}

/* ---- records ------------------------------------------------------------------ */

static int
walk_class_find_by_text(walk_class_t const *rows, PyObject *name)
{
    for (size_t i = 0; PyUnicode_Check(name) && i < rows->slot_cnt; ++i) {
        if (PyUnicode_Compare(rows->slots[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* The row of an attribute, -1 if there is none.  Names are nearly always the
   interned ones, so that a look by address finds them. */
static int
walk_class_find(walk_class_t *rows, PyObject *name)
{
    size_t at = ((uintptr_t)name >> 4) % WALK_LOOKUP_CNT;
    int    found;

    while (rows->lookup_keys[at] != NULL) {
        if (rows->lookup_keys[at] == name) {
            return rows->lookup_slots[at];
        }
        at = (at + 1) % WALK_LOOKUP_CNT;
    }
    found = walk_class_find_by_text(rows, name);
    if (found >= 0 && rows->lookup_used < WALK_LOOKUP_CNT / 2) {
        rows->lookup_keys[at]  = Py_NewRef(name);
        rows->lookup_slots[at] = (uint8_t)found;
        rows->lookup_used++;
    }
    return found;
}

static char const *
walk_text(PyObject *text)
{
    char const *bytes = PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : NULL;

    if (bytes == NULL) {
        PyErr_Clear();
    }
    return bytes == NULL ? "?" : bytes;
}

bool
walk_collect(td_walk_t *walk, walk_class_t *rows, PyObject *attributes, PyObject **values)
{
    Py_ssize_t pos = 0;
    PyObject  *name, *value; /* borrowed */

    memset(values, 0, rows->slot_cnt * sizeof(*values));
    while (PyDict_Next(attributes, &pos, &name, &value)) {
        int slot = walk_class_find(rows, name);

        if (slot < 0) {
            walk_reject(walk, "%s.%s is in no row of the schema", td_class_name(rows->id),
                        walk_text(name));
            return false;
        }
        values[slot] = value;
    }
    return true;
}

static td_val_t
walk_compared(td_walk_t *walk, walk_slot_t const *slot, PyObject *value)
{
    if (value == NULL) {
        return td_obs_absent(walk->obs);
    }
    return walk_form(walk, slot, value);
}

bool
walk_is_unused(td_walk_t *walk, walk_slot_t const *slot, PyObject *value)
{
    if (slot->info->form != TD_FORM_NULL_ASSERTED || value == NULL || walk_empty(walk, value)) {
        return true;
    }
    walk_reject(walk, "%s.%s is not empty, as the schema says it is", slot->info->class_name,
                slot->info->attribute);
    return false;
}

td_val_t
walk_record(td_walk_t *walk, td_class_t id, PyObject *attributes)
{
    walk_class_t  *rows = walk_class(walk, id);
    PyObject      *values[WALK_SLOT_MAX]; /* borrowed */
    td_obs_field_t fields[WALK_SLOT_MAX];
    size_t         field_cnt = 0;

    if (rows == NULL || !walk_collect(walk, rows, attributes, values)) {
        return TD_VAL_NONE;
    }
    for (size_t i = 0; i < rows->slot_cnt; ++i) {
        walk_slot_t const *slot = &rows->slots[i];

        if (slot->info->disposition == TD_COMPARED) {
            fields[field_cnt].field   = slot->field;
            fields[field_cnt++].value = walk_compared(walk, slot, values[i]);
        } else if (!walk_is_unused(walk, slot, values[i])) {
            return TD_VAL_NONE;
        }
        if (walk->status != TD_OK) {
            return TD_VAL_NONE;
        }
    }
    return td_obs_record(walk->obs, id, fields, field_cnt);
}

PyObject *
walk_dict(td_walk_t *walk, PyObject *object)
{
    PyObject *dict = object == NULL ? NULL : td_canon_dict(object);

    if (dict == NULL || !PyDict_Check(dict)) {
        walk_reject(walk, "a %s has no attributes",
                    object == NULL ? "?" : Py_TYPE(object)->tp_name);
        return NULL;
    }
    return dict;
}

PyObject *
walk_get(td_walk_t *walk, PyObject *object, PyObject *name)
{
    PyObject *dict = walk_dict(walk, object);

    return dict == NULL ? NULL : td_canon_get(dict, name);
}

PyObject *
walk_must(td_walk_t *walk, PyObject *object, PyObject *name)
{
    PyObject *found = walk_get(walk, object, name);

    if (found == NULL) {
        walk_reject(walk, "a %s has no %s", object == NULL ? "?" : Py_TYPE(object)->tp_name,
                    walk_text(name));
    }
    return found;
}

td_val_t
walk_instance(td_walk_t *walk, td_class_t id, PyObject *object)
{
    PyObject *dict = walk_dict(walk, object);

    return dict == NULL ? TD_VAL_NONE : walk_record(walk, id, dict);
}

bool
walk_empty(td_walk_t *walk, PyObject *value)
{
    PyObject *dict, *data; /* borrowed */

    if (value == Py_None || value == Py_False) {
        return true;
    }
    if (PyLong_CheckExact(value)) {
        return Py_SIZE(value) == 0;
    }
    if (PyUnicode_CheckExact(value)) {
        return PyUnicode_GET_LENGTH(value) == 0;
    }
    if (PyDict_Check(value)) {
        return PyDict_GET_SIZE(value) == 0;
    }
    if (PyList_Check(value) || PyTuple_Check(value)) {
        return Py_SIZE(value) == 0;
    }
    if (PyAnySet_Check(value)) {
        return PySet_GET_SIZE(value) == 0;
    }
    dict = td_canon_dict(value);
    data = td_canon_get(dict, walk->name_data); /* weak dictionaries of torch */
    return data != NULL && PyDict_Check(data) && PyDict_GET_SIZE(data) == 0;
}

/* ---- the walker's life ---------------------------------------------------------- */

static PyTypeObject *
walk_new_type(char const *module, char const *attr)
{
    PyObject *found = td_state_find(module, attr);

    if (found != NULL && !PyType_Check(found)) {
        Py_CLEAR(found);
        PyErr_Format(PyExc_TypeError, "%s.%s is no class", module, attr);
    }
    return (PyTypeObject *)found;
}

td_walk_t *
td_walk_new(void)
{
    td_state_t const *state = td_state_get();
    td_walk_t        *walk  = td_calloc(1, sizeof(*walk));

    if (walk == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    if (state == NULL) {
        goto failed;
    }
    walk->name_torch_dot = PyUnicode_InternFromString("torch.");
    if (walk->name_torch_dot == NULL) {
        goto failed;
    }
    walk->tensor_base = ((PyTypeObject *)state->tensor)->tp_base;
#define TD_WALK_TYPE(field, module, attr)      \
    walk->field = walk_new_type(module, attr); \
    if (walk->field == NULL) {                 \
        goto failed;                           \
    }
#define TD_WALK_NAME(text)                                 \
    walk->name_##text = PyUnicode_InternFromString(#text); \
    if (walk->name_##text == NULL) {                       \
        goto failed;                                       \
    }
#include "reference/walk.def"
#undef TD_WALK_TYPE
#undef TD_WALK_NAME
    return walk;
failed:
    td_walk_free(walk);
    return NULL;
}

static void
walk_free_classes(td_walk_t *walk)
{
    for (size_t i = 0; i < TD_CLASS_CNT; ++i) {
        walk_class_free(walk->classes[i]);
    }
    for (size_t i = 0; i < WALK_TYPE_BUCKET_CNT; ++i) {
        while (walk->types[i] != NULL) {
            walk_type_t *type = walk->types[i];

            walk->types[i] = type->next;
            Py_CLEAR(type->type);
            td_free(type);
        }
    }
}

void
td_walk_free(td_walk_t *walk)
{
    if (walk == NULL) {
        return;
    }
    walk_free_classes(walk);
    walk_memo_clear(&walk->sources);
    walk_memo_clear(&walk->guards);
    walk_memo_clear(&walk->exprs);
    Py_CLEAR(walk->name_torch_dot);
#define TD_WALK_TYPE(field, module, attr) Py_CLEAR(walk->field);
#define TD_WALK_NAME(text)                Py_CLEAR(walk->name_##text);
#include "reference/walk.def"
#undef TD_WALK_TYPE
#undef TD_WALK_NAME
    td_free(walk);
}

char const *
td_walk_why(td_walk_t const *walk)
{
    return walk->why;
}

size_t
td_walk_tracker_cnt(td_walk_t const *walk)
{
    return walk->tracker_cnt;
}
