/* td_canon.h: any Python object as a canonical value of an observation.

   Used by both sides, since it only reads what an object is:

     None, True, 5, 1.5, "a"      the atom itself (exact types only)
     a program's object           ["object", ordinal]
     bytes, list, tuple, set, ... ["tuple", [items...]] by exact type; sets as bags,
                                  dicts as [[key, value], ...] in their order
     torch.Size, dtype, device, layout, memory format
                                  ["torch.Size", [...]], ["torch.dtype", "float32"], ...
     an enum member               ["enum", class, member name]
     something found again under  ["global", "module.qualname"]: checked to be that object
       its module and qualname
     a bound method or wrapper    ["bound", type name, self, name]
     a function of no module      ["function", code name, first line] if its file is the
                                  program's own, otherwise "other"
     anything else                ["other", class, ordinal]: ordinals go on after the
                                  program's objects, in the order of first sight

   It never runs user code: attributes are read through the type's own slots and
   instance dicts, never through __getattr__, __eq__, __hash__ or __repr__. */
#ifndef TD_PY_CANON_H
#define TD_PY_CANON_H

#include "observe/td_obs.h"
#include "py/td_py.h"

typedef struct {
    td_obs_t *obs;        /* borrowed */
    uint32_t  object_cnt; /* ordinals below this are the program's objects */
} td_canon_t;

/* td_canon_init gives each member of objects (a tuple, borrowed; atoms are
   skipped but take their ordinal) its index as ordinal in TD_SPACE_OBJECT of
   obs, which must be freshly reset. */
td_status_t td_canon_init(td_canon_t *canon, td_obs_t *obs, PyObject *objects);

/* td_canon_value: value is borrowed.  Never raises: an object that cannot be
   read is "other".  TD_VAL_NONE only when memory ran out. */
td_val_t td_canon_value(td_canon_t *canon, PyObject *value);

/* td_canon_type is td_canon_value for a class (a torch class is ["global", ...]). */
td_val_t td_canon_type(td_canon_t *canon, PyTypeObject *type);

/* td_canon_text turns ids inside a text into ordinals where the id is known by
   construction: each id(object) of the given objects that occurs in text as a
   decimal or hexadecimal number becomes <object ordinal>.  For exception
   messages and generated names only. */
td_val_t td_canon_text(td_canon_t *canon, PyObject *text, PyObject *const *objects, size_t object_cnt);

#endif
