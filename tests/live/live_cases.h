/* live_cases.h: a case from a Python expression, for the tests of this room. */
#ifndef TESTS_LIVE_LIVE_CASES_H
#define TESTS_LIVE_LIVE_CASES_H

#include "live_rows.h"

/* live_value evaluates text in the namespace of live_rows.h: owned. */
static inline PyObject *
live_value(char const *text)
{
    PyObject *globals = live_globals();
    PyObject *result  = PyRun_String(text, Py_eval_input, globals, globals);

    if (result == NULL) {
        PyErr_Print();
        fail_msg("%s", text);
    }
    return result;
}

/* live_case makes a case of the frames that text gives. */
static inline td_status_t
live_case(char const *text, td_live_t *live)
{
    PyObject   *frames = live_value(text); /* owned */
    td_status_t status = td_live_from_case(frames, NULL, NULL, 0, 0, live);

    Py_DECREF(frames);
    return status;
}

#endif
