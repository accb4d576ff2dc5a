/* td_records.c: operator records as text. */
#include "py/td_records.h"

#include <string.h>

#include "py/td_canon.h"
#include "py/td_state.h"

/* without_ids gives text with the ids of the program's objects as ordinals; a new
   reference. */
static PyObject *
without_ids(td_canon_t *canon, PyObject *text)
{
    td_val_t    val   = td_canon_text(canon, text, NULL, 0);
    size_t      sz    = 0;
    char const *bytes = NULL;

    if (val == TD_VAL_NONE) {
        return PyErr_NoMemory();
    }
    bytes = td_obs_get_str(canon->obs, val, &sz);
    return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)sz, "surrogatepass");
}

/* settle rewrites the text of a record's exception, if it has one. */
static int
settle(td_canon_t *canon, PyObject *record)
{
    PyObject *key    = PyUnicode_InternFromString("exception"); /* owned */
    PyObject *raised = NULL;                                    /* borrowed */
    PyObject *text   = NULL;                                    /* owned until stored */

    raised = key == NULL ? NULL : PyDict_GetItemWithError(record, key);
    Py_XDECREF(key);
    if (raised == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    text = without_ids(canon, PyList_GetItem(raised, 1));
    return text == NULL ? -1 : PyList_SetItem(raised, 1, text);
}

static td_status_t
spell(PyObject *records, td_arena_t *arena, char const **json)
{
    PyObject   *dumps  = td_state_find("json", "dumps");                             /* owned */
    PyObject   *text   = dumps == NULL ? NULL : PyObject_CallOneArg(dumps, records); /* owned */
    Py_ssize_t  sz     = 0;
    char const *bytes  = text == NULL ? NULL : PyUnicode_AsUTF8AndSize(text, &sz);
    td_status_t status = bytes == NULL ? TD_PYERR : TD_OK;

    if (bytes != NULL) {
        *json  = td_arena_dup(arena, bytes, (size_t)sz);
        status = *json == NULL ? TD_NOMEM : TD_OK;
    }
    Py_XDECREF(text);
    Py_XDECREF(dumps);
    return status;
}

td_status_t
td_records_write(td_obs_t *obs, PyObject *objects, PyObject *records, td_arena_t *arena,
                 char const **json)
{
    td_status_t status;
    td_canon_t  canon;

    td_obs_reset(obs);
    TD_TRY(td_canon_init(&canon, obs, objects));
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(records); i++) {
        if (settle(&canon, PyList_GET_ITEM(records, i)) < 0) {
            return TD_PYERR;
        }
    }
    TD_TRY(spell(records, arena, json));
done:
    return status;
}

PyObject *
td_records_read(char const *json)
{
    PyObject *loads = td_state_find("json", "loads");                    /* owned */
    PyObject *text  = loads == NULL ? NULL : PyUnicode_FromString(json); /* owned */
    PyObject *list  = text == NULL ? NULL : PyObject_CallOneArg(loads, text);

    Py_XDECREF(text);
    Py_XDECREF(loads);
    return list;
}
