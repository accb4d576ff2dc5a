/* test_td_py_error.c: exceptions are held, described on one line, and wrapped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "py/td_py_boot.h"
#include "py/td_py_error.h"

static void
raise_of(char const *code)
{
    PyObject *globals = PyModule_GetDict(PyImport_AddModule("__main__")); /* borrowed */

    assert_null(PyRun_String(code, Py_file_input, globals, globals));
}

static struct {
    char const *code, *text;
} const rows[] = {
    {"raise ValueError('no')", "ValueError: no"},
    {"raise ValueError", "ValueError"},
    {"raise ValueError('a\\nb\\rc')", "ValueError: a b c"},
    {"class Odd(Exception):\n    def __str__(self):\n        raise KeyError\nraise Odd", "Odd"},
    {"raise ValueError('\\udc80')", "ValueError"},
    {"import json\njson.loads('{')", "JSONDecodeError: Expecting property name enclosed in double "
                                     "quotes: line 1 column 2 (char 1)"},
};

static void
texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[128];

        raise_of(rows[i].code);
        td_py_error_text(text, sizeof text);
        assert_string_equal(text, rows[i].text);
        td_py_require_quiet(rows[i].code);
        td_py_error_text(text, sizeof text);
        assert_string_equal(text, "");
    }
}

static void
texts_are_cut(void **state)
{
    char text[8];

    (void)state;
    raise_of("raise ValueError('no')");
    td_py_error_text(text, sizeof text);
    assert_string_equal(text, "ValueEr");
}

static void
held_and_put_back(void **state)
{
    td_py_error_t error;

    (void)state;
    raise_of("raise ValueError('no')");
    td_py_error_fetch(&error);
    assert_null(PyErr_Occurred());
    assert_true(PyExceptionInstance_Check(error.value));
    td_py_error_restore(&error);
    assert_null(error.value);
    assert_true(PyErr_ExceptionMatches(PyExc_ValueError));
    td_py_error_fetch(&error);
    td_py_error_clear(&error);
    td_py_require_quiet("clear");
}

static void
wrapped(void **state)
{
    td_py_error_t error;
    PyObject     *cause = NULL; /* owned */
    PyObject     *text  = NULL; /* owned */

    (void)state;
    raise_of("raise ValueError('no')");
    td_py_error_where("node 3");
    td_py_error_fetch(&error);
    assert_ptr_equal(error.type, PyExc_RuntimeError);
    text = PyObject_Str(error.value);
    assert_int_equal(PyUnicode_CompareWithASCIIString(text, "node 3: ValueError: no"), 0);
    cause = PyException_GetCause(error.value);
    assert_true(PyErr_GivenExceptionMatches(cause, PyExc_ValueError));
    Py_DECREF(cause);
    Py_DECREF(text);
    td_py_error_clear(&error);

    raise_of("raise MemoryError");
    td_py_error_where("node 3");
    assert_true(PyErr_ExceptionMatches(PyExc_MemoryError));
    PyErr_Clear();
}

static int
boot(void **state)
{
    (void)state;
    return td_py_boot(NULL) == TD_OK ? 0 : -1;
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(texts_are_cut),
        cmocka_unit_test(held_and_put_back),
        cmocka_unit_test(wrapped),
    };

    return cmocka_run_group_tests(tests, boot, NULL);
}
