/* td_py_boot.c: CPython started from an environment's python, isolated. */
#include "py/td_py_boot.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/td_assert.h"
#include "py/td_py_error.h"

#ifndef TD_PYTHON_EXECUTABLE
#define TD_PYTHON_EXECUTABLE ""
#endif
#ifndef TD_PYTHON_PATH
#define TD_PYTHON_PATH ""
#endif

static char why[512];

char const *
td_py_boot_why(void)
{
    return why;
}

/* choose gives what the caller said, else the variable, else the default. */
static char const *
choose(char const *given, char const *variable, char const *fallback)
{
    char const *value = given != NULL ? given : getenv(variable);

    return value != NULL && value[0] != '\0' ? value : fallback;
}

static td_status_t
executable_check(char const *executable)
{
    if (executable[0] == '\0') {
        snprintf(why, sizeof why,
                 "no Python environment is known: set TANDEM_PYTHON to its python");
        return TD_INTERNAL;
    }
    if (access(executable, X_OK) != 0) {
        snprintf(why, sizeof why, "the environment's python is missing: %.400s", executable);
        return TD_INTERNAL;
    }
    return TD_OK;
}

/* config_fill says everything that an environment variable or a command line
   could otherwise change. */
static PyStatus
config_fill(PyConfig *config, char const *executable)
{
    PyStatus status;

    PyConfig_InitIsolatedConfig(config);
    config->install_signal_handlers = 0;
    config->parse_argv              = 0;
    config->use_hash_seed           = 1;
    config->hash_seed               = 0;
    /* program_name beside executable: the search for pyvenv.cfg starts there. */
    status = PyConfig_SetBytesString(config, &config->program_name, executable);
    if (!PyStatus_Exception(status)) {
        status = PyConfig_SetBytesString(config, &config->executable, executable);
    }
    return status;
}

static td_status_t
interpreter_start(char const *executable)
{
    PyPreConfig preconfig;
    PyConfig    config;
    PyStatus    status;

    PyPreConfig_InitIsolatedConfig(&preconfig);
    preconfig.utf8_mode = 1;
    status              = Py_PreInitialize(&preconfig);
    if (!PyStatus_Exception(status)) {
        status = config_fill(&config, executable);
        if (!PyStatus_Exception(status)) {
            status = Py_InitializeFromConfig(&config);
        }
        PyConfig_Clear(&config);
    }
    if (PyStatus_Exception(status)) {
        snprintf(why, sizeof why, "Python could not be started from %.300s: %.150s", executable,
                 status.err_msg == NULL ? "it asked to exit" : status.err_msg);
        return TD_INTERNAL;
    }
    return TD_OK;
}

/* started starts the interpreter and leaves SIGINT as it was.  The module signal
   takes it over when it is first imported, whatever the configuration says: so
   that is done here, once. */
static td_status_t
started(char const *executable)
{
    struct sigaction was;
    td_status_t      status;
    PyObject        *module = NULL; /* owned */

    sigaction(SIGINT, NULL, &was);
    status = interpreter_start(executable);
    if (status != TD_OK) {
        return status;
    }
    module = PyImport_ImportModule("signal");
    sigaction(SIGINT, &was, NULL);
    if (module == NULL) {
        td_py_error_text(why, sizeof why);
        return TD_INTERNAL;
    }
    Py_DECREF(module);
    return TD_OK;
}

/* folder_add puts one folder at position at of sys.path unless it is there. */
static td_status_t
folder_add(PyObject *sys_path, char const *folder, size_t sz, Py_ssize_t *at)
{
    PyObject *text  = NULL; /* owned */
    int       found = 0;

    text = PyUnicode_DecodeFSDefaultAndSize(folder, (Py_ssize_t)sz);
    if (text == NULL) {
        return TD_PYERR;
    }
    found = PySequence_Contains(sys_path, text);
    if (found == 0 && PyList_Insert(sys_path, (*at)++, text) < 0) {
        found = -1;
    }
    Py_DECREF(text);
    return found < 0 ? TD_PYERR : TD_OK;
}

static td_status_t
path_add(char const *path)
{
    td_status_t status   = TD_OK;
    PyObject   *sys_path = PySys_GetObject("path"); /* borrowed from sys */
    Py_ssize_t  at       = 0;

    if (sys_path == NULL || !PyList_Check(sys_path)) {
        snprintf(why, sizeof why, "sys.path is missing");
        return TD_INTERNAL;
    }
    while (status == TD_OK && path[0] != '\0') {
        size_t sz = strcspn(path, ":");

        status = sz == 0 ? TD_OK : folder_add(sys_path, path, sz, &at);
        path += sz + (path[sz] == ':');
    }
    if (status == TD_PYERR) {
        td_py_error_text(why, sizeof why);
        status = TD_INTERNAL;
    }
    return status;
}

td_status_t
td_py_boot(td_py_boot_t const *boot)
{
    td_py_boot_t const none   = {0};
    td_status_t        status = TD_OK;
    char const        *executable;

    boot       = boot == NULL ? &none : boot;
    executable = choose(boot->executable, "TANDEM_PYTHON", TD_PYTHON_EXECUTABLE);
    if (!Py_IsInitialized()) {
        status = executable_check(executable);
        if (status == TD_OK) {
            status = started(executable);
        }
    }
    if (status == TD_OK) {
        status = path_add(choose(boot->path, "TANDEM_PYTHONPATH", TD_PYTHON_PATH));
    }
    TD_ASSERT(status == TD_OK || why[0] != '\0');
    return status;
}
