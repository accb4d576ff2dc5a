/* test_td_canon.c: atoms, containers, ordinals; and that nobody's code runs. */
#include "canon_rows.h"

static canon_row_t const atoms[] = {
    {"()", "None", "null"},
    {"()", "True", "true"},
    {"()", "-5", "-5"},
    {"()", "2**70", "\"1180591620717411303424\""},
    {"()", "-2**63", "\"-9223372036854775808\""},
    {"()", "0.1", "0.1"},
    {"()", "-0.0", "-0.0"},
    {"()", "'a'", "\"a\""},
    {"()", "...", "[\"singleton\", \"Ellipsis\"]"},
    {"()", "b'a\\xff'", "[\"bytes\", \"a\xc3\xbf\"]"},
    {"()", "1+2j", "[\"complex\", [1.0, 2.0]]"},
    {"()", "()", "[\"tuple\", []]"},
    {"()", "torch.float32", "[\"torch.dtype\", \"float32\"]"},
    {"()", "torch.strided", "[\"torch.layout\", \"strided\"]"},
    {"()", "torch.channels_last", "[\"torch.memory_format\", \"channels_last\"]"},
    {"()", "torch.device('cpu')", "[\"torch.device\", \"cpu\"]"},
    {"()", "torch.device('cuda', 1)", "[\"torch.device\", \"cuda:1\"]"},
    /* by value, also when a program brought them */
    {"(torch.float32, 5, 'a', ())", "torch.float32", "[\"torch.dtype\", \"float32\"]"},
    {"(torch.float32, 5, 'a', ())", "(5, 'a', ())", "[\"tuple\", [5, \"a\", [\"tuple\", []]]]"},
};

static canon_row_t const containers[] = {
    {"()", "[1, (2,), {3: 4}]", "[\"list\", [1, [\"tuple\", [2]], [\"dict\", [[3, 4]]]]]"},
    {"()", "{'b': 1, 'a': 2}", "[\"dict\", [[\"b\", 1], [\"a\", 2]]]"},
    {"()", "{2, 1}", "[\"set\", [1, 2]]"},
    {"()", "frozenset(['b', 'a'])", "[\"frozenset\", [\"a\", \"b\"]]"},
    {"()", "slice(1, None, 2)", "[\"slice\", [1, null, 2]]"},
    {"()", "range(1, 5, 2)", "[\"range\", [1, 5, 2]]"},
    {"()", "torch.Size([2, 3])", "[\"torch.Size\", [2, 3]]"},
    {"()", "Pair(1, 2)", "[\"tuple\", [1, 2], [\"class\", \"__main__\", \"Pair\"]]"},
    {"()", "collections.OrderedDict(a=1)", "[\"collections.OrderedDict\", [[\"a\", 1]]]"},
    {"()", "collections.defaultdict(int, a=1)", "[\"collections.defaultdict\", [[\"a\", 1]]]"},
    {"()", "cycle()", "[\"list\", [[\"other\", [\"class\", \"builtins\", \"list\"], 0]]]"},
    {"()", "numpy.float32(1)", "[\"numpy.float32\", \"0000803f\"]"},
    {"(plain,)", "weakref.ref(plain)", "[\"weakref\", [\"object\", 0]]"},
    {"()", "weakref.ref(Plain())", "[\"weakref\", null]"},
};

static canon_row_t const objects[] = {
    {"(plain, shared)", "shared", "[\"object\", 1]"},
    {"(5, plain, plain, shared)", "[plain, shared]",
     "[\"list\", [[\"object\", 1], [\"object\", 3]]]"},
    {"(plain,)", "[Plain(), plain]",
     "[\"list\", [[\"other\", [\"class\", \"__main__\", \"Plain\"], 1], [\"object\", 0]]]"},
    {"(hostile,)", "[hostile]", "[\"list\", [[\"object\", 0]]]"},
    {"()", "[hostile, hostile]",
     "[\"list\", [[\"other\", [\"class\", \"__main__\", \"Hostile\"], 0], "
     "[\"other\", [\"class\", \"__main__\", \"Hostile\"], 0]]]"},
    /* equal to anything, but no int and no dict key of ours */
    {"()", "{hostile: 1}",
     "[\"dict\", [[[\"other\", [\"class\", \"__main__\", \"Hostile\"], 0], 1]]]"},
};

static canon_row_t const indices[] = {
    {"(Color.RED,)", "Color.RED", "[\"enum\", [\"class\", \"__main__\", \"Color\"], \"RED\"]"},
    {"(Plain,)", "Plain", "[\"class\", \"__main__\", \"Plain\"]"},
    {"(listed,)", "(1, (Color.RED,))",
     "[\"tuple\", [1, [\"tuple\", [[\"enum\", [\"class\", \"__main__\", \"Color\"], \"RED\"]]]]]"},
    {"(Lying,)", "Lying", "[\"local-class\", \"torch\", \"Tensor\", 0]"},
    {"(listed,)", "frozenset([2])", "[\"frozenset\", [2]]"},
    {"(shared, plain)", "plain", "[\"object\", 1]"},
};

static void
atoms_are_values(void **state)
{
    (void)state;
    CANON_ROWS_CHECK(atoms, td_canon_value);
}

static void
containers_hold_values(void **state)
{
    (void)state;
    CANON_ROWS_CHECK(containers, td_canon_value);
}

static void
objects_are_ordinals(void **state)
{
    PyObject *touched;

    (void)state;
    CANON_ROWS_CHECK(objects, td_canon_value);
    touched = canon_eval("touched == [] or touched == ['hash']"); /* the dict's own making */
    assert_ptr_equal(touched, Py_True);
    Py_DECREF(touched);
}

static void
indices_are_spelled(void **state)
{
    (void)state;
    CANON_ROWS_CHECK(indices, td_canon_index);
}

/* CPython refuses to spell an int of more than 4300 digits in base 10. */
static void
huge_ints_have_a_value_too(void **state)
{
    PyObject  *none = canon_eval("()"), *value = canon_eval("1 << 20000");
    td_obs_t  *obs = td_obs_new();
    td_canon_t canon;
    td_val_t   val, text;
    size_t     sz;

    (void)state;
    assert_int_equal(td_canon_init(&canon, obs, none), TD_OK);
    val  = td_canon_value(&canon, value);
    text = td_obs_get_item(obs, val, 1);
    assert_memory_equal(td_obs_get_str(obs, text, &sz), "0x1000", 6);
    assert_int_equal(sz, 2 + 20000 / 4 + 1);
    assert_null(PyErr_Occurred());
    td_obs_free(obs);
    Py_DECREF(value);
    Py_DECREF(none);
}

/* An object in an object in ...: what lies too deep is named, not read. */
static void
depth_has_an_end(void **state)
{
    PyObject  *none = canon_eval("()"), *value = canon_eval("deep(5000)");
    td_obs_t  *obs = td_obs_new();
    td_canon_t canon;
    td_val_t   val;
    int        depth = 0;

    (void)state;
    assert_int_equal(td_canon_init(&canon, obs, none), TD_OK);
    val = td_canon_value(&canon, value);
    assert_int_not_equal(val, TD_VAL_NONE);
    while (td_obs_kind(obs, val) == TD_VAL_LIST && td_obs_get_cnt(obs, val) == 2) {
        td_val_t inside = td_obs_get_item(obs, val, 1);

        assert_int_equal(td_obs_kind(obs, inside), TD_VAL_LIST);
        val = td_obs_get_item(obs, inside, 0);
        depth++;
    }
    assert_int_equal(depth, TD_CANON_DEPTH_MAX);
    td_obs_free(obs);
    Py_DECREF(value);
    Py_DECREF(none);
}

static td_val_t
call_it_special(void *ctx, PyObject *value)
{
    td_obs_t *obs = ctx;

    return PyModule_Check(value) ? td_obs_cstr(obs, "mine") : TD_VAL_NONE;
}

static void
a_caller_may_know_better(void **state)
{
    PyObject  *none = canon_eval("()"), *value = canon_eval("[math, 1]");
    td_obs_t  *obs = td_obs_new();
    td_canon_t canon;
    char      *json;

    (void)state;
    assert_int_equal(td_canon_init(&canon, obs, none), TD_OK);
    canon.special     = call_it_special;
    canon.special_ctx = obs;
    json              = td_obs_json(obs, td_canon_value(&canon, value), false);
    assert_string_equal(json, "[\"list\", [\"mine\", 1]]");
    td_free(json);
    td_obs_free(obs);
    Py_DECREF(value);
    Py_DECREF(none);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(atoms_are_values),           cmocka_unit_test(containers_hold_values),
        cmocka_unit_test(objects_are_ordinals),       cmocka_unit_test(indices_are_spelled),
        cmocka_unit_test(huge_ints_have_a_value_too), cmocka_unit_test(depth_has_an_end),
        cmocka_unit_test(a_caller_may_know_better),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
