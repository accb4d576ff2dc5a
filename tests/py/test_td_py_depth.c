/* test_td_py_depth.c: the bottom of the stack, from anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "py/td_py_boot.h"
#include "py/td_py_depth.h"

static PyObject *globals; /* borrowed from __main__ */

static PyObject *
evaluated(char const *text)
{
    PyObject *result = PyRun_String(text, Py_eval_input, globals, globals);

    if (result == NULL) {
        PyErr_Print();
        fail_msg("%s", text);
    }
    return result;
}

static long
number(char const *text)
{
    PyObject *result = evaluated(text);
    long      value  = PyLong_AsLong(result);

    Py_DECREF(result);
    return value;
}

/* at_bottom(): [frames above, what is being handled, levels left] at the bottom */
static PyObject *
at_bottom(PyObject *self, PyObject *args)
{
    td_py_depth_t depth;
    PyObject     *result;

    (void)self;
    (void)args;
    td_py_depth_enter(&depth);
    result = evaluated("(frames(), sys.exc_info()[0], levels())");
    td_py_depth_leave(&depth);
    return result;
}

static int
set_up(void **state)
{
    static PyMethodDef method = {"at_bottom", at_bottom, METH_NOARGS, NULL};
    static char const  text[] = "import sys\n"
                                "def frames():\n"
                                "    count, frame = 0, sys._getframe()\n"
                                "    while frame: count, frame = count + 1, frame.f_back\n"
                                "    return count\n"
                                "def level(n):\n"
                                "    try: return level(n + 1)\n"
                                "    except RecursionError: return n\n"
                                "def levels(): return level(1)\n"
                                "def handling(n):\n"
                                "    if n: return handling(n - 1)\n"
                                "    try: raise KeyError\n"
                                "    except KeyError:\n"
                                "        result = at_bottom()\n"
                                "        assert sys.exc_info()[0] is KeyError\n"
                                "        return result\n";
    PyObject          *result;

    (void)state;
    assert_int_equal(td_py_boot(NULL), TD_OK);
    globals = PyModule_GetDict(PyImport_AddModule("__main__"));
    assert_int_equal(PyDict_SetItemString(globals, "at_bottom", PyCFunction_New(&method, NULL)), 0);
    result = PyRun_String(text, Py_file_input, globals, globals);
    assert_non_null(result);
    Py_DECREF(result);
    return 0;
}

static void
is_the_same_from_everywhere(void **state)
{
    (void)state;
    assert_int_equal(number("int(handling(0) == handling(50) == handling(400) == at_bottom())"), 1);
    assert_int_equal(number("int(at_bottom()[1] is None)"), 1);
    assert_int_equal(number("at_bottom()[0]"), 2); /* the expression and frames() itself */
    assert_in_range(number("at_bottom()[2]"), 990, 1000);
}

static void
gives_the_stack_back(void **state)
{
    long frames = number("frames()"), levels = number("levels()");

    (void)state;
    for (int count = 0; count < 100; count++) {
        Py_DECREF(evaluated("handling(3)"));
    }
    assert_int_equal(number("frames()"), frames);
    assert_int_equal(number("levels()"), levels);
}

static void
nests(void **state)
{
    td_py_depth_t outer, inner;
    long          levels;

    (void)state;
    td_py_depth_enter(&outer);
    levels = number("levels()");
    td_py_depth_enter(&inner);
    assert_int_equal(number("levels()"), levels);
    td_py_depth_leave(&inner);
    assert_int_equal(number("levels()"), levels);
    td_py_depth_leave(&outer);
}

static PyObject *
counted(PyObject *self, PyObject *args)
{
    (void)args;
    return PyLong_FromLong(PyList_Append(self, Py_None));
}

/* A profiler that starts at the bottom goes on after it, and the other way round. */
static void
profiling_goes_on(void **state)
{
    static PyMethodDef method = {"counted", counted, METH_VARARGS, NULL};
    PyObject          *calls  = PyList_New(0);
    PyObject          *count  = PyCFunction_New(&method, calls);
    PyObject          *result;

    (void)state;
    assert_int_equal(PyDict_SetItemString(globals, "count", count), 0);
    result = PyRun_String("sys.setprofile(count)\nat_bottom()\nsys.setprofile(None)\n",
                          Py_file_input, globals, globals);
    assert_non_null(result);
    Py_DECREF(result);
    assert_in_range(PyList_GET_SIZE(calls), 10, 100000);
    Py_DECREF(count);
    Py_DECREF(calls);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(is_the_same_from_everywhere),
        cmocka_unit_test(gives_the_stack_back),
        cmocka_unit_test(nests),
        cmocka_unit_test(profiling_goes_on),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
