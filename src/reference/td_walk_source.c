/* td_walk_source.c: sources as trees, guards as rows. */
#include <stdlib.h>
#include <string.h>

#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "py/td_canon_parts.h"
#include "reference/td_walk_parts.h"

/* ---- sources ---------------------------------------------------------------- */

static td_val_t
walk_source_index(td_walk_t *walk, PyObject *index)
{
    return PyType_IsSubtype(Py_TYPE(index), walk->source) ? walk_source(walk, index)
                                                          : td_canon_index(&walk->canon, index);
}

/* A TensorProperty, which is an enum member, by its name alone. */
static td_val_t
walk_source_prop(td_walk_t *walk, PyObject *prop)
{
    td_val_t member = td_canon_enum(&walk->canon, prop);

    return member == TD_VAL_NONE
               ? walk_reject(walk, "a tensor property that is no member of its enum")
               : td_obs_get_item(walk->obs, member, td_obs_get_cnt(walk->obs, member) - 1);
}

static td_val_t
walk_source_str(td_walk_t *walk, td_source_class_t source, PyObject *text)
{
    if (source == TD_SOURCE_CLASS_GlobalSource || source == TD_SOURCE_CLASS_GlobalWeakRefSource) {
        return walk_name(walk, text);
    }
    return PyUnicode_Check(text) ? td_canon_str(&walk->canon, text) : walk_value(walk, text);
}

static td_val_t
walk_source_field(td_walk_t *walk, td_source_class_t source, td_source_field_kind_t kind,
                  PyObject *value)
{
    switch (kind) {
    case TD_SOURCE_FIELD_SOURCE:
        return walk_source(walk, value);
    case TD_SOURCE_FIELD_INDEX:
        return walk_source_index(walk, value);
    case TD_SOURCE_FIELD_PROP:
        return walk_source_prop(walk, value);
    case TD_SOURCE_FIELD_STR:
        return walk_source_str(walk, source, value);
    case TD_SOURCE_FIELD_NONE:
    case TD_SOURCE_FIELD_INT:
    case TD_SOURCE_FIELD_BOOL:
    case TD_SOURCE_FIELD_VALUE:
        break;
    }
    return walk_value(walk, value);
}

/* Compared rows of a source class are its fields, in the same order. */
static td_val_t
walk_source_tree(td_walk_t *walk, walk_type_t *type, PyObject *source)
{
    td_source_class_info_t const *info = td_source_class_info(type->source);
    PyObject                     *dict = td_canon_dict(source); /* borrowed */
    PyObject                     *values[WALK_SLOT_MAX];        /* borrowed */
    td_val_t                      fields[TD_SOURCE_FIELD_CNT_MAX];
    size_t                        cnt = 0;

    memset(values, 0, sizeof(values));
    if (dict != NULL && !walk_collect(walk, type->rows, dict, values)) {
        return TD_VAL_NONE;
    }
    for (size_t i = 0; i < type->rows->slot_cnt; ++i) {
        walk_slot_t const *slot = &type->rows->slots[i];

        if (slot->info->disposition != TD_COMPARED) {
            continue;
        }
        TD_ASSERT(cnt < info->field_cnt && strcmp(slot->info->attribute, info->fields[cnt]) == 0);
        if (values[i] == NULL) {
            return walk_reject(walk, "a %s has no %s", info->name, info->fields[cnt]);
        }
        fields[cnt] = walk_source_field(walk, type->source, info->kinds[cnt], values[i]);
        cnt++;
    }
    return td_form_source(walk->obs, type->source, fields, cnt);
}

td_val_t
walk_source(td_walk_t *walk, PyObject *source)
{
    walk_type_t *type;
    td_val_t     val;

    if (source == Py_None) {
        return td_obs_null(walk->obs);
    }
    val = walk_memo_find(&walk->sources, source);
    if (val != TD_VAL_NONE) {
        return val;
    }
    type = walk_type(walk, Py_TYPE(source));
    if (type == NULL || type->source == TD_SOURCE_CLASS_CNT) {
        return walk_reject(walk, "a %s stands where a source should be", Py_TYPE(source)->tp_name);
    }
    val = walk_source_tree(walk, type, source);
    walk_memo_put(&walk->sources, source, val);
    return val;
}

td_val_t
walk_sources(td_walk_t *walk, PyObject *sources)
{
    walk_list_t list;

    if (!PyList_Check(sources)) {
        return walk_reject(walk, "a %s stands where sources should be", Py_TYPE(sources)->tp_name);
    }
    walk_list_init(&list, walk);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(sources); ++i) {
        walk_list_add(&list, walk_source(walk, PyList_GET_ITEM(sources, i)));
    }
    return walk_list_end(&list);
}

/* ---- guards ------------------------------------------------------------------- */

/* A guard whose payload is still to be written: what a payload holds may be met
   there first, and a set has no order to meet it in. */
typedef struct {
    PyObject *guard;   /* borrowed */
    PyObject *partial; /* owned by the guard */
    td_val_t  source;
    td_val_t  kind;
    bool      is_volatile;
} walk_pending_t;

typedef struct {
    td_walk_t      *walk;
    walk_list_t     rows;
    walk_pending_t  local[4];
    walk_pending_t *pending; /* local, or owned */
    size_t          pending_cnt, pending_cap;
} walk_bag_t;

static char const *
walk_guard_kind(td_walk_t *walk, PyObject *function)
{
    if (!PyFunction_Check(function)) {
        walk_reject(walk, "a guard is made by a %s", Py_TYPE(function)->tp_name);
        return NULL;
    }
    return PyUnicode_AsUTF8(((PyFunctionObject *)function)->func_name);
}

enum { WALK_KEYWORD_CNT_MAX = 8 }; /* a partial of a guard has one or two */

static td_val_t
walk_payload(td_walk_t *walk, PyObject *args, PyObject *keywords)
{
    static char const *const positions[WALK_KEYWORD_CNT_MAX] = {"0", "1", "2", "3",
                                                                "4", "5", "6", "7"};
    td_form_keyword_t        rows[WALK_KEYWORD_CNT_MAX];
    size_t                   cnt = 0;
    Py_ssize_t               pos = 0;
    PyObject                *key, *value; /* borrowed */

    if (PyTuple_GET_SIZE(args) + PyDict_GET_SIZE(keywords) > WALK_KEYWORD_CNT_MAX) {
        return walk_reject(walk, "a guard has more than %d arguments", (int)WALK_KEYWORD_CNT_MAX);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) {
        rows[cnt].keyword = positions[i];
        rows[cnt++].form  = walk_value(walk, PyTuple_GET_ITEM(args, i));
    }
    while (PyDict_Next(keywords, &pos, &key, &value)) {
        rows[cnt].keyword = PyUnicode_AsUTF8(key);
        rows[cnt++].form  = walk_value(walk, value);
    }
    return td_form_payload(walk->obs, rows, cnt);
}

static td_val_t
walk_partial_payload(td_walk_t *walk, PyObject *partial)
{
    PyObject *args     = PyObject_GetAttr(partial, walk->name_args); /* C members */
    PyObject *keywords = PyObject_GetAttr(partial, walk->name_keywords);
    td_val_t  val      = TD_VAL_NONE;

    if (args != NULL && keywords != NULL && PyTuple_Check(args) && PyDict_Check(keywords)) {
        val = walk_payload(walk, args, keywords);
    }
    PyErr_Clear();
    Py_XDECREF(args);
    Py_XDECREF(keywords);
    return val;
}

static void
walk_bag_defer(walk_bag_t *bag, walk_pending_t const *row)
{
    td_walk_t *walk = bag->walk;

    if (bag->pending_cnt == bag->pending_cap) {
        walk_pending_t *old   = bag->pending == bag->local ? NULL : bag->pending;
        walk_pending_t *grown = td_realloc(old, 2 * bag->pending_cap * sizeof(*grown));

        if (grown == NULL) {
            walk->status = TD_NOMEM;
            return;
        }
        if (old == NULL) {
            memcpy(grown, bag->local, sizeof(bag->local));
        }
        bag->pending = grown;
        bag->pending_cap *= 2;
    }
    bag->pending[bag->pending_cnt++] = *row;
}

static td_val_t
walk_guard_row(td_walk_t *walk, walk_pending_t const *row, td_val_t payload)
{
    char const *kind = td_obs_get_str(walk->obs, row->kind, NULL);
    td_val_t    val  = td_form_guard(walk->obs, row->source, kind, row->is_volatile, payload);

    walk_memo_put(&walk->guards, row->guard, val);
    return val;
}

/* The function behind create_fn, unwrapped once from a partial.  A new reference. */
static PyObject *
walk_create_fn(td_walk_t *walk, PyObject *create_fn, PyObject **partial)
{
    *partial = NULL;
    if (Py_TYPE(create_fn) != (PyTypeObject *)walk->canon.state->partial) {
        return Py_NewRef(create_fn);
    }
    *partial = create_fn;
    return PyObject_GetAttr(create_fn, walk->name_func); /* a C member */
}

/* A guard's attributes by the rows of the schema; NULL for one that is not there. */
typedef struct {
    PyObject *create_fn, *source, *is_volatile; /* borrowed */
} walk_guard_t;

static bool
walk_guard_read(td_walk_t *walk, PyObject *guard, walk_guard_t *out)
{
    walk_class_t *rows = walk_class(walk, TD_CLASS_Guard);
    PyObject     *dict = walk_dict(walk, guard); /* borrowed */
    PyObject     *values[WALK_SLOT_MAX];         /* borrowed */

    memset(out, 0, sizeof(*out));
    if (rows == NULL || dict == NULL || !walk_collect(walk, rows, dict, values)) {
        return false;
    }
    for (size_t i = 0; i < rows->slot_cnt; ++i) {
        walk_slot_t const *slot = &rows->slots[i];

        if (slot->field == TD_FIELD_Guard_create_fn) {
            out->create_fn = values[i];
        } else if (slot->field == TD_FIELD_Guard_originating_source) {
            out->source = values[i];
        } else if (slot->field == TD_FIELD_Guard_is_volatile) {
            out->is_volatile = values[i];
        } else if (!walk_is_unused(walk, slot, values[i])) {
            return false;
        }
    }
    if (out->create_fn == NULL || out->source == NULL || out->is_volatile == NULL) {
        walk_reject(walk, "a Guard has no %s", out->create_fn == NULL ? "create_fn" : "source");
        return false;
    }
    return true;
}

static void
walk_bag_add(walk_bag_t *bag, PyObject *guard)
{
    td_walk_t     *walk = bag->walk;
    walk_pending_t row  = {.guard = guard};
    walk_guard_t   read;
    PyObject      *function; /* owned */
    char const    *kind;

    if (Py_TYPE(guard) != walk->guard) {
        walk_reject(walk, "a %s stands among guards", Py_TYPE(guard)->tp_name);
        return;
    }
    if (!walk_guard_read(walk, guard, &read)) {
        return;
    }
    function = walk_create_fn(walk, read.create_fn, &row.partial);
    kind     = function == NULL ? NULL : walk_guard_kind(walk, function);
    if (kind != NULL) {
        row.kind        = td_obs_cstr(walk->obs, kind);
        row.source      = walk_source(walk, read.source);
        row.is_volatile = read.is_volatile == Py_True;
        if (row.partial != NULL) {
            walk_bag_defer(bag, &row);
        } else {
            walk_list_add(&bag->rows, walk_guard_row(walk, &row, td_obs_null(walk->obs)));
        }
    }
    PyErr_Clear();
    Py_XDECREF(function);
}

/* Whether a payload is where an object is met: it holds the object's record. */
static bool
walk_payload_meets(td_walk_t *walk, td_val_t payload)
{
    size_t cnt =
        td_obs_kind(walk->obs, payload) == TD_VAL_LIST ? td_obs_get_cnt(walk->obs, payload) : 0;

    for (size_t i = 0; i < cnt; ++i) {
        td_val_t form = td_obs_get_item(walk->obs, td_obs_get_item(walk->obs, payload, i), 1);

        if (td_obs_kind(walk->obs, form) == TD_VAL_RECORD) {
            return true;
        }
    }
    return false;
}

/* The row of a guard met now.  The same guard in another set names what it holds by
   ordinal: a record stands once, or two tensors that are alike would look like one. */
static td_val_t
walk_partial_row(td_walk_t *walk, walk_pending_t const *row)
{
    td_val_t payload = walk_partial_payload(walk, row->partial);
    td_val_t val     = walk_guard_row(walk, row, payload);

    if (walk_payload_meets(walk, payload)) {
        (void)walk_guard_row(walk, row, walk_partial_payload(walk, row->partial));
    }
    return val;
}

static int
walk_pending_cmp(void const *a, void const *b, void *obs)
{
    walk_pending_t const *x = a, *y = b;
    int                   order = td_obs_cmp(obs, x->source, y->source);

    return order != 0 ? order : td_obs_cmp(obs, x->kind, y->kind);
}

static td_val_t
walk_bag_end(walk_bag_t *bag)
{
    td_walk_t *walk = bag->walk;

    if (bag->pending_cnt > 1 && td_obs_status(walk->obs) == TD_OK) {
        qsort_r(bag->pending, bag->pending_cnt, sizeof(bag->pending[0]), walk_pending_cmp,
                walk->obs);
    }
    for (size_t i = 0; i < bag->pending_cnt; ++i) {
        walk_list_add(&bag->rows, walk_partial_row(walk, &bag->pending[i]));
    }
    if (bag->pending != bag->local) {
        td_free(bag->pending);
    }
    if (walk->status != TD_OK) {
        (void)walk_list_end(&bag->rows);
        return TD_VAL_NONE;
    }
    return walk_list_end_bag(&bag->rows);
}

td_val_t
walk_guards(td_walk_t *walk, PyObject *set)
{
    walk_bag_t bag = {.walk = walk, .pending_cap = sizeof(bag.local) / sizeof(bag.local[0])};
    Py_ssize_t pos = 0;
    PyObject  *guard; /* borrowed */
    Py_hash_t  hash;

    if (set == Py_None) {
        return td_obs_null(walk->obs);
    }
    if (!PyAnySet_Check(set)) {
        return walk_reject(walk, "a %s stands where guards should be", Py_TYPE(set)->tp_name);
    }
    bag.pending = bag.local;
    walk_list_init(&bag.rows, walk);
    while (_PySet_NextEntry(set, &pos, &guard, &hash)) {
        td_val_t row = walk_memo_find(&walk->guards, guard);

        if (row != TD_VAL_NONE) {
            walk_list_add(&bag.rows, row);
        } else {
            walk_bag_add(&bag, guard);
        }
    }
    return walk_bag_end(&bag);
}
