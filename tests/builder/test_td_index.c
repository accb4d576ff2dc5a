/* test_td_index.c: which indices have a spelling, that it is Python's, and what is equal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "builder/td_index.h"

static char const classes[] =
    "import enum\n"
    "class Plain(enum.Enum):\n    A = 1\n    B = (2, 'x')\n    C = [3]\n"
    "class Level(enum.IntEnum):\n    LOW = 0\n"
    "class Text(str, enum.Enum):\n    T = 'it\\'s'\n"
    "class Bits(enum.Flag):\n    R = 4\n    W = 2\n"
    "class Loud(enum.Enum):\n    L = 1\n    def __repr__(self):\n        return 'loud'\n"
    "class Even(enum.Enum):\n    E = 1\n    __hash__ = None\n    def __eq__(self, other):\n"
    "        return True\n";

static struct {
    char const *key;
    bool        has_repr, hashable;
} const rows[] = {
    {"Plain.A", true, true},
    {"Plain.B", true, true},
    {"Plain.C", false, true},
    {"Level.LOW", true, true},
    {"Text.T", true, true},
    {"Bits.R", true, true},
    {"Bits.R | Bits.W", true, true},
    {"Bits(0)", true, true},
    {"Loud.L", false, true},
    {"Even.E", false, true},
    {"Plain", true, true},
    {"Bits", true, true},
    {"(Plain.A,)", true, true},
    {"(Plain.A, (Level.LOW, Bits))", true, true},
    {"(Loud.L,)", false, true},
    {"slice(1, None)", true, false},
    {"slice(Plain.A, (1,), slice(2))", true, false},
    {"slice(Loud.L)", false, false},
    {"(1, slice(2))", true, false},
    {"()", true, true},
    {"frozenset()", true, true},
    {"frozenset({1})", true, true},
    {"object()", false, true},
    {"int", true, true},
};

/* Pairs, and whether Python finds them equal. */
static struct {
    char const *a, *b;
} const pairs[] = {
    {"Level.LOW", "0"},     {"Level.LOW", "False"},   {"Level.LOW", "1"}, {"Text.T", "'it\\'s'"},
    {"Plain.A", "1"},       {"Plain.A", "Plain.A"},   {"1", "1.0"},       {"slice(1)", "slice(1)"},
    {"(Plain.A,)", "(1,)"}, {"(Level.LOW,)", "(0,)"}, {"'a'", "b'a'"},
};

static PyObject *globals; /* owned by the test */

static PyObject *
value_of(char const *text)
{
    PyObject *value = PyRun_String(text, Py_eval_input, globals, globals);

    assert_non_null(value);
    return value;
}

static td_sources_t
sources_new(void)
{
    td_sources_t sources;

    td_sources_init(&sources, (PyTypeObject *)value_of("enum.Enum"));
    sources.flag_type = (PyTypeObject *)value_of("enum.Flag");
    return sources;
}

static void
spelling(void **state)
{
    td_sources_t sources = sources_new();

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PyObject *key  = value_of(rows[i].key);
        PyObject *repr = PyObject_Repr(key);
        td_buf_t  out  = {0};

        assert_int_equal(td_index_has_repr(&sources, key), rows[i].has_repr);
        assert_int_equal(td_index_is_hashable(key), rows[i].hashable);
        if (rows[i].has_repr) {
            assert_true(td_index_put_repr(&sources, &out, key));
            td_buf_putc(&out, '\0');
            assert_string_equal(out.bytes, PyUnicode_AsUTF8(repr));
        }
        td_buf_clear(&out);
        Py_DECREF(repr);
        Py_DECREF(key);
    }
}

static void
equality(void **state)
{
    td_sources_t sources = sources_new();

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        PyObject *a    = value_of(pairs[i].a);
        PyObject *b    = value_of(pairs[i].b);
        int       same = PyObject_RichCompareBool(a, b, Py_EQ);

        assert_int_equal(td_index_equal(&sources, a, b), same);
        if (same == 1) {
            assert_true(td_index_hash(a) == td_index_hash(b));
        }
        Py_DECREF(b);
        Py_DECREF(a);
    }
}

static int
set_up(void **state)
{
    PyObject *done = NULL;

    (void)state;
    Py_Initialize();
    globals = PyDict_New();
    done    = PyRun_String(classes, Py_file_input, globals, globals);
    assert_non_null(done);
    Py_DECREF(done);
    return 0;
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(spelling),
        cmocka_unit_test(equality),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
