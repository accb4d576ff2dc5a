/* live_constraint.c: export constraints, made when their tensors exist: they are
   matched by the tensor's id. */
#include "live/live_private.h"

#include "base/td_assert.h"
#include "py/td_call.h"

/* dim_made gives dynamic_dim(object, dim). */
static PyObject *
dim_made(PyObject *object, int64_t dim)
{
    td_state_t const *state   = td_state_late();
    PyObject         *result  = NULL; /* owned, returned */
    PyObject         *args[2] = {object, NULL};

    if (state == NULL) {
        return NULL;
    }
    args[1] = PyLong_FromLongLong(dim);
    if (args[1] != NULL) {
        result = td_call(state->dynamic_dim, args, 2);
    }
    Py_XDECREF(args[1]);
    return result;
}

/* compared replaces *constraint by `*constraint <op> other` and lets other go. */
static void
compared(PyObject **constraint, PyObject *other, int op)
{
    PyObject *result = NULL; /* owned, handed to constraint */

    if (*constraint != NULL && other != NULL) {
        result = PyObject_RichCompare(*constraint, other, op);
    }
    Py_XDECREF(other);
    Py_XSETREF(*constraint, result);
}

static PyObject *
constraint_made(live_maker_t *maker, td_step_t const *step)
{
    PyObject *constraint = NULL; /* owned, returned */

    constraint = dim_made(PyTuple_GET_ITEM(maker->objects, step->node), step->num[0]);
    if (constraint != NULL && step->tied) {
        compared(&constraint,
                 dim_made(PyTuple_GET_ITEM(maker->objects, step->other[0]), step->num[1]), Py_EQ);
    } else if (constraint != NULL) {
        compared(&constraint, PyLong_FromLongLong(step->num[1]), Py_GE);
        if (constraint != NULL) {
            compared(&constraint, PyLong_FromLongLong(step->num[2]), Py_LE);
        }
    }
    if (constraint != NULL && step->name.sz > 0) {
        PyObject *name =
            PyUnicode_DecodeUTF8(step->name.bytes, (Py_ssize_t)step->name.sz, "strict");

        if (name == NULL || td_call_set_attr(constraint, maker->state->name_debug_name, name) < 0) {
            Py_CLEAR(constraint);
        }
        Py_XDECREF(name);
    }
    return constraint;
}

/* constraint_add appends to *list, which begins as None.  A constraint that
   torch refuses (an empty range) is left out: the user would never get it. */
static int
constraint_add(live_maker_t *maker, td_step_t const *step, PyObject **list)
{
    PyObject *constraint = constraint_made(maker, step); /* owned */
    int       result     = -1;

    if (constraint == NULL) {
        return live_forgive() ? 0 : -1;
    }
    if (*list == Py_None) {
        Py_SETREF(*list, PyList_New(0));
    }
    if (*list != NULL) {
        result = PyList_Append(*list, constraint);
    }
    Py_DECREF(constraint);
    return result;
}

PyObject *
live_constraints(live_maker_t *maker, uint32_t at)
{
    td_prog_t const *prog = maker->prog;
    PyObject        *list = Py_NewRef(Py_None); /* owned, returned */

    TD_ASSERT(prog->steps[at].kind == TD_STEP_FRAME);
    for (uint32_t i = at + 1; i < prog->step_cnt && prog->steps[i].kind != TD_STEP_FRAME; i++) {
        if (prog->steps[i].kind == TD_STEP_CONSTRAINT &&
            constraint_add(maker, &prog->steps[i], &list) < 0) {
            Py_CLEAR(list);
            break;
        }
    }
    return list;
}
