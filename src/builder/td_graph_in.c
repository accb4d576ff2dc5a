/* td_graph_in.c: nodes of the graph, and what they are called. */
#include <string.h>

#include "builder/td_depth.h"
#include "py/td_call.h"

/* node_named makes a node that is in no list yet; target is kept by the arena, and
   called is what the node's name is made from. */
static td_fxnode_t *
node_named(td_builder_t *b, td_fxop_t op, char const *target, size_t target_sz, char const *called,
           size_t called_sz)
{
    td_frame_t  *frame  = &b->frame;
    td_fxnode_t *node   = td_alloc_in(b, sizeof *node);
    td_buf_t    *snake  = &frame->texts.snake;
    td_status_t  status = TD_NOMEM;

    if (node == NULL) {
        return NULL;
    }
    node->op          = (uint8_t)op;
    node->target      = td_arena_dup(&frame->arena, target, target_sz);
    node->target_sz   = target_sz;
    node->timestamp   = frame->timestamp;
    frame->prev_other = frame->prev_other && op < TD_OP_CALL_FUNCTION;
    td_buf_reset(snake);
    td_fxname_snake(snake, called, called_sz);
    if (!snake->failed && node->target != NULL) {
        status = td_namespace_create(&frame->names, snake->bytes == NULL ? "" : snake->bytes,
                                     snake->sz, &node->name, &node->name_sz);
    }
    if (status == TD_LIMIT) {
        td_stop_unsupported(b, "L1063/call", __func__,
                            "a name that ends in a number beyond 64 bits");
        return NULL;
    }
    if (status != TD_OK || !TD_ARRAY_PUSH(frame->node_order, node)) {
        td_stop_nomem(b);
        return NULL;
    }
    return node;
}

static td_fxnode_t *
node_new(td_builder_t *b, td_fxop_t op, char const *target, size_t target_sz)
{
    return node_named(b, op, target, target_sz, target, target_sz);
}

/* A placeholder goes behind the last one, or to the front. */
static void
insert_input(td_frame_t *frame, td_fxnode_t *node)
{
    td_fxnode_t **link = frame->last_input == NULL || TD_PLANT(GRAPH_ARG_ORDER)
                             ? &frame->first
                             : &frame->last_input->next;

    node->next = *link;
    node->prev = link == &frame->first ? NULL : frame->last_input;
    if (node->next != NULL) {
        node->next->prev = node;
    }
    *link = node;
    if (frame->last == NULL || frame->last == frame->last_input) {
        frame->last = node;
    }
    frame->last_input = node;
}

/* insert_before puts a node before the last input, which stays the last one. */
static void
insert_before(td_frame_t *frame, td_fxnode_t *node)
{
    td_fxnode_t *last = frame->last_input;

    node->prev = last->prev;
    node->next = last;
    if (last->prev == NULL) {
        frame->first = node;
    } else {
        last->prev->next = node;
    }
    last->prev = node;
}

/* target_of gives what the builder asks a graph input to be called, in a buffer of the
   frame's; NULL: stopped. */
static td_buf_t const *
target_of(td_builder_t *b, td_at_t const *at)
{
    td_buf_t *name   = &b->frame.texts.name;
    td_buf_t *target = &b->frame.texts.target;
    td_buf_t *out    = &b->frame.texts.free;

    td_buf_reset(name);
    td_buf_reset(target);
    td_buf_reset(out);
    if (td_source_name(&b->frame.sources, at->id, name)) {
        td_fxname_target(target, name->bytes, name->sz);
        td_fxname_free_suffix(out, &b->frame.input_names, target->bytes, target->sz);
        if (!target->failed && !out->failed) {
            return out;
        }
    }
    if (PyErr_Occurred()) {
        td_stop_python(b);
    } else {
        td_stop_nomem(b);
    }
    return NULL;
}

/* is_argument mirrors is_from_local_source without cells. */
static bool
is_argument(td_sources_t const *sources, td_src_id_t id)
{
    td_src_block_t const *block = td_source_block(sources, id);

    while (block->base != 0) {
        block = td_source_block(sources, block->base);
    }
    return block->cls == TD_SOURCE_CLASS_LocalSource && !block->flag;
}

/* note_stack: an exported graph remembers who asked for an input that is no argument. */
static bool
note_stack(td_builder_t *b, td_at_t const *at)
{
    td_frame_t      *frame = &b->frame;
    td_user_stacks_t row   = {.source = at->id, .cnt = 1};

    if (!b->export_mode || is_argument(&frame->sources, at->id)) {
        return true;
    }
    if (!td_hash_source(b, at, "L211/fn/entered")) {
        return false;
    }
    for (uint32_t i = 0; i < frame->user_stacks.cnt; i++) {
        if (td_source_equal(&frame->sources, frame->user_stacks.at[i].source, at->id)) {
            frame->user_stacks.at[i].cnt++;
            return true;
        }
    }
    return TD_ARRAY_PUSH(frame->user_stacks, row) || td_stop_nomem(b);
}

td_fxnode_t *
td_graph_input(td_builder_t *b, td_at_t const *at, PyObject *type)
{
    return td_graph_input_of(b, at, at, type);
}

td_fxnode_t *
td_graph_input_of(td_builder_t *b, td_at_t const *at, td_at_t const *source, PyObject *type)
{
    td_frame_t     *frame  = &b->frame;
    td_buf_t const *target = note_stack(b, source) ? target_of(b, at) : NULL;
    td_fxnode_t    *node   = NULL;

    if (target != NULL) {
        node =
            node_new(b, TD_OP_PLACEHOLDER, target->bytes == NULL ? "" : target->bytes, target->sz);
    }
    if (node == NULL) {
        return NULL;
    }
    node->type = type;
    insert_input(frame, node);
    if (!td_smap_put(&frame->input_names, node->target, node->target_sz, 0) ||
        !TD_ARRAY_PUSH(frame->input_nodes, node)) {
        td_stop_nomem(b);
        return NULL;
    }
    return node;
}

bool
td_graph_bind(td_builder_t *b, td_at_t const *source, td_num_t const *num)
{
    td_frame_t    *frame  = &b->frame;
    td_buf_t       target = {0};
    char const    *name   = td_num_name_now(b, num);
    td_fxnode_t   *node   = NULL;
    td_grapharg_t *arg    = td_alloc_in(b, sizeof *arg);
    uint32_t       last   = frame->input_nodes.cnt;

    td_fxname_free_suffix(&target, &frame->input_names, name, strlen(name));
    node = arg == NULL || target.failed ? NULL
                                        : node_new(b, TD_OP_PLACEHOLDER, target.bytes, target.sz);
    td_buf_clear(&target);
    if (node == NULL) {
        return td_stop_nomem(b);
    }
    *arg           = (td_grapharg_t){.source = source->id, .number = num};
    node->grapharg = arg;
    node->type     = b->tables.sym_int;
    insert_before(frame, node);
    if (!td_smap_put(&frame->input_names, node->target, node->target_sz, 0) ||
        !TD_ARRAY_PUSH(frame->input_nodes, node)) {
        return td_stop_nomem(b);
    }
    frame->input_nodes.at[last]     = frame->input_nodes.at[last - 1];
    frame->input_nodes.at[last - 1] = node;
    return true;
}

/* append puts a node at the graph's end. */
static void
append(td_frame_t *frame, td_fxnode_t *node)
{
    if (frame->last == NULL) {
        frame->first = node;
    } else {
        frame->last->next = node;
        node->prev        = frame->last;
    }
    frame->last = node;
}

td_fxnode_t *
td_graph_get_attr(td_builder_t *b, char const *target, size_t target_sz)
{
    td_fxnode_t *node = node_new(b, TD_OP_GET_ATTR, target, target_sz);

    if (node != NULL) {
        append(&b->frame, node);
    }
    return node;
}

/* ---- calls ------------------------------------------------------------------------ */

static char const at_call[] = "L1300/fn/entered";

/* name_of mirrors _target_to_str for what is called: a new str; NULL: stopped. */
static PyObject *
name_of(td_builder_t *b, PyObject *callee)
{
    static td_at_t const nowhere;
    PyObject            *name = NULL; /* owned, returned */

    if (td_is_lying(b, &nowhere, callee) != 0) {
        td_stop_unsupported(b, at_call, __func__, "a callee that answers for itself");
        return NULL;
    }
    if (!PyCallable_Check(callee)) {
        if (PyUnicode_Check(callee)) {
            td_stop_unsupported(b, at_call, __func__, "a call of a text");
        } else {
            td_stop_raise(b, at_call, __func__, "AssertionError", "");
        }
        return NULL;
    }
    name = td_call_attr(callee, b->names.name);
    if (name == NULL) {
        td_stop_passing(b, at_call, __func__);
    } else if (!PyUnicode_CheckExact(name) || !PyUnicode_IS_ASCII(name)) {
        Py_CLEAR(name);
        td_stop_unsupported(b, at_call, __func__, "a callee whose name is no plain text");
    }
    return name;
}

/* call_new makes the node; the name of a method between two underscores at either end
   loses them. */
static td_fxnode_t *
call_new(td_builder_t *b, td_fxop_t op, PyObject *name)
{
    char const *text  = PyUnicode_AsUTF8(name);
    size_t      sz    = (size_t)PyUnicode_GET_LENGTH(name);
    bool        magic = op == TD_OP_CALL_METHOD && sz >= 2 && strncmp(text, "__", 2) == 0 &&
                 strcmp(text + sz - 2, "__") == 0;

    if (!magic) {
        return node_new(b, op, text, sz);
    }
    return node_named(b, op, text, sz, text + (sz < 4 ? sz : 2), sz < 4 ? 0 : sz - 4);
}

td_fxnode_t *
td_graph_call(td_builder_t *b, PyObject *callee, PyObject *name, PyObject *args)
{
    PyObject    *called = callee == NULL ? Py_NewRef(name) : name_of(b, callee); /* owned */
    td_fxnode_t *node   = NULL;

    if (called == NULL) {
        return NULL;
    }
    if (!PyUnicode_IS_ASCII(called)) {
        td_stop_unsupported(b, at_call, __func__, "a method whose name is no plain text");
    } else {
        node = call_new(b, callee == NULL ? TD_OP_CALL_METHOD : TD_OP_CALL_FUNCTION, called);
    }
    Py_DECREF(called);
    if (node == NULL || !td_keep(b, args) || (callee != NULL && !td_keep(b, callee))) {
        return NULL;
    }
    node->callee = callee;
    node->args   = args;
    append(&b->frame, node);
    return node;
}
