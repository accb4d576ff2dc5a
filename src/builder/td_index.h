/* td_index.h: what stands in the brackets of a source: how it is spelled, and what it
   equals.

   Nothing here runs code of a program: an index whose spelling would is refused by
   td_index_has_repr before a source is made of it. */
#ifndef TD_BUILDER_INDEX_H
#define TD_BUILDER_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "builder/td_buf.h"
#include "builder/td_source.h"
#include "py/td_py.h"

/* td_index_is_literal: an exact int, str, bool, float, bytes or None. */
bool td_index_is_literal(PyObject *key);

/* td_index_is_nan: a float that is equal to none but itself.  Two of them look alike and are
   not equal; equal indices that are no literals may be two objects. */
static inline bool
td_index_is_nan(PyObject *key)
{
    return PyFloat_CheckExact(key) && PyFloat_AS_DOUBLE(key) != PyFloat_AS_DOUBLE(key);
}

bool td_index_is_enum(td_sources_t const *sources, PyObject *key);

/* td_index_has_repr says whether repr(key) can be spelled here: literals, tuples, slices and
   frozensets of them, enum members whose repr is enum's own, classes, dtypes, devices and
   sizes. */
bool td_index_has_repr(td_sources_t const *sources, PyObject *key);

/* td_index_is_hashable: whether hash(key) gives a number, for a key that has a repr. */
bool td_index_is_hashable(PyObject *key);

/* td_index_put_str puts a str as UTF-8, lone surrogates as they would be encoded;
   td_index_put_repr puts repr(key) of a key that has one.  False: memory ran out, or a
   Python exception is set. */
bool td_index_put_str(td_buf_t *out, PyObject *text);
bool td_index_put_repr(td_sources_t const *sources, td_buf_t *out, PyObject *key);

/* td_index_put_slice puts repr() of the slice whose __reduce__() gave reduced. */
bool td_index_put_slice(td_sources_t const *sources, td_buf_t *out, PyObject *reduced);

/* td_index_put_enum puts what a guard calls an enum member, in the scope of L or G. */
bool td_index_put_enum(td_buf_t *out, PyObject *member, bool local);

/* td_index_equal compares as Python's == does, identity first; td_index_hash agrees with
   it (NULL: no key). */
bool     td_index_equal(td_sources_t const *sources, PyObject *a, PyObject *b);
uint64_t td_index_hash(PyObject *key);

#endif
