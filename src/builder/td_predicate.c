/* td_predicate.c: what the rules of the dispatch ask of a value.

   They read types, instance dicts and tables; none changes anything or runs code
   of a class made in Python.  isinstance() is answered by the type alone, which is
   right for all objects that td_is_lying let by. */
#include <string.h>

#include "builder/td_builder_private.h"
#include "py/td_call.h"

/* ---- helpers --------------------------------------------------------------- */

PyObject *
td_getattr_static(PyObject *value, PyObject *name)
{
    PyObject  *found    = NULL;                                 /* borrowed */
    PyObject  *of_class = _PyType_Lookup(Py_TYPE(value), name); /* borrowed */
    PyObject **dict     = NULL;

    if (of_class != NULL && Py_TYPE(of_class)->tp_descr_get != NULL &&
        Py_TYPE(of_class)->tp_descr_set != NULL) {
        return of_class;
    }
    if (PyType_Check(value)) {
        found = _PyType_Lookup((PyTypeObject *)value, name);
        return found != NULL ? found : of_class;
    }
    dict = _PyObject_GetDictPtr(value);
    if (dict != NULL && *dict != NULL) {
        found = PyDict_GetItemWithError(*dict, name); /* a str key: no code runs */
    }
    return found != NULL ? found : of_class;
}

static int
is_literal_atom(PyTypeObject *type)
{
    return type == &PyLong_Type || type == &PyFloat_Type || type == &PyBool_Type ||
           type == Py_TYPE(Py_None) || type == &PyUnicode_Type;
}

int
td_literal(td_builder_t *b, PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    int           is   = 1;

    if (is_literal_atom(type)) {
        return 1;
    }
    if (Py_EnterRecursiveCall(" in is_literal")) {
        td_stop_python(b);
        return -1;
    }
    if (type == &PyTuple_Type || type == &PyList_Type) {
        for (Py_ssize_t i = 0; is == 1 && i < PySequence_Fast_GET_SIZE(value); i++) {
            is = td_literal(b, PySequence_Fast_GET_ITEM(value, i));
        }
    } else if (type == &PySet_Type || type == &PyFrozenSet_Type) {
        PyObject  *item = NULL; /* borrowed */
        Py_ssize_t pos  = 0;
        Py_hash_t  hash = 0;

        while (is == 1 && _PySet_NextEntry(value, &pos, &item, &hash)) {
            is = td_literal(b, item);
        }
    } else {
        is = 0;
    }
    Py_LeaveRecursiveCall();
    return is;
}

int
td_is_parameter(td_builder_t *b, PyObject *value)
{
    if (td_is_a(value, b->tables.parameter)) {
        return 1;
    }
    /* _ParameterMeta.__instancecheck__ also takes tensors marked _is_param; only
       fake tensors and views of parameters made by hand are. */
    if (!td_is_a(value, b->tables.tensor)) {
        return 0;
    }
    return td_getattr_static(value, b->names.is_param) == Py_True;
}

int
td_key_is_tensor(td_builder_t *b, td_at_t const *at, PyObject *key)
{
    td_sources_t const   *sources = &b->frame.sources;
    td_src_block_t const *block   = NULL;
    int                   is      = is_literal_atom(Py_TYPE(key)) ? 0 : td_is_parameter(b, key);

    if (is != 0) {
        return is;
    }
    if (at->cls != TD_SOURCE_CLASS_AttrSource && at->cls != TD_SOURCE_CLASS_ParamBufferSource) {
        return 0;
    }
    block = td_source_block(sources, at->id);
    return PyUnicode_Compare(td_source_key(block, at->id), b->names.state) == 0 &&
           td_source_block(sources, block->base)->cls == TD_SOURCE_CLASS_LocalSource;
}

/* in_tuple looks for an object by identity in a tuple of the tables. */
static int
in_tuple(PyObject *tuple, PyObject *value)
{
    for (Py_ssize_t i = 0; PyTuple_Check(tuple) && i < PyTuple_GET_SIZE(tuple); i++) {
        if (PyTuple_GET_ITEM(tuple, i) == value) {
            return 1;
        }
    }
    return 0;
}

static int
has_id(td_builder_t *b, PyObject *ids, PyObject *value)
{
    int has = td_tables_has(ids, value);

    if (has < 0) {
        td_stop_python(b);
    }
    return has;
}

static int
is_exactly(PyObject *value, PyObject *cls)
{
    return (PyObject *)Py_TYPE(value) == cls;
}

/* A class of a library that is imported or not: sys.modules decides, as the
   import statement in the reference's matcher would.  Borrowed or NULL. */
static PyObject *
class_of_library(char const *module, char const *name)
{
    PyObject *modules = PyImport_GetModuleDict();      /* borrowed */
    PyObject *found   = td_dict_find(modules, module); /* borrowed */
    PyObject *dict =
        found != NULL && PyModule_Check(found) ? PyModule_GetDict(found) : NULL; /* borrowed */

    return dict == NULL ? NULL : td_dict_find(dict, name);
}

#define UNUSED_AT (void)at
#define UNUSED_B  (void)b

/* ---- before the ladder -------------------------------------------------------- */

int
td_is_tensor_dunder(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return in_tuple(b->tables.tensor_dunder_fns, value);
}

/* ---- the ladder ------------------------------------------------------------------ */

int
td_is_traceable_wrapper(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return td_is_a(value, b->tables.tensor) && !is_exactly(value, b->tables.tensor) &&
           td_getattr_static(value, b->names.flatten) != NULL &&
           td_getattr_static(value, b->names.unflatten) != NULL;
}

int
td_is_traceable_subclass(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    int has = 0;

    UNUSED_AT;
    if (PySet_GET_SIZE(b->cfg.traceable_tensor_subclasses) == 0) {
        return 0;
    }
    has = PySet_Contains(b->cfg.traceable_tensor_subclasses, (PyObject *)Py_TYPE(value));
    if (has < 0) {
        td_stop_python(b);
    }
    return has;
}

/* td_is_namedtuple mirrors is_namedtuple_cls: the first base is tuple itself, with
   _make and _fields, or a class of torch.return_types. */
int
td_is_namedtuple(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    PyTypeObject *type   = Py_TYPE(value);
    PyObject     *module = NULL; /* borrowed */

    UNUSED_AT;
    if (!PyTuple_Check(value)) {
        return 0;
    }
    module = PyDict_GetItemWithError(type->tp_dict, b->names.module);
    if (module != NULL && PyUnicode_CheckExact(module) &&
        PyUnicode_CompareWithASCIIString(module, "torch.return_types") == 0) {
        return 1;
    }
    /* A static C class such as those of torch.return_types says its module in its name. */
    if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE) &&
        strncmp(type->tp_name, "torch.return_types.", 19) == 0) {
        return 1;
    }
    return type->tp_bases != NULL && PyTuple_GET_SIZE(type->tp_bases) > 0 &&
           PyTuple_GET_ITEM(type->tp_bases, 0) == (PyObject *)&PyTuple_Type &&
           _PyType_Lookup(type, b->names.make) != NULL &&
           _PyType_Lookup(type, b->names.fields) != NULL;
}

int
td_is_supported_nodes(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return value == b->tables.supported_nodes;
}

int
td_is_sys_modules(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    PyObject *sys = NULL; /* borrowed */

    UNUSED_AT;
    if (b->frame.sys_dict == NULL) { /* PySys_GetObject makes a str for every look */
        sys               = td_dict_find(PyImport_GetModuleDict(), "sys");
        b->frame.sys_dict = sys == NULL || !PyModule_Check(sys) ? NULL : PyModule_GetDict(sys);
    }
    return b->frame.sys_dict != NULL &&
           value == PyDict_GetItemWithError(b->frame.sys_dict, b->names.modules);
}

/* is_dict_key: literals, parameters (or anything below a local's `state`), members
   of an enum. */
static int
is_dict_key(td_builder_t *b, td_at_t const *at, PyObject *key)
{
    int is = td_literal(b, key);

    if (is != 0) {
        return is;
    }
    if (td_is_lying(b, at, key)) {
        return td_lying_key(b, at, key);
    }
    is = td_key_is_tensor(b, at, key);
    return is != 0 ? is : td_is_a(key, b->tables.enum_class);
}

bool
td_hash_is_own(td_builder_t *b, PyObject *key)
{
    PyTypeObject *type = Py_TYPE(key);

    return PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) &&
           type->tp_hash != PyBaseObject_Type.tp_hash && !td_is_a(key, b->tables.tensor) &&
           !td_is_a(key, b->tables.enum_class);
}

/* keys_in_order asks each key of an OrderedDict in its order, which hashes them. */
static int
keys_in_order(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    PyObject *iterator = PyObject_GetIter(value); /* owned; C code, the class is exact */
    PyObject *key      = NULL;                    /* owned */
    int       is       = 1;

    while (is == 1 && iterator != NULL && (key = PyIter_Next(iterator)) != NULL) {
        is = is_dict_key(b, at, key);
        Py_DECREF(key);
    }
    Py_XDECREF(iterator);
    if (PyErr_Occurred()) {
        td_stop_passing(b, "L414/bool/all=F", __func__);
        return -1;
    }
    return is;
}

int
td_is_dict_like(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    PyObject  *key = NULL; /* borrowed from value; nothing below runs code that could change it */
    Py_ssize_t pos = 0;
    bool       is_ordered = is_exactly(value, b->tables.ordered_dict);

    if (!PyDict_CheckExact(value) && !is_exactly(value, b->tables.default_dict) && !is_ordered) {
        return 0;
    }
    while (PyDict_Next(value, &pos, &key, NULL)) {
        int is = 0;

        if (is_ordered && !is_literal_atom(Py_TYPE(key))) {
            return keys_in_order(b, at, value);
        }
        is = is_dict_key(b, at, key);
        if (is != 1) {
            return is;
        }
    }
    return 1;
}

int
td_is_module(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return td_is_a(value, b->tables.module);
}

int
td_is_set_literal(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return td_literal(b, value);
}

int
td_is_allowed_frozenset(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    PyObject  *item = NULL; /* borrowed */
    Py_ssize_t pos  = 0;
    Py_hash_t  hash = 0;

    if (!PyFrozenSet_CheckExact(value)) {
        return 0;
    }
    while (_PySet_NextEntry(value, &pos, &item, &hash)) {
        int is = td_is_lying(b, at, item) ? td_lying_allowed(b, item) : td_is_allowed(b, at, item);

        is = is == 0 ? td_literal(b, item) : is;
        if (is != 1) {
            return is;
        }
    }
    return 1;
}

int
td_is_enum(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return td_is_a(value, b->tables.enum_class);
}

int
td_is_builtin_callable(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return has_id(b, b->tables.builtin_ids, value);
}

int
td_is_checkpoint(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return value == b->tables.checkpoint;
}

/* td_is_allowed mirrors allowed_functions.is_allowed. */
int
td_is_allowed(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    int has = 0;

    UNUSED_AT;
    if (!td_meet_module(b, value)) {
        return -1;
    }
    has = has_id(b, b->tables.disallowed_ids, value);
    if (has != 0) {
        return has < 0 ? -1 : 0;
    }
    has = has_id(b, b->tables.allowed_ids, value);
    if (has != 0) {
        return has;
    }
    return td_is_a(value, b->tables.op_overload_packet) || td_is_a(value, b->tables.op_overload) ||
           td_is_a(value, b->tables.op_namespace);
}

int
td_is_partial(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return td_is_a(value, b->tables.partial);
}

int
td_is_typing(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return td_is_a(value, b->tables.special_generic_alias) ||
           td_is_a(value, b->tables.union_generic_alias);
}

int
td_is_numpy(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    if (b->tables.ndarray == Py_None) {
        return 0;
    }
    return td_is_a(value, b->tables.ndarray) ? 1 : has_id(b, b->tables.numpy_ids, value);
}

PyObject *
td_stand_in(td_builder_t *b, PyObject *value)
{
    PyObject *pairs = b->tables.collectives; /* borrowed */

    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(pairs); i++) {
        PyObject *pair = PyTuple_GET_ITEM(pairs, i); /* borrowed */

        if (PyTuple_GET_ITEM(pair, 0) == value) {
            return PyTuple_GET_ITEM(pair, 1);
        }
    }
    return NULL;
}

int
td_is_collective(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return td_stand_in(b, value) != NULL;
}

int
td_is_function(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    UNUSED_B;
    return PyFunction_Check(value);
}

int
td_is_script_function(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return is_exactly(value, b->tables.script_function);
}

int
td_is_pymodule(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    UNUSED_B;
    return PyModule_CheckExact(value);
}

int
td_is_dummy_module(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return is_exactly(value, b->tables.dummy_module);
}

int
td_is_autograd_function(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return is_exactly(value, b->tables.function_meta);
}

int
td_is_autograd_context(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return td_is_a(value, b->tables.function_ctx);
}

/* same_method mirrors value == other for a bound method, which compares functions; as
   with lists, what is identical is equal without being asked. */
static int
same_method(PyObject *value, PyObject *other)
{
    if (!PyMethod_Check(other) || PyMethod_GET_SELF(value) != PyMethod_GET_SELF(other)) {
        return 0;
    }
    return PyObject_RichCompareBool(PyMethod_GET_FUNCTION(value), PyMethod_GET_FUNCTION(other),
                                    Py_EQ);
}

/* td_is_autograd_apply: a class may have another `apply` by now than the one that was
   bound, so it is asked, as the reference does. */
int
td_is_autograd_apply(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    PyObject *other = NULL; /* owned */
    PyObject *name  = NULL; /* owned */
    int       is    = 0;

    UNUSED_AT;
    if (!PyMethod_Check(value) || !is_exactly(PyMethod_GET_SELF(value), b->tables.function_meta)) {
        return 0;
    }
    name = td_call_attr(PyMethod_GET_FUNCTION(value), b->names.name);
    if (name != NULL && PyUnicode_Check(name) && PyUnicode_Compare(name, b->names.apply) == 0) {
        other = td_call_attr(PyMethod_GET_SELF(value), b->names.apply);
        is    = other == NULL ? 0 : same_method(value, other);
    }
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
    }
    Py_XDECREF(name);
    Py_XDECREF(other);
    if (PyErr_Occurred()) {
        td_stop_passing(b, "L592/if/F", __func__);
        return -1;
    }
    return is;
}

int
td_is_np_number(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return b->tables.np_number != Py_None && td_is_a(value, b->tables.np_number);
}

int
td_is_model_output(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    PyObject *cls = class_of_library("transformers.file_utils", "ModelOutput"); /* borrowed */

    UNUSED_AT;
    UNUSED_B;
    return cls != NULL && PyType_Check(cls) && td_is_a(value, cls);
}

int
td_is_pretrained_config(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    PyObject *cls =
        class_of_library("transformers.configuration_utils", "PretrainedConfig"); /* borrowed */

    UNUSED_AT;
    UNUSED_B;
    return cls != NULL && PyType_Check(cls) && td_is_a(value, cls);
}

int
td_is_higher_order(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return td_is_a(value, b->tables.higher_order_operator);
}

int
td_is_generator_method(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    PyObject *self =
        PyCFunction_CheckExact(value) ? PyCFunction_GET_SELF(value) : NULL; /* borrowed */

    UNUSED_AT;
    return self != NULL && td_is_a(self, b->tables.generator);
}

int
td_is_stream(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return td_is_a(value, b->tables.stream);
}

int
td_is_traceable_class(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    int has = 0;

    UNUSED_AT;
    if (!td_is_a(value, b->tables.tensor_meta) ||
        PySet_GET_SIZE(b->cfg.traceable_tensor_subclasses) == 0) {
        return 0;
    }
    has = PySet_Contains(b->cfg.traceable_tensor_subclasses, value);
    if (has < 0) {
        td_stop_python(b);
    }
    return has;
}

int
td_is_module_method(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return PyMethod_Check(value) && td_is_a(PyMethod_GET_SELF(value), b->tables.module);
}

int
td_is_nullcontext(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    PyObject *result = NULL; /* borrowed */

    UNUSED_AT;
    if (!is_exactly(value, b->tables.nullcontext)) {
        return 0;
    }
    result = td_getattr_static(value, b->names.enter_result);
    return result == NULL || result == Py_None;
}

int
td_is_keyed_jagged(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    PyObject *cls =
        class_of_library("torchrec.sparse.jagged_tensor", "KeyedJaggedTensor"); /* borrowed */

    UNUSED_AT;
    UNUSED_B;
    return cls != NULL && is_exactly(value, cls);
}

int
td_is_getset(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    UNUSED_B;
    return Py_IS_TYPE(value, &PyGetSetDescr_Type);
}

int
td_is_method_wrapper(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    UNUSED_B;
    return Py_IS_TYPE(value, &_PyMethodWrapper_Type);
}

int
td_is_optimizer(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return td_is_a(value, b->tables.optimizer);
}

int
td_is_process_group(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return is_exactly(value, b->tables.process_group);
}

int
td_is_device_mesh(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return is_exactly(value, b->tables.device_mesh);
}

int
td_is_placement_class(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return b->tables.placement != Py_None && Py_IS_TYPE(value, &PyType_Type) &&
           PyType_IsSubtype((PyTypeObject *)value, (PyTypeObject *)b->tables.placement);
}

int
td_is_placement(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return is_exactly(value, b->tables.placement);
}

int
td_is_class(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    UNUSED_B;
    return PyType_Check(value);
}

int
td_is_sym_bool(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    return td_is_a(value, b->tables.sym_bool);
}

int
td_has_plain_setattr(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    PyObject *own = _PyType_Lookup(Py_TYPE(value), b->names.setattr); /* borrowed */

    UNUSED_AT;
    return own == b->tables.object_setattr || own == b->tables.module_setattr;
}

int
td_is_anything(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    UNUSED_AT;
    UNUSED_B;
    (void)value;
    return 1;
}
