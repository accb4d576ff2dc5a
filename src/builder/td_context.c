/* td_context.c: roots in a context that somebody else keeps.

   Before such a root the context is handed over as a record (td_abi.h).  Between two
   roots more can happen in it than this builder knows of: an operation that is traced
   without being wrapped, a shape that is asked about, an attribute that is stored.  So
   what this builder's own frame holds is spelled and held against the record: where the
   two are one, the root is built on it; where they are not, this builder says so. */
#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"
#include "builder/td_look.h"
#include "builder/td_value.h"
#include "observe/td_obs.h"

static char const here[] = "L211/fn/entered";

/* ---- the record -------------------------------------------------------------------- */

typedef struct {
    td_builder_t *b;
    bool          same;
    char          path[160]; /* of the first difference */
} held_t;

static bool
count_of(td_obs_t const *obs, td_val_t record, td_field_t field, uint32_t *out)
{
    td_val_t val = td_field_of(obs, record, field);

    if (td_obs_kind(obs, val) != TD_VAL_INT) {
        return false;
    }
    *out = (uint32_t)td_obs_get_int(obs, val);
    return true;
}

/* is_other: the last call was traced under an instruction that is over. */
static bool
is_other(td_obs_t const *obs, td_val_t record)
{
    td_val_t tracer = td_field_of(obs, record, TD_FIELD_Frame_tracer);
    td_val_t val    = td_field_of(obs, tracer, TD_FIELD_SubgraphTracer_prev_inst);

    return td_obs_kind(obs, val) == TD_VAL_STR &&
           strcmp(td_obs_get_str(obs, val, NULL), "other") == 0;
}

bool
td_context_read(td_builder_t *b)
{
    td_obs_t   *obs    = b->context == NULL ? NULL : td_obs_new(); /* owned */
    td_val_t    record = TD_VAL_NONE;
    td_frame_t *frame  = &b->frame;
    bool        good   = false;

    if (b->context == NULL) {
        return true;
    }
    good = obs != NULL &&
           td_obs_decode(obs, b->context->bytes, b->context->bytes_sz, &record) == TD_OK &&
           count_of(obs, td_field_of(obs, record, TD_FIELD_Frame_output),
                    TD_FIELD_OutputGraph_timestamp, &frame->timestamp) &&
           count_of(obs, td_field_of(obs, record, TD_FIELD_Frame_translator),
                    TD_FIELD_InstructionTranslator_random_calls, &frame->random_calls);
    frame->prev_other = good && is_other(obs, record);
    td_obs_free(obs);
    if (obs == NULL) {
        return td_stop_nomem(b);
    }
    return good || td_stop_unsupported(b, here, __func__, "a context that cannot be read");
}

/* first_difference writes where the record and what this builder spells part. */
static void
first_difference(held_t *held, uint8_t const *bytes, size_t sz)
{
    td_obs_t     *obs = td_obs_new(); /* owned */
    td_val_t      theirs, ours;
    td_obs_diff_t diff;

    if (obs != NULL &&
        td_obs_decode(obs, held->b->context->bytes, held->b->context->bytes_sz, &theirs) == TD_OK &&
        td_obs_decode(obs, bytes, sz, &ours) == TD_OK &&
        td_obs_diff(obs, theirs, ours, &diff, 1) == 1) {
        snprintf(held->path, sizeof held->path, "a context that was changed at %.100s", diff.path);
    }
    td_obs_free(obs);
}

static int
hold(void *ctx, uint8_t const *bytes, size_t sz)
{
    held_t                *held  = ctx;
    td_abi_state_v1 const *state = held->b->context;

    held->same = state->bytes_sz == sz && memcmp(state->bytes, bytes, sz) == 0;
    if (!held->same) {
        first_difference(held, bytes, sz);
    }
    return 0;
}

bool
td_context_begin(td_builder_t *b)
{
    held_t held = {.b = b, .path = "a context that was changed"};
    char  *why  = NULL;

    if (b->context == NULL) {
        return true;
    }
    if (!td_take_guards(b)) {
        return false;
    }
    if (td_observe_frame(b, hold, &held) != 0) {
        return b->stop.kind == TD_STOP_NONE ? td_stop_nomem(b) : false;
    }
    if (held.same) {
        return true;
    }
    why = td_arena_dup(&b->frame.arena, held.path, strlen(held.path));
    return why == NULL ? td_stop_nomem(b) : td_stop_unsupported(b, here, __func__, why);
}

/* ---- what a call is given ------------------------------------------------------------ */

/* same_kind says whether a guard is of the kind that is spelled so. */
static bool
same_kind(td_guard_t const *guard, PyObject *kind, PyObject *is_volatile)
{
    return guard->is_volatile == (is_volatile == Py_True) &&
           PyUnicode_CompareWithASCIIString(kind,
                                            td_guard_kind_name((td_guard_kind_t)guard->kind)) == 0;
}

/* find gives the guard of a row; 0: stopped.  Guards with a payload are themselves alone, so
   there must be one. */
static td_guard_id_t
find(td_builder_t *b, PyObject *row)
{
    td_guards_t const *guards = &b->frame.guards;
    td_guard_id_t      found  = 0;
    td_at_t            at     = {0};

    if (!td_spell_source(b, PyTuple_GET_ITEM(row, 0), &at)) {
        return 0;
    }
    for (td_guard_id_t id = 1; id < guards->cnt; id++) {
        td_guard_t const *guard = &guards->guards[id];

        if (!same_kind(guard, PyTuple_GET_ITEM(row, 1), PyTuple_GET_ITEM(row, 2)) ||
            !td_source_same_guard(&b->frame.sources, guard->source, at.id)) {
            continue;
        }
        if (found != 0 && guard->has_payload) {
            td_stop_unsupported(b, here, __func__, "a guard that is one of several");
            return 0;
        }
        found = id;
    }
    if (found == 0) {
        td_stop_unsupported(b, here, __func__, "a guard that no root made");
    }
    return found;
}

bool
td_context_guards(td_builder_t *b, PyObject *rows, td_more_t const **out)
{
    *out = NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(rows); i++) {
        td_more_t    *more  = td_alloc_in(b, sizeof *more);
        td_guard_id_t guard = more == NULL ? 0 : find(b, PyTuple_GET_ITEM(rows, i));

        if (guard == 0) {
            return false;
        }
        more->guard = guard;
        more->next  = *out;
        *out        = more;
    }
    return true;
}

static bool
is_node(PyObject *arg)
{
    PyObject *word = PyTuple_CheckExact(arg) && PyTuple_GET_SIZE(arg) == 2
                         ? PyTuple_GET_ITEM(arg, 0)
                         : Py_None; /* borrowed */

    return PyUnicode_CheckExact(word) && PyUnicode_CompareWithASCIIString(word, "node") == 0;
}

static PyObject *
node_value(td_builder_t *b, PyObject *arg)
{
    Py_ssize_t  sz   = 0;
    char const *name = PyUnicode_AsUTF8AndSize(PyTuple_GET_ITEM(arg, 1), &sz); /* borrowed */

    if (name == NULL) {
        td_stop_python(b);
        return NULL;
    }
    for (td_fxnode_t *node = b->frame.first; node != NULL; node = node->next) {
        if (node->name_sz == (size_t)sz && memcmp(node->name, name, node->name_sz) == 0) {
            return td_value_new(b, TD_VALUE_NODE, node);
        }
    }
    td_stop_unsupported(b, here, __func__, "an operand that no root made");
    return NULL;
}

static PyObject *
sequence_operand(td_builder_t *b, PyObject *arg)
{
    Py_ssize_t cnt  = PySequence_Fast_GET_SIZE(arg);
    PyObject  *made = PyTuple_CheckExact(arg) ? PyTuple_New(cnt) : PyList_New(cnt); /* owned */

    for (Py_ssize_t i = 0; made != NULL && i < cnt; i++) {
        PyObject *item =
            td_context_operand(b, PySequence_Fast_GET_ITEM(arg, i)); /* owned, stolen */

        if (item == NULL) {
            Py_CLEAR(made);
        } else if (PyTuple_CheckExact(made)) {
            PyTuple_SET_ITEM(made, i, item);
        } else {
            PyList_SET_ITEM(made, i, item);
        }
    }
    return made;
}

static PyObject *
dict_operand(td_builder_t *b, PyObject *arg)
{
    PyObject  *made = PyDict_New(); /* owned */
    PyObject  *key, *value;         /* borrowed */
    Py_ssize_t pos = 0;

    while (made != NULL && PyDict_Next(arg, &pos, &key, &value)) {
        PyObject *item = td_context_operand(b, value); /* owned */

        if (item == NULL || PyDict_SetItem(made, key, item) < 0) {
            Py_CLEAR(made);
        }
        Py_XDECREF(item);
    }
    return made;
}

PyObject *
td_context_operand(td_builder_t *b, PyObject *arg)
{
    PyObject *made = NULL; /* owned, returned */

    if (b->context == NULL) {
        return Py_NewRef(arg);
    }
    if (is_node(arg)) {
        made = node_value(b, arg);
    } else if (PyTuple_CheckExact(arg) || PyList_CheckExact(arg)) {
        made = sequence_operand(b, arg);
    } else {
        made = PyDict_CheckExact(arg) ? dict_operand(b, arg) : Py_NewRef(arg);
    }
    if (made == NULL && b->stop.kind == TD_STOP_NONE) {
        td_stop_python(b);
    }
    return made;
}
