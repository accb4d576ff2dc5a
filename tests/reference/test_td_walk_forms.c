/* test_td_walk_forms.c: each form, as a tracker holds it. */
#include "walk_frames.h"

static walk_row_t const seen[] = {
    /* VALUE, CLASS_VALUE */
    {"Case([(x, 5)])", "t.value = [Color.RED]",
     "\"value\":[\"list\", [[\"enum\", [\"class\", \"__main__\", \"Color\"], \"RED\"]]]"},
    {"Case([(x, 5)])", "t.value = Plain", "\"value\":[\"class\", \"__main__\", \"Plain\"]"},
    {"Case([(x, Plain())])", "", "\"value\":[\"object\", 0],\"value_type\":[\"class\""},
    /* TRACKERS, TRACKER_DICT, TRACKER */
    {"Case([(x, [])])", "", "\"items\":[]"},
    {"Case([(x, {'b': 1, 2: 1})])", "",
     "\"items\":[[\"b\", {\"kind\":\"ConstantVariable\",\"source\":\"L['x']['b']\""},
    {"Case([(x, collections.defaultdict(list))])", "",
     "\"default_factory\":{\"kind\":\"BuiltinVariable\""},
    {"Case([(x, collections.defaultdict(list))])", "t.default_factory = None",
     "\"default_factory\":null"},
    /* MUTABLE_LOCAL, CONTAINS */
    {"Case([(x, [1])])", "",
     "\"mutable_local\":{\"kind\":\"MutableSideEffects\",\"scope\":0,\"source\":\"L['x']\""},
    {"Case([(x, [1])])", "", "\"is_modified\":false}"},
    {"Case([(x, [[], []])])", "", "\"recursively_contains\":[0, 1, 2, 3, 5]"},
    {"Case([(x, 5)])", "t.mutable_local = MutableLocal()",
     "\"mutable_local\":{\"kind\":\"MutableLocal\",\"scope\":1}"},
    {"Case([(x, 5)])",
     "t.mutable_local = side_effects.AttributeMutationNew(S.LocalSource('a'), "
     "S.LocalSource('b'))",
     "\"kind\":\"AttributeMutationNew\",\"scope\":1,\"source\":\"L['a']\""},
    {"Case([(x, 5)])",
     "t.recursively_contains = {side_effects.MutableSideEffects(S.LocalSource(str(i))) "
     "for i in range(99)}",
     "\"recursively_contains\":[0, 1, 2, 3"},
    /* PROXY, SHAPE, FORMATS */
    {"Case([(x, torch.ones(2, 3))])", "", "\"proxy\":[0, \"l_x_\"]"},
    {"Case([(x, torch.ones(2, 3))])", "", "\"size\":[2, 3],\"stride\":[3, 1]"},
    {"Case([(x, torch.ones(2, 3))])", "",
     "\"is_contiguous\":[\"contiguous_format\", \"preserve_format\"]"},
    {"Case([(x, torch.ones(2, 3))])",
     "t.is_contiguous = tuple(reversed(t.is_contiguous)); "
     "t.size = (f.output.shape_env and 2, 3)",
     "\"is_contiguous\":[\"contiguous_format\", \"preserve_format\"]"},
    {"Case([(x, torch.ones(2, 3))], dynamic)", "", "\"size\":null,\"stride\":null"},
    /* SYM */
    {"Case([(x, 7)], dynamic | {'specialize_int': False})", "",
     "\"sym_num\":[\"SymInt\", \"s0\", 7]"},
    {"Case([(x, 7)], dynamic | {'specialize_int': False})", "t.sym_num = t.sym_num * 2 + 1",
     "\"sym_num\":[\"SymInt\", \"2*s0 + 1\", 15]"},
    {"Case([(x, 7)], dynamic | {'specialize_int': False})", "t.sym_num = t.sym_num > 3",
     "\"sym_num\":[\"SymBool\", \"s0 > 3\", true]"},
    {"Case([(x, 7)], dynamic | {'specialize_int': False})", "t.sym_num = True", "\"sym_num\":true"},
    /* STR, BOOL, INT */
    {"Case([(x, torch.nn.ReLU())])", "", "\"module_key\":\"x\""},
    {"Case([(x, torch.ones(2, 3))])", "", "\"ndim\":2"},
    {"Case([(x, torch.ones(2, 3))])", "t.requires_grad = 1", "\"requires_grad\":1"},
    /* FUNCTION */
    {"Case([(x, 5)])", "f.values[0] = LambdaVariable(function, source=t.source)",
     "\"fn\":[\"global\", \"__main__\", \"function\"]"},
    {"Case([(x, 5)])", "f.values[0] = (lambda a, b: LambdaVariable(lambda: (a, b)))(5, t)",
     "\"fn\":[\"lambda\", \"__main__\", \"<lambda>.<locals>.<lambda>\", 1, "
     "[5, {\"kind\":\"ConstantVariable\""},
    /* EXAMPLE: what a builder made is no stranger among values */
    {"Case([(x, torch.ones(2))])", "t.specialized_value = next(iter(o.graph.nodes))",
     "\"specialized_value\":[\"node\", 0]"},
    {"Case([(x, torch.ones(2))])",
     "t.specialized_value = next(iter(o.graph.nodes)).meta['grapharg'].fake_tensor",
     "\"specialized_value\":{\"kind\":\"Tensor\""},
    {"Case([(x, 5)])", "t.value = (t.source, t)",
     "\"value\":[\"tuple\", [[\"LocalSource\", \"x\", false], [\"again\", 0]]]"},
};

static void
forms_are_seen(void **state)
{
    (void)state;
    WALK_ROWS_SEEN(seen);
}

static walk_row_t const refused[] = {
    {"Case([(x, torch.nn.ReLU())])", "t.module_key = 5", "a int stands where a name should be"},
    {"Case([(x, {})])", "t.items = 5", "a int stands where a dict should be"},
    {"Case([(x, torch.ones(1))])", "t.proxy.__dict__.clear()", "a Proxy has no node"},
    {"Case([(x, torch.ones(1))])", "t.is_contiguous = (1,) * 9",
     "a tuple stands where a tuple of memory formats should be"},
    {"Case([(x, 7)], dynamic | {'specialize_int': False})", "del t.sym_num.node._expr",
     "a SymNode has no _expr"},
};

static void
misfits_are_refused(void **state)
{
    (void)state;
    WALK_ROWS_REFUSED(refused);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(forms_are_seen),
        cmocka_unit_test(misfits_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
