/* test_td_call.c: calls give what Python gives, and a recorder sees each of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "py/td_call.h"
#include "py/td_py_audit.h"
#include "py/td_py_boot.h"
#include "py/td_py_error.h"

static char const prelude[] = "class Plain:\n"
                              "    size = 5\n"
                              "    def double(self, by=2):\n"
                              "        return by * self.size\n"
                              "def free(x):\n"
                              "    return x\n"
                              "def fails():\n"
                              "    return [bytearray(100) for _ in range(50)] and 7\n"
                              "plain = Plain()\n";

typedef struct {
    char   text[512];
    size_t cnt;
} log_t;

static void
note(void *ctx, char const *class_name, char const *function)
{
    log_t *log = ctx;
    size_t sz  = strlen(log->text);

    snprintf(log->text + sz, sizeof log->text - sz, "%s|%s;", class_name, function);
    log->cnt++;
}

static PyObject *
value(char const *expression)
{
    PyObject *globals = PyModule_GetDict(PyImport_AddModule("__main__")); /* borrowed */
    PyObject *result  = PyRun_String(expression, Py_eval_input, globals, globals);

    if (result == NULL) {
        PyErr_Print();
        fail_msg("%s", expression);
    }
    return result;
}

/* callable, argument (NULL: none), what the recorder says */
static struct {
    char const *callable, *argument, *says;
} const rows[] = {
    {"free", "plain", "__main__.Plain|__main__.free;"},
    {"free", "[]", "list|__main__.free;"},
    {"plain.double", NULL, "__main__.Plain|__main__.Plain.double;"},
    {"Plain.double", "plain", "__main__.Plain|__main__.Plain.double;"},
    {"len", "[]", "list|builtins.len;"},
    {"[].clear", NULL, "list|list.clear;"},
    {"list.clear", "[]", "list|list.clear;"},
    {"dict.fromkeys", "()", "tuple|dict.fromkeys;"},
    {"'a'.join", "[]", "str|str.join;"},
    {"list", "()", "tuple|list;"},
    {"list", NULL, "|list;"},
    {"Plain", NULL, "|__main__.Plain;"},
    {"__import__('functools').partial(len)", "[]", "list|functools.partial;"},
};

static void
calls_are_recorded(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        log_t     log      = {0};
        PyObject *callable = value(rows[i].callable);
        PyObject *argument = rows[i].argument == NULL ? NULL : value(rows[i].argument);
        PyObject *result   = NULL;

        td_call_record(note, &log);
        result = td_call(callable, &argument, argument == NULL ? 0 : 1);
        td_call_record(NULL, NULL);
        assert_non_null(result);
        assert_string_equal(log.text, rows[i].says);
        assert_int_equal(log.cnt, 1);
        Py_DECREF(result);
        Py_XDECREF(argument);
        Py_DECREF(callable);
    }
}

static void
names_are_recorded(void **state)
{
    log_t     log     = {0};
    PyObject *plain   = value("plain");
    PyObject *size    = value("'size'");
    PyObject *twice   = value("'double'");
    PyObject *args[2] = {plain, value("3")};
    PyObject *result  = NULL;

    (void)state;
    td_call_record(note, &log);
    result = td_call_attr(plain, size);
    assert_int_equal(PyLong_AsLong(result), 5);
    Py_DECREF(result);
    assert_int_equal(td_call_set_attr(plain, size, args[1]), 0);
    result = td_call_method(twice, args, 2);
    assert_int_equal(PyLong_AsLong(result), 9);
    Py_DECREF(result);
    assert_int_equal(td_call_set_attr(plain, size, NULL), 0);
    td_call_record(NULL, NULL);
    assert_string_equal(log.text, "__main__.Plain|.size;__main__.Plain|set .size;"
                                  "__main__.Plain|double;__main__.Plain|del .size;");
    Py_DECREF(args[1]);
    Py_DECREF(twice);
    Py_DECREF(size);
    Py_DECREF(plain);
}

static void
keywords_and_exceptions(void **state)
{
    PyObject *callable = value("plain.double");
    PyObject *kwnames  = value("('by',)");
    PyObject *by       = value("4");
    PyObject *result   = td_call_kw(callable, &by, 0, kwnames);

    (void)state;
    assert_int_equal(PyLong_AsLong(result), 20);
    Py_DECREF(result);
    assert_null(td_call_kw(kwnames, NULL, 0, NULL));
    assert_true(PyErr_ExceptionMatches(PyExc_TypeError));
    PyErr_Clear();
    Py_DECREF(by);
    Py_DECREF(kwnames);
    Py_DECREF(callable);
}

/* While foreign code runs nothing fails; right after it our own does. */
static void
failures_wait(void **state)
{
    PyObject *callable = value("fails");
    PyObject *result   = NULL;
    PyObject *bytes    = NULL;

    (void)state;
    td_py_nomem_arm(1);
    result = td_call(callable, NULL, 0);
    bytes  = PyBytes_FromStringAndSize(NULL, 100);
    assert_true(td_py_nomem_disarm());
    assert_int_equal(PyLong_AsLong(result), 7);
    assert_null(bytes);
    assert_true(PyErr_ExceptionMatches(PyExc_MemoryError));
    PyErr_Clear();
    Py_DECREF(result);
    Py_DECREF(callable);
}

static int
boot(void **state)
{
    (void)state;
    if (td_py_boot(NULL) != TD_OK) {
        return -1;
    }
    return PyRun_SimpleString(prelude);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(calls_are_recorded),
        cmocka_unit_test(names_are_recorded),
        cmocka_unit_test(keywords_and_exceptions),
        cmocka_unit_test(failures_wait),
    };

    return cmocka_run_group_tests(tests, boot, NULL);
}
