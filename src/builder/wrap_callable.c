/* wrap_callable.c: functions, builtins, classes, modules, what torch allows in its
   graphs, and other values that a tracker only points at. */
#include <string.h>

#include "builder/td_builder_private.h"
#include "py/td_call.h"

bool
td_point_at(td_builder_t *b, td_at_t const *at, PyObject *value, td_class_t cls,
            td_guard_kind_t kind, bool with_source, td_var_t *out)
{
    td_guard_id_t guard = 0;

    if (!td_make_guards(b, at, kind, &guard) || !td_keep(b, value)) {
        return false;
    }
    td_var_make(out, cls, guard);
    out->source   = with_source ? at->id : 0;
    out->of.value = value;
    return true;
}

bool
td_wrap_enum(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    return td_point_at(b, at, value, TD_CLASS_EnumVariable, TD_GUARD_ID_MATCH, true, out);
}

bool
td_wrap_builtin(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    return td_point_at(b, at, value, TD_CLASS_BuiltinVariable, TD_GUARD_BUILTIN_MATCH, true, out);
}

bool
td_wrap_typing(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    return td_point_at(b, at, value, TD_CLASS_TypingVariable, TD_GUARD_ID_MATCH, true, out);
}

bool
td_wrap_numpy(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    return td_point_at(b, at, value, TD_CLASS_NumpyVariable,
                       PyCallable_Check(value) ? TD_GUARD_FUNCTION_MATCH : TD_GUARD_TYPE_MATCH,
                       true, out);
}

bool
td_wrap_skipfiles(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    return td_point_at(b, at, value, TD_CLASS_SkipFilesVariable, TD_GUARD_FUNCTION_MATCH, true,
                       out);
}

bool
td_wrap_pymodule(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    return td_point_at(b, at, value, TD_CLASS_PythonModuleVariable, TD_GUARD_PYMODULE_MATCH, true,
                       out);
}

bool
td_wrap_getset(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    return td_point_at(b, at, value, TD_CLASS_GetSetDescriptorVariable, TD_GUARD_FUNCTION_MATCH,
                       false, out);
}

bool
td_wrap_method_wrapper(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    return td_point_at(b, at, value, TD_CLASS_MethodWrapperVariable, TD_GUARD_FUNCTION_MATCH, false,
                       out);
}

bool
td_wrap_user_class(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    return td_point_at(b, at, value, TD_CLASS_UserDefinedClassVariable, TD_GUARD_FUNCTION_MATCH,
                       true, out);
}

/* td_wrap_user_object mirrors the last branch of _wrap for a class whose own
   __setattr__ keeps the branch from tracking the object; __call__ tracks it all the
   same. */
bool
td_wrap_user_object(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    return td_point_at(b, at, value, TD_CLASS_UserDefinedObjectVariable, TD_GUARD_TYPE_MATCH, true,
                       out);
}

bool
td_wrap_user_object_tracked(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    return td_wrap_user_object(b, at, value, out) &&
           td_track_obj(b, at, value, TD_CLASS_AttributeMutationExisting, out);
}

/* td_wrap_comptime: the entry of the id table makes a tracker without anything. */
bool
td_wrap_comptime(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    (void)b;
    (void)at;
    (void)value;
    td_var_make(out, TD_CLASS_ComptimeVariable, 0);
    return true;
}

/* td_wrap_sys_modules: nothing guards sys.modules, and nothing of it is looked at. */
bool
td_wrap_sys_modules(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    (void)b;
    (void)value;
    td_var_make(out, TD_CLASS_PythonSysModulesVariable, 0);
    out->source = at->id;
    return true;
}

/* ---- functions ------------------------------------------------------------------ */

/* unwrapped mirrors what UserFunctionVariable's constructor takes in the place of
   the function it is given.  Borrowed. */
static PyObject *
unwrapped(td_builder_t *b, PyObject *fn)
{
    PyObject *found = td_getattr_static(fn, b->names.inline_); /* borrowed */

    fn    = found == NULL ? fn : found;
    found = td_getattr_static(fn, b->names.script_wrapper);
    if (!TD_PLANT(STILL_WRAPPED) && found != NULL && PyObject_IsTrue(found) == 1) {
        found = td_getattr_static(fn, b->names.original_fn);
        fn    = found == NULL ? fn : found;
    }
    return fn;
}

bool
td_function_variable(td_builder_t *b, char const *arm, PyObject *value, td_function_t **function)
{
    PyObject *marked = td_getattr_static(value, b->names.marked_constant); /* borrowed */

    *function = td_alloc_in(b, sizeof **function);
    if (*function == NULL) {
        return false;
    }
    **function = (td_function_t){.fn = unwrapped(b, value)};
    if (marked != NULL && !PyBool_Check(marked)) {
        return td_stop_unsupported(b, arm, __func__, "a _dynamo_marked_constant that is no bool");
    }
    (*function)->is_constant = marked == Py_True && !TD_PLANT(MARK_FORGOTTEN);
    return td_keep(b, TD_PLANT(LEAKED_REFERENCE) ? Py_NewRef((*function)->fn) : (*function)->fn);
}

static bool
is_function(td_builder_t *b, PyObject *fn)
{
    return PyFunction_Check(fn) || (PyObject *)Py_TYPE(fn) == b->tables.script_function;
}

/* refuse_unwrapped: what stands in the place of the function is none, and the copy that the
   builder makes of the tracker says so. */
static bool
refuse_unwrapped(td_builder_t *b, PyObject *fn)
{
    PyObject *text = NULL; /* owned until kept */

    if (!PyLong_CheckExact(fn) && !PyBool_Check(fn) && !PyFloat_CheckExact(fn) &&
        !PyUnicode_CheckExact(fn) && fn != Py_None) {
        return td_stop_unsupported(b, "L564/ret/reached", __func__,
                                   "a function that is replaced by an object");
    }
    text = PyUnicode_FromFormat("expected FunctionType found %s %S", Py_TYPE(fn)->tp_name, fn);
    return text == NULL
               ? td_stop_python(b)
               : td_keep_steal(b, text) &&
                     td_stop_raise_text(b, "L564/ret/reached", __func__, "AssertionError", text);
}

bool
td_function_copied(td_builder_t *b, td_function_t const *function, PyObject *value, bool given_out)
{
    PyObject *fn = function->fn; /* borrowed */

    if (fn != value && is_function(b, fn)) {
        value = fn;
        fn    = unwrapped(b, fn);
    }
    if (fn == value) {
        return true;
    }
    if (!is_function(b, fn)) {
        return refuse_unwrapped(b, fn);
    }
    return !given_out || td_stop_unsupported(b, "L564/ret/reached", __func__,
                                             "a function in whose place a chain of others stands");
}

/* td_wrap_function mirrors the function branch of _wrap. */
bool
td_wrap_function(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    td_function_t *function = NULL;
    td_guard_id_t  guard    = 0;

    if (!td_make_guards(b, at, TD_GUARD_FUNCTION_MATCH, &guard) ||
        !td_function_variable(b, "L564/ret/reached", value, &function) ||
        !td_function_copied(b, function, value, true)) {
        return false;
    }
    td_var_make(out, TD_CLASS_UserFunctionVariable, guard);
    out->source      = at->id;
    out->of.function = function;
    return true;
}

/* stand_in_source mirrors _traceable_collectives_source: where the stand-in is found. */
static bool
stand_in_source(td_builder_t *b, PyObject *fn, td_at_t *at)
{
    PyObject **root = td_alloc_in(b, sizeof *root);
    PyObject  *path = NULL; /* owned */
    td_at_t    base = {0};
    bool       good = false;

    if (root == NULL) {
        return false;
    }
    *root = b->names.torch;
    base  = td_source_block_add(&b->frame.sources, NULL, TD_SOURCE_CLASS_GlobalSource,
                                TD_PAYLOAD_KEYS, root, NULL, 1, TD_WHERE_GLOBAL);
    path  = PyUnicode_FromFormat("distributed._functional_collectives.%U",
                                 ((PyFunctionObject *)fn)->func_name);
    if (base.id == 0) {
        td_stop_nomem(b);
    } else if (path == NULL) {
        td_stop_python(b);
    } else {
        good = td_source_attr(b, &base, TD_SOURCE_CLASS_AttrSource, path, at);
    }
    Py_XDECREF(path);
    return good;
}

/* td_wrap_collective mirrors the branch of collectives that have a traceable stand-in; the
   builder goes on with the stand-in's source. */
bool
td_wrap_collective(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    PyObject      *fn       = td_stand_in(b, value); /* borrowed */
    td_function_t *function = NULL;
    td_guard_id_t  guard    = 0;
    td_at_t        moved    = {0};

    if (!stand_in_source(b, fn, &moved)) {
        return false;
    }
    b->moved = TD_PLANT(COLLECTIVE_UNMOVED) ? *at : moved;
    if (!td_make_guards(b, &b->moved, TD_GUARD_FUNCTION_MATCH, &guard) ||
        !td_function_variable(b, "L556/ret/reached", fn, &function) || !td_keep(b, value)) {
        return false;
    }
    function->orig_fn     = value;
    function->orig_source = at->id;
    td_var_make(out, TD_CLASS_CollectiveFunctionRewriteVariable, guard);
    out->source      = b->moved.id;
    out->of.function = function;
    return true;
}

/* ---- what torch allows -------------------------------------------------------------- */

/* remapped mirrors tensor_dunder_fns_remap.  Borrowed from the tables. */
static PyObject *
remapped(td_builder_t *b, PyObject *value)
{
    PyObject *remap = b->tables.tensor_dunder_remap; /* borrowed */

    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(remap); i++) {
        PyObject *pair = PyTuple_GET_ITEM(remap, i); /* borrowed */

        if (PyTuple_GET_ITEM(pair, 0) == value && !TD_PLANT(NOT_REMAPPED)) {
            return PyTuple_GET_ITEM(pair, 1);
        }
    }
    return value;
}

static bool
is_torch_module_name(char const *name)
{
    size_t sz = strncmp(name, "torch", 5) == 0 ? 5 : strncmp(name, "math", 4) == 0 ? 4 : 0;

    return sz > 0 && (name[sz] == '.' || name[sz] == '\0');
}

/* has_no_self: an object of C code that looks nowhere but in its class, which has none: asking
   would do nothing but make the AttributeError that says so. */
static bool
has_no_self(td_builder_t *b, PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);

    return type->tp_getattro == PyObject_GenericGetAttr && type->tp_dictoffset == 0 &&
           (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) == 0 &&
           _PyType_Lookup(type, b->names.self) == NULL;
}

/* self_is_fine mirrors the checks on __self__ at the end of TorchVariable's
   constructor; what it would refuse is not there yet. */
static bool
self_is_fine(td_builder_t *b, PyObject *value)
{
    PyObject *self = NULL; /* owned */
    bool      fine = false;

    if (has_no_self(b, value)) {
        return true;
    }
    self = td_call_attr(value, b->names.self);
    if (self == NULL) {
        fine = PyErr_ExceptionMatches(PyExc_AttributeError) ||
               PyErr_ExceptionMatches(PyExc_RuntimeError);
        PyErr_Clear();
        return fine;
    }
    if (PyModule_Check(self)) {
        char const *name = PyModule_GetName(self);

        fine = name != NULL && is_torch_module_name(name);
        PyErr_Clear();
    } else {
        fine = self == Py_None || td_is_a(self, b->tables.capsule) ||
               td_is_a(self, b->tables.generator);
    }
    Py_DECREF(self);
    return fine;
}

bool
td_torch_variable(td_builder_t *b, char const *arm, PyObject **value)
{
    *value = remapped(b, *value);
    return self_is_fine(b, *value) ||
           td_stop_unsupported(b, arm, __func__,
                               "an allowed object whose __self__ TorchVariable refuses");
}

/* td_wrap_torch mirrors the branch of allowed functions, and the entry of the id table
   for Tensor's reflected operators. */
bool
td_wrap_torch(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    int has = 0;

    if (!td_meet_module(b, value)) {
        return false;
    }
    has = td_tables_has(b->tables.user_allowed_ids, value);
    if (has < 0) {
        return td_stop_python(b);
    }
    if (has > 0) {
        b->frame.user_allowed = true;
    }
    return td_torch_variable(b, "L491/ret/reached", &value) &&
           td_point_at(b, at, value, TD_CLASS_TorchVariable, TD_GUARD_FUNCTION_MATCH, true, out);
}

/* ---- skipfiles ------------------------------------------------------------------------ */

/* module_name gives what cls.__module__ gives: a new str, or NULL for none. */
static PyObject *
module_name(td_builder_t *b, PyTypeObject *cls)
{
    PyObject   *module = NULL; /* borrowed */
    char const *dot    = NULL;

    if (cls->tp_flags & Py_TPFLAGS_HEAPTYPE) {
        module = PyDict_GetItemWithError(cls->tp_dict, b->names.module);
        return Py_XNewRef(module);
    }
    dot = strrchr(cls->tp_name, '.');
    return dot == NULL ? PyUnicode_FromString("builtins")
                       : PyUnicode_FromStringAndSize(cls->tp_name, dot - cls->tp_name);
}

/* class_file mirrors inspect.getfile() of a class: *file is borrowed, NULL where it
   raises TypeError.  False: stopped. */
static bool
class_file(td_builder_t *b, PyTypeObject *cls, PyObject **file)
{
    PyObject *name    = module_name(b, cls); /* owned */
    PyObject *module  = NULL;                /* borrowed */
    bool      is_main = false;

    if (name == NULL) {
        return !PyErr_Occurred() || td_stop_python(b);
    }
    if (!PyUnicode_CheckExact(name)) {
        Py_DECREF(name);
        return td_stop_unsupported(b, "L541/if/T", __func__, "a class whose __module__ is no str");
    }
    is_main = PyUnicode_CompareWithASCIIString(name, "__main__") == 0;
    module  = PyDict_GetItemWithError(PyImport_GetModuleDict(), name);
    Py_DECREF(name);
    if (module != NULL && !PyModule_Check(module)) {
        return td_stop_unsupported(b, "L541/if/T", __func__,
                                   "a class of a module that is no module object");
    }
    if (module != NULL) {
        *file = PyDict_GetItemWithError(PyModule_GetDict(module), b->names.file);
    }
    if (*file != NULL && (!PyUnicode_CheckExact(*file) || PyUnicode_GET_LENGTH(*file) == 0)) {
        *file = NULL;
    }
    return *file != NULL || !is_main ||
           td_stop_raise(b, "L541/if/T", __func__, "OSError", "source code not available");
}

/* file_of mirrors getfile() for functions and classes. */
static bool
file_of(td_builder_t *b, PyObject *value, PyObject **file)
{
    *file = NULL;
    if (PyFunction_Check(value)) {
        *file = ((PyCodeObject *)PyFunction_GET_CODE(value))->co_filename;
        return true;
    }
    return class_file(b, (PyTypeObject *)value, file);
}

static int
starts_with(PyObject *text, PyObject *prefix)
{
    return PyUnicode_Tailmatch(text, prefix, 0, PY_SSIZE_T_MAX, -1) == 1;
}

/* check mirrors skipfiles.check(file, allow_torch=True). */
static int
check(td_builder_t *b, PyObject *file)
{
    td_tables_t const *tables  = &b->tables;
    int                allowed = 0;

    if (file == NULL) {
        return 1;
    }
    allowed = PySet_Contains(tables->skip_allowlist, file);
    if (allowed != 0) {
        return allowed < 0 ? -1 : 0;
    }
    if (!starts_with(file, tables->dynamo_dir) && starts_with(file, tables->torch_dir)) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tables->skip_dirs); i++) {
        if (starts_with(file, PyTuple_GET_ITEM(tables->skip_dirs, i))) {
            return !TD_PLANT(NOT_SKIPPED);
        }
    }
    return 0;
}

/* check_once is check for a file that is asked about again and again: functions of one
   file come in a row. */
static int
check_once(td_builder_t *b, PyObject *file)
{
    td_frame_t *frame = &b->frame;

    if (file == NULL || !PyUnicode_CheckExact(file)) {
        return check(b, file);
    }
    if (file != frame->checked_file) {
        int skip = check(b, file);

        if (skip < 0 || !td_keep(b, file)) {
            return -1;
        }
        frame->checked_file = file;
        frame->checked_skip = skip == 1;
    }
    return frame->checked_skip;
}

/* td_is_skipped mirrors the condition of the skipfiles branch. */
int
td_is_skipped(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    PyObject *file    = NULL; /* borrowed */
    PyObject *inline_ = NULL; /* borrowed */
    int       skip    = 0;

    (void)at;
    if (!Py_IS_TYPE(value, &PyType_Type) && !PyFunction_Check(value)) {
        return 0;
    }
    if (!file_of(b, value, &file)) {
        return -1;
    }
    skip = TD_PLANT(ASKS_DYNAMO) ? td_plant_ask(file) : check_once(b, file);
    if (skip < 0 && b->stop.kind == TD_STOP_NONE) {
        td_stop_python(b);
    }
    if (skip != 1) {
        return skip;
    }
    inline_ = td_getattr_static(value, b->names.inline_);
    return inline_ == NULL || PyObject_IsTrue(inline_) == 0;
}
