/* test_td_changes.c: what changed is seen, what did not is not, nothing is kept. */
#include "canon_rows.h"

#include "py/td_changes.h"

/* What happens to `o`, made anew for each row, and the Object record it leaves. */
typedef struct {
    char const *objects;
    char const *happens;
    char const *json;
} change_row_t;

#define RECORD(object, attributes, items) \
    "{\"kind\":\"Object\",\"object\":" object ",\"attributes\":" attributes ",\"items\":" items "}"

static change_row_t const changes[] = {
    {"(Plain(),)", "setattr(o[0], 'x', 1)",
     "[" RECORD("[\"object\", 0]", "[[\"x\", 1]]", "null") "]"},
    {"([1, 2], {'a': 1})", "o[1].update(a=2)",
     "[" RECORD("[\"object\", 1]", "[]", "[[\"a\", 2]]") "]"},
    {"([1], [2])", "(o[1].pop(), o[0].append(3))",
     "[" RECORD("[\"object\", 0]", "[]", "[1, 3]") ", " RECORD("[\"object\", 1]", "[]", "[]") "]"},
    {"({1},)", "o[0].add(2)", "[" RECORD("[\"object\", 0]", "[]", "[1, 2]") "]"},
    {"(iter((1, 2)),)", "next(o[0])", "[" RECORD("[\"object\", 0]", "[]", "1") "]"},
    /* a container that is no object of the program belongs to the one that holds it */
    {"(types.SimpleNamespace(groups=[{'a': False}]),)", "o[0].groups[0].update(a=True)",
     "[" RECORD("[\"object\", 0]", "[[\"groups\", [\"list\", [[\"dict\", [[\"a\", true]]]]]]]",
                "null") "]"},
    /* one that is an object of the program speaks for itself */
    {"(lambda inner: ([inner], inner))([5])", "o[1].append(6)",
     "[" RECORD("[\"object\", 1]", "[]", "[5, 6]") "]"},
    {"(Plain(), [1], {2: 3}, hostile, 5, (1,))", "o[3]", "[]"},
    /* looking for a dict makes an empty one, which is none */
    {"(Plain(), lambda: 5)", "(vars(o[0]), o[1].__dict__)", "[]"},
    {"(Plain(),)", "(setattr(o[0], 'x', 1), delattr(o[0], 'x'))", "[]"},
    /* what no program brought looks the same to both sides */
    {"(Plain(),)", "setattr(o[0], 'x', torch.ones(1))",
     "[" RECORD("[\"object\", 0]", "[[\"x\", [\"other\", [\"class\", \"torch\", \"Tensor\"], 1]]]",
                "null") "]"},
    {"(torch.ones(1),)", "setattr(o[0], '_mark', 1)",
     "[" RECORD("[\"object\", 0]", "[[\"_mark\", 1]]", "null") "]"},
};

/* One side's own idea of a value, which must not show. */
static td_val_t
special(void *ctx, PyObject *value)
{
    (void)value;
    return td_obs_cstr(ctx, "special");
}

static void
changes_are_seen(void **state)
{
    td_obs_t *obs = td_obs_new();

    (void)state;
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); ++i) {
        PyObject     *objects = canon_eval(changes[i].objects);
        td_changes_t *first   = td_changes_new(objects);
        td_canon_t    canon;
        char         *json;

        assert_non_null(first);
        assert_int_equal(PyDict_SetItemString(canon_globals(), "o", objects), 0);
        Py_DECREF(canon_eval(changes[i].happens));
        td_obs_reset(obs);
        assert_int_equal(td_canon_init(&canon, obs, objects), TD_OK);
        canon.special     = special;
        canon.special_ctx = obs;
        json              = td_obs_json(obs, td_changes_write(first, &canon), false);
        assert_string_equal(json, changes[i].json);
        td_free(json);
        td_changes_free(first);
        Py_DECREF(objects);
    }
    td_obs_free(obs);
}

static void
nothing_is_kept(void **state)
{
    PyObject     *objects = canon_eval("([object()], types.SimpleNamespace(a=object()))");
    PyObject     *item    = PyList_GET_ITEM(PyTuple_GET_ITEM(objects, 0), 0);
    Py_ssize_t    before = Py_REFCNT(item), list = Py_REFCNT(PyTuple_GET_ITEM(objects, 0));
    td_changes_t *first = td_changes_new(objects);

    (void)state;
    assert_int_equal(Py_REFCNT(item), before);
    assert_int_equal(Py_REFCNT(PyTuple_GET_ITEM(objects, 0)), list);
    td_changes_free(first);
    td_changes_free(NULL);
    Py_DECREF(objects);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(changes_are_seen),
        cmocka_unit_test(nothing_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
