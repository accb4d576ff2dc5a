/* wrap_literal.c: literals: numbers, strings, None, torch.Size, device, dtype, and
   sets of literals. */
#include "builder/td_depth.h"

/* constant makes a ConstantVariable with a guard of kind. */
static bool
constant(td_builder_t *b, td_at_t const *at, PyObject *value, td_guard_kind_t kind, td_var_t *out)
{
    td_guard_id_t guard = 0;

    if (!td_make_guards(b, at, kind, &guard) || !td_keep(b, value)) {
        return false;
    }
    td_var_make(out, TD_CLASS_ConstantVariable, guard);
    out->of.value = value;
    return true;
}

/* size mirrors the torch.Size branch of wrap_literal: its numbers get trackers of
   their own, and no guard of the Size is added to them. */
static bool
size(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    uint32_t      cnt   = (uint32_t)PyTuple_GET_SIZE(value);
    td_items_t   *items = td_items_new(b, cnt);
    td_guard_id_t guard = 0;
    td_at_t       first = {0};

    if (items == NULL || !td_children(b, at, TD_SOURCE_CLASS_GetItemSource, TD_PAYLOAD_INDEX, NULL,
                                      NULL, cnt, &first)) {
        return false;
    }
    b->frames += TD_DEPTH_COMP;
    for (uint32_t i = 0; i < cnt; i++) {
        td_at_t child = td_source_nth(&first, i);

        if (!td_build(b, &child, PyTuple_GET_ITEM(value, i), &items->items[i])) {
            return false;
        }
    }
    b->frames -= TD_DEPTH_COMP;
    if (!td_make_guards(b, at, TD_PLANT(SIZE_BY_TYPE) ? TD_GUARD_TYPE_MATCH : TD_GUARD_LIST_LENGTH,
                        &guard)) {
        return false;
    }
    td_var_make(out, TD_CLASS_SizeVariable, guard);
    out->of.list = items;
    return true;
}

/* scalar_seen brings the frame state entry of a source up to date with value. */
static bool
scalar_seen(td_builder_t *b, td_at_t const *at, PyObject *value, td_state_entry_t **entry)
{
    bool fresh = false;
    int  same  = 0;

    *entry = td_frame_state_get(b, at, &fresh);
    if (*entry == NULL) {
        return false;
    }
    if (fresh) {
        (*entry)->scalar = Py_NewRef(value);
        return true;
    }
    if ((*entry)->scalar == NULL) {
        return true;
    }
    same = PyObject_RichCompareBool((*entry)->scalar, value, Py_EQ); /* two ints */
    if (same < 0) {
        return td_stop_python(b);
    }
    if (same == 0 && !TD_PLANT(STALE_STATE)) {
        Py_CLEAR((*entry)->scalar);
    }
    return true;
}

/* ---- symbolic ints ------------------------------------------------------------- */

/* unspec_name leaves in *name the name of a source, in the arena. */
static bool
unspec_name(td_builder_t *b, td_at_t const *at, td_unspec_t *row)
{
    td_buf_t name = {0};
    bool     good = td_source_name(&b->frame.sources, at->id, &name);

    if (good) {
        row->name    = td_arena_dup(&b->frame.arena, name.bytes, name.sz);
        row->name_sz = name.sz;
    }
    td_buf_clear(&name);
    if (!good && PyErr_Occurred() != NULL) {
        return td_stop_python(b);
    }
    return row->name != NULL || td_stop_nomem(b);
}

bool
td_find_unspec(td_builder_t *b, td_at_t const *at, td_var_t **found)
{
    td_frame_t *frame = &b->frame;
    td_unspec_t row   = {0};
    uint32_t    idx   = 0;

    *found = NULL;
    if (frame->unspec.cnt == 0 || (!frame->text_mode && at->fresh)) {
        return true;
    }
    if (!unspec_name(b, at, &row)) {
        return false;
    }
    idx = td_smap_get(&frame->unspec_names, row.name, row.name_sz);
    if (idx != TD_MAP_NONE) {
        *found = frame->unspec.at[idx].var;
    }
    return true;
}

bool
td_note_unspec(td_builder_t *b, td_at_t const *at, td_var_t *out)
{
    td_frame_t *frame = &b->frame;
    td_unspec_t row   = {.var = td_alloc_in(b, sizeof *row.var)};

    if (row.var == NULL || !unspec_name(b, at, &row)) {
        return false;
    }
    *row.var = *out;
    *out     = (td_var_t){.cls = TD_VAR_ALIAS, .of.alias = row.var};
    return (td_smap_put(&frame->unspec_names, row.name, row.name_sz, frame->unspec.cnt) &&
            TD_ARRAY_PUSH(frame->unspec, row)) ||
           td_stop_nomem(b);
}

/* is_random: a RandomValueSource, which is never guarded. */
static bool
is_random(td_builder_t *b, td_at_t const *at)
{
    return td_source_block(&b->frame.sources, at->id)->cls == TD_SOURCE_CLASS_RandomValueSource;
}

/* sym_input makes the graph input of a symbolic int: its guard goes to the output. */
static bool
sym_input(td_builder_t *b, td_at_t const *at, td_sym_var_t *sym, td_guard_id_t *guard)
{
    td_grapharg_t    *arg = td_alloc_in(b, sizeof *arg);
    td_tracked_fake_t row = {.number = &sym->number, .source = at->id};

    if (arg == NULL || (!TD_ARRAY_PUSH(b->frame.tracked_fakes, row) && !td_stop_nomem(b)) ||
        (!is_random(b, at) && !td_source_guard(b, at, TD_GUARD_TYPE_MATCH, true, guard))) {
        return false;
    }
    sym->node = td_graph_input(b, at, b->tables.sym_int);
    if (sym->node == NULL ||
        (*guard != 0 && !TD_ARRAY_PUSH(b->frame.output_guards, *guard) && !td_stop_nomem(b))) {
        return false;
    }
    *arg = (td_grapharg_t){.source = at->id, .number = &sym->number, .is_strong = true};
    sym->node->number   = &sym->number;
    sym->node->grapharg = arg;
    return true;
}

/* Frames that making a symbol may take at most: within so many of the limit this
   builder does not say where the reference ends. */
enum { SYMBOL_DEPTH_MAX = 200 };

bool
td_symbols_fit(td_builder_t *b, td_at_t const *at)
{
    return b->frames + 2 * at->depth + SYMBOL_DEPTH_MAX < b->frame.recursion_left;
}

/* is_zero_or_one: the common constants. */
static bool
is_zero_or_one(PyObject *value)
{
    int  overflow = 0;
    long number   = 0;

    if (Py_SIZE(value) != 0 && Py_SIZE(value) != 1) { /* digits: more, or negative */
        return false;
    }
    number = PyLong_AsLongAndOverflow(value, &overflow);
    return overflow == 0 && (number == 0 || number == 1);
}

/* plain_input mirrors what becomes of 0 and 1 where they are never symbols: a graph input of type
   int is made, and refused. */
static bool
plain_input(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    td_num_t         *number = td_alloc_in(b, sizeof *number);
    td_tracked_fake_t row    = {.number = number, .source = at->id};
    td_guard_id_t     guard  = 0;
    td_fxnode_t      *node   = NULL;
    PyObject         *text   = NULL; /* owned until kept */

    if (number == NULL || !td_source_guard(b, at, TD_GUARD_TYPE_MATCH, true, &guard)) {
        return false;
    }
    *number = (td_num_t){.hint = PyLong_AsLong(value)};
    node    = td_graph_input(b, at, (PyObject *)&PyLong_Type);
    if (node == NULL) {
        return false;
    }
    if (!TD_ARRAY_PUSH(b->frame.tracked_fakes, row) ||
        !TD_ARRAY_PUSH(b->frame.output_guards, guard)) {
        return td_stop_nomem(b);
    }
    text = PyUnicode_FromFormat("torch.* op returned non-Tensor int placeholder %s", node->target);
    if (text == NULL) {
        return td_stop_python(b);
    }
    return td_keep_steal(b, text) && td_stop_raise_text(b, "L1530/unimpl/raised", __func__,
                                                        "torch._dynamo.exc.Unsupported", text);
}

/* symbolic_int mirrors what follows once an int is DYNAMIC, or is to be unbacked. */
static bool
symbolic_int(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    td_sym_var_t *sym   = td_alloc_in(b, sizeof *sym);
    td_guard_id_t guard = 0;

    if (!td_symbols_fit(b, at)) {
        return td_stop_unsupported(b, "L1206/if/T", __func__, "ints as symbols so deep");
    }
    if (!b->cfg.force_unspec_int && !td_switch(b, TD_SWITCH_ZERO_IS_SYMBOL) &&
        is_zero_or_one(value)) {
        return plain_input(b, at, value);
    }
    if (sym == NULL ||
        !(b->cfg.force_unspec_int ? td_symbol_unbacked(b, &sym->number)
                                  : td_symbol_of_int(b, at, value, &sym->number)) ||
        !sym_input(b, at, sym, &guard)) {
        return false;
    }
    td_var_make(out, TD_CLASS_SymNodeVariable, guard);
    out->source = at->id;
    out->of.sym = sym;
    if (td_is_extra_input(b, at)) {
        sym->node->grapharg = NULL;
        return td_note_unspec(b, at, out) && td_refuse_input(b, at, &sym->number, NULL);
    }
    return td_note_unspec(b, at, out);
}

/* td_wrap_unspecialized_primitive mirrors the function of that name as far as an
   exact int goes, under any source if it is to be unbacked, else under one that is
   neither constant nor random: the frame state decides whether it is a constant or
   a symbol. */
static bool
td_wrap_unspecialized_primitive(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    td_state_entry_t *entry = NULL;
    td_var_t         *found = NULL;

    if (!td_find_unspec(b, at, &found)) {
        return false;
    }
    if (found != NULL) {
        *out = (td_var_t){.cls = TD_VAR_ALIAS, .of.alias = found};
        return true;
    }
    if (b->cfg.force_unspec_int) {
        return symbolic_int(b, at, value, out);
    }
    if (!td_depth_reach(b, TD_REACH_WHERE_IN, at->depth) || !scalar_seen(b, at, value, &entry)) {
        return false;
    }
    if ((b->cfg.automatic_dynamic_shapes && entry->scalar == NULL) ||
        !b->cfg.assume_static_by_default) {
        return symbolic_int(b, at, value, out);
    }
    return constant(b, at, value, TD_GUARD_CONSTANT_MATCH, out);
}

bool
td_wrap_unspecialized_int(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    td_var_t *found = NULL;

    if (!td_find_unspec(b, at, &found)) {
        return false;
    }
    if (found == NULL && b->cfg.specialize_int && !b->cfg.force_unspec_int) {
        return constant(b, at, value, TD_GUARD_CONSTANT_MATCH, out);
    }
    return td_wrap_unspecialized_primitive(b, at, value, out);
}

/* unspecialized_int mirrors the int branch of wrap_literal. */
static bool
unspecialized_int(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    bool good = false;

    if (!b->cfg.force_unspec_int) {
        if (is_zero_or_one(value) && !TD_PLANT(WRONG_BRANCH)) {
            return constant(b, at, value, TD_GUARD_CONSTANT_MATCH, out);
        }
        if (!td_guard_source_of(b, at) || !td_depth_reach(b, TD_REACH_WHERE, at->depth)) {
            return false;
        }
        if (!td_where_is_local((td_where_t)at->where) ||
            td_where_is_nn_module((td_where_t)at->where)) {
            return constant(b, at, value, TD_GUARD_CONSTANT_MATCH, out);
        }
    }
    b->frames += TD_DEPTH_FUNC;
    good = td_wrap_unspecialized_primitive(b, at, value, out);
    b->frames -= TD_DEPTH_FUNC;
    return good;
}

/* td_wrap_literal mirrors VariableBuilder.wrap_literal. */
bool
td_wrap_literal(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    bool unspec = !b->cfg.specialize_int;
    bool good   = false;

    b->frames += TD_DEPTH_FUNC;
    if (unspec && PyLong_CheckExact(value)) {
        good = unspecialized_int(b, at, value, out);
    } else if (unspec && (PyObject *)Py_TYPE(value) == b->tables.size) {
        good = size(b, at, value, out);
    } else {
        good = constant(b, at, value, TD_GUARD_CONSTANT_MATCH, out);
    }
    b->frames -= TD_DEPTH_FUNC;
    return good;
}

/* td_wrap_frozenset mirrors the frozenset branch of _wrap: guarded by identity. */
bool
td_wrap_frozenset(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    if (!constant(b, at, value, TD_GUARD_ID_MATCH, out)) {
        return false;
    }
    out->source = at->id;
    return true;
}
