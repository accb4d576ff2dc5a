/* td_observe.c: a frame as an observation. */
#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"
#include "builder/td_look.h"
#include "observe/td_run.h"

/* ---- roots --------------------------------------------------------------------- */

/* What an id in a message may be of: what the graph calls, and what that is bound to. */
enum { TARGET_CNT_MAX = 256 };

typedef struct {
    PyObject *at[TARGET_CNT_MAX]; /* borrowed */
    size_t    cnt;
} targets_t;

static void
targets_add(targets_t *targets, PyObject *object)
{
    if (object != NULL && targets->cnt < TARGET_CNT_MAX) {
        targets->at[targets->cnt++] = object;
    }
}

static void
targets_collect(td_look_t *look, targets_t *targets)
{
    for (td_fxnode_t *node = look->b->frame.first; node != NULL; node = node->next) {
        targets_add(targets, node->callee);
        if (node->callee != NULL && PyCFunction_Check(node->callee)) {
            targets_add(targets, ((PyCFunctionObject *)node->callee)->m_self);
        } else if (node->callee != NULL && PyMethod_Check(node->callee)) {
            targets_add(targets, PyMethod_GET_SELF(node->callee));
            targets_add(targets, PyMethod_GET_FUNCTION(node->callee));
        }
    }
}

/* message: a KeyError over a GuardSource member shows its arguments by value, since
   its text would be the member's own. */
static td_val_t
message(td_look_t *look, td_root_t const *root)
{
    PyObject *text    = NULL; /* owned */
    td_val_t  val     = TD_VAL_NONE;
    td_val_t  cls     = TD_VAL_NONE;
    targets_t targets = {0};

    if (root->key_error != NULL) {
        cls = td_form_class(look->obs, "torch._guards", "GuardSource");
        val = td_form_enum(look->obs, cls, root->key_error, strlen(root->key_error));
        return td_form_typed(look->obs, "tuple", td_obs_list(look->obs, &val, 1));
    }
    text = root->text != NULL
               ? Py_NewRef(root->text)
               : PyUnicode_DecodeUTF8(root->message, (Py_ssize_t)root->message_sz, "surrogatepass");
    if (text == NULL) {
        PyErr_Clear();
        look->failed = true;
        return TD_VAL_NONE;
    }
    targets_collect(look, &targets);
    val = td_canon_text(&look->canon, text, targets.at, targets.cnt);
    Py_DECREF(text);
    return val;
}

static td_val_t
exception(td_look_t *look, td_root_t const *root)
{
    td_fields_t fields = {0};

    td_fields_put(&fields, TD_FIELD_Exception_kind, td_obs_cstr(look->obs, root->exception));
    td_fields_put(&fields, TD_FIELD_Exception_message, message(look, root));
    return td_obs_record(look->obs, TD_CLASS_Exception, fields.at, fields.cnt);
}

static td_val_t
root_record(td_look_t *look, td_root_t const *root)
{
    td_fields_t fields = {0};
    bool        raised = root->kind == TD_ROOT_EXCEPTION;
    bool        built  = root->kind == TD_ROOT_TRACKER;

    td_fields_put(&fields, TD_FIELD_Root_source, td_look_source(look, root->source));
    td_fields_put(&fields, TD_FIELD_Root_outcome,
                  td_obs_cstr(look->obs, raised  ? "exception"
                                         : built ? "tracker"
                                                 : "value"));
    td_fields_put(&fields, TD_FIELD_Root_tracker,
                  built ? td_look_tracker(look, root->var) : td_obs_null(look->obs));
    td_fields_put(&fields, TD_FIELD_Root_value, td_look_value(look, root->value));
    td_fields_put(&fields, TD_FIELD_Root_exception,
                  raised ? exception(look, root) : td_obs_null(look->obs));
    return td_obs_record(look->obs, TD_CLASS_Root, fields.at, fields.cnt);
}

static td_val_t
roots(td_look_t *look)
{
    td_frame_t *frame = &look->b->frame;
    td_vals_t   vals  = {0};

    for (uint32_t i = 0; i < frame->roots.cnt; i++) {
        td_vals_add(look, &vals, root_record(look, &frame->roots.at[i]));
    }
    return td_vals_end(look, &vals);
}

/* ---- guards, fakes, symbols -------------------------------------------------------- */

static td_val_t
guards(td_look_t *look)
{
    td_frame_t *frame = &look->b->frame;

    return td_look_guards(look, frame->output_guards.at, frame->output_guards.cnt);
}

static td_val_t
strict_constraint(td_look_t *look, td_range_t const *range)
{
    td_val_t vals[4] = {TD_VAL_NONE};

    vals[0] = td_obs_cstr(look->obs, "StrictMinMaxConstraint");
    vals[1] = td_obs_bool(look->obs, false);
    vals[2] = td_look_decimal(look, range->lower);
    vals[3] =
        range->is_endless ? td_obs_cstr(look->obs, "oo") : td_look_decimal(look, range->upper);
    return td_obs_list(look->obs, vals, 4);
}

/* constraint_dims: each [class, warn_only, lower, upper], or null; an int has no dims. */
static td_val_t
constraint_dims(td_look_t *look, td_tracked_fake_t const *row)
{
    td_obs_t *obs  = look->obs;
    td_vals_t dims = {0};

    if (row->fake == NULL) {
        return td_obs_null(obs);
    }
    for (uint32_t dim = 0; dim < row->fake->ndim; dim++) {
        td_val_t vals[4] = {TD_VAL_NONE};

        if (row->constraints == NULL || row->constraints[dim] == TD_CONSTRAINT_NONE) {
            td_vals_add(look, &dims, td_obs_null(obs));
            continue;
        }
        if (row->constraints[dim] == TD_CONSTRAINT_STRICT) {
            td_vals_add(look, &dims, strict_constraint(look, &row->ranges[dim]));
            continue;
        }
        vals[0] = td_obs_cstr(obs, "RelaxedUnspecConstraint");
        vals[1] = td_obs_bool(obs, row->constraints[dim] == TD_CONSTRAINT_SEEN);
        vals[2] = vals[3] = td_obs_null(obs);
        td_vals_add(look, &dims, td_obs_list(obs, vals, 4));
    }
    return td_vals_end(look, &dims);
}

static td_val_t
tracked_fakes(td_look_t *look)
{
    td_frame_t *frame = &look->b->frame;
    td_vals_t   vals  = {0};

    for (uint32_t i = 0; i < frame->tracked_fakes.cnt; i++) {
        td_tracked_fake_t const *row    = &frame->tracked_fakes.at[i];
        td_fields_t              fields = {0};

        td_fields_put(&fields, TD_FIELD_TrackedFake_source, td_look_source(look, row->source));
        td_fields_put(&fields, TD_FIELD_TrackedFake_fake,
                      row->fake == NULL ? td_look_number(look, row->number)
                                        : td_look_fake(look, row->fake));
        td_fields_put(&fields, TD_FIELD_TrackedFake_constraint_dims, constraint_dims(look, row));
        td_vals_add(look, &vals,
                    td_obs_record(look->obs, TD_CLASS_TrackedFake, fields.at, fields.cnt));
    }
    return td_vals_end(look, &vals);
}

/* ---- frame state ------------------------------------------------------------------------ */

/* seen_size: a size that was seen, and may have been a symbol of somebody else's. */
static td_val_t
seen_size(td_look_t *look, td_state_entry_t const *entry, uint32_t dim)
{
    td_val_t    hint = td_obs_int(look->obs, entry->size[dim]);
    PyObject   *one  = NULL; /* borrowed */
    char const *text = NULL;

    if (entry->size[dim] == TD_DIM_NONE) {
        return td_obs_null(look->obs);
    }
    one  = entry->symbolic == NULL ? NULL : PyTuple_GET_ITEM(entry->symbolic, dim);
    text = one == NULL ? NULL : td_size_symbol(look->b, one);
    return text == NULL ? hint : td_form_sym(look->obs, "SymInt", text, strlen(text), hint);
}

static td_val_t
entry_record(td_look_t *look, td_state_entry_t const *entry)
{
    td_fields_t fields = {0};
    td_vals_t   dims   = {0};

    td_fields_put(&fields, TD_FIELD_FrameStateSizeEntry_scalar, td_look_value(look, entry->scalar));
    if (entry->size == NULL) {
        td_fields_put(&fields, TD_FIELD_FrameStateSizeEntry_size, td_obs_null(look->obs));
    } else {
        for (uint32_t i = 0; i < entry->size_cnt; i++) {
            td_vals_add(look, &dims, seen_size(look, entry, i));
        }
        td_fields_put(&fields, TD_FIELD_FrameStateSizeEntry_size,
                      td_form_typed(look->obs, "list", td_vals_end(look, &dims)));
    }
    return td_obs_record(look->obs, TD_CLASS_FrameStateSizeEntry, fields.at, fields.cnt);
}

static td_val_t
frame_state(td_look_t *look)
{
    td_frame_state_t *state = &look->b->state;
    td_vals_t         vals  = {0};

    for (uint32_t i = 0; i < state->cnt; i++) {
        td_state_entry_t const *entry = &state->entries[i];
        td_val_t                name  = td_look_name(look, entry->name, entry->name_sz);

        td_vals_add(look, &vals, td_obs_pair(look->obs, name, entry_record(look, entry)));
    }
    return td_vals_end(look, &vals);
}

/* ---- side effects ------------------------------------------------------------------------- */

static td_val_t
object(td_look_t *look, PyObject *item)
{
    return td_form_object(look->obs, td_obs_ordinal(look->obs, TD_SPACE_OBJECT, item, NULL));
}

static td_val_t
side_effects(td_look_t *look)
{
    td_frame_t *frame  = &look->b->frame;
    td_fields_t fields = {0};
    td_vals_t   keep   = {0};
    td_vals_t   map    = {0};

    for (uint32_t i = 0; i < frame->keepalive.cnt; i++) {
        td_vals_add(look, &keep, td_look_value(look, frame->keepalive.at[i]));
    }
    td_fields_put(&fields, TD_FIELD_SideEffects_keepalive, td_vals_end(look, &keep));
    for (uint32_t i = 0; i < frame->tracked.cnt; i++) {
        td_val_t key = object(look, frame->tracked.at[i].item);

        td_vals_add(
            look, &map,
            td_obs_pair(look->obs, key, td_look_tracker(look, frame->tracked.at[i].variable)));
    }
    td_fields_put(&fields, TD_FIELD_SideEffects_id_to_variable, td_vals_end(look, &map));
    td_fields_put(&fields, TD_FIELD_SideEffects_store_attr_mutations,
                  td_obs_list(look->obs, NULL, 0));
    return td_obs_record(look->obs, TD_CLASS_SideEffects, fields.at, fields.cnt);
}

/* ---- modules, globals, tracer ---------------------------------------------------------------- */

static td_val_t
nn_modules(td_look_t *look)
{
    td_frame_t *frame = &look->b->frame;
    td_vals_t   vals  = {0};

    for (uint32_t i = 0; i < frame->modules.cnt; i++) {
        td_module_t const *row = &frame->modules.at[i];
        td_val_t           key = td_look_name(look, row->key, row->key_sz);

        td_vals_add(look, &vals, td_obs_pair(look->obs, key, td_look_value(look, row->value)));
    }
    return td_vals_end(look, &vals);
}

static td_val_t
global_name(td_look_t *look, td_global_t const *row)
{
    return td_look_name(look, PyUnicode_AsUTF8(row->name), (size_t)PyUnicode_GET_LENGTH(row->name));
}

static td_val_t
globals(td_look_t *look)
{
    td_frame_t *frame = &look->b->frame;
    td_vals_t   vals  = {0};

    for (uint32_t i = 0; i < frame->globals.cnt; i++) {
        td_val_t name = global_name(look, &frame->globals.at[i]);
        td_val_t key  = td_look_value(look, frame->globals.at[i].key);

        key = frame->globals.at[i].is_strong ? key : td_form_typed(look->obs, "weakref", key);
        td_vals_add(look, &vals, td_obs_pair(look->obs, name, key));
    }
    return td_vals_end(look, &vals);
}

static td_val_t
node_scopes(td_look_t *look)
{
    td_frame_t *frame = &look->b->frame;
    td_vals_t   vals  = {0};
    td_val_t    scope = td_obs_pair(look->obs, td_obs_cstr(look->obs, ""), td_obs_null(look->obs));

    scope = td_form_typed(look->obs, "tuple", scope);
    for (uint32_t i = 0; i < frame->node_order.cnt; i++) {
        td_fxnode_t const *node = frame->node_order.at[i];

        td_vals_add(look, &vals,
                    td_obs_pair(look->obs, td_look_name(look, node->name, node->name_sz), scope));
    }
    return td_vals_end(look, &vals);
}

/* real_values: in export each input's node and a copy of the tensor. */
static td_val_t
real_values(td_look_t *look)
{
    td_frame_t *frame = &look->b->frame;
    td_vals_t   vals  = {0};

    for (uint32_t i = 0; i < frame->real_values.cnt; i++) {
        td_real_value_t const *row = &frame->real_values.at[i];
        td_val_t               node =
            td_form_node(look->obs, td_obs_ordinal(look->obs, TD_SPACE_NODE, row->node, NULL));

        td_vals_add(look, &vals,
                    td_obs_pair(look->obs, node,
                                row->same == NULL ? td_look_fake(look, row->copy)
                                                  : td_look_value(look, row->same)));
    }
    return td_vals_end(look, &vals);
}

/* prev_inst: the only instruction that a context has, once a call was traced; somebody else's
   goes on to others. */
static td_val_t
prev_inst(td_look_t *look)
{
    td_frame_t *frame = &look->b->frame;

    if (frame->prev_other) {
        return td_obs_cstr(look->obs, "other");
    }
    for (uint32_t i = 0; i < frame->node_order.cnt; i++) {
        if (frame->node_order.at[i]->op >= TD_OP_CALL_FUNCTION) {
            return td_obs_cstr(look->obs, "current");
        }
    }
    return td_obs_null(look->obs);
}

static td_val_t
tracer(td_look_t *look)
{
    td_frame_t *frame  = &look->b->frame;
    td_fields_t fields = {0};
    td_vals_t   inputs = {0};

    for (uint32_t i = 0; i < frame->input_nodes.cnt; i++) {
        td_fxnode_t *node = frame->input_nodes.at[i];
        td_val_t     name = td_look_name(look, node->target, node->target_sz);

        td_vals_add(look, &inputs, td_obs_pair(look->obs, name, td_look_proxy(look, node)));
    }
    td_fields_put(&fields, TD_FIELD_SubgraphTracer_input_name_to_proxy, td_vals_end(look, &inputs));
    td_fields_put(&fields, TD_FIELD_SubgraphTracer_node_name_to_scope, node_scopes(look));
    td_fields_put(&fields, TD_FIELD_SubgraphTracer_real_value_cache, real_values(look));
    td_fields_put(&fields, TD_FIELD_SubgraphTracer_prev_inst, prev_inst(look));
    td_fields_put(&fields, TD_FIELD_SubgraphTracer_export_root,
                  td_obs_bool(look->obs, look->b->export_mode));
    return td_obs_record(look->obs, TD_CLASS_SubgraphTracer, fields.at, fields.cnt);
}

/* ---- output graph
   ------------------------------------------------------------------------------ */

static td_val_t
user_stacks(td_look_t *look)
{
    td_frame_t *frame = &look->b->frame;
    td_vals_t   vals  = {0};

    for (uint32_t i = 0; i < frame->user_stacks.cnt; i++) {
        td_val_t source = td_look_source(look, frame->user_stacks.at[i].source);

        td_vals_add(
            look, &vals,
            td_obs_pair(look->obs, source, td_obs_int(look->obs, frame->user_stacks.at[i].cnt)));
    }
    return td_vals_end(look, &vals);
}

static td_val_t
input_vars(td_look_t *look)
{
    td_frame_t *frame = &look->b->frame;
    td_vals_t   vals  = {0};

    for (uint32_t i = 0; i < frame->inputs.cnt; i++) {
        td_val_t source = td_look_source(look, frame->inputs.at[i].source);

        td_vals_add(
            look, &vals,
            td_obs_pair(look->obs, source, td_look_tracker(look, frame->inputs.at[i].variable)));
    }
    return td_vals_end(look, &vals);
}

static td_val_t
unspec_map(td_look_t *look)
{
    td_frame_t *frame = &look->b->frame;
    td_vals_t   vals  = {0};

    for (uint32_t i = 0; i < frame->unspec.cnt; i++) {
        td_unspec_t const *row  = &frame->unspec.at[i];
        td_val_t           name = td_look_name(look, row->name, row->name_sz);

        td_vals_add(look, &vals, td_obs_pair(look->obs, name, td_look_tracker(look, row->var)));
    }
    return td_vals_end(look, &vals);
}

static td_val_t
sizes_strides(td_look_t *look)
{
    td_frame_t *frame = &look->b->frame;
    td_vals_t   vals  = {0};

    for (uint32_t i = 0; i < frame->sizes_strides.cnt; i++) {
        td_sizes_strides_t const *row    = &frame->sizes_strides.at[i];
        td_val_t                  tensor = td_look_value(look, row->tensor);
        td_val_t                  size   = td_look_shape(look, row->fake->sizes, row->fake->ndim);

        td_vals_add(look, &vals,
                    td_obs_triple(look->obs, tensor, size,
                                  td_look_shape(look, row->fake->strides, row->fake->ndim)));
    }
    return td_vals_end(look, &vals);
}

static td_val_t
id_sources(td_look_t *look)
{
    td_frame_t *frame = &look->b->frame;
    td_vals_t   vals  = {0};

    for (uint32_t i = 0; i < frame->id_sources.cnt; i++) {
        td_id_sources_t const *row   = &frame->id_sources.at[i];
        td_val_t               key   = object(look, row->tensor);
        td_vals_t              names = {0};

        for (uint32_t k = 0; k < row->cnt; k++) {
            td_vals_add(look, &names, td_look_source(look, td_id_sources(row)[k]));
        }
        td_vals_add(look, &vals, td_obs_pair(look->obs, key, td_vals_end(look, &names)));
    }
    return td_vals_end(look, &vals);
}

static td_val_t
param_names(td_look_t *look)
{
    td_frame_t *frame = &look->b->frame;
    td_vals_t   vals  = {0};

    for (uint32_t i = 0; i < frame->param_names.cnt; i++) {
        td_param_name_t const *row  = &frame->param_names.at[i];
        td_val_t               name = td_look_name(look, row->name, row->name_sz);

        td_vals_add(look, &vals, td_obs_pair(look->obs, name, td_look_source(look, row->source)));
    }
    return td_vals_end(look, &vals);
}

static td_val_t
cleanups(td_look_t *look)
{
    td_frame_t *frame = &look->b->frame;
    td_vals_t   vals  = {0};

    for (uint32_t i = 0; i < frame->globals.cnt; i++) {
        td_vals_add(look, &vals, global_name(look, &frame->globals.at[i]));
    }
    return td_vals_end(look, &vals);
}

static td_val_t
output(td_look_t *look)
{
    td_fields_t fields = {0};
    td_obs_t   *obs    = look->obs;

    td_fields_put(&fields, TD_FIELD_OutputGraph_input_source_to_var, input_vars(look));
    td_fields_put(&fields, TD_FIELD_OutputGraph_unspec_variable_map, unspec_map(look));
    td_fields_put(&fields, TD_FIELD_OutputGraph_tensor_weakref_to_sizes_strides,
                  sizes_strides(look));
    td_fields_put(&fields, TD_FIELD_OutputGraph_tracked_fakes_id_to_source, id_sources(look));
    td_fields_put(&fields, TD_FIELD_OutputGraph_param_name_to_source, param_names(look));
    td_fields_put(&fields, TD_FIELD_OutputGraph_source_to_user_stacks, user_stacks(look));
    td_fields_put(&fields, TD_FIELD_OutputGraph_cleanups, cleanups(look));
    td_fields_put(&fields, TD_FIELD_OutputGraph_tracers, td_obs_int(obs, 1));
    td_fields_put(&fields, TD_FIELD_OutputGraph_has_user_defined_allowed_in_graph,
                  td_obs_bool(obs, look->b->frame.user_allowed));
    td_fields_put(&fields, TD_FIELD_OutputGraph_export, td_obs_bool(obs, look->b->export_mode));
    td_fields_put(&fields, TD_FIELD_OutputGraph_timestamp,
                  td_obs_int(obs, look->b->frame.timestamp));
    return td_obs_record(obs, TD_CLASS_OutputGraph, fields.at, fields.cnt);
}

static td_val_t
tracing(td_look_t *look)
{
    td_fields_t fields = {0};

    td_fields_put(&fields, TD_FIELD_TracingContext_force_unspec_int_unbacked_size_like,
                  look->b->cfg.force_unspec_int ? td_obs_bool(look->obs, true)
                                                : td_obs_absent(look->obs));
    return td_obs_record(look->obs, TD_CLASS_TracingContext, fields.at, fields.cnt);
}

static td_val_t
translator(td_look_t *look)
{
    td_fields_t fields = {0};

    td_fields_put(&fields, TD_FIELD_InstructionTranslator_random_calls,
                  td_obs_int(look->obs, look->b->frame.random_calls));
    td_fields_put(&fields, TD_FIELD_InstructionTranslator_nn_module_stack,
                  td_form_typed(look->obs, "dict", td_obs_list(look->obs, NULL, 0)));
    td_fields_put(&fields, TD_FIELD_InstructionTranslator_mutated_closure_cell_contents,
                  td_form_typed(look->obs, "set", td_obs_bag(look->obs, NULL, 0)));
    return td_obs_record(look->obs, TD_CLASS_InstructionTranslator, fields.at, fields.cnt);
}

/* ---- the frame
   ------------------------------------------------------------------------------------- */

static td_val_t
frame_record(td_look_t *look)
{
    td_fields_t fields = {0};

    for (td_fxnode_t *node = look->b->frame.first; node != NULL; node = node->next) {
        (void)td_obs_ordinal(look->obs, TD_SPACE_NODE, node, NULL);
    }
    td_fields_put(&fields, TD_FIELD_Frame_roots, roots(look));
    td_fields_put(&fields, TD_FIELD_Frame_graph, td_look_graph(look));
    td_fields_put(&fields, TD_FIELD_Frame_guards, guards(look));
    td_fields_put(&fields, TD_FIELD_Frame_tracked_fakes, tracked_fakes(look));
    td_fields_put(&fields, TD_FIELD_Frame_symbols, td_look_symbols(look));
    td_fields_put(&fields, TD_FIELD_Frame_frame_state, frame_state(look));
    td_fields_put(&fields, TD_FIELD_Frame_side_effects, side_effects(look));
    td_fields_put(&fields, TD_FIELD_Frame_nn_modules, nn_modules(look));
    td_fields_put(&fields, TD_FIELD_Frame_globals, globals(look));
    td_fields_put(&fields, TD_FIELD_Frame_tracer, tracer(look));
    td_fields_put(&fields, TD_FIELD_Frame_output, output(look));
    td_fields_put(&fields, TD_FIELD_Frame_tracing, tracing(look));
    td_fields_put(&fields, TD_FIELD_Frame_translator, translator(look));
    td_fields_put(&fields, TD_FIELD_Frame_changes,
                  td_changes_write(look->b->frame.changes, &look->canon));
    return td_obs_record(look->obs, TD_CLASS_Frame, fields.at, fields.cnt);
}

td_val_t
td_field_of(td_obs_t const *obs, td_val_t record, td_field_t field)
{
    for (size_t idx = 0;
         td_obs_kind(obs, record) == TD_VAL_RECORD && idx < td_obs_get_cnt(obs, record); idx++) {
        if (td_obs_get_field(obs, record, idx) == field) {
            return td_obs_get_item(obs, record, idx);
        }
    }
    return TD_VAL_NONE;
}

static bool
look_init(td_look_t *look, td_builder_t *b)
{
    look->b       = b;
    look->obs     = td_obs_new();
    look->sources = td_calloc(b->frame.sources.next, sizeof *look->sources);
    look->guards  = td_calloc(b->frame.guards.cnt, sizeof *look->guards);
    look->epoch   = b->frame.epoch;
    return look->obs != NULL && look->sources != NULL && look->guards != NULL &&
           td_look_init_canon(look);
}

int
td_observe_frame(td_builder_t *b, td_abi_sink_v1 sink, void *ctx)
{
    td_look_t look   = {0};
    uint8_t  *bytes  = NULL; /* owned */
    size_t    sz     = 0;
    td_val_t  record = TD_VAL_NONE;
    int       result = -1;

    if (!td_numbers_make(b) || !td_frame_state_spell(b) || !look_init(&look, b)) {
        snprintf(b->why, sizeof b->why, "out of memory while a frame was observed");
        goto done;
    }
    record         = frame_record(&look);
    b->frame.epoch = look.epoch;
    if (look.failed || td_obs_status(look.obs) != TD_OK ||
        td_obs_encode(look.obs, record, &bytes, &sz) != TD_OK) {
        snprintf(b->why, sizeof b->why, "a frame could not be observed: %s",
                 look.failed ? "out of memory" : td_obs_why(look.obs));
        goto done;
    }
    result = sink(ctx, bytes, sz);

done:
    td_free(bytes);
    td_free(look.sources);
    td_free(look.guards);
    td_free(look.twins);
    td_obs_free(look.obs);
    return result;
}

/* ---- taking over ----------------------------------------------------------------- */

static bool
has_item(td_obs_t const *obs, td_val_t bag, td_val_t item)
{
    for (size_t idx = 0; bag != TD_VAL_NONE && idx < td_obs_get_cnt(obs, bag); idx++) {
        if (td_obs_get_item(obs, bag, idx) == item) {
            return true; /* values are interned: equal ones have equal ids */
        }
    }
    return false;
}

static bool
is_put(td_frame_t const *frame, td_guard_id_t id)
{
    for (uint32_t i = 0; i < frame->output_guards.cnt; i++) {
        if (frame->output_guards.at[i] == id) {
            return true;
        }
    }
    return false;
}

/* put_known puts those guards of this builder's that stand in bag into the output. */
static bool
put_known(td_look_t *look, td_val_t bag)
{
    td_frame_t *frame = &look->b->frame;

    for (td_guard_id_t id = 1; id < frame->guards.cnt; id++) {
        td_val_t row = is_put(frame, id) ? TD_VAL_NONE : td_look_guards(look, &id, 1);

        if (row != TD_VAL_NONE && has_item(look->obs, bag, td_obs_get_item(look->obs, row, 0)) &&
            !TD_ARRAY_PUSH(frame->output_guards, id)) {
            return false;
        }
    }
    return true;
}

bool
td_take_guards(td_builder_t *b)
{
    td_look_t look   = {0};
    td_val_t  record = TD_VAL_NONE;
    bool      good   = false;

    if (look_init(&look, b) &&
        td_obs_decode(look.obs, b->context->bytes, b->context->bytes_sz, &record) == TD_OK) {
        good = put_known(&look, td_field_of(look.obs, record, TD_FIELD_Frame_guards));
        good = good && !look.failed && td_obs_status(look.obs) == TD_OK;
    }
    td_free(look.sources);
    td_free(look.guards);
    td_free(look.twins);
    td_obs_free(look.obs);
    return good || td_stop_nomem(b);
}
