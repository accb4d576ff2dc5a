/* live_do.c: changes of objects, as callables that a harness runs between builds.

   A do step becomes a builtin function bound to a *change*, the tuple (op,
   object, first, second, name): nothing else keeps it, and it keeps nothing
   but what it changes.  None stands for operands that the op has not. */
#include "live/live_private.h"

#include "base/td_assert.h"
#include "py/td_call.h"

enum { AT_OP, AT_OBJECT, AT_FIRST, AT_SECOND, AT_NAME, AT_CNT };

typedef struct {
    td_do_t   op;
    PyObject *object, *first, *second, *name; /* borrowed from the change */
} change_t;

static int
is_dict(PyObject *object)
{
    return PyDict_Check(object);
}

/* position gives the place in a list that an int operand means, modulo the
   length: -1 with no exception when there is none. */
static Py_ssize_t
position(PyObject *list, PyObject *index)
{
    Py_ssize_t cnt    = PyList_GET_SIZE(list);
    PyObject  *length = NULL; /* owned */
    PyObject  *rest   = NULL; /* owned */
    Py_ssize_t result = -1;

    if (cnt == 0 || !PyLong_CheckExact(index)) {
        return -1;
    }
    length = PyLong_FromSsize_t(cnt);
    rest   = length == NULL ? NULL : PyNumber_Remainder(index, length);
    if (rest != NULL) {
        result = PyLong_AsSsize_t(rest);
    }
    Py_XDECREF(rest);
    Py_XDECREF(length);
    return result;
}

/* done gives 0 for a result and -1 for NULL, and lets go of it. */
static int
done(PyObject *result)
{
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

static int
append(td_state_t const *state, change_t const *change)
{
    PyObject *args[2] = {change->object, change->first};

    if (PyList_CheckExact(change->object)) {
        return PyList_Append(change->object, change->first);
    }
    if (Py_IS_TYPE(change->object, (PyTypeObject *)state->deque)) {
        return done(td_call_method(state->name_append, args, 2));
    }
    return 0;
}

static int
set_item(change_t const *change)
{
    if (PyList_CheckExact(change->object)) {
        Py_ssize_t at = position(change->object, change->first);

        return at < 0 ? 0 : PyList_SetItem(change->object, at, Py_NewRef(change->second));
    }
    if (is_dict(change->object)) {
        return PyObject_SetItem(change->object, change->first, change->second);
    }
    return 0;
}

static int
del_item(change_t const *change)
{
    if (PyList_CheckExact(change->object)) {
        Py_ssize_t at = position(change->object, change->first);

        return at < 0 ? 0 : PyList_SetSlice(change->object, at, at + 1, NULL);
    }
    if (is_dict(change->object)) {
        return PyObject_DelItem(change->object, change->first);
    }
    return 0;
}

static int
clear(td_state_t const *state, change_t const *change)
{
    PyObject *object = change->object; /* borrowed */

    if (PyList_CheckExact(object) || is_dict(object) || PySet_CheckExact(object)) {
        return done(td_call_method(state->name_clear, &object, 1));
    }
    return 0;
}

static int
reverse(td_state_t const *state, change_t const *change)
{
    PyObject *object = change->object; /* borrowed */

    if (PyList_CheckExact(object)) {
        return PyList_Reverse(object);
    }
    if (Py_IS_TYPE(object, (PyTypeObject *)state->deque)) {
        return done(td_call_method(state->name_reverse, &object, 1));
    }
    return 0;
}

static int
move_to_end(td_state_t const *state, change_t const *change)
{
    PyObject *args[2] = {change->object, change->first};

    if (!PyODict_CheckExact(change->object)) {
        return 0;
    }
    return done(td_call_method(state->name_move_to_end, args, 2));
}

/* is_plain_leaf: a leaf without a gradient; -1 with an exception. */
static int
is_plain_leaf(td_state_t const *state, PyObject *tensor)
{
    PyObject *leaf   = td_call_attr(tensor, state->name_is_leaf); /* owned */
    PyObject *grad   = NULL;                                      /* owned */
    int       result = leaf == NULL ? -1 : leaf == Py_True;

    if (result == 1) {
        grad   = td_call_attr(tensor, state->name_grad);
        result = grad == NULL ? -1 : grad == Py_None;
    }
    Py_XDECREF(grad);
    Py_XDECREF(leaf);
    return result;
}

/* set_attr sets an attribute.  A tensor's gradient is kept by C++, where the
   collector sees no cycle: only what has no gradient itself can become one, so
   that none comes about. */
static int
set_attr(td_state_t const *state, change_t const *change)
{
    PyTypeObject *tensor = (PyTypeObject *)state->tensor; /* borrowed from state */

    if (PyObject_TypeCheck(change->object, tensor) && PyObject_TypeCheck(change->first, tensor) &&
        PyUnicode_Compare(change->name, state->name_grad) == 0) {
        int allowed = is_plain_leaf(state, change->first);

        if (allowed != 1) {
            return allowed;
        }
    }
    return td_call_set_attr(change->object, change->name, change->first);
}

/* mark calls one of torch's marking functions on a tensor. */
static int
mark(PyObject *const *function, td_state_t const *state, change_t const *change)
{
    PyObject *args[2] = {change->object, change->first};

    if (!PyObject_TypeCheck(change->object, (PyTypeObject *)state->tensor)) {
        return 0;
    }
    return done(td_call(*function, args, 2));
}

/* mark_module calls a method of Dynamo's notes on modules with told, the module or its
   class. */
static int
mark_module(td_state_t const *state, PyObject *module, PyObject *told, PyObject *method)
{
    PyObject *args[2] = {state->generation_tracker, told};

    if (!PyObject_TypeCheck(module, (PyTypeObject *)state->module)) {
        return 0;
    }
    return done(td_call_method(method, args, 2));
}

static int
patch_forward(td_state_t const *state, change_t const *change)
{
    if (!PyObject_TypeCheck(change->object, (PyTypeObject *)state->module)) {
        return 0;
    }
    return td_call_set_attr(change->object, state->name_forward, change->first);
}

static int
change_make(td_state_t const *state, change_t const *change)
{
    switch (change->op) {
    case TD_DO_APPEND:
        return append(state, change);
    case TD_DO_SETITEM:
        return set_item(change);
    case TD_DO_DELITEM:
        return del_item(change);
    case TD_DO_CLEAR:
        return clear(state, change);
    case TD_DO_SETATTR:
        return set_attr(state, change);
    case TD_DO_MARK_DYNAMIC:
        return mark(&state->mark_dynamic, state, change);
    case TD_DO_MARK_WEAK_DYNAMIC:
        return mark(&state->mark_weak_dynamic, state, change);
    case TD_DO_MARK_STATIC:
        return mark(&state->mark_static, state, change);
    case TD_DO_MARK_STATIC_ADDRESS:
        return mark(&state->mark_static_address, state, change);
    case TD_DO_REVERSE:
        return reverse(state, change);
    case TD_DO_MOVE_TO_END:
        return move_to_end(state, change);
    case TD_DO_MARK_CLASS_DYNAMIC:
        return mark_module(state, change->object, (PyObject *)Py_TYPE(change->object),
                           state->name_mark_class_dynamic);
    case TD_DO_MAKE_NEW:
        return mark_module(state, change->object, change->object, state->name_tag);
    case TD_DO_PATCH_FORWARD:
        return patch_forward(state, change);
    case TD_DO_TAG_END:
        break;
    }
    PyErr_SetString(PyExc_SystemError, "dos.def has a change that is not made");
    return -1;
}

/* change_run makes the change that the tuple describes. */
static PyObject *
change_run(PyObject *self, PyObject *none)
{
    td_state_t const *state = NULL;
    change_t          change;

    (void)none;
    TD_ASSERT(PyTuple_GET_SIZE(self) == AT_CNT);
    change.op     = (td_do_t)PyLong_AsLong(PyTuple_GET_ITEM(self, AT_OP));
    change.object = PyTuple_GET_ITEM(self, AT_OBJECT);
    change.first  = PyTuple_GET_ITEM(self, AT_FIRST);
    change.second = PyTuple_GET_ITEM(self, AT_SECOND);
    change.name   = PyTuple_GET_ITEM(self, AT_NAME);
    state         = td_state_get();
    if (state == NULL) {
        return NULL;
    }
    if (change_make(state, &change) < 0 && !live_forgive()) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
change_nothing(PyObject *self, PyObject *none)
{
    (void)self;
    (void)none;
    Py_RETURN_NONE;
}

/* ---- from steps to changes --------------------------------------------------- */

/* may_set_attr: what a program merely looked up belongs to the whole process. */
static int
may_set_attr(td_node_t const *node)
{
    switch (node->kind) {
    case TD_KIND_OBJECT:
    case TD_KIND_NN_MODULE:
    case TD_KIND_MODULE:
    case TD_KIND_TENSOR:
    case TD_KIND_PARAMETER:
    case TD_KIND_ORDERED_DICT:
    case TD_KIND_PARTIAL:
    case TD_KIND_KEYWORDS:
        return 1;
    default:
        return 0;
    }
}

/* allowed says whether the step can be tried at all. */
static int
allowed(live_maker_t *maker, td_step_t const *step)
{
    switch (step->op) {
    case TD_DO_SETITEM:
    case TD_DO_DELITEM:
    case TD_DO_MOVE_TO_END:
        return maker->hash[step->other[0]].cost != LIVE_HASH_NONE;
    case TD_DO_SETATTR:
    case TD_DO_PATCH_FORWARD:
        return may_set_attr(&maker->prog->nodes[step->node]);
    default:
        return 1;
    }
}

static int
is_mark(uint8_t op)
{
    return op == TD_DO_MARK_DYNAMIC || op == TD_DO_MARK_WEAK_DYNAMIC || op == TD_DO_MARK_STATIC ||
           op == TD_DO_MARK_STATIC_ADDRESS;
}

/* is_late: the change is a function of Dynamo's. */
static int
is_late(uint8_t op)
{
    return is_mark(op) || op == TD_DO_MARK_CLASS_DYNAMIC || op == TD_DO_MAKE_NEW;
}

/* number gives the int operand of a mark: a new reference. */
static PyObject *
number(td_step_t const *step)
{
    if (step->op == TD_DO_MARK_STATIC_ADDRESS) {
        return PyBool_FromLong(step->num[0] != 0);
    }
    return PyLong_FromLongLong(step->num[0]);
}

/* change_new gives the change as a tuple. */
static PyObject *
change_new(live_maker_t *maker, td_step_t const *step)
{
    char const *operands = td_do_info(step->op)->operands;
    PyObject   *object   = PyTuple_GET_ITEM(maker->objects, step->node); /* borrowed */
    PyObject   *name     = NULL;                                         /* owned, handed on */
    PyObject   *first    = NULL;                                         /* owned, handed on */
    PyObject   *second   = Py_None;                                      /* borrowed */
    size_t      used     = 0;

    first = is_mark(step->op) ? number(step) : Py_NewRef(Py_None);
    name  = step->op == TD_DO_SETATTR
                ? PyUnicode_DecodeUTF8(step->name.bytes, (Py_ssize_t)step->name.sz, "strict")
                : Py_NewRef(Py_None);
    for (; *operands != '\0'; operands++) {
        if (*operands == 'x' && used++ == 0) {
            Py_XSETREF(first, Py_NewRef(PyTuple_GET_ITEM(maker->objects, step->other[0])));
        } else if (*operands == 'x') {
            second = PyTuple_GET_ITEM(maker->objects, step->other[1]);
        }
    }
    return Py_BuildValue("(iONON)", (int)step->op, object, first, second, name);
}

static PyMethodDef change_def  = {"do", change_run, METH_NOARGS, NULL};
static PyMethodDef nothing_def = {"do", change_nothing, METH_NOARGS, NULL};

PyObject *
live_do(live_maker_t *maker, td_step_t const *step)
{
    PyObject *change = NULL; /* owned, the function keeps it */
    PyObject *result = NULL; /* owned, returned */

    if (!allowed(maker, step)) {
        return PyCFunction_New(&nothing_def, NULL);
    }
    if (is_late(step->op) && td_state_late() == NULL) {
        return NULL;
    }
    change = change_new(maker, step);
    if (change != NULL) {
        result = PyCFunction_New(&change_def, change);
    }
    Py_XDECREF(change);
    return result;
}

int
live_do_now(live_maker_t *maker, td_step_t const *step)
{
    PyObject *change = live_do(maker, step); /* owned */
    int       result = -1;

    if (change != NULL) {
        result = done(td_call(change, NULL, 0));
    }
    Py_XDECREF(change);
    return result;
}
