/* td_method.c: functions of the builder's file that other parts of Dynamo call directly,
   past the checks of their usual callers. */
#include "builder/td_method.h"

#include "builder/td_operand.h"
#include "builder/td_plant.h"
#include "builder/td_value.h"

static td_at_t const nowhere;

bool
td_method_give(td_builder_t *b, PyObject *value)
{
    if (value == NULL) {
        return td_stop_python(b);
    }
    b->value = value;
    return td_keep_steal(b, value);
}

bool
td_method_refuse(td_builder_t *b, char const *message)
{
    return td_stop_raise(b, "L211/fn/entered", __func__, "tandem.oracle.methods.BadOperand",
                         message);
}

static bool
unsupported(td_builder_t *b, char const *arm, char const *why)
{
    return td_stop_unsupported(b, arm, __func__, why);
}

/* ---- operands ------------------------------------------------------------------- */

static bool
is_pair_of_strs(PyObject *name)
{
    return PyTuple_CheckExact(name) && PyTuple_GET_SIZE(name) == 2 &&
           PyUnicode_CheckExact(PyTuple_GET_ITEM(name, 0)) &&
           PyUnicode_CheckExact(PyTuple_GET_ITEM(name, 1));
}

static bool
is_word(PyObject *text, char const *word)
{
    return PyUnicode_CompareWithASCIIString(text, word) == 0;
}

bool
td_method_source(td_builder_t *b, td_given_t const *given, td_at_t *at)
{
    PyObject *name = given->tracker == NULL ? given->object : Py_None; /* borrowed */
    PyObject *spec = NULL;                                             /* owned */
    bool      good = false;

    if (PyUnicode_CheckExact(name)) {
        spec = Py_BuildValue("(sO)", "local", name);
    } else if (PyLong_CheckExact(name)) {
        spec = Py_BuildValue("(sO)", "random", name);
    } else if (is_pair_of_strs(name) && (is_word(PyTuple_GET_ITEM(name, 0), "const") ||
                                         is_word(PyTuple_GET_ITEM(name, 0), "global"))) {
        spec = Py_NewRef(name);
    } else {
        return td_method_refuse(b, "no source");
    }
    if (spec == NULL) {
        return td_stop_python(b);
    }
    good = td_keep(b, spec) && td_make_source(b, spec, at);
    Py_DECREF(spec);
    return good;
}

/* source_at makes the source that operand idx stands for, L['x'] where there is none;
   None is no source: id 0. */
static bool
source_at(td_builder_t *b, td_call_t const *call, size_t idx, td_at_t *at)
{
    PyObject  *plain = NULL; /* owned */
    td_given_t given = {0};
    bool       good  = false;

    if (idx < call->cnt) {
        return (call->at[idx].tracker == NULL && call->at[idx].object == Py_None) ||
               td_method_source(b, &call->at[idx], at);
    }
    plain = PyUnicode_FromString("x");
    if (plain == NULL) {
        return td_stop_python(b);
    }
    given.object = plain;
    good         = td_method_source(b, &given, at);
    Py_DECREF(plain);
    return good;
}

/* flag_at reads operand idx as a bool. */
static bool
flag_at(td_builder_t *b, td_call_t const *call, size_t idx, bool *flag)
{
    if (idx >= call->cnt) {
        return true;
    }
    if (call->at[idx].tracker != NULL || !PyBool_Check(call->at[idx].object)) {
        return td_method_refuse(b, "no bool");
    }
    *flag = call->at[idx].object == Py_True;
    return true;
}

/* ---- wrap_constant_literal, wrap_unspecialized_primitive ---------------------------- */

static bool
constant_literal(td_builder_t *b, td_call_t const *call, td_var_t *out)
{
    if (call->at[0].tracker != NULL) {
        return td_stop_raise(b, "L1792/assert/fail", __func__, "AssertionError", "");
    }
    return td_wrap_constant_literal(b, call->at[0].object, out);
}

/* is_taken: nobody asks it what it is but by its type, and torch.tensor() takes or refuses it by
   its own code, silently: so with whatever is no tensor. */
static bool
is_taken(td_builder_t *b, PyObject *value)
{
    return td_is_lying(b, &nowhere, value) == 0 && !td_is_a(value, b->tables.tensor);
}

/* int_at builds an int or bool at a source that is neither constant nor random. */
static bool
int_at(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    if (!td_wrap_unspecialized_int(b, at, value, out)) {
        return false;
    }
    if (out->cls == TD_CLASS_ConstantVariable) {
        out->source = 0; /* nobody gave it one */
    }
    return true;
}

static bool
refuse_no_source(td_builder_t *b)
{
    return td_stop_raise(b, "L216/assert/fail", __func__, "AssertionError",
                         "Consider SourcelessBuilder for ephemeral objects, usually objects "
                         "created locally.");
}

static bool
unspecialized(td_builder_t *b, td_call_t const *call, td_var_t *out)
{
    PyObject *value  = call->at[0].object; /* borrowed */
    td_at_t   at     = {0};
    bool      is_int = PyLong_CheckExact(value) || PyBool_Check(value);

    if (!source_at(b, call, 1, &at)) {
        return false;
    }
    if (at.id == 0) {
        return refuse_no_source(b);
    }
    if (call->at[0].tracker != NULL || (!is_int && (PyLong_Check(value) || !is_taken(b, value)))) {
        return unsupported(b, "L1151/fn/entered", "what is no number as one");
    }
    if (is_int && (b->cfg.force_unspec_int ||
                   (at.where != TD_WHERE_CONSTANT && at.where != TD_WHERE_RANDOM_VALUE))) {
        return int_at(b, &at, value, out);
    }
    return td_wrap_np_number(b, &at, value, out);
}

/* ---- builders --------------------------------------------------------------------------- */

/* builder_made mirrors VariableBuilder.__init__ where no context traces. */
static bool
builder_made(td_builder_t *b, td_call_t const *call, td_var_t *out)
{
    td_at_t at = {0};

    (void)out;
    if (!source_at(b, call, 0, &at)) {
        return false;
    }
    return at.id == 0 ? refuse_no_source(b)
                      : td_stop_raise(b, "L219/assert/fail", __func__, "AssertionError",
                                      "Expected active TracingContext");
}

/* sourceless mirrors SourcelessBuilder.__call__: a tracker is what it was. */
static bool
sourceless(td_builder_t *b, td_call_t const *call, td_var_t *out)
{
    if (call->at[0].tracker != NULL) {
        *out = (td_var_t){.cls = TD_VAR_ALIAS, .of.alias = td_var_target(call->at[0].tracker)};
        return true;
    }
    return td_build_sourceless(b, call->at[0].object, out);
}

/* ---- wrap_to_fake_tensor_and_record ------------------------------------------------- */

/* make_fake mirrors the function for exact tensors and parameters. */
static bool
make_fake(td_builder_t *b, td_at_t const *at, PyObject *tensor, bool is_tensor)
{
    td_fake_t *fake = NULL;

    if (at->id == 0) {
        return td_stop_raise(b, "L1707/assert/fail", __func__, "AssertionError", "");
    }
    if (is_tensor) {
        fake = td_wrap_to_fake(b, at, tensor);
    } else {
        fake = td_fake_of(b, at, tensor, &(td_dims_t){0}, true);
        if (fake != NULL && !td_note_sizes(b, tensor, fake)) {
            return false;
        }
    }
    return fake != NULL && td_method_give(b, td_value_new(b, TD_VALUE_FAKE, fake));
}

static bool
to_fake(td_builder_t *b, td_call_t const *call, td_var_t *out)
{
    PyObject *value           = call->at[0].object; /* borrowed */
    bool      exact           = false;
    bool      is_tensor       = true;
    bool      ignore_subclass = false;
    td_at_t   at              = {0};

    if (!flag_at(b, call, 2, &is_tensor) || !flag_at(b, call, 3, &ignore_subclass) ||
        !source_at(b, call, 1, &at)) {
        return false;
    }
    if (call->at[0].tracker != NULL) {
        *out = (td_var_t){.cls      = TD_VAR_ALIAS,
                          .of.alias = td_var_target(call->at[0].tracker)}; /* as it is */
        return true;
    }
    exact = (PyObject *)Py_TYPE(value) == b->tables.tensor ||
            (PyObject *)Py_TYPE(value) == b->tables.parameter;
    if (exact) {
        return make_fake(b, &at, value, is_tensor);
    }
    if (td_is_lying(b, &nowhere, value) != 0 || td_is_a(value, b->tables.tensor)) {
        return unsupported(b, "L1705/if/T", "a subclass of Tensor that is made fake by itself");
    }
    return td_method_give(b, Py_NewRef(value)); /* no tensor: as it is */
}

/* ---- the list -------------------------------------------------------------------------- */

static struct {
    char const     *name;
    size_t          least, most; /* operands */
    td_method_fn_t *run;
} const methods[] = {
    {"wrap_constant_literal", 1, 1, constant_literal},
    {"wrap_unspecialized_primitive", 1, 2, unspecialized},
    {"wrap_to_fake_tensor_and_record", 1, 4, to_fake},
    {"_dataclasses_fields_lambda", 1, 1, td_method_fields},
    {"VariableBuilder.__init__", 0, 1, builder_made},
    {"SourcelessBuilder.__call__", 1, 1, sourceless},
    {"GraphArg.example", 0, 1, td_method_example},
    {"GraphArg.__eq__", 1, 2, td_method_arg_equal},
    {"GraphArg.load", 1, 1, td_method_load},
    {"GraphArg.erase", 1, 1, td_method_erase},
    {"TrackedFake.__eq__", 1, 4, td_method_tracked_equal},
    {"TrackedFake.__hash__", 1, 2, td_method_tracked_hash},
};

/* find gives the list's index of name, SIZE_MAX where it is not there. */
static size_t
find(PyObject *name)
{
    for (size_t i = 0; PyUnicode_CheckExact(name) && i < sizeof methods / sizeof *methods; i++) {
        if (PyUnicode_CompareWithASCIIString(name, methods[i].name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* read_call looks the operands up: trackers of the frame stand as ("ref", i). */
static bool
read_call(td_builder_t *b, PyObject *args, td_call_t *call)
{
    size_t      cnt   = (size_t)PyTuple_GET_SIZE(args);
    td_given_t *given = td_alloc_in(b, (cnt + 1) * sizeof *given);

    if (given == NULL) {
        return false;
    }
    for (size_t i = 0; i < cnt; i++) {
        given[i].object = PyTuple_GET_ITEM(args, (Py_ssize_t)i);
        if (!td_operand_step(b, given[i].object, &given[i].tracker)) {
            return false;
        }
    }
    *call = (td_call_t){.at = given, .cnt = cnt};
    return true;
}

bool
td_call_listed(td_builder_t *b, PyObject *name, PyObject *args, td_var_t *out)
{
    size_t    idx     = find(name);
    td_call_t call    = {0};
    char      why[96] = "";

    if (idx == SIZE_MAX) {
        return unsupported(b, "L211/fn/entered", "a function that is called directly");
    }
    if (!read_call(b, args, &call)) {
        return false;
    }
    if (call.cnt < methods[idx].least || call.cnt > methods[idx].most) {
        PyObject *text = NULL; /* owned until kept */

        (void)PyOS_snprintf(why, sizeof why, "%zu operands where %zu to %zu are taken", call.cnt,
                            methods[idx].least, methods[idx].most);
        text = PyUnicode_FromString(why);
        if (text == NULL) {
            return td_stop_python(b);
        }
        return td_keep_steal(b, text) &&
               td_stop_raise_text(b, "L211/fn/entered", __func__,
                                  "tandem.oracle.methods.BadOperand", text);
    }
    td_trail_add(b, &nowhere, "L211/fn/entered", __func__);
    return methods[idx].run(b, &call, out);
}
