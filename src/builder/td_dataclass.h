/* td_dataclass.h: the fields of a dataclass. */
#ifndef TD_BUILDER_DATACLASS_H
#define TD_BUILDER_DATACLASS_H

#include "builder/td_builder_private.h"

typedef struct {
    PyObject **names;  /* in the arena; strs from the frame's keep */
    PyObject **fields; /* in the arena, the Field objects; as above */
    uint32_t   cnt;
} td_dataclass_t;

/* td_dataclass_fields mirrors dataclasses.fields where all (borrowed) is the class's table of
   fields, NULL: it has none, which raises TypeError.  False: stopped, at arm. */
bool td_dataclass_fields(td_builder_t *b, PyObject *all, char const *arm, td_dataclass_t *fields);

#endif
