/* wrap_optimizer.c: optimizers, which are changed by being looked at. */
#include "builder/td_builder_private.h"
#include "py/td_call.h"

static bool
odd(td_builder_t *b, char const *why)
{
    return td_stop_unsupported(b, "L700/ret/reached", __func__, why);
}

/* make_capturable sets what a group says of graphs of CUDA, where it says anything. */
static bool
make_capturable(td_builder_t *b, PyObject *group)
{
    int has = 0;

    if (!PyDict_CheckExact(group)) {
        return odd(b, "an optimizer whose group is no dict");
    }
    has = PyDict_Contains(group, b->names.capturable);
    if (has > 0 && !TD_PLANT(NOT_CAPTURABLE)) {
        has = PyDict_SetItem(group, b->names.capturable, Py_True);
    }
    return has >= 0 || td_stop_python(b);
}

static bool
each_capturable(td_builder_t *b, PyObject *groups)
{
    if (!PyList_CheckExact(groups) && !PyTuple_CheckExact(groups)) {
        return odd(b, "an optimizer whose param_groups are no list");
    }
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(groups); i++) {
        if (!make_capturable(b, PySequence_Fast_GET_ITEM(groups, i))) {
            return false;
        }
    }
    return true;
}

/* td_wrap_optimizer mirrors the constructor of OptimizerVariable.  Clones do the same to
   the groups once more, which changes nothing. */
bool
td_wrap_optimizer(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    PyObject *groups = NULL; /* owned */
    bool      good   = false;

    if (!td_point_at(b, at, value, TD_CLASS_OptimizerVariable, TD_GUARD_TYPE_MATCH, true, out)) {
        return false;
    }
    groups = td_call_attr(value, b->names.param_groups);
    if (groups == NULL) {
        return td_stop_passing(b, "L700/ret/reached", __func__);
    }
    good = each_capturable(b, groups);
    Py_DECREF(groups);
    return good;
}
