/* td_obs.h: what was seen, as data; pure C, compared without Python.

   An *observation* is a value.  A *value* is an atom (absent, null, bool, int,
   float, string), a *list* (order matters), a *bag* (order does not, equal
   members count), or a *record*: a class of the schema with one value for each
   attribute that the schema compares (fields.def).  Values are interned in
   their td_obs_t: equal values have equal ids, whatever order they were made in.

   An *ordinal* stands for an identity (an object, a tracker, a mutable local, a
   graph node): 0, 1, 2, ... in the order in which td_obs_ordinal first meets
   it.  Whoever writes an observation must therefore ask in an order that does
   not depend on addresses or on the order of a Python set.

   *Canonical bytes* are the value written out: header (magic, schema version,
   schema fingerprint), then the value with bags sorted by content.  Two
   observations are equal exactly when their canonical bytes are.

   First failure sticks: after a failed allocation every call gives
   TD_VAL_NONE and td_obs_status says why; the caller looks once at the end.
   TD_VAL_NONE as an argument gives TD_VAL_NONE.  The status is TD_NOMEM,
   TD_LIMIT (a value nested deeper than TD_VALUE_DEPTH_MAX) or TD_INTERNAL (the
   caller broke a contract). */
#ifndef TD_OBSERVE_OBS_H
#define TD_OBSERVE_OBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/td_status.h"
#include "observe/td_schema.h"

/* Moves with every change of meaning of fields.def or of a form. */
enum { TD_OBS_SCHEMA_VERSION = 1 };

typedef uint32_t td_val_t; /* a value of one td_obs_t; 0 is no value */
enum { TD_VAL_NONE = 0 };

typedef struct td_obs td_obs_t;

td_obs_t   *td_obs_new  (void);            /* NULL: no memory */
void        td_obs_free (td_obs_t *obs);   /* NULL is fine */
void        td_obs_reset(td_obs_t *obs);   /* forgets all values and ordinals, keeps memory */
td_status_t td_obs_status(td_obs_t const *obs);

/* ---- making values ------------------------------------------------------ */

td_val_t td_obs_absent(td_obs_t *obs);                 /* the attribute does not exist */
td_val_t td_obs_null  (td_obs_t *obs);                 /* None */
td_val_t td_obs_bool  (td_obs_t *obs, bool value);
td_val_t td_obs_int   (td_obs_t *obs, int64_t value);
/* An int outside int64, as str(int) spells it. */
td_val_t td_obs_bigint(td_obs_t *obs, char const *decimal);
/* Floats are equal by bits: -0.0 is not 0.0, each NaN is its bits. */
td_val_t td_obs_float (td_obs_t *obs, double value);
/* Text is utf-8, lone surrogates as CPython's surrogatepass writes them. */
td_val_t td_obs_str   (td_obs_t *obs, char const *bytes, size_t sz);
td_val_t td_obs_cstr  (td_obs_t *obs, char const *text);
td_val_t td_obs_list  (td_obs_t *obs, td_val_t const *items, size_t item_cnt);
td_val_t td_obs_bag   (td_obs_t *obs, td_val_t const *items, size_t item_cnt);

/* td_obs_pair, td_obs_triple: short lists, e.g. ["AttrSource", base, "w"]. */
td_val_t td_obs_pair  (td_obs_t *obs, td_val_t a, td_val_t b);
td_val_t td_obs_triple(td_obs_t *obs, td_val_t a, td_val_t b, td_val_t c);

typedef struct {
    td_field_t field;
    td_val_t   value;
} td_obs_field_t;

/* td_obs_record makes a record of class.  fields holds each compared attribute
   of the class and of its parents exactly once, in any order; anything else is
   a bug of the caller: TD_INTERNAL sticks, and td_obs_why names the class and
   the attribute. */
td_val_t td_obs_record(td_obs_t *obs, td_class_t class_id,
                       td_obs_field_t const *fields, size_t field_cnt);

/* td_obs_why: one line about a sticking failure, else about the last refusal of
   td_obs_decode; "" when there is none. */
char const *td_obs_why(td_obs_t const *obs);

/* ---- identities ---------------------------------------------------------- */

typedef enum {
    TD_SPACE_OBJECT,        /* Python objects that a program brought, then others as they are met */
    TD_SPACE_TRACKER,       /* VariableTracker instances */
    TD_SPACE_MUTABLE_LOCAL, /* MutableLocalBase instances */
    TD_SPACE_NODE,          /* fx nodes, in graph order when the graph is written first */
    TD_SPACE_CNT
} td_space_t;

/* td_obs_ordinal gives the ordinal of identity (not NULL) in space, a new one
   when it was not met before; *again says which (again may be NULL). */
uint32_t td_obs_ordinal(td_obs_t *obs, td_space_t space, void const *identity,
                        bool *again);

/* td_obs_find_ordinal looks only: false when it was not met (ordinal may be
   NULL). */
bool td_obs_find_ordinal(td_obs_t const *obs, td_space_t space,
                         void const *identity, uint32_t *ordinal);

/* ---- looking at values ---------------------------------------------------- */

typedef enum {
    TD_VAL_ABSENT, TD_VAL_NULL, TD_VAL_BOOL, TD_VAL_INT, TD_VAL_BIGINT,
    TD_VAL_FLOAT, TD_VAL_STR, TD_VAL_LIST, TD_VAL_BAG, TD_VAL_RECORD
} td_val_kind_t;

/* Each getter is for the kinds named beside it; another kind is a bug of the
   caller and ends the process.  Text has a NUL behind it (sz may be NULL); items
   of a bag are sorted, those of a record stand in schema order. */
td_val_kind_t td_obs_kind     (td_obs_t const *obs, td_val_t val);
bool          td_obs_get_bool (td_obs_t const *obs, td_val_t val);
int64_t       td_obs_get_int  (td_obs_t const *obs, td_val_t val);
double        td_obs_get_float(td_obs_t const *obs, td_val_t val);
char const   *td_obs_get_str  (td_obs_t const *obs, td_val_t val, size_t *sz); /* STR, BIGINT */
td_class_t    td_obs_get_class(td_obs_t const *obs, td_val_t val); /* RECORD */
size_t        td_obs_get_cnt  (td_obs_t const *obs, td_val_t val); /* LIST, BAG, RECORD */
td_val_t      td_obs_get_item (td_obs_t const *obs, td_val_t val, size_t idx); /* as get_cnt */
td_field_t    td_obs_get_field(td_obs_t const *obs, td_val_t val, size_t idx); /* RECORD */

/* td_obs_cmp orders values by content alone (never by id): <0, 0, >0.  By kind,
   then: numbers by size, floats by bits, text by bytes; containers by class,
   depth of nesting, and their items one by one (a prefix first). */
int td_obs_cmp(td_obs_t const *obs, td_val_t a, td_val_t b);

/* ---- canonical bytes ------------------------------------------------------ */

/* td_obs_encode writes root's canonical bytes into a block that the caller
   frees with td_free.  td_obs_decode is its strict inverse: TD_REJECT (and
   td_obs_why with the byte offset) for anything td_obs_encode would not write,
   including another schema version.  A refusal does not stick: obs stays usable,
   with some values in it that nobody has.

   After the header every value is one tag byte and what belongs to it (varints
   are LEB128, always the shortest form is used):

     00 absent  01 null  02 false  03 true
     04 int: zigzag varint          40..7f int 0..63
     05 bigint: size, text          06 float: 8 bytes, little endian
     07 string: size >= 24, bytes   20..37 string of 0..23 bytes
     08 list: count >= 8, values    10..17 list of 0..7 values
     09 bag: count, values sorted by td_obs_cmp
     0a record: class, values in schema order
     0b reference: number - 64      80..bf reference 0..63

   Strings, bigints, lists, bags and records are numbered from 0 in the order in
   which they end; one that occurs again is written as a reference. */
td_status_t td_obs_encode(td_obs_t *obs, td_val_t root, uint8_t **bytes, size_t *sz);
td_status_t td_obs_decode(td_obs_t *obs, uint8_t const *bytes, size_t sz, td_val_t *root);

/* ---- comparing ------------------------------------------------------------ */

/* One place where two values of one td_obs_t differ.  path is spelled like
   "frames[0].roots[1].tracker.items[2].guards"; field is "Class.attribute" of
   the innermost record attribute on the way ("" when there is none), or, where
   two records are of different classes, "Class.kind" with the reference's class.
   Strings live until td_obs_reset. */
typedef struct {
    char const *path;
    char const *field;
    td_val_t    reference; /* TD_VAL_NONE: missing on this side (bags, lists) */
    td_val_t    subject;
} td_obs_diff_t;

/* td_obs_diff finds the differences of two values, first in build order first,
   at most diff_max; returns how many were stored.  Bags are matched as
   multisets: a member on one side only is one difference, at the bag's path.
   Lists are matched by index.  A form (a list that begins with a word and holds
   no record, such as a source) is one value: its inside is not searched.  In a
   dict of trackers the path says items[2].key or items[2].value.  Two records
   that were compared before are not searched again. */
size_t td_obs_diff(td_obs_t *obs, td_val_t reference, td_val_t subject,
                   td_obs_diff_t *diffs, size_t diff_max);

/* ---- showing -------------------------------------------------------------- */

/* td_obs_json writes a value as JSON text; the block is freed with td_free;
   NULL: no memory, or more than 256 MB of text.

   A record is an object keyed by attribute, with "kind" (its class) first;
   absent attributes are left out.  Of a tracker only source and guards stand
   there, the rest is in "fields".  An Exception's kind is the name of its class,
   without the module, which stands in "class".
   A Root leaves out what it has not, a Frame has "graph_args" beside its graph.
   A source is shown by its name, its tree stands beside it under
   "<attribute>_tree".  Guards are rows [name, kind, {guard_source, source_tree,
   is_volatile if true, payload if any}], sorted by name.  Ints beyond 2^53 and
   floats that JSON lacks are strings; where such a number is an attribute's value,
   "int" or "float" stands beside it under "<attribute>_kind". */
char *td_obs_json(td_obs_t *obs, td_val_t val, bool indent);

/* td_obs_tree_text writes a value as an indented tree for people, one attribute
   a line, with ANSI colours if colour is set; ownership as td_obs_json. */
char *td_obs_tree_text(td_obs_t *obs, td_val_t val, bool colour);

#endif
