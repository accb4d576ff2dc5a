/* td_walk_forms.c: one function for each form of the schema. */
#include <stdlib.h>
#include <string.h>

#include "base/td_alloc.h"
#include "py/td_canon_parts.h"
#include "reference/td_walk_parts.h"

td_val_t
walk_value(td_walk_t *walk, PyObject *value)
{
    return td_canon_value(&walk->canon, value);
}

/* What is there instead of what a row says. */
static td_val_t
walk_misfit(td_walk_t *walk, char const *wanted, PyObject *value)
{
    return walk_reject(walk, "a %s stands where %s should be", Py_TYPE(value)->tp_name, wanted);
}

td_val_t
walk_name(td_walk_t *walk, PyObject *name)
{
    PyObject   *keep = NULL;
    Py_ssize_t  sz   = 0;
    char const *bytes;
    td_val_t    val;

    if (!PyUnicode_Check(name)) {
        return walk_misfit(walk, "a name", name);
    }
    bytes = td_canon_utf8(name, &sz, &keep);
    val   = bytes == NULL ? TD_VAL_NONE : td_canon_name(&walk->canon, bytes, (size_t)sz);
    Py_XDECREF(keep);
    return val;
}

/* ---- trackers --------------------------------------------------------------- */

td_val_t
walk_tracker(td_walk_t *walk, PyObject *tracker)
{
    walk_type_t *type;
    uint32_t     ordinal;
    bool         again;

    if (tracker == Py_None) {
        return td_obs_null(walk->obs);
    }
    if (!PyType_IsSubtype(Py_TYPE(tracker), walk->tracker)) {
        return walk_value(walk, tracker);
    }
    type = walk_type(walk, Py_TYPE(tracker));
    if (type == NULL) {
        return walk_reject(walk, "tracker class %s is not in the schema",
                           Py_TYPE(tracker)->tp_name);
    }
    ordinal = td_obs_ordinal(walk->obs, TD_SPACE_TRACKER, tracker, &again);
    if (again) {
        return td_form_again(walk->obs, ordinal);
    }
    walk->tracker_cnt++;
    return walk_instance(walk, type->rows->id, tracker);
}

td_val_t
walk_trackers(td_walk_t *walk, PyObject *sequence)
{
    bool        is_list = PyList_Check(sequence);
    walk_list_t list;

    if (sequence == Py_None) {
        return td_obs_null(walk->obs);
    }
    if (!is_list && !PyTuple_Check(sequence)) {
        return walk_misfit(walk, "a list of trackers", sequence);
    }
    walk_list_init(&list, walk);
    for (Py_ssize_t i = 0; i < Py_SIZE(sequence); ++i) {
        walk_list_add(&list, walk_tracker(walk, is_list ? PyList_GET_ITEM(sequence, i)
                                                        : PyTuple_GET_ITEM(sequence, i)));
    }
    return walk_list_end(&list);
}

static td_val_t
walk_tracker_pair(td_walk_t *walk, PyObject *key, PyObject *value)
{
    td_val_t key_val = walk_value(walk, key);

    return td_obs_pair(walk->obs, key_val, walk_tracker(walk, value));
}

td_val_t
walk_tracker_dict(td_walk_t *walk, PyObject *dict)
{
    return dict == Py_None ? td_obs_null(walk->obs) : walk_each(walk, dict, walk_tracker_pair);
}

/* ---- mutable locals ----------------------------------------------------------- */

td_val_t
walk_mutable_local(td_walk_t *walk, PyObject *local)
{
    walk_type_t *type;
    uint32_t     ordinal;
    bool         again;

    if (local == Py_None) {
        return td_obs_null(walk->obs);
    }
    type = walk_type(walk, Py_TYPE(local));
    if (type == NULL || !PyType_IsSubtype(Py_TYPE(local), walk->mutable_local)) {
        return walk_misfit(walk, "a mutable local", local);
    }
    ordinal = td_obs_ordinal(walk->obs, TD_SPACE_MUTABLE_LOCAL, local, &again);
    if (again) {
        return td_form_again(walk->obs, ordinal);
    }
    return walk_instance(walk, type->rows->id, local);
}

static int
walk_cmp_type_name(void const *a, void const *b)
{
    PyObject *const *x = a, *const *y = b;

    return strcmp(Py_TYPE(*x)->tp_name, Py_TYPE(*y)->tp_name);
}

/* Members not met before are met now: by class, since the set's order is one of
   addresses.  Two of one class are alike in everything but who holds them. */
static size_t
walk_contains_meet(td_walk_t *walk, PyObject **members, size_t cnt, uint32_t *ordinals)
{
    size_t fresh = 0, done = 0;

    for (size_t i = 0; i < cnt; ++i) {
        if (td_obs_find_ordinal(walk->obs, TD_SPACE_MUTABLE_LOCAL, members[i], &ordinals[done])) {
            done++;
        } else {
            members[fresh++] = members[i];
        }
    }
    qsort(members, fresh, sizeof(*members), walk_cmp_type_name);
    for (size_t i = 0; i < fresh; ++i) {
        ordinals[done++] = td_obs_ordinal(walk->obs, TD_SPACE_MUTABLE_LOCAL, members[i], NULL);
    }
    return done;
}

enum { WALK_CONTAINS_LOCAL_MAX = 64 };

td_val_t
walk_contains(td_walk_t *walk, PyObject *set)
{
    PyObject  *local_members[WALK_CONTAINS_LOCAL_MAX]; /* borrowed */
    uint32_t   local_ordinals[WALK_CONTAINS_LOCAL_MAX];
    PyObject **members  = local_members;
    uint32_t  *ordinals = local_ordinals;
    size_t     cnt      = 0;
    Py_ssize_t pos      = 0;
    Py_hash_t  hash;
    td_val_t   val = TD_VAL_NONE;

    if (set == Py_None) {
        return td_obs_null(walk->obs);
    }
    if (!PyAnySet_Check(set)) {
        return walk_misfit(walk, "a set of mutable locals", set);
    }
    if (PySet_GET_SIZE(set) > WALK_CONTAINS_LOCAL_MAX) {
        members  = td_malloc((size_t)PySet_GET_SIZE(set) * sizeof(*members));
        ordinals = td_malloc((size_t)PySet_GET_SIZE(set) * sizeof(*ordinals));
    }
    if (members != NULL && ordinals != NULL) {
        while (_PySet_NextEntry(set, &pos, &members[cnt], &hash)) {
            cnt++;
        }
        cnt = walk_contains_meet(walk, members, cnt, ordinals);
        val = td_form_contains(walk->obs, ordinals, cnt);
    } else {
        walk->status = TD_NOMEM;
    }
    if (members != local_members) {
        td_free(members);
    }
    if (ordinals != local_ordinals) {
        td_free(ordinals);
    }
    return val;
}

/* ---- graph ---------------------------------------------------------------------- */

td_val_t
walk_node(td_walk_t *walk, PyObject *node)
{
    return td_form_node(walk->obs, td_obs_ordinal(walk->obs, TD_SPACE_NODE, node, NULL));
}

td_val_t
walk_proxy(td_walk_t *walk, PyObject *proxy)
{
    PyObject *node, *name; /* borrowed */
    td_val_t  ordinal;

    if (proxy == Py_None) {
        return td_obs_null(walk->obs);
    }
    if (!PyType_IsSubtype(Py_TYPE(proxy), walk->proxy)) {
        return walk_value(walk, proxy);
    }
    node = walk_must(walk, proxy, walk->name_node);
    name = node == NULL ? NULL : walk_must(walk, node, walk->name_name);
    if (name == NULL) {
        return TD_VAL_NONE;
    }
    ordinal = td_obs_int(walk->obs, td_obs_ordinal(walk->obs, TD_SPACE_NODE, node, NULL));
    return td_obs_pair(walk->obs, ordinal, walk_name(walk, name));
}

/* ---- symbolic numbers -------------------------------------------------------------- */

bool
walk_is_sym(td_walk_t const *walk, PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);

    return type == walk->sym_int || type == walk->sym_float || type == walk->sym_bool;
}

static td_val_t
walk_expr_attr(td_walk_t *walk, PyObject *expr, PyObject *name)
{
    PyObject *attr = PyObject_GetAttr(expr, name); /* sympy's slots: a name, a number */
    PyObject *text = attr == NULL ? NULL : PyObject_Str(attr);
    td_val_t  val  = TD_VAL_NONE;

    if (text == NULL && attr != NULL && PyLong_CheckExact(attr)) {
        PyErr_Clear(); /* Python refuses to spell so long a number, but for powers of two */
        text = PyNumber_ToBase(attr, 16);
    }
    if (text != NULL) {
        val = td_canon_str(&walk->canon, text);
    } else {
        PyErr_Clear();
    }
    Py_XDECREF(attr);
    Py_XDECREF(text);
    return val;
}

static td_val_t
walk_expr_text(td_walk_t *walk, PyObject *expr)
{
    PyObject *text;
    td_val_t  val;

    if (Py_TYPE(expr) == walk->symbol) {
        return walk_expr_attr(walk, expr, walk->name_name);
    }
    if (PyType_IsSubtype(Py_TYPE(expr), walk->integer)) {
        return walk_expr_attr(walk, expr, walk->name_p);
    }
    text = PyObject_Str(expr);
    if (text == NULL) {
        PyErr_Clear();
        return walk_reject(walk, "a %s has no text", Py_TYPE(expr)->tp_name);
    }
    val = td_canon_str(&walk->canon, text);
    Py_DECREF(text);
    return val;
}

td_val_t
walk_expr(td_walk_t *walk, PyObject *expr)
{
    td_val_t val;

    if (expr == Py_None) {
        return td_obs_null(walk->obs);
    }
    val = walk_memo_find(&walk->exprs, expr);
    if (val == TD_VAL_NONE) {
        val = walk_expr_text(walk, expr);
        walk_memo_put(&walk->exprs, expr, val);
    }
    return val;
}

td_val_t
walk_sym(td_walk_t *walk, PyObject *number)
{
    PyObject *node, *expr, *hint; /* borrowed */
    td_val_t  type, expr_val;

    if (!walk_is_sym(walk, number)) {
        return walk_value(walk, number);
    }
    node = walk_must(walk, number, walk->name_node);
    if (node == NULL) {
        return TD_VAL_NONE;
    }
    if (td_canon_dict(node) == NULL) {
        return walk_reject(walk, "a %s holds a number of C++ alone", Py_TYPE(number)->tp_name);
    }
    expr = walk_must(walk, node, walk->name__expr);
    hint = walk_get(walk, node, walk->name__hint);
    if (expr == NULL) {
        return TD_VAL_NONE;
    }
    type     = td_obs_cstr(walk->obs, Py_TYPE(number)->tp_name);
    expr_val = walk_expr(walk, expr);
    return td_obs_triple(walk->obs, type, expr_val,
                         hint == NULL ? td_obs_null(walk->obs) : walk_value(walk, hint));
}

td_val_t
walk_shape(td_walk_t *walk, PyObject *shape)
{
    walk_list_t list;

    if (shape == Py_None) {
        return td_obs_null(walk->obs);
    }
    if (!PyTuple_Check(shape)) {
        return walk_misfit(walk, "a shape", shape);
    }
    walk_list_init(&list, walk);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shape); ++i) {
        walk_list_add(&list, walk_sym(walk, PyTuple_GET_ITEM(shape, i)));
    }
    return walk_list_end(&list);
}

/* ---- memory formats ------------------------------------------------------------------ */

enum { WALK_FORMAT_CNT_MAX = 8 }; /* torch has four */

td_val_t
walk_formats(td_walk_t *walk, PyObject *formats)
{
    td_val_t   vals[WALK_FORMAT_CNT_MAX];
    Py_ssize_t cnt;

    if (formats == Py_None) {
        return td_obs_null(walk->obs);
    }
    if (!PyTuple_Check(formats) || PyTuple_GET_SIZE(formats) > WALK_FORMAT_CNT_MAX) {
        return walk_misfit(walk, "a tuple of memory formats", formats);
    }
    cnt = PyTuple_GET_SIZE(formats);
    for (Py_ssize_t i = 0; i < cnt; ++i) {
        td_val_t val = walk_value(walk, PyTuple_GET_ITEM(formats, i));
        bool     typed =
            td_obs_kind(walk->obs, val) == TD_VAL_LIST && td_obs_get_cnt(walk->obs, val) == 2;
        Py_ssize_t at = i;

        val = typed ? td_obs_get_item(walk->obs, val, 1) : val;
        for (; at > 0 && td_obs_cmp(walk->obs, vals[at - 1], val) > 0; --at) {
            vals[at] = vals[at - 1];
        }
        vals[at] = val;
    }
    return td_obs_list(walk->obs, vals, (size_t)cnt);
}

/* ---- functions -------------------------------------------------------------------------- */

static td_val_t
walk_closure(td_walk_t *walk, PyObject *closure)
{
    walk_list_t list;

    walk_list_init(&list, walk);
    for (Py_ssize_t i = 0; closure != NULL && i < PyTuple_GET_SIZE(closure); ++i) {
        PyObject *content = PyCell_GET(PyTuple_GET_ITEM(closure, i)); /* borrowed */

        walk_list_add(&list,
                      content == NULL ? td_obs_absent(walk->obs) : walk_value(walk, content));
    }
    return walk_list_end(&list);
}

/* A function that is found nowhere is its name, its first line and what it closed
   over: it was made for one tracker, so it has no identity worth comparing. */
td_val_t
walk_function(td_walk_t *walk, PyObject *function)
{
    PyFunctionObject *made;
    td_val_t          vals[5];

    if (!PyFunction_Check(function) ||
        td_canon_find(((PyFunctionObject *)function)->func_module,
                      ((PyFunctionObject *)function)->func_qualname) == function) {
        return walk_value(walk, function);
    }
    made    = (PyFunctionObject *)function;
    vals[0] = td_obs_cstr(walk->obs, "lambda");
    vals[1] = walk_value(walk, made->func_module);
    vals[2] = td_canon_str(&walk->canon, made->func_qualname);
    vals[3] = td_obs_int(walk->obs, ((PyCodeObject *)made->func_code)->co_firstlineno);
    vals[4] = walk_closure(walk, made->func_closure);
    return td_obs_list(walk->obs, vals, 5);
}

/* ---- anything ------------------------------------------------------------------------------ */

static td_val_t
walk_tensor_weakref(td_walk_t *walk, PyObject *value)
{
    PyObject *ref = walk_must(walk, value, walk->name_ref); /* borrowed */

    if (ref == NULL) {
        return TD_VAL_NONE;
    }
    return walk_value(walk, ref);
}

/* Objects that the reference made: none is a program's own. */
td_val_t
walk_special(void *ctx, PyObject *value)
{
    td_walk_t    *walk = ctx;
    PyTypeObject *type = Py_TYPE(value);

    if (walk_is_sym(walk, value)) {
        return walk_sym(walk, value);
    }
    if (walk_is_tensor(walk, value)) {
        return walk_tensor(walk, value);
    }
    if (type == walk->node) {
        return walk_node(walk, value);
    }
    if (type == walk->tensor_weakref) {
        return walk_tensor_weakref(walk, value);
    }
    if (type == walk->immutable_list || type == walk->immutable_dict) {
        return td_form_typed(walk->obs, type == walk->immutable_list ? "list" : "dict",
                             td_canon_contents(&walk->canon, value));
    }
    if (PyType_IsSubtype(type, walk->tracker)) {
        return walk_tracker(walk, value);
    }
    return PyType_IsSubtype(type, walk->source) ? walk_source(walk, value) : TD_VAL_NONE;
}

static td_val_t
walk_str(td_walk_t *walk, PyObject *value)
{
    return value == Py_None ? td_obs_null(walk->obs) : walk_name(walk, value);
}

static td_val_t
walk_bool(td_walk_t *walk, PyObject *value)
{
    return PyBool_Check(value) ? td_obs_bool(walk->obs, value == Py_True) : walk_value(walk, value);
}

typedef td_val_t (*walk_form_t)(td_walk_t *walk, PyObject *value);

static walk_form_t const walk_forms[TD_FORM_CNT] = {
    [TD_FORM_SOURCE]        = walk_source,
    [TD_FORM_GUARDS]        = walk_guards,
    [TD_FORM_MUTABLE_LOCAL] = walk_mutable_local,
    [TD_FORM_CONTAINS]      = walk_contains,
    [TD_FORM_VALUE]         = walk_value,
    [TD_FORM_CLASS_VALUE]   = walk_value,
    [TD_FORM_TRACKER]       = walk_tracker,
    [TD_FORM_TRACKERS]      = walk_trackers,
    [TD_FORM_TRACKER_DICT]  = walk_tracker_dict,
    [TD_FORM_PROXY]         = walk_proxy,
    [TD_FORM_SYM]           = walk_sym,
    [TD_FORM_SHAPE]         = walk_shape,
    [TD_FORM_FORMATS]       = walk_formats,
    [TD_FORM_STR]           = walk_str,
    [TD_FORM_BOOL]          = walk_bool,
    [TD_FORM_INT]           = walk_value,
    [TD_FORM_FUNCTION]      = walk_function,
    [TD_FORM_EXAMPLE]       = walk_value,
    [TD_FORM_NODE_ARGS]     = walk_value,
};

td_val_t
walk_form(td_walk_t *walk, walk_slot_t const *slot, PyObject *value)
{
    walk_form_t form = walk_forms[slot->info->form];
    td_val_t    val  = form != NULL ? form(walk, value) : walk_write(walk, slot, value);

    if (val == TD_VAL_NONE && walk->status == TD_OK && td_obs_status(walk->obs) == TD_OK) {
        walk_reject(walk, "%s.%s has no value", slot->info->class_name, slot->info->attribute);
    }
    return val;
}
