/* wrap_sourceless.c: SourcelessBuilder: objects that come from nowhere.

   Its trackers have neither source nor guards, and it leaves nothing behind in the
   frame. */
#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"
#include "builder/td_depth.h"
#include "builder/td_value.h"
#include "py/td_call.h"
#include "py/td_py_audit.h"

static td_at_t const nowhere;

/* plain makes a tracker that holds value and nothing else. */
static bool
plain(td_builder_t *b, td_class_t cls, PyObject *value, td_var_t *out)
{
    td_var_make(out, cls, 0);
    out->of.value = value;
    return td_keep(b, value);
}

/* ---- the reference's stack ------------------------------------------------------ */

/* Measured as the numbers of td_depth.h: objects in up to 327 containers are built;
   what lies in 334 or more, or in itself, ends in a RecursionError.  In between
   RecursionErrors come in other words. */
enum { TD_REACH_SOURCELESS = 18, TD_REACH_SURE = -2, TD_DEPTH_LITERAL = 3 };

static bool
too_deep(td_builder_t *b)
{
    return td_stop_raise(b, "L1763/if/T", __func__, "RecursionError",
                         "maximum recursion depth exceeded");
}

static bool
in_between(td_builder_t *b)
{
    return td_stop_unsupported(b, "L1763/if/T", __func__, "an object so deep");
}

/* literal_at mirrors ConstantVariable.is_literal for containers that may hold
   themselves: each level is three frames of the reference's.  deepest: the most
   frames seen.  -1: stopped. */
static int
literal_at(td_builder_t *b, PyObject *value, int frames, int *deepest)
{
    int is = 1;

    *deepest = frames > *deepest ? frames : *deepest;
    if (frames + TD_REACH_SURE > b->frame.recursion_left) {
        too_deep(b);
        return -1;
    }
    if (PyTuple_CheckExact(value) || PyList_CheckExact(value)) {
        for (Py_ssize_t i = 0; is == 1 && i < PySequence_Fast_GET_SIZE(value); i++) {
            is = literal_at(b, PySequence_Fast_GET_ITEM(value, i), frames + TD_DEPTH_LITERAL,
                            deepest);
        }
        return is;
    }
    return td_literal(b, value); /* sets hold nothing that could hold them */
}

static int
is_literal(td_builder_t *b, PyObject *value)
{
    int deepest = 0;
    int is      = literal_at(b, value, b->frames, &deepest);

    if (is > 0 && deepest + TD_REACH_SOURCELESS > b->frame.recursion_left) {
        in_between(b);
        return -1;
    }
    return is;
}

/* ---- containers ------------------------------------------------------------------- */

static bool build(td_builder_t *b, PyObject *value, bool is_first, td_var_t *out);

/* has_members: a container with something in it. */
static bool
has_members(PyObject *value)
{
    if (PyDict_Check(value)) {
        return PyDict_GET_SIZE(value) > 0;
    }
    return (PyTuple_Check(value) || PyList_Check(value)) && Py_SIZE(value) > 0;
}

/* build_items builds cnt values.  The reference's words at the end of its stack hang
   on what it met there before; they are known where nothing but containers stood
   first. */
static bool
build_items(td_builder_t *b, PyObject *const *values, uint32_t cnt, bool is_first, td_var_t *vars)
{
    b->frames += TD_DEPTH_COMP;
    for (uint32_t i = 0; i < cnt; i++) {
        if (!build(b, values[i], is_first, &vars[i])) {
            return false;
        }
        is_first = is_first && has_members(values[i]);
    }
    b->frames -= TD_DEPTH_COMP;
    return true;
}

/* cls_for mirrors BaseListVariable.cls_for: TD_CLASS_NONE where it raises KeyError. */
static td_class_t
cls_for(td_builder_t *b, PyObject *value)
{
    if (PyList_CheckExact(value)) {
        return TD_CLASS_ListVariable;
    }
    if (PyTuple_CheckExact(value) || (TD_PLANT(SIZE_IS_TUPLE) && PyTuple_Check(value))) {
        return TD_CLASS_TupleVariable;
    }
    return (PyObject *)Py_TYPE(value) == b->tables.size ? TD_CLASS_SizeVariable : TD_CLASS_NONE;
}

/* type_text gives what a message says of value's class, from the frame's keep; with
   the text before it.  NULL: stopped. */
static PyObject *
type_text(td_builder_t *b, char const *before, PyObject *value)
{
    PyTypeObject *meta = Py_TYPE(Py_TYPE(value));
    PyObject     *text = NULL; /* owned until kept */

    if (meta->tp_repr != PyType_Type.tp_repr || meta->tp_str != PyType_Type.tp_str) {
        td_stop_unsupported(b, "L1788/unimpl/raised", __func__, "a class that spells itself");
        return NULL;
    }
    text = PyUnicode_FromFormat("%s%R", before, (PyObject *)Py_TYPE(value));
    if (text == NULL) {
        td_stop_python(b);
        return NULL;
    }
    return td_keep_steal(b, text) ? text : NULL;
}

static bool
wrap_listlike(td_builder_t *b, PyObject *value, bool is_first, td_var_t *out)
{
    td_class_t  cls   = cls_for(b, value);
    td_items_t *items = NULL;
    PyObject   *text  = NULL; /* borrowed from the keep */

    if (cls == TD_CLASS_NONE) {
        text = type_text(b, "", value);
        return text != NULL && td_stop_raise_text(b, "L1783/if/T", __func__, "KeyError", text);
    }
    items = td_items_new(b, (uint32_t)PySequence_Fast_GET_SIZE(value));
    if (items == NULL ||
        !build_items(b, PySequence_Fast_ITEMS(value), items->cnt, is_first, items->items)) {
        return false;
    }
    items->made_with = (td_mut_t){.cls = TD_CLASS_MutableLocal};
    td_var_make(out, cls, 0);
    out->mut     = &items->made_with;
    out->of.list = items;
    return true;
}

/* own_items says whether the dict's class has an items() of its own. */
static bool
has_own_items(td_builder_t *b, PyObject *value)
{
    PyObject *items = _PyType_Lookup(Py_TYPE(value), b->names.items); /* borrowed */

    return items != _PyType_Lookup(&PyDict_Type, b->names.items) &&
           items != _PyType_Lookup((PyTypeObject *)b->tables.ordered_dict, b->names.items);
}

/* One dict while it is being built. */
typedef struct {
    PyObject  *slots; /* owned: key -> its place; hashes and compares as the reference does */
    PyObject **keys;
    td_dict_t *dict;
    size_t     room; /* of keys and dict */
    bool       is_quiet;
} filling_t;

/* is_quiet: hashing and comparing the key is no code of a program's, so that it is
   unlike the dict's other keys here as there. */
static bool
is_quiet(td_builder_t *b, PyObject *key)
{
    PyTypeObject *known[] = {(PyTypeObject *)b->tables.enum_class, &PyLong_Type, &PyUnicode_Type};
    bool          hash    = false;
    bool          eq      = false;

    if (td_literal(b, key) == 1 || PyType_Check(key)) {
        return true;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        hash = hash || _PyType_Lookup(Py_TYPE(key), b->names.hash) ==
                           _PyType_Lookup(known[i], b->names.hash);
        eq = eq ||
             _PyType_Lookup(Py_TYPE(key), b->names.eq) == _PyType_Lookup(known[i], b->names.eq);
    }
    return td_is_a(key, b->tables.enum_class) && hash && eq;
}

/* all_quiet: so are all keys of a dict. */
static bool
all_quiet(td_builder_t *b, PyObject *value)
{
    PyObject  *key = NULL; /* borrowed from value; nothing here runs code */
    Py_ssize_t pos = 0;

    while (PyDict_Next(value, &pos, &key, NULL)) {
        if (!is_quiet(b, key)) {
            return false;
        }
    }
    return true;
}

/* place gives where a key goes: behind the others, or where an equal one is.  -1:
   stopped. */
static Py_ssize_t
place(td_builder_t *b, filling_t *filling, PyObject *key)
{
    PyObject  *next = PyLong_FromUnsignedLong(filling->dict->cnt); /* owned */
    PyObject  *slot = next;                                        /* borrowed */
    Py_ssize_t at   = -1;

    if (!filling->is_quiet && next != NULL) {
        slot = PyDict_SetDefault(filling->slots, key, next);
    }
    at = slot == NULL ? -1 : PyLong_AsSsize_t(slot);
    Py_XDECREF(next);
    if (at < 0) {
        td_stop_passing(b, "L1779/for/some", __func__);
    } else if (at == (Py_ssize_t)filling->dict->cnt) {
        filling->keys[filling->dict->cnt++] = key;
    }
    return at;
}

/* next_pair gives what going through a dict's items gives next (kept for the frame); NULL: there
   is none, or it stopped. */
static PyObject *
next_pair(td_builder_t *b, PyObject *iterator, filling_t const *filling)
{
    PyObject *pair = PyIter_Next(iterator); /* owned until kept */

    if (pair == NULL) {
        if (PyErr_Occurred()) {
            td_stop_passing(b, "L1779/for/some", __func__);
        }
        return NULL;
    }
    if (filling->dict->cnt == filling->room) {
        Py_DECREF(pair);
        td_stop_unsupported(b, "L1779/for/some", __func__, "a dict that grows");
        return NULL;
    }
    return td_keep_steal(b, pair) ? pair : NULL;
}

/* fill mirrors the comprehension over a dict's items. */
static bool
fill(td_builder_t *b, PyObject *iterator, bool is_first, filling_t *filling)
{
    PyObject *pair = NULL; /* borrowed from the frame's keep */

    b->frames += TD_DEPTH_COMP;
    while ((pair = next_pair(b, iterator, filling)) != NULL) {
        PyObject  *value = PyTuple_GET_ITEM(pair, 1); /* borrowed */
        td_var_t   var   = {0};
        Py_ssize_t at    = -1;

        if (!build(b, value, is_first, &var)) {
            return false;
        }
        at = place(b, filling, PyTuple_GET_ITEM(pair, 0));
        if (at < 0) {
            return false;
        }
        filling->dict->items[at] = var;
        is_first                 = is_first && has_members(value);
    }
    b->frames -= TD_DEPTH_COMP;
    return b->stop.kind == TD_STOP_NONE;
}

/* again mirrors what the tracker's constructor does to know what it contains: it makes the dict
   again, twice, which is heard where the keys are not quiet. */
static bool
again(td_builder_t *b, filling_t *filling)
{
    for (int i = 0; i < 2 && !filling->is_quiet && !TD_PLANT(KEYS_ONCE); i++) {
        Py_SETREF(filling->slots, PyDict_New());
        for (uint32_t at = 0; filling->slots != NULL && at < filling->dict->cnt; at++) {
            if (PyDict_SetItem(filling->slots, filling->keys[at], Py_None) < 0) {
                return td_stop_passing(b, "L1779/for/some", __func__);
            }
        }
        if (filling->slots == NULL) {
            return td_stop_python(b);
        }
        if (PyDict_GET_SIZE(filling->slots) != (Py_ssize_t)filling->dict->cnt) {
            return td_stop_unsupported(b, "L1779/for/some", __func__,
                                       "keys that are equal at times");
        }
    }
    return true;
}

/* dict_new makes room for cnt items. */
static td_dict_t *
dict_new(td_builder_t *b, size_t cnt, PyObject ***keys)
{
    td_dict_t *dict = td_alloc_in(b, sizeof *dict + cnt * sizeof(td_var_t));

    *keys = dict == NULL ? NULL : td_alloc_in(b, cnt * sizeof **keys);
    if (*keys == NULL) {
        return NULL;
    }
    *dict = (td_dict_t){.items     = (td_var_t *)(dict + 1),
                        .keys      = *keys,
                        .cls       = (PyObject *)&PyDict_Type,
                        .made_with = {.cls = TD_CLASS_MutableLocal}};
    return dict;
}

/* items_of gives (owned) what goes through a dict's items, quietly a copy of them.  NULL, with an
   exception. */
static PyObject *
items_of(td_builder_t *b, PyObject *value, bool is_quiet)
{
    /* owned; the method is dict's or OrderedDict's, C code */
    PyObject *items = is_quiet ? td_value_items(value) : td_call_method(b->names.items, &value, 1);
    PyObject *iterator = NULL; /* owned, returned */

    td_py_nomem_hold(); /* as in td_value_items */
    iterator = items == NULL ? NULL : PyObject_GetIter(items);
    td_py_nomem_release();
    Py_XDECREF(items);
    return iterator;
}

static bool
wrap_dict(td_builder_t *b, PyObject *value, bool is_first, td_var_t *out)
{
    filling_t filling  = {.room = (size_t)PyDict_GET_SIZE(value)};
    PyObject *iterator = NULL; /* owned */
    bool      good     = false;

    if (has_own_items(b, value)) {
        return td_stop_unsupported(b, "L1778/ret/reached", __func__,
                                   "a dict with items() of its own");
    }
    filling.is_quiet = all_quiet(b, value);
    iterator         = items_of(b, value, filling.is_quiet);
    filling.slots    = iterator == NULL ? NULL : PyDict_New();
    if (filling.slots == NULL) {
        Py_XDECREF(iterator);
        return td_stop_python(b);
    }
    filling.dict = dict_new(b, filling.room, &filling.keys);
    good = filling.dict != NULL && fill(b, iterator, is_first, &filling) && again(b, &filling);
    Py_CLEAR(filling.slots);
    Py_DECREF(iterator);
    if (good) {
        td_var_make(out, TD_CLASS_ConstDictVariable, 0);
        out->mut     = TD_PLANT(FOREIGN_DICT) ? NULL : &filling.dict->made_with;
        out->of.dict = filling.dict;
    }
    return good;
}

/* ---- SourcelessBuilder.__call__ ----------------------------------------------------- */

/* wrap_torch: whoever allowed an object himself meets an attribute that this builder
   lacks. */
static bool
wrap_torch(td_builder_t *b, PyObject *value, td_var_t *out)
{
    int has = td_tables_has(b->tables.user_allowed_ids, value);

    if (has != 0) {
        return has < 0 ? td_stop_python(b)
                       : td_stop_raise(b, "L1768/if/T", __func__, "AttributeError",
                                       "'SourcelessBuilder' object has no attribute 'tx'");
    }
    return td_torch_variable(b, "L1770/ret/reached", &value) &&
           plain(b, TD_CLASS_TorchVariable, value, out);
}

static bool
wrap_function(td_builder_t *b, PyObject *value, td_var_t *out)
{
    td_trail_add(b, &nowhere, "L1772/ret/reached", __func__);
    td_var_make(out, TD_CLASS_UserFunctionVariable, 0);
    return td_function_variable(b, "L1772/ret/reached", value, &out->of.function) &&
           td_function_copied(b, out->of.function, value, false);
}

static bool
refuse(td_builder_t *b, PyObject *value)
{
    PyObject *text = type_text(b, "Unexpected type in sourceless builder ", value);

    return text != NULL && td_stop_raise_text(b, "L1788/unimpl/raised", __func__,
                                              "torch._dynamo.exc.Unsupported", text);
}

static bool
wrap_rest(td_builder_t *b, PyObject *value, bool is_first, td_var_t *out)
{
    if (PyDict_Check(value)) {
        td_trail_add(b, &nowhere, "L1778/ret/reached", "wrap_dict");
        return wrap_dict(b, value, is_first, out);
    }
    if (PyTuple_Check(value) || PyList_Check(value)) {
        td_trail_add(b, &nowhere, "L1785/ret/reached", "wrap_listlike");
        return wrap_listlike(b, value, is_first, out);
    }
    return refuse(b, value);
}

/* known gives the arm of a value that is known by itself or by its id, and the class
   of its tracker.  NULL: none of these, or stopped. */
static char const *
known(td_builder_t *b, PyObject *value, td_class_t *cls)
{
    int is = 0;

    if (td_is_a(value, b->tables.default_factory_class)) {
        *cls = TD_CLASS_UserDefinedObjectVariable;
        return "L1762/ret/reached";
    }
    is = is_literal(b, value);
    if (is != 0) {
        *cls = TD_CLASS_ConstantVariable;
        return is > 0 ? "L1764/ret/reached" : NULL;
    }
    is = td_is_builtin_callable(b, &nowhere, value);
    if (is != 0) {
        *cls = TD_CLASS_BuiltinVariable;
        return is > 0 ? "L1766/ret/reached" : NULL;
    }
    is = td_is_allowed(b, &nowhere, value);
    if (is != 0) {
        *cls = TD_CLASS_TorchVariable;
        return is > 0 ? "L1770/ret/reached" : NULL;
    }
    return NULL;
}

/* known_by_type is the same for values that are known by what they are instances of. */
static char const *
known_by_type(td_builder_t *b, PyObject *value, td_class_t *cls)
{
    if (td_is_a(value, b->tables.enum_class)) {
        *cls = TD_CLASS_EnumVariable;
        return "L1774/ret/reached";
    }
    if (PyType_Check(value)) {
        *cls = TD_CLASS_UserDefinedClassVariable;
        return "L1776/ret/reached";
    }
    if (td_switch(b, TD_SWITCH_METHOD_WRAPPER) && Py_IS_TYPE(value, &_PyMethodWrapper_Type)) {
        *cls = TD_CLASS_MethodWrapperVariable;
        return "L1787/ret/reached";
    }
    return NULL;
}

/* ---- objects that answer isinstance() themselves -------------------------------------- */

/* One question, the arm of a yes, and the tracker that a yes alone makes (NONE: it takes
   more than the answer). */
typedef struct {
    PyObject   *cls; /* borrowed */
    char const *arm;
    td_class_t  tracker;
} question_t;

enum { QUESTIONS_BEFORE_ALLOWED = 2, QUESTION_CNT = 10 };

static bool
is_plain_dict(td_builder_t *b, PyObject *value)
{
    return PyDict_Check(value) && Py_TYPE(value)->tp_getattro == PyObject_GenericGetAttr &&
           !has_own_items(b, value);
}

/* believe follows an answer.  Who says that it is a list or a tuple is looked up by its
   type, which is neither. */
static bool
believe(td_builder_t *b, PyObject *value, question_t const *question, bool is_first, td_var_t *out)
{
    if (question->tracker != TD_CLASS_NONE) {
        td_trail_add(b, &nowhere, question->arm, __func__);
        return plain(b, question->tracker, value, out);
    }
    if (question->cls == (PyObject *)&PyDict_Type && is_plain_dict(b, value)) {
        return wrap_dict(b, value, is_first, out);
    }
    if (question->cls == (PyObject *)&PyTuple_Type || question->cls == (PyObject *)&PyList_Type) {
        PyObject *text = type_text(b, "", value); /* borrowed from the keep */

        return text != NULL && td_stop_raise_text(b, "L1783/if/T", __func__, "KeyError", text);
    }
    return td_lying_takes_in(b, question->arm) > 0;
}

static bool
wrap_lying(td_builder_t *b, PyObject *value, bool is_first, td_var_t *out)
{
    question_t const questions[QUESTION_CNT] = {
        {b->tables.variable_tracker, "L1758/if/T", TD_CLASS_NONE},
        {b->tables.default_factory_class, "L1762/ret/reached", TD_CLASS_UserDefinedObjectVariable},
        {(PyObject *)&PyFunction_Type, "L1772/ret/reached", TD_CLASS_NONE},
        {b->tables.enum_class, "L1774/ret/reached", TD_CLASS_EnumVariable},
        {(PyObject *)&PyType_Type, "L1776/ret/reached", TD_CLASS_UserDefinedClassVariable},
        {b->tables.abc_meta, "L1776/ret/reached", TD_CLASS_UserDefinedClassVariable},
        {(PyObject *)&PyDict_Type, "L1778/ret/reached", TD_CLASS_NONE},
        {(PyObject *)&PyTuple_Type, "L1785/ret/reached", TD_CLASS_NONE},
        {(PyObject *)&PyList_Type, "L1785/ret/reached", TD_CLASS_NONE},
        {(PyObject *)&_PyMethodWrapper_Type, "L1787/ret/reached", TD_CLASS_MethodWrapperVariable},
    };
    int cnt = td_switch(b, TD_SWITCH_METHOD_WRAPPER) ? QUESTION_CNT : QUESTION_CNT - 1;

    if (td_has_lying_meta(Py_TYPE(value))) {
        return td_stop_unsupported(b, "L1758/if/T", __func__,
                                   "an object whose class's class answers in its place");
    }
    for (int i = TD_PLANT(QUESTION_SAVED) ? 1 : 0; i < cnt; i++) {
        int is = 0;

        if (i == QUESTIONS_BEFORE_ALLOWED && td_lying_allowed(b, value) != 0) {
            return false;
        }
        is = td_lying_asked(b, value, questions[i].cls, questions[i].arm);
        if (is != 0) {
            return is > 0 && believe(b, value, &questions[i], is_first, out);
        }
    }
    return refuse(b, value);
}

/* ---- SourcelessBuilder.__call__, the whole ---------------------------------------------- */

static bool
wrap(td_builder_t *b, PyObject *value, bool is_first, td_var_t *out)
{
    td_class_t  cls  = TD_CLASS_NONE;
    char const *arm  = NULL;
    int         lies = td_is_lying(b, &nowhere, value);

    if (lies != 0) {
        return lies > 0 && wrap_lying(b, value, is_first, out);
    }
    if (td_is_a(value, b->tables.variable_tracker)) {
        return td_stop_unsupported(b, "L1758/if/T", __func__, "a tracker for an object");
    }
    arm = known(b, value, &cls);
    if (b->stop.kind != TD_STOP_NONE) {
        return false;
    }
    if (arm == NULL && PyFunction_Check(value)) {
        return wrap_function(b, value, out);
    }
    arm = arm == NULL ? known_by_type(b, value, &cls) : arm;
    if (arm == NULL) {
        return wrap_rest(b, value, is_first, out);
    }
    td_trail_add(b, &nowhere, arm, __func__);
    return cls == TD_CLASS_TorchVariable ? wrap_torch(b, value, out) : plain(b, cls, value, out);
}

static bool
build(td_builder_t *b, PyObject *value, bool is_first, td_var_t *out)
{
    bool good = false;

    b->frames += TD_DEPTH_CALL;
    if (b->frames + TD_REACH_SURE > b->frame.recursion_left) {
        return is_first ? too_deep(b) : in_between(b);
    }
    if (b->frames + TD_REACH_SOURCELESS > b->frame.recursion_left && !has_members(value)) {
        return in_between(b);
    }
    good = wrap(b, value, is_first, out);
    b->frames -= TD_DEPTH_CALL;
    return good;
}

bool
td_build_sourceless(td_builder_t *b, PyObject *value, td_var_t *out)
{
    return build(b, value, true, out);
}

bool
td_wrap_constant_literal(td_builder_t *b, PyObject *value, td_var_t *out)
{
    int is = is_literal(b, value);

    if (is == 0) {
        return td_stop_raise(b, "L1792/assert/fail", __func__, "AssertionError", "");
    }
    return is > 0 && plain(b, TD_CLASS_ConstantVariable, value, out);
}
