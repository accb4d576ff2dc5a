/* td_source_repr.c: sources as dataclasses spell them, for messages. */
#include "builder/td_source.h"

/* is_literal: the repr is no code of anybody's, and says nothing of where an object lies.  A
   slice is an index in parts: (slice, (start, stop, step)). */
static bool
is_literal(PyObject *value)
{
    if (PyTuple_CheckExact(value)) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); i++) {
            if (!is_literal(PyTuple_GET_ITEM(value, i))) {
                return false;
            }
        }
        return true;
    }
    return PyUnicode_CheckExact(value) || PyLong_CheckExact(value) || PyBool_Check(value) ||
           PyFloat_CheckExact(value) || value == Py_None || value == (PyObject *)&PySlice_Type;
}

/* put_object puts the repr of a literal. */
static int
put_object(PyObject *value, td_buf_t *out)
{
    PyObject   *text = NULL; /* owned */
    char const *utf8 = NULL;
    Py_ssize_t  sz   = 0;

    if (!is_literal(value)) {
        return 0;
    }
    text = PyObject_Repr(value);
    utf8 = text == NULL ? NULL : PyUnicode_AsUTF8AndSize(text, &sz);
    if (utf8 != NULL) {
        td_buf_put(out, utf8, (size_t)sz);
    }
    Py_XDECREF(text);
    return utf8 == NULL || out->failed ? -1 : 1;
}

static int
put_field(td_sources_t const *sources, td_src_block_t const *block, td_src_id_t id,
          td_source_field_kind_t kind, td_buf_t *out)
{
    uint32_t offset = id - block->first;

    if (kind == TD_SOURCE_FIELD_SOURCE) {
        return td_source_repr(sources, block->base, out);
    }
    if (kind == TD_SOURCE_FIELD_BOOL) {
        td_buf_puts(out, block->flag ? "True" : "False");
        return 1;
    }
    if (block->payload == TD_PAYLOAD_INDEX) {
        td_buf_put_i64(out, block->start + offset);
        return 1;
    }
    if (kind == TD_SOURCE_FIELD_PROP || td_source_key(block, id) == NULL ||
        (block->payload == TD_PAYLOAD_SOURCES && block->subs[offset] != 0)) {
        return 0;
    }
    return put_object(td_source_key(block, id), out);
}

int
td_source_repr(td_sources_t const *sources, td_src_id_t id, td_buf_t *out)
{
    td_src_block_t const         *block = td_source_block(sources, id);
    td_source_class_info_t const *info  = td_source_class_info((td_source_class_t)block->cls);

    td_buf_puts(out, info->name);
    td_buf_putc(out, '(');
    for (size_t i = 0; i < info->field_cnt; i++) {
        int good = 0;

        td_buf_puts(out, i == 0 ? "" : ", ");
        td_buf_puts(out, info->fields[i]);
        td_buf_putc(out, '=');
        good = put_field(sources, block, id, info->kinds[i], out);
        if (good <= 0) {
            return good;
        }
    }
    td_buf_putc(out, ')');
    return out->failed ? -1 : 1;
}
