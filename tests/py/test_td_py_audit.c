/* test_td_py_audit.c: what is left behind is seen, and allocations fail when told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/td_alloc.h"
#include "py/td_py_audit.h"
#include "py/td_py_boot.h"

static void
references_are_counted(void **state)
{
    PyObject  *first   = PyList_New(0);                  /* owned */
    PyObject  *second  = PyList_New(0);                  /* owned */
    PyObject  *objects = PyTuple_Pack(2, first, second); /* owned */
    td_audit_t audit;
    Py_ssize_t was = 0, now = 0;

    (void)state;
    assert_int_equal(td_audit_init(&audit, objects), TD_OK);
    assert_int_equal(td_audit_refs_differ(&audit, &was, &now), -1);
    Py_INCREF(second);
    assert_int_equal(td_audit_refs_differ(&audit, &was, &now), 1);
    assert_int_equal(now - was, 1);
    Py_DECREF(second);
    assert_int_equal(td_audit_refs_differ(&audit, NULL, NULL), -1);
    td_audit_clear(&audit);
    td_audit_clear(&audit);
    Py_DECREF(objects);
    assert_int_equal(Py_REFCNT(first), 1);
    Py_DECREF(second);
    Py_DECREF(first);
}

static void
blocks_are_counted(void **state)
{
    td_audit_t audit;
    Py_ssize_t growth = 0;
    PyObject  *kept[200];

    (void)state;
    assert_int_equal(td_audit_init(&audit, NULL), TD_OK);
    for (size_t i = 0; i < 200; i++) {
        kept[i] = PyBytes_FromStringAndSize(NULL, 64);
    }
    assert_int_equal(td_audit_block_growth(&audit, &growth), TD_OK);
    assert_in_range(growth, 190, 260);
    for (size_t i = 0; i < 200; i++) {
        Py_DECREF(kept[i]);
    }
    assert_int_equal(td_audit_block_growth(&audit, &growth), TD_OK);
    assert_true(growth < 50);
    td_audit_clear(&audit);
}

static void
the_nth_allocation_fails(void **state)
{
    (void)state;
    for (size_t nth = 1; nth <= 3; nth++) {
        PyObject *made[4];

        td_py_nomem_arm(nth);
        for (size_t i = 0; i < 4; i++) {
            made[i] = PyBytes_FromStringAndSize(NULL, 64);
        }
        assert_true(td_py_nomem_disarm());
        PyErr_Clear();
        for (size_t i = 0; i < 4; i++) {
            assert_int_equal(made[i] == NULL, i + 1 == nth); /* once, and only that one */
            Py_XDECREF(made[i]);
        }
    }
    td_py_nomem_arm(100);
    assert_false(td_py_nomem_disarm());
}

static void
held_back(void **state)
{
    PyObject *made = NULL;

    (void)state;
    td_py_nomem_arm(1);
    td_py_nomem_hold();
    made = PyBytes_FromStringAndSize(NULL, 64);
    td_py_nomem_release();
    assert_non_null(made);
    assert_null(PyBytes_FromStringAndSize(NULL, 64));
    assert_true(td_py_nomem_disarm());
    PyErr_Clear();
    Py_DECREF(made);
}

/* Our own allocator's failure is told apart from Python's. */
static void
census_without_memory(void **state)
{
    td_audit_t audit;

    (void)state;
    td_nomem_arm(1);
    assert_int_equal(td_audit_init(&audit, NULL), TD_NOMEM);
    assert_true(td_nomem_disarm());
    td_audit_clear(&audit);
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
        cmocka_unit_test(references_are_counted),   cmocka_unit_test(blocks_are_counted),
        cmocka_unit_test(the_nth_allocation_fails), cmocka_unit_test(held_back),
        cmocka_unit_test(census_without_memory),
    };

    return cmocka_run_group_tests(tests, boot, NULL);
}
