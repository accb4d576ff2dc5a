/* test_td_canon_named.c: classes, functions, methods and who is not who it says. */
#include "canon_rows.h"

static canon_row_t const classes[] = {
    {"()", "int", "[\"class\", \"builtins\", \"int\"]"},
    {"()", "torch.Tensor", "[\"class\", \"torch\", \"Tensor\"]"},
    {"(torch.Tensor,)", "torch.Tensor", "[\"class\", \"torch\", \"Tensor\"]"},
    {"()", "types.FunctionType", "[\"class\", \"builtins\", \"function\"]"},
    {"()", "collections.OrderedDict", "[\"class\", \"collections\", \"OrderedDict\"]"},
    {"()", "Plain", "[\"class\", \"__main__\", \"Plain\"]"},
    {"()", "Lying", "[\"local-class\", \"torch\", \"Tensor\", 0]"},
    {"(5, Lying)", "Lying", "[\"object\", 1]"},
    {"()", "type('Made', (), {'__module__': 5})", "[\"local-class\", null, \"Made\", 0]"},
};

static canon_row_t const functions[] = {
    {"()", "function", "[\"global\", \"__main__\", \"function\"]"},
    {"(function,)", "function", "[\"object\", 0]"},
    {"()", "Plain.static", "[\"global\", \"__main__\", \"Plain.static\"]"},
    {"()", "Plain.method", "[\"global\", \"__main__\", \"Plain.method\"]"},
    {"()", "maker()", "[\"function\", \"__main__\", \"maker.<locals>.inner\", 23, 0]"},
    {"()", "len", "[\"global\", \"builtins\", \"len\"]"},
    {"()", "math.sqrt", "[\"global\", \"math\", \"sqrt\"]"},
    {"(plain,)", "plain.method", "[\"bound\", \"method\", [\"object\", 0], \"method\"]"},
    {"(shared,)", "shared.append",
     "[\"bound\", \"builtin_function_or_method\", [\"object\", 0], \"append\"]"},
    {"()", "torch.add",
     "[\"bound\", \"builtin_function_or_method\", "
     "[\"class\", \"torch._C\", \"_VariableFunctionsClass\"], \"add\"]"},
    {"()", "(5).__add__", "[\"bound\", \"method-wrapper\", 5, \"__add__\"]"},
    {"()", "str.upper",
     "[\"descriptor\", \"method_descriptor\", [\"class\", \"builtins\", \"str\"], \"upper\"]"},
    {"()", "types.FunctionType.__dict__['__code__']",
     "[\"descriptor\", \"getset_descriptor\", [\"class\", \"builtins\", \"function\"], "
     "\"__code__\"]"},
    {"()", "numpy.add", "[\"global\", \"numpy\", \"add\"]"},
    {"()", "numpy.sum", "[\"global\", \"numpy\", \"sum\"]"},
    {"()", "torch.ops.aten.add.Tensor",
     "[\"operator\", [\"class\", \"torch._ops\", \"OpOverload\"], \"torch._ops.aten\", "
     "\"aten::add.Tensor\"]"},
};

static canon_row_t const others[] = {
    {"()", "math", "[\"module\", \"math\"]"},
    {"()", "types.ModuleType('math')", "[\"other\", [\"class\", \"builtins\", \"module\"], 0]"},
    {"()", "typing.List", "[\"global\", \"typing\", \"List\"]"},
    {"()", "Color.RED", "[\"enum\", [\"class\", \"__main__\", \"Color\"], \"RED\"]"},
    {"(Color.RED,)", "Color.RED", "[\"object\", 0]"},
    {"()", "Bits.A | Bits.B", "[\"enum\", [\"class\", \"__main__\", \"Bits\"], \"A|B\"]"},
};

static void
classes_have_names(void **state)
{
    (void)state;
    CANON_ROWS_CHECK(classes, td_canon_value);
}

static void
functions_are_found_again(void **state)
{
    (void)state;
    CANON_ROWS_CHECK(functions, td_canon_value);
}

static void
others_too(void **state)
{
    (void)state;
    CANON_ROWS_CHECK(others, td_canon_value);
}

static void
nothing_is_found_where_nothing_is(void **state)
{
    static char const *const missing[][2] = {
        {"no_such_module", "x"}, {"math", "no_such"}, {"__main__", "Plain.no_such"},
        {"__main__", "plain.x"}, {"math", ""},        {"__main__", "Plain..method"},
    };

    (void)state;
    (void)canon_globals();
    for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); ++i) {
        PyObject *module = PyUnicode_FromString(missing[i][0]);
        PyObject *name   = PyUnicode_FromString(missing[i][1]);

        assert_null(td_canon_find(module, name));
        assert_null(PyErr_Occurred());
        Py_DECREF(module);
        Py_DECREF(name);
    }
    assert_null(td_canon_find(Py_None, Py_None));
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(classes_have_names),
        cmocka_unit_test(functions_are_found_again),
        cmocka_unit_test(others_too),
        cmocka_unit_test(nothing_is_found_where_nothing_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
