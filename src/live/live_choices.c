/* live_choices.c: what the CHOICE kinds, dtypes and config values name, each
   fetched once and kept as long as the process. */
#include "live/live_private.h"

#include <string.h>

#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "py/td_call.h"

enum { KIND_CNT = TD_KIND_TAG_END, MODULE_SZ = 128 };

/* A table of kept objects: owned, NULL until asked for. */
typedef struct {
    PyObject **objects;
    size_t     cnt;
} kept_t;

static struct {
    kept_t choice[KIND_CNT];
    kept_t dtype;
    kept_t setting;   /* by key and value */
    size_t value_max; /* values of the config key that has most */
} kept;

/* slot gives the place of idx in a table of cnt, made at first use. */
static PyObject **
slot(kept_t *table, size_t cnt, size_t idx)
{
    TD_ASSERT(idx < cnt);
    if (table->objects == NULL) {
        table->objects = td_calloc(cnt, sizeof *table->objects);
        table->cnt     = cnt;
    }
    if (table->objects == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    TD_ASSERT(table->cnt == cnt);
    return &table->objects[idx];
}

/* found fetches "module" or "module:attribute.path". */
static PyObject *
found(char const *path)
{
    char   module[MODULE_SZ];
    size_t sz = strcspn(path, ":");

    TD_ASSERT(sz < sizeof module);
    memcpy(module, path, sz);
    module[sz] = '\0';
    return td_state_find(module, path[sz] == ':' ? path + sz + 1 : NULL);
}

static PyObject *
device(char const *text)
{
    td_state_t const *state  = td_state_get();
    PyObject         *name   = NULL; /* owned */
    PyObject         *result = NULL; /* owned, returned */

    name = state == NULL ? NULL : PyUnicode_FromString(text);
    if (name != NULL) {
        result = td_call(state->device, &name, 1);
    }
    Py_XDECREF(name);
    return result;
}

PyObject *
live_choice(td_kind_t kind, size_t idx)
{
    PyObject **place = slot(&kept.choice[kind], td_choice_cnt((uint8_t)kind), idx);

    if (place != NULL && *place == NULL) {
        char const *path = td_choice_path((uint8_t)kind, idx);

        *place = kind == TD_KIND_DEVICE   ? device(path)
                 : kind == TD_KIND_MEMBER ? PyUnicode_InternFromString(path)
                                          : found(path);
    }
    return place == NULL ? NULL : *place;
}

int
live_choice_is_factory(td_kind_t kind, size_t idx)
{
    char const *colon = strchr(td_choice_path((uint8_t)kind, idx), ':');

    return colon != NULL && strncmp(colon + 1, "make_", 5) == 0;
}

PyObject *
live_dtype(size_t idx)
{
    PyObject **place = slot(&kept.dtype, td_dtype_cnt(), idx);

    if (place != NULL && *place == NULL) {
        *place = td_state_find("torch", td_dtype_name(idx));
    }
    return place == NULL ? NULL : *place;
}

/* evaluated gives the value of a Python literal; names mean tandem.objects. */
static PyObject *
evaluated(char const *text)
{
    td_state_t const *state   = td_state_get();
    PyObject         *globals = NULL; /* owned */
    PyObject         *result  = NULL; /* owned, returned */

    if (state != NULL) {
        globals = PyDict_Copy(PyModule_GetDict(state->objects));
    }
    if (globals != NULL) {
        result = PyRun_String(text, Py_eval_input, globals, globals);
    }
    Py_XDECREF(globals);
    return result;
}

static size_t
value_max(void)
{
    if (kept.value_max > 0) {
        return kept.value_max;
    }
    for (size_t key = 0; key < td_config_cnt(); key++) {
        size_t cnt = td_config_value_cnt(key);

        kept.value_max = cnt > kept.value_max ? cnt : kept.value_max;
    }
    return kept.value_max;
}

PyObject *
live_setting(size_t key, size_t value)
{
    size_t     per_key = value_max();
    PyObject **place   = slot(&kept.setting, td_config_cnt() * per_key, key * per_key + value);

    if (place != NULL && *place == NULL) {
        *place = evaluated(td_config_value(key, value));
    }
    return place == NULL ? NULL : *place;
}

/* made_once calls a factory that makes one object a process, which may import. */
static int
made_once(PyObject *choice)
{
    PyObject *info   = PyObject_GetAttrString(choice, "cache_info"); /* owned */
    PyObject *result = info == NULL ? NULL : PyObject_CallNoArgs(choice);
    int       made   = info == NULL || result != NULL ? 0 : -1;

    if (info == NULL) {
        PyErr_Clear();
    }
    Py_XDECREF(info);
    Py_XDECREF(result);
    return made;
}

static int
choices_fetch(void)
{
    for (unsigned kind = 0; kind < TD_KIND_TAG_END; kind++) {
        for (size_t idx = 0; idx < td_choice_cnt((uint8_t)kind); idx++) {
            PyObject *choice = live_choice((td_kind_t)kind, idx); /* borrowed */

            if (choice == NULL ||
                (live_choice_is_factory((td_kind_t)kind, idx) && made_once(choice) < 0)) {
                return -1;
            }
        }
    }
    return 0;
}

static int
values_fetch(void)
{
    for (size_t idx = 0; idx < td_dtype_cnt(); idx++) {
        if (live_dtype(idx) == NULL) {
            return -1;
        }
    }
    for (size_t key = 0; key < td_config_cnt(); key++) {
        for (size_t value = 0; value < td_config_value_cnt(key); value++) {
            if (live_setting(key, value) == NULL) {
                return -1;
            }
        }
    }
    return 0;
}

td_status_t
td_live_prepare(void)
{
    if (td_state_late() == NULL || choices_fetch() < 0 || values_fetch() < 0) {
        return TD_PYERR;
    }
    return TD_OK;
}
