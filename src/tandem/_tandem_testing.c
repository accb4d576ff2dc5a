/* _tandem_testing.c: low-level hooks for the project's own tests, as
   `_tandem.testing`; no promise to anybody else. */
#include "tandem/td_module.h"

#include "base/td_alloc.h"
#include "check/td_side.h"
#include "live/td_live.h"
#include "observe/td_liar.h"
#include "observe/td_obs.h"
#include "py/td_call.h"
#include "py/td_py_error.h"

static PyObject *
or_none(PyObject *object)
{
    return object == NULL ? Py_None : object;
}

PyDoc_STRVAR(live_doc, "live(program) -> dict\n\n"
                       "The program's objects, made once: objects, frames, config, constraints,\n"
                       "user_calls, export.");

static PyObject *
testing_live(PyObject *module, PyObject *source)
{
    td_prog_t   prog;
    td_live_t   live = {0};
    td_status_t status;
    PyObject   *result = NULL; /* owned, returned */

    if (!td_module_load(module, source, &prog)) {
        return NULL;
    }
    status = td_live_from_program(&prog, &live);
    td_prog_clear(&prog);
    if (status != TD_OK) {
        return td_module_raise(module, status, td_status_text(status));
    }
    result = Py_BuildValue("{s:O,s:O,s:O,s:O,s:O,s:i}", "objects", or_none(live.objects), "frames",
                           or_none(live.frames), "config", or_none(live.config), "constraints",
                           or_none(live.constraints), "user_calls", or_none(live.user_calls),
                           "export", live.export_mode);
    td_live_clear(&live);
    return result;
}

PyDoc_STRVAR(case_objects_doc, "case_objects(frames) -> tuple\n\n"
                               "The objects that a case's frames reach, by ordinal.");

static PyObject *
testing_case_objects(PyObject *module, PyObject *frames)
{
    td_live_t   live   = {0};
    td_status_t status = td_live_from_case(frames, NULL, NULL, 0, 0, &live);
    PyObject   *result; /* owned, returned */

    if (status != TD_OK) {
        return td_module_raise(module, status, td_status_text(status));
    }
    result = Py_NewRef(live.objects);
    td_live_clear(&live);
    return result;
}

/* ---- observations ---------------------------------------------------------------- */

PyDoc_STRVAR(obs_json_doc,
             "obs_json(bytes) -> str\n\nCanonical bytes of an observation as JSON text.");

static PyObject *
testing_obs_json(PyObject *module, PyObject *source)
{
    Py_buffer   view;
    td_val_t    val;
    td_obs_t   *obs    = td_obs_new(); /* owned */
    char       *json   = NULL;         /* owned */
    PyObject   *result = NULL;         /* owned, returned */
    td_status_t status;

    if (obs == NULL || PyObject_GetBuffer(source, &view, PyBUF_SIMPLE) < 0) {
        td_obs_free(obs);
        return obs == NULL ? PyErr_NoMemory() : NULL;
    }
    status = td_obs_decode(obs, view.buf, (size_t)view.len, &val);
    PyBuffer_Release(&view);
    if (status != TD_OK) {
        td_module_raise(module, status, td_obs_why(obs));
    } else {
        json   = td_obs_json(obs, val, false);
        result = json == NULL ? PyErr_NoMemory() : PyUnicode_FromString(json);
    }
    td_free(json);
    td_obs_free(obs);
    return result;
}

/* ---- the harness's own ears and mouths --------------------------------------------- */

static td_check_t *
require_check(PyObject *module)
{
    td_check_t *check = td_module_of(module)->check;

    if (check == NULL) {
        td_module_raise(module, TD_INTERNAL, "setup() was not called");
    }
    return check;
}

/* Asks the Python callable what to say instead.  A liar that raises tells no
   lie, loudly: its test must not pass by accident. */
static bool
python_lie(void *ctx, size_t frame_idx, uint8_t const *bytes, size_t sz, uint8_t **lie,
           size_t *lie_sz)
{
    char      *text;
    Py_ssize_t text_sz;
    bool       lied  = false;
    PyObject *result = PyObject_CallFunction(ctx, "ny#", (Py_ssize_t)frame_idx, (char const *)bytes,
                                             (Py_ssize_t)sz); /* owned */

    if (result == NULL ||
        (result != Py_None && PyBytes_AsStringAndSize(result, &text, &text_sz) < 0)) {
        PyErr_Print();
    } else if (result != Py_None) {
        *lie = td_malloc((size_t)text_sz);
        lied = *lie != NULL;
        if (lied) {
            memcpy(*lie, text, (size_t)text_sz);
            *lie_sz = (size_t)text_sz;
        }
    }
    Py_XDECREF(result);
    return lied;
}

PyDoc_STRVAR(lie_doc,
             "lie(side, callable or None)\n\n"
             "callable(frame, bytes) gives the bytes that side is taken to have written, or\n"
             "None for the true ones.  Held until replaced.");

static PyObject *
testing_lie(PyObject *module, PyObject *args)
{
    char const  *side;
    PyObject    *liar; /* borrowed */
    td_check_t  *check = require_check(module);
    td_module_t *state = td_module_of(module);
    td_which_t   which;

    if (check == NULL || !PyArg_ParseTuple(args, "sO:lie", &side, &liar)) {
        return NULL;
    }
    which = side[0] == 's' ? TD_SIDE_SUBJECT : TD_SIDE_REFERENCE;
    Py_XSETREF(state->liars[which], liar == Py_None ? NULL : Py_NewRef(liar));
    td_check_lie(check, which, state->liars[which] == NULL ? NULL : python_lie,
                 state->liars[which]);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(deaf_doc, "deaf(bool)\n\nReplaces every outcome of the reference by a wrong one.");

static PyObject *
testing_deaf(PyObject *module, PyObject *deaf)
{
    td_check_t *check = require_check(module);
    int         truth = PyObject_IsTrue(deaf);

    if (check == NULL || truth < 0) {
        return NULL;
    }
    td_check_deaf(check, truth == 1);
    Py_RETURN_NONE;
}

/* One call that the subject makes through td_call. */
static void
note_call(void *ctx, char const *class_name, char const *function)
{
    td_module_t *state = ctx;
    PyObject    *row   = Py_BuildValue("(ss)", class_name, function); /* owned */

    if (row == NULL || PyList_Append(state->rows, row) < 0) {
        PyErr_WriteUnraisable(state->rows);
    }
    Py_XDECREF(row);
}

static void
tell_watcher(void *ctx, bool inside)
{
    td_module_t *state  = ctx;
    PyObject    *result = NULL; /* owned */

    if (inside) {
        Py_XSETREF(state->rows, PyList_New(0));
        if (state->rows == NULL) {
            PyErr_WriteUnraisable(state->watcher);
            return;
        }
        td_call_record(note_call, state);
    }
    result =
        PyObject_CallFunctionObjArgs(state->watcher, inside ? Py_True : Py_False,
                                     inside || state->rows == NULL ? Py_None : state->rows, NULL);
    if (result == NULL) {
        PyErr_WriteUnraisable(state->watcher);
    }
    Py_XDECREF(result);
    if (!inside) {
        td_call_record(NULL, NULL);
    }
}

PyDoc_STRVAR(watch_doc,
             "watch(callable or None)\n\n"
             "callable(True, None) is called right before each call of the subject's functions,\n"
             "callable(False, rows) right after: rows are (class, function) of what it called.\n"
             "Held until replaced.");

static PyObject *
testing_watch(PyObject *module, PyObject *watcher)
{
    td_module_t *state = td_module_of(module);

    Py_XSETREF(state->watcher, watcher == Py_None ? NULL : Py_NewRef(watcher));
    td_side_watch(state->watcher == NULL ? NULL : tell_watcher, state);
    Py_RETURN_NONE;
}

PyDoc_STRVAR(quiet_doc,
             "quiet(program, recorded=False) -> str or None\n\n"
             "What the subject, run alone, left behind; with the operator records of the run just\n"
             "before, of the same program.");

static PyObject *
testing_quiet(PyObject *module, PyObject *args)
{
    td_check_t *check    = require_check(module);
    char const *why      = NULL;
    PyObject   *source   = NULL; /* borrowed */
    int         recorded = 0;
    td_prog_t   prog;
    td_status_t status;

    if (check == NULL || !PyArg_ParseTuple(args, "O|p:quiet", &source, &recorded) ||
        !td_module_load(module, source, &prog)) {
        return NULL;
    }
    status = td_check_quiet(check, &prog, recorded != 0, &why);
    td_prog_clear(&prog);
    if (status != TD_OK) {
        return td_module_raise(module, status, td_check_why());
    }
    return Py_BuildValue("z", why);
}

/* ---- the schema, and lies made from it ------------------------------------------------ */

PyDoc_STRVAR(fields_doc, "fields() -> list of (class, attribute, disposition)\n\n"
                         "The schema's rows; disposition is compared, implied or ignored.");

static PyObject *
testing_fields(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    static char const *const words[] = {"compared", "implied", "ignored"};
    PyObject                *list    = PyList_New(0); /* owned, returned */

    for (int field = TD_FIELD_NONE + 1; list != NULL && field < TD_FIELD_CNT; field++) {
        td_field_info_t const *info = td_field_info((td_field_t)field);
        PyObject              *row  = Py_BuildValue("(sss)", info->class_name, info->attribute,
                                                    words[info->disposition]); /* owned */

        if (row == NULL || PyList_Append(list, row) < 0) {
            Py_CLEAR(list);
        }
        Py_XDECREF(row);
    }
    return list;
}

/* The lie about class_name.attribute in the first record of record_class. */
static PyObject *
lie_told(td_obs_t *obs, Py_buffer const *view, char const *record_class, char const *class_name,
         char const *attribute)
{
    td_lie_t   lie;
    PyObject  *result;
    td_class_t in    = record_class == NULL ? TD_CLASS_NONE : td_class_find(record_class);
    td_field_t field = td_field_find(td_class_find(class_name), attribute);

    if (field == TD_FIELD_NONE || (record_class != NULL && in == TD_CLASS_NONE)) {
        return PyErr_Format(PyExc_KeyError, "%s.%s", class_name, attribute);
    }
    if (!td_liar_tell(obs, view->buf, (size_t)view->len, in, field, &lie)) {
        if (td_obs_status(obs) != TD_OK) {
            return PyErr_Format(PyExc_ValueError, "%s", td_obs_why(obs));
        }
        Py_RETURN_NONE;
    }
    result = Py_BuildValue("(y#s)", (char const *)lie.bytes, (Py_ssize_t)lie.sz, lie.field);
    td_free(lie.bytes);
    return result;
}

PyDoc_STRVAR(tell_doc,
             "tell(bytes, class, attribute, record_class=None) -> (bytes, field) or None\n\n"
             "Canonical bytes with one lie in them about class.attribute, and the field that a\n"
             "difference must name; None: no record has it.");

static PyObject *
testing_tell(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer   view;
    char const *class_name, *attribute;
    char const *record_class = NULL;
    PyObject   *result       = NULL;
    td_obs_t   *obs          = NULL; /* owned */

    if (!PyArg_ParseTuple(args, "y*ss|z:tell", &view, &class_name, &attribute, &record_class)) {
        return NULL;
    }
    obs = td_obs_new();
    result =
        obs == NULL ? PyErr_NoMemory() : lie_told(obs, &view, record_class, class_name, attribute);
    td_obs_free(obs);
    PyBuffer_Release(&view);
    return result;
}

PyMethodDef td_module_testing_methods[] = {
    {"live", testing_live, METH_O, live_doc},
    {"case_objects", testing_case_objects, METH_O, case_objects_doc},
    {"obs_json", testing_obs_json, METH_O, obs_json_doc},
    {"fields", testing_fields, METH_NOARGS, fields_doc},
    {"tell", testing_tell, METH_VARARGS, tell_doc},
    {"lie", testing_lie, METH_VARARGS, lie_doc},
    {"deaf", testing_deaf, METH_O, deaf_doc},
    {"quiet", testing_quiet, METH_VARARGS, quiet_doc},
    {"watch", testing_watch, METH_O, watch_doc},
    {NULL, NULL, 0, NULL},
};
