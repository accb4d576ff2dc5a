/* td_method.h: what the files share that build roots of the entry "method". */
#ifndef TD_BUILDER_METHOD_H
#define TD_BUILDER_METHOD_H

#include "builder/td_builder_private.h"

/* What a function is called with: an object, or a tracker of the frame. */
typedef struct {
    PyObject *object;  /* borrowed */
    td_var_t *tracker; /* in the arena; NULL: it is the object */
} td_given_t;

typedef struct {
    td_given_t const *at;
    size_t            cnt;
} td_call_t;

/* A listed function: it makes *out, or gives a value with td_method_give; false: stopped. */
typedef bool td_method_fn_t(td_builder_t *b, td_call_t const *call, td_var_t *out);

td_method_fn_t td_method_example, td_method_arg_equal, td_method_load, td_method_erase,
    td_method_tracked_equal, td_method_tracked_hash, td_method_fields;

/* td_method_give makes value (stolen) what the root gives; NULL: an exception is set. */
bool td_method_give(td_builder_t *b, PyObject *value);

/* td_method_refuse raises what the harness raises for an operand that a function cannot
   take. */
bool td_method_refuse(td_builder_t *b, char const *message);

/* td_method_source makes the source that an operand stands for: a str a local, an int a
   random value, ("const", name) a constant, ("global", name) a global. */
bool td_method_source(td_builder_t *b, td_given_t const *name, td_at_t *at);

#endif
