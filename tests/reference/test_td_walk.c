/* test_td_walk.c: records by the schema, what does not fit it, and that a walk
   leaves everything as it was. */
#include "walk_frames.h"

static char const *const families[] = {
    "Case([(x, 5), (y, 'a')])",
    "Case([(x, None), (y, 1.5)])",
    "Case([(x, [1, 'a', (2, [3])]), (y, collections.deque([1]))])",
    "Case([(x, {'a': [1], 2: {}}), (y, collections.OrderedDict(b=1))])",
    "Case([(x, collections.defaultdict(list, a=1))])",
    "Case([(x, torch.ones(2, 3)), (y, torch.ones(3, 2).t())])",
    "Case([(x, torch.ones(2, 3)), (y, torch.ones(4, 6)[:, ::2])], dynamic)",
    "Case([(x, torch.nn.Parameter(torch.ones(2)))])",
    "Case([(x, function), (y, len)])",
    "Case([(x, torch.nn.Linear(2, 2)), (y, torch.nn.Sequential(torch.nn.ReLU()))])",
    "Case([(x, Plain()), (y, Plain)])",
    "Case([(x, numpy.ones(3)), (y, numpy.float32(2))])",
    "Case([(x, functools.partial(function, 1))])",
    "Case([(x, slice(1, 2)), (y, range(3))])",
    "Case([(x, 5), (('item', y, 'k'), 7)], {'specialize_int': False} | dynamic)",
    "Case([(x, Color.RED), (y, iter((1, 2)))])",
    "Case([(x, torch.ones(2)), (('fxcall', (('ref', 0), 1)), torch.add)])",
    "Case([(x, torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=0.1))])",
};

enum { FAMILY_CNT = sizeof(families) / sizeof(families[0]) };

static void
record_of(char const *text, td_obs_t *obs, uint8_t **bytes, size_t *sz)
{
    PyObject *taken = walk_take(text);
    td_val_t  record;

    if (walk_run(taken, obs, &record) != TD_OK) {
        fail_msg("%s: %s", text, td_walk_why(walk_walker()));
    }
    assert_int_equal(td_obs_get_class(obs, record), TD_CLASS_Frame);
    assert_int_equal(td_obs_encode(obs, record, bytes, sz), TD_OK);
    walk_close(taken);
}

static void
same_program_same_bytes(void **state)
{
    td_obs_t *obs = td_obs_new();

    (void)state;
    for (size_t i = 0; i < FAMILY_CNT; ++i) {
        uint8_t *first, *second;
        size_t   first_sz, second_sz;

        record_of(families[i], obs, &first, &first_sz);
        record_of(families[i], obs, &second, &second_sz);
        assert_int_equal(first_sz, second_sz);
        assert_memory_equal(first, second, first_sz);
        td_free(first);
        td_free(second);
    }
    td_obs_free(obs);
}

static Py_ssize_t
refcount_sum(PyObject *list)
{
    Py_ssize_t sum = 0;

    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
        sum += Py_REFCNT(PyList_GET_ITEM(list, i));
    }
    return sum;
}

/* Every object that the collector knows and that lies below the context. */
static char const reached[] =
    "import gc\n"
    "def reached(root):\n"
    "    seen, todo = {id(root): root}, [root]\n"
    "    while todo and len(seen) < 20000:\n"
    "        for one in gc.get_referents(todo.pop()):\n"
    "            if id(one) not in seen and not isinstance(one, (type, type(gc))):\n"
    "                seen[id(one)] = one; todo.append(one)\n"
    "    return [one for one in seen.values() if gc.is_tracked(one)]\n";

static void
nothing_is_kept(void **state)
{
    td_obs_t *obs = td_obs_new();

    (void)state;
    for (size_t i = 0; i < FAMILY_CNT; ++i) {
        PyObject  *taken = walk_take(families[i]);
        PyObject  *list;
        Py_ssize_t before;
        int64_t    blocks;
        td_val_t   record;

        walk_do(taken, reached);
        assert_int_equal(walk_run(taken, obs, &record), TD_OK); /* classes become known */
        list = PyObject_CallFunction(PyDict_GetItemString(walk_globals(), "reached"), "O", taken);
        (void)PyGC_Collect(); /* garbage holds references too, until it goes */
        (void)PyGC_Disable();
        before = refcount_sum(list);
        blocks = td_alloc_live_cnt();
        for (int again = 0; again < 10; ++again) {
            assert_int_equal(walk_run(taken, obs, &record), TD_OK);
        }
        assert_int_equal(refcount_sum(list), before);
        assert_true(td_alloc_live_cnt() <= blocks); /* fewer: chunks of the arena melt into one */
        (void)PyGC_Enable();
        Py_DECREF(list);
        walk_close(taken);
    }
    td_obs_free(obs);
}

static walk_row_t const refused[] = {
    {"Case([(x, 5)])", "t.extra = 1", "ConstantVariable.extra is in no row"},
    {"Case([(x, 5)])", "t.source.__dict__['extra'] = 1", "LocalSource.extra is in no row"},
    {"Case([(x, 5)])", "o.extra = 1", "OutputGraph.extra is in no row"},
    {"Case([(x, 5)])", "f.tx.extra = 1", "InstructionTranslator.extra is in no row"},
    {"Case([(x, 5)])", "next(iter(t.guards)).extra = 1", "Guard.extra is in no row"},
    {"Case([(x, [5])])", "t.mutable_local.extra = 1", "MutableSideEffects.extra is in no row"},
    {"Case([(x, torch.ones(1))])", "next(iter(o.graph.nodes)).extra = 1",
     "Node.extra is in no row"},
    {"Case([(x, torch.ones(1))])", "next(iter(o.graph.nodes)).meta['extra'] = 1",
     "NodeMeta.extra is in no row"},
    {"Case([(x, torch.ones(1))])", "next(iter(o.graph.nodes)).meta['grapharg'].extra = 1",
     "GraphArg.extra is in no row"},
    {"Case([(x, torch.ones(1))])", "o.tracked_fakes[0].extra = 1",
     "TrackedFake.extra is in no row"},
    {"Case([(x, torch.ones(1))])", "next(iter(f.frame_state.values())).extra = 1",
     "FrameStateSizeEntry.extra is in no row"},
    {"Case([(x, 5)])", "o.side_effects.extra = 1", "SideEffects.extra is in no row"},
    {"Case([(x, 5)])", "o.shape_env.extra = 1", "ShapeEnv.extra is in no row"},
    {"Case([(x, 5)])", "o.tracing_context.extra = 1", "TracingContext.extra is in no row"},
    {"Case([(x, 5)])", "o.root_tracer.extra = 1", "SubgraphTracer.extra is in no row"},
    {"Case([(x, 5)])", "o.should_exit = True", "OutputGraph.should_exit is not empty"},
    {"Case([(x, 5)])", "o.output_instructions.append(1)",
     "OutputGraph.output_instructions is not empty"},
    {"Case([(x, 5)])", "next(iter(t.guards)).code_list = ['x']", "Guard.code_list is not empty"},
    {"Case([(x, 5)])", "t.__class__ = type('Unknown', (type(t),), {})",
     "tracker class Unknown is not in the schema"},
    {"Case([(x, 5)])", "t.guards = 5", "a int stands where guards should be"},
    {"Case([(x, 5)])", "t.guards.add(7)", "a int stands among guards"},
    {"Case([(x, 5)])", "t.source = 'x'", "a str stands where a source should be"},
    {"Case([(x, [5])])", "t.items = 5", "a int stands where a list of trackers should be"},
    {"Case([(x, [5])])", "t.mutable_local = 5", "a int stands where a mutable local should be"},
    {"Case([(x, [5])])", "t.recursively_contains = [1]",
     "a list stands where a set of mutable locals should be"},
    {"Case([(x, torch.ones(1))])", "t.is_contiguous = 5",
     "a int stands where a tuple of memory formats should be"},
    {"Case([(x, torch.ones(1))])", "t.size = [1]", "a list stands where a shape should be"},
    {"Case([(x, 5)])", "del o.tracers", "a OutputGraph has no tracers"},
};

static void
what_does_not_fit_is_refused(void **state)
{
    (void)state;
    WALK_ROWS_REFUSED(refused);
}

static walk_row_t const records[] = {
    {"Case([(x, 5)])", "del t.value", "\"fields\":{\"mutable_local\":null"},
    {"Case([(x, [5])])", "f.values.append(t); f.kinds.append(1); f.sources.append(None)",
     "\"tracker\":[\"again\", 0]"},
    {"Case([(x, [5])])", "t.items.append(t.items[0])", "\"items\":[{\"kind\":\"ConstantVariable\""},
    {"Case([(x, [5])])", "t.items.append(t.items[0])", "[\"again\", 1]]"},
    {"Case([(x, [5]), (y, 6)])", "f.values[1].mutable_local = t.mutable_local",
     "\"mutable_local\":[\"again\", 0]"},
};

static void
identities_are_ordinals(void **state)
{
    (void)state;
    WALK_ROWS_SEEN(records);
}

static void
depth_of_the_reference_is_reached(void **state)
{
    PyObject *taken = walk_take("Case([(x, functools.reduce(lambda a, _: [a], range(150), 1))])");
    td_obs_t *obs   = td_obs_new();
    td_val_t  record;

    (void)state;
    assert_int_equal(walk_run(taken, obs, &record), TD_OK);
    assert_true(td_walk_tracker_cnt(walk_walker()) >= 151);
    td_obs_free(obs);
    walk_close(taken);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(same_program_same_bytes),
        cmocka_unit_test(nothing_is_kept),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(identities_are_ordinals),
        cmocka_unit_test(depth_of_the_reference_is_reached),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
