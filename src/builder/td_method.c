/* td_method.c: functions of the builder's file that other parts of Dynamo call directly,
   past the checks of their usual callers. */
#include "builder/td_operand.h"
#include "builder/td_plant.h"

static td_at_t const nowhere;

/* What a function was called with. */
typedef struct {
    PyObject *const *args; /* borrowed */
    Py_ssize_t       cnt;
} call_t;

static bool
unsupported(td_builder_t *b, char const *arm, char const *why)
{
    return td_stop_unsupported(b, arm, __func__, why);
}

/* source_of makes the source that an argument stands for: a str a local, an int a random
   value, ("const", name) a constant. */
static bool
source_of(td_builder_t *b, PyObject *name, td_at_t *at)
{
    PyObject *spec = NULL; /* owned */
    bool      good = false;

    if (PyUnicode_CheckExact(name)) {
        spec = Py_BuildValue("(sO)", "local", name);
    } else if (PyLong_CheckExact(name)) {
        spec = Py_BuildValue("(sO)", "random", name);
    } else if (PyTuple_CheckExact(name) && PyTuple_GET_SIZE(name) == 2 &&
               PyUnicode_CheckExact(PyTuple_GET_ITEM(name, 0)) &&
               PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(name, 0), "const") == 0 &&
               PyUnicode_CheckExact(PyTuple_GET_ITEM(name, 1))) {
        spec = Py_NewRef(name);
    } else {
        return unsupported(b, "L211/fn/entered", "a method at a source of another sort");
    }
    if (spec == NULL) {
        return td_stop_python(b);
    }
    good = td_keep(b, spec) && td_make_source(b, spec, at);
    Py_DECREF(spec);
    return good;
}

static bool
constant_literal(td_builder_t *b, call_t const *call, td_var_t *out)
{
    if (call->cnt != 1) {
        return unsupported(b, "L1792/assert/fail", "a method with other arguments");
    }
    return td_wrap_constant_literal(b, call->args[0], out);
}

/* is_simple: a number or text of Python's own, which torch.tensor() takes or refuses without
   running anybody's code. */
static bool
is_simple(PyObject *value)
{
    return PyFloat_CheckExact(value) || PyComplex_CheckExact(value) ||
           PyUnicode_CheckExact(value) || value == Py_None;
}

/* int_at builds an int or bool at a source that is neither constant nor random. */
static bool
int_at(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    if (PyBool_Check(value) && (b->cfg.force_unspec_int || !b->cfg.specialize_int)) {
        return unsupported(b, "L1171/bool/op0=T", "a bool that becomes a symbol");
    }
    if (!td_wrap_unspecialized_int(b, at, value, out)) {
        return false;
    }
    if (out->cls == TD_CLASS_ConstantVariable) {
        out->source = 0; /* nobody gave it one */
    }
    return true;
}

static bool
unspecialized(td_builder_t *b, call_t const *call, td_var_t *out)
{
    PyObject *value  = call->cnt == 0 ? Py_None : call->args[0]; /* borrowed */
    PyObject *plain  = PyUnicode_FromString("x");                /* owned */
    td_at_t   at     = {0};
    bool      is_int = PyLong_CheckExact(value) || PyBool_Check(value);
    bool      made   = plain != NULL && source_of(b, call->cnt == 2 ? call->args[1] : plain, &at);

    Py_XDECREF(plain);
    if (call->cnt < 1 || call->cnt > 2 || (!is_int && !is_simple(value))) {
        return unsupported(b, "L1151/fn/entered", "a method with other arguments");
    }
    if (!made) {
        return false;
    }
    if (is_int && (b->cfg.force_unspec_int ||
                   (at.where != TD_WHERE_CONSTANT && at.where != TD_WHERE_RANDOM_VALUE))) {
        return int_at(b, &at, value, out);
    }
    return td_wrap_np_number(b, &at, value, out);
}

/* to_fake mirrors the checks of wrap_to_fake_tensor_and_record. */
static bool
to_fake(td_builder_t *b, call_t const *call, td_var_t *out)
{
    PyObject *value = call->cnt == 0 ? Py_None : call->args[0]; /* borrowed */
    bool      exact = (PyObject *)Py_TYPE(value) == b->tables.tensor ||
                 (PyObject *)Py_TYPE(value) == b->tables.parameter;

    (void)out;
    if (call->cnt == 2 && exact && call->args[1] == Py_None) {
        return td_stop_raise(b, "L1707/assert/fail", __func__, "AssertionError", "");
    }
    return unsupported(b, "L1704/bool/op1=F", "a tensor that is made fake by itself");
}

static struct {
    char const *name;
    bool (*run)(td_builder_t *b, call_t const *call, td_var_t *out);
} const methods[] = {
    {"wrap_constant_literal", constant_literal},
    {"wrap_unspecialized_primitive", unspecialized},
    {"wrap_to_fake_tensor_and_record", to_fake},
};

/* has_refs: trackers of the frame as arguments. */
static bool
has_refs(td_builder_t *b, call_t const *call)
{
    for (Py_ssize_t i = 0; i < call->cnt; i++) {
        td_var_t *found = NULL;

        if (!td_operand_step(b, call->args[i], &found)) {
            return true; /* stopped */
        }
        if (found != NULL) {
            return !unsupported(b, "L211/fn/entered", "a method of a tracker");
        }
    }
    return false;
}

bool
td_call_listed(td_builder_t *b, PyObject *name, PyObject *args, td_var_t *out)
{
    call_t const call = {PySequence_Fast_ITEMS(args), PySequence_Fast_GET_SIZE(args)};

    if (has_refs(b, &call)) {
        return false;
    }
    for (size_t i = 0; PyUnicode_CheckExact(name) && i < sizeof methods / sizeof *methods; i++) {
        if (PyUnicode_CompareWithASCIIString(name, methods[i].name) == 0) {
            td_trail_add(b, &nowhere, "L211/fn/entered", __func__);
            return methods[i].run(b, &call, out);
        }
    }
    return unsupported(b, "L211/fn/entered", "a function that is called directly");
}
