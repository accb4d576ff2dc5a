/* test_td_reference.c: what is loaded, what is refused, what can be asked. */
#include "reference_runs.h"

static void
says_what_is_loaded(void **state)
{
    td_reference_t *reference = runs_reference();
    int             distance  = -1;

    (void)state;
    assert_string_equal(td_reference_revision(reference, &distance), "installed");
    assert_int_equal(distance, 0);
    assert_string_equal(td_reference_torch(reference), "2.1.2");
    assert_string_equal(td_reference_builder(reference), "installed");
    assert_in_range(td_reference_recursion_left(reference), 900, 1000);
}

static void
numbers_the_arms(void **state)
{
    td_reference_t *reference = runs_reference();
    size_t          cnt       = td_reference_arm_cnt(reference);

    (void)state;
    assert_in_range(cnt, 600, TD_RUN_ARM_CNT_MAX);
    for (size_t idx = 0; idx < cnt; idx++) {
        char const *id = td_reference_arm_id(reference, idx);

        assert_int_equal(id[0], 'L');
        assert_non_null(strchr(id, '/'));
        assert_non_null(strstr(td_reference_arm_text(reference, idx), ": "));
    }
    assert_string_equal(td_reference_arm_id(reference, cnt), "");
}

static void
gives_config_with_overrides(void **state)
{
    td_reference_t *reference = runs_reference();
    PyObject       *overrides = Py_BuildValue("{s:O}", "specialize_int", Py_True);
    PyObject       *config    = td_reference_config(reference, overrides);

    (void)state;
    assert_non_null(config);
    assert_ptr_equal(PyMapping_GetItemString(config, "specialize_int"), Py_True);
    assert_ptr_equal(PyMapping_GetItemString(config, "assume_static_by_default"), Py_True);
    Py_DECREF(config);
    Py_DECREF(overrides);
}

static void
refuses_a_second_builder(void **state)
{
    td_reference_t *second = NULL;

    (void)state;
    runs_reference();
    assert_int_equal(td_reference_new("no/such/builder.py", &second), TD_INTERNAL);
    assert_null(second);
    assert_non_null(strstr(td_reference_why(), "another process"));
    assert_null(PyErr_Occurred());
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(says_what_is_loaded),
        cmocka_unit_test(numbers_the_arms),
        cmocka_unit_test(gives_config_with_overrides),
        cmocka_unit_test(refuses_a_second_builder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
