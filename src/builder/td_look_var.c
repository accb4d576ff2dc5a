/* td_look_var.c: trackers as records. */
#include <stdlib.h>
#include <string.h>

#include "base/td_alloc.h"
#include "builder/td_look.h"
#include "builder/td_value.h"

/* What a tracker's payload is, by class. */
typedef enum {
    HOLDS_NOTHING,
    HOLDS_VALUE,
    HOLDS_LIST,
    HOLDS_DICT,
    HOLDS_TENSOR,
    HOLDS_SYM,
    HOLDS_FUNCTION,
    HOLDS_ATTR,
    HOLDS_METHOD,
    HOLDS_MODULE,
    HOLDS_PARTIAL,
    HOLDS_NAMED,
    HOLDS_CONTEXT,
    HOLDS_OVERRIDE,
    HOLDS_STREAM
} holds_t;

static holds_t
holds(td_class_t cls)
{
    switch (cls) {
    case TD_CLASS_ListVariable:
    case TD_CLASS_TupleVariable:
    case TD_CLASS_NamedTupleVariable:
    case TD_CLASS_DequeVariable:
    case TD_CLASS_SetVariable:
    case TD_CLASS_SizeVariable:
    case TD_CLASS_SliceVariable:
    case TD_CLASS_RangeVariable:
    case TD_CLASS_TupleIteratorVariable:
        return HOLDS_LIST;
    case TD_CLASS_ConstDictVariable:
    case TD_CLASS_DataClassVariable:
    case TD_CLASS_DefaultDictVariable:
        return HOLDS_DICT;
    case TD_CLASS_TensorVariable:
    case TD_CLASS_NumpyNdarrayVariable:
    case TD_CLASS_UnspecializedPythonVariable:
        return HOLDS_TENSOR;
    case TD_CLASS_CUDAStreamVariable:
        return HOLDS_STREAM;
    case TD_CLASS_SymNodeVariable:
        return HOLDS_SYM;
    case TD_CLASS_UserFunctionVariable:
    case TD_CLASS_CollectiveFunctionRewriteVariable:
        return HOLDS_FUNCTION;
    case TD_CLASS_GetAttrVariable:
        return HOLDS_ATTR;
    case TD_CLASS_UserMethodVariable:
        return HOLDS_METHOD;
    case TD_CLASS_NNModuleVariable:
        return HOLDS_MODULE;
    case TD_CLASS_FunctoolsPartialVariable:
        return HOLDS_PARTIAL;
    case TD_CLASS_LambdaVariable:
        return HOLDS_NAMED;
    case TD_CLASS_NullContextVariable:
        return HOLDS_CONTEXT;
    case TD_CLASS_TensorWithTFOverrideVariable:
        return HOLDS_OVERRIDE;
    case TD_CLASS_ComptimeVariable:
    case TD_CLASS_PythonSysModulesVariable:
        return HOLDS_NOTHING;
    default:
        break;
    }
    return HOLDS_VALUE;
}

/* ---- what a tracker inherits from its children --------------------------------- */

typedef struct {
    td_vals_t        guards; /* guard ids */
    td_mut_t const **muts;
    uint32_t         mut_cnt, mut_cap;
} gather_t;

td_var_t *
td_var_children(td_var_t const *var, uint32_t *cnt)
{
    switch (holds((td_class_t)var->cls)) {
    case HOLDS_LIST:
        *cnt = var->of.list->cnt;
        return var->of.list->items;
    case HOLDS_DICT:
        *cnt = var->of.dict->cnt;
        return var->of.dict->items;
    case HOLDS_METHOD:
        *cnt = 1;
        return &var->of.method->self;
    case HOLDS_PARTIAL:
        *cnt = 1 + var->of.partial->arg_cnt + var->of.partial->keyword_cnt;
        return var->of.partial->all;
    default:
        *cnt = 0;
        return NULL;
    }
}

bool
td_var_seen(td_var_t const *var, uint32_t epoch)
{
    uint32_t *mark = NULL;

    switch (holds((td_class_t)var->cls)) {
    case HOLDS_LIST:
        mark = &var->of.list->mark;
        break;
    case HOLDS_DICT:
        mark = &var->of.dict->mark;
        break;
    case HOLDS_METHOD:
        mark = &var->of.method->mark;
        break;
    case HOLDS_PARTIAL:
        mark = &var->of.partial->mark;
        break;
    default:
        return true; /* nothing below it */
    }
    if (*mark == epoch) {
        return true;
    }
    *mark = epoch;
    return false;
}

static void
own_guards(td_look_t *look, td_var_t const *var, gather_t *gather)
{
    if (var->guard != 0) {
        td_vals_add(look, &gather->guards, var->guard);
    }
    if (var->added != 0) {
        td_vals_add(look, &gather->guards, var->added);
    }
    for (td_more_t const *more = var->more; more != NULL; more = more->next) {
        td_vals_add(look, &gather->guards, more->guard);
    }
}

/* gather_guards: its own, and what its constructor took over from its children (an
   iterator's takes nothing over). */
static void
gather_guards(td_look_t *look, td_var_t *var, gather_t *gather)
{
    td_var_t *items = NULL;
    uint32_t  cnt   = 0;

    var = td_var_target(var);
    own_guards(look, var, gather);
    if (var->cls == TD_CLASS_TupleIteratorVariable || var->cls == TD_CLASS_UserMethodVariable ||
        td_var_seen(var, look->epoch)) {
        return;
    }
    items = td_var_children(var, &cnt);
    for (uint32_t i = 0; i < cnt; i++) {
        gather_guards(look, &items[i], gather);
    }
}

static td_val_t
guards_of(td_look_t *look, td_var_t *var)
{
    gather_t gather = {0};
    td_val_t val    = TD_VAL_NONE;

    look->epoch++;
    gather_guards(look, var, &gather);
    val = td_look_guards(look, gather.guards.at, gather.guards.cnt);
    td_free(gather.guards.at);
    return val;
}

/* ---- mutable locals ---------------------------------------------------------------- */

static void
mut_add(td_look_t *look, gather_t *gather, td_mut_t const *mut)
{
    if (mut == NULL || mut->cls == TD_CLASS_NONE) {
        return;
    }
    if (gather->mut_cnt == gather->mut_cap &&
        !td_array_grow((void **)&gather->muts, &gather->mut_cap, sizeof *gather->muts)) {
        look->failed = true;
        return;
    }
    gather->muts[gather->mut_cnt++] = mut;
}

/* gather_muts: what the constructor collected: the mutable local that it was made
   with, and those of everything below. */
static void
gather_muts(td_look_t *look, td_var_t const *var, gather_t *gather)
{
    td_var_t *items = NULL;
    uint32_t  cnt   = 0;

    if (td_var_seen(var, look->epoch)) {
        return;
    }
    if (holds((td_class_t)var->cls) == HOLDS_LIST) {
        mut_add(look, gather, &var->of.list->made_with);
    } else if (holds((td_class_t)var->cls) == HOLDS_DICT) {
        mut_add(look, gather, &var->of.dict->made_with);
    }
    items = td_var_children(var, &cnt);
    for (uint32_t i = 0; i < cnt; i++) {
        td_var_t const *item = td_var_target(&items[i]);

        mut_add(look, gather, item->mut);
        gather_muts(look, item, gather);
    }
    if (holds((td_class_t)var->cls) == HOLDS_DICT && var->of.dict->factory != NULL) {
        td_var_t const *factory = td_var_target(var->of.dict->factory);

        mut_add(look, gather, factory->mut);
        gather_muts(look, factory, gather);
    }
}

static int
cmp_mut_class(void const *a, void const *b)
{
    td_mut_t const *const *x = a;
    td_mut_t const *const *y = b;

    return strcmp(td_class_name((td_class_t)(*x)->cls), td_class_name((td_class_t)(*y)->cls));
}

static int
cmp_ordinal(void const *a, void const *b)
{
    uint32_t x = *(uint32_t const *)a;
    uint32_t y = *(uint32_t const *)b;

    return x < y ? -1 : x > y;
}

/* Those not met before are met now, by class: the reference keeps them in a set. */
static td_val_t
contains_of(td_look_t *look, td_var_t const *var)
{
    gather_t  gather   = {0};
    uint32_t  fresh    = 0;
    td_vals_t ordinals = {0};
    uint32_t  kept     = 0;
    td_val_t  val      = TD_VAL_NONE;

    look->epoch++;
    gather_muts(look, var, &gather);
    for (uint32_t i = 0; i < gather.mut_cnt; i++) {
        uint32_t ordinal = 0;

        if (td_obs_find_ordinal(look->obs, TD_SPACE_MUTABLE_LOCAL, gather.muts[i], &ordinal)) {
            td_vals_add(look, &ordinals, ordinal);
        } else {
            gather.muts[fresh++] = gather.muts[i];
        }
    }
    if (fresh > 1) {
        qsort(gather.muts, fresh, sizeof *gather.muts, cmp_mut_class);
    }
    for (uint32_t i = 0; i < fresh; i++) {
        td_vals_add(look, &ordinals,
                    td_obs_ordinal(look->obs, TD_SPACE_MUTABLE_LOCAL, gather.muts[i], NULL));
    }
    if (ordinals.cnt > 1) {
        qsort(ordinals.at, ordinals.cnt, sizeof *ordinals.at, cmp_ordinal);
    }
    for (uint32_t i = 0; i < ordinals.cnt; i++) { /* a set: one met twice counts once */
        if (kept == 0 || ordinals.at[kept - 1] != ordinals.at[i]) {
            ordinals.at[kept++] = ordinals.at[i];
        }
    }
    val = td_form_contains(look->obs, ordinals.at, kept);
    td_free(ordinals.at);
    td_free(gather.muts);
    return val;
}

enum { SCOPE_EXISTING = 0, SCOPE_LOCAL = 1 };

static td_val_t
mutable_local(td_look_t *look, td_mut_t const *mut)
{
    td_fields_t fields  = {0};
    bool        again   = false;
    uint32_t    ordinal = 0;

    if (mut == NULL) {
        return td_obs_null(look->obs);
    }
    ordinal = td_obs_ordinal(look->obs, TD_SPACE_MUTABLE_LOCAL, mut, &again);
    if (again) {
        return td_form_again(look->obs, ordinal);
    }
    td_fields_put(
        &fields, TD_FIELD_MutableLocalBase_scope,
        td_obs_int(look->obs, mut->cls == TD_CLASS_MutableLocal ? SCOPE_LOCAL : SCOPE_EXISTING));
    if (mut->cls == TD_CLASS_MutableSideEffects) {
        td_fields_put(&fields, TD_FIELD_MutableSideEffects_source,
                      td_look_source(look, mut->source));
        td_fields_put(&fields, TD_FIELD_MutableSideEffects_is_modified,
                      td_obs_bool(look->obs, false));
    } else if (mut->cls == TD_CLASS_AttributeMutationExisting) {
        td_fields_put(&fields, TD_FIELD_AttributeMutation_source,
                      td_look_source(look, mut->source));
    }
    return td_obs_record(look->obs, (td_class_t)mut->cls, fields.at, fields.cnt);
}

/* ---- own fields, by payload ----------------------------------------------------------- */

static td_val_t
trackers(td_look_t *look, td_items_t *items)
{
    td_vals_t vals = {0};

    for (uint32_t i = 0; i < items->cnt; i++) {
        td_vals_add(look, &vals, td_look_tracker(look, &items->items[i]));
    }
    return td_vals_end(look, &vals);
}

static void
put_list(td_look_t *look, td_var_t *var, td_fields_t *fields)
{
    td_val_t items = trackers(look, var->of.list);

    if (var->cls == TD_CLASS_TupleIteratorVariable) {
        td_fields_put(fields, TD_FIELD_ListIteratorVariable_items, items);
        td_fields_put(fields, TD_FIELD_ListIteratorVariable_index, td_obs_int(look->obs, 0));
        return;
    }
    if (var->cls == TD_CLASS_SetVariable) {
        td_fields_put(fields, TD_FIELD_SetVariable_items, items);
        return;
    }
    td_fields_put(fields, TD_FIELD_BaseListVariable_items, items);
    if (var->cls == TD_CLASS_SizeVariable) {
        td_fields_put(fields, TD_FIELD_SizeVariable_proxy,
                      var->of.list->node == NULL ? td_obs_null(look->obs)
                                                 : td_look_proxy(look, var->of.list->node));
    } else if (var->cls == TD_CLASS_NamedTupleVariable) {
        td_fields_put(fields, TD_FIELD_NamedTupleVariable_tuple_cls,
                      td_look_value(look, var->of.list->cls));
    }
}

static void
put_dict(td_look_t *look, td_var_t *var, td_fields_t *fields)
{
    td_dict_t *dict = var->of.dict;
    td_vals_t  vals = {0};

    for (uint32_t i = 0; i < dict->cnt; i++) {
        td_val_t key = td_look_value(look, dict->keys[i]);

        td_vals_add(look, &vals,
                    td_obs_pair(look->obs, key, td_look_tracker(look, &dict->items[i])));
    }
    td_fields_put(fields, TD_FIELD_ConstDictVariable_items, td_vals_end(look, &vals));
    td_fields_put(fields, TD_FIELD_ConstDictVariable_user_cls, td_look_value(look, dict->cls));
    if (var->cls == TD_CLASS_DefaultDictVariable) {
        td_fields_put(fields, TD_FIELD_DefaultDictVariable_default_factory,
                      td_look_tracker(look, dict->factory));
    }
}

static void
put_partial(td_look_t *look, td_var_t *var, td_fields_t *fields)
{
    td_partial_t *partial  = var->of.partial;
    td_var_t     *values   = partial->all + 1 + partial->arg_cnt;
    td_vals_t     args     = {0};
    td_vals_t     keywords = {0};

    td_fields_put(fields, TD_FIELD_FunctoolsPartialVariable_func,
                  td_look_tracker(look, &partial->all[0]));
    for (uint32_t i = 0; i < partial->arg_cnt; i++) {
        td_vals_add(look, &args, td_look_tracker(look, &partial->all[1 + i]));
    }
    td_fields_put(fields, TD_FIELD_FunctoolsPartialVariable_args, td_vals_end(look, &args));
    for (uint32_t i = 0; i < partial->keyword_cnt; i++) {
        td_val_t key = td_look_value(look, partial->keys[i]);

        td_vals_add(look, &keywords,
                    td_obs_pair(look->obs, key, td_look_tracker(look, &values[i])));
    }
    td_fields_put(fields, TD_FIELD_FunctoolsPartialVariable_keywords, td_vals_end(look, &keywords));
    td_fields_put(fields, TD_FIELD_FunctoolsPartialVariable_original,
                  td_look_value(look, partial->original));
}

/* ---- tensors ---------------------------------------------------------------------------- */

static bool
is_contiguous(td_fake_t const *fake)
{
    int64_t want = 1;

    for (uint32_t i = 0; i < fake->ndim; i++) {
        if (fake->sizes[i].hint == 0) {
            return true;
        }
    }
    for (uint32_t i = fake->ndim; i-- > 0;) {
        if (fake->sizes[i].hint != 1) {
            if (fake->strides[i].hint != want) {
                return false;
            }
            want *= fake->sizes[i].hint;
        }
    }
    return true;
}

/* is_channels_last walks the dims as their strides have to grow: channels first,
   then from the last to the first spatial dim, then the batch. */
static bool
is_channels_last(td_fake_t const *fake, uint32_t ndim)
{
    int64_t want = 1;

    if (fake->ndim != ndim) {
        return false;
    }
    for (uint32_t i = 0; i < ndim; i++) {
        uint32_t dim = i == 0 ? 1 : i == ndim - 1 ? 0 : ndim - i;

        if (fake->sizes[dim].hint != 1) {
            if (fake->strides[dim].hint != want) {
                return false;
            }
            want *= fake->sizes[dim].hint;
        }
    }
    return true;
}

enum { NDIM_CHANNELS_LAST = 4, NDIM_CHANNELS_LAST_3D = 5 };

/* has_format mirrors is_contiguous(memory_format=...) by the format's name. */
static bool
has_format(td_fake_t const *fake, char const *format)
{
    if (fake->is_sparse) {
        return false;
    }
    if (strstr(format, "channels_last_3d") != NULL) {
        return is_channels_last(fake, NDIM_CHANNELS_LAST_3D);
    }
    if (strstr(format, "channels_last") != NULL) {
        return is_channels_last(fake, NDIM_CHANNELS_LAST);
    }
    return is_contiguous(fake);
}

enum { FORMAT_CNT_MAX = 8 };

/* formats: the names of the memory formats that hold, sorted. */
static td_val_t
formats(td_look_t *look, td_fake_t const *fake)
{
    PyObject *all = look->b->tables.memory_formats; /* borrowed */
    td_val_t  names[FORMAT_CNT_MAX];
    size_t    cnt = 0;

    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(all) && cnt < FORMAT_CNT_MAX; i++) {
        td_val_t val = td_look_value(look, PyTuple_GET_ITEM(all, i));
        size_t   at  = cnt;

        val = td_obs_kind(look->obs, val) == TD_VAL_LIST ? td_obs_get_item(look->obs, val, 1) : val;
        if (td_obs_kind(look->obs, val) != TD_VAL_STR ||
            !has_format(fake, td_obs_get_str(look->obs, val, NULL))) {
            continue;
        }
        for (; at > 0 && td_obs_cmp(look->obs, names[at - 1], val) > 0; at--) {
            names[at] = names[at - 1];
        }
        names[at] = val;
        cnt++;
    }
    return td_obs_list(look->obs, names, cnt);
}

/* whole_sizes: the sizes of a tensor that no symbol stands in any more, as plain ints. */
static td_val_t
whole_sizes(td_look_t *look, td_fake_t const *fake)
{
    td_vals_t vals = {0};

    for (uint32_t i = 0; i < fake->ndim; i++) {
        td_vals_add(look, &vals, td_obs_int(look->obs, fake->sizes[i].hint));
    }
    return td_vals_end(look, &vals);
}

static void
put_tensor(td_look_t *look, td_var_t *var, td_fields_t *fields)
{
    td_tensor_var_t *tensor  = var->of.tensor;
    td_fake_t       *fake    = tensor->fake;
    td_obs_t        *obs     = look->obs;
    bool             is_open = fake->has_symbols && !tensor->is_whole;

    td_fields_put(fields, TD_FIELD_TensorVariable_proxy, td_look_proxy(look, tensor->node));
    td_fields_put(fields, TD_FIELD_TensorVariable_dtype, td_look_value(look, fake->dtype));
    td_fields_put(fields, TD_FIELD_TensorVariable_device, td_look_value(look, fake->device));
    td_fields_put(fields, TD_FIELD_TensorVariable_layout, td_look_value(look, fake->layout));
    td_fields_put(fields, TD_FIELD_TensorVariable_ndim, td_obs_int(obs, fake->ndim));
    td_fields_put(fields, TD_FIELD_TensorVariable_size,
                  is_open ? td_obs_null(obs) : whole_sizes(look, fake));
    td_fields_put(fields, TD_FIELD_TensorVariable_stride,
                  is_open ? td_obs_null(obs) : td_look_shape(look, fake->strides, fake->ndim));
    td_fields_put(fields, TD_FIELD_TensorVariable_requires_grad,
                  td_obs_bool(obs, fake->requires_grad));
    td_fields_put(fields, TD_FIELD_TensorVariable_is_quantized, td_obs_bool(obs, false));
    td_fields_put(fields, TD_FIELD_TensorVariable_is_contiguous,
                  is_open ? td_obs_null(obs) : formats(look, fake));
    td_fields_put(fields, TD_FIELD_TensorVariable_is_sparse, td_obs_bool(obs, fake->is_sparse));
    td_fields_put(fields, TD_FIELD_TensorVariable_class_type,
                  td_look_value(look, tensor->class_type));
    td_fields_put(fields, TD_FIELD_TensorVariable_specialized_value,
                  td_look_value(look, tensor->specialized_value));
    if (var->cls == TD_CLASS_UnspecializedPythonVariable) {
        td_fields_put(fields, TD_FIELD_UnspecializedPythonVariable_raw_value,
                      td_look_value(look, tensor->raw_value));
        td_fields_put(fields, TD_FIELD_UnspecializedPythonVariable_need_unwrap,
                      td_obs_bool(obs, !tensor->is_unwrapped));
    }
}

/* ---- trackers ------------------------------------------------------------------------------- */

/* The attribute that a tracker of one value holds it in. */
static td_field_t
value_field(td_class_t cls)
{
    switch (cls) {
    case TD_CLASS_AutogradFunctionVariable:
        return TD_FIELD_AutogradFunctionVariable_fn_cls;
    case TD_CLASS_BuiltinVariable:
        return TD_FIELD_BuiltinVariable_fn;
    case TD_CLASS_HFPretrainedConfigVariable:
        return TD_FIELD_HFPretrainedConfigVariable_obj;
    case TD_CLASS_GetSetDescriptorVariable:
        return TD_FIELD_GetSetDescriptorVariable_desc;
    case TD_CLASS_MethodWrapperVariable:
        return TD_FIELD_MethodWrapperVariable_method_wrapper;
    default:
        break;
    }
    return td_field_find(cls, "value");
}

/* sym_num: the number, or whether it is 1, as sympy spells that. */
static td_val_t
sym_num(td_look_t *look, td_sym_var_t const *sym)
{
    td_buf_t text = {0};
    td_val_t val  = TD_VAL_NONE;

    if (!sym->is_one) {
        return td_look_number(look, &sym->number);
    }
    td_buf_puts(&text, "Eq(");
    td_num_put(look->b, &sym->number, &text);
    td_buf_puts(&text, ", 1)");
    look->failed = look->failed || text.failed;
    val          = td_form_sym(look->obs, "SymBool", text.failed ? "" : text.bytes, text.sz,
                               td_obs_bool(look->obs, sym->number.hint == 1));
    td_buf_clear(&text);
    return val;
}

/* put_optimizer: the two maps are made where the constructor is not given any, and left
   out where it is given those of the tracker that is cloned. */
static void
put_optimizer(td_look_t *look, td_var_t *var, td_fields_t *fields)
{
    static td_field_t const maps[] = {TD_FIELD_OptimizerVariable_grad_to_source,
                                      TD_FIELD_OptimizerVariable_tensor_to_source};

    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        td_fields_put(fields, maps[i],
                      var->is_odd_clone ? td_obs_absent(look->obs)
                                        : td_obs_list(look->obs, NULL, 0));
    }
}

static void
put_value(td_look_t *look, td_var_t *var, td_fields_t *fields)
{
    td_fields_put(fields, value_field((td_class_t)var->cls), td_look_value(look, var->of.value));
    switch (var->cls) {
    case TD_CLASS_AutogradFunctionContextVariable:
    case TD_CLASS_KeyedJaggedTensorVariable:
    case TD_CLASS_OptimizerVariable:
    case TD_CLASS_UserDefinedObjectVariable:
    case TD_CLASS_UnspecializedNNModuleVariable:
    case TD_CLASS_FSDPManagedNNModuleVariable:
        td_fields_put(fields, TD_FIELD_UserDefinedObjectVariable_value_type,
                      td_look_value(look, td_value_class(var->of.value)));
        break;
    default:
        break;
    }
    if (var->cls == TD_CLASS_OptimizerVariable) {
        put_optimizer(look, var, fields);
    } else if (var->cls == TD_CLASS_AutogradFunctionContextVariable) {
        td_fields_put(fields, TD_FIELD_AutogradFunctionContextVariable_inference,
                      td_obs_bool(look->obs, false));
        td_fields_put(fields, TD_FIELD_AutogradFunctionContextVariable__saved_tensors,
                      td_obs_list(look->obs, NULL, 0));
    }
}

static void
put_function(td_look_t *look, td_function_t const *function, td_fields_t *fields)
{
    td_fields_put(fields, TD_FIELD_UserFunctionVariable_fn, td_look_value(look, function->fn));
    td_fields_put(fields, TD_FIELD_UserFunctionVariable_is_constant,
                  td_obs_bool(look->obs, function->is_constant));
    if (function->orig_fn != NULL) {
        td_fields_put(fields, TD_FIELD_CollectiveFunctionRewriteVariable_orig_fn,
                      td_look_value(look, function->orig_fn));
        td_fields_put(fields, TD_FIELD_CollectiveFunctionRewriteVariable_orig_source,
                      td_look_source(look, function->orig_source));
    }
}

static void
put_override(td_look_t *look, td_override_var_t const *override, td_fields_t *fields)
{
    td_fields_put(fields, TD_FIELD_TensorWithTFOverrideVariable_tensor_variable,
                  td_look_tracker(look, override->tensor));
    td_fields_put(fields, TD_FIELD_TensorWithTFOverrideVariable_orig_tensor_variable_source,
                  td_look_source(look, override->source));
    td_fields_put(fields, TD_FIELD_TensorWithTFOverrideVariable_subclass_torch_function__func,
                  td_look_value(look, override->function));
    td_fields_put(fields, TD_FIELD_TensorWithTFOverrideVariable_subclass_type,
                  td_look_value(look, override->cls));
}

static void
put_own(td_look_t *look, td_var_t *var, td_fields_t *fields)
{
    switch (holds((td_class_t)var->cls)) {
    case HOLDS_NOTHING:
        break;
    case HOLDS_VALUE:
        put_value(look, var, fields);
        break;
    case HOLDS_LIST:
        put_list(look, var, fields);
        break;
    case HOLDS_DICT:
        put_dict(look, var, fields);
        break;
    case HOLDS_TENSOR:
        put_tensor(look, var, fields);
        break;
    case HOLDS_SYM:
        td_fields_put(fields, TD_FIELD_SymNodeVariable_proxy,
                      td_look_proxy(look, var->of.sym->node));
        td_fields_put(fields, TD_FIELD_SymNodeVariable_sym_num, sym_num(look, var->of.sym));
        break;
    case HOLDS_FUNCTION:
        put_function(look, var->of.function, fields);
        break;
    case HOLDS_METHOD:
        put_function(look, &var->of.method->function, fields);
        td_fields_put(fields, TD_FIELD_UserMethodVariable_obj,
                      td_look_tracker(look, &var->of.method->self));
        break;
    case HOLDS_MODULE:
        td_fields_put(fields, TD_FIELD_NNModuleVariable_module_type,
                      td_look_value(look, var->of.module->type));
        td_fields_put(fields, TD_FIELD_NNModuleVariable_module_key,
                      td_look_name(look, var->of.module->key, var->of.module->key_sz));
        break;
    case HOLDS_OVERRIDE:
        put_override(look, var->of.override, fields);
        break;
    case HOLDS_ATTR:
        td_fields_put(fields, TD_FIELD_GetAttrVariable_obj,
                      td_look_tracker(look, var->of.attr->obj));
        td_fields_put(fields, TD_FIELD_GetAttrVariable_name,
                      td_obs_cstr(look->obs, var->of.attr->name));
        break;
    case HOLDS_PARTIAL:
        put_partial(look, var, fields);
        break;
    case HOLDS_NAMED:
        td_fields_put(fields, TD_FIELD_LambdaVariable_fn,
                      td_form_global(look->obs, var->of.named->module, var->of.named->qualname));
        break;
    case HOLDS_STREAM:
        td_fields_put(fields, TD_FIELD_CUDAStreamVariable_proxy,
                      td_look_proxy(look, var->of.tensor->node));
        td_fields_put(fields, TD_FIELD_CUDAStreamVariable_value,
                      td_look_value(look, var->of.tensor->raw_value));
        break;
    case HOLDS_CONTEXT:
        td_fields_put(fields, TD_FIELD_ContextWrappingVariable_target_values,
                      td_obs_null(look->obs));
        td_fields_put(fields, TD_FIELD_ContextWrappingVariable_initial_values,
                      td_obs_null(look->obs));
        break;
    }
}

td_val_t
td_look_tracker(td_look_t *look, td_var_t *var)
{
    td_fields_t fields  = {0};
    bool        again   = false;
    uint32_t    ordinal = 0;

    if (var == NULL) {
        return td_obs_null(look->obs);
    }
    var     = td_var_target(var);
    ordinal = td_obs_ordinal(look->obs, TD_SPACE_TRACKER, var, &again);
    if (again) {
        return td_form_again(look->obs, ordinal);
    }
    td_fields_put(&fields, TD_FIELD_VariableTracker_source, td_look_source(look, var->source));
    put_own(look, var, &fields);
    td_fields_put(&fields, TD_FIELD_VariableTracker_mutable_local, mutable_local(look, var->mut));
    td_fields_put(&fields, TD_FIELD_VariableTracker_recursively_contains, contains_of(look, var));
    td_fields_put(&fields, TD_FIELD_VariableTracker_guards, guards_of(look, var));
    return td_obs_record(look->obs, (td_class_t)var->cls, fields.at, fields.cnt);
}
