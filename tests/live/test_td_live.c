/* test_td_live.c: whole programs: every kind, the same twice, nothing left behind,
   every allocation failed once. */
#include "live_rows.h"

#include "base/td_alloc.h"
#include "base/td_rng.h"
#include "py/td_py_audit.h"

enum { PROGRAM_CNT = 150, PROGRAM_SZ_MAX = 256, NOMEM_CNT = 25, ROUND_CNT = 12 };

/* random_load makes a valid program of random bytes. */
static void
random_load(td_rng_t *rng, td_prog_t *prog)
{
    uint8_t bytes[PROGRAM_SZ_MAX];
    bool    changed = false;

    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)td_rng_below(rng, 256);
    }
    bytes[0] = 0xA0 | TD_FORMAT_VERSION;
    td_prog_init(prog);
    assert_int_equal(td_prog_repair(bytes, sizeof bytes, prog, &changed), TD_OK);
}

static void
make(td_prog_t const *prog, td_live_t *live)
{
    if (td_live_from_program(prog, live) != TD_OK) {
        char *text = td_prog_disasm(prog);

        PyErr_Print();
        fail_msg("%s", text);
    }
}

static void
every_kind(void **state)
{
    bool     seen[TD_KIND_TAG_END] = {false};
    td_rng_t rng;

    (void)state;
    live_globals();
    td_rng_init(&rng, 1);
    for (int i = 0; i < PROGRAM_CNT; i++) {
        td_prog_t prog;
        td_live_t live;

        random_load(&rng, &prog);
        make(&prog, &live);
        assert_true(PyTuple_GET_SIZE(live.objects) >= (Py_ssize_t)prog.node_cnt);
        for (uint32_t k = 0; k < prog.node_cnt; k++) {
            assert_non_null(PyTuple_GET_ITEM(live.objects, (Py_ssize_t)k));
            seen[prog.nodes[k].kind] = true;
        }
        td_live_clear(&live);
        td_prog_clear(&prog);
    }
    for (unsigned kind = 0; kind < TD_KIND_TAG_END; kind++) {
        if (td_kind_info((uint8_t)kind) != NULL && !seen[kind]) {
            fail_msg("never made: %s", td_kind_info((uint8_t)kind)->name);
        }
    }
}

/* sharing writes, for each object, the first index at which it stands. */
static void
sharing(PyObject *objects, Py_ssize_t *first)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(objects); i++) {
        for (first[i] = 0; PyTuple_GET_ITEM(objects, first[i]) != PyTuple_GET_ITEM(objects, i);
             first[i]++) {}
    }
}

static void
twice_the_same(void **state)
{
    td_rng_t rng;

    (void)state;
    live_globals();
    td_rng_init(&rng, 2);
    for (int i = 0; i < PROGRAM_CNT; i++) {
        static Py_ssize_t first[2][TD_NODE_CNT_MAX];
        td_prog_t         prog;
        td_live_t         one, two;

        random_load(&rng, &prog);
        make(&prog, &one);
        make(&prog, &two);
        sharing(one.objects, first[0]);
        sharing(two.objects, first[1]);
        for (Py_ssize_t k = 0; k < (Py_ssize_t)prog.node_cnt; k++) {
            assert_ptr_equal(Py_TYPE(PyTuple_GET_ITEM(one.objects, k)),
                             Py_TYPE(PyTuple_GET_ITEM(two.objects, k)));
            assert_int_equal(first[0][k], first[1][k]);
        }
        td_live_clear(&two);
        td_live_clear(&one);
        td_prog_clear(&prog);
    }
}

/* caches_clear empties torch's own caches, which hold the symbols of fake tensors for good
   (tandem.oracle.state does it between programs). */
static void
caches_clear(void)
{
    static char const text[] = "import functools, gc\n"
                               "for one in gc.get_objects():\n"
                               "    if type(one) is functools._lru_cache_wrapper and "
                               "one.__module__.startswith('torch.fx'):\n"
                               "        one.cache_clear()\n";

    assert_int_equal(PyRun_SimpleString(text), 0);
}

/* round_run makes and clears programs; gives the blocks that are there then. */
static Py_ssize_t
round_run(uint64_t seed, int cnt)
{
    td_rng_t   rng;
    td_audit_t audit;
    Py_ssize_t blocks = 0;

    td_rng_init(&rng, seed);
    for (int i = 0; i < cnt; i++) {
        td_prog_t prog;
        td_live_t live;

        random_load(&rng, &prog);
        make(&prog, &live);
        td_live_clear(&live);
        td_prog_clear(&prog);
    }
    caches_clear();
    PyGC_Collect();
    assert_int_equal(td_audit_init(&audit, NULL), TD_OK);
    blocks = audit.block_cnt;
    td_audit_clear(&audit);
    return blocks;
}

/* Caches of the interpreter fill up over a few rounds; a leak never ends. */
static void
nothing_left_behind(void **state)
{
    int64_t    ours   = 0;
    Py_ssize_t blocks = 0;
    int        rising = 0;

    (void)state;
    live_globals();
    round_run(3, PROGRAM_CNT);
    ours   = td_alloc_live_cnt();
    blocks = round_run(3, PROGRAM_CNT);
    for (int i = 0; i < ROUND_CNT; i++) {
        Py_ssize_t now = round_run(3, PROGRAM_CNT);

        rising += now - blocks > PROGRAM_CNT / 2; /* half a block a program is none */
        blocks = now;
    }
    assert_in_range(rising, 0, ROUND_CNT / 2);
    assert_int_equal(td_alloc_live_cnt(), ours);
}

/* References that a program adds to what lives on go with it. */
static void
references_return(void **state)
{
    static char const program[] =
        "%0 = function scale\n%1 = class Plain\n%2 = list %0 %1\n%3 = dict %0: %1\n"
        "%4 = partial %0 %1\n%5 = object Plain %0 %1\n%6 = default_dict %1 %0: %1\ndo append %2 "
        "%2\n"
        "do setattr %5 \"me\" %5\n";
    PyObject  *globals = live_globals(); /* borrowed */
    td_audit_t audit;
    td_live_t  live;
    PyObject  *kept = NULL; /* owned */
    Py_ssize_t was = 0, now = 0;

    (void)state;
    kept = PyRun_String("(objects.scale, objects.Plain)", Py_eval_input, globals, globals);
    live_make(program, &live); /* fills what is kept as long as the process */
    td_live_clear(&live);
    PyGC_Collect();
    assert_int_equal(td_audit_init(&audit, kept), TD_OK);
    for (int i = 0; i < 3; i++) {
        live_make(program, &live);
        assert_int_equal(td_audit_refs_differ(&audit, &was, &now), 0);
        assert_true(now > was);
        td_live_clear(&live);
        PyGC_Collect();
        assert_int_equal(td_audit_refs_differ(&audit, NULL, NULL), -1);
    }
    td_audit_clear(&audit);
    Py_DECREF(kept);
}

/* fail_each fails the first, the second, ... allocation of arm's kind. */
static void
fail_each(td_prog_t const *prog, void (*arm)(size_t), bool (*disarm)(void), td_status_t want)
{
    for (size_t nth = 1;; nth++) {
        td_live_t   live;
        td_status_t status;
        bool        fired;

        arm(nth);
        status = td_live_from_program(prog, &live);
        fired  = disarm();
        if (status != TD_OK) {
            assert_int_equal(status, want);
            assert_null(live.objects);
            assert_true(want == TD_NOMEM || PyErr_ExceptionMatches(PyExc_MemoryError));
            PyErr_Clear();
        }
        td_live_clear(&live);
        if (!fired) {
            assert_int_equal(status, TD_OK);
            break;
        }
    }
}

static void
ours_arm(size_t nth)
{
    td_nomem_arm(nth);
}

static void
allocations_fail(void **state)
{
    td_rng_t rng;
    int64_t  ours = 0;

    (void)state;
    live_globals();
    round_run(4, NOMEM_CNT);
    ours = td_alloc_live_cnt();
    td_rng_init(&rng, 4);
    for (int i = 0; i < NOMEM_CNT; i++) {
        td_prog_t prog;

        random_load(&rng, &prog);
        fail_each(&prog, td_py_nomem_arm, td_py_nomem_disarm, TD_PYERR);
        fail_each(&prog, ours_arm, td_nomem_disarm, TD_NOMEM);
        td_prog_clear(&prog);
    }
    PyGC_Collect();
    assert_int_equal(td_alloc_live_cnt(), ours);
}

/* A failure names the node. */
static void
failure_names_the_node(void **state)
{
    PyObject *globals = live_globals(); /* borrowed */
    PyObject *result  = NULL;           /* owned */
    td_prog_t prog;
    td_live_t live;
    char      text[256];

    (void)state;
    result = PyRun_String(
        "def broken():\n    raise ValueError('no')\n"
        "kept, objects.Plain.__init__ = objects.Plain.__init__, lambda self: broken()\n",
        Py_file_input, globals, globals);
    assert_non_null(result);
    Py_DECREF(result);
    live_load("%0 = int 1\n%1 = object Plain\n", &prog);
    assert_int_equal(td_live_from_program(&prog, &live), TD_PYERR);
    td_py_error_text(text, sizeof text);
    assert_string_equal(text, "RuntimeError: node 1 (object): ValueError: no");
    result = PyRun_String("del objects.Plain.__init__\n", Py_file_input, globals, globals);
    assert_non_null(result);
    Py_DECREF(result);
    assert_int_equal(td_live_from_program(&prog, &live), TD_OK);
    td_live_clear(&live);
    td_live_clear(&live); /* a cleared one is fine */
    td_prog_clear(&prog);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_kind),          cmocka_unit_test(twice_the_same),
        cmocka_unit_test(nothing_left_behind), cmocka_unit_test(references_return),
        cmocka_unit_test(allocations_fail),    cmocka_unit_test(failure_names_the_node),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
