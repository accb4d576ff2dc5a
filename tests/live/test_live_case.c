/* test_live_case.c: what a case file gives is checked, copied and kept as it is. */
#include "live_cases.h"

static struct {
    char const *frames;
    char const *says; /* the message begins with it; NULL: it is accepted */
} const forms[] = {
    {"[[(('local', 'x'), 5)]]", NULL},
    {"((((('local', 'x'), 5)),),)", NULL},
    {"[]", NULL},
    {"[[(('default', ('local', 'f'), 'k'), 5)]]", NULL},
    {"5", "TypeError: frames() must return a list of frames"},
    {"[5]", "TypeError: frame 0: not a list"},
    {"[[], [5]]", "TypeError: frame 1, entry 0: not a pair"},
    {"[[(5, 5)]]", "TypeError: frame 0, entry 0: a source spec is a tuple"},
    {"[[(('local',), 5)]]", "TypeError: frame 0, entry 0: a source spec 'local' has 1"},
    {"[[(('locale', 'x'), 5)]]", "TypeError: frame 0, entry 0: no source spec is called"},
    {"[[(('attr', ('do',), 'x'), 5)]]", "TypeError: frame 0, entry 0: no source spec"},
    {"[[(('local', 5), 5)]]", "TypeError: frame 0, entry 0: operand 1 of source spec"},
    {"[[(('fxcall', [5]), 5)]]", "TypeError: frame 0, entry 0: operand 1"},
};

static void
forms_are_checked(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        td_live_t   live;
        td_status_t status = live_case(forms[i].frames, &live);
        char        text[256];

        if (forms[i].says == NULL) {
            assert_int_equal(status, TD_OK);
            assert_true(PyList_CheckExact(live.frames));
        } else {
            assert_int_equal(status, TD_PYERR);
            td_py_error_text(text, sizeof text);
            if (strncmp(text, forms[i].says, strlen(forms[i].says)) != 0) {
                fail_msg("%s: %s", forms[i].frames, text);
            }
            assert_null(live.frames);
        }
        td_live_clear(&live);
        td_py_require_quiet(forms[i].frames);
    }
}

static void
options_are_kept(void **state)
{
    PyObject *frames = live_value("[[(('local', 'x'), [])], [(('local', 'x'), {})]]"); /* owned */
    PyObject *config = live_value("{'specialize_int': True}");                         /* owned */
    PyObject *constraints =
        live_value("lambda k, frame: [k, frame[0][1]] if k else None"); /* owned */
    td_live_t live;

    (void)state;
    assert_int_equal(td_live_from_case(frames, config, constraints, 1, 1, &live), TD_OK);
    live_expect("options", &live, "c == {'specialize_int': True} and e and k == [None, [1, {}]]");
    assert_int_equal(live.shared, 1);
    assert_ptr_not_equal(live.config, config);
    td_live_clear(&live);
    Py_DECREF(constraints);
    constraints = live_value("lambda k, frame: 5");
    assert_int_equal(td_live_from_case(frames, config, constraints, 1, 1, &live), TD_PYERR);
    PyErr_Clear();
    Py_DECREF(constraints);
    Py_DECREF(config);
    Py_DECREF(frames);
}

/* Each recorded case, twice: the walk finds objects of the same types. */
static char const cases[] =
    "import glob, importlib.util, os\n"
    "def _cases(folder):\n"
    "    for path in sorted(glob.glob(os.path.join(folder, 'cases', '[0-9]*.py'))):\n"
    "        name = 'case_' + os.path.basename(path)[:2]\n"
    "        spec = importlib.util.spec_from_file_location(name, path)\n"
    "        module = importlib.util.module_from_spec(spec)\n"
    "        spec.loader.exec_module(module)\n"
    "        yield module.frames(), module.frames()\n"
    "found = list(_cases(folder))\n";

static PyObject *
cases_of(char const *folder)
{
    PyObject *globals = live_globals(); /* borrowed */
    PyObject *path    = PyUnicode_FromString(folder);
    PyObject *result  = NULL;

    assert_int_equal(PyDict_SetItemString(globals, "folder", path), 0);
    result = PyRun_String(cases, Py_file_input, globals, globals);
    if (result == NULL) {
        PyErr_Print();
        fail();
    }
    Py_DECREF(result);
    Py_DECREF(path);
    return live_value("found");
}

static void
recorded_cases(void **state)
{
    char const *shared = getenv("TANDEM_SHARED");
    PyObject   *found  = NULL; /* owned */

    (void)state;
    found = cases_of(shared != NULL ? shared : TD_SOURCE_DIR "/../shared");
    if (PyList_GET_SIZE(found) == 0) {
        Py_DECREF(found);
        print_message("skipped: no shared material beside the project (set TANDEM_SHARED)\n");
        skip();
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(found); i++) {
        PyObject *pair = PyList_GET_ITEM(found, i); /* borrowed */
        td_live_t one, two;

        assert_int_equal(td_live_from_case(PyTuple_GET_ITEM(pair, 0), NULL, NULL, 0, 0, &one),
                         TD_OK);
        assert_int_equal(td_live_from_case(PyTuple_GET_ITEM(pair, 1), NULL, NULL, 0, 0, &two),
                         TD_OK);
        assert_int_equal(PyTuple_GET_SIZE(one.objects), PyTuple_GET_SIZE(two.objects));
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(one.objects); k++) {
            assert_string_equal(Py_TYPE(PyTuple_GET_ITEM(one.objects, k))->tp_name,
                                Py_TYPE(PyTuple_GET_ITEM(two.objects, k))->tp_name);
        }
        td_live_clear(&two);
        td_live_clear(&one);
    }
    Py_DECREF(found);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(forms_are_checked),
        cmocka_unit_test(options_are_kept),
        cmocka_unit_test(recorded_cases),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
