/* test_td_source.c: names, guard sources and equality, as Dynamo's source.py has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "builder/td_source.h"

/* One source: a text for its key, or NULL, and what is made on top of the one before. */
typedef struct {
    td_source_class_t cls;
    char const       *key; /* a Python literal */
    td_where_t        where;
    char const       *name;
} link_t;

static link_t const links[] = {
    {TD_SOURCE_CLASS_LocalSource, "'x'", TD_WHERE_LOCAL, "L['x']"},
    {TD_SOURCE_CLASS_AttrSource, "'w'", TD_WHERE_LOCAL, "L['x'].w"},
    {TD_SOURCE_CLASS_AttrSource, "'0'", TD_WHERE_LOCAL, "getattr(L['x'].w, '0')"},
    {TD_SOURCE_CLASS_NNModuleSource, NULL, TD_WHERE_LOCAL_NN_MODULE, "getattr(L['x'].w, '0')"},
    {TD_SOURCE_CLASS_GetItemSource, "(1, 'a')", TD_WHERE_LOCAL_NN_MODULE,
     "getattr(L['x'].w, '0')[(1, 'a')]"},
    {TD_SOURCE_CLASS_FSDPNNModuleSource, NULL, TD_WHERE_LOCAL_FSDP_MODULE,
     "getattr(L['x'].w, '0')[(1, 'a')]"},
    {TD_SOURCE_CLASS_TypeSource, NULL, TD_WHERE_LOCAL_FSDP_MODULE,
     "type(getattr(L['x'].w, '0')[(1, 'a')])"},
    {TD_SOURCE_CLASS_NNModuleSource, NULL, TD_WHERE_RAISES,
     "type(getattr(L['x'].w, '0')[(1, 'a')])"},
};

static PyObject *keys[sizeof links / sizeof *links]; /* owned by the test's globals */

static PyObject *
literal(char const *text)
{
    PyObject *globals = PyDict_New();
    PyObject *value   = PyRun_String(text, Py_eval_input, globals, globals);

    assert_non_null(value);
    Py_DECREF(globals);
    return value;
}

static td_at_t
chain(td_sources_t *sources, size_t cnt)
{
    td_at_t at = {0};

    for (size_t i = 0; i < cnt; i++) {
        td_at_t base = at;

        if (links[i].key != NULL && keys[i] == NULL) {
            keys[i] = literal(links[i].key);
        }
        at = td_source_block_add(sources, i == 0 ? NULL : &base, links[i].cls,
                                 keys[i] == NULL ? TD_PAYLOAD_NOTHING : TD_PAYLOAD_KEYS, &keys[i],
                                 NULL, 1, TD_WHERE_LOCAL);
        assert_int_not_equal(at.id, 0);
    }
    return at;
}

static void
each_link_is_spelled_as_in_python(void **state)
{
    td_sources_t sources;
    td_buf_t     name = {0};

    (void)state;
    td_sources_init(&sources, &PySet_Type); /* no key here is a member of that "enum" */
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        td_at_t at = chain(&sources, i + 1);

        td_buf_reset(&name);
        assert_true(td_source_name(&sources, at.id, &name));
        assert_string_equal(name.bytes, links[i].name);
        assert_int_equal(at.where, links[i].where);
        assert_int_equal(at.depth, i);
        assert_true(at.local_root);
    }
    td_buf_clear(&name);
    td_sources_clear(&sources);
}

static void
equal_by_content_and_hashed_alike(void **state)
{
    td_sources_t sources;
    td_at_t      a, b, other;

    (void)state;
    td_sources_init(&sources, &PySet_Type);
    a     = chain(&sources, 5);
    b     = chain(&sources, 5);
    other = chain(&sources, 4);
    assert_int_not_equal(a.id, b.id);
    assert_true(td_source_equal(&sources, a.id, b.id));
    assert_int_equal(td_source_hash(&sources, a.id), td_source_hash(&sources, b.id));
    assert_false(td_source_equal(&sources, a.id, other.id));
    assert_false(td_source_equal(&sources, a.id, 0));
    td_sources_clear(&sources);
}

static void
an_index_is_a_number_whoever_made_it(void **state)
{
    td_sources_t sources;
    td_at_t      root, items, one, truth;
    PyObject    *numbers[2] = {literal("1"), literal("True")};

    (void)state;
    td_sources_init(&sources, &PySet_Type);
    root  = chain(&sources, 1);
    items = td_source_block_add(&sources, &root, TD_SOURCE_CLASS_GetItemSource, TD_PAYLOAD_INDEX,
                                NULL, NULL, 3, 0);
    one   = td_source_block_add(&sources, &root, TD_SOURCE_CLASS_GetItemSource, TD_PAYLOAD_KEYS,
                                &numbers[0], NULL, 1, 0);
    truth = td_source_block_add(&sources, &root, TD_SOURCE_CLASS_GetItemSource, TD_PAYLOAD_KEYS,
                                &numbers[1], NULL, 1, 0);
    assert_true(td_source_equal(&sources, td_source_nth(&items, 1).id, one.id));
    assert_true(td_source_equal(&sources, one.id, truth.id));
    assert_int_equal(td_source_hash(&sources, one.id),
                     td_source_hash(&sources, td_source_nth(&items, 1).id));
    assert_false(td_source_equal(&sources, td_source_nth(&items, 2).id, one.id));
    Py_DECREF(numbers[0]);
    Py_DECREF(numbers[1]);
    td_sources_clear(&sources);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(each_link_is_spelled_as_in_python),
        cmocka_unit_test(equal_by_content_and_hashed_alike),
        cmocka_unit_test(an_index_is_a_number_whoever_made_it),
    };

    Py_InitializeEx(0);
    return cmocka_run_group_tests_name("builder.td_source", tests, NULL, NULL);
}
