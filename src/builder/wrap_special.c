/* wrap_special.c: objects that a branch of its own is for: functions known by identity,
   null contexts, streams, what torch.distributed has, and symbolic bools. */
#include "builder/td_builder_private.h"

/* points_at makes a tracker of class cls that holds value, with a guard of kind. */
static bool
points_at(td_builder_t *b, td_at_t const *at, PyObject *value, td_class_t cls, td_guard_kind_t kind,
          td_var_t *out)
{
    td_guard_id_t guard = 0;

    if (!td_make_guards(b, at, kind, &guard) || !td_keep(b, value)) {
        return false;
    }
    td_var_make(out, cls, guard);
    out->source   = at->id;
    out->of.value = value;
    return true;
}

/* ---- functions that stand for a call ------------------------------------------------ */

static bool
stands_for(td_builder_t *b, td_at_t const *at, td_named_t const *named, td_var_t *out)
{
    td_guard_id_t guard = 0;

    if (!td_make_guards(b, at, TD_GUARD_FUNCTION_MATCH, &guard)) {
        return false;
    }
    td_var_make(out, TD_CLASS_LambdaVariable, guard);
    out->source   = at->id;
    out->of.named = named;
    return true;
}

/* td_wrap_signature: the entry of the id table for inspect.signature. */
bool
td_wrap_signature(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    static td_named_t const create = {"torch._dynamo.variables.misc",
                                      "InspectSignatureVariable.create"};

    (void)value;
    return stands_for(b, at, &create, out);
}

/* td_wrap_dataclass_fields: the entry of the id table for dataclasses.fields. */
bool
td_wrap_dataclass_fields(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    static td_named_t const fields = {"torch._dynamo.variables.builder",
                                      "_dataclasses_fields_lambda"};

    (void)value;
    return stands_for(b, at, &fields, out);
}

/* td_wrap_checkpoint mirrors build_checkpoint_variable: an operator that takes functions,
   which of two a configuration value says, and no guard. */
bool
td_wrap_checkpoint(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    (void)value;
    td_var_make(out, TD_CLASS_CheckpointHigherOrderVariable, 0);
    out->source   = at->id;
    out->of.value = b->cfg.functionalize_rng ? b->tables.wrap_checkpoint : b->tables.tag_checkpoint;
    return true;
}

/* td_wrap_generator_method mirrors the branch of builtin methods of what torch has special
   classes for. */
bool
td_wrap_generator_method(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    if (!points_at(b, at, value, TD_CLASS_TorchVariable, TD_GUARD_FUNCTION_MATCH, out)) {
        return false;
    }
    out->source = 0;
    return true;
}

/* ---- contexts, streams ---------------------------------------------------------------- */

bool
td_wrap_nullcontext(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    td_guard_id_t guard = 0;

    (void)value;
    if (!td_make_guards(b, at, TD_GUARD_FUNCTION_MATCH, &guard)) {
        return false;
    }
    td_var_make(out, TD_CLASS_NullContextVariable, guard);
    out->source = at->id;
    return true;
}

bool
td_wrap_stream(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    (void)at;
    (void)value;
    (void)out;
    return td_stop_raise(b, "L635/unimpl/raised", __func__, "torch._dynamo.exc.Unsupported",
                         "CUDAStreamVariable does not currently work soundly.");
}

/* ---- torch.distributed and torchrec ------------------------------------------------------ */

bool
td_wrap_keyed_jagged(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    return points_at(b, at, value, TD_CLASS_KeyedJaggedTensorVariable, TD_GUARD_TYPE_MATCH, out) &&
           td_track_obj(b, at, value, TD_CLASS_AttributeMutationExisting, out);
}

bool
td_wrap_process_group(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    return points_at(b, at, value, TD_CLASS_ProcessGroupVariable,
                     TD_PLANT(IDENTITY_LOST) ? TD_GUARD_TYPE_MATCH : TD_GUARD_ID_MATCH, out);
}

bool
td_wrap_device_mesh(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    return points_at(b, at, value, TD_CLASS_DeviceMeshVariable, TD_GUARD_ID_MATCH, out);
}

bool
td_wrap_placement_class(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    return points_at(b, at, value, TD_CLASS_PlacementClassVariable, TD_GUARD_ID_MATCH, out);
}

bool
td_wrap_placement(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    return points_at(b, at, value, TD_CLASS_PlacementVariable, TD_GUARD_ID_MATCH, out);
}

/* ---- symbolic bools ------------------------------------------------------------------------ */

/* hint_of reads what a symbolic bool is taken for, 0 or 1, out of its node, where the
   reference's require_hint() finds it.  NULL: stopped; borrowed. */
static PyObject *
hint_of(td_builder_t *b, PyObject *value)
{
    PyObject *node = td_getattr_static(value, b->names.node);                      /* borrowed */
    PyObject *hint = node == NULL ? NULL : td_getattr_static(node, b->names.hint); /* borrowed */

    if (hint != Py_True && hint != Py_False) {
        td_stop_unsupported(b, "L743/if/T", __func__, "a symbolic bool without a hint");
        return NULL;
    }
    return hint;
}

/* as_input makes the graph input of the int that stands for a bool. */
static bool
as_input(td_builder_t *b, td_at_t const *at, td_at_t const *source, td_sym_var_t *sym)
{
    td_grapharg_t    *arg = td_alloc_in(b, sizeof *arg);
    td_tracked_fake_t row = {.number = &sym->number, .source = source->id};

    sym->node = arg == NULL ? NULL : td_graph_input_of(b, at, source, b->tables.sym_int);
    if (sym->node == NULL) {
        return false;
    }
    *arg = (td_grapharg_t){.source = source->id, .number = &sym->number, .is_strong = true};
    sym->node->grapharg = arg;
    return TD_ARRAY_PUSH(b->frame.tracked_fakes, row) || td_stop_nomem(b);
}

/* td_wrap_sym_bool mirrors the branch of SymBool: an int becomes a symbol under a source
   of its own, and the tracker asks whether it is 1. */
bool
td_wrap_sym_bool(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    td_sym_var_t *sym    = td_alloc_in(b, sizeof *sym);
    PyObject     *hint   = hint_of(b, value); /* borrowed */
    PyObject     *number = NULL;              /* owned until kept */
    td_at_t       source = {0};

    if (sym == NULL || hint == NULL ||
        !td_children(b, at, TD_SOURCE_CLASS_ConvertIntSource, TD_PAYLOAD_NOTHING, NULL, NULL, 1,
                     &source)) {
        return false;
    }
    if (!td_symbols_fit(b, at)) {
        return td_stop_unsupported(b, "L743/if/T", __func__, "a symbolic bool so deep");
    }
    number = PyLong_FromLong(hint == Py_True);
    if (number == NULL) {
        return td_stop_python(b);
    }
    if (!td_keep_steal(b, number) || !td_symbol_of_int(b, &source, number, &sym->number) ||
        !as_input(b, at, &source, sym)) {
        return false;
    }
    sym->is_one = true;
    td_var_make(out, TD_CLASS_SymNodeVariable, 0);
    out->of.sym = sym;
    return true;
}
