/* test_td_source_repr.c: sources spelled as dataclasses are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "builder/td_source.h"

static void
assert_repr(td_sources_t const *sources, td_at_t const *at, char const *expected)
{
    td_buf_t text = {0};

    assert_int_equal(td_source_repr(sources, at->id, &text), 1);
    assert_string_equal(text.bytes, expected);
    td_buf_clear(&text);
}

static void
class_and_fields_by_name(void **state)
{
    PyObject    *name = PyUnicode_FromString("it's"), *member = PyUnicode_FromString("w");
    PyObject    *slice = Py_BuildValue("(O(iOO))", &PySlice_Type, 1, Py_None, Py_None);
    td_sources_t sources;
    td_at_t      root, attr, item, part;

    (void)state;
    td_sources_init(&sources, &PySet_Type);
    root = td_source_block_add(&sources, NULL, TD_SOURCE_CLASS_GlobalSource, TD_PAYLOAD_KEYS, &name,
                               NULL, 1, TD_WHERE_GLOBAL);
    attr = td_source_block_add(&sources, &root, TD_SOURCE_CLASS_AttrSource, TD_PAYLOAD_KEYS,
                               &member, NULL, 1, TD_WHERE_GLOBAL);
    item = td_source_block_add(&sources, &attr, TD_SOURCE_CLASS_GetItemSource, TD_PAYLOAD_INDEX,
                               NULL, NULL, 3, TD_WHERE_GLOBAL);
    item = td_source_nth(&item, 2);
    part = td_source_block_add(&sources, &root, TD_SOURCE_CLASS_GetItemSource, TD_PAYLOAD_KEYS,
                               &slice, NULL, 1, TD_WHERE_GLOBAL);
    assert_repr(&sources, &root, "GlobalSource(global_name=\"it's\")");
    assert_repr(&sources, &item,
                "GetItemSource(base=AttrSource(base=GlobalSource(global_name=\"it's\"), "
                "member='w'), index=2, index_is_slice=False)");
    assert_repr(&sources, &part,
                "GetItemSource(base=GlobalSource(global_name=\"it's\"), "
                "index=(<class 'slice'>, (1, None, None)), index_is_slice=False)");
    td_sources_clear(&sources);
    Py_DECREF(slice);
    Py_DECREF(member);
    Py_DECREF(name);
}

static void
what_is_no_literal_is_not_spelled(void **state)
{
    PyObject    *name = PyUnicode_FromString("x"), *key = PySet_New(NULL);
    td_sources_t sources;
    td_at_t      root, item;
    td_buf_t     text = {0};

    (void)state;
    td_sources_init(&sources, &PySet_Type);
    root = td_source_block_add(&sources, NULL, TD_SOURCE_CLASS_LocalSource, TD_PAYLOAD_KEYS, &name,
                               NULL, 1, TD_WHERE_LOCAL);
    item = td_source_block_add(&sources, &root, TD_SOURCE_CLASS_ODictGetItemSource, TD_PAYLOAD_KEYS,
                               &key, NULL, 1, TD_WHERE_LOCAL);
    assert_int_equal(td_source_repr(&sources, item.id, &text), 0);
    td_buf_clear(&text);
    td_sources_clear(&sources);
    Py_DECREF(key);
    Py_DECREF(name);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(class_and_fields_by_name),
        cmocka_unit_test(what_is_no_literal_is_not_spelled),
    };

    Py_InitializeEx(0);
    return cmocka_run_group_tests_name("builder.td_source_repr", tests, NULL, NULL);
}
