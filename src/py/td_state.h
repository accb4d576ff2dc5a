/* td_state.h: the Python objects that are fetched once and kept. */
#ifndef TD_PY_STATE_H
#define TD_PY_STATE_H

#include "py/td_py.h"

typedef struct {
    int ready; /* 1: refs and names are there; 2: the late ones too */
#define TD_STATE_REF(field, module, attr)  PyObject *field;        /* owned */
#define TD_STATE_LATE(field, module, attr) PyObject *field;        /* owned */
#define TD_STATE_NAME(field)               PyObject *name_##field; /* owned */
#include "py/state.def"
#undef TD_STATE_REF
#undef TD_STATE_LATE
#undef TD_STATE_NAME
} td_state_t;

/* td_state_get gives the state, filled at the first call (which imports torch,
   numpy and tandem.objects); NULL: a Python exception is set.  td_state_late
   also fills what needs torch._dynamo. */
td_state_t const *td_state_get(void);
td_state_t const *td_state_late(void);

/* td_state_clear drops everything; the next td_state_get fills it again. */
void td_state_clear(void);

/* td_state_find gives module.attr, where attr may be a path with dots, or NULL
   for the module itself.  A new reference, or NULL with an exception. */
PyObject *td_state_find(char const *module, char const *attr);

#endif
