/* td_canon_named.c: objects that have a name: classes, functions, methods, ... */
#include <string.h>

#include "observe/td_forms.h"
#include "py/td_canon.h"
#include "py/td_canon_parts.h"
#include "py/td_state.h"

/* ---- finding again ------------------------------------------------------- */

/* One step of a qualified name: borrowed, NULL when there is nothing. */
static PyObject *
canon_member(PyObject *owner, PyObject *name)
{
    PyObject *dict = NULL; /* borrowed */

    if (PyModule_Check(owner)) {
        dict = PyModule_GetDict(owner);
    } else if (PyType_Check(owner)) {
        dict = ((PyTypeObject *)owner)->tp_dict;
    }
    return td_canon_get(dict, name);
}

/* A static or class method in a class's dict stands for its function. */
static PyObject *
canon_unwrapped(PyObject *found)
{
    PyObject *function;

    if (!Py_IS_TYPE(found, &PyStaticMethod_Type) && !Py_IS_TYPE(found, &PyClassMethod_Type)) {
        return found;
    }
    function = PyObject_GetAttrString(found, "__func__"); /* a C member */
    if (function == NULL) {
        PyErr_Clear();
        return NULL;
    }
    Py_DECREF(function); /* found keeps it */
    return function;
}

static PyObject *
canon_find_dotted(PyObject *owner, PyObject *qualname)
{
    Py_ssize_t len   = PyUnicode_GET_LENGTH(qualname);
    Py_ssize_t start = 0;

    while (owner != NULL && start <= len) {
        Py_ssize_t dot  = PyUnicode_FindChar(qualname, '.', start, len, 1);
        Py_ssize_t end  = dot < 0 ? len : dot;
        PyObject  *name = PyUnicode_Substring(qualname, start, end);

        if (name == NULL) {
            PyErr_Clear();
            return NULL;
        }
        owner = canon_member(owner, name);
        Py_DECREF(name);
        if (owner != NULL) {
            owner = canon_unwrapped(owner);
        }
        start = end + 1;
    }
    return owner;
}

PyObject *
td_canon_find(PyObject *module_name, PyObject *qualname)
{
    PyObject *module;

    if (!PyUnicode_CheckExact(module_name) || !PyUnicode_CheckExact(qualname)) {
        return NULL;
    }
    module = td_canon_get(PyImport_GetModuleDict(), module_name);
    if (module == NULL) {
        return NULL;
    }
    if (PyUnicode_FindChar(qualname, '.', 0, PyUnicode_GET_LENGTH(qualname), 1) < 0) {
        return canon_member(module, qualname);
    }
    return canon_find_dotted(module, qualname);
}

/* ["global", module, qualname] when exactly value is found there. */
static td_val_t
canon_global(td_canon_t *canon, PyObject *value, PyObject *module_name, PyObject *qualname)
{
    char const *module, *name;

    if (module_name == NULL || qualname == NULL || td_canon_find(module_name, qualname) != value) {
        return TD_VAL_NONE;
    }
    module = PyUnicode_AsUTF8(module_name);
    name   = PyUnicode_AsUTF8(qualname);
    if (module == NULL || name == NULL) {
        PyErr_Clear();
        return TD_VAL_NONE;
    }
    return td_form_global(canon->obs, module, name);
}

/* ---- classes ------------------------------------------------------------- */

static td_val_t
canon_static_type(td_canon_t *canon, PyTypeObject *type)
{
    char const *dot = strrchr(type->tp_name, '.');
    char        module[256];
    size_t      sz;

    if (dot == NULL) {
        return td_form_class(canon->obs, "builtins", type->tp_name);
    }
    sz = (size_t)(dot - type->tp_name);
    sz = sz < sizeof(module) ? sz : sizeof(module) - 1;
    memcpy(module, type->tp_name, sz);
    module[sz] = 0;
    return td_form_class(canon->obs, module, dot + 1);
}

enum { CANON_LOCAL_CLASS_CNT = 4 }; /* ["local-class", module, qualname, ordinal] */

static td_val_t
canon_local_type(td_canon_t *canon, PyTypeObject *type, PyObject *module, PyObject *qualname)
{
    td_val_t vals[CANON_LOCAL_CLASS_CNT];

    vals[0] = td_obs_cstr(canon->obs, "local-class");
    vals[1] = module != NULL && PyUnicode_Check(module) ? td_canon_str(canon, module)
                                                        : td_obs_null(canon->obs);
    vals[2] = td_canon_str(canon, qualname);
    vals[3] = td_canon_ordinal(canon, type);
    return td_obs_list(canon->obs, vals, CANON_LOCAL_CLASS_CNT);
}

td_val_t
td_canon_type(td_canon_t *canon, PyTypeObject *type)
{
    td_val_t val = td_canon_type_name(canon, type);
    uint32_t ordinal;

    if (td_obs_get_cnt(canon->obs, val) == CANON_LOCAL_CLASS_CNT &&
        td_obs_find_ordinal(canon->obs, TD_SPACE_OBJECT, type, &ordinal) &&
        ordinal < canon->object_cnt) {
        return td_form_object(canon->obs, ordinal);
    }
    return val;
}

td_val_t
td_canon_type_name(td_canon_t *canon, PyTypeObject *type)
{
    PyObject   *qualname, *module; /* borrowed */
    char const *module_text, *name;

    if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0) {
        return canon_static_type(canon, type);
    }
    qualname = ((PyHeapTypeObject *)type)->ht_qualname;
    module   = td_canon_get(type->tp_dict, canon->state->name___module__);
    if (module == NULL || td_canon_find(module, qualname) != (PyObject *)type) {
        return canon_local_type(canon, type, module, qualname);
    }
    module_text = PyUnicode_AsUTF8(module);
    name        = PyUnicode_AsUTF8(qualname);
    if (module_text == NULL || name == NULL) {
        PyErr_Clear();
        return canon_local_type(canon, type, NULL, qualname);
    }
    return td_form_class(canon->obs, module_text, name);
}

/* ---- functions and methods ----------------------------------------------- */

static td_val_t
canon_function(td_canon_t *canon, PyObject *value)
{
    PyFunctionObject *function = (PyFunctionObject *)value;
    td_val_t          val;
    td_val_t          vals[5];

    val = canon_global(canon, value, function->func_module, function->func_qualname);
    if (val != TD_VAL_NONE) {
        return val;
    }
    vals[0] = td_obs_cstr(canon->obs, "function");
    vals[1] = function->func_module != NULL && PyUnicode_Check(function->func_module)
                  ? td_canon_str(canon, function->func_module)
                  : td_obs_null(canon->obs);
    vals[2] = td_canon_str(canon, function->func_qualname);
    vals[3] = td_obs_int(canon->obs, ((PyCodeObject *)function->func_code)->co_firstlineno);
    vals[4] = td_canon_ordinal(canon, value);
    return td_obs_list(canon->obs, vals, 5);
}

static td_val_t
canon_bound(td_canon_t *canon, PyObject *value, PyObject *self, td_val_t name)
{
    td_val_t vals[4];

    vals[0] = td_obs_cstr(canon->obs, "bound");
    vals[1] = td_obs_cstr(canon->obs, Py_TYPE(value)->tp_name);
    vals[2] = self == NULL ? td_obs_null(canon->obs) : td_canon_value(canon, self);
    vals[3] = name;
    return td_obs_list(canon->obs, vals, 4);
}

static td_val_t
canon_method(td_canon_t *canon, PyObject *value)
{
    PyObject *function = PyMethod_GET_FUNCTION(value);
    td_val_t  name     = PyFunction_Check(function)
                             ? td_canon_str(canon, ((PyFunctionObject *)function)->func_name)
                             : td_canon_value(canon, function);

    return canon_bound(canon, value, PyMethod_GET_SELF(value), name);
}

/* A C function of a module is found there; one of an object is bound to it. */
static td_val_t
canon_builtin(td_canon_t *canon, PyObject *value)
{
    PyCFunctionObject *function = (PyCFunctionObject *)value;
    PyObject          *name     = PyUnicode_FromString(function->m_ml->ml_name);
    PyObject          *module   = function->m_module; /* borrowed */
    PyObject          *self     = function->m_self;   /* borrowed */
    td_val_t           val      = TD_VAL_NONE;

    if (name == NULL) {
        PyErr_Clear();
        return TD_VAL_NONE;
    }
    if (self == NULL || PyModule_Check(self) || PyCapsule_CheckExact(self)) {
        val = canon_global(canon, value, module, name);
    }
    if (val == TD_VAL_NONE) {
        val = canon_bound(canon, value, self, td_canon_str(canon, name));
    }
    Py_DECREF(name);
    return val;
}

/* An attribute of an object of an exact C type whose getter is C too. */
static td_val_t
canon_c_attr(td_canon_t *canon, PyObject *value, PyObject *name)
{
    PyObject *attr = PyObject_GetAttr(value, name);
    td_val_t  val;

    if (attr == NULL) {
        PyErr_Clear();
        return td_obs_null(canon->obs);
    }
    val = td_canon_value(canon, attr);
    Py_DECREF(attr);
    return val;
}

static td_val_t
canon_method_wrapper(td_canon_t *canon, PyObject *value)
{
    td_val_t vals[4];

    vals[0] = td_obs_cstr(canon->obs, "bound");
    vals[1] = td_obs_cstr(canon->obs, Py_TYPE(value)->tp_name);
    vals[2] = canon_c_attr(canon, value, canon->state->name___self__);
    vals[3] = canon_c_attr(canon, value, canon->state->name___name__);
    return td_obs_list(canon->obs, vals, 4);
}

static bool
canon_is_descriptor(PyTypeObject const *type)
{
    return type == &PyGetSetDescr_Type || type == &PyMemberDescr_Type ||
           type == &PyMethodDescr_Type || type == &PyWrapperDescr_Type ||
           type == &PyClassMethodDescr_Type;
}

static td_val_t
canon_descriptor(td_canon_t *canon, PyObject *value)
{
    PyDescrObject *descr = (PyDescrObject *)value;
    td_val_t       vals[4];

    vals[0] = td_obs_cstr(canon->obs, "descriptor");
    vals[1] = td_obs_cstr(canon->obs, Py_TYPE(value)->tp_name);
    vals[2] = td_canon_type(canon, descr->d_type);
    vals[3] = td_canon_str(canon, descr->d_name);
    return td_obs_list(canon->obs, vals, 4);
}

/* The exact str under key of an instance or module dict; borrowed. */
static PyObject *
canon_dict_str(PyObject *dict, PyObject *key)
{
    PyObject *found = td_canon_get(dict, key);

    return found != NULL && PyUnicode_CheckExact(found) ? found : NULL;
}

static td_val_t
canon_module(td_canon_t *canon, PyObject *value)
{
    PyObject *name = canon_dict_str(PyModule_GetDict(value), canon->state->name___name__);

    if (name == NULL) {
        return TD_VAL_NONE;
    }
    return td_canon_get(PyImport_GetModuleDict(), name) == value
               ? td_form_typed(canon->obs, "module", td_canon_str(canon, name))
               : TD_VAL_NONE;
}

/* ---- instances ----------------------------------------------------------- */

td_val_t
td_canon_enum(td_canon_t *canon, PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    PyObject     *dict, *name; /* borrowed */
    Py_ssize_t    sz;
    char const   *text;

    if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 ||
        !PyType_IsSubtype(type, (PyTypeObject *)canon->state->enum_type)) {
        return TD_VAL_NONE;
    }
    dict = td_canon_dict(value);
    name = canon_dict_str(dict, canon->state->name__name_);
    text = name == NULL ? NULL : PyUnicode_AsUTF8AndSize(name, &sz);
    if (text == NULL) {
        PyErr_Clear();
        return TD_VAL_NONE; /* a composite flag has no name */
    }
    return td_form_enum(canon->obs, td_canon_type(canon, type), text, (size_t)sz);
}

/* An operator of torch is found through __getattr__ alone, so that only its class can
   be checked: ["operator", class, module, name]. */
static td_val_t
canon_operator(td_canon_t *canon, PyObject *value, PyObject *module, PyObject *name)
{
    PyTypeObject *type = Py_TYPE(value);
    PyObject     *home = canon_dict_str(type->tp_dict, canon->state->name___module__);
    td_val_t      vals[4];

    if (module == NULL || name == NULL || home == NULL ||
        (type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 ||
        PyUnicode_CompareWithASCIIString(home, "torch._ops") != 0 ||
        td_canon_find(home, ((PyHeapTypeObject *)type)->ht_qualname) != (PyObject *)type) {
        return TD_VAL_NONE;
    }
    vals[0] = td_obs_cstr(canon->obs, "operator");
    vals[1] = td_canon_type(canon, type);
    vals[2] = td_canon_str(canon, module);
    vals[3] = td_canon_str(canon, name);
    return td_obs_list(canon->obs, vals, 4);
}

/* Objects that say where they are to be found: decorated functions, special
   forms of typing, operators of torch. */
static td_val_t
canon_self_named(td_canon_t *canon, PyObject *value)
{
    td_state_t const *state = canon->state;
    PyObject         *dict  = td_canon_dict(value); /* borrowed */
    PyObject         *module, *name;                /* borrowed */
    td_val_t          val;

    if (dict == NULL || !PyDict_CheckExact(dict)) {
        return TD_VAL_NONE;
    }
    module = canon_dict_str(dict, state->name___module__);
    if (module == NULL) {
        module = canon_dict_str(Py_TYPE(value)->tp_dict, state->name___module__);
    }
    name = canon_dict_str(dict, state->name___qualname__);
    name = name != NULL ? name : canon_dict_str(dict, state->name___name__);
    name = name != NULL ? name : canon_dict_str(dict, state->name__name);
    val  = canon_global(canon, value, module, name);
    return val != TD_VAL_NONE ? val : canon_operator(canon, value, module, name);
}

/* numpy's universal functions keep their name behind a C getter. */
static td_val_t
canon_ufunc(td_canon_t *canon, PyObject *value)
{
    PyObject *name = PyObject_GetAttr(value, canon->state->name___name__);
    td_val_t  val  = TD_VAL_NONE;

    if (name != NULL) {
        val = canon_global(canon, value, canon->state->name_numpy, name);
    }
    PyErr_Clear();
    Py_XDECREF(name);
    return val;
}

td_val_t
td_canon_named(td_canon_t *canon, PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    td_val_t      val;

    if (type == &PyFunction_Type) {
        return canon_function(canon, value);
    }
    if (PyCFunction_CheckExact(value)) {
        return canon_builtin(canon, value);
    }
    if (type == &PyMethod_Type) {
        return canon_method(canon, value);
    }
    if (type == &_PyMethodWrapper_Type) {
        return canon_method_wrapper(canon, value);
    }
    if (canon_is_descriptor(type)) {
        return canon_descriptor(canon, value);
    }
    if (PyModule_Check(value)) {
        return canon_module(canon, value);
    }
    if (td_canon_is_static(type, "numpy.ufunc")) {
        return canon_ufunc(canon, value);
    }
    val = td_canon_enum(canon, value);
    return val != TD_VAL_NONE ? val : canon_self_named(canon, value);
}
