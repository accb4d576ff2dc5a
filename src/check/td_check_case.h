/* td_check_case.h: the same judge for objects that a user made in Python. */
#ifndef TD_CHECK_CASE_H
#define TD_CHECK_CASE_H

#include "check/td_check.h"
#include "py/td_py.h"
#include "reference/td_reference.h"

/* A case as its file gives it; all borrowed. */
typedef struct {
    PyObject
        *frames; /* callable without arguments, called once for each side; shared: a list or such a
                              callable, used once for both */
    PyObject *config;      /* dict of Dynamo config values, or NULL */
    PyObject *constraints; /* callable (k, frame), or NULL */
    int       export_mode;
    int       shared; /* sides alternate root by root on the same objects */
} td_case_t;

/* td_check_case and td_check_show_case: as td_check_program and td_check_show.
   TD_PYERR: the case raised (the exception is set). */
td_status_t td_check_case(td_check_t *check, td_case_t const *in, bool observations,
                          td_report_t const **report);
td_status_t td_check_show_case(td_check_t *check, td_case_t const *in, td_which_t which,
                               td_shown_t const **shown);

/* td_check_reference: the reference behind check (borrowed). */
td_reference_t *td_check_reference(td_check_t *check);

#endif
