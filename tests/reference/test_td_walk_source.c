/* test_td_walk_source.c: source trees spell the names that the sources have; guard
   rows with their payloads. */
#include "walk_frames.h"

#include "observe/td_forms.h"

/* Every class of torch._dynamo.source, and indices of every sort. */
static char const *const sources[] = {
    "S.LocalSource('x')",
    "S.LocalSource('x', cell_or_freevar=True)",
    "S.GlobalSource('it\\'s')",
    "S.GlobalWeakRefSource('w')",
    "S.DummyGlobalSource()",
    "S.GlobalStateSource()",
    "S.ShapeEnvSource()",
    "S.ConstantSource('c')",
    "S.RandomValueSource(3)",
    "S.GeneratorStateSource('cpu', 5)",
    "S.AttrSource(S.LocalSource('x'), 'a')",
    "S.AttrSource(S.LocalSource('x'), 'a.0.b')",
    "S.AttrSource(S.LocalSource('x'), 'caf\\u00e9')",
    "S.ParamBufferSource(S.LocalSource('x'), 'w')",
    "S.GetItemSource(S.LocalSource('x'), 0)",
    "S.GetItemSource(S.LocalSource('x'), -1)",
    "S.GetItemSource(S.LocalSource('x'), 'k')",
    "S.GetItemSource(S.LocalSource('x'), 1.5)",
    "S.GetItemSource(S.LocalSource('x'), float('inf'))",
    "S.GetItemSource(S.LocalSource('x'), None)",
    "S.GetItemSource(S.LocalSource('x'), 2**70)",
    "S.GetItemSource(S.LocalSource('x'), b'a\\x00')",
    "S.GetItemSource(S.LocalSource('x'), (1, ('a',)))",
    "S.GetItemSource(S.LocalSource('x'), frozenset([1]))",
    "S.GetItemSource(S.LocalSource('x'), slice(1, None, 2))",
    "S.GetItemSource(S.LocalSource('x'), torch.float32)",
    "S.GetItemSource(S.LocalSource('x'), int)",
    "S.GetItemSource(S.LocalSource('x'), torch.Tensor)",
    "S.GetItemSource(S.LocalSource('x'), type('Made', (), {}))",
    "S.ODictGetItemSource(S.LocalSource('x'), type('Made', (), {}))",
    "S.GetItemSource(S.LocalSource('x'), Color.RED)",
    "S.GetItemSource(S.GlobalSource('x'), Color.RED)",
    "S.GetItemSource(S.LocalSource('x'), S.GlobalWeakRefSource('w'))",
    "S.TupleIteratorGetItemSource(S.LocalSource('x'), 2)",
    "S.ODictGetItemSource(S.LocalSource('x'), 'k')",
    "S.ODictGetItemSource(S.LocalSource('x'), collections.OrderedDict)",
    "S.ODictGetItemSource(S.LocalSource('x'), S.ConstantSource('k'))",
    "S.DefaultsSource(S.LocalSource('f'), 0)",
    "S.DefaultsSource(S.LocalSource('f'), 'k', is_kw=True)",
    "S.TensorPropertySource(S.LocalSource('x'), S.TensorProperty.SIZE, 1)",
    "S.TensorPropertySource(S.LocalSource('x'), S.TensorProperty.STRIDE, 0)",
    "S.TensorPropertySource(S.LocalSource('x'), S.TensorProperty.STORAGE_OFFSET)",
    "S.NegateSource(S.LocalSource('x'))",
    "S.TypeSource(S.LocalSource('x'))",
    "S.SuperSource(S.LocalSource('x'), S.GlobalSource('T'))",
    "S.NNModuleSource(S.LocalSource('m'))",
    "S.NotNNModuleSource(S.NNModuleSource(S.LocalSource('m')))",
    "S.FSDPNNModuleSource(S.LocalSource('m'))",
    "S.NumpyTensorSource(S.LocalSource('x'))",
};

enum { SOURCE_CNT = sizeof(sources) / sizeof(sources[0]) };

/* The value of a field of a record; fails when the record has none. */
static td_val_t
field_of(td_obs_t *obs, td_val_t record, td_field_t field)
{
    for (size_t i = 0; i < td_obs_get_cnt(obs, record); ++i) {
        if (td_obs_get_field(obs, record, i) == field) {
            return td_obs_get_item(obs, record, i);
        }
    }
    fail();
    return TD_VAL_NONE;
}

static td_val_t
first_tracker(td_obs_t *obs, td_val_t frame)
{
    td_val_t root = td_obs_get_item(obs, field_of(obs, frame, TD_FIELD_Frame_roots), 0);

    return field_of(obs, root, TD_FIELD_Root_tracker);
}

static void
trees_spell_names(void **state)
{
    PyObject *taken   = walk_take("Case([(x, 5)])");
    PyObject *globals = walk_globals();
    td_obs_t *obs     = td_obs_new();

    (void)state;
    for (size_t i = 0; i < SOURCE_CNT; ++i) {
        PyObject *source = walk_take(sources[i]);
        PyObject *name   = PyObject_CallMethod(source, "name", NULL);
        td_val_t  frame, tree;

        assert_non_null(name);
        assert_int_equal(PyDict_SetItemString(globals, "source", source), 0);
        walk_do(taken, "t.source = source; t.guards.clear()");
        if (walk_run(taken, obs, &frame) != TD_OK) {
            fail_msg("%s: %s", sources[i], td_walk_why(walk_walker()));
        }
        tree = field_of(obs, first_tracker(obs, frame), TD_FIELD_VariableTracker_source);
        assert_true(td_form_is_source(obs, tree));
        assert_string_equal(td_form_source_name(obs, tree, NULL), PyUnicode_AsUTF8(name));
        Py_DECREF(name);
        Py_DECREF(source);
    }
    td_obs_free(obs);
    walk_close(taken);
}

/* All classes of the table are among the rows above, so that none goes untested. */
static void
every_class_is_met(void **state)
{
    (void)state;
    for (int i = 0; i < TD_SOURCE_CLASS_CNT; ++i) {
        char const *name = td_source_class_info((td_source_class_t)i)->name;
        char        text[64];
        bool        met = strcmp(name, "ConvertIntSource") == 0; /* torch 2.1.2 has none */

        (void)snprintf(text, sizeof(text), "S.%s(", name);
        for (size_t j = 0; j < SOURCE_CNT && !met; ++j) {
            met = strncmp(sources[j], text, strlen(text)) == 0;
        }
        if (!met) {
            fail_msg("%s is in no row", name);
        }
    }
}

/* A key that lives at an address: its name in sources and globals holds an ordinal. */
static walk_row_t const seen[] = {
    {"Case([(x, {k: 1 for k in [torch.nn.Parameter(torch.ones(1))]})])",
     "case.objects += tuple(case.objects[0])",
     "\"globals\":[[\"__dict_key_<object 1>\", [\"weakref\", [\"object\", 1]]]]"},
    {"Case([(x, {k: 1 for k in [torch.nn.Parameter(torch.ones(1))]})])",
     "case.objects += tuple(case.objects[0])",
     "[\"GetItemSource\", [\"LocalSource\", \"x\", false], [\"GlobalWeakRefSource\", "
     "\"__dict_key_<object 1>\"], false]"},
    {"Case([(x, torch.ones(2))])", "",
     "[\"L['x']\", \"TENSOR_MATCH\", {\"guard_source\": \"LOCAL\", \"source_tree\": "
     "[\"LocalSource\", \"x\", false], \"payload\": {\"value\": [\"weakref\", [\"object\", 0]]}}]"},
    {"Case([(x, [1]), (y, 5)])", "f.values[1].guards |= t.guards", "\"LIST_LENGTH\""},
    {"Case([(y, 5)])",
     "t.guards = {S.LocalSource('z').make_guard(functools.partial("
     "GuardBuilder.DUPLICATE_INPUT, source_b=S.LocalSource('w')))}",
     "\"DUPLICATE_INPUT\", {\"guard_source\": \"LOCAL\", \"source_tree\": [\"LocalSource\", "
     "\"z\", false], \"payload\": {\"source_b\": [\"LocalSource\", \"w\", false]}}"},
    {"Case([(y, 5)])",
     "t.guards = {S.LocalSource('z').make_guard(GuardBuilder.TYPE_MATCH, "
     "is_volatile=True)}",
     "\"is_volatile\": true"},
    /* equal rows count as often as there are guards */
    {"Case([(y, 5)])",
     "t.guards = {S.LocalSource('z').make_guard(functools.partial(GuardBuilder.TYPE_MATCH, 1)) "
     "for _ in range(2)}",
     "\"payload\": {\"0\": 1}}], [\"L['z']\", \"TYPE_MATCH\""},
};

static void
guards_are_rows(void **state)
{
    (void)state;
    WALK_ROWS_SEEN(seen);
}

static walk_row_t const refused[] = {
    {"Case([(y, 5)])", "t.guards = {S.LocalSource('z').make_guard(len)}",
     "a guard is made by a builtin_function_or_method"},
    {"Case([(y, 5)])", "del t.source.__dict__['local_name']", "a LocalSource has no local_name"},
    {"Case([(y, 5)])", "next(iter(t.guards)).__dict__.pop('create_fn')",
     "a Guard has no create_fn"},
};

static void
broken_ones_are_refused(void **state)
{
    (void)state;
    WALK_ROWS_REFUSED(refused);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(trees_spell_names),
        cmocka_unit_test(every_class_is_met),
        cmocka_unit_test(guards_are_rows),
        cmocka_unit_test(broken_ones_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
