/* wrap_partial.c: functools.partial, taken apart. */
#include "builder/td_builder_private.h"
#include "py/td_call.h"

/* One partial while it is being wrapped. */
typedef struct {
    PyObject *func, *args, *keywords; /* kept for the frame */
    td_at_t   args_at, keywords_at;
} parts_t;

/* part reads an attribute; a subclass may compute it.  *kept is of the frame's keep. */
static bool
part(td_builder_t *b, PyObject *value, PyObject *name, PyObject **kept)
{
    *kept = td_call_attr(value, name); /* owned until kept */
    if (*kept == NULL) {
        return td_stop_passing(b, "L496/if/T", __func__);
    }
    return td_keep_steal(b, *kept);
}

/* part_at makes AttrSource(base, name). */
static bool
part_at(td_builder_t *b, td_at_t const *base, PyObject *name, td_at_t *at)
{
    PyObject **keys = td_alloc_in(b, sizeof *keys);

    if (keys == NULL) {
        return false;
    }
    keys[0] = name;
    return td_children(b, base, TD_SOURCE_CLASS_AttrSource, TD_PAYLOAD_KEYS, keys, NULL, 1, at);
}

static bool
build_func(td_builder_t *b, td_at_t const *at, parts_t const *parts, td_partial_t *partial)
{
    td_at_t source = {0};

    return part_at(b, at, b->names.func, &source) &&
           td_build(b, &source, parts->func, &partial->all[0]);
}

static bool
build_args(td_builder_t *b, parts_t const *parts, td_partial_t *partial)
{
    td_at_t first = {0};

    if (!td_children(b, &parts->args_at, TD_SOURCE_CLASS_GetItemSource, TD_PAYLOAD_INDEX, NULL,
                     NULL, partial->arg_cnt, &first)) {
        return false;
    }
    for (uint32_t i = 0; i < partial->arg_cnt; i++) {
        td_at_t child = td_source_nth(&first, i);

        if (!td_build(b, &child, PyTuple_GET_ITEM(parts->args, i), &partial->all[1 + i])) {
            return false;
        }
    }
    return true;
}

/* read_keywords leaves names and values in two arrays; every name is a str. */
static bool
read_keywords(td_builder_t *b, parts_t const *parts, td_partial_t *partial, PyObject **values)
{
    PyObject  *key = NULL; /* borrowed */
    Py_ssize_t pos = 0;

    for (uint32_t i = 0; PyDict_Next(parts->keywords, &pos, &key, &values[i]); i++) {
        if (!PyUnicode_CheckExact(key)) {
            return td_stop_unsupported(b, "L507/for/some", __func__,
                                       "a keyword of a partial that is no str");
        }
        partial->keys[i] = key;
        if (!td_keep(b, key) || !td_keep(b, values[i])) {
            return false;
        }
    }
    return true;
}

static bool
build_keywords(td_builder_t *b, parts_t const *parts, td_partial_t *partial)
{
    PyObject **values = td_alloc_in(b, (partial->keyword_cnt + 1) * sizeof(PyObject *));
    td_at_t    first  = {0};

    if (values == NULL || !read_keywords(b, parts, partial, values) ||
        !td_children(b, &parts->keywords_at, TD_SOURCE_CLASS_GetItemSource, TD_PAYLOAD_KEYS,
                     partial->keys, NULL, partial->keyword_cnt, &first)) {
        return false;
    }
    for (uint32_t i = 0; i < partial->keyword_cnt; i++) {
        td_at_t child = td_source_nth(&first, i);

        if (!td_build(b, &child, values[i], &partial->all[1 + partial->arg_cnt + i])) {
            return false;
        }
    }
    return true;
}

/* own_guards makes the three guards of a partial, past make_guards. */
static bool
own_guards(td_builder_t *b, td_at_t const *at, parts_t const *parts, td_var_t *out)
{
    td_more_t    *more  = td_alloc_in(b, sizeof *more);
    td_guard_id_t type  = 0;
    td_guard_id_t keys  = 0;
    td_guard_id_t count = 0;

    if (more == NULL || !td_source_guard(b, at, TD_GUARD_TYPE_MATCH, false, &type) ||
        !td_source_guard(b, &parts->keywords_at, TD_GUARD_DICT_KEYS, false, &keys) ||
        !td_source_guard(b, &parts->args_at, TD_GUARD_LIST_LENGTH, false, &count)) {
        return false;
    }
    td_var_make(out, TD_CLASS_FunctoolsPartialVariable, type);
    out->added  = keys;
    more->guard = TD_PLANT(PARTIAL_LENGTH) ? type : count;
    out->more   = more;
    return true;
}

static td_partial_t *
partial_new(td_builder_t *b, PyObject *value, parts_t const *parts)
{
    uint32_t      arg_cnt     = (uint32_t)PyTuple_GET_SIZE(parts->args);
    uint32_t      keyword_cnt = (uint32_t)PyDict_GET_SIZE(parts->keywords);
    uint32_t      cnt         = 1 + arg_cnt + keyword_cnt;
    td_partial_t *partial =
        td_alloc_in(b, sizeof *partial + cnt * sizeof(td_var_t) + keyword_cnt * sizeof(PyObject *));

    if (partial == NULL || !td_keep(b, value)) {
        return NULL;
    }
    *partial      = (td_partial_t){.all         = (td_var_t *)(partial + 1),
                                   .arg_cnt     = arg_cnt,
                                   .keyword_cnt = keyword_cnt,
                                   .original    = value};
    partial->keys = (PyObject **)(partial->all + cnt);
    return partial;
}

/* td_wrap_partial mirrors the branch of functools.partial: function, arguments and
   keywords are built one after the other, each under a source of its own. */
bool
td_wrap_partial(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    parts_t       parts   = {0};
    td_partial_t *partial = NULL;

    if (!part(b, value, b->names.func, &parts.func) ||
        !part(b, value, b->names.args, &parts.args) ||
        !part(b, value, b->names.keywords, &parts.keywords)) {
        return false;
    }
    if (!PyTuple_CheckExact(parts.args) || !PyDict_CheckExact(parts.keywords)) {
        return td_stop_unsupported(b, "L496/if/T", __func__,
                                   "a partial whose class gives arguments of its own");
    }
    partial = partial_new(b, value, &parts);
    if (partial == NULL || !build_func(b, at, &parts, partial) ||
        !part_at(b, at, b->names.args, &parts.args_at) || !build_args(b, &parts, partial) ||
        !part_at(b, at, b->names.keywords, &parts.keywords_at) ||
        !build_keywords(b, &parts, partial) || !own_guards(b, at, &parts, out)) {
        return false;
    }
    out->of.partial = partial;
    return true;
}
