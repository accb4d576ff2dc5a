/* live_source.c: sources and roots as the spec tuples of a case. */
#include "live/live_private.h"

#include <string.h>

#include "base/td_assert.h"

/* ---- programs to specs ---------------------------------------------------------- */

static PyObject *
text(td_text_t name)
{
    return PyUnicode_DecodeUTF8(name.bytes, (Py_ssize_t)name.sz, "strict");
}

/* operand gives one operand of a source: a new reference. */
static PyObject *
operand(live_maker_t *maker, td_src_t const *source, char letter)
{
    switch (letter) {
    case 'b':
        return Py_NewRef(maker->specs[source->base]);
    case 'n':
        return text(source->name);
    case 'k':
        return Py_NewRef(PyTuple_GET_ITEM(maker->objects, source->key));
    case 'i':
        return PyLong_FromLongLong(source->idx);
    default:
        break;
    }
    PyErr_Format(PyExc_SystemError, "sources.def has an operand '%c'", letter);
    return NULL;
}

static PyObject *
spec_made(live_maker_t *maker, td_src_t const *source)
{
    td_op_info_t const *info = td_source_info(source->kind);
    size_t              cnt  = strlen(info->operands);
    PyObject           *spec = PyTuple_New((Py_ssize_t)cnt + 1); /* owned, returned */
    PyObject           *item = NULL;                             /* owned, stolen by spec */

    for (size_t i = 0; spec != NULL && i <= cnt; i++) {
        item = i == 0 ? PyUnicode_InternFromString(info->name)
                      : operand(maker, source, info->operands[i - 1]);
        if (item == NULL) {
            Py_CLEAR(spec);
            break;
        }
        PyTuple_SET_ITEM(spec, (Py_ssize_t)i, item);
    }
    return spec;
}

PyObject *
live_spec(live_maker_t *maker, uint16_t source)
{
    TD_ASSERT(source < maker->prog->source_cnt);
    /* A base stands before what is based on it: in this order it is there. */
    for (uint32_t i = 0; i <= source; i++) {
        if (maker->specs[i] == NULL) {
            maker->specs[i] = spec_made(maker, &maker->prog->sources[i]);
        }
        if (maker->specs[i] == NULL) {
            return NULL;
        }
    }
    return maker->specs[source];
}

/* A program counts the roots of a frame, a case all its entries. */
static PyObject *
arg_made(live_maker_t *maker, td_arg_t const *arg)
{
    if (arg->is_ref) {
        TD_ASSERT(arg->idx < maker->root_cnt);
        return Py_BuildValue("(si)", "ref", (int)maker->root_at[arg->idx]);
    }
    return Py_NewRef(PyTuple_GET_ITEM(maker->objects, arg->idx));
}

static PyObject *
args_made(live_maker_t *maker, td_step_t const *step)
{
    PyObject *args = PyTuple_New(step->arg_cnt); /* owned, returned */

    for (size_t i = 0; args != NULL && i < step->arg_cnt; i++) {
        PyObject *arg = arg_made(maker, &step->arg[i]); /* owned, stolen by args */

        if (arg == NULL) {
            Py_CLEAR(args);
            break;
        }
        PyTuple_SET_ITEM(args, (Py_ssize_t)i, arg);
    }
    return args;
}

PyObject *
live_root_spec(live_maker_t *maker, td_step_t const *step)
{
    char const *word = td_entry_info(step->op)->name;

    switch (step->op) {
    case TD_ENTRY_BUILD:
        return Py_XNewRef(live_spec(maker, step->source));
    case TD_ENTRY_FXCALL:
        return Py_BuildValue("(sN)", word, args_made(maker, step));
    case TD_ENTRY_FXMETHOD:
    case TD_ENTRY_METHOD:
        return Py_BuildValue("(sNN)", word, text(step->name), args_made(maker, step));
    case TD_ENTRY_COMPILE:
        return Py_BuildValue("(sN)", word, text(step->name));
    default:
        return Py_BuildValue("(s)", word);
    }
}

PyObject *
live_root_value(live_maker_t *maker, td_step_t const *step)
{
    switch (step->op) {
    case TD_ENTRY_BUILD:
    case TD_ENTRY_SOURCELESS:
    case TD_ENTRY_FXCALL:
        return Py_NewRef(PyTuple_GET_ITEM(maker->objects, step->node));
    case TD_ENTRY_COMPILE:
        return args_made(maker, step); /* what the function is called with */
    default:
        return Py_NewRef(Py_None);
    }
}

/* ---- specs of cases ------------------------------------------------------------- */

/* Forms that are no source: word and operands, 'a' for a tuple of arguments. */
static struct {
    char const *word, *operands;
} const root_forms[] = {
    {"do", ""},         {"fxcall", "a"},  {"fxmethod", "na"},
    {"sourceless", ""}, {"method", "na"}, {"compile", "n"},
};

/* operands_of gives the operand letters of a spec's first word, or NULL. */
static char const *
operands_of(PyObject *word, int as_base)
{
    for (size_t i = 0; !as_base && i < sizeof root_forms / sizeof root_forms[0]; i++) {
        if (PyUnicode_CompareWithASCIIString(word, root_forms[i].word) == 0) {
            return root_forms[i].operands;
        }
    }
    for (unsigned tag = 0; tag < TD_SOURCE_TAG_END; tag++) {
        td_op_info_t const *info = td_source_info((uint8_t)tag);

        if (info != NULL && PyUnicode_CompareWithASCIIString(word, info->name) == 0) {
            return info->operands;
        }
    }
    return NULL;
}

static int
operand_fits(PyObject *value, char letter)
{
    switch (letter) {
    case 'n':
        return PyUnicode_CheckExact(value);
    case 'b':
    case 'a':
        return PyTuple_CheckExact(value);
    default:
        return 1; /* an index of a case may also be a key */
    }
}

/* level_check checks one spec without its base.  Subclasses are refused: both sides
   compare and unpack specs, which would run code of the case. */
static char const *
level_check(PyObject *spec, int as_base)
{
    char const *operands = NULL;

    if (!PyTuple_CheckExact(spec) || PyTuple_GET_SIZE(spec) < 1 ||
        !PyUnicode_CheckExact(PyTuple_GET_ITEM(spec, 0))) {
        PyErr_SetString(PyExc_TypeError, "a source spec is a tuple that begins with a word");
        return NULL;
    }
    operands = operands_of(PyTuple_GET_ITEM(spec, 0), as_base);
    if (operands == NULL) {
        PyErr_Format(PyExc_TypeError, "no source spec is called '%U'", PyTuple_GET_ITEM(spec, 0));
        return NULL;
    }
    if (PyTuple_GET_SIZE(spec) != (Py_ssize_t)strlen(operands) + 1) {
        PyErr_Format(PyExc_TypeError, "a source spec '%U' has %zu operands, not %zd",
                     PyTuple_GET_ITEM(spec, 0), strlen(operands), PyTuple_GET_SIZE(spec) - 1);
        return NULL;
    }
    for (size_t i = 0; operands[i] != '\0'; i++) {
        if (!operand_fits(PyTuple_GET_ITEM(spec, (Py_ssize_t)i + 1), operands[i])) {
            PyErr_Format(PyExc_TypeError, "operand %zu of source spec '%U' is not of its type",
                         i + 1, PyTuple_GET_ITEM(spec, 0));
            return NULL;
        }
    }
    return operands;
}

int
live_spec_check(PyObject *spec)
{
    for (int as_base = 0;; as_base = 1) {
        char const *operands = level_check(spec, as_base);

        if (operands == NULL) {
            return -1;
        }
        if (operands[0] != 'b') {
            return 0;
        }
        spec = PyTuple_GET_ITEM(spec, 1); /* borrowed from the spec above it */
    }
}

static int
is_ref(PyObject *arg)
{
    return PyTuple_CheckExact(arg) && PyTuple_GET_SIZE(arg) == 2 &&
           PyUnicode_CheckExact(PyTuple_GET_ITEM(arg, 0)) &&
           PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(arg, 0), "ref") == 0;
}

static int
args_visit(PyObject *args, live_visit_t visit, void *ctx)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
        PyObject *arg = PyTuple_GET_ITEM(args, i); /* borrowed from args */

        if (!is_ref(arg) && visit(ctx, arg) < 0) {
            return -1;
        }
    }
    return 0;
}

int
live_spec_objects(PyObject *spec, live_visit_t visit, void *ctx)
{
    for (int as_base = 0; spec != NULL; as_base = 1) {
        char const *operands = operands_of(PyTuple_GET_ITEM(spec, 0), as_base);
        PyObject   *base     = NULL; /* borrowed from spec */

        TD_ASSERT(operands != NULL);
        for (size_t i = 0; operands[i] != '\0'; i++) {
            PyObject *value  = PyTuple_GET_ITEM(spec, (Py_ssize_t)i + 1); /* borrowed */
            int       result = 0;

            if (operands[i] == 'b') {
                base = value;
            } else if (operands[i] == 'a') {
                result = args_visit(value, visit, ctx);
            } else if (operands[i] == 'k') {
                result = visit(ctx, value);
            }
            if (result < 0) {
                return -1;
            }
        }
        spec = base;
    }
    return 0;
}
