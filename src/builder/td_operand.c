/* td_operand.c: trackers and objects as arguments of a node. */
#include "builder/td_operand.h"

#include <string.h>

#include "py/td_call.h"

/* ---- references to earlier roots ------------------------------------------------- */

/* missing raises what the harness raises for a root that gave no tracker. */
static bool
missing(td_builder_t *b, PyObject *index)
{
    PyObject *text = PyUnicode_FromFormat("step %R of the frame gave no tracker", index);

    if (text == NULL) {
        return td_stop_python(b);
    }
    return td_keep_steal(b, text) &&
           td_stop_raise_text(b, "L1300/fn/entered", __func__,
                              "tandem.oracle.context.MissingOperand", text);
}

/* A context's operands are told by their nodes. */
static bool
is_reference(td_builder_t *b, PyObject *arg)
{
    PyObject *word = PyTuple_CheckExact(arg) && PyTuple_GET_SIZE(arg) == 2
                         ? PyTuple_GET_ITEM(arg, 0)
                         : Py_None; /* borrowed */

    return b->context == NULL && PyUnicode_CheckExact(word) &&
           PyUnicode_CompareWithASCIIString(word, "ref") == 0;
}

bool
td_operand_step(td_builder_t *b, PyObject *arg, td_var_t **found)
{
    PyObject *index = NULL; /* borrowed */
    size_t    step  = SIZE_MAX;

    *found = NULL;
    if (!is_reference(b, arg)) {
        return true;
    }
    index = PyTuple_GET_ITEM(arg, 1);
    if (PyLong_CheckExact(index)) {
        step = PyLong_AsSize_t(index);
        PyErr_Clear();
    }
    for (uint32_t i = 0; step != SIZE_MAX && i < b->frame.roots.cnt; i++) {
        td_root_t const *root = &b->frame.roots.at[i];

        if (root->step_idx == step && root->kind == TD_ROOT_TRACKER && root->var != NULL) {
            *found = root->var;
            return true;
        }
    }
    return missing(b, index);
}

/* ---- as_proxy ------------------------------ */

static char const here[] = "L1300/fn/entered";

/* refuse_as refuses in text (stolen; NULL: an exception is set). */
static PyObject *
refuse_as(td_builder_t *b, char const *function, PyObject *text)
{
    if (text == NULL) {
        td_stop_python(b);
    } else if (td_keep_steal(b, text)) {
        td_stop_raise_text(b, here, function, "NotImplementedError", text);
    }
    return NULL;
}

static PyObject *
refuse(td_builder_t *b, td_var_t const *var)
{
    return refuse_as(b, __func__,
                     PyUnicode_FromFormat("%s()", td_class_name((td_class_t)var->cls)));
}

static PyObject *
items_proxy(td_builder_t *b, td_items_t *items)
{
    PyObject *list = PyList_New(items->cnt); /* owned, returned */

    if (list == NULL) {
        td_stop_python(b);
        return NULL;
    }
    for (uint32_t i = 0; i < items->cnt; i++) {
        PyObject *item = td_operand_proxy(b, &items->items[i]); /* owned, stolen by the list */

        if (item == NULL) {
            Py_DECREF(list);
            return NULL;
        }
        PyList_SET_ITEM(list, i, item);
    }
    return list;
}

/* of_class makes what the tracker's class makes of its items (stolen): a call of
   list, tuple, range or slice. */
static PyObject *
of_class(td_builder_t *b, td_class_t cls, PyObject *items)
{
    PyObject *made = NULL; /* owned, returned */
    PyObject *args = NULL; /* owned */

    if (cls == TD_CLASS_ListVariable || cls == TD_CLASS_SetVariable) {
        return items;
    }
    args = PyList_AsTuple(items);
    Py_DECREF(items);
    if (args == NULL || cls == TD_CLASS_TupleVariable) {
        return args;
    }
    made = td_call(cls == TD_CLASS_RangeVariable ? (PyObject *)&PyRange_Type
                                                 : (PyObject *)&PySlice_Type,
                   PySequence_Fast_ITEMS(args), (size_t)PyTuple_GET_SIZE(args));
    Py_DECREF(args);
    if (made == NULL) {
        td_stop_passing(b, here, __func__);
    }
    return made;
}

/* size_proxy: a Size without graph numbers is one again. */
static PyObject *
size_proxy(td_builder_t *b, td_var_t *var)
{
    td_items_t *list  = var->of.list;
    PyObject   *items = NULL; /* owned */
    PyObject   *made  = NULL; /* owned, returned */

    if (list->node != NULL) {
        return td_value_new(b, TD_VALUE_NODE, list->node);
    }
    items = items_proxy(b, list);
    for (Py_ssize_t i = 0; items != NULL && i < PyList_GET_SIZE(items); i++) {
        if (!PyLong_CheckExact(PyList_GET_ITEM(items, i))) {
            Py_CLEAR(items);
            td_stop_unsupported(b, here, __func__, "a Size of symbolic numbers as an argument");
        }
    }
    made = items == NULL ? NULL : PyObject_CallOneArg(b->tables.size, items);
    Py_XDECREF(items);
    if (made == NULL && b->stop.kind == TD_STOP_NONE) {
        td_stop_python(b);
    }
    return made;
}

static PyObject *
dict_proxy(td_builder_t *b, td_dict_t *dict)
{
    PyObject *made = PyDict_New(); /* owned, returned */

    for (uint32_t i = 0; made != NULL && i < dict->cnt; i++) {
        PyObject *item = td_operand_proxy(b, &dict->items[i]); /* owned */

        if (item == NULL || PyDict_SetItem(made, dict->keys[i], item) < 0) {
            Py_CLEAR(made);
        }
        Py_XDECREF(item);
    }
    if (made == NULL && b->stop.kind == TD_STOP_NONE) {
        td_stop_python(b);
    }
    return made;
}

/* refuse_named refuses a tracker that says what it holds: `name` (stolen; NULL: failed). */
static PyObject *
refuse_named(td_builder_t *b, td_var_t const *var, PyObject *name)
{
    PyObject *text =
        name == NULL ? NULL
                     : PyUnicode_FromFormat("%s(%U)", td_class_name((td_class_t)var->cls), name);

    Py_XDECREF(name);
    return refuse_as(b, __func__, text);
}

/* own_name gives (owned) what builtins and descriptors are called; NULL: it is none of them,
   or an exception is set. */
static PyObject *
own_name(PyObject *value)
{
    if (PyCFunction_CheckExact(value)) {
        return PyUnicode_FromString(((PyCFunctionObject *)value)->m_ml->ml_name);
    }
    return Py_IS_TYPE(value, &PyGetSetDescr_Type) || Py_IS_TYPE(value, &PyMethodDescr_Type)
               ? Py_NewRef(PyDescr_NAME(value))
               : NULL;
}

/* refuse_object: the tracker of an object says what its class is called, or the object. */
static PyObject *
refuse_object(td_builder_t *b, td_var_t const *var)
{
    PyTypeObject *type = var->of.value == NULL ? NULL : Py_TYPE(var->of.value);
    PyObject     *name = type == NULL ? NULL : own_name(var->of.value); /* owned, stolen */

    if (TD_PLANT(OBJECT_UNNAMED)) {
        Py_XDECREF(name);
        return refuse(b, var);
    }
    if (name != NULL || PyErr_Occurred()) {
        return refuse_named(b, var, name);
    }
    if (type == NULL || Py_TYPE(type) != &PyType_Type || type == &PyMethod_Type) {
        td_stop_unsupported(b, here, __func__, "a tracker that spells its object");
        return NULL;
    }
    return refuse_named(b, var, PyType_GetName(type));
}

/* dtype_named gives (owned) a dtype of torch's by its name; NULL, with an exception or not. */
static PyObject *
dtype_named(char const *text)
{
    PyObject *name  = PyUnicode_FromString("torch");                  /* owned */
    PyObject *torch = name == NULL ? NULL : PyImport_GetModule(name); /* owned */
    PyObject *dtype = torch == NULL ? NULL : PyObject_GetAttrString(torch, text);

    Py_XDECREF(torch);
    Py_XDECREF(name);
    return dtype;
}

/* builtin_proxy: Python's sorts of numbers are torch's, anything else is refused by name. */
static PyObject *
builtin_proxy(td_builder_t *b, td_var_t const *var)
{
    PyObject   *fn    = var->of.value; /* borrowed */
    char const *dtype = fn == (PyObject *)&PyBool_Type    ? "bool"
                        : fn == (PyObject *)&PyLong_Type  ? "int64"
                        : fn == (PyObject *)&PyFloat_Type ? "float64"
                                                          : NULL;
    PyObject   *name  = NULL; /* owned, stolen */

    if (dtype != NULL) {
        return dtype_named(dtype);
    }
    if (PyType_Check(fn) && Py_TYPE(fn) == &PyType_Type) {
        return refuse_named(b, var, PyType_GetName((PyTypeObject *)fn));
    }
    name = own_name(fn);
    if (name != NULL || PyErr_Occurred()) {
        return refuse_named(b, var, name);
    }
    td_stop_unsupported(b, here, __func__, "a builtin that says itself what it is called");
    return NULL;
}

/* made_of calls a class with the list of arguments: a deque is made, and is no argument itself;
   a named tuple of more than one field is not. */
static PyObject *
made_of(td_builder_t *b, td_var_t *var, PyObject *cls)
{
    PyObject *items = items_proxy(b, var->of.list); /* owned */
    PyObject *made  = NULL;                         /* owned, returned */

    if (items != NULL) {
        made = td_call(cls, &items, 1);
        Py_DECREF(items);
    }
    if (made == NULL && b->stop.kind == TD_STOP_NONE) {
        td_stop_passing(b, here, __func__);
    }
    return made;
}

/* other_proxy: trackers that say in their own words that they are no argument. */
static PyObject *
other_proxy(td_builder_t *b, td_var_t *var)
{
    switch ((td_class_t)var->cls) {
    case TD_CLASS_UserFunctionVariable:
    case TD_CLASS_UserDefinedClassVariable:
    case TD_CLASS_PythonModuleVariable:
    case TD_CLASS_SkipFilesVariable:
    case TD_CLASS_TypingVariable:
    case TD_CLASS_TupleIteratorVariable:
    case TD_CLASS_MethodWrapperVariable:
    case TD_CLASS_NNModuleVariable:
    case TD_CLASS_FunctoolsPartialVariable:
    case TD_CLASS_AutogradFunctionVariable:
    case TD_CLASS_GetSetDescriptorVariable:
    case TD_CLASS_TensorWithTFOverrideVariable:
    case TD_CLASS_TensorSubclassVariable:
    case TD_CLASS_NullContextVariable:
    case TD_CLASS_ComptimeVariable:
    case TD_CLASS_InspectSignatureVariable:
    case TD_CLASS_LambdaVariable:
    case TD_CLASS_CollectiveFunctionRewriteVariable:
    case TD_CLASS_PlacementClassVariable:
    case TD_CLASS_PlacementVariable:
    case TD_CLASS_DeviceMeshVariable:
    case TD_CLASS_ProcessGroupVariable:
    case TD_CLASS_HFPretrainedConfigVariable:
    case TD_CLASS_CondHigherOrderVariable:
    case TD_CLASS_MapHigherOrderVariable:
    case TD_CLASS_WrapHigherOrderVariable:
    case TD_CLASS_OutDtypeHigherOrderVariable:
    case TD_CLASS_CheckpointHigherOrderVariable:
        return refuse(b, var);
    case TD_CLASS_UserDefinedObjectVariable:
    case TD_CLASS_UnspecializedNNModuleVariable:
    case TD_CLASS_FSDPManagedNNModuleVariable:
    case TD_CLASS_OptimizerVariable:
        return refuse_object(b, var);
    case TD_CLASS_BuiltinVariable:
        return builtin_proxy(b, var);
    case TD_CLASS_DequeVariable:
        return made_of(b, var, b->tables.deque);
    case TD_CLASS_NamedTupleVariable:
        return made_of(b, var, var->of.list->cls);
    default:
        break;
    }
    td_stop_unsupported(b, here, __func__, "a tracker of this class as an argument");
    return NULL;
}

PyObject *
td_operand_proxy(td_builder_t *b, td_var_t *var)
{
    PyObject *items = NULL; /* owned, given on */

    var = td_var_target(var);
    switch ((td_class_t)var->cls) {
    case TD_CLASS_TensorVariable:
    case TD_CLASS_NumpyNdarrayVariable:
    case TD_CLASS_UnspecializedPythonVariable:
        return td_value_new(b, TD_VALUE_NODE, var->of.tensor->node);
    case TD_CLASS_SymNodeVariable:
        return td_value_new(b, TD_VALUE_NODE, var->of.sym->node);
    case TD_CLASS_ConstantVariable:
    case TD_CLASS_EnumVariable:
    case TD_CLASS_TorchVariable:
        return Py_NewRef(var->of.value == NULL ? Py_None : var->of.value);
    case TD_CLASS_ListVariable:
    case TD_CLASS_SetVariable:
    case TD_CLASS_TupleVariable:
    case TD_CLASS_RangeVariable:
    case TD_CLASS_SliceVariable:
        items = items_proxy(b, var->of.list);
        return items == NULL ? NULL : of_class(b, (td_class_t)var->cls, items);
    case TD_CLASS_SizeVariable:
        return size_proxy(b, var);
    case TD_CLASS_ConstDictVariable:
    case TD_CLASS_DefaultDictVariable:
        return dict_proxy(b, var->of.dict);
    default:
        return other_proxy(b, var);
    }
}

/* ---- create_arg ------------------------------ */

static bool
is_named_tuple(td_builder_t *b, PyObject *value)
{
    return PyTuple_Check(value) && _PyType_Lookup(Py_TYPE(value), b->names.fields) != NULL;
}

/* is_base: what is an argument as it is. */
static bool
is_base(td_builder_t *b, PyObject *value)
{
    return PyUnicode_Check(value) || PyLong_Check(value) || PyFloat_Check(value) ||
           PyComplex_Check(value) || value == Py_None || value == Py_Ellipsis ||
           td_is_a(value, b->tables.dtype) || td_is_a(value, b->tables.device) ||
           td_is_a(value, b->tables.op_overload) ||
           Py_TYPE(value) == Py_TYPE(PyTuple_GET_ITEM(b->tables.memory_formats, 0)) ||
           strcmp(Py_TYPE(value)->tp_name, "torch.layout") == 0;
}

static PyObject *
sequence_arg(td_builder_t *b, PyObject *value)
{
    Py_ssize_t cnt  = PySequence_Fast_GET_SIZE(value);
    PyObject  *made = PyList_Check(value) ? PyList_New(cnt) : PyTuple_New(cnt); /* owned */

    for (Py_ssize_t i = 0; made != NULL && i < cnt; i++) {
        PyObject *item = td_operand_arg(b, PySequence_Fast_GET_ITEM(value, i)); /* owned, stolen */

        if (item == NULL) {
            Py_CLEAR(made);
        } else if (PyList_CheckExact(made)) {
            PyList_SET_ITEM(made, i, item);
        } else {
            PyTuple_SET_ITEM(made, i, item);
        }
    }
    return made;
}

/* key_arg: a key is made anew and keeps its class, and so are the tuples in it. */
static PyObject *
key_arg(td_builder_t *b, PyObject *key)
{
    PyObject *arg = td_operand_arg(b, key); /* owned, returned */

    if (arg != NULL && PyTuple_Check(key) && !PyTuple_CheckExact(key)) {
        PyObject *size = PyObject_CallOneArg(b->tables.size, arg); /* owned, returned */

        Py_DECREF(arg);
        return size; /* another Size, which holds ints alone */
    }
    for (Py_ssize_t i = 0; arg != NULL && PyTuple_Check(key) && i < PyTuple_GET_SIZE(key); i++) {
        PyObject *item = PyTuple_GET_ITEM(key, i); /* borrowed */

        if (PyTuple_Check(item)) {
            item = key_arg(b, item);
            if (item == NULL) {
                Py_CLEAR(arg);
            } else {
                PyTuple_SetItem(arg, i, item);
            }
        }
    }
    return arg;
}

static PyObject *
dict_arg(td_builder_t *b, PyObject *value)
{
    PyObject *pairs = td_value_items(value);               /* owned */
    PyObject *made  = pairs == NULL ? NULL : PyDict_New(); /* owned, returned */

    for (Py_ssize_t i = 0; made != NULL && i < PyList_GET_SIZE(pairs); i++) {
        PyObject *pair = PyList_GET_ITEM(pairs, i);             /* borrowed */
        PyObject *key  = key_arg(b, PyTuple_GET_ITEM(pair, 0)); /* owned */
        PyObject *item = key == NULL ? NULL : td_operand_arg(b, PyTuple_GET_ITEM(pair, 1));

        if (item == NULL || PyDict_SetItem(made, key, item) < 0) {
            Py_CLEAR(made);
        }
        Py_XDECREF(key);
        Py_XDECREF(item);
    }
    Py_XDECREF(pairs);
    return made;
}

/* parts_arg: slices and ranges are taken apart and made again. */
static PyObject *
parts_arg(td_builder_t *b, PyObject *value)
{
    PyObject *const names[] = {b->names.start, b->names.stop, b->names.step};
    PyObject       *args    = PyTuple_New(3); /* owned */
    PyObject       *made    = NULL;           /* owned, returned */

    for (Py_ssize_t i = 0; args != NULL && i < 3; i++) {
        PyObject *part = td_call_attr(value, names[i]); /* owned */
        PyObject *arg  = part == NULL ? NULL : td_operand_arg(b, part);

        Py_XDECREF(part);
        if (arg == NULL) {
            Py_CLEAR(args);
        } else {
            PyTuple_SET_ITEM(args, i, arg);
        }
    }
    if (args != NULL) {
        made = td_call((PyObject *)Py_TYPE(value), PySequence_Fast_ITEMS(args), 3);
        Py_DECREF(args);
    }
    return made;
}

static PyObject *
refuse_arg(td_builder_t *b, PyObject *value)
{
    PyTypeObject *meta = Py_TYPE(Py_TYPE(value));

    if (meta->tp_repr != PyType_Type.tp_repr || meta->tp_str != PyType_Type.tp_str) {
        td_stop_unsupported(b, here, __func__, "a class that spells itself");
        return NULL;
    }
    return refuse_as(b, __func__,
                     PyUnicode_FromFormat("argument of type: %R", (PyObject *)Py_TYPE(value)));
}

/* answers_itself: an attribute that the class does not have is asked of its code. */
static bool
answers_itself(td_builder_t *b, PyObject *value)
{
    static td_at_t const nowhere;

    return td_is_lying(b, &nowhere, value) != 0 ||
           ((Py_TYPE(value)->tp_flags & Py_TPFLAGS_HEAPTYPE) &&
            Py_TYPE(value)->tp_getattro != PyObject_GenericGetAttr &&
            Py_TYPE(value)->tp_getattro != PyType_Type.tp_getattro &&
            !td_is_a(value, b->tables.tensor) && !td_is_a(value, b->tables.module));
}

/* strange: what this builder does not turn into an argument. */
static char const *
strange(td_builder_t *b, PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);

    if (answers_itself(b, value)) {
        return "an argument whose class answers for its attributes itself";
    }
    if (is_named_tuple(b, value)) {
        return "a named tuple as an argument";
    }
    if ((PyTuple_Check(value) && (type->tp_flags & Py_TPFLAGS_HEAPTYPE) &&
         type != (PyTypeObject *)b->tables.size) ||
        (PyList_Check(value) && !PyList_CheckExact(value)) ||
        (PyDict_Check(value) && (type->tp_flags & Py_TPFLAGS_HEAPTYPE))) {
        return "a container of a class of its own as an argument";
    }
    if (td_getattr_static(value, b->names.dataclass_fields) != NULL) {
        return "a dataclass as an argument";
    }
    return td_getattr_static(value, b->names.create_arg) != NULL
               ? "an argument that makes itself one"
               : NULL;
}

/* module_asked: a Python module with a __getattr__ of its own is asked whether it makes
   itself an argument, which that function answers. */
static bool
module_asked(td_builder_t *b, PyObject *value)
{
    PyObject *got = NULL; /* owned */

    if (!PyModule_Check(value) ||
        PyDict_GetItemWithError(PyModule_GetDict(value), b->names.getattr) == NULL) {
        return true;
    }
    got = td_call_attr(value, b->names.create_arg);
    if (got != NULL) {
        Py_DECREF(got);
        return td_stop_unsupported(b, here, __func__, "a module that makes itself an argument");
    }
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
        return td_stop_passing(b, here, __func__);
    }
    PyErr_Clear();
    return true;
}

static PyObject *
arg_of(td_builder_t *b, PyObject *value)
{
    char const *why = NULL;

    if (td_value_is(value)) {
        return Py_NewRef(value);
    }
    if (!answers_itself(b, value) &&
        (td_is_a(value, b->tables.tensor) || td_is_a(value, b->tables.module))) {
        /* Such a thing is looked for in the tracer's module, and this one has none. */
        td_stop_raise(b, here, __func__, "AttributeError",
                      "'SubgraphTracer' object has no attribute 'root'");
        return NULL;
    }
    why = strange(b, value);
    if (why != NULL) {
        td_stop_unsupported(b, here, __func__, why);
        return NULL;
    }
    if (!module_asked(b, value)) {
        return NULL;
    }
    if (PyTuple_Check(value) || PyList_Check(value)) {
        return sequence_arg(b, value);
    }
    if (PyDict_Check(value)) {
        return dict_arg(b, value);
    }
    if (PySlice_Check(value) || PyRange_Check(value)) {
        return parts_arg(b, value);
    }
    return is_base(b, value) ? Py_NewRef(value) : refuse_arg(b, value);
}

PyObject *
td_operand_arg(td_builder_t *b, PyObject *value)
{
    PyObject *made = NULL; /* owned, returned */

    if (Py_EnterRecursiveCall(" in create_arg")) {
        PyErr_Clear();
        td_stop_unsupported(b, here, __func__, "arguments so deep");
        return NULL;
    }
    made = arg_of(b, value);
    Py_LeaveRecursiveCall();
    if (made == NULL && b->stop.kind == TD_STOP_NONE) {
        td_stop_python(b);
    }
    return made;
}
