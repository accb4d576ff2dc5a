/* td_reference.c: loading a builder and saying what was loaded. */
#include "reference/td_reference_private.h"

#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"
#include "py/td_py_depth.h"
#include "py/td_py_error.h"
#include "py/td_state.h"

enum {
    RECURSION_LEFT = TD_PY_DEPTH_LIMIT - 2
}; /* Frame.step and its entry stand above a builder */

static char why[1024];

char const *
td_reference_why(void)
{
    return why;
}

/* utf8_of gives the text of the str that is object's attribute; it lives as long
   as the attribute does.  NULL: an exception is set. */
static char const *
utf8_of(PyObject *object, char const *attribute)
{
    PyObject   *value = PyObject_GetAttrString(object, attribute);
    char const *text  = value == NULL ? NULL : PyUnicode_AsUTF8(value);

    Py_XDECREF(value); /* the attribute keeps it */
    return text;
}

static td_status_t
int_of(PyObject *object, char const *attribute, int *out)
{
    PyObject *value  = PyObject_GetAttrString(object, attribute);
    long      number = value == NULL ? -1 : PyLong_AsLong(value);

    Py_XDECREF(value);
    *out = (int)number;
    return PyErr_Occurred() != NULL ? TD_PYERR : TD_OK;
}

/* ---- arms ------------------------------------------------------------------- */

/* texts_take fills a new array of arm_cnt strings with texts[row], a tuple of str. */
static td_status_t
texts_take(td_reference_t *reference, Py_ssize_t row, char const ***out)
{
    PyObject *texts = PyTuple_GetItem(reference->texts, row); /* borrowed */

    if (texts == NULL) {
        return TD_PYERR;
    }
    *out = td_calloc(reference->arm_cnt, sizeof **out);
    if (*out == NULL) {
        return TD_NOMEM;
    }
    for (size_t idx = 0; idx < reference->arm_cnt; idx++) {
        (*out)[idx] = PyUnicode_AsUTF8(PyTuple_GET_ITEM(texts, (Py_ssize_t)idx));
        if ((*out)[idx] == NULL) {
            return TD_PYERR;
        }
    }
    return TD_OK;
}

static td_status_t
decides_take(td_reference_t *reference, PyObject *arms)
{
    PyObject   *decides = PyObject_GetAttrString(arms, "decides");
    char       *bytes   = NULL;
    Py_ssize_t  sz      = 0;
    td_status_t status  = TD_PYERR;

    if (decides == NULL || PyBytes_AsStringAndSize(decides, &bytes, &sz) < 0) {
        goto done;
    }
    reference->arm_cnt     = (size_t)sz;
    reference->arm_decides = td_malloc((size_t)sz);
    status                 = reference->arm_decides == NULL ? TD_NOMEM : TD_OK;
    if (status == TD_OK && sz > 0) {
        memcpy(reference->arm_decides, bytes, (size_t)sz);
    }
done:
    Py_XDECREF(decides);
    return status;
}

static td_status_t
arms_take(td_reference_t *reference)
{
    PyObject   *arms   = PyObject_GetAttrString(reference->reference, "arms");
    td_status_t status = TD_PYERR;

    if (arms == NULL) {
        return TD_PYERR;
    }
    reference->trace = PyObject_GetAttrString(arms, "trace");
    reference->texts = PyObject_CallMethod(arms, "texts", NULL);
    if (reference->trace != NULL && reference->texts != NULL) {
        status = decides_take(reference, arms);
    }
    TD_TRY(status);
    TD_TRY(texts_take(reference, 0, &reference->arm_ids));
    TD_TRY(texts_take(reference, 1, &reference->arm_texts));
    TD_TRY(texts_take(reference, 2, &reference->arm_functions));
done:
    Py_DECREF(arms);
    return status;
}

size_t
td_reference_arm_cnt(td_reference_t const *reference)
{
    return reference->arm_cnt;
}

char const *
td_reference_arm_id(td_reference_t const *reference, size_t idx)
{
    return idx < reference->arm_cnt ? reference->arm_ids[idx] : "";
}

char const *
td_reference_arm_text(td_reference_t const *reference, size_t idx)
{
    return idx < reference->arm_cnt ? reference->arm_texts[idx] : "";
}

td_status_t
td_reference_watch_arms(td_reference_t *reference, bool on)
{
    PyObject *arms   = PyObject_GetAttrString(reference->reference, "arms");
    PyObject *result = arms == NULL ? NULL : PyObject_CallMethod(arms, "switch", "i", (int)on);

    Py_XDECREF(arms);
    if (result == NULL) {
        return TD_PYERR;
    }
    Py_DECREF(result);
    reference->arms_on = on;
    return TD_OK;
}

/* ---- loading ------------------------------------------------------------------ */

/* refusal_read writes why from the loader's exception and gives its exit code; 0:
   it is no refusal. */
static td_status_t
refusal_read(PyObject *error, long *exit_code)
{
    PyObject   *code = PyObject_GetAttrString(error, "exit_code");
    PyObject   *text = code == NULL ? NULL : PyObject_Str(error);
    char const *utf8 = text == NULL ? NULL : PyUnicode_AsUTF8(text);

    *exit_code = 0;
    if (utf8 != NULL) {
        snprintf(why, sizeof why, "%s", utf8);
        *exit_code = PyLong_AsLong(code);
    }
    Py_XDECREF(code);
    Py_XDECREF(text);
    PyErr_Clear(); /* an exception without an exit code is no refusal */
    return *exit_code == 0 ? TD_PYERR : TD_OK;
}

/* refuse turns the pending exception into td_reference_why and a status, if it is
   about the builder (2) or about torch (3); else it stays pending. */
static td_status_t
refuse(void)
{
    td_py_error_t error;
    long          exit_code = 0;

    td_py_error_fetch(&error);
    if (refusal_read(error.value, &exit_code) != TD_OK) {
        td_py_error_restore(&error);
        return TD_PYERR;
    }
    td_py_error_clear(&error);
    return exit_code == 2 ? TD_REJECT : TD_INTERNAL;
}

static td_status_t
load(td_reference_t *reference, char const *builder)
{
    PyObject   *loader = PyImport_ImportModule("tandem.oracle.loader");
    td_status_t status = TD_OK;

    if (loader == NULL) {
        return TD_PYERR;
    }
    reference->reference = PyObject_CallMethod(loader, "load", "z", builder);
    Py_DECREF(loader);
    if (reference->reference == NULL) {
        return refuse();
    }
    reference->revision = utf8_of(reference->reference, "revision");
    reference->builder  = utf8_of(reference->reference, "builder");
    reference->torch    = utf8_of(reference->reference, "torch");
    if (reference->revision == NULL || reference->builder == NULL || reference->torch == NULL) {
        return TD_PYERR;
    }
    status = int_of(reference->reference, "distance", &reference->distance);
    return status == TD_OK ? arms_take(reference) : status;
}

static td_status_t
parts_take(td_reference_t *reference)
{
    reference->program = td_state_find("tandem.oracle.context", "Program");
    reference->reset   = td_state_find("tandem.oracle.state", "reset");
    reference->bad[0]  = td_state_find("tandem.oracle.context", "BadProgram");
    reference->bad[1]  = td_state_find("tandem.oracle.config", "UnknownConfig");
    if (reference->program == NULL || reference->reset == NULL || reference->bad[0] == NULL ||
        reference->bad[1] == NULL) {
        return TD_PYERR;
    }
    reference->obs = td_obs_new();
    if (reference->obs == NULL) {
        return TD_NOMEM;
    }
    reference->walk = td_walk_new();
    if (reference->walk == NULL) {
        return PyErr_Occurred() != NULL ? TD_PYERR : TD_NOMEM;
    }
    return TD_OK;
}

td_status_t
td_reference_new(char const *builder, td_reference_t **reference)
{
    td_reference_t *self   = td_calloc(1, sizeof *self);
    td_status_t     status = TD_OK;

    *reference = NULL;
    why[0]     = '\0';
    if (self == NULL) {
        return TD_NOMEM;
    }
    self->arms_on = true;
    TD_TRY(load(self, builder));
    TD_TRY(parts_take(self));
    *reference = self;
    self       = NULL;
done:
    td_reference_free(self);
    return status;
}

void
td_reference_free(td_reference_t *reference)
{
    if (reference == NULL) {
        return;
    }
    td_walk_free(reference->walk);
    td_obs_free(reference->obs);
    td_free(reference->arm_ids);
    td_free(reference->arm_texts);
    td_free(reference->arm_functions);
    td_free(reference->arm_decides);
    Py_CLEAR(reference->trace);
    Py_CLEAR(reference->texts);
    Py_CLEAR(reference->program);
    Py_CLEAR(reference->reset);
    Py_CLEAR(reference->values);
    Py_CLEAR(reference->tables);
    Py_CLEAR(reference->enter_frame);
    Py_CLEAR(reference->bad[0]);
    Py_CLEAR(reference->bad[1]);
    Py_CLEAR(reference->reference);
    td_free(reference);
}

/* ---- what was loaded ------------------------------------------------------------ */

char const *
td_reference_revision(td_reference_t const *reference, int *distance)
{
    if (distance != NULL) {
        *distance = reference->distance;
    }
    return reference->revision;
}

char const *
td_reference_torch(td_reference_t const *reference)
{
    return reference->torch;
}

char const *
td_reference_builder(td_reference_t const *reference)
{
    return reference->builder;
}

int
td_reference_recursion_left(td_reference_t const *reference)
{
    (void)reference;
    return RECURSION_LEFT;
}

td_status_t
td_reference_reset(td_reference_t *reference)
{
    PyObject *result = PyObject_CallNoArgs(reference->reset);

    Py_XDECREF(result);
    return result == NULL ? TD_PYERR : TD_OK;
}

PyObject *
td_reference_config(td_reference_t *reference, PyObject *overrides)
{
    if (reference->values == NULL) {
        reference->values = td_state_find("tandem.oracle.config", "values");
    }
    return reference->values == NULL ? NULL : PyObject_CallOneArg(reference->values, overrides);
}

PyObject *
td_reference_tables(td_reference_t *reference)
{
    if (reference->tables == NULL) {
        reference->tables = td_state_find("tandem.oracle.tables", "tables");
    }
    return reference->tables == NULL ? NULL : PyObject_CallNoArgs(reference->tables);
}

int
td_reference_enter_frame(td_reference_t *reference)
{
    PyObject *result = NULL; /* owned */

    if (reference->enter_frame == NULL) {
        reference->enter_frame = td_state_find("tandem.oracle.state", "enter_frame");
    }
    if (reference->enter_frame != NULL) {
        result = PyObject_CallNoArgs(reference->enter_frame);
    }
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

void
td_reference_on_step(td_reference_t *reference, td_step_hook_t hook, void *ctx)
{
    reference->hook     = hook;
    reference->hook_ctx = ctx;
}

void
td_reference_on_call(td_reference_t *reference, td_call_hook_t hook, void *ctx)
{
    reference->call_hook     = hook;
    reference->call_hook_ctx = ctx;
}
