/* td_walk_context.c: fields that no form covers, and the frame itself. */
#include <string.h>

#include "base/td_alloc.h"
#include "observe/td_run.h"
#include "py/td_canon_parts.h"
#include "reference/td_walk_parts.h"

/* ["object", ordinal] of an object known by its id alone. */
static td_val_t
walk_object_of_id(td_walk_t *walk, PyObject *id)
{
    void *identity = PyLong_Check(id) ? PyLong_AsVoidPtr(id) : NULL;

    if (identity == NULL) {
        PyErr_Clear();
        return walk_reject(walk, "a %s stands where an id should be", Py_TYPE(id)->tp_name);
    }
    return td_form_object(walk->obs, td_obs_ordinal(walk->obs, TD_SPACE_OBJECT, identity, NULL));
}

/* ---- pairs of dicts ----------------------------------------------------------- */

static td_val_t
pair_name_value(td_walk_t *walk, PyObject *key, PyObject *value)
{
    td_val_t name = walk_name(walk, key);

    return td_obs_pair(walk->obs, name, walk_value(walk, value));
}

static td_val_t
pair_name_tracker(td_walk_t *walk, PyObject *key, PyObject *value)
{
    td_val_t name = walk_name(walk, key);

    return td_obs_pair(walk->obs, name, walk_tracker(walk, value));
}

static td_val_t
pair_name_source(td_walk_t *walk, PyObject *key, PyObject *value)
{
    td_val_t name = walk_name(walk, key);

    return td_obs_pair(walk->obs, name, walk_source(walk, value));
}

static td_val_t
pair_name_node(td_walk_t *walk, PyObject *key, PyObject *value)
{
    td_val_t name = walk_name(walk, key);

    return td_obs_pair(walk->obs, name, walk_proxy(walk, value));
}

static td_val_t
pair_source_tracker(td_walk_t *walk, PyObject *key, PyObject *value)
{
    td_val_t source = walk_source(walk, key);

    return td_obs_pair(walk->obs, source, walk_tracker(walk, value));
}

/* The stacks themselves are Python's bookkeeping; how many there are is not. */
static td_val_t
pair_source_stacks(td_walk_t *walk, PyObject *key, PyObject *value)
{
    td_val_t source = walk_source(walk, key);

    return td_obs_pair(walk->obs, source,
                       td_obs_int(walk->obs, PyList_Check(value) ? Py_SIZE(value) : -1));
}

static td_val_t
pair_object_source(td_walk_t *walk, PyObject *key, PyObject *value)
{
    td_val_t object = walk_value(walk, key);

    return td_obs_pair(walk->obs, object, walk_source(walk, value));
}

static td_val_t
pair_id_tracker(td_walk_t *walk, PyObject *key, PyObject *value)
{
    td_val_t object = walk_object_of_id(walk, key);

    return td_obs_pair(walk->obs, object, walk_tracker(walk, value));
}

static td_val_t
pair_id_sources(td_walk_t *walk, PyObject *key, PyObject *value)
{
    td_val_t object = walk_object_of_id(walk, key);

    return td_obs_pair(walk->obs, object, walk_sources(walk, value));
}

static td_val_t
pair_mutations(td_walk_t *walk, PyObject *key, PyObject *value)
{
    td_val_t local = walk_mutable_local(walk, key);

    return td_obs_pair(walk->obs, local, walk_each(walk, value, pair_name_tracker));
}

static td_val_t
pair_node_value(td_walk_t *walk, PyObject *key, PyObject *value)
{
    td_val_t node = walk_node(walk, key);

    return td_obs_pair(walk->obs, node, walk_value(walk, value));
}

/* A weak reference to a tensor and its symbolic size and stride. */
static td_val_t
pair_sizes_strides(td_walk_t *walk, PyObject *key, PyObject *value)
{
    PyObject *target = PyWeakref_Check(key) ? PyWeakref_GET_OBJECT(key) : Py_None; /* borrowed */
    PyObject *size, *stride;                                                       /* borrowed */
    td_val_t  object, size_val;

    if (!PyDict_Check(value)) {
        return walk_reject(walk, "sizes and strides are a %s", Py_TYPE(value)->tp_name);
    }
    size   = td_canon_get(value, walk->name_size);
    stride = td_canon_get(value, walk->name_stride);
    if (size == NULL || stride == NULL) {
        return walk_reject(walk, "a tensor's size or stride is missing");
    }
    object   = walk_value(walk, target);
    size_val = walk_shape(walk, size);
    return td_obs_triple(walk->obs, object, size_val, walk_shape(walk, stride));
}

static td_val_t
pair_frame_state(td_walk_t *walk, PyObject *key, PyObject *value)
{
    td_val_t name = walk_name(walk, key);

    if (PyLong_CheckExact(value)) {
        return td_obs_pair(walk->obs, name, walk_value(walk, value)); /* "_id" of a compilation */
    }
    return td_obs_pair(walk->obs, name, walk_instance(walk, TD_CLASS_FrameStateSizeEntry, value));
}

/* ---- ShapeEnv -------------------------------------------------------------------- */

static td_val_t
pair_expr_expr(td_walk_t *walk, PyObject *key, PyObject *value)
{
    td_val_t symbol = walk_expr(walk, key);

    return td_obs_pair(walk->obs, symbol, walk_expr(walk, value));
}

static td_val_t
pair_value_expr(td_walk_t *walk, PyObject *key, PyObject *value)
{
    td_val_t number = walk_value(walk, key);

    return td_obs_pair(walk->obs, number, walk_expr(walk, value));
}

static td_val_t
pair_expr_sources(td_walk_t *walk, PyObject *key, PyObject *value)
{
    td_val_t symbol = walk_expr(walk, key);

    return td_obs_pair(walk->obs, symbol, walk_sources(walk, value));
}

static td_val_t
pair_expr_only(td_walk_t *walk, PyObject *key, PyObject *value)
{
    (void)value;
    return walk_expr(walk, key);
}

/* [symbol, lower, upper] */
static td_val_t
pair_expr_range(td_walk_t *walk, PyObject *key, PyObject *value)
{
    PyObject *lower = walk_must(walk, value, walk->name_lower); /* borrowed */
    PyObject *upper = walk_must(walk, value, walk->name_upper); /* borrowed */
    td_val_t  symbol, lower_val;

    if (lower == NULL || upper == NULL) {
        return TD_VAL_NONE;
    }
    symbol    = walk_expr(walk, key);
    lower_val = walk_expr(walk, lower);
    return td_obs_triple(walk->obs, symbol, lower_val, walk_expr(walk, upper));
}

/* A guard on shapes: a named tuple whose first member is the expression. */
static td_val_t
walk_shape_guard(td_walk_t *walk, PyObject *guard)
{
    if (guard == Py_None) {
        return td_obs_null(walk->obs);
    }
    if (!PyTuple_Check(guard) || PyTuple_GET_SIZE(guard) == 0) {
        return walk_reject(walk, "a shape guard is a %s", Py_TYPE(guard)->tp_name);
    }
    return walk_expr(walk, PyTuple_GET_ITEM(guard, 0));
}

static td_val_t
pair_expr_guards(td_walk_t *walk, PyObject *key, PyObject *value)
{
    td_val_t symbol = walk_expr(walk, key);
    td_val_t lower;

    if (!PyTuple_Check(value) || PyTuple_GET_SIZE(value) != 2) {
        return walk_reject(walk, "the guards of a symbol are a %s", Py_TYPE(value)->tp_name);
    }
    lower = walk_shape_guard(walk, PyTuple_GET_ITEM(value, 0));
    return td_obs_triple(walk->obs, symbol, lower,
                         walk_shape_guard(walk, PyTuple_GET_ITEM(value, 1)));
}

/* [expression, message] of an assertion at run time. */
static td_val_t
walk_assertion(td_walk_t *walk, PyObject *assertion)
{
    PyObject *expr = walk_must(walk, assertion, walk->name_expr); /* borrowed */
    PyObject *msg  = walk_must(walk, assertion, walk->name_msg);  /* borrowed */
    td_val_t  expr_val;

    if (expr == NULL || msg == NULL) {
        return TD_VAL_NONE;
    }
    expr_val = walk_expr(walk, expr);
    return td_obs_pair(walk->obs, expr_val, walk_value(walk, msg));
}

typedef td_val_t (*walk_item_t)(td_walk_t *walk, PyObject *item);

static td_val_t
walk_items(td_walk_t *walk, PyObject *items, walk_item_t each)
{
    walk_list_t list;

    if (!PyList_Check(items)) {
        return walk_reject(walk, "a %s stands where a list should be", Py_TYPE(items)->tp_name);
    }
    walk_list_init(&list, walk);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items); ++i) {
        walk_list_add(&list, each(walk, PyList_GET_ITEM(items, i)));
    }
    return walk_list_end(&list);
}

static td_val_t
pair_expr_assertions(td_walk_t *walk, PyObject *key, PyObject *value)
{
    td_val_t symbol = walk_expr(walk, key);

    return td_obs_pair(walk->obs, symbol, walk_items(walk, value, walk_assertion));
}

static td_val_t
write_expr_bag(td_walk_t *walk, PyObject *set)
{
    walk_list_t list;
    Py_ssize_t  pos = 0;
    PyObject   *expr; /* borrowed */
    Py_hash_t   hash;

    if (!PyAnySet_Check(set)) {
        return walk_reject(walk, "a %s stands where a set should be", Py_TYPE(set)->tp_name);
    }
    walk_list_init(&list, walk);
    while (_PySet_NextEntry(set, &pos, &expr, &hash)) {
        walk_list_add(&list, walk_expr(walk, expr));
    }
    return walk_list_end_bag(&list);
}

/* The next number of an itertools.count, which only its repr tells: "count(3)". */
static td_val_t
write_count(td_walk_t *walk, PyObject *count)
{
    PyObject   *text = PyObject_Repr(count);
    char const *open = text == NULL ? NULL : strchr(PyUnicode_AsUTF8(text), '(');
    long        next = open == NULL ? -1 : strtol(open + 1, NULL, 10);

    PyErr_Clear();
    Py_XDECREF(text);
    return next < 0 ? walk_reject(walk, "a counter is a %s", Py_TYPE(count)->tp_name)
                    : td_obs_int(walk->obs, next);
}

/* ---- nodes, arguments, fakes ---------------------------------------------------------- */

static td_val_t
write_meta(td_walk_t *walk, PyObject *meta)
{
    if (!PyDict_Check(meta)) {
        return walk_reject(walk, "a node's meta is a %s", Py_TYPE(meta)->tp_name);
    }
    return walk_record(walk, TD_CLASS_NodeMeta, meta);
}

/* A generated name, or what is called. */
static td_val_t
write_target(td_walk_t *walk, PyObject *target)
{
    return PyUnicode_Check(target) ? walk_name(walk, target) : walk_value(walk, target);
}

static td_val_t
write_grapharg(td_walk_t *walk, PyObject *grapharg)
{
    return walk_instance(walk, TD_CLASS_GraphArg, grapharg);
}

static td_val_t
write_tensor_dict(td_walk_t *walk, PyObject *dict)
{
    return walk_each(walk, dict, pair_name_value);
}

/* A constraint of one dimension: [class, warn_only, lower, upper]. */
static td_val_t
walk_constraint(td_walk_t *walk, PyObject *constraint)
{
    PyObject *warn_only, *range; /* borrowed */
    td_val_t  vals[4];

    if (constraint == Py_None) {
        return td_obs_null(walk->obs);
    }
    warn_only = walk_must(walk, constraint, walk->name_warn_only);
    range     = walk_get(walk, constraint, walk->name_vr);
    if (warn_only == NULL) {
        return TD_VAL_NONE;
    }
    vals[0] = td_obs_cstr(walk->obs, Py_TYPE(constraint)->tp_name);
    vals[1] = walk_value(walk, warn_only);
    if (range == NULL) {
        vals[2] = vals[3] = td_obs_null(walk->obs);
    } else {
        PyObject *lower = walk_must(walk, range, walk->name_lower); /* borrowed */
        PyObject *upper = walk_must(walk, range, walk->name_upper); /* borrowed */

        vals[2] = lower == NULL ? TD_VAL_NONE : walk_expr(walk, lower);
        vals[3] = upper == NULL ? TD_VAL_NONE : walk_expr(walk, upper);
    }
    return td_obs_list(walk->obs, vals, 4);
}

static td_val_t
write_constraints(td_walk_t *walk, PyObject *constraints)
{
    return constraints == Py_None ? td_obs_null(walk->obs)
                                  : walk_items(walk, constraints, walk_constraint);
}

static td_val_t
walk_tracked_fake(td_walk_t *walk, PyObject *fake)
{
    return walk_instance(walk, TD_CLASS_TrackedFake, fake);
}

/* ---- the rest of the context ------------------------------------------------------------- */

static td_val_t
write_cleanup(td_walk_t *walk, PyObject *hook)
{
    PyObject *name = walk_must(walk, hook, walk->name_name); /* borrowed */

    return name == NULL ? TD_VAL_NONE : walk_name(walk, name);
}

static td_val_t
write_cnt(td_walk_t *walk, PyObject *list)
{
    return PyList_Check(list)
               ? td_obs_int(walk->obs, PyList_GET_SIZE(list))
               : walk_reject(walk, "a %s stands where a list should be", Py_TYPE(list)->tp_name);
}

/* The instruction that the last call node was made under: None, or the only one
   that a context has. */
static td_val_t
write_prev_inst(td_walk_t *walk, PyObject *instruction)
{
    PyObject *current = walk_get(walk, walk->frame->tx, walk->name_current_instruction);

    if (instruction == Py_None) {
        return td_obs_null(walk->obs);
    }
    return td_obs_cstr(walk->obs, instruction == current ? "current" : "other");
}

#define WRITE_EACH(name, pair)                                                         \
    static td_val_t name(td_walk_t *walk, PyObject *dict)                              \
    {                                                                                  \
        return dict == Py_None ? td_obs_null(walk->obs) : walk_each(walk, dict, pair); \
    }
#define WRITE_ITEMS(name, item)                           \
    static td_val_t name(td_walk_t *walk, PyObject *list) \
    {                                                     \
        return walk_items(walk, list, item);              \
    }
WRITE_EACH(write_input_vars, pair_source_tracker)
WRITE_EACH(write_names_to_trackers, pair_name_tracker)
WRITE_EACH(write_names_to_sources, pair_name_source)
WRITE_EACH(write_names_to_nodes, pair_name_node)
WRITE_EACH(write_names_to_values, pair_name_value)
WRITE_EACH(write_ids_to_trackers, pair_id_tracker)
WRITE_EACH(write_ids_to_sources, pair_id_sources)
WRITE_EACH(write_objects_to_sources, pair_object_source)
WRITE_EACH(write_mutations, pair_mutations)
WRITE_EACH(write_real_values, pair_node_value)
WRITE_EACH(write_sizes_strides, pair_sizes_strides)
WRITE_EACH(write_stacks, pair_source_stacks)
WRITE_EACH(write_exprs, pair_expr_expr)
WRITE_EACH(write_numbers, pair_value_expr)
WRITE_EACH(write_ranges, pair_expr_range)
WRITE_EACH(write_expr_sources, pair_expr_sources)
WRITE_EACH(write_expr_guards, pair_expr_guards)
WRITE_EACH(write_assertions, pair_expr_assertions)
WRITE_EACH(write_symbols, pair_expr_only)
WRITE_ITEMS(write_shape_guards, walk_shape_guard)
WRITE_ITEMS(write_values, walk_value)
WRITE_ITEMS(write_cleanups, write_cleanup)
WRITE_ITEMS(write_tracked_fakes, walk_tracked_fake)
#undef WRITE_EACH
#undef WRITE_ITEMS

static td_val_t
write_frame_state(td_walk_t *walk, PyObject *dict)
{
    walk_list_t list;
    Py_ssize_t  pos = 0;
    PyObject   *key, *value; /* borrowed */

    if (!PyDict_Check(dict)) {
        return walk_each(walk, dict, pair_frame_state); /* which refuses it */
    }
    walk_list_init(&list, walk);
    while (PyDict_Next(dict, &pos, &key, &value)) {
        if (!walk->frame->is_live || !PyLong_CheckExact(value)) {
            walk_list_add(&list, pair_frame_state(walk, key, value));
        }
    }
    return walk_list_end(&list);
}

typedef td_val_t (*walk_writer_t)(td_walk_t *walk, PyObject *value);

static walk_writer_t const walk_writers[TD_FIELD_CNT] = {
    [TD_FIELD_Node_meta]                                   = write_meta,
    [TD_FIELD_Node_target]                                 = write_target,
    [TD_FIELD_NodeMeta_grapharg]                           = write_grapharg,
    [TD_FIELD_NodeMeta_tensor_dict]                        = write_tensor_dict,
    [TD_FIELD_TrackedFake_constraint_dims]                 = write_constraints,
    [TD_FIELD_ShapeEnv_var_to_val]                         = write_exprs,
    [TD_FIELD_ShapeEnv_var_to_range]                       = write_ranges,
    [TD_FIELD_ShapeEnv_runtime_var_to_range]               = write_ranges,
    [TD_FIELD_ShapeEnv_var_to_sources]                     = write_expr_sources,
    [TD_FIELD_ShapeEnv_val_to_var]                         = write_numbers,
    [TD_FIELD_ShapeEnv_guards]                             = write_shape_guards,
    [TD_FIELD_ShapeEnv_replacements]                       = write_exprs,
    [TD_FIELD_ShapeEnv_divisible]                          = write_expr_bag,
    [TD_FIELD_ShapeEnv_var_to_guards]                      = write_expr_guards,
    [TD_FIELD_ShapeEnv_deferred_runtime_asserts]           = write_assertions,
    [TD_FIELD_ShapeEnv_var_to_stack]                       = write_symbols,
    [TD_FIELD_ShapeEnv_source_name_to_debug_name]          = write_names_to_values,
    [TD_FIELD_ShapeEnv_unbacked_symint_counter]            = write_count,
    [TD_FIELD_ShapeEnv_unbacked_symfloat_counter]          = write_count,
    [TD_FIELD_SideEffects_keepalive]                       = write_values,
    [TD_FIELD_SideEffects_id_to_variable]                  = write_ids_to_trackers,
    [TD_FIELD_SideEffects_store_attr_mutations]            = write_mutations,
    [TD_FIELD_SubgraphTracer_input_name_to_proxy]          = write_names_to_nodes,
    [TD_FIELD_SubgraphTracer_node_name_to_scope]           = write_names_to_values,
    [TD_FIELD_SubgraphTracer_real_value_cache]             = write_real_values,
    [TD_FIELD_SubgraphTracer_prev_inst]                    = write_prev_inst,
    [TD_FIELD_OutputGraph_input_source_to_var]             = write_input_vars,
    [TD_FIELD_OutputGraph_unspec_variable_map]             = write_names_to_trackers,
    [TD_FIELD_OutputGraph_tensor_weakref_to_sizes_strides] = write_sizes_strides,
    [TD_FIELD_OutputGraph_tracked_fakes_id_to_source]      = write_ids_to_sources,
    [TD_FIELD_OutputGraph_param_name_to_source]            = write_names_to_sources,
    [TD_FIELD_OutputGraph_source_to_user_stacks]           = write_stacks,
    [TD_FIELD_OutputGraph_cleanups]                        = write_cleanups,
    [TD_FIELD_OutputGraph_tracers]                         = write_cnt,
    [TD_FIELD_InstructionTranslator_random_calls]          = write_cnt,
    [TD_FIELD_OptimizerVariable_grad_to_source]            = write_objects_to_sources,
    [TD_FIELD_OptimizerVariable_tensor_to_source]          = write_objects_to_sources,
};

td_val_t
walk_write(td_walk_t *walk, walk_slot_t const *slot, PyObject *value)
{
    walk_writer_t writer = walk_writers[slot->field];

    if (writer == NULL) {
        return walk_reject(walk, "%s.%s has no writer", slot->info->class_name,
                           slot->info->attribute);
    }
    return writer(walk, value);
}

/* ---- the graph ---------------------------------------------------------------------------- */

void
walk_graph_nodes(td_walk_t *walk, PyObject *graph)
{
    PyObject *root = walk_must(walk, graph, walk->name__root); /* borrowed */
    PyObject *node = root == NULL ? NULL : walk_must(walk, root, walk->name__next);

    while (node != NULL && node != root) {
        (void)td_obs_ordinal(walk->obs, TD_SPACE_NODE, node, NULL);
        node = walk_must(walk, node, walk->name__next);
    }
}

td_val_t
walk_graph(td_walk_t *walk, PyObject *graph)
{
    PyObject   *root = walk_must(walk, graph, walk->name__root); /* borrowed */
    PyObject   *node = root == NULL ? NULL : walk_must(walk, root, walk->name__next);
    walk_list_t list;

    walk_list_init(&list, walk);
    while (node != NULL && node != root && walk->status == TD_OK) {
        walk_list_add(&list, walk_instance(walk, TD_CLASS_Node, node));
        node = walk_must(walk, node, walk->name__next);
    }
    return walk_list_end(&list);
}

/* ---- the frame ------------------------------------------------------------------------------ */

/* The objects of a context that a frame is written from; all borrowed. */
typedef struct {
    PyObject *output, *tracer, *graph, *shape_env, *side_effects, *tracing, *fake_mode;
    PyObject *guards, *modules, *tracked_fakes, *frame_state, *globals;
} walk_parts_t;

static PyObject *
walk_root_tracer(td_walk_t *walk, PyObject *output)
{
    PyObject *tracers = walk_must(walk, output, walk->name_tracers); /* borrowed */

    if (tracers == NULL || !PyList_Check(tracers) || PyList_GET_SIZE(tracers) == 0) {
        walk_reject(walk, "the context has no tracer");
        return NULL;
    }
    return PyList_GET_ITEM(tracers, 0);
}

/* obj.a.b by instance dicts; NULL (and a rejection) when a link is missing. */
static PyObject *
walk_path(td_walk_t *walk, PyObject *object, PyObject *first, PyObject *second)
{
    PyObject *middle = object == NULL ? NULL : walk_must(walk, object, first);

    return middle == NULL ? NULL : walk_must(walk, middle, second);
}

static bool
walk_find_parts(td_walk_t *walk, walk_parts_t *parts)
{
    PyObject *guards; /* borrowed */

    parts->output = walk_must(walk, walk->frame->tx, walk->name_output);
    if (parts->output == NULL) {
        return false;
    }
    parts->tracer        = walk_root_tracer(walk, parts->output);
    parts->graph         = walk_must(walk, parts->tracer, walk->name_graph);
    parts->tracing       = walk_must(walk, parts->output, walk->name_tracing_context);
    parts->fake_mode     = walk_must(walk, parts->tracing, walk->name_fake_mode);
    parts->shape_env     = walk_must(walk, parts->fake_mode, walk->name_shape_env);
    parts->side_effects  = walk_must(walk, parts->output, walk->name_side_effects);
    parts->tracked_fakes = walk_must(walk, parts->output, walk->name_tracked_fakes);
    parts->frame_state   = walk_must(walk, parts->output, walk->name_frame_state);
    parts->globals       = walk_must(walk, walk->frame->tx, walk->name_f_globals);
    guards = walk_path(walk, parts->tracing, walk->name_guards_context, walk->name_dynamo_guards);
    parts->guards = guards == NULL ? NULL : walk_must(walk, guards, walk->name_inner);
    parts->modules =
        walk_path(walk, parts->tracing, walk->name_module_context, walk->name_nn_modules);
    return walk->status == TD_OK;
}

/* Names that were added to the globals since the frame was opened. */
static td_val_t
walk_globals(td_walk_t *walk, PyObject *globals)
{
    walk_list_t list;
    Py_ssize_t  pos = 0;
    size_t      at  = 0;
    PyObject   *name, *value; /* borrowed */

    if (!PyDict_Check(globals)) {
        return walk_reject(walk, "the globals are a %s", Py_TYPE(globals)->tp_name);
    }
    walk_list_init(&list, walk);
    while (PyDict_Next(globals, &pos, &name, &value)) {
        if (at++ >= walk->frame->globals_skip) {
            walk_list_add(&list, pair_name_value(walk, name, value));
        }
    }
    return walk_list_end(&list);
}

static td_val_t
walk_changes(td_walk_t *walk)
{
    return walk->frame->changes == NULL ? td_obs_list(walk->obs, NULL, 0)
                                        : td_changes_write(walk->frame->changes, &walk->canon);
}

/* The frame's fields, in the order of the schema. */
static td_val_t
walk_frame_record(td_walk_t *walk, walk_parts_t const *parts)
{
    td_obs_field_t fields[16];
    size_t         cnt = 0;

#define FIELD(attribute, made)                                        \
    fields[cnt].field   = TD_FIELD_Frame_##attribute;                 \
    fields[cnt++].value = (made);                                     \
    if (walk->status != TD_OK || td_obs_status(walk->obs) != TD_OK) { \
        return TD_VAL_NONE;                                           \
    }
    FIELD(roots, walk_roots(walk))
    FIELD(graph, walk_graph(walk, parts->graph))
    FIELD(guards, walk_guards(walk, parts->guards))
    FIELD(tracked_fakes, write_tracked_fakes(walk, parts->tracked_fakes))
    FIELD(symbols, walk_instance(walk, TD_CLASS_ShapeEnv, parts->shape_env))
    FIELD(frame_state, write_frame_state(walk, parts->frame_state))
    FIELD(side_effects, walk_instance(walk, TD_CLASS_SideEffects, parts->side_effects))
    FIELD(nn_modules, write_names_to_values(walk, parts->modules))
    FIELD(globals, walk_globals(walk, parts->globals))
    FIELD(tracer, walk_instance(walk, TD_CLASS_SubgraphTracer, parts->tracer))
    FIELD(output, walk_instance(walk, TD_CLASS_OutputGraph, parts->output))
    FIELD(tracing, walk_instance(walk, TD_CLASS_TracingContext, parts->tracing))
    FIELD(translator, walk_instance(walk, TD_CLASS_InstructionTranslator, walk->frame->tx))
    FIELD(changes, walk_changes(walk))
#undef FIELD
    return td_obs_record(walk->obs, TD_CLASS_Frame, fields, cnt);
}

static td_status_t
walk_finish(td_walk_t *walk)
{
    if (walk->status == TD_OK) {
        walk->status = td_obs_status(walk->obs);
        if (walk->status == TD_INTERNAL) {
            (void)PyOS_snprintf(walk->why, sizeof(walk->why), "%s", td_obs_why(walk->obs));
        }
    }
    PyErr_Clear();
    walk_memo_reset(&walk->sources);
    walk_memo_reset(&walk->guards);
    walk_memo_reset(&walk->exprs);
    walk->frame = NULL;
    walk->obs   = NULL;
    return walk->status;
}

td_status_t
td_walk_run(td_walk_t *walk, td_obs_t *obs, td_walk_frame_t const *frame, td_val_t *record)
{
    walk_parts_t parts = {0};

    *record           = TD_VAL_NONE;
    walk->obs         = obs;
    walk->frame       = frame;
    walk->tracker_cnt = 0;
    walk->why[0]      = 0;
    walk->status      = td_canon_init(&walk->canon, obs, frame->objects);
    if (walk->status == TD_OK) {
        walk->canon.special     = walk_special;
        walk->canon.special_ctx = walk;
        if (walk_find_parts(walk, &parts)) {
            walk->graph = parts.graph;
            walk_graph_nodes(walk, parts.graph);
            *record = walk_frame_record(walk, &parts);
        }
    }
    return walk_finish(walk);
}
