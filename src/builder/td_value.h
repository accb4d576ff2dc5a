/* td_value.h: what only a graph has, inside Python containers.

   The arguments of nodes and the results of operators are kept as Python objects, so
   that they are written like any other value.  Nodes, fakes, symbolic numbers, and
   tuples of a class that takes none of these are capsules in them. */
#ifndef TD_BUILDER_VALUE_H
#define TD_BUILDER_VALUE_H

#include "builder/td_builder_private.h"

typedef enum {
    TD_VALUE_NODE,
    TD_VALUE_FAKE,
    TD_VALUE_NUMBER,
    TD_VALUE_TUPLE,
    TD_VALUE_LIST, /* a list of a subclass, as a td_value_tuple_t */
    TD_VALUE_OTHER /* td_value_other_t */
} td_value_kind_t;

/* A tuple of a subclass of tuple (or a list of one of list). */
typedef struct {
    PyObject *items; /* borrowed from the frame's keep: a plain tuple */
    PyObject *cls;   /* as above */
} td_value_tuple_t;

/* All that is known of an object that is nothing of these. */
typedef struct {
    char const *name; /* of its class */
    PyObject   *cls;  /* borrowed from the frame's keep */
} td_value_other_t;

/* td_value_new wraps what is in the frame's arena; a new reference, NULL: stopped. */
PyObject *td_value_new(td_builder_t *b, td_value_kind_t kind, void *what);

/* td_value_get gives what a capsule of that kind holds; NULL: value is none. */
void *td_value_get(PyObject *value, td_value_kind_t kind);

/* td_value_class gives the class of an object, or of what a capsule TD_VALUE_OTHER stands
   for; borrowed from either. */
PyObject *td_value_class(PyObject *value);

/* td_value_items gives a mapping's items as a list, as PyMapping_Items does; a new
   reference, NULL: an exception. */
PyObject *td_value_items(PyObject *mapping);

/* td_value_is says whether value is a capsule of these. */
bool td_value_is(PyObject *value);

#endif
