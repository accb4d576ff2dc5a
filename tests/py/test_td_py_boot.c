/* test_td_py_boot.c: the interpreter starts isolated, or one line says why not. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "py/td_py_boot.h"
#include "py/td_py_error.h"

static bool
holds(char const *expression)
{
    PyObject *globals = PyModule_GetDict(PyImport_AddModule("__main__"));          /* borrowed */
    PyObject *result  = PyRun_String(expression, Py_eval_input, globals, globals); /* owned */
    bool      value   = result != NULL && PyObject_IsTrue(result) == 1;

    if (result == NULL) {
        PyErr_Print();
    }
    Py_XDECREF(result);
    return value;
}

/* Before anything has started: an environment that is not there. */
static void
missing_environment(void **state)
{
    td_py_boot_t const nowhere = {.executable = "no/such/python"};

    (void)state;
    assert_int_equal(td_py_boot(&nowhere), TD_INTERNAL);
    assert_string_equal(td_py_boot_why(), "the environment's python is missing: no/such/python");
    assert_false(Py_IsInitialized());
}

static void
the_same_everywhere(void **state)
{
    struct sigaction interrupt;

    (void)state;
    setenv("PYTHONHASHSEED", "77", 1); /* must not be seen */
    setenv("PYTHONPATH", "of/the/user", 1);
    if (td_py_boot(NULL) != TD_OK) {
        fail_msg("%s", td_py_boot_why());
    }
    assert_true(holds("__import__('sys').flags.utf8_mode == 1"));
    assert_true(holds("__import__('sys').flags.isolated == 1"));
    assert_true(holds("__import__('sys').flags.hash_randomization == 0"));
    assert_true(holds("'of/the/user' not in __import__('sys').path"));
    sigaction(SIGINT, NULL, &interrupt);
    assert_true(interrupt.sa_handler == SIG_DFL);
    assert_true(holds("__import__('importlib.util').util.find_spec('torch') is not None"));
    td_py_require_quiet("the checks");
}

/* Started again, only folders are added: in front, in order, once. */
static void
folders_are_added_once(void **state)
{
    td_py_boot_t const boot = {.path = "first:second::first"};

    (void)state;
    assert_int_equal(td_py_boot(&boot), TD_OK);
    assert_int_equal(td_py_boot(&boot), TD_OK);
    assert_true(holds("__import__('sys').path[:2] == ['first', 'second']"));
    assert_true(holds("__import__('sys').path.count('first') == 1"));
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(missing_environment),
        cmocka_unit_test(the_same_everywhere),
        cmocka_unit_test(folders_are_added_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
