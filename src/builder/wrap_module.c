/* wrap_module.c: torch.nn.Module objects, and methods bound to them. */
#include "builder/td_depth.h"

/* ---- trackers that hold the module itself -------------------------------------------- */

bool
td_module_var_source(td_builder_t *b, td_at_t const *at, td_class_t cls, td_src_id_t *source)
{
    td_source_class_t around  = TD_SOURCE_CLASS_NotNNModuleSource;
    td_at_t           wrapped = {0};

    *source = at->id;
    if (cls != TD_CLASS_UnspecializedNNModuleVariable &&
        cls != TD_CLASS_FSDPManagedNNModuleVariable) {
        return true;
    }
    if (!td_guard_source_of(b, at)) {
        return false;
    }
    if (cls == TD_CLASS_FSDPManagedNNModuleVariable) {
        around = b->cfg.skip_fsdp_guards ? TD_SOURCE_CLASS_FSDPNNModuleSource
                                         : TD_SOURCE_CLASS_NotNNModuleSource;
    } else if (!td_where_is_nn_module((td_where_t)at->where) || TD_PLANT(MODULE_SOURCE)) {
        return true;
    }
    if (!td_source_on(b, at, around, &wrapped)) {
        return false;
    }
    *source = wrapped.id;
    return true;
}

/* has_answering_meta: the class's metaclass has a __getattr__, which is asked for
   cls_to_become each time that a tracker is copied. */
static bool
has_answering_meta(td_builder_t *b, PyObject *value)
{
    return _PyType_Lookup(Py_TYPE(Py_TYPE(value)), b->names.getattr) != NULL;
}

/* holding mirrors the constructor of UnspecializedNNModuleVariable without a source. */
static bool
holding(td_builder_t *b, PyObject *value, td_class_t cls, td_guard_id_t guard, td_var_t *out)
{
    if ((PyObject *)Py_TYPE(value) == b->tables.script_module) {
        return td_stop_raise(
            b, "L888/if/T", __func__, "torch._dynamo.exc.Unsupported",
            "ScriptModules aren't supported in UnspecializedNNModuleVariable"
            " becuase their .forward function isn't a static member of their type");
    }
    if (has_answering_meta(b, value)) {
        return td_stop_unsupported(b, "L888/if/T", __func__,
                                   "a module whose metaclass has its own __getattr__");
    }
    if (!td_keep(b, value)) {
        return false;
    }
    td_var_make(out, cls, guard);
    out->of.value = value;
    return true;
}

/* unspecialized: one whose module nothing tracks; it learns where it came from when the
   builder copies it. */
static bool
unspecialized(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    td_guard_id_t guard = 0;

    return td_make_guards(b, at, TD_GUARD_TYPE_MATCH, &guard) &&
           holding(b, value, TD_CLASS_UnspecializedNNModuleVariable, guard, out);
}

/* dynamic mirrors the branch of modules that were made or changed while tracing. */
static bool
dynamic(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    td_src_id_t source = 0;

    if (!unspecialized(b, at, value, out)) {
        return false;
    }
    if (!td_has_plain_setattr(b, at, value)) {
        td_trail_add(b, at, "L893/if/T", __func__);
        return true;
    }
    td_trail_add(b, at, "L893/if/F", __func__);
    if (!td_module_var_source(b, at, (td_class_t)out->cls, &source) ||
        !td_track_obj(b, at, value, TD_CLASS_AttributeMutationExisting, out)) {
        return false;
    }
    td_var_target(out)->source = source;
    return true;
}

/* ---- FSDP ------------------------------------------------------------------------------- */

/* copied mirrors the copy that a new tracker makes of itself to look for what it contains,
   whose constructor asks the source that the first one has made. */
static bool
copied(td_builder_t *b, td_var_t const *var)
{
    td_src_block_t const *block = td_source_block(&b->frame.sources, var->source);
    td_at_t               at    = {.id = var->source, .where = block->where};

    return td_guard_source_of(b, &at);
}

/* managed mirrors the branch of modules that FSDP looks after. */
static bool
managed(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    int           original = td_module_truth(b, value, b->names.fsdp_orig_params);
    td_guard_id_t type     = 0;
    td_guard_id_t id       = 0;

    if (original <= 0) {
        return original == 0 &&
               td_stop_raise(b, "L911/assert/fail", __func__, "AssertionError",
                             "Dynamo only supports FSDP with use_orig_params=True");
    }
    if (!td_make_guards(b, at, TD_GUARD_TYPE_MATCH, &type) ||
        !td_make_guards(b, at, TD_GUARD_ID_MATCH, &id) ||
        !holding(b, value, TD_CLASS_FSDPManagedNNModuleVariable, type, out)) {
        return false;
    }
    out->added = id;
    return td_module_var_source(b, at, TD_CLASS_FSDPManagedNNModuleVariable, &out->source) &&
           copied(b, out);
}

/* ---- wrap_module -------------------------------------------------------------------------- */

static bool wrap_module(td_builder_t *b, td_at_t const *at, td_src_id_t name, PyObject *value,
                        td_var_t *out);

/* orig_mod gives value._orig_mod: a new reference.  NULL: stopped. */
static PyObject *
orig_mod(td_builder_t *b, PyObject *value)
{
    PyObject **dict = _PyObject_GetDictPtr(value);
    PyObject  *own  = NULL; /* borrowed */

    if (dict != NULL && *dict != NULL) {
        own = PyDict_GetItemWithError(*dict, b->names.own_modules);
    }
    if (own != NULL) {
        own = PyDict_Check(own) ? PyDict_GetItemWithError(own, b->names.orig_mod) : NULL;
    }
    if (own == NULL || PyDict_Contains(*dict, b->names.orig_mod) != 0 ||
        !td_is_a(own, b->tables.module) || td_is_lying(b, NULL, own)) {
        td_stop_unsupported(b, "L878/if/T", __func__,
                            "an OptimizedModule whose _orig_mod is none of its modules");
        return NULL;
    }
    return Py_NewRef(own);
}

/* optimized mirrors the branch of OptimizedModule: the builder goes on with the source
   of the module inside, and keeps the name that it had. */
static bool
optimized(td_builder_t *b, td_at_t const *at, td_src_id_t name, PyObject *value, td_var_t *out)
{
    td_guard_id_t guard  = 0;
    td_at_t       inside = {0};
    PyObject     *module = NULL; /* owned until kept */

    if (!td_make_guards(b, at, TD_GUARD_TYPE_MATCH, &guard) ||
        !td_source_attr(b, at, TD_SOURCE_CLASS_AttrSource, b->names.orig_mod, &inside)) {
        return false;
    }
    module = orig_mod(b, value);
    if (module == NULL || !td_keep_steal(b, module)) {
        return false;
    }
    b->frames += TD_DEPTH_FUNC;
    if (!wrap_module(b, &inside, name, module, out)) {
        return false;
    }
    b->frames -= TD_DEPTH_FUNC;
    if (b->moved.id == 0) {
        b->moved = inside;
    }
    return td_var_add_guards(b, out, guard);
}

static bool
is_recurrent(td_builder_t *b, PyObject *value)
{
    return td_is_a(value, b->tables.rnn) || td_is_a(value, b->tables.gru) ||
           td_is_a(value, b->tables.lstm);
}

static bool
is_data_parallel(td_builder_t *b, PyObject *value)
{
    return b->tables.data_parallel != Py_None && td_is_a(value, b->tables.data_parallel);
}

/* unusual mirrors the branches for a module that has to be asked what it is. */
static bool
unusual(td_builder_t *b, td_at_t const *at, td_src_id_t name, PyObject *value, td_var_t *out)
{
    int is = 0;

    if (!b->cfg.allow_rnn && is_recurrent(b, value)) {
        return td_stop_raise(b, "L887/unimpl/raised", __func__, "torch._dynamo.exc.Unsupported",
                             "TorchDynamo purposely graph breaks on RNN, GRU, LSTMs");
    }
    is = td_module_is_dynamic(b, value, NULL);
    if (is != 0) {
        return is > 0 && dynamic(b, at, value, out);
    }
    if (is_data_parallel(b, value)) {
        td_trail_add(b, at, "L899/if/T", __func__);
        return unspecialized(b, at, value, out);
    }
    is = td_module_truth(b, value, b->names.fsdp_managed);
    if (is != 0) {
        return is > 0 && managed(b, at, value, out);
    }
    td_trail_add(b, at, "L937/ret/reached", __func__);
    return td_register_module(b, at, name, value, NULL, out);
}

static bool
wrap_module(td_builder_t *b, td_at_t const *at, td_src_id_t name, PyObject *value, td_var_t *out)
{
    td_module_own_t own = {0};
    int             is  = 0;

    if ((PyObject *)Py_TYPE(value) == b->tables.optimized_module) {
        td_trail_add(b, at, "L878/if/T", __func__);
        return optimized(b, at, name, value, out);
    }
    if (!td_module_own(b, value, &own) || own.is_special) {
        return unusual(b, at, name, value, out);
    }
    is = td_module_is_dynamic(b, value, &own);
    if (is != 0) {
        return is > 0 && dynamic(b, at, value, out);
    }
    td_trail_add(b, at, "L937/ret/reached", __func__);
    return td_register_module(b, at, name, value, &own, out);
}

/* td_wrap_module mirrors VariableBuilder.wrap_module. */
bool
td_wrap_module(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    b->moved = (td_at_t){0};
    b->frames += TD_DEPTH_FUNC;
    /* What the module's own code does must not take it away. */
    if (!td_keep(b, value) || !wrap_module(b, at, at->id, value, out)) {
        return false;
    }
    b->frames -= TD_DEPTH_FUNC;
    return true;
}

/* ---- methods ------------------------------------------------------------------------------- */

/* td_wrap_module_method mirrors the branch of methods that are bound to modules, and the
   constructor of UserMethodVariable. */
bool
td_wrap_module_method(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    PyObject      *function = PyMethod_GET_FUNCTION(value); /* borrowed */
    td_method_t   *method   = td_alloc_in(b, sizeof *method);
    td_function_t *made     = NULL;
    td_guard_id_t  guard    = 0;
    td_at_t        self     = {0};

    if (method == NULL || !td_keep(b, value) ||
        !td_source_attr(b, at, TD_SOURCE_CLASS_AttrSource, b->names.self, &self) ||
        !td_build(b, &self, PyMethod_GET_SELF(value), &method->self) ||
        !td_make_guards(b, at, TD_GUARD_FUNCTION_MATCH, &guard)) {
        return false;
    }
    if (!PyFunction_Check(function) && (PyObject *)Py_TYPE(function) != b->tables.script_function) {
        return td_stop_unsupported(b, "L667/ret/reached", __func__,
                                   "a method of what is no function");
    }
    if (!td_function_variable(b, "L667/ret/reached", function, &made)) {
        return false;
    }
    method->function = *made;
    td_var_make(out, TD_CLASS_UserMethodVariable, TD_PLANT(METHOD_UNBOUND) ? 0 : guard);
    out->source    = at->id;
    out->of.method = method;
    b->moved       = (td_at_t){0};
    return true;
}
