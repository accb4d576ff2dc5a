/* td_schema.h: the schema of observations, made from two tables.

   classes.def lists every class an observation has a record for, with the class
   it inherits attributes from.  fields.def lists, for each class, every
   attribute its instances have and what becomes of it:

       COMPARED   one value in the record
       IMPLIED    recomputable from the named compared attributes, and checked
       IGNORED    for one of the five reasons of the schema page

   An attribute that instances have and no row names fails the run. */
#ifndef TD_OBSERVE_SCHEMA_H
#define TD_OBSERVE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    TD_CLASS_NONE,
#define X(class_name, parent) TD_CLASS_##class_name,
#include "observe/classes.def"
#undef X
    TD_CLASS_CNT
} td_class_t;

/* TD_FIELD_<class>_<attribute>, in the order of fields.def, which is the order
   in which differences are reported. */
typedef enum {
    TD_FIELD_NONE,
#define X(class_name, attribute, disposition, why, form) TD_FIELD_##class_name##_##attribute,
#include "observe/fields.def"
#undef X
    TD_FIELD_CNT
} td_field_t;

typedef enum { TD_COMPARED, TD_IMPLIED, TD_IGNORED } td_disposition_t;

/* How an attribute of a live reference object becomes a value; the forms are
   described one by one at TD_FORM_LIST. */
#define TD_FORM_LIST(X)                                                              \
    X(NONE)          /* not compared */                                              \
    X(WRITER)        /* made by whoever writes the record, not read off an attribute */ \
    X(NULL_ASSERTED) /* must be None (or empty): anything else fails the run */      \
    X(SOURCE)        /* a Source as tree, or None */                                 \
    X(GUARDS)        /* a set of Guard */                                            \
    X(MUTABLE_LOCAL) /* a MutableLocalBase or None */                                \
    X(CONTAINS)      /* a set of MutableLocalBase: sorted ordinals */                \
    X(VALUE)         /* any Python object, canonical */                              \
    X(CLASS_VALUE)   /* a class, canonical */                                        \
    X(TRACKER)       /* a tracker, or None */                                        \
    X(TRACKERS)      /* a list or tuple of trackers */                               \
    X(TRACKER_DICT)  /* a dict of canonical keys to trackers, order kept */          \
    X(PROXY)         /* an fx Proxy: [node ordinal, node name], or None */           \
    X(SYM)           /* a symbolic or plain number: [type, expression, hint] */      \
    X(SHAPE)         /* a tuple of ints or symbolic ints, or None */                 \
    X(FORMATS)       /* a tuple of memory formats: sorted names, or None */          \
    X(STR) X(BOOL) X(INT)                                                            \
    X(FUNCTION)      /* a function: canonical, closures by value */                  \
    X(EXAMPLE)       /* a tensor (record Tensor), a symbolic number, containers of   \
                        such, a weak reference, else VALUE */                        \
    X(NODE_ARGS)     /* args of a graph node: nodes as ["node", ordinal], else EXAMPLE */

typedef enum {
#define X(name) TD_FORM_##name,
    TD_FORM_LIST(X)
#undef X
    TD_FORM_CNT
} td_form_t;

typedef struct {
    char const      *class_name;
    char const      *attribute;
    td_class_t       class_id;
    td_disposition_t disposition;
    char const      *why;   /* IMPLIED: by what; IGNORED: the reason; else "" */
    td_form_t        form;
} td_field_info_t;

td_field_info_t const *td_field_info(td_field_t field);          /* NULL out of range */
char const            *td_class_name(td_class_t class_id);       /* "" out of range */
td_class_t             td_class_parent(td_class_t class_id);     /* TD_CLASS_NONE at the top */
td_class_t             td_class_find(char const *name);          /* TD_CLASS_NONE: no such class */
bool                   td_class_is_a(td_class_t class_id, td_class_t ancestor);

/* td_field_find looks attribute up in class_id, then in its parents. */
td_field_t td_field_find(td_class_t class_id, char const *attribute);

/* td_class_fields gives the compared fields of class_id, its own and inherited
   ones, in schema order (the order of fields.def, whichever class a row stands
   under).  A row of the class itself hides a parent's row of that attribute.
   Static; NULL and 0 for TD_CLASS_NONE and out of range. */
td_field_t const *td_class_fields(td_class_t class_id, size_t *field_cnt);

/* td_schema_fingerprint is a hash of everything that gives canonical bytes their
   meaning: the classes and compared fields by name, in order. */
uint32_t td_schema_fingerprint(void);

enum { TD_CLASS_FIELD_CNT_MAX = 64 }; /* compared fields of one class; the largest has about 30 */

#endif
