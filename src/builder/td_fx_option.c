/* td_fx_option.c: what wrap_fx_proxy is given besides a node. */
#include "builder/td_fx_option.h"

static bool
is_option(PyObject *arg)
{
    PyObject *word = PyTuple_CheckExact(arg) && PyTuple_GET_SIZE(arg) > 1 ? PyTuple_GET_ITEM(arg, 0)
                                                                          : Py_None; /* borrowed */

    return PyUnicode_CheckExact(word) && PyUnicode_CompareWithASCIIString(word, "option") == 0 &&
           PyUnicode_CheckExact(PyTuple_GET_ITEM(arg, 1));
}

static bool
local(td_builder_t *b, char const *name, td_at_t *at)
{
    PyObject *spec = Py_BuildValue("(ss)", "local", name); /* owned */
    bool      good =
        spec != NULL ? td_keep_steal(b, spec) && td_make_source(b, spec, at) : td_stop_python(b);

    return good;
}

static bool
is_word(PyObject *option, char const *word)
{
    return PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(option, 1), word) == 0;
}

static bool
read_option(td_builder_t *b, PyObject *option, td_fx_options_t *options)
{
    td_at_t at = {0};

    if (is_word(option, "example")) {
        options->example = PyTuple_GET_SIZE(option) > 2 ? PyTuple_GET_ITEM(option, 2) : Py_None;
    } else if (is_word(option, "source")) {
        return local(b, "z", &options->source);
    } else if (is_word(option, "no_source")) {
        options->source = (td_at_t){0};
    } else if (is_word(option, "guards")) {
        options->guards_given = true;
        return local(b, "q", &at) &&
               td_source_guard(b, &at, TD_GUARD_TYPE_MATCH, false, &options->guard);
    } else if (is_word(option, "no_guards")) {
        options->guards_given = true;
        options->guard        = 0;
    } else if (b->context != NULL && is_word(option, "given")) {
        options->guards_given = true;
        return td_context_guards(b, PyTuple_GET_ITEM(option, 2), &options->more);
    } else if (b->context != NULL && is_word(option, "unspecialized")) {
        options->raw_value   = PyTuple_GET_ITEM(option, 2);
        options->need_unwrap = PyTuple_GET_ITEM(option, 3) == Py_True;
        return td_keep(b, options->raw_value);
    } else if (is_word(option, "specialize")) {
        options->should_specialize = true;
    } else if (is_word(option, "not_translator")) {
        options->no_translator = true;
    } else if (is_word(option, "twice")) {
        options->twice = true;
    }
    return true;
}

bool
td_fx_options_read(td_builder_t *b, PyObject *args, td_fx_options_t *options, PyObject **rest)
{
    PyObject *list = PyList_New(0); /* owned */
    bool      good = list != NULL;

    *options = (td_fx_options_t){0};
    *rest    = NULL;
    for (Py_ssize_t i = 0; good && i < PyTuple_GET_SIZE(args); i++) {
        PyObject *arg = PyTuple_GET_ITEM(args, i); /* borrowed */

        good = is_option(arg) ? read_option(b, arg, options) : PyList_Append(list, arg) == 0;
    }
    *rest = good ? PyList_AsTuple(list) : NULL;
    Py_XDECREF(list);
    if (*rest == NULL && b->stop.kind == TD_STOP_NONE) {
        td_stop_python(b);
    }
    return *rest != NULL;
}
