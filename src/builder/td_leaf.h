/* td_leaf.h: the short way for ints and strs in a container.

   What the way of an int or a str through td_build hangs on, but for the value, is the same
   for all members of a container: it is looked at once, and members that become constants
   whatever they are are made on the spot.  All others take the long way. */
#ifndef TD_BUILDER_LEAF_H
#define TD_BUILDER_LEAF_H

#include "builder/td_depth.h"

/* td_leaves_of says whether the members of a container, which the builder is about to build
   with first as the source of the first one, may go the short way; added: the container's
   guard. */
bool td_leaves_of(td_builder_t *b, td_at_t const *first, td_guard_id_t added);

/* td_leaf_state is the frame state's entry of an int: a new one.  False: stopped. */
static inline bool
td_leaf_state(td_builder_t *b, td_src_id_t source, PyObject *value)
{
    td_frame_state_t *state = &b->state;

    if (state->cnt == state->cap &&
        !td_array_grow((void **)&state->entries, &state->cap, sizeof *state->entries)) {
        return td_stop_nomem(b);
    }
    state->entries[state->cnt++] = (td_state_entry_t){.scalar = Py_NewRef(value), .source = source};
    return true;
}

/* td_leaf_is_special: 0 and 1 are constants before the frame state is asked. */
static inline bool
td_leaf_is_special(PyObject *value)
{
    return Py_SIZE(value) == 0 ||
           (Py_SIZE(value) == 1 && ((PyLongObject *)value)->ob_digit[0] == 1);
}

/* td_leaf_takes: an int or a str, for which the short way is one. */
static inline bool
td_leaf_takes(PyObject *value)
{
    return PyLong_CheckExact(value) || PyUnicode_CheckExact(value);
}

/* td_leaf_build is td_build and td_var_add_guards of such a member. */
static inline bool
td_leaf_build(td_builder_t *b, td_at_t const *at, PyObject *value, td_guard_id_t added,
              td_var_t *out)
{
    bool          is_int = PyLong_CheckExact(value);
    td_guard_t    guard  = {.source = at->id, .kind = TD_GUARD_CONSTANT_MATCH};
    td_guard_id_t own    = 0;

    td_trail_add(b, at, is_int ? "L377/alt/int" : "L377/alt/str", "td_wrap_literal");
    if (is_int && !b->cfg.specialize_int && !td_leaf_is_special(value) &&
        !td_leaf_state(b, at->id, value)) {
        return false;
    }
    own = td_guard_add(&b->frame.guards, &guard);
    if (own == 0) {
        return td_stop_nomem(b);
    }
    *out = (td_var_t){.cls      = TD_CLASS_ConstantVariable,
                      .source   = at->id,
                      .guard    = own,
                      .added    = added,
                      .of.value = value};
    return TD_ARRAY_PUSH(b->frame.keep, Py_NewRef(value)) || td_stop_nomem(b);
}

#endif
