/* td_walk_roots.c: what each step gave. */
#include <string.h>

#include "base/td_alloc.h"
#include "observe/td_run.h"
#include "py/td_canon_parts.h"
#include "reference/td_walk_parts.h"

/* ---- exceptions ---------------------------------------------------------------- */

/* "torch._dynamo.exc.Unsupported", "KeyError" */
static td_val_t
walk_exception_kind(td_walk_t *walk, PyTypeObject *type)
{
    td_val_t    cls    = td_canon_type(&walk->canon, type);
    td_val_t    module = td_obs_get_item(walk->obs, cls, 1);
    td_val_t    name   = td_obs_get_item(walk->obs, cls, 2);
    char const *module_text, *name_text;
    char        text[512];

    if (td_obs_kind(walk->obs, cls) != TD_VAL_LIST || td_obs_get_cnt(walk->obs, cls) < 3 ||
        td_obs_kind(walk->obs, module) != TD_VAL_STR ||
        td_obs_kind(walk->obs, name) != TD_VAL_STR) {
        return td_obs_cstr(walk->obs, type->tp_name);
    }
    module_text = td_obs_get_str(walk->obs, module, NULL);
    name_text   = td_obs_get_str(walk->obs, name, NULL);
    if (strcmp(module_text, "builtins") == 0) {
        return name;
    }
    (void)PyOS_snprintf(text, sizeof(text), "%s.%s", module_text, name_text);
    return td_obs_cstr(walk->obs, text);
}

/* What an id in a message may be of: what the graph calls, and what that is bound to. */
enum { WALK_TARGET_CNT_MAX = 256 };

typedef struct {
    PyObject *objects[WALK_TARGET_CNT_MAX]; /* borrowed */
    size_t    cnt;
} walk_targets_t;

static void
walk_targets_add(walk_targets_t *targets, PyObject *object)
{
    if (object != NULL && targets->cnt < WALK_TARGET_CNT_MAX) {
        targets->objects[targets->cnt++] = object;
    }
}

static void
walk_targets_add_target(walk_targets_t *targets, PyObject *target)
{
    if (target == NULL || PyUnicode_Check(target)) {
        return;
    }
    walk_targets_add(targets, target);
    if (PyCFunction_Check(target)) {
        walk_targets_add(targets, ((PyCFunctionObject *)target)->m_self);
    } else if (PyMethod_Check(target)) {
        walk_targets_add(targets, PyMethod_GET_SELF(target));
        walk_targets_add(targets, PyMethod_GET_FUNCTION(target));
    }
}

static void
walk_targets_collect(td_walk_t *walk, walk_targets_t *targets)
{
    PyObject *root = walk_must(walk, walk->graph, walk->name__root); /* borrowed */
    PyObject *node = root == NULL ? NULL : walk_must(walk, root, walk->name__next);

    targets->cnt = 0;
    while (node != NULL && node != root) {
        walk_targets_add_target(targets, walk_get(walk, node, walk->name_target));
        node = walk_must(walk, node, walk->name__next);
    }
}

/* Objects whose repr is C: what most exceptions are made with. */
static bool
walk_is_plain(PyObject *value)
{
    if (PyTuple_CheckExact(value)) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i) {
            if (!walk_is_plain(PyTuple_GET_ITEM(value, i))) {
                return false;
            }
        }
        return true;
    }
    return td_canon_is_atom(value) ||
           (PyType_Check(value) && Py_TYPE(value)->tp_repr == PyType_Type.tp_repr);
}

/* Whether str(error) is code of C, or of torch itself. */
static bool
walk_str_is_safe(td_walk_t *walk, PyTypeObject *type)
{
    PyTypeObject *base = type;
    PyObject     *module; /* borrowed */

    while ((base->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0) {
        base = base->tp_base;
    }
    if (base->tp_str == type->tp_str) {
        return true;
    }
    module = td_canon_get(type->tp_dict, walk->canon.state->name___module__);
    return module != NULL && PyUnicode_CheckExact(module) &&
           PyUnicode_Tailmatch(module, walk->name_torch_dot, 0, PY_SSIZE_T_MAX, -1) == 1;
}

static td_val_t
walk_exception_message(td_walk_t *walk, PyObject *error)
{
    walk_targets_t targets;
    PyObject      *args = ((PyBaseExceptionObject *)error)->args; /* borrowed */
    PyObject      *text;
    td_val_t       val;

    if (!walk_is_plain(args) || !walk_str_is_safe(walk, Py_TYPE(error))) {
        return walk_value(walk, args);
    }
    text = PyObject_Str(error);
    if (text == NULL) {
        PyErr_Clear();
        return walk_value(walk, args);
    }
    walk_targets_collect(walk, &targets);
    val = td_canon_text(&walk->canon, text, targets.objects, targets.cnt);
    Py_DECREF(text);
    return val;
}

static td_val_t
walk_exception(td_walk_t *walk, PyObject *error)
{
    td_obs_field_t fields[2];

    if (!PyExceptionInstance_Check(error)) {
        return walk_reject(walk, "a %s was raised", Py_TYPE(error)->tp_name);
    }
    fields[0].field = TD_FIELD_Exception_kind;
    fields[0].value = walk_exception_kind(walk, Py_TYPE(error));
    fields[1].field = TD_FIELD_Exception_message;
    fields[1].value = walk_exception_message(walk, error);
    return td_obs_record(walk->obs, TD_CLASS_Exception, fields, 2);
}

/* ---- roots ------------------------------------------------------------------------ */

static td_val_t
walk_root(td_walk_t *walk, long kind, PyObject *source, PyObject *value)
{
    static char const *const words[] = {[TD_WALK_TRACKER]   = "tracker",
                                        [TD_WALK_EXCEPTION] = "exception",
                                        [TD_WALK_VALUE]     = "value"};
    td_obs_field_t           fields[5];

    fields[0].field = TD_FIELD_Root_source;
    fields[0].value = walk_source(walk, source);
    fields[1].field = TD_FIELD_Root_outcome;
    fields[1].value = td_obs_cstr(walk->obs, words[kind]);
    fields[2].field = TD_FIELD_Root_tracker;
    fields[2].value = kind == TD_WALK_TRACKER ? walk_tracker(walk, value) : td_obs_null(walk->obs);
    fields[3].field = TD_FIELD_Root_value;
    fields[3].value = kind == TD_WALK_VALUE ? walk_value(walk, value) : td_obs_null(walk->obs);
    fields[4].field = TD_FIELD_Root_exception;
    fields[4].value =
        kind == TD_WALK_EXCEPTION ? walk_exception(walk, value) : td_obs_null(walk->obs);
    return walk->status == TD_OK ? td_obs_record(walk->obs, TD_CLASS_Root, fields, 5) : TD_VAL_NONE;
}

td_val_t
walk_roots(td_walk_t *walk)
{
    td_walk_frame_t const *frame = walk->frame;
    Py_ssize_t             cnt   = PyList_GET_SIZE(frame->kinds);
    walk_list_t            list;

    if (PyList_GET_SIZE(frame->values) < cnt || PyList_GET_SIZE(frame->sources) < cnt) {
        return walk_reject(walk, "a step has no outcome");
    }
    walk_list_init(&list, walk);
    for (Py_ssize_t i = 0; i < cnt && walk->status == TD_OK; ++i) {
        long kind = PyLong_AsLong(PyList_GET_ITEM(frame->kinds, i));

        if (kind == TD_WALK_TRACKER || kind == TD_WALK_EXCEPTION || kind == TD_WALK_VALUE) {
            walk_list_add(&list, walk_root(walk, kind, PyList_GET_ITEM(frame->sources, i),
                                           PyList_GET_ITEM(frame->values, i)));
        }
    }
    return walk_list_end(&list);
}
