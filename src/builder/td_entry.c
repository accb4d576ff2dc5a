/* td_entry.c: the ways a root enters the builder. */
#include "builder/td_builder_private.h"

typedef bool entry_t(td_builder_t *b, td_abi_root_v1 const *in, td_at_t *at, td_var_t *out);

static bool
sourceless(td_builder_t *b, td_abi_root_v1 const *in, td_at_t *at, td_var_t *out)
{
    (void)at;
    return td_context_begin(b) && td_build_sourceless(b, in->value, out);
}

/* An operand of a spec: a tuple of arguments (a list is taken for one). */
static bool
call(td_builder_t *b, PyObject *callee, PyObject *name, PyObject *args, td_var_t *out)
{
    PyObject *tuple = PySequence_Tuple(args); /* owned */
    bool      good  = false;

    if (tuple == NULL) {
        return td_stop_python(b);
    }
    good = td_build_fx(b, callee, name, tuple, out);
    Py_DECREF(tuple);
    return good;
}

static bool
fxcall(td_builder_t *b, td_abi_root_v1 const *in, td_at_t *at, td_var_t *out)
{
    (void)at;
    return call(b, in->value, NULL, PyTuple_GET_ITEM(in->spec, 1), out);
}

static bool
fxmethod(td_builder_t *b, td_abi_root_v1 const *in, td_at_t *at, td_var_t *out)
{
    (void)at;
    return call(b, NULL, PyTuple_GET_ITEM(in->spec, 1), PyTuple_GET_ITEM(in->spec, 2), out);
}

static bool
method(td_builder_t *b, td_abi_root_v1 const *in, td_at_t *at, td_var_t *out)
{
    PyObject *args = PyTuple_GET_ITEM(in->spec, 2); /* borrowed */

    (void)at;
    if (!PyTuple_CheckExact(args)) {
        return td_stop_unsupported(b, "L211/fn/entered", __func__, "arguments that are no tuple");
    }
    return td_context_begin(b) && td_call_listed(b, PyTuple_GET_ITEM(in->spec, 1), args, out);
}

static bool
from_source(td_builder_t *b, td_abi_root_v1 const *in, td_at_t *at, td_var_t *out)
{
    return td_context_begin(b) && td_make_source(b, in->spec, at) &&
           td_build(b, at, in->value, out);
}

typedef struct {
    char const *word;
    Py_ssize_t  cnt; /* items of the spec */
    entry_t    *enter;
} row_t;

static row_t const rows[] = {
    {"sourceless", 1, sourceless},
    {"fxcall", 2, fxcall},
    {"fxmethod", 3, fxmethod},
    {"method", 3, method},
};

bool
td_enter(td_builder_t *b, td_abi_root_v1 const *in, td_at_t *at, td_var_t *out)
{
    PyObject *word = PyTuple_CheckExact(in->spec) && PyTuple_GET_SIZE(in->spec) > 0
                         ? PyTuple_GET_ITEM(in->spec, 0)
                         : Py_None; /* borrowed */

    for (size_t i = 0; PyUnicode_CheckExact(word) && i < sizeof rows / sizeof *rows; i++) {
        if (PyUnicode_CompareWithASCIIString(word, rows[i].word) == 0 &&
            PyTuple_GET_SIZE(in->spec) == rows[i].cnt) {
            return rows[i].enter(b, in, at, out);
        }
    }
    return from_source(b, in, at, out);
}
