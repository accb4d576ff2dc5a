/* test_td_walk_context.c: everything that a build changes outside of trackers, row by
   row; each is changed by hand, so that none can be written from somewhere else. */
#include "walk_frames.h"

#define INT_INPUT "Case([(x, 7)], dynamic | {'specialize_int': False})"
#define TENSOR    "Case([(x, torch.ones(2, 3))])"
#define DYNAMIC   "Case([(x, torch.ones(2, 3))], dynamic)"
#define SYMBOL    "s = next(iter(o.shape_env.var_to_val)); "

static walk_row_t const graph[] = {
    {TENSOR, "",
     "\"graph\":[{\"kind\":\"Node\",\"name\":\"l_x_\",\"op\":\"placeholder\","
     "\"target\":\"L_x_\",\"type\":[\"class\", \"torch\", \"Tensor\"],"
     "\"_args\":[\"tuple\", []],\"_kwargs\":[\"dict\", []],\"meta\":{\"kind\":\"NodeMeta\","
     "\"creation_timestamp\":0,\"grapharg\":{\"kind\":\"GraphArg\",\"source\":\"L['x']\""},
    {TENSOR, "", "\"_example\":[\"weakref\", [\"object\", 0]],\"is_unspecialized\":false"},
    {TENSOR, "", "\"tensor_dict\":[]"},
    {TENSOR, "next(iter(o.graph.nodes)).meta['tensor_dict']['k'] = [1]",
     "\"tensor_dict\":[[\"k\", [\"list\", [1]]]]"},
    {TENSOR, "next(iter(o.graph.nodes)).meta['nn_module_stack'] = {'m': ('a', torch.nn.ReLU)}",
     "\"nn_module_stack\":[\"dict\", [[\"m\", [\"tuple\", [\"a\", [\"class\", "
     "\"torch.nn.modules.activation\", \"ReLU\"]]]]]]"},
    {"Case([(x, torch.ones(2)), (('fxcall', (('ref', 0), 1)), torch.add)])", "",
     "\"target\":[\"object\", 1],\"type\":null,\"_args\":[\"tuple\", [[\"node\", 0], 1]]"},
    {"Case([(x, torch.ones(2)), (('fxcall', (('ref', 0), 1)), torch.add)])",
     "list(o.graph.nodes)[1].args = ([o.graph._root.next, {'k': o.graph._root.next}],)",
     "\"_args\":[\"tuple\", [[\"list\", [[\"node\", 0], [\"dict\", [[\"k\", [\"node\", 0]]]]]]]"},
    {"Case([(x, torch.ones(2)), (('fxcall', (('ref', 0), 1)), torch.add)])", "",
     "\"prev_inst\":\"current\""},
    {TENSOR, "", "\"prev_inst\":null"},
    {TENSOR, "o.root_tracer.prev_inst = o", "\"prev_inst\":\"other\""},
    {TENSOR, "", "\"input_name_to_proxy\":[[\"L_x_\", [0, \"l_x_\"]]]"},
    {TENSOR, "", "\"node_name_to_scope\":[[\"l_x_\", [\"tuple\", [\"\", null]]]]"},
    {TENSOR, "o.root_tracer.real_value_cache[next(iter(o.graph.nodes))] = 5",
     "\"real_value_cache\":[[[\"node\", 0], 5]]"},
};

static walk_row_t const shapes[] = {
    {DYNAMIC, "", "\"var_to_val\":[[\"s0\", \"2\"], [\"s1\", \"3\"]]"},
    {DYNAMIC, "", "\"var_to_range\":[[\"s0\", \"2\", \"9223372036854775806\"]"},
    {INT_INPUT, "",
     "\"var_to_range\":[[\"s0\", \"-9223372036854775808\", "
     "\"9223372036854775807\"]]"},
    {DYNAMIC, SYMBOL "o.shape_env.runtime_var_to_range[s] = o.shape_env.var_to_range[s]",
     "\"runtime_var_to_range\":[[\"s0\", \"2\", \"9223372036854775806\"]"},
    {DYNAMIC, "",
     "\"var_to_sources\":[[\"s0\", [[\"TensorPropertySource\", [\"LocalSource\", "
     "\"x\", false], \"SIZE\", 0]]]"},
    {DYNAMIC, "", "\"val_to_var\":[[0, \"0\"], [1, \"1\"], [2, \"s0\"], [3, \"s1\"]]"},
    {DYNAMIC, "bool(next(iter(o.tracked_fakes)).fake.size(0) * 2 > 3 or True)",
     "\"guards\":[[\"\", \"DEFAULT_DEVICE\""},
    {DYNAMIC, "bool(o.tracked_fakes[0].fake.size(0) * 2 == o.tracked_fakes[0].fake.size(1) + 1)",
     "\"guards\":[\"Eq(2*s0, s1 + 1)\"]"},
    {DYNAMIC, "bool(o.tracked_fakes[0].fake.size(0) == 2)", "\"replacements\":[[\"s0\", \"2\"]]"},
    {DYNAMIC, SYMBOL "o.shape_env.divisible |= {s + 1, s}", "\"divisible\":[\"s0\", \"s0 + 1\"]"},
    {DYNAMIC, "bool(o.tracked_fakes[0].fake.size(0) < 9)",
     "\"var_to_guards\":[[\"s0\", null, \"s0 < 9\"]]"},
    {DYNAMIC,
     SYMBOL "import types; o.shape_env.deferred_runtime_asserts[s].append("
            "types.SimpleNamespace(expr=s < 5, msg='m', stack=None))",
     "\"deferred_runtime_asserts\":[[\"s0\", [[\"s0 < 5\", \"m\"]]]]"},
    {DYNAMIC, SYMBOL "o.shape_env.var_to_stack[s] = None", "\"var_to_stack\":[\"s0\"]"},
    {DYNAMIC, "o.shape_env.source_name_to_debug_name = {'a': 'b'}",
     "\"source_name_to_debug_name\":[[\"a\", \"b\"]]"},
    {DYNAMIC, "next(o.shape_env.unbacked_symint_counter)", "\"unbacked_symint_counter\":1"},
    {DYNAMIC, "next(o.shape_env.unbacked_symfloat_counter)", "\"unbacked_symfloat_counter\":1"},
    {DYNAMIC, "o.shape_env.duck_shape = False", "\"duck_shape\":false"},
    {DYNAMIC, "", "\"constraint_dims\":[null, null]"},
    {DYNAMIC, "o.tracked_fakes[0].constraint_dims = None", "\"constraint_dims\":null"},
    {DYNAMIC,
     SYMBOL "o.tracked_fakes[0].constraint_dims[1] = StrictMinMaxConstraint("
            "warn_only=False, vr=o.shape_env.var_to_range[s])",
     "\"constraint_dims\":[null, [\"StrictMinMaxConstraint\", false, \"2\", "
     "\"9223372036854775806\"]]"},
    {DYNAMIC, "",
     "\"frame_state\":[[\"L['x']\", {\"kind\":\"FrameStateSizeEntry\","
     "\"scalar\":null,\"size\":[\"list\", [2, 3]]}]]"},
    {INT_INPUT, "",
     "\"frame_state\":[[\"L['x']\", {\"kind\":\"FrameStateSizeEntry\","
     "\"scalar\":7,\"size\":null}]]"},
    {DYNAMIC, "f.frame_state['_id'] = 3", "[\"_id\", 3]]"},
};

static walk_row_t const others[] = {
    {"Case([(x, [5])])", "",
     "\"side_effects\":{\"kind\":\"SideEffects\",\"keepalive\":[[\"object\", 0]],"
     "\"id_to_variable\":[[[\"object\", 0], {\"kind\":\"ListVariable\""},
    {"Case([(x, [5])])", "o.side_effects.store_attr_mutations[t.mutable_local] = {'a': t.items[0]}",
     "\"store_attr_mutations\":[[[\"again\", 0], [[\"a\", [\"again\", 1]]]]]"},
    {"Case([(x, torch.nn.ReLU())])", "", "\"nn_modules\":[[\"x\", [\"object\", 0]]]"},
    {"Case([(x, 5)])", "f.f_globals['made'] = {5}", "\"globals\":[[\"made\", [\"set\", [5]]]]"},
    {"Case([(x, 5)])",
     "from torch._dynamo.utils import CleanupHook; "
     "o.cleanups.append(CleanupHook.create(f.f_globals, 'made', 1))",
     "\"cleanups\":[\"made\"]"},
    {TENSOR, "",
     "\"input_source_to_var\":[[[\"LocalSource\", \"x\", false], "
     "{\"kind\":\"TensorVariable\""},
    {INT_INPUT, "", "\"unspec_variable_map\":[[\"L['x']\", {\"kind\":\"SymNodeVariable\""},
    {DYNAMIC, "",
     "\"tensor_weakref_to_sizes_strides\":[[[\"object\", 0], "
     "[[\"SymInt\", \"s0\", 2], [\"SymInt\", \"s1\", 3]]"},
    {TENSOR, "",
     "\"tracked_fakes_id_to_source\":[[[\"object\", 0], "
     "[[\"LocalSource\", \"x\", false]]]]"},
    {"Case([(x, 5)])", "o.param_name_to_source['a.b'] = t.source",
     "\"param_name_to_source\":[[\"a.b\", [\"LocalSource\", \"x\", false]]]"},
    {"Case([(x, 5)])", "o.param_name_to_source = None", "\"param_name_to_source\":null"},
    {"Case([(x, 5)])", "o.source_to_user_stacks[t.source] = [1, 2]",
     "\"source_to_user_stacks\":[[[\"LocalSource\", \"x\", false], 2]]"},
    {"Case([(x, 5)])", "o.has_user_defined_allowed_in_graph = True",
     "\"has_user_defined_allowed_in_graph\":true"},
    {"Case([(x, 5)])", "o.timestamp = 3", "\"timestamp\":3"},
    {"Case([(x, 5)])", "o.tracers.append(o.tracers[0])", "\"tracers\":2"},
    {"Case([(x, 5)])", "o.tracing_context.force_unspec_int_unbacked_size_like = True",
     "\"tracing\":{\"kind\":\"TracingContext\",\"force_unspec_int_unbacked_size_like\":true}"},
    {"Case([(x, 5)])", "f.tx.random_calls.append(1)", "\"random_calls\":1"},
    {"Case([(x, torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=0.1))])",
     "t.tensor_to_source = {case.objects[0]: S.LocalSource('z')}; t.grad_to_source = {}",
     "\"grad_to_source\":[],\"tensor_to_source\":[[[\"object\", 0], [\"LocalSource\", \"z\", "
     "false]]]"},
};

static walk_row_t const refused[] = {
    {TENSOR, "o.side_effects.id_to_variable['k'] = t", "a str stands where an id should be"},
    {TENSOR, "o.tracked_fakes_id_to_source[5] = 5", "a int stands where sources should be"},
    {TENSOR, "o.tensor_weakref_to_sizes_strides['k'] = 5", "sizes and strides are a int"},
    {TENSOR, "o.tensor_weakref_to_sizes_strides['k'] = {}", "a tensor's size or stride is missing"},
    {TENSOR, "o.tracked_fakes[0] = 5", "a int has no attributes"},
    {TENSOR, "o.tracked_fakes[0].constraint_dims[0] = 5", "a int has no attributes"},
    {TENSOR, "o.shape_env.guards.append(5)", "a shape guard is a int"},
    {DYNAMIC, SYMBOL "o.shape_env.var_to_guards[s] = 5", "the guards of a symbol are a int"},
    {TENSOR, "o.shape_env.divisible = []", "a list stands where a set should be"},
    {TENSOR, "o.shape_env.unbacked_symint_counter = 5", "a counter is a int"},
    {TENSOR, "next(iter(o.graph.nodes)).meta = 5", "a node's meta is a int"},
    {TENSOR, "o.cleanups = ()", "a tuple stands where a list should be"},
    {TENSOR, "o.tracers.clear()", "the context has no tracer"},
};

static void
graphs_are_seen(void **state)
{
    (void)state;
    WALK_ROWS_SEEN(graph);
}

static void
shapes_are_seen(void **state)
{
    (void)state;
    WALK_ROWS_SEEN(shapes);
}

static void
the_rest_is_seen(void **state)
{
    (void)state;
    WALK_ROWS_SEEN(others);
}

static void
broken_contexts_are_refused(void **state)
{
    (void)state;
    WALK_ROWS_REFUSED(refused);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(graphs_are_seen),
        cmocka_unit_test(shapes_are_seen),
        cmocka_unit_test(the_rest_is_seen),
        cmocka_unit_test(broken_contexts_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
