/* test_live_choices.c: every choice and every config value can be had, and is had
   once. */
#include "live_rows.h"

static live_row_t const rows[] = {
    {"config specialize_int = True\n%0 = int 1\n", "c == {'specialize_int': True}"},
    {"config functorch.functionalize_rng_ops = True\nconfig trace_numpy = False\n%0 = int 1\n",
     "c == {'functorch.functionalize_rng_ops': True, 'trace_numpy': False}"},
    {"config traceable_tensor_subclasses = {TaggedTensor}\n%0 = int 1\n",
     "c == {'traceable_tensor_subclasses': {objects.TaggedTensor}}"},
    {"config traceable_tensor_subclasses = set()\n%0 = int 1\n",
     "c == {'traceable_tensor_subclasses': set()}"},
    {"%0 = int 1\n", "c == {}"},
};

/* every_choice makes a node of each choice of kind; the count must not be 0. */
static void
every_choice(td_kind_t kind)
{
    assert_true(td_choice_cnt((uint8_t)kind) > 0);
    for (size_t i = 0; i < td_choice_cnt((uint8_t)kind); i++) {
        char        text[192];
        char const *name = td_kind_info((uint8_t)kind)->name;
        char const *word = td_choice_name((uint8_t)kind, i);
        char const *edge = td_kind_info((uint8_t)kind)->edge_min == 0 ? "" : "%0";
        td_live_t   live;

        snprintf(text, sizeof text, "%%0 = nn_module Linear\n%%1 = %s %s %s\n%%2 = %s %s %s\n",
                 name, word, edge, name, word, edge);
        live_make(text, &live);
        live_expect(text, &live, "type(o[1]) is type(o[2])");
        td_live_clear(&live);
    }
}

static void
choices(void **state)
{
    size_t kinds = 0;

    (void)state;
    for (unsigned kind = 0; kind < TD_KIND_TAG_END; kind++) {
        td_kind_info_t const *info = td_kind_info((uint8_t)kind);

        if (info != NULL && info->payload == TD_PAYLOAD_CHOICE) {
            every_choice((td_kind_t)kind);
            kinds++;
        }
    }
    assert_true(kinds >= 14);
}

static void
every_setting(void **state)
{
    (void)state;
    for (size_t key = 0; key < td_config_cnt(); key++) {
        for (size_t value = 0; value < td_config_value_cnt(key); value++) {
            char      text[256];
            td_live_t live;

            snprintf(text, sizeof text, "config %s = %s\n%%0 = int 1\n", td_config_name(key),
                     td_config_value(key, value));
            live_make(text, &live);
            live_expect(text, &live, "len(c) == 1");
            td_live_clear(&live);
        }
    }
}

/* Once prepared, no program imports anything. */
static void
prepared(void **state)
{
    PyObject  *modules = NULL; /* borrowed */
    Py_ssize_t cnt     = 0;

    (void)state;
    live_globals();
    assert_int_equal(td_live_prepare(), TD_OK);
    modules = PyImport_GetModuleDict();
    cnt     = PyDict_Size(modules);
    choices(NULL);
    every_setting(NULL);
    LIVE_ROWS_CHECK(rows);
    assert_int_equal(td_live_prepare(), TD_OK);
    assert_int_equal(PyDict_Size(modules), cnt);
}

static void
rows_hold(void **state)
{
    (void)state;
    LIVE_ROWS_CHECK(rows);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(prepared),
        cmocka_unit_test(rows_hold),
        cmocka_unit_test(choices),
        cmocka_unit_test(every_setting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
