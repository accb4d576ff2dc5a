/* td_canon.h: any Python object as a canonical value of an observation.

   Used by both sides, since it only reads what an object is:

     None, True, 5, 1.5, "a"      the atom itself (exact types only)
     bytes, complex, dtype,       ["bytes", "..."], ["torch.dtype", "float32"], ...: what is equal
       layout, device, memory       by value is written by value, also when a program brought it
       format, empty tuple
     a class found under its      ["class", module, qualname]: checked to be that object (a
       module and qualname          static type of C goes by its own name)
     a program's object           ["object", ordinal]
     list, tuple, set, ...        ["tuple", [items...]] by exact type; sets as bags, dicts as
                                  [[key, value], ...] in their order
     tuple subclasses             ["tuple", [items...], class]
     an enum member               ["enum", class, member name]
     something else found again   ["global", module, qualname]
       under module and qualname
     a module in sys.modules      ["module", name]
     a bound method or wrapper    ["bound", type name, self, name]
     a descriptor of a C type     ["descriptor", type name, class, name]
     a function found nowhere     ["function", module, qualname, first line, ordinal]
     an operator of torch         ["operator", class, module, name]
     a numpy scalar               ["numpy.float32", "bytes in hex"]
     a weak reference             ["weakref", value or null]
     any other class              ["local-class", module, qualname, ordinal]
     anything else                ["other", class, ordinal]: ordinals go on after the
                                  program's objects, in the order of first sight

   It never runs user code: what is read is read from the structs of exact C
   types, from instance dicts and from module dicts, never through __getattr__,
   __eq__, __hash__ or __repr__ of a class made in Python. */
#ifndef TD_PY_CANON_H
#define TD_PY_CANON_H

#include <stddef.h>

#include "observe/td_obs.h"
#include "py/td_py.h"
#include "py/td_state.h"

enum {
    TD_CANON_DEPTH_MAX = 64, /* containers inside containers; what lies deeper is "other" */
    TD_CANON_MEMO_CNT  = 32  /* values of dtypes, layouts and memory formats: torch has fewer */
};

/* td_canon_special: a caller's own idea of some objects (symbolic numbers, fake
   tensors, graph nodes), asked after atoms, classes and the program's objects.
   TD_VAL_NONE: not one of these. */
typedef td_val_t (*td_canon_special_t)(void *ctx, PyObject *value);

typedef struct {
    td_obs_t          *obs; /* borrowed */
    td_state_t const  *state;
    uint32_t           object_cnt; /* ordinals below this are the program's objects */
    td_canon_special_t special;    /* NULL after td_canon_init */
    void              *special_ctx;

    PyObject *open[TD_CANON_DEPTH_MAX]; /* borrowed: containers being written */
    size_t    open_cnt;
    PyObject *memo_keys[TD_CANON_MEMO_CNT]; /* borrowed: torch never frees these objects */
    td_val_t  memo_vals[TD_CANON_MEMO_CNT];
    Py_hash_t device_hash; /* of the device that was written last */
    td_val_t  device_val;
} td_canon_t;

/* td_canon_init gives each member of objects (a tuple, borrowed; atoms are
   skipped but take their ordinal) its index as ordinal in TD_SPACE_OBJECT of
   obs, which must be freshly reset.  TD_PYERR: torch could not be imported. */
td_status_t td_canon_init(td_canon_t *canon, td_obs_t *obs, PyObject *objects);

/* td_canon_value: value is borrowed.  Never raises: an object that cannot be
   read is "other".  TD_VAL_NONE only when memory ran out. */
td_val_t td_canon_value(td_canon_t *canon, PyObject *value);

/* td_canon_type is td_canon_value for a class. */
td_val_t td_canon_type(td_canon_t *canon, PyTypeObject *type);

/* td_canon_index is td_canon_value for the index of a source: enum members,
   classes and tuples of literals are written by value even when they are the
   program's, since the source's name spells them. */
td_val_t td_canon_index(td_canon_t *canon, PyObject *value);

/* td_canon_str: a str (borrowed) as it is. */
td_val_t td_canon_str(td_canon_t *canon, PyObject *text);

/* td_canon_name: a generated name (an input, a global, a key of the frame state).
   The id in "dict_key_<id>" becomes the ordinal of the object that it is the id
   of: "dict_key_<object 3>".  Pure C. */
td_val_t td_canon_name(td_canon_t *canon, char const *name, size_t sz);

/* td_canon_text turns ids inside a text into ordinals where the id is known by
   construction: each id of an object met before, or of the given objects, that
   occurs in text as a decimal or hexadecimal number becomes <object ordinal>.
   For exception messages only. */
td_val_t td_canon_text(td_canon_t *canon, PyObject *text, PyObject *const *objects,
                       size_t object_cnt);

/* td_canon_find resolves a qualified name in a module of sys.modules without
   running anything; borrowed, NULL (no exception) when there is nothing. */
PyObject *td_canon_find(PyObject *module_name, PyObject *qualname);

#endif
