/* td_dispatch.c: find the rule for a value, and call it. */
#include "builder/td_builder_private.h"
#include "builder/td_depth.h"

#include <assert.h>

/* ---- VariableBuilder.__call__ ---------------------------------------------- */

/* make_dupe_guard mirrors the function of that name in Dynamo's guards.py: no
   guard when the sources are one, or when one is local and the other is not. */
static bool
make_dupe_guard(td_builder_t *b, td_at_t const *at, td_src_id_t other, td_guard_id_t *guard)
{
    td_sources_t const *sources = &b->frame.sources;

    *guard = 0;
    if (other == 0 || td_source_equal(sources, at->id, other) ||
        td_source_block(sources, other)->local_root != at->local_root) {
        return true;
    }
    if (!td_make_guards(b, at, TD_GUARD_DUPLICATE_INPUT, guard)) {
        return false;
    }
    if (*guard != 0 && !TD_PLANT(LOST_PARTNER)) {
        b->frame.guards.guards[*guard].has_payload = true;
        b->frame.guards.guards[*guard].source_b    = other;
    }
    return true;
}

/* met_again mirrors the first branch of __call__: the value is tracked. */
static bool
met_again(td_builder_t *b, td_at_t const *at, td_var_t *tracked, td_var_t *out)
{
    td_guard_id_t guard = 0;

    td_trail_add(b, at, "L226/if/T", __func__);
    *out = (td_var_t){.cls = TD_VAR_ALIAS, .of.alias = tracked};
    return make_dupe_guard(b, at, tracked->source, &guard) && td_var_add_guards(b, out, guard);
}

/* can_lift_attrs mirrors _can_lift_attrs_to_inputs for the classes made here. */
static bool
can_lift_attrs(td_class_t cls)
{
    return cls == TD_CLASS_TensorVariable || cls == TD_CLASS_UserDefinedObjectVariable ||
           cls == TD_CLASS_NumpyNdarrayVariable || cls == TD_CLASS_TensorWithTFOverrideVariable;
}

/* placed mirrors the rest of __call__ for what _wrap made: the tracker learns its source,
   which is not the builder's first one when _wrap changed that. */
static bool
placed(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    td_at_t from = b->moved.id != 0 ? b->moved : *at;

    td_var_clone(out);
    if (!td_module_var_source(b, &from, (td_class_t)out->cls, &out->source)) {
        return false;
    }
    if (TD_PLANT(LOST_SOURCE) && out->cls == TD_CLASS_TupleVariable) {
        out->source = 0;
    }
    return !can_lift_attrs((td_class_t)out->cls) ||
           td_track_obj(b, &from, value,
                        TD_PLANT(WRONG_EFFECT) ? TD_CLASS_MutableSideEffects
                                               : TD_CLASS_AttributeMutationExisting,
                        out);
}

bool
td_build(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    td_var_t *tracked = NULL;
    bool      good    = false;

    if (!td_depth_init(b, at)) {
        return false;
    }
    b->frames += TD_DEPTH_CALL;
    tracked = td_side_effects_find(b, value);
    if (tracked != NULL && !(TD_PLANT(MISSED_ALIAS) && tracked->cls == TD_CLASS_TensorVariable)) {
        good = met_again(b, at, tracked, out);
    } else if (b->moved = (td_at_t){0}, td_wrap(b, at, value, out)) {
        good = placed(b, at, value, out);
    }
    b->moved = (td_at_t){0};
    b->frames -= TD_DEPTH_CALL;
    return good;
}

/* ---- VariableBuilder._wrap ---------------------------------------------------- */

/* undone stops at an arm whose wrapping this builder does not have; rules.def may have no such
   row. */
__attribute__((unused)) static bool
undone(td_builder_t *b, td_at_t const *at, char const *arm, char const *why)
{
    td_trail_add(b, at, arm, __func__);
    return td_stop_unsupported(b, arm, __func__, why);
}

/* Predicates whose no depends on the type of the value alone: objects of a type that
   one of them refused once are not asked again while the type is what it was. */
#define BY_TYPE_LIST(X)        \
    X(td_is_lying)             \
    X(td_is_namedtuple)        \
    X(td_is_module)            \
    X(td_is_enum)              \
    X(td_is_partial)           \
    X(td_is_typing)            \
    X(td_is_function)          \
    X(td_is_script_function)   \
    X(td_is_pymodule)          \
    X(td_is_dummy_module)      \
    X(td_is_autograd_function) \
    X(td_is_autograd_context)  \
    X(td_is_np_number)         \
    X(td_is_model_output)      \
    X(td_is_pretrained_config) \
    X(td_is_higher_order)      \
    X(td_is_stream)            \
    X(td_is_keyed_jagged)      \
    X(td_is_getset)            \
    X(td_is_method_wrapper)    \
    X(td_is_optimizer)         \
    X(td_is_process_group)     \
    X(td_is_device_mesh)       \
    X(td_is_placement)         \
    X(td_is_class)             \
    X(td_is_sym_bool)

/* Predicates that know some functions by identity: they refuse every object of a type
   that cannot be called. */
#define BY_CALL_LIST(X)    \
    X(td_is_tensor_dunder) \
    X(td_is_checkpoint)    \
    X(td_is_collective)

/* Every row of the ladder has a bit; by_type and by_call have those of the predicates above. */
enum {
#define EXACT(type, arm, wrap)
#define EXACT_UNDONE(type, arm, why)
#define IDENT(object, arm, wrap)
#define IDENT_UNDONE(object, arm, why)
#define RULE(predicate, arm, wrap)           ROW_##predicate,
#define UNDONE(predicate, arm, why)          ROW_##predicate,
#define RULE_IF(name, predicate, arm, wrap)  ROW_##predicate,
#define UNDONE_IF(name, predicate, arm, why) ROW_##predicate,
#include "builder/rules.def"
#undef EXACT
#undef EXACT_UNDONE
#undef IDENT
#undef IDENT_UNDONE
#undef RULE
#undef UNDONE
#undef RULE_IF
#undef UNDONE_IF
    ROW_CNT
};

static_assert(ROW_CNT <= 8 * sizeof((td_route_t *)0)->no, "a bit for each row of the ladder");

#define BIT(row)           ((uint64_t)1 << (row) % 64)
#define OF_LOW(predicate)  | (ROW_##predicate < 64 ? BIT(ROW_##predicate) : 0)
#define OF_HIGH(predicate) | (ROW_##predicate >= 64 ? BIT(ROW_##predicate) : 0)

static uint64_t const by_type[2] = {0 BY_TYPE_LIST(OF_LOW), 0 BY_TYPE_LIST(OF_HIGH)};
static uint64_t const by_call[2] = {0 BY_CALL_LIST(OF_LOW), 0 BY_CALL_LIST(OF_HIGH)};

/* route_of gives what is known of a type, and makes room for it.  NULL: CPython has no
   number for the state that the type is in. */
static td_route_t *
route_of(td_builder_t *b, PyTypeObject *type)
{
    size_t      cnt   = sizeof b->routes / sizeof *b->routes;
    td_route_t *route = &b->routes[((uintptr_t)type >> 4) % cnt];

    if (!(type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG)) {
        return NULL;
    }
    if (route->type != type || route->version != type->tp_version_tag) {
        *route = (td_route_t){.type = type, .version = type->tp_version_tag};
        for (int i = 0; i < 2 && type->tp_call == NULL; i++) {
            route->no[i] = by_call[i];
        }
    }
    return route;
}

/* Each row of the ladder, in order: a predicate that says yes ends it. */
static bool
ladder(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    td_route_t  none  = {0};
    td_route_t *route = route_of(b, Py_TYPE(value));
    int         is    = 0;

    route = route == NULL ? &none : route;

#define EXACT(type, arm, wrap)
#define EXACT_UNDONE(type, arm, why)
#define IDENT(object, arm, wrap)
#define IDENT_UNDONE(object, arm, why)
#define ASK(predicate)                                                                             \
    (is = (route->no[ROW_##predicate / 64] & BIT(ROW_##predicate)) != 0 ? 0                        \
                                                                        : predicate(b, at, value), \
     route->no[ROW_##predicate / 64] |=                                                            \
     is == 0 ? by_type[ROW_##predicate / 64] & BIT(ROW_##predicate) : 0)
#define RULE(predicate, arm, wrap)                \
    ASK(predicate);                               \
    if (is != 0) {                                \
        td_trail_add(b, at, arm, #wrap);          \
        return is > 0 && wrap(b, at, value, out); \
    }
#define UNDONE(predicate, arm, why)               \
    ASK(predicate);                               \
    if (is != 0) {                                \
        return is > 0 && undone(b, at, arm, why); \
    }
#define RULE_IF(name, predicate, arm, wrap) \
    if (td_switch(b, TD_SWITCH_##name)) {   \
        RULE(predicate, arm, wrap)          \
    }
#define UNDONE_IF(name, predicate, arm, why) \
    if (td_switch(b, TD_SWITCH_##name)) {    \
        UNDONE(predicate, arm, why)          \
    }
#include "builder/rules.def"
#undef EXACT
#undef EXACT_UNDONE
#undef IDENT
#undef IDENT_UNDONE
#undef RULE
#undef UNDONE
#undef RULE_IF
#undef UNDONE_IF
#undef ASK
    return td_stop_unsupported(b, "L743/if/F", __func__, "no rule took the value");
}

/* is_plain_dict: an exact dict with strs for keys, which no row of the ladder takes before the
   one of dicts does. */
static bool
is_plain_dict(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    PyObject  *key = NULL; /* borrowed */
    Py_ssize_t pos = 0;

    if (!PyDict_CheckExact(value) || value == b->tables.supported_nodes ||
        td_is_sys_modules(b, at, value) != 0) {
        return false;
    }
    while (PyDict_Next(value, &pos, &key, NULL)) {
        if (!PyUnicode_CheckExact(key)) {
            return false;
        }
    }
    return true;
}

static bool
dispatch(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    PyTypeObject      *type    = Py_TYPE(value); /* borrowed from value */
    td_tables_t const *T       = &b->tables;
    td_config_t const *C       = &b->cfg;
    PyObject          *instead = NULL; /* borrowed from value */

#define EXACT(exact, arm, wrap)                    \
    if ((PyObject *)type == (PyObject *)(exact)) { \
        td_trail_add(b, at, arm, #wrap);           \
        return wrap(b, at, value, out);            \
    }
#define EXACT_UNDONE(exact, arm, why)              \
    if ((PyObject *)type == (PyObject *)(exact)) { \
        return undone(b, at, arm, why);            \
    }
#define IDENT(object, arm, wrap)         \
    if (value == (object)) {             \
        td_trail_add(b, at, arm, #wrap); \
        return wrap(b, at, value, out);  \
    }
#define IDENT_UNDONE(object, arm, why)  \
    if (value == (object)) {            \
        return undone(b, at, arm, why); \
    }
#define RULE(predicate, arm, wrap)
#define UNDONE(predicate, arm, why)
#define RULE_IF(name, predicate, arm, wrap)
#define UNDONE_IF(name, predicate, arm, why)
#include "builder/rules.def"
#undef EXACT
#undef EXACT_UNDONE
#undef IDENT
#undef IDENT_UNDONE
#undef RULE
#undef UNDONE
#undef RULE_IF
#undef UNDONE_IF
    if (is_plain_dict(b, at, value)) {
        td_trail_add(b, at, "L411/if/T", "td_wrap_dict");
        return td_wrap_dict(b, at, value, out);
    }
    /* "Nested values where types mismatch": what stands in for the value goes on. */
    instead = td_getattr_static(value, b->names.inline_);
    return ladder(b, at, instead == NULL ? value : instead, out);
}

bool
td_wrap(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    bool good = false;

    b->frames += TD_DEPTH_WRAP;
    good = dispatch(b, at, value, out);
    b->frames -= TD_DEPTH_WRAP;
    return good;
}
