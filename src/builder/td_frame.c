/* td_frame.c: a frame's life. */
#include <string.h>

#include "base/td_alloc.h"
#include "builder/td_frame.h"

/* What members of a set of names look like, in a few bits: a name that looks like none
   of them is none of them. */
enum { LOOK_CNT = 1024 };

typedef struct {
    PyObject *names; /* owned: the frozenset that bits are of, or NULL */
    uint64_t  bits[LOOK_CNT / 64];
} looks_t;

static size_t
look_of(char const *name, size_t sz)
{
    return sz == 0 ? 0 : (((uint8_t)name[0] * 8u + (uint8_t)name[sz - 1]) * 8u + sz) % LOOK_CNT;
}

/* Names of the graph are ASCII: a member that is not cannot be one of them. */
static void
looks_read(looks_t *looks, PyObject *names)
{
    Py_ssize_t pos = 0;
    PyObject  *name; /* borrowed */
    Py_hash_t  hash;

    Py_XSETREF(looks->names, Py_NewRef(names));
    memset(looks->bits, 0, sizeof looks->bits);
    while (_PySet_NextEntry(names, &pos, &name, &hash)) {
        if (PyUnicode_Check(name) && PyUnicode_IS_COMPACT_ASCII(name)) {
            size_t look = look_of(PyUnicode_DATA(name), (size_t)PyUnicode_GET_LENGTH(name));

            looks->bits[look / 64] |= (uint64_t)1 << look % 64;
        }
    }
}

static bool
may_be_reserved(PyObject *names, char const *name, size_t sz)
{
    static looks_t looks; /* of Dynamo's one set, which no program changes */
    size_t         look = look_of(name, sz);

    if (!PyFrozenSet_CheckExact(names)) {
        return true;
    }
    if (looks.names != names) {
        looks_read(&looks, names);
    }
    return (looks.bits[look / 64] >> look % 64 & 1) != 0;
}

/* Names that fx never gives: keywords, builtins, what generated code imports. */
static bool
is_reserved(void *ctx, char const *name, size_t sz)
{
    td_builder_t *b    = ctx;
    PyObject     *text = NULL; /* owned */
    int           has  = 0;

    if (!may_be_reserved(b->tables.fx_reserved, name, sz)) {
        return false;
    }
    text = PyUnicode_DecodeASCII(name, (Py_ssize_t)sz, NULL);
    has  = text == NULL ? -1 : PySet_Contains(b->tables.fx_reserved, text);
    Py_XDECREF(text);
    if (has < 0) {
        td_stop_python(b);
    }
    return has == 1;
}

/* The guards that every OutputGraph starts with. */
static bool
ambient(td_builder_t *b)
{
    static td_guard_kind_t const kinds[] = {TD_GUARD_SHAPE_ENV, TD_GUARD_DETERMINISTIC_ALGORITHMS,
                                            TD_GUARD_GRAD_MODE, TD_GUARD_DEFAULT_DEVICE,
                                            TD_GUARD_TORCH_FUNCTION_STATE};
    td_frame_t                  *frame   = &b->frame;
    td_at_t shape = td_source_block_add(&frame->sources, NULL, TD_SOURCE_CLASS_ShapeEnvSource,
                                        TD_PAYLOAD_NOTHING, NULL, NULL, 1, TD_WHERE_SHAPE_ENV);
    td_at_t state = td_source_block_add(&frame->sources, NULL, TD_SOURCE_CLASS_GlobalStateSource,
                                        TD_PAYLOAD_NOTHING, NULL, NULL, 1, TD_WHERE_GLOBAL);

    if (shape.id == 0 || state.id == 0) {
        return false;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        td_guard_t    guard = {.source = i == 0 ? shape.id : state.id, .kind = (uint8_t)kinds[i]};
        td_guard_id_t id    = td_guard_add(&frame->guards, &guard);

        if (id == 0 || !TD_ARRAY_PUSH(frame->output_guards, id)) {
            return false;
        }
    }
    return true;
}

/* The reaches were measured with three frames below the builder's caller, which a
   root does not have: the measuring script's. */
enum { FRAMES_MEASURED = 3 };

void
td_frame_deepen(td_builder_t *b, int recursion_left)
{
    b->frame.recursion_left = recursion_left + FRAMES_MEASURED;
}

bool
td_frame_open(td_builder_t *b, td_abi_frame_v1 const *in)
{
    td_frame_t *frame = &b->frame;

    memset(frame, 0, sizeof *frame);
    b->frame_open = true;
    td_arena_init(&frame->arena);
    td_sources_init(&frame->sources, (PyTypeObject *)b->tables.enum_class);
    frame->sources.flag_type      = (PyTypeObject *)b->tables.flag_class;
    frame->sources.torch_types[0] = (PyTypeObject *)b->tables.size;
    frame->sources.torch_types[1] = (PyTypeObject *)b->tables.dtype;
    frame->sources.torch_types[2] = (PyTypeObject *)b->tables.device;
    td_guards_init(&frame->guards);
    td_symbols_init(&frame->symbols);
    td_namespace_init(&frame->names, &frame->arena, is_reserved, b);
    frame->f_locals    = Py_NewRef(in->f_locals);
    frame->f_globals   = Py_NewRef(in->f_globals);
    frame->constraints = Py_NewRef(in->constraints == NULL ? Py_None : in->constraints);
    td_frame_deepen(b, in->recursion_left);
    frame->text_mode =
        b->state.cnt > 0 && !TD_PLANT(STATE_FORGOTTEN); /* names of earlier frames may come again */
    frame->changes = td_changes_new(b->objects);
    return frame->changes != NULL && ambient(b);
}

#define FREE_ARRAY(array) td_free((array).at)

void
td_frame_close(td_builder_t *b)
{
    td_frame_t *frame = &b->frame;

    if (!b->frame_open) {
        return;
    }
    b->frame_open = false;
    for (uint32_t i = frame->keep.cnt; i-- > 0;) {
        Py_DECREF(frame->keep.at[i]);
    }
    Py_CLEAR(frame->f_locals);
    Py_CLEAR(frame->f_globals);
    Py_CLEAR(frame->constraints);
    td_changes_free(frame->changes);
    FREE_ARRAY(frame->keep);
    FREE_ARRAY(frame->roots);
    FREE_ARRAY(frame->trail);
    FREE_ARRAY(frame->tracked);
    FREE_ARRAY(frame->keepalive);
    FREE_ARRAY(frame->output_guards);
    FREE_ARRAY(frame->inputs);
    FREE_ARRAY(frame->tracked_fakes);
    FREE_ARRAY(frame->id_sources);
    FREE_ARRAY(frame->sizes_strides);
    FREE_ARRAY(frame->unmade);
    FREE_ARRAY(frame->real_values);
    FREE_ARRAY(frame->user_stacks);
    FREE_ARRAY(frame->modules);
    FREE_ARRAY(frame->param_names);
    FREE_ARRAY(frame->globals);
    FREE_ARRAY(frame->input_nodes);
    FREE_ARRAY(frame->node_order);
    FREE_ARRAY(frame->fakes);
    FREE_ARRAY(frame->unspec);
    td_smap_clear(&frame->unspec_names);
    td_symbols_clear(&frame->symbols);
    td_pmap_clear(&frame->tracked_by_id);
    td_pmap_clear(&frame->input_by_hash);
    td_pmap_clear(&frame->sizes_by_tensor);
    td_pmap_clear(&frame->fake_by_tensor);
    td_smap_clear(&frame->input_names);
    td_smap_clear(&frame->module_names);
    td_pmap_clear(&frame->module_by_value);
    td_smap_clear(&frame->param_index);
    td_smap_clear(&frame->root_names);
    td_buf_clear(&frame->texts.name);
    td_buf_clear(&frame->texts.target);
    td_buf_clear(&frame->texts.free);
    td_buf_clear(&frame->texts.snake);
    td_namespace_clear(&frame->names);
    td_guards_clear(&frame->guards);
    td_sources_clear(&frame->sources);
    td_arena_clear(&frame->arena);
    memset(frame, 0, sizeof *frame);
}
