/* wrap_list.c: lists and what is like them: tuples, namedtuples, deques, values of
   an OrderedDict, iterators of tuples, ranges and slices. */
#include <string.h>

#include "base/td_alloc.h"
#include "builder/td_leaf.h"
#include "py/td_call.h"

/* ---- list-likes -------------------------------------------------------------- */

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

static bool
points_at_itself(td_builder_t *b, PyObject *value)
{
    Py_XINCREF(TD_PLANT(LEAK_ON_REFUSAL) ? value : NULL);
    return td_stop_raise(b, "L832/unimpl/raised", __func__, "torch._dynamo.exc.Unsupported",
                         TD_PLANT(WRONG_MESSAGE) ? "a list points to itself"
                                                 : "list elements are pointing to the list itself");
}

/* members gives the members of a list-like as a borrowed array: its own where it
   has one, else that of a tuple which the frame keeps. */
static bool
members(td_builder_t *b, PyObject *value, PyObject *const **items, uint32_t *cnt)
{
    PyObject *copy = NULL; /* owned */

    if (!PyList_CheckExact(value) && !PyTuple_Check(value)) {
        copy =
            PySequence_Tuple(value); /* a deque or the values of an OrderedDict: C code iterates */
        if (copy == NULL) {
            return td_stop_python(b);
        }
        if (!td_keep_steal(b, copy)) {
            return false;
        }
    }
    *items = PySequence_Fast_ITEMS(copy == NULL ? value : copy);
    *cnt   = (uint32_t)PySequence_Fast_GET_SIZE(copy == NULL ? value : copy);
    for (uint32_t i = 0; i < *cnt; i++) {
        if ((*items)[i] == value) {
            return points_at_itself(b, value);
        }
    }
    return true;
}

/* build_items mirrors the comprehensions over a container: each member under its
   own source, with the container's guard added. */
static bool
build_items(td_builder_t *b, td_at_t const *first, PyObject *const *values, td_guard_id_t guard,
            td_items_t *items)
{
    bool leaves = false;

    b->frames += TD_DEPTH_COMP;
    leaves = td_leaves_of(b, first, guard);
    for (uint32_t i = 0; i < items->cnt; i++) {
        td_at_t child = td_source_nth(first, i);

        if (leaves && td_leaf_takes(values[i]) && !b->frame.text_mode) {
            if (!td_leaf_build(b, &child, values[i], guard, &items->items[i])) {
                return false;
            }
            continue;
        }
        if (!td_build(b, &child, values[i], &items->items[i]) ||
            !td_var_add_guards(b, &items->items[i], TD_PLANT(MEMBER_UNGUARDED) ? 0 : guard)) {
            return false;
        }
    }
    b->frames -= TD_DEPTH_COMP;
    return true;
}

static td_items_t *
plain_items(td_builder_t *b, td_at_t const *at, PyObject *value, td_guard_id_t guard)
{
    PyObject *const *values = NULL;
    td_items_t      *items  = NULL;
    td_at_t          first  = {0};
    uint32_t         cnt    = 0;

    if (!members(b, value, &values, &cnt)) {
        return NULL;
    }
    items = td_items_new(b, cnt);
    if (items == NULL ||
        !td_children(b, at, TD_SOURCE_CLASS_GetItemSource, TD_PAYLOAD_INDEX, NULL, NULL, cnt,
                     &first) ||
        !build_items(b, &first, values, guard, items)) {
        return NULL;
    }
    return items;
}

/* ---- namedtuples that iterate in their own way --------------------------------- */

/* next gives the next item: 1 (new reference), 0 at the end, -1 stopped. */
static int
next(td_builder_t *b, PyObject *iterator, PyObject **item)
{
    *item = PyIter_Next(iterator);
    if (*item != NULL) {
        return 1;
    }
    return PyErr_Occurred() ? (td_stop_passing(b, "L830/for/some", __func__), -1) : 0;
}

/* own_iter asks the value's class for an iterator: user code.  NULL: stopped. */
static PyObject *
own_iter(td_builder_t *b, PyObject *value)
{
    PyObject *iterator = td_call_method(b->names.iter, &value, 1);

    if (iterator == NULL) {
        td_stop_passing(b, "L830/for/some", __func__);
    } else if (!PyIter_Check(iterator)) {
        Py_CLEAR(iterator);
        td_stop_unsupported(b, "L830/for/some", __func__, "an __iter__ that gives no iterator");
    }
    return iterator;
}

/* look_for_itself mirrors the first loop of wrap_listlike. */
static bool
look_for_itself(td_builder_t *b, PyObject *value)
{
    PyObject *iterator = own_iter(b, value); /* owned */
    PyObject *item     = NULL;               /* owned */
    int       got      = iterator == NULL ? -1 : 1;
    bool      itself   = false;

    while (!itself && got == 1 && (got = next(b, iterator, &item)) == 1) {
        itself = item == value;
        Py_DECREF(item);
    }
    Py_XDECREF(iterator);
    return itself ? points_at_itself(b, value) : got == 0;
}

typedef TD_ARRAY(td_var_t) vars_t;

/* build_each builds what the second iteration gives, one by one as it comes. */
static bool
build_each(td_builder_t *b, td_at_t const *at, PyObject *iterator, td_guard_id_t guard,
           vars_t *vars)
{
    PyObject *item = NULL; /* owned until kept */
    int       got  = 0;

    b->frames += TD_DEPTH_COMP;
    while ((got = next(b, iterator, &item)) == 1) {
        td_at_t  child = {0};
        td_var_t var   = {0};

        if (!td_keep_steal(b, item) || !td_children(b, at, TD_SOURCE_CLASS_GetItemSource,
                                                    TD_PAYLOAD_INDEX, NULL, NULL, 1, &child)) {
            return false;
        }
        b->frame.sources.blocks[b->frame.sources.block_cnt - 1].start = vars->cnt;
        if (!td_build(b, &child, item, &var) || !td_var_add_guards(b, &var, guard)) {
            return false;
        }
        if (!TD_ARRAY_PUSH(*vars, var)) {
            return td_stop_nomem(b);
        }
    }
    b->frames -= TD_DEPTH_COMP;
    return got == 0;
}

static td_items_t *
own_items(td_builder_t *b, td_at_t const *at, PyObject *value, td_guard_id_t guard)
{
    PyObject   *iterator = NULL; /* owned */
    td_items_t *items    = NULL;
    vars_t      vars     = {0};

    if (!look_for_itself(b, value) || (TD_PLANT(USER_CODE_TWICE) && !look_for_itself(b, value))) {
        return NULL;
    }
    iterator = own_iter(b, value);
    if (iterator != NULL && build_each(b, at, iterator, guard, &vars)) {
        items = td_items_new(b, vars.cnt);
    }
    if (items != NULL && vars.cnt > 0) {
        memcpy(items->items, vars.at, vars.cnt * sizeof *vars.at);
    }
    td_free(vars.at);
    Py_XDECREF(iterator);
    return items;
}

/* ---- wrap_listlike --------------------------------------------------------------- */

static bool
iterates_itself(PyObject *value)
{
    return PyTuple_Check(value) && Py_TYPE(value)->tp_iter != PyTuple_Type.tp_iter;
}

static bool
listlike(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    td_items_t   *items = NULL;
    td_guard_id_t guard = 0;

    if (!td_make_guards(b, at, TD_GUARD_LIST_LENGTH, &guard)) {
        return false;
    }
    items =
        iterates_itself(value) ? own_items(b, at, value, guard) : plain_items(b, at, value, guard);
    if (items == NULL) {
        return false;
    }
    items->made_with = (td_mut_t){.cls = TD_CLASS_MutableLocal};
    td_var_make(out, list_type(b, at, value), guard);
    out->mut     = &items->made_with;
    out->of.list = items;
    if (out->cls == TD_CLASS_NamedTupleVariable) {
        items->cls =
            TD_PLANT(LOST_TUPLE_CLASS) ? (PyObject *)&PyTuple_Type : (PyObject *)Py_TYPE(value);
        return td_keep(b, items->cls);
    }
    return true;
}

/* td_wrap_listlike mirrors VariableBuilder.wrap_listlike. */
bool
td_wrap_listlike(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    b->frames += TD_DEPTH_FUNC;
    if (!listlike(b, at, value, out)) {
        return false;
    }
    b->frames -= TD_DEPTH_FUNC;
    return !PyList_CheckExact(value) || TD_PLANT(WRONG_MUTABILITY) ||
           td_track_obj(b, at, value, TD_CLASS_MutableSideEffects, out);
}

/* ---- tuple iterators ------------------------------------------------------------ */

/* rest gives what an iterator of a tuple still has to give: a tuple (new reference). */
static PyObject *
rest(td_builder_t *b, PyObject *iterator)
{
    PyObject  *state  = td_call_method(b->names.reduce, &iterator,
                                       1); /* owned: (iter, (tuple,), index) or (iter, ((),)) */
    PyObject  *result = NULL;              /* owned */
    PyObject  *args   = NULL;              /* borrowed from state */
    Py_ssize_t start  = 0;

    if (state == NULL || !PyTuple_Check(state) || PyTuple_GET_SIZE(state) < 2) {
        goto done;
    }
    args = PyTuple_GET_ITEM(state, 1);
    if (PyTuple_GET_SIZE(state) > 2) {
        start = PyLong_AsSsize_t(PyTuple_GET_ITEM(state, 2));
    }
    if (PyTuple_Check(args) && PyTuple_GET_SIZE(args) == 1 &&
        PyTuple_Check(PyTuple_GET_ITEM(args, 0))) {
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

    b->frames += TD_DEPTH_FUNC;
    if (!td_make_guards(b, at, TD_GUARD_TUPLE_ITERATOR_LEN, &guard)) {
        return false;
    }
    left = rest(b, value);
    if (left == NULL) {
        return td_stop_python(b);
    }
    cnt   = (uint32_t)PyTuple_GET_SIZE(left);
    items = td_keep_steal(b, left) ? td_items_new(b, cnt) : NULL;
    if (items == NULL ||
        !td_children(b, at, TD_SOURCE_CLASS_TupleIteratorGetItemSource, TD_PAYLOAD_INDEX, NULL,
                     NULL, cnt, &first) ||
        !build_items(b, &first, PySequence_Fast_ITEMS(left), guard, items)) {
        return false;
    }
    b->frames -= TD_DEPTH_FUNC;
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
    names[1] = TD_PLANT(WRONG_PART) ? b->names.start : b->names.stop;
    names[2] = b->names.step;
    if (!td_children(b, at, TD_SOURCE_CLASS_AttrSource, TD_PAYLOAD_KEYS, names, NULL, PART_CNT,
                     &first)) {
        return false;
    }
    b->frames += TD_DEPTH_COMP;
    for (uint32_t i = 0; i < PART_CNT; i++) {
        td_at_t   child = td_source_nth(&first, i);
        PyObject *got   = part(b, value, names[i]); /* borrowed from the keep */

        if (got == NULL || !td_build(b, &child, got, &items->items[i])) {
            return false;
        }
    }
    b->frames -= TD_DEPTH_COMP;
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

    b->frames += TD_DEPTH_FUNC;
    if (items == NULL || !build_parts(b, at, value, items)) {
        return false;
    }
    if (!td_make_guards(b, at,
                        is_slice || TD_PLANT(WRONG_GUARD_KIND) ? TD_GUARD_TYPE_MATCH
                                                               : TD_GUARD_EQUALS_MATCH,
                        &guard)) {
        return false;
    }
    if (is_slice &&
        (is_tensor_variable(&items->items[0]) || is_tensor_variable(&items->items[1]))) {
        return td_stop_raise(b, "L867/ret/reached", __func__, "torch._dynamo.exc.Unsupported",
                             "Dynamic slicing on data-dependent value is not supported");
    }
    b->frames -= TD_DEPTH_FUNC;
    td_var_make(out, is_slice ? TD_CLASS_SliceVariable : TD_CLASS_RangeVariable, guard);
    out->of.list = items;
    return true;
}
