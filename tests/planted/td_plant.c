/* td_plant.c: which faults of planted.def are planted now. */
#include "builder/td_plant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 255 };

static bool planted[NUMBER_MAX + 1]; /* by number */
static struct {
    bool known, value;
} stale;

static bool
is_known(long number)
{
    static int const numbers[] = {
#define X(number, name, function, field, text) (number),
#include "planted.def"
#undef X
    };
#define X(number, name, function, field, text) _Static_assert((number) <= NUMBER_MAX, #name);
#include "planted.def"
#undef X

    for (size_t idx = 0; idx < sizeof numbers / sizeof *numbers; idx++) {
        if (numbers[idx] == number) {
            return true;
        }
    }
    return false;
}

bool
td_planted(int number)
{
    return planted[number];
}

bool
td_plant_load(char *why, size_t why_sz)
{
    char const *text = getenv("TANDEM_PLANTED");
    char const *at   = text == NULL ? "" : text;

    memset(planted, 0, sizeof planted);
    while (*at != '\0') {
        char *end    = NULL;
        long  number = strtol(at, &end, 10);
        bool  good   = *end == '\0' || (*end == ',' && end[1] != '\0');

        if (end == at || !good || !is_known(number)) {
            snprintf(why, why_sz, "TANDEM_PLANTED=%s: planted.def has no such fault", text);
            return false;
        }
        planted[number] = true;
        at              = *end == ',' ? end + 1 : end;
    }
    return true;
}

void
td_plant_stale(bool *value)
{
    if (!TD_PLANT(STALE_CACHE)) {
        stale.known = false;
        return;
    }
    if (!stale.known) {
        stale.known = true;
        stale.value = *value;
    }
    *value = stale.value;
}

int
td_plant_ask(PyObject *file)
{
    PyObject *skipfiles = PyImport_ImportModule("torch._dynamo.skipfiles"); /* owned */
    PyObject *answer    = NULL;                                             /* owned */
    int       truth     = -1;

    if (skipfiles != NULL) {
        answer =
            PyObject_CallMethod(skipfiles, "check", "OO", file == NULL ? Py_None : file, Py_True);
    }
    truth = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(answer);
    Py_XDECREF(skipfiles);
    return truth;
}
