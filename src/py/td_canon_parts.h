/* td_canon_parts.h: what the files of td_canon share among themselves. */
#ifndef TD_PY_CANON_PARTS_H
#define TD_PY_CANON_PARTS_H

#include <stdbool.h>

#include "py/td_canon.h"

/* A class or function made by C carries its name in one text, "torch.Size". */
bool td_canon_is_static(PyTypeObject const *type, char const *tp_name);

/* td_canon_atom: TD_VAL_NONE when value is no atom. */
td_val_t td_canon_atom(td_canon_t *canon, PyObject *value);
bool     td_canon_is_atom(PyObject *value);

/* td_canon_named: functions, builtins, modules, methods, descriptors, enum
   members and singletons with a name; TD_VAL_NONE when value is none of them. */
td_val_t td_canon_named(td_canon_t *canon, PyObject *value);

/* td_canon_type_name: a class by its name, never as an object of the program. */
td_val_t td_canon_type_name(td_canon_t *canon, PyTypeObject *type);

/* td_canon_enum: TD_VAL_NONE when value is no member of an enum. */
td_val_t td_canon_enum(td_canon_t *canon, PyObject *value);

/* td_canon_dict: the instance dict, borrowed, or NULL.  CPython may turn inline
   values into the dict that they stand for; nobody can see that. */
PyObject *td_canon_dict(PyObject *value);

/* td_canon_get: what dict (may be NULL) has under key, borrowed; NULL without an
   exception when it has nothing. */
PyObject *td_canon_get(PyObject *dict, PyObject *key);

/* td_canon_ordinal: the ordinal of an object as an int value. */
td_val_t td_canon_ordinal(td_canon_t *canon, void const *identity);

/* td_canon_contents: the items of a dict, list or set (subclasses too, read as
   the plain container), without its type. */
td_val_t td_canon_contents(td_canon_t *canon, PyObject *container);

/* td_canon_utf8: str (exact or not) as UTF-8, lone surrogates as surrogatepass;
   *keep is a new reference that holds the bytes, or NULL.  NULL: no memory. */
char const *td_canon_utf8(PyObject *text, Py_ssize_t *sz, PyObject **keep);

#endif
