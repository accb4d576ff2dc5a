/* wrap_list.c: lists and what is like them: tuples, namedtuples, deques, values of
   an OrderedDict, iterators of tuples, ranges and slices. */
#include "builder/td_builder_private.h"
#include "builder/td_depth.h"
#include "py/td_call.h"

/* ---- list-likes -------------------------------------------------------------- */

/* iterates_itself says whether the class of a namedtuple has an __iter__ of its own. */
static bool
iterates_itself(PyObject *value)
{
    return PyTuple_Check(value) && Py_TYPE(value)->tp_iter != PyTuple_Type.tp_iter;
}

/* iterated runs the value's own __iter__ and gives the members as a tuple that the
   frame keeps; NULL: stopped.  Only an iterator of C is walked ahead of the builds:
   what one of Python does would come at another time than in the reference. */
static PyObject *
iterated(td_builder_t *b, PyObject *value)
{
    PyObject *iter     = PyDict_GetItemString(PyEval_GetBuiltins(), "iter"); /* borrowed */
    PyObject *iterator = iter == NULL ? NULL : td_call(iter, &value, 1);     /* owned */
    PyObject *copy     = NULL;                                               /* owned until kept */

    if (iterator == NULL) {
        td_stop_passing(b, "L830/for/zero", __func__);
        return NULL;
    }
    if (!Py_IS_TYPE(iterator, &PyTupleIter_Type) && !Py_IS_TYPE(iterator, &PyListIter_Type)) {
        Py_DECREF(iterator);
        td_stop_unsupported(b, "L395/if/T", __func__, "a namedtuple that is iterated in Python");
        return NULL;
    }
    copy = PySequence_Tuple(iterator);
    Py_DECREF(iterator);
    if (copy == NULL) {
        td_stop_python(b);
        return NULL;
    }
    return td_keep_steal(b, copy) ? copy : NULL;
}

/* members gives the members of a list-like as a borrowed array: its own where it
   has one, else that of a tuple which the frame keeps. */
static bool
members(td_builder_t *b, PyObject *value, PyObject *const **items, uint32_t *cnt)
{
    PyObject *copy = NULL; /* owned until kept */

    if (PyList_CheckExact(value) || (PyTuple_Check(value) && !iterates_itself(value))) {
        *items = PySequence_Fast_ITEMS(value);
        *cnt   = (uint32_t)PySequence_Fast_GET_SIZE(value);
        return true;
    }
    if (iterates_itself(value)) {
        copy = TD_PLANT(USER_CODE_TWICE) && iterated(b, value) == NULL ? NULL : iterated(b, value);
    } else {
        copy = PySequence_Tuple(value);
        if (copy == NULL) {
            return td_stop_python(b);
        }
        copy = td_keep_steal(b, copy) ? copy : NULL;
    }
    if (copy == NULL) {
        return false;
    }
    *items = PySequence_Fast_ITEMS(copy);
    *cnt   = (uint32_t)PyTuple_GET_SIZE(copy);
    return true;
}

static td_class_t
list_type(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    if (PyTuple_CheckExact(value) || (TD_PLANT(WRONG_CLASS) && PyTuple_Check(value))) {
        return TD_CLASS_TupleVariable;
    }
    if ((PyObject *)Py_TYPE(value) == b->tables.deque) {
        return TD_CLASS_DequeVariable;
    }
    return td_is_namedtuple(b, at, value) ? TD_CLASS_NamedTupleVariable : TD_CLASS_ListVariable;
}

/* build_items mirrors the comprehensions over a container: each member under its
   own source, with the container's guard added. */
static bool
build_items(td_builder_t *b, td_at_t const *first, PyObject *const *values, td_guard_id_t guard, td_items_t *items)
{
    for (uint32_t i = 0; i < items->cnt; i++) {
        td_at_t child = td_source_nth(first, i);

        if (!td_build(b, &child, values[i], &items->items[i]) || !td_var_add_guards(b, &items->items[i], guard)) {
            return false;
        }
    }
    return true;
}

/* td_wrap_listlike mirrors VariableBuilder.wrap_listlike. */
bool
td_wrap_listlike(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    PyObject *const *values = NULL;
    td_items_t      *items  = NULL;
    td_guard_id_t    guard  = 0;
    td_at_t          first  = {0};
    uint32_t         cnt    = 0;
    bool             good   = false;

    if (!td_depth_enter(b, TD_DEPTH_LIST, at) || !td_make_guards(b, at, TD_GUARD_LIST_LENGTH, &guard) ||
        !members(b, value, &values, &cnt)) {
        return false;
    }
    for (uint32_t i = 0; i < cnt; i++) {
        if (values[i] == value) {
            Py_XINCREF(TD_PLANT(LEAK_ON_REFUSAL) ? value : NULL);
            return td_stop_raise(b, "L832/unimpl/raised", __func__, "torch._dynamo.exc.Unsupported",
                                 TD_PLANT(WRONG_MESSAGE) ? "a list points to itself"
                                                         : "list elements are pointing to the list itself");
        }
    }
    /* The builds go over the value once more, and its own __iter__ runs again. */
    if (iterates_itself(value) && !members(b, value, &values, &cnt)) {
        return false;
    }
    items = td_items_new(b, cnt);
    good  = items != NULL &&
           td_children(b, at, TD_SOURCE_CLASS_GetItemSource, TD_PAYLOAD_INDEX, NULL, NULL, cnt, &first) &&
           build_items(b, &first, values, guard, items);
    if (!good) {
        return false;
    }
    items->made_with = (td_mut_t){.cls = TD_CLASS_MutableLocal};
    td_var_make(out, list_type(b, at, value), guard);
    out->mut     = &items->made_with;
    out->of.list = items;
    if (out->cls == TD_CLASS_NamedTupleVariable) {
        items->cls = (PyObject *)Py_TYPE(value);
        if (!td_keep(b, items->cls)) {
            return false;
        }
    }
    td_depth_leave(b, TD_DEPTH_LIST);
    return !PyList_CheckExact(value) || TD_PLANT(WRONG_MUTABILITY) ||
           td_track_obj(b, at, value, TD_CLASS_MutableSideEffects, out);
}

/* ---- tuple iterators ------------------------------------------------------------ */

/* rest gives what an iterator of a tuple still has to give: a tuple (new reference). */
static PyObject *
rest(td_builder_t *b, PyObject *iterator)
{
    PyObject  *state  = td_call_method(b->names.reduce, &iterator, 1); /* owned: (iter, (tuple,), index) or (iter, ((),)) */
    PyObject  *result = NULL;                                          /* owned */
    PyObject  *args   = NULL;                                          /* borrowed from state */
    Py_ssize_t start  = 0;

    if (state == NULL || !PyTuple_Check(state) || PyTuple_GET_SIZE(state) < 2) {
        goto done;
    }
    args = PyTuple_GET_ITEM(state, 1);
    if (PyTuple_GET_SIZE(state) > 2) {
        start = PyLong_AsSsize_t(PyTuple_GET_ITEM(state, 2));
    }
    if (PyTuple_Check(args) && PyTuple_GET_SIZE(args) == 1 && PyTuple_Check(PyTuple_GET_ITEM(args, 0))) {
        result = PyTuple_GetSlice(PyTuple_GET_ITEM(args, 0), start, PY_SSIZE_T_MAX);
    }

done:
    Py_XDECREF(state);
    return result;
}

/* td_wrap_tuple_iterator mirrors VariableBuilder.wrap_tuple_iterator. */
bool
td_wrap_tuple_iterator(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    PyObject     *left  = NULL; /* owned until kept */
    td_items_t   *items = NULL;
    td_guard_id_t guard = 0;
    td_at_t       first = {0};
    uint32_t      cnt   = 0;

    if (!td_make_guards(b, at, TD_GUARD_TUPLE_ITERATOR_LEN, &guard)) {
        return false;
    }
    left = rest(b, value);
    if (left == NULL) {
        return td_stop_python(b);
    }
    cnt   = (uint32_t)PyTuple_GET_SIZE(left);
    items = td_keep_steal(b, left) ? td_items_new(b, cnt) : NULL;
    if (items == NULL || !td_depth_enter(b, TD_DEPTH_LIST, at) ||
        !td_children(b, at, TD_SOURCE_CLASS_TupleIteratorGetItemSource, TD_PAYLOAD_INDEX, NULL, NULL, cnt, &first) ||
        !build_items(b, &first, PySequence_Fast_ITEMS(left), guard, items)) {
        return false;
    }
    td_depth_leave(b, TD_DEPTH_LIST);
    items->made_with = (td_mut_t){.cls = TD_CLASS_MutableLocal};
    td_var_make(out, TD_CLASS_TupleIteratorVariable, guard);
    out->mut     = &items->made_with;
    out->of.list = items;
    return true;
}

/* ---- ranges and slices ------------------------------------------------------------- */

enum { PART_CNT = 3 };

/* part gives start, stop or step of a range or slice, kept for the frame. */
static PyObject *
part(td_builder_t *b, PyObject *value, PyObject *name)
{
    PyObject *got = td_call_attr(value, name); /* owned until kept */

    if (got == NULL) {
        td_stop_python(b);
        return NULL;
    }
    return td_keep_steal(b, got) ? got : NULL;
}

static bool
build_parts(td_builder_t *b, td_at_t const *at, PyObject *value, td_items_t *items)
{
    PyObject **names = td_alloc_in(b, PART_CNT * sizeof *names);
    td_at_t    first = {0};

    if (names == NULL) {
        return false;
    }
    names[0] = b->names.start;
    names[1] = b->names.stop;
    names[2] = b->names.step;
    if (!td_children(b, at, TD_SOURCE_CLASS_AttrSource, TD_PAYLOAD_KEYS, names, NULL, PART_CNT, &first)) {
        return false;
    }
    for (uint32_t i = 0; i < PART_CNT; i++) {
        td_at_t   child = td_source_nth(&first, i);
        PyObject *got   = part(b, value, names[i]); /* borrowed from the keep */

        if (got == NULL || !td_build(b, &child, got, &items->items[i])) {
            return false;
        }
    }
    return true;
}

static bool
is_tensor_variable(td_var_t *var)
{
    return td_class_is_a((td_class_t)td_var_target(var)->cls, TD_CLASS_TensorVariable);
}

/* td_wrap_slice_range mirrors VariableBuilder.wrap_slice_range, and the refusal in
   SliceVariable's constructor. */
bool
td_wrap_slice_range(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    bool          is_slice = PySlice_Check(value);
    td_items_t   *items    = td_items_new(b, PART_CNT);
    td_guard_id_t guard    = 0;

    if (items == NULL || !td_depth_enter(b, TD_DEPTH_ATTR, at) || !build_parts(b, at, value, items)) {
        return false;
    }
    td_depth_leave(b, TD_DEPTH_ATTR);
    if (!td_make_guards(b, at, is_slice || TD_PLANT(WRONG_GUARD_KIND) ? TD_GUARD_TYPE_MATCH : TD_GUARD_EQUALS_MATCH,
                        &guard)) {
        return false;
    }
    if (is_slice && (is_tensor_variable(&items->items[0]) || is_tensor_variable(&items->items[1]))) {
        return td_stop_raise(b, "L867/ret/reached", __func__, "torch._dynamo.exc.Unsupported",
                             "Dynamic slicing on data-dependent value is not supported");
    }
    td_var_make(out, is_slice ? TD_CLASS_SliceVariable : TD_CLASS_RangeVariable, guard);
    out->of.list = items;
    return true;
}
