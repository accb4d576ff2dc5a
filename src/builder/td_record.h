/* td_record.h: operator records, read. */
#ifndef TD_BUILDER_RECORD_H
#define TD_BUILDER_RECORD_H

#include "builder/td_value.h"

typedef struct {
    PyObject   *dict;  /* borrowed from the harness, good during the root */
    td_fake_t **fakes; /* in the arena: those of "fakes" that were made so far */
} td_record_t;

/* td_record_ask asks for the record of the operator that node runs.  False: stopped; what
   the operator raised is raised. */
bool td_record_ask(td_builder_t *b, td_fxnode_t *node, td_record_t *record);

/* td_record_result gives what the operator returned, from the frame's keep, in the form
   of td_value.h.  NULL: stopped. */
PyObject *td_record_result(td_builder_t *b, td_record_t *record);

#endif
