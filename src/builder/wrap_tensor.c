/* wrap_tensor.c: plain tensors and parameters. */
#include <string.h>

#include "builder/td_depth.h"

/* ---- wrap_to_fake_tensor_and_record ------------------------------------------------- */

/* always_static mirrors tensor_always_has_static_shape for a TensorVariable. */
static bool
always_static(td_builder_t *b, td_at_t const *at, PyObject *tensor)
{
    return (td_where_is_nn_module((td_where_t)at->where) && b->cfg.static_nn_properties) ||
           ((PyObject *)Py_TYPE(tensor) == b->tables.parameter && b->cfg.static_parameters);
}

/* note_source mirrors tracked_fakes_id_to_source[id(e)].append(source). */
static bool
note_source(td_builder_t *b, PyObject *tensor, td_src_id_t source)
{
    td_frame_t      *frame = &b->frame;
    td_id_sources_t *row   = NULL;
    td_src_id_t     *grown = NULL;
    td_id_sources_t  fresh = {.tensor = tensor, .first = source, .cnt = 1};

    /* What was never wrapped before has no row yet. */
    bool known = td_pmap_get(&frame->sizes_by_tensor, tensor) != TD_MAP_NONE;

    for (uint32_t i = 0; known && row == NULL && i < frame->id_sources.cnt; i++) {
        row = frame->id_sources.at[frame->id_sources.cnt - 1 - i].tensor == tensor
                  ? &frame->id_sources.at[frame->id_sources.cnt - 1 - i]
                  : NULL;
    }
    if (row == NULL) {
        return TD_ARRAY_PUSH(frame->id_sources, fresh) || td_stop_nomem(b);
    }
    grown = td_alloc_in(b, (row->cnt + 1) * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    memcpy(grown, td_id_sources(row), row->cnt * sizeof *grown);
    grown[row->cnt++] = source;
    row->sources      = grown;
    return true;
}

bool
td_note_sizes(td_builder_t *b, PyObject *tensor, td_fake_t *fake)
{
    td_frame_t        *frame = &b->frame;
    td_sizes_strides_t row   = {.tensor = tensor, .fake = fake};
    uint32_t           known = td_pmap_get(&frame->sizes_by_tensor, tensor);

    if (known != TD_MAP_NONE) {
        frame->sizes_strides.at[known].fake = fake;
        return true;
    }
    return (td_pmap_put(&frame->sizes_by_tensor, tensor, frame->sizes_strides.cnt) &&
            TD_ARRAY_PUSH(frame->sizes_strides, row)) ||
           td_stop_nomem(b);
}

/* fake_and_dims gives the fake of a tensor and decides on its dims; the class of a
   subclass is asked what the reference asks it, and nothing beyond. */
static td_fake_t *
fake_and_dims(td_builder_t *b, td_at_t const *at, PyObject *tensor, bool is_static, td_dims_t *dims)
{
    PyObject  *off  = NULL; /* owned */
    td_fake_t *fake = NULL;
    bool       good = false;

    if (!td_torch_function_ask_dims(b, at, tensor, is_static) || !td_quiet_begin(b, tensor, &off)) {
        return NULL;
    }
    good = is_static || td_automatic_dynamic(b, at, tensor, dims);
    td_quiet_end(b, off);
    if (!good || !td_torch_function_ask_rest(b, tensor) || !td_quiet_begin(b, tensor, &off)) {
        return NULL;
    }
    fake = td_fake_of(b, at, tensor, dims, true);
    td_quiet_end(b, off);
    return fake;
}

/* td_wrap_to_fake mirrors wrap_to_fake_tensor_and_record for what is a tensor. */
td_fake_t *
td_wrap_to_fake(td_builder_t *b, td_at_t const *at, PyObject *tensor)
{
    td_frame_t       *frame     = &b->frame;
    bool              is_static = always_static(b, at, tensor);
    td_fake_t        *fake      = NULL;
    td_tracked_fake_t row       = {.source = at->id};
    td_dims_t         dims      = {0};

    fake = fake_and_dims(b, at, tensor, is_static, &dims);
    if (fake == NULL) {
        return NULL;
    }
    row.fake        = fake;
    row.constraints = dims.constraints;
    row.ranges      = dims.ranges;
    if (!(is_static && td_where_is_nn_module((td_where_t)at->where))) {
        if (!TD_PLANT(UNTRACKED_FAKE) && !TD_ARRAY_PUSH(frame->tracked_fakes, row)) {
            td_stop_nomem(b);
            return NULL;
        }
        if (!note_source(b, tensor, at->id)) {
            return NULL;
        }
    }
    return td_note_sizes(b, tensor, fake) ? fake : NULL;
}

/* ---- wrap_fx_proxy ---------------------------------------------------------------------- */

static bool
to_output(td_builder_t *b, td_guard_id_t guard)
{
    return guard == 0 || TD_ARRAY_PUSH(b->frame.output_guards, guard) || td_stop_nomem(b);
}

bool
td_remember_copy(td_builder_t *b, td_fxnode_t *node, PyObject *tensor)
{
    td_real_value_t row = {.node = node};
    PyObject       *off = NULL; /* owned */

    if (td_is_fake_tensor(b, tensor)) {
        row.same = tensor;
        return td_keep(b, tensor) && (TD_ARRAY_PUSH(b->frame.real_values, row) || td_stop_nomem(b));
    }
    if (!td_quiet_begin(b, tensor, &off)) {
        return false;
    }
    row.copy = td_fake_copy(b, tensor);
    td_quiet_end(b, off);
    return row.copy != NULL && (TD_ARRAY_PUSH(b->frame.real_values, row) || td_stop_nomem(b));
}

/* to_graph does what comes before the example: guards go to the output, and an exported
   graph remembers a copy. */
static bool
to_graph(td_builder_t *b, PyObject *tensor, td_fxnode_t *node, td_guard_id_t guard,
         td_guard_id_t second)
{
    return to_output(b, guard) && to_output(b, second) && td_wrapper_admit(b, tensor) &&
           (!b->export_mode || td_remember_copy(b, node, tensor));
}

/* example_of makes what a tracker says of a node whose example is fake; real: the tensor that
   it is specialized to, or NULL. */
static td_tensor_var_t *
example_of(td_builder_t *b, td_fxnode_t *node, td_fake_t *fake, PyObject *real)
{
    td_tensor_var_t *var = td_alloc_in(b, sizeof *var);

    if (var == NULL || (real != NULL && !td_keep(b, real))) {
        return NULL;
    }
    node->example          = fake;
    var->node              = node;
    var->fake              = fake;
    var->specialized_value = real;
    return var;
}

bool
td_wrap_fx_tensor(td_builder_t *b, td_at_t const *at, PyObject *tensor, td_fxnode_t *node,
                  bool should_specialize, td_guard_id_t guard, td_guard_id_t second, td_var_t *out)
{
    td_tensor_var_t *var     = NULL;
    td_fake_t       *fake    = NULL;
    bool             is_kept = false;

    if (!to_graph(b, tensor, node, guard, second)) {
        return false;
    }
    fake = td_wrap_to_fake(b, at, tensor);
    if (fake != NULL && fake->is_wrapper && !td_switch(b, TD_SWITCH_INTO_WRAPPERS) &&
        !td_record_clone(b)) {
        return false;
    }
    if (fake == NULL) {
        return false;
    }
    is_kept = fake->is_param || should_specialize;
    var     = example_of(b, node, fake, is_kept ? tensor : NULL);
    if (var == NULL) {
        return false;
    }
    var->class_type = fake->is_param     ? b->tables.parameter
                      : fake->is_wrapper ? fake->copy_class
                                         : b->tables.tensor;
    var->is_whole   = td_fake_is_whole(b, fake);
    td_var_make(out, TD_CLASS_TensorVariable, guard);
    out->added     = second;
    out->source    = at->id;
    out->of.tensor = var;
    return true;
}

bool
td_wrap_fx_real(td_builder_t *b, td_at_t const *at, PyObject *tensor, td_fxnode_t *node,
                bool should_specialize, td_guard_id_t guard, td_guard_id_t second, td_var_t *out)
{
    int              is_param = td_is_parameter(b, tensor);
    td_tensor_var_t *var      = NULL;
    td_fake_t       *copy     = NULL;

    if (is_param < 0 || !to_graph(b, tensor, node, guard, second)) {
        return false;
    }
    copy = td_torch_function_copy(b, tensor);
    var  = copy == NULL
               ? NULL
               : example_of(b, node, copy, is_param > 0 || should_specialize ? tensor : NULL);
    if (var == NULL) {
        return false;
    }
    var->class_type = copy->copy_class == NULL ? b->tables.tensor : copy->copy_class;
    td_var_make(out, TD_CLASS_TensorVariable, guard);
    out->added     = second;
    out->source    = at->id;
    out->of.tensor = var;
    return true;
}

/* ---- register_attr_or_module -------------------------------------------------------------- */

/* attr_key finds or makes the name under which tensor is registered.  by_source:
   nothing but its constant source made it an attribute, and then the source's name
   was turned into a word before it came here. */
static bool
attr_key(td_builder_t *b, td_at_t const *at, PyObject *tensor, bool by_source, td_module_t *module)
{
    td_buf_t name  = {0};
    td_buf_t word  = {0};
    bool     fresh = false;
    bool     good  = td_source_name(&b->frame.sources, at->id, &name);

    if (good && by_source) {
        td_fxname_target(&word, name.bytes, name.sz);
    } else if (good) {
        td_buf_put(&word, name.bytes, name.sz);
    }
    if (!good || word.failed) {
        good = PyErr_Occurred() ? td_stop_python(b) : td_stop_nomem(b);
    } else {
        good =
            td_module_key(b, tensor, word.bytes == NULL ? "" : word.bytes, word.sz, module, &fresh);
    }
    td_buf_clear(&name);
    td_buf_clear(&word);
    return good;
}

bool
td_register_attr(td_builder_t *b, td_at_t const *at, PyObject *tensor, td_var_t *out)
{
    PyObject     *address = td_mark(tensor, b->names.static_address); /* borrowed */
    td_guard_id_t match   = 0;
    td_guard_id_t pointer = 0;
    td_module_t   module  = {0};
    td_fxnode_t  *node    = NULL;

    if (td_source_block(&b->frame.sources, at->id)->cls == TD_SOURCE_CLASS_ParamBufferSource) {
        return td_stop_raise(b, "L985/ret/reached", __func__, "AssertionError", "");
    }
    if (at->where != TD_WHERE_CONSTANT &&
        !td_source_guard(b, at, TD_GUARD_TENSOR_MATCH, false, &match)) {
        return false;
    }
    if (address != NULL && PyUnicode_CheckExact(address) &&
        PyUnicode_CompareWithASCIIString(address, "guarded") == 0 &&
        !td_source_guard(b, at, TD_GUARD_DATA_PTR_MATCH, false, &pointer)) {
        return false;
    }
    if (!attr_key(b, at, tensor,
                  at->where == TD_WHERE_CONSTANT && (address == NULL || address == Py_None),
                  &module) ||
        !td_param_name(b, module.key, module.key_sz, at->id)) {
        return false;
    }
    node = td_graph_get_attr(b, module.key, module.key_sz);
    if (node == NULL) {
        return false;
    }
    return td_stays_real(b, at, tensor)
               ? td_wrap_fx_real(b, at, tensor, node, false, match, pointer, out)
               : td_wrap_fx_tensor(b, at, tensor, node, false, match, pointer, out);
}

/* ---- wrap_tensor --------------------------------------------------------------------------- */

/* newest_input gives the last input whose source has hash, after it has put what came
   since it was last asked in the index.  TD_MAP_NONE: there is none. */
static uint32_t
newest_input(td_builder_t *b, uint32_t hash)
{
    td_frame_t *frame = &b->frame;

    for (; frame->inputs_indexed < frame->inputs.cnt; frame->inputs_indexed++) {
        td_input_t *input = &frame->inputs.at[frame->inputs_indexed];
        uint32_t    own   = td_source_hash(&frame->sources, input->source);
        void       *key   = (void *)(((uintptr_t)own + 1) << 4);

        input->older = td_pmap_get(&frame->input_by_hash, key);
        if (!td_pmap_put(&frame->input_by_hash, key, frame->inputs_indexed)) {
            td_stop_nomem(b);
            return TD_MAP_NONE;
        }
    }
    return td_pmap_get(&frame->input_by_hash, (void *)(((uintptr_t)hash + 1) << 4));
}

/* find_input mirrors source in input_source_to_var. */
static td_input_t *
find_input(td_builder_t *b, td_at_t const *at)
{
    td_frame_t *frame = &b->frame;

    for (uint32_t i = newest_input(b, td_source_hash(&frame->sources, at->id)); i != TD_MAP_NONE;
         i          = frame->inputs.at[i].older) {
        td_input_t *input = &frame->inputs.at[i];

        if (td_source_equal(&frame->sources, input->source, at->id)) {
            return input;
        }
    }
    return NULL;
}

/* stored_input is find_input where the last input may be the one. */
static td_input_t *
stored_input(td_builder_t *b, td_at_t const *at)
{
    td_frame_t *frame = &b->frame;
    td_input_t *last  = frame->inputs.cnt == 0 ? NULL : &frame->inputs.at[frame->inputs.cnt - 1];

    return last != NULL && last->source == at->id ? last : find_input(b, at);
}

bool
td_input_store(td_builder_t *b, td_at_t const *at, td_var_t *out)
{
    td_var_t   *stored = td_alloc_in(b, sizeof *stored);
    td_input_t *known  = NULL;
    td_input_t  row    = {.source = at->id, .variable = stored};

    if (stored == NULL || !td_hash_source(b, at, "L1134/assign/0")) {
        return false;
    }
    *stored = *out;
    *out    = (td_var_t){.cls = TD_VAR_ALIAS, .of.alias = stored};
    known   = stored_input(b, at);
    if (known != NULL) {
        known->variable = stored;
        return true;
    }
    return TD_ARRAY_PUSH(b->frame.inputs, row) || td_stop_nomem(b);
}

/* key_is says whether a source is GetItemSource(..., index) with that str. */
static bool
key_is(td_src_block_t const *block, td_src_id_t id, PyObject *text)
{
    PyObject *key = td_source_key(block, id); /* borrowed */

    return key != NULL && PyUnicode_Check(key) && PyUnicode_Compare(key, text) == 0;
}

static bool
is_item(td_src_block_t const *block)
{
    return block->cls == TD_SOURCE_CLASS_GetItemSource ||
           block->cls == TD_SOURCE_CLASS_TupleIteratorGetItemSource;
}

/* should_specialize mirrors tensor_should_specialize: an optimizer's
   param_groups[i]["params"][j], by the shape of the source. */
static bool
should_specialize(td_builder_t *b, td_at_t const *at)
{
    td_sources_t const   *sources = &b->frame.sources;
    td_src_block_t const *links[5];
    td_src_id_t           ids[5];
    PyObject             *optimizer = NULL; /* borrowed */

    ids[0] = at->id;
    for (int i = 0; i < 5; i++) {
        if (i > 0) {
            ids[i] = links[i - 1]->base;
        }
        if (ids[i] == 0 || TD_PLANT(NOT_SPECIALIZED)) {
            return false;
        }
        links[i] = td_source_block(sources, ids[i]);
    }
    if (!is_item(links[0]) || !is_item(links[1]) || !key_is(links[1], ids[1], b->names.params) ||
        !is_item(links[2]) ||
        (links[3]->cls != TD_SOURCE_CLASS_AttrSource &&
         links[3]->cls != TD_SOURCE_CLASS_ParamBufferSource) ||
        !key_is(links[3], ids[3], b->names.param_groups) ||
        links[4]->cls != TD_SOURCE_CLASS_LocalSource) {
        return false;
    }
    optimizer = PyDict_GetItemWithError(b->frame.f_locals, td_source_key(links[4], ids[4]));
    return optimizer == NULL || td_is_a(optimizer, b->tables.optimizer);
}

/* tensor_match makes the guard with a weak reference to the tensor; under a
   NumpyTensorSource with the tensor itself. */
static bool
tensor_match(td_builder_t *b, td_at_t const *at, PyObject *tensor, td_guard_id_t *guard)
{
    td_guard_t *made = NULL;

    if (!td_make_guards(b, at, TD_GUARD_TENSOR_MATCH, guard)) {
        return false;
    }
    made              = &b->frame.guards.guards[*guard];
    made->has_payload = true;
    made->tensor      = tensor;
    made->is_strong =
        td_source_block(&b->frame.sources, at->id)->cls == TD_SOURCE_CLASS_NumpyTensorSource;
    return !made->is_strong || td_keep(b, tensor);
}

/* dict_of gives an instance dict: a new reference, or NULL: stopped.  Torch's own tensors and
   fake ones have one to be read without asking, once it was made. */
static PyObject *
dict_of(td_builder_t *b, PyObject *tensor)
{
    PyObject **dict = td_is_subclass_tensor(b, tensor) ? NULL : _PyObject_GetDictPtr(tensor);

    return dict != NULL && *dict != NULL ? Py_NewRef(*dict)
                                         : td_tensor_attr(b, tensor, b->names.dict);
}

/* empty_dict gives a dict for all that have nothing in it: nobody changes it, or asks which
   one it is.  NULL: stopped. */
static PyObject *
empty_dict(td_builder_t *b)
{
    PyObject *made = b->frame.empty == NULL ? PyDict_New() : NULL; /* owned until kept */

    if (made != NULL && td_keep_steal(b, made)) {
        b->frame.empty = made;
    }
    if (b->frame.empty == NULL && b->stop.kind == TD_STOP_NONE) {
        td_stop_python(b);
    }
    return b->frame.empty;
}

/* copy_dict mirrors value.__dict__.copy(): a dict of the frame's own.  Asking makes
   the instance dict of a tensor that had none, as it does in the reference. */
static PyObject *
copy_dict(td_builder_t *b, PyObject *tensor)
{
    PyObject *dict = dict_of(b, tensor); /* owned */
    PyObject *copy = NULL;               /* owned until kept */

    if (dict == NULL) {
        return NULL;
    }
    if (PyDict_CheckExact(dict) && PyDict_GET_SIZE(dict) == 0) {
        Py_DECREF(dict);
        return empty_dict(b);
    }
    copy = PyDict_Check(dict) ? PyDict_Copy(dict) : NULL;
    Py_DECREF(dict);
    if (copy == NULL) {
        td_stop_python(b);
        return NULL;
    }
    return td_keep_steal(b, copy) ? copy : NULL;
}

/* bind_one binds a number of an input if it is a symbol. */
static bool
bind_one(td_builder_t *b, td_at_t const *at, td_prop_t prop, uint32_t idx, td_num_t const *num)
{
    td_at_t source = {0};

    if (!td_num_is_symbol(b, num)) {
        return true;
    }
    source = td_source_property(&b->frame.sources, at, prop, idx);
    return source.id == 0 ? td_stop_nomem(b) : td_graph_bind(b, &source, num);
}

/* bind_symbols mirrors add_symbol_bindings: an exported graph gets no such inputs. */
static bool
bind_symbols(td_builder_t *b, td_at_t const *at, td_fake_t const *fake)
{
    if (b->export_mode) {
        return true;
    }
    for (uint32_t i = 0; i < fake->ndim; i++) {
        if (!bind_one(b, at, TD_PROP_SIZE, i, &fake->sizes[i])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < fake->ndim; i++) {
        if (!bind_one(b, at, TD_PROP_STRIDE, i, &fake->strides[i])) {
            return false;
        }
    }
    return bind_one(b, at, TD_PROP_STORAGE_OFFSET, 0, &fake->offset);
}

static bool
finish_input(td_builder_t *b, td_at_t const *at, PyObject *tensor, td_fxnode_t *node, td_var_t *out)
{
    td_var_t      *stored = td_alloc_in(b, sizeof *stored);
    td_input_t     row    = {.source = at->id, .variable = stored};
    td_grapharg_t *arg    = td_alloc_in(b, sizeof *arg);

    if (stored == NULL || arg == NULL ||
        (!TD_ARRAY_PUSH(b->frame.inputs, row) && !td_stop_nomem(b))) {
        return false;
    }
    *stored           = *out;
    node->tensor_dict = copy_dict(b, tensor);
    *arg              = (td_grapharg_t){
                     .source = at->id, .example = tensor, .fake = node->example, .is_tensor = true};
    node->grapharg = arg;
    *out           = (td_var_t){.cls = TD_VAR_ALIAS, .of.alias = stored};
    return node->tensor_dict != NULL && bind_symbols(b, at, node->example);
}

static bool
new_input(td_builder_t *b, td_at_t const *at, PyObject *tensor, td_var_t *out)
{
    td_fxnode_t  *node  = td_graph_input(b, at, (PyObject *)Py_TYPE(tensor));
    td_guard_id_t guard = 0;

    if (node == NULL || !tensor_match(b, at, tensor, &guard) ||
        !td_wrap_fx_tensor(b, at, tensor, node, should_specialize(b, at), guard, 0, out)) {
        return false;
    }
    return finish_input(b, at, tensor, node, out);
}

/* is_attr mirrors the first condition of wrap_tensor.  An FSDP module is a module too:
   whether "not of an FSDP module" stands for both operands or for the last one alone
   is a matter of parentheses. */
static bool
is_attr(td_builder_t *b, td_where_t where, bool has_address)
{
    bool is_fsdp = td_where_is_fsdp(where);

    if (td_where_is_nn_module(where) && !(is_fsdp && td_switch(b, TD_SWITCH_FSDP_IS_NO_ATTR))) {
        return true;
    }
    return has_address && !is_fsdp;
}

static bool
input(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    td_input_t *known     = NULL;
    int         is_listed = td_is_traceable_subclass(b, at, value);

    if (is_listed < 0 || !td_depth_reach(b, TD_REACH_WHERE_IN, at->depth) ||
        !td_hash_source(b, at, "L1034/if/F")) {
        return false;
    }
    /* A source that no other one can be called like is not looked for, and the inputs before it
       are not hashed until one is. */
    known = at->fresh && !b->frame.text_mode ? NULL : find_input(b, at);
    if (known != NULL) {
        *out = (td_var_t){.cls = TD_VAR_ALIAS, .of.alias = known->variable};
        return true;
    }
    return new_input(b, at, value, out) && (is_listed == 0 || td_wrap_override(b, at, value, out));
}

static bool
wrap(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    td_where_t where = (td_where_t)at->where;
    PyObject  *mark  = td_mark(value, b->names.static_address); /* borrowed */

    if (!td_guard_source_of(b, at) || !td_depth_reach(b, TD_REACH_WHERE, at->depth)) {
        return false;
    }
    if (!is_attr(b, where, mark != NULL && mark != Py_None) && where != TD_WHERE_CONSTANT) {
        return input(b, at, value, out);
    }
    return td_register_attr(b, at, value, out);
}

/* td_wrap_tensor mirrors VariableBuilder.wrap_tensor for exact Tensors and Parameters,
   and for subclasses that configuration lists. */
bool
td_wrap_tensor(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    bool good = false;

    b->frames += TD_DEPTH_FUNC;
    good = wrap(b, at, value, out);
    b->frames -= TD_DEPTH_FUNC;
    return good;
}
