/* test_td_state.c: what is kept is the very object, fetched once and given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include <cmocka.h>

#include "py/td_py_boot.h"
#include "py/td_state.h"

static bool
is_imported(char const *module)
{
    PyObject *modules = PyImport_GetModuleDict(); /* borrowed */

    return PyMapping_HasKeyString(modules, module);
}

/* torch._dynamo waits until somebody needs it: a builder may be loaded over it. */
static void
dynamo_comes_late(void **state)
{
    td_state_t const *kept = td_state_get();

    (void)state;
    assert_non_null(kept);
    assert_true(is_imported("torch"));
    assert_false(is_imported("torch._dynamo"));
    assert_null(kept->mark_dynamic);
    assert_ptr_equal(td_state_late(), kept);
    assert_true(is_imported("torch._dynamo"));
    assert_true(PyCallable_Check(kept->mark_dynamic));
    assert_ptr_equal(td_state_late(), kept);
    assert_ptr_equal(td_state_get(), kept);
}

static void
every_row_is_what_it_names(void **state)
{
    td_state_t const *kept = td_state_late();
    size_t            cnt  = 0;

    (void)state;
#define CHECK_OBJECT(field, module, attr)              \
    {                                                  \
        PyObject *found = td_state_find(module, attr); \
        assert_ptr_equal(kept->field, found);          \
        Py_XDECREF(found);                             \
        cnt++;                                         \
    }
#define TD_STATE_REF(field, module, attr)  CHECK_OBJECT(field, module, attr)
#define TD_STATE_LATE(field, module, attr) CHECK_OBJECT(field, module, attr)
#define TD_STATE_NAME(key)                 assert_true(PyUnicode_CHECK_INTERNED(kept->name_##key));
#include "py/state.def"
#undef TD_STATE_REF
#undef TD_STATE_LATE
#undef TD_STATE_NAME
    assert_true(cnt > 10);
}

static void
paths(void **state)
{
    PyObject *found = td_state_find("torch", "nn.functional.relu"); /* owned */

    (void)state;
    assert_non_null(found);
    Py_DECREF(found);
    assert_null(td_state_find("torch", "nn.no_such_thing"));
    assert_true(PyErr_ExceptionMatches(PyExc_AttributeError));
    PyErr_Clear();
    assert_null(td_state_find("no_such_module", NULL));
    assert_true(PyErr_ExceptionMatches(PyExc_ImportError));
    PyErr_Clear();
}

static void
cleared_and_filled_again(void **state)
{
    PyObject  *deque = Py_NewRef(td_state_get()->deque); /* owned */
    Py_ssize_t cnt   = Py_REFCNT(deque);

    (void)state;
    td_state_clear();
    assert_int_equal(Py_REFCNT(deque), cnt - 1);
    assert_ptr_equal(td_state_get()->deque, deque);
    assert_int_equal(Py_REFCNT(deque), cnt);
    Py_DECREF(deque);
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
        cmocka_unit_test(dynamo_comes_late),
        cmocka_unit_test(every_row_is_what_it_names),
        cmocka_unit_test(paths),
        cmocka_unit_test(cleared_and_filled_again),
    };

    return cmocka_run_group_tests(tests, boot, NULL);
}
