/* td_entry.c: the ways a root enters the builder. */
#include "builder/td_builder_private.h"

typedef bool entry_t(td_builder_t *b, td_abi_root_v1 const *in, td_at_t *at, td_var_t *out);

static bool
sourceless(td_builder_t *b, td_abi_root_v1 const *in, td_at_t *at, td_var_t *out)
{
    (void)at;
    return td_build_sourceless(b, in->value, out);
}

static bool
from_source(td_builder_t *b, td_abi_root_v1 const *in, td_at_t *at, td_var_t *out)
{
    return td_make_source(b, in->spec, at) && td_build(b, at, in->value, out);
}

typedef struct {
    char const *word;
    entry_t    *enter;
} row_t;

static row_t const rows[] = {
    {"sourceless", sourceless},
};

bool
td_enter(td_builder_t *b, td_abi_root_v1 const *in, td_at_t *at, td_var_t *out)
{
    PyObject *word = PyTuple_CheckExact(in->spec) && PyTuple_GET_SIZE(in->spec) > 0
                         ? PyTuple_GET_ITEM(in->spec, 0)
                         : Py_None; /* borrowed */

    for (size_t i = 0; PyUnicode_CheckExact(word) && i < sizeof rows / sizeof *rows; i++) {
        if (PyUnicode_CompareWithASCIIString(word, rows[i].word) == 0) {
            return rows[i].enter(b, in, at, out);
        }
    }
    return from_source(b, in, at, out);
}
