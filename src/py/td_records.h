/* td_records.h: operator records as text, on their way from one side to the other.

   Their form is that of td_abi.h; tandem.oracle.records makes them. */
#ifndef TD_PY_RECORDS_H
#define TD_PY_RECORDS_H

#include "base/td_arena.h"
#include "base/td_status.h"
#include "observe/td_obs.h"
#include "py/td_py.h"

/* td_records_write spells records (a list of dicts, borrowed) as JSON into arena.  Ids
   of the program's objects (a tuple, borrowed) in texts of exceptions become ordinals,
   as in an observation: the other side's objects lie elsewhere.  obs is reset. */
td_status_t td_records_write(td_obs_t *obs, PyObject *objects, PyObject *records,
                             td_arena_t *arena, char const **json);

/* td_records_read is the way back: a new list, or NULL with an exception. */
PyObject *td_records_read(char const *json);

#endif
