/* td_refuse.c: what an exported program takes no input for. */
#include "builder/td_builder_private.h"
#include "py/td_call.h"

bool
td_is_extra_input(td_builder_t *b, td_at_t const *at)
{
    return b->export_mode && !TD_PLANT(EXTRA_INPUT) &&
           td_source_block(&b->frame.sources, at->id)->cls != TD_SOURCE_CLASS_LocalSource;
}

/* put_item puts a tensor without dims as format() gives it: as the number that it holds. */
static bool
put_item(td_builder_t *b, PyObject *tensor, td_buf_t *out)
{
    PyObject   *item = td_call_method(b->names.item, &tensor, 1); /* owned: a plain number */
    PyObject   *text = item == NULL ? NULL : PyObject_Str(item);  /* owned */
    char const *utf8 = text == NULL ? NULL : PyUnicode_AsUTF8(text);

    if (utf8 != NULL) {
        td_buf_puts(out, utf8);
    }
    Py_XDECREF(text);
    Py_XDECREF(item);
    return utf8 != NULL || td_stop_python(b);
}

/* put_source puts how the source spells itself. */
static bool
put_source(td_builder_t *b, td_at_t const *at, td_buf_t *out)
{
    int good = td_source_repr(&b->frame.sources, at->id, out);

    if (good == 0) {
        return td_stop_unsupported(b, "L1253/if/T", __func__,
                                   "a source that is spelled by code of its index");
    }
    if (good < 0) {
        return PyErr_Occurred() != NULL ? td_stop_python(b) : td_stop_nomem(b);
    }
    return true;
}

bool
td_refuse_input(td_builder_t *b, td_at_t const *at, td_num_t const *number, PyObject *tensor)
{
    td_buf_t  text    = {0};
    PyObject *message = NULL; /* owned until kept */
    bool      good    = true;

    td_buf_puts(&text, "Dynamo attempts to add additional input during export: value=");
    if (number != NULL) {
        td_num_put(b, number, &text);
    } else {
        good = put_item(b, tensor, &text);
    }
    td_buf_puts(&text, ", source=");
    good = good && put_source(b, at, &text);
    if (good && text.failed) {
        good = td_stop_nomem(b);
    }
    if (good) {
        message = PyUnicode_DecodeUTF8(text.bytes, (Py_ssize_t)text.sz, "strict");
        good    = message == NULL ? td_stop_python(b) : td_keep_steal(b, message);
    }
    td_buf_clear(&text);
    return good && td_stop_raise_text(b, "L1253/if/T", __func__, "AssertionError", message);
}
