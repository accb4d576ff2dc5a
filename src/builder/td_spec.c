/* td_spec.c: source specs, the tuples in which a case names its sources. */
#include <string.h>

#include "base/td_alloc.h"
#include "builder/td_builder_private.h"
#include "builder/td_index.h"

/* What follows a spec's kind and base. */
typedef enum { REST_NONE, REST_NAME, REST_INDEX, REST_KEY } rest_t;

typedef struct {
    char const       *kind;
    td_source_class_t cls;
    bool              has_base;
    rest_t            rest;
    td_where_t        where; /* of a root */
} spec_row_t;

static spec_row_t const rows[] = {
    {"local", TD_SOURCE_CLASS_LocalSource, false, REST_NAME, TD_WHERE_LOCAL},
    {"cell", TD_SOURCE_CLASS_LocalSource, false, REST_NAME, TD_WHERE_LOCAL},
    {"global", TD_SOURCE_CLASS_GlobalSource, false, REST_NAME, TD_WHERE_GLOBAL},
    {"const", TD_SOURCE_CLASS_ConstantSource, false, REST_NAME, TD_WHERE_CONSTANT},
    {"weak", TD_SOURCE_CLASS_GlobalWeakRefSource, false, REST_NAME, TD_WHERE_GLOBAL},
    {"random", TD_SOURCE_CLASS_RandomValueSource, false, REST_INDEX, TD_WHERE_RANDOM_VALUE},
    {"attr", TD_SOURCE_CLASS_AttrSource, true, REST_NAME, TD_WHERE_LOCAL},
    {"param", TD_SOURCE_CLASS_ParamBufferSource, true, REST_NAME, TD_WHERE_LOCAL},
    {"item", TD_SOURCE_CLASS_GetItemSource, true, REST_KEY, TD_WHERE_LOCAL},
    {"odict", TD_SOURCE_CLASS_ODictGetItemSource, true, REST_KEY, TD_WHERE_LOCAL},
    {"default", TD_SOURCE_CLASS_DefaultsSource, true, REST_KEY, TD_WHERE_LOCAL},
    {"tupleiter", TD_SOURCE_CLASS_TupleIteratorGetItemSource, true, REST_INDEX, TD_WHERE_LOCAL},
    {"nnmodule", TD_SOURCE_CLASS_NNModuleSource, true, REST_NONE, TD_WHERE_LOCAL},
    {"notnn", TD_SOURCE_CLASS_NotNNModuleSource, true, REST_NONE, TD_WHERE_LOCAL},
    {"fsdp", TD_SOURCE_CLASS_FSDPNNModuleSource, true, REST_NONE, TD_WHERE_LOCAL},
    {"type", TD_SOURCE_CLASS_TypeSource, true, REST_NONE, TD_WHERE_LOCAL},
    {"numpy", TD_SOURCE_CLASS_NumpyTensorSource, true, REST_NONE, TD_WHERE_LOCAL},
};

static spec_row_t const *
row_of(PyObject *kind)
{
    for (size_t i = 0; PyUnicode_CheckExact(kind) && i < sizeof rows / sizeof *rows; i++) {
        if (PyUnicode_CompareWithASCIIString(kind, rows[i].kind) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

/* one makes a single source with the given key (borrowed; kept for the frame). */
static bool
one(td_builder_t *b, td_at_t const *base, td_source_class_t cls, PyObject *key, td_where_t where,
    bool flag, td_at_t *at)
{
    PyObject **keys = NULL;

    if (key != NULL) {
        keys = td_alloc_in(b, sizeof *keys);
        if (keys == NULL || !td_keep(b, key)) {
            return false;
        }
        keys[0] = key;
    }
    *at = td_source_block_add(&b->frame.sources, base, cls,
                              key == NULL ? TD_PAYLOAD_NOTHING : TD_PAYLOAD_KEYS, keys, NULL, 1,
                              where);
    if (at->id == 0) {
        return td_stop_nomem(b);
    }
    b->frame.sources.blocks[b->frame.sources.block_cnt - 1].flag = flag;
    return true;
}

bool
td_source_on(td_builder_t *b, td_at_t const *base, td_source_class_t cls, td_at_t *at)
{
    return one(b, base, cls, NULL, TD_WHERE_LOCAL, false, at);
}

bool
td_source_attr(td_builder_t *b, td_at_t const *base, td_source_class_t cls, PyObject *member,
               td_at_t *at)
{
    Py_ssize_t dot  = PyUnicode_FindChar(member, '.', 0, PyUnicode_GET_LENGTH(member), -1);
    PyObject  *head = NULL; /* owned */
    PyObject  *tail = NULL; /* owned */
    td_at_t    link = *base;
    bool       good = false;

    if (dot < 0) {
        return one(b, base, cls, member, TD_WHERE_LOCAL, false, at);
    }
    head = PyUnicode_Substring(member, 0, dot);
    tail = PyUnicode_Substring(member, dot + 1, PyUnicode_GET_LENGTH(member));
    if (head == NULL || tail == NULL) {
        td_stop_python(b);
    } else {
        good = td_source_attr(b, base, TD_SOURCE_CLASS_AttrSource, head, &link) &&
               one(b, &link, cls, tail, TD_WHERE_LOCAL, false, at);
    }
    Py_XDECREF(head);
    Py_XDECREF(tail);
    return good;
}

/* slice_index gives what slice.__reduce__() gives, as a new reference. */
static PyObject *
slice_index(PyObject *slice)
{
    PySliceObject *part = (PySliceObject *)slice;

    return Py_BuildValue("(O(OOO))", (PyObject *)&PySlice_Type, part->start, part->stop,
                         part->step);
}

static bool
item(td_builder_t *b, td_at_t const *base, td_source_class_t cls, PyObject *key, td_at_t *at)
{
    PyObject *index = NULL; /* owned */
    bool      good  = false;

    if (!td_index_has_repr(&b->frame.sources, key) &&
        !(cls == TD_SOURCE_CLASS_GetItemSource && td_index_is_enum(&b->frame.sources, key))) {
        return td_stop_unsupported(b, "L211/fn/entered", __func__,
                                   "a source whose index only Python can spell");
    }
    if (PySlice_Check(key) && (cls == TD_SOURCE_CLASS_GetItemSource ||
                               cls == TD_SOURCE_CLASS_TupleIteratorGetItemSource)) {
        index = slice_index(key);
        if (index == NULL) {
            return td_stop_python(b);
        }
        good = one(b, base, cls, index, TD_WHERE_LOCAL, true, at);
        Py_DECREF(index);
        return good;
    }
    return one(b, base, cls, key, TD_WHERE_LOCAL,
               cls == TD_SOURCE_CLASS_DefaultsSource && PyUnicode_Check(key), at);
}

static bool
make(td_builder_t *b, PyObject *spec, td_at_t *at)
{
    spec_row_t const *row  = NULL;
    PyObject         *last = NULL; /* borrowed */
    td_at_t           base = {0};

    row = PyTuple_CheckExact(spec) && PyTuple_GET_SIZE(spec) > 0 ? row_of(PyTuple_GET_ITEM(spec, 0))
                                                                 : NULL;
    if (row == NULL ||
        PyTuple_GET_SIZE(spec) != 1 + (row->has_base ? 1 : 0) + (row->rest != REST_NONE ? 1 : 0)) {
        return td_stop_unsupported(b, "L211/fn/entered", __func__,
                                   "an entry point that is not VariableBuilder");
    }
    last = row->rest == REST_NONE ? NULL : PyTuple_GET_ITEM(spec, PyTuple_GET_SIZE(spec) - 1);
    if (!row->has_base) {
        bool is_cell = strcmp(row->kind, "cell") == 0;

        return one(b, NULL, row->cls, last, row->where, is_cell, at);
    }
    if (!make(b, PyTuple_GET_ITEM(spec, 1), &base)) {
        return false;
    }
    switch (row->rest) {
    case REST_NONE:
        return td_source_on(b, &base, row->cls, at);
    case REST_NAME:
        return td_source_attr(b, &base, row->cls, last, at);
    case REST_INDEX:
    case REST_KEY:
        break;
    }
    return item(b, &base, row->cls, last, at);
}

/* note_root says whether a root's name is new and plain, so that no other source
   of the frame can be called like it or like anything below it. */
static bool
note_root(td_builder_t *b, td_at_t *at)
{
    td_frame_t           *frame = &b->frame;
    td_src_block_t const *block = td_source_block(&frame->sources, at->id);
    td_buf_t              name  = {0};
    char                 *kept  = NULL;
    bool                  plain = false;
    bool                  good  = true;

    plain =
        block->base == 0 && !block->flag &&
        (block->cls == TD_SOURCE_CLASS_LocalSource || block->cls == TD_SOURCE_CLASS_GlobalSource);
    if (!plain || frame->text_mode) {
        frame->text_mode = true;
        return true;
    }
    if (!td_source_name(&frame->sources, at->id, &name)) {
        good = td_stop_python(b);
    } else if (td_smap_get(&frame->root_names, name.bytes, name.sz) != TD_MAP_NONE) {
        frame->text_mode = true;
    } else {
        kept = td_arena_dup(&frame->arena, name.bytes, name.sz);
        good =
            (kept != NULL && td_smap_put(&frame->root_names, kept, name.sz, 0)) || td_stop_nomem(b);
        at->fresh = good;
    }
    td_buf_clear(&name);
    return good;
}

bool
td_make_source(td_builder_t *b, PyObject *spec, td_at_t *at)
{
    *at = (td_at_t){0};
    return make(b, spec, at) && note_root(b, at);
}

bool
td_spell_source(td_builder_t *b, PyObject *spec, td_at_t *at)
{
    *at = (td_at_t){0};
    return make(b, spec, at);
}
