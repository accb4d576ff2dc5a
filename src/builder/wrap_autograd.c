/* wrap_autograd.c: functions of autograd, their contexts, and operators that take functions. */
#include "builder/td_builder_private.h"

bool
td_wrap_autograd_function(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    return td_point_at(b, at, value, TD_CLASS_AutogradFunctionVariable, TD_GUARD_FUNCTION_MATCH,
                       true, out);
}

bool
td_wrap_autograd_context(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    return td_point_at(b, at, value, TD_CLASS_AutogradFunctionContextVariable, TD_GUARD_TYPE_MATCH,
                       true, out) &&
           td_track_obj(b, at, value, TD_CLASS_AttributeMutationExisting, out);
}

/* td_wrap_autograd_apply: an attribute of the class's tracker; the guard stays on that
   one. */
bool
td_wrap_autograd_apply(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    td_attr_var_t *attr = td_alloc_in(b, sizeof *attr);

    if (attr == NULL) {
        return false;
    }
    attr->name = "apply";
    attr->obj  = td_alloc_in(b, sizeof *attr->obj);
    if (attr->obj == NULL ||
        !td_wrap_autograd_function(b, at, PyMethod_GET_SELF(value), attr->obj)) {
        return false;
    }
    attr->obj->guard = TD_PLANT(UNGUARDED_APPLY) ? 0 : attr->obj->guard;
    td_var_make(out, TD_CLASS_GetAttrVariable, 0);
    out->of.attr = attr;
    return true;
}

/* ---- operators that take functions ------------------------------------------------- */

/* Operators by name, and the tracker that each becomes. */
static struct {
    char const *name;
    td_class_t  cls;
} const operators[] = {
    {"cond", TD_CLASS_CondHigherOrderVariable},
    {"map", TD_CLASS_MapHigherOrderVariable},
    {"executorch_call_delegate", TD_CLASS_ExecutorchCallDelegateHigherOrderVariable},
    {"out_dtype", TD_CLASS_OutDtypeHigherOrderVariable},
    {"trampoline_autograd_fwd", TD_CLASS_AutogradFunctionMethodHigherOrderVariable},
    {"trampoline_autograd_bwd", TD_CLASS_AutogradFunctionMethodHigherOrderVariable},
    {"trampoline_autograd_apply", TD_CLASS_AutogradFunctionMethodHigherOrderVariable},
    {"wrap", TD_CLASS_WrapHigherOrderVariable},
    {"wrap_activation_checkpoint", TD_CLASS_CheckpointHigherOrderVariable},
    {"tag_activation_checkpoint", TD_CLASS_CheckpointHigherOrderVariable},
    {"_export_tracepoint", TD_CLASS_ExportTracepointHigherOrderVariable},
};

/* class_of gives the tracker's class for an operator's name; TD_CLASS_NONE: there is
   none. */
static td_class_t
class_of(PyObject *name)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (PyUnicode_CompareWithASCIIString(name, operators[i].name) == 0) {
            return operators[i].cls;
        }
    }
    return TD_CLASS_NONE;
}

static bool
refuse(td_builder_t *b, PyObject *name)
{
    PyObject *text = PyUnicode_FromFormat("HigherOrderOperator %U", name); /* owned until kept */

    if (text == NULL) {
        return td_stop_python(b);
    }
    return td_keep_steal(b, text) && td_stop_raise_text(b, "L620/ret/reached", __func__,
                                                        "torch._dynamo.exc.Unsupported", text);
}

/* td_wrap_higher_order mirrors TorchHigherOrderOperatorVariable.make. */
bool
td_wrap_higher_order(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    PyObject     *name = td_getattr_static(value, b->names.name); /* borrowed */
    td_guard_id_t type = 0;
    td_guard_id_t same = 0;
    td_class_t    cls  = TD_CLASS_NONE;

    if (name == NULL || !PyUnicode_CheckExact(name)) {
        return td_stop_unsupported(b, "L620/ret/reached", __func__,
                                   "an operator whose __name__ is no str of its own");
    }
    if (!td_make_guards(b, at, TD_GUARD_TYPE_MATCH, &type) ||
        !td_make_guards(b, at, TD_GUARD_NAME_MATCH, &same)) {
        return false;
    }
    cls = class_of(name);
    if (cls == TD_CLASS_NONE) {
        return refuse(b, name);
    }
    td_var_make(out, cls, type);
    out->added    = TD_PLANT(LOST_NAME_MATCH) ? 0 : same;
    out->source   = at->id;
    out->of.value = value;
    return td_keep(b, value);
}
