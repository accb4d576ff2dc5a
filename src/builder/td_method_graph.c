/* td_method_graph.c: what code generation, guards and ShapeEnv ask of graph arguments and of
   tracked fakes. */
#include <string.h>

#include "builder/td_method.h"
#include "builder/td_plant.h"
#include "builder/td_value.h"

static td_at_t const nowhere;

/* ---- graph arguments ------------------------------------------------------------ */

/* node_of gives the node of a tracker's proxy; NULL: it has none. */
static td_fxnode_t *
node_of(td_var_t *tracker)
{
    td_var_t *var = tracker == NULL ? NULL : td_var_target(tracker);

    if (var == NULL) {
        return NULL;
    }
    switch (var->cls) {
    case TD_CLASS_TensorVariable:
    case TD_CLASS_NumpyNdarrayVariable:
    case TD_CLASS_UnspecializedPythonVariable:
        return var->of.tensor->node;
    case TD_CLASS_SymNodeVariable:
        return var->of.sym->node;
    default: /* the others' proxies are no inputs */
        return NULL;
    }
}

/* graph_arg gives the graph argument behind a tracker; NULL: stopped. */
static td_grapharg_t *
graph_arg(td_builder_t *b, td_given_t const *given)
{
    td_fxnode_t *node = node_of(given->tracker);

    if (node == NULL || node->grapharg == NULL) {
        td_method_refuse(b, "no graph input");
        return NULL;
    }
    return node->grapharg;
}

/* dead_arg gives the frame's last graph argument, whose tensor is there no more; NULL:
   stopped. */
static td_grapharg_t *
dead_arg(td_builder_t *b)
{
    td_fxnode_t *node = b->frame.last;

    while (node != NULL && node->grapharg == NULL) {
        node = node->prev;
    }
    if (node == NULL) {
        td_method_refuse(b, "no graph input");
        return NULL;
    }
    if (node->grapharg->number == NULL && node->grapharg->state == TD_ARG_HELD) {
        node->grapharg->state = TD_ARG_DEAD;
    }
    return node->grapharg;
}

/* td_method_example mirrors GraphArg.example. */
bool
td_method_example(td_builder_t *b, td_call_t const *call, td_var_t *out)
{
    td_grapharg_t *arg = call->cnt == 0 ? dead_arg(b) : graph_arg(b, &call->at[0]);

    (void)out;
    if (arg == NULL) {
        return false;
    }
    if (arg->state == TD_ARG_ERASED) {
        return td_method_give(b, Py_NewRef(Py_None));
    }
    if (arg->number != NULL) {
        return td_method_give(b, td_value_new(b, TD_VALUE_NUMBER, (void *)arg->number));
    }
    if (arg->state == TD_ARG_DEAD) {
        return td_stop_raise(b, "L182/assert/fail", __func__, "AssertionError", "");
    }
    return td_numbers_make(b) && td_method_give(b, Py_NewRef(arg->example));
}

/* td_method_erase mirrors GraphArg.erase, and says what the example is then. */
bool
td_method_erase(td_builder_t *b, td_call_t const *call, td_var_t *out)
{
    td_grapharg_t *arg = graph_arg(b, &call->at[0]);

    (void)out;
    if (arg == NULL) {
        return false;
    }
    arg->state = TD_PLANT(NOT_ERASED) ? TD_ARG_DEAD : TD_ARG_ERASED;
    return td_method_give(b, Py_NewRef(Py_None));
}

/* same_name says in *same whether two sources have one name.  False: stopped. */
static bool
same_name(td_builder_t *b, td_src_id_t x, td_src_id_t y, bool *same)
{
    td_buf_t one   = {0};
    td_buf_t other = {0};
    bool     good =
        td_source_name(&b->frame.sources, x, &one) && td_source_name(&b->frame.sources, y, &other);

    if (!good) {
        good = PyErr_Occurred() != NULL ? td_stop_passing(b, "L199/ret/reached", __func__)
                                        : td_stop_nomem(b);
    } else {
        *same = one.sz == other.sz && (one.sz == 0 || memcmp(one.bytes, other.bytes, one.sz) == 0);
    }
    td_buf_clear(&one);
    td_buf_clear(&other);
    return good;
}

/* td_method_arg_equal mirrors GraphArg.__eq__. */
bool
td_method_arg_equal(td_builder_t *b, td_call_t const *call, td_var_t *out)
{
    td_grapharg_t *one   = graph_arg(b, &call->at[0]);
    td_grapharg_t *other = one == NULL ? NULL : graph_arg(b, &call->at[call->cnt - 1]);
    bool           same  = false;

    (void)out;
    if (other == NULL || !same_name(b, one->source, other->source, &same)) {
        return false;
    }
    return td_method_give(b, PyBool_FromLong(same));
}

/* ---- loading ----------------------------------------------------------------------- */

/* put adds an instruction, a tuple (stolen; NULL: an exception is set), to the list. */
static bool
put(td_builder_t *b, PyObject *list, PyObject *instruction)
{
    bool good = instruction != NULL && PyList_Append(list, instruction) == 0;

    Py_XDECREF(instruction);
    return good || td_stop_python(b);
}

/* missing raises what code generation says of a local that the frame's code lacks: it has
   none. */
static bool
missing(td_builder_t *b, PyObject *name)
{
    PyObject *text = PyUnicode_FromFormat("%S missing", name);

    if (text == NULL) {
        return td_stop_python(b);
    }
    return td_keep_steal(b, text) &&
           td_stop_raise_text(b, "L193/ret/reached", __func__, "AssertionError", text);
}

static bool load(td_builder_t *b, td_src_id_t id, PyObject *list);

static bool
put_call(td_builder_t *b, PyObject *list)
{
    return put(b, list, Py_BuildValue("(si)", "PRECALL", 0)) &&
           put(b, list, Py_BuildValue("(si)", "CALL", 0));
}

/* put_constant loads a constant that is one of Python's own. */
static bool
put_constant(td_builder_t *b, PyObject *list, PyObject *value)
{
    if (!PyLong_CheckExact(value) && !PyUnicode_CheckExact(value) && !PyBool_Check(value) &&
        !PyFloat_CheckExact(value) && !PyBytes_CheckExact(value) && value != Py_None) {
        return td_stop_unsupported(b, "L193/ret/reached", __func__, "code for an index like that");
    }
    return put(b, list, Py_BuildValue("(sO)", "LOAD_CONST", value));
}

/* put_item loads an item: by another source, or by a constant. */
static bool
put_item(td_builder_t *b, td_src_block_t const *block, td_src_id_t id, PyObject *list)
{
    td_src_id_t sub   = block->payload == TD_PAYLOAD_SOURCES ? block->subs[id - block->first] : 0;
    PyObject   *index = NULL; /* owned */
    bool        good  = false;

    if (sub != 0) {
        good = load(b, sub, list);
    } else {
        index = block->payload == TD_PAYLOAD_INDEX
                    ? PyLong_FromLongLong(block->start + (id - block->first))
                    : Py_XNewRef(td_source_key(block, id));
        good  = index == NULL ? td_stop_python(b) : put_constant(b, list, index);
        Py_XDECREF(index);
    }
    return good && put(b, list, Py_BuildValue("(s)", "BINARY_SUBSCR"));
}

static bool
put_default(td_builder_t *b, td_src_block_t const *block, td_src_id_t id, PyObject *list)
{
    return put(b, list,
               Py_BuildValue("(ss)", "LOAD_ATTR",
                             block->flag ? "__kwdefaults__" : "__defaults__")) &&
           put_constant(b, list, td_source_key(block, id)) &&
           put(b, list, Py_BuildValue("(s)", "BINARY_SUBSCR"));
}

/* load_root mirrors reconstruct() of a source without a base. */
static bool
load_root(td_builder_t *b, td_src_block_t const *block, td_src_id_t id, PyObject *list)
{
    PyObject *name = td_source_key(block, id); /* borrowed */

    switch (block->cls) {
    case TD_SOURCE_CLASS_LocalSource:
        return missing(b, name);
    case TD_SOURCE_CLASS_RandomValueSource:
        return missing(b, Py_None); /* the variable that random values are kept in */
    case TD_SOURCE_CLASS_GlobalSource:
        return put(b, list, Py_BuildValue("(sOO)", "LOAD_GLOBAL", Py_False, name));
    case TD_SOURCE_CLASS_GlobalWeakRefSource:
        return put(b, list, Py_BuildValue("(sOO)", "LOAD_GLOBAL", Py_True, name)) &&
               put_call(b, list);
    default:
        return td_stop_unsupported(b, "L193/ret/reached", __func__, "code for such a source");
    }
}

/* load_on mirrors it for a source whose base is loaded. */
static bool
load_on(td_builder_t *b, td_src_block_t const *block, td_src_id_t id, PyObject *list)
{
    switch (block->cls) {
    case TD_SOURCE_CLASS_AttrSource:
    case TD_SOURCE_CLASS_ParamBufferSource:
        return put(b, list, Py_BuildValue("(sO)", "LOAD_ATTR", td_source_key(block, id)));
    case TD_SOURCE_CLASS_GetItemSource:
        return put_item(b, block, id, list);
    case TD_SOURCE_CLASS_DefaultsSource:
        return put_default(b, block, id, list);
    default: /* a module's: as its base */
        return true;
    }
}

/* is_loaded says whether this file writes the code of a class of sources. */
static bool
is_loaded(int cls)
{
    switch (cls) {
    case TD_SOURCE_CLASS_AttrSource:
    case TD_SOURCE_CLASS_ParamBufferSource:
    case TD_SOURCE_CLASS_GetItemSource:
    case TD_SOURCE_CLASS_DefaultsSource:
    case TD_SOURCE_CLASS_NNModuleSource:
    case TD_SOURCE_CLASS_NotNNModuleSource:
    case TD_SOURCE_CLASS_FSDPNNModuleSource:
        return true;
    default:
        return false;
    }
}

/* load mirrors Source.reconstruct. */
static bool
load(td_builder_t *b, td_src_id_t id, PyObject *list)
{
    enum { DEPTH_MAX = 100 };
    td_src_block_t const *block = td_source_block(&b->frame.sources, id);

    if (block->depth > DEPTH_MAX) {
        return td_stop_unsupported(b, "L193/ret/reached", __func__, "code for a source so deep");
    }
    if (block->base == 0) {
        return load_root(b, block, id, list);
    }
    if (!is_loaded(block->cls)) {
        return td_stop_unsupported(b, "L193/ret/reached", __func__, "code for such a source");
    }
    return load(b, block->base, list) && load_on(b, block, id, list);
}

/* td_method_load mirrors GraphArg.load, as the names and arguments of instructions. */
bool
td_method_load(td_builder_t *b, td_call_t const *call, td_var_t *out)
{
    td_grapharg_t *arg  = graph_arg(b, &call->at[0]);
    PyObject      *list = NULL; /* owned until given */

    (void)out;
    if (arg == NULL) {
        return false;
    }
    list = PyList_New(0);
    if (list == NULL) {
        return td_stop_python(b);
    }
    if (!load(b, arg->source, list)) {
        Py_DECREF(list);
        return false;
    }
    return td_method_give(b, list);
}

/* ---- tracked fakes -------------------------------------------------------------------- */

/* A TrackedFake that a root makes of an object and a name. */
typedef struct {
    PyObject *fake; /* borrowed */
    td_at_t   source;
} tracked_t;

static bool
track(td_builder_t *b, td_given_t const *fake, td_given_t const *name, tracked_t *tracked)
{
    if (fake->tracker != NULL) {
        return td_method_refuse(b, "no fake");
    }
    tracked->fake = fake->object;
    return td_method_source(b, name, &tracked->source);
}

/* equal mirrors TrackedFake.__eq__ with another one: the name is asked for only where the
   fake is the same. */
static bool
equal(td_builder_t *b, tracked_t const *one, tracked_t const *other)
{
    bool same = one->fake == other->fake;

    if (same && !TD_PLANT(NAMELESS_FAKE) &&
        !same_name(b, one->source.id, other->source.id, &same)) {
        return false;
    }
    return td_method_give(b, PyBool_FromLong(same));
}

/* default_name: the operand that stands for one that is not given. */
static bool
default_name(td_builder_t *b, td_given_t *name)
{
    PyObject *text = PyUnicode_FromString("a"); /* owned until kept */

    name->object = text;
    return text == NULL ? td_stop_python(b) : td_keep_steal(b, text);
}

bool
td_method_tracked_equal(td_builder_t *b, td_call_t const *call, td_var_t *out)
{
    td_given_t plain = {0};
    tracked_t  one   = {0};
    tracked_t  two   = {0};

    (void)out;
    if (!default_name(b, &plain) ||
        !track(b, &call->at[0], call->cnt > 1 ? &call->at[1] : &plain, &one)) {
        return false;
    }
    if (call->cnt < 3) {
        return track(b, &call->at[0], &plain, &two) && equal(b, &one, &two);
    }
    if (call->at[2].tracker == NULL && PyUnicode_CheckExact(call->at[2].object)) {
        return track(b, &call->at[call->cnt > 3 ? 3 : 0], &call->at[2], &two) &&
               equal(b, &one, &two);
    }
    if (call->at[2].tracker == NULL && td_is_lying(b, &nowhere, call->at[2].object) != 0) {
        return td_stop_unsupported(b, "L1549/if/F", __func__, "an object that says what it is");
    }
    td_trail_add(b, &nowhere, "L1551/ret/reached", __func__);
    return td_method_give(b, Py_NewRef(Py_False));
}

/* hash_of: a tensor's hash says where it lies, and is no code of anybody's. */
static Py_hash_t
hash_of(td_builder_t *b, PyObject *value)
{
    PyObject *type = (PyObject *)Py_TYPE(value);

    return type == b->tables.tensor || type == b->tables.parameter ? 0 : PyObject_Hash(value);
}

/* td_method_tracked_hash mirrors TrackedFake.__hash__ of two that are made alike. */
bool
td_method_tracked_hash(td_builder_t *b, td_call_t const *call, td_var_t *out)
{
    td_given_t plain = {0};
    tracked_t  both  = {0};
    Py_hash_t  one, other;

    (void)out;
    if (!default_name(b, &plain) ||
        !track(b, &call->at[0], call->cnt > 1 ? &call->at[1] : &plain, &both)) {
        return false;
    }
    one   = hash_of(b, both.fake);
    other = one == -1 ? -1 : hash_of(b, both.fake);
    if (other == -1) {
        return td_stop_passing(b, "L1546/ret/reached", __func__);
    }
    return td_method_give(b, PyBool_FromLong(one == other));
}
