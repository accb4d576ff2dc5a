/* td_core.c: what every wrap function stands on: stopping, keeping, sources,
   guards, trackers, side effects. */
#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "builder/td_depth.h"

/* ---- stopping ------------------------------------------------------------ */

static bool
stop(td_builder_t *b, td_stop_t const *with)
{
    if (b->stop.kind == TD_STOP_NONE) {
        b->stop = *with;
    }
    return false;
}

bool
td_stop_unsupported(td_builder_t *b, char const *arm, char const *function, char const *why)
{
    return stop(
        b, &(td_stop_t){.kind = TD_STOP_UNSUPPORTED, .arm = arm, .function = function, .why = why});
}

bool
td_stop_raise(td_builder_t *b, char const *arm, char const *function, char const *cls,
              char const *message)
{
    return stop(b, &(td_stop_t){.kind       = TD_STOP_EXCEPTION,
                                .arm        = arm,
                                .function   = function,
                                .why        = cls,
                                .message    = message,
                                .message_sz = strlen(message)});
}

bool
td_stop_raise_text(td_builder_t *b, char const *arm, char const *function, char const *cls,
                   PyObject *text)
{
    return stop(b, &(td_stop_t){.kind     = TD_STOP_EXCEPTION,
                                .arm      = arm,
                                .function = function,
                                .why      = cls,
                                .message  = "",
                                .text     = text});
}

bool
td_stop_nomem(td_builder_t *b)
{
    snprintf(b->why, sizeof b->why, "out of memory");
    return stop(
        b, &(td_stop_t){.kind = TD_STOP_FAILED, .arm = "", .function = __func__, .why = b->why});
}

bool
td_stop_python(td_builder_t *b)
{
    PyObject *type      = NULL; /* owned */
    PyObject *value     = NULL; /* owned */
    PyObject *traceback = NULL; /* owned */

    PyErr_Fetch(&type, &value, &traceback);
    snprintf(b->why, sizeof b->why, "a Python error inside the subject: %s",
             type == NULL ? "none is set" : ((PyTypeObject *)type)->tp_name);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return stop(
        b, &(td_stop_t){.kind = TD_STOP_FAILED, .arm = "", .function = __func__, .why = b->why});
}

/* class_name gives "module.qualname" of an exception's class, the bare name for a
   builtin one; in the arena. */
static char const *
class_name(td_builder_t *b, PyObject *cls)
{
    PyObject *module =
        PyObject_GetAttrString(cls, "__module__"); /* owned; a class of C or of torch */
    PyObject   *name = PyObject_GetAttrString(cls, "__qualname__"); /* owned */
    PyObject   *full = NULL;                                        /* owned */
    char const *text = NULL;
    char       *kept = NULL;
    Py_ssize_t  sz   = 0;

    if (module != NULL && name != NULL) {
        full = PyUnicode_CompareWithASCIIString(module, "builtins") == 0
                   ? Py_NewRef(name)
                   : PyUnicode_FromFormat("%U.%U", module, name);
    }
    text = full == NULL ? NULL : PyUnicode_AsUTF8AndSize(full, &sz);
    kept = text == NULL ? NULL : td_arena_dup(&b->frame.arena, text, (size_t)sz);
    PyErr_Clear();
    Py_XDECREF(full);
    Py_XDECREF(name);
    Py_XDECREF(module);
    return kept;
}

bool
td_stop_passing(td_builder_t *b, char const *arm, char const *function)
{
    PyObject   *type      = NULL; /* owned */
    PyObject   *value     = NULL; /* owned */
    PyObject   *traceback = NULL; /* owned */
    PyObject   *text      = NULL; /* owned until kept */
    char const *cls       = NULL;

    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    cls  = class_name(b, type);
    text = cls == NULL ? NULL : PyObject_Str(value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    if (text == NULL) {
        return td_stop_python(b);
    }
    return td_keep_steal(b, text) && td_stop_raise_text(b, arm, function, cls, text);
}

/* ---- memory ---------------------------------------------------------------- */

bool
td_array_grow(void **at, uint32_t *cap, size_t item_sz)
{
    enum { FIRST = 16, MANY = 1 << 14 };
    /* Copying what is there costs more than room that nobody touches. */
    uint32_t want  = *cap == 0 ? FIRST : (*cap < MANY ? 4 : 2) * *cap;
    void    *grown = td_realloc(*at, want * item_sz);

    if (grown == NULL) {
        return false;
    }
    *at  = grown;
    *cap = want;
    return true;
}

/* reserve_in makes room for cnt members more. */
static void
reserve_in(void **at, uint32_t *cap, uint32_t cnt, uint32_t more, size_t item_sz)
{
    void *grown = NULL;

    if (*cap - cnt < more && more <= UINT32_MAX - cnt) {
        grown = td_realloc(*at, (cnt + (size_t)more) * item_sz);
    }
    if (grown != NULL) {
        *at  = grown;
        *cap = cnt + more;
    }
}

void
td_reserve(td_builder_t *b, uint32_t cnt)
{
    td_frame_t *frame = &b->frame;

    reserve_in((void **)&frame->keep.at, &frame->keep.cap, frame->keep.cnt, cnt,
               sizeof *frame->keep.at);
    reserve_in((void **)&frame->guards.guards, &frame->guards.cap, frame->guards.cnt, cnt,
               sizeof *frame->guards.guards);
    reserve_in((void **)&b->state.entries, &b->state.cap, b->state.cnt, cnt,
               sizeof *b->state.entries);
}

bool
td_keep(td_builder_t *b, PyObject *value)
{
    return td_keep_steal(b, Py_NewRef(value));
}

bool
td_keep_steal(td_builder_t *b, PyObject *value)
{
    if (!TD_ARRAY_PUSH(b->frame.keep, value)) {
        Py_DECREF(value);
        return td_stop_nomem(b);
    }
    return true;
}

void
td_trail_push(td_builder_t *b, td_at_t const *at, char const *arm, char const *function)
{
    td_trail_t row = {.source = at->id, .arm = arm, .function = function};

    /* A trail is for people: one that could not grow is cut, and nothing else suffers. */
    (void)TD_ARRAY_PUSH(b->frame.trail, row);
}

/* ---- sources ------------------------------------------------------------------ */

bool
td_children(td_builder_t *b, td_at_t const *base, td_source_class_t cls, td_src_payload_t payload,
            PyObject *const *keys, td_src_id_t const *subs, uint32_t cnt, td_at_t *first)
{
    *first =
        td_source_block_add(&b->frame.sources, base, cls, payload, keys, subs, cnt, TD_WHERE_LOCAL);
    return first->id != 0 || td_stop_nomem(b);
}

bool
td_guard_source_of(td_builder_t *b, td_at_t const *at)
{
    if (at->where != TD_WHERE_RAISES) {
        return true;
    }
    return stop(
        b, &(td_stop_t){.kind      = TD_STOP_EXCEPTION,
                        .arm       = "L289/bool/op1=T",
                        .function  = __func__,
                        .why       = "KeyError",
                        .message   = "",
                        .key_error = td_where_name(td_source_raised(&b->frame.sources, at->id))});
}

/* ---- guards ---------------------------------------------------------------------- */

static bool
guard_new(td_builder_t *b, td_guard_t const *guard, td_guard_id_t *id)
{
    *id = td_guard_add(&b->frame.guards, guard);
    return *id != 0 || td_stop_nomem(b);
}

bool
td_make_guards(td_builder_t *b, td_at_t const *at, td_guard_kind_t kind, td_guard_id_t *guard)
{
    *guard = 0;
    if (!td_guard_source_of(b, at)) {
        return false;
    }
    if (at->where == TD_WHERE_CONSTANT && !TD_PLANT(CONSTANT_GUARD)) {
        return at->depth == 0 || td_depth_reach(b, TD_REACH_WHERE_IN, at->depth);
    }
    return td_depth_reach(b, TD_REACH_GUARDS, at->depth) &&
           guard_new(b, &(td_guard_t){.source = at->id, .kind = (uint8_t)kind}, guard);
}

bool
td_source_guard(td_builder_t *b, td_at_t const *at, td_guard_kind_t kind, bool is_volatile,
                td_guard_id_t *guard)
{
    if (!td_guard_source_of(b, at)) {
        return false;
    }
    if (at->where == TD_WHERE_CONSTANT) {
        return td_stop_raise(b, "L287/if/T", __func__, "NotImplementedError", "");
    }
    return guard_new(
        b, &(td_guard_t){.source = at->id, .kind = (uint8_t)kind, .is_volatile = is_volatile},
        guard);
}

/* ---- trackers ---------------------------------------------------------------------- */

void
td_var_make(td_var_t *out, td_class_t cls, td_guard_id_t guard)
{
    *out = (td_var_t){.cls = (uint16_t)cls, .guard = guard};
}

void
td_var_clone(td_var_t *out)
{
    if (out->cls == TD_VAR_ALIAS) {
        *out = *out->of.alias;
    }
    out->is_odd_clone = !out->is_odd_clone;
}

/* wrap_again: each copy of the tracker of an FSDP module puts one more source around the
   one that it has. */
static bool
wrap_again(td_builder_t *b, td_var_t *var)
{
    td_src_block_t const *block = td_source_block(&b->frame.sources, var->source);
    td_at_t               at    = {.id         = var->source,
                                   .depth      = block->depth,
                                   .where      = block->where,
                                   .local_root = block->local_root};

    return td_module_var_source(b, &at, (td_class_t)var->cls, &var->source);
}

bool
td_var_add_guards(td_builder_t *b, td_var_t *out, td_guard_id_t guard)
{
    td_more_t *more = NULL;

    if (guard == 0) {
        return true;
    }
    td_var_clone(out);
    if (out->cls == TD_CLASS_FSDPManagedNNModuleVariable && !wrap_again(b, out)) {
        return false;
    }
    if (out->guard == 0) {
        out->guard = guard;
        return true;
    }
    if (out->added == 0) {
        out->added = guard;
        return true;
    }
    more = td_alloc_in(b, sizeof *more);
    if (more == NULL) {
        return false;
    }
    *more     = (td_more_t){.guard = guard, .next = out->more};
    out->more = more;
    return true;
}

td_items_t *
td_items_new(td_builder_t *b, uint32_t cnt)
{
    enum { MANY = 64 };
    /* Nobody looks at items of a container that is not finished. */
    td_items_t *items = td_arena_alloc_raw(&b->frame.arena, sizeof *items + cnt * sizeof(td_var_t));

    if (items == NULL) {
        td_stop_nomem(b);
        return NULL;
    }
    if (cnt >= MANY) {
        td_reserve(b, cnt);
    }
    *items = (td_items_t){.items = (td_var_t *)(items + 1), .cnt = cnt};
    return items;
}

/* ---- side effects --------------------------------------------------------------------- */

td_var_t *
td_side_effects_find(td_builder_t *b, PyObject *item)
{
    uint32_t idx = TD_MAP_NONE;

    if (!PyLong_CheckExact(item) && !PyUnicode_CheckExact(item)) { /* literals never are */
        idx = td_pmap_get(&b->frame.tracked_by_id, item);
    }
    return idx == TD_MAP_NONE ? NULL : b->frame.tracked.at[idx].variable;
}

/* put mirrors the two stores of _track_obj: an id met again keeps its place, the
   item is kept alive once more. */
static bool
put(td_builder_t *b, PyObject *item, td_var_t *variable)
{
    td_tracked_t row = {.item = item, .variable = variable};
    uint32_t     idx = b->frame.tracked.cnt;

    if (!td_keep(b, item)) {
        return false;
    }
    if (!td_pmap_add(&b->frame.tracked_by_id, item, &idx)) {
        return td_stop_nomem(b);
    }
    if (idx < b->frame.tracked.cnt) {
        b->frame.tracked.at[idx].variable = variable;
    } else if (!TD_ARRAY_PUSH(b->frame.tracked, row)) {
        return td_stop_nomem(b);
    }
    return TD_PLANT(NOT_KEPT_ALIVE) || TD_ARRAY_PUSH(b->frame.keepalive, item) || td_stop_nomem(b);
}

bool
td_track_obj(td_builder_t *b, td_at_t const *at, PyObject *item, td_class_t cls, td_var_t *out)
{
    struct {
        td_var_t var;
        td_mut_t mut;
    } *stored = td_alloc_in(b, sizeof *stored);

    if (stored == NULL) {
        return false;
    }
    td_var_clone(out);
    stored->var        = *out;
    stored->mut        = (td_mut_t){.cls = (uint16_t)cls, .source = at->id};
    stored->var.mut    = &stored->mut;
    stored->var.source = at->id;
    if (!put(b, item, &stored->var)) {
        return false;
    }
    *out = (td_var_t){.cls = TD_VAR_ALIAS, .of.alias = &stored->var};
    return true;
}
