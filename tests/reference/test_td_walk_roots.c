/* test_td_walk_roots.c: outcomes of roots, and messages. */
#include "walk_frames.h"

static walk_row_t const seen[] = {
    {"Case([(x, 5)])", "",
     "\"source\":\"L['x']\",\"source_tree\":[\"LocalSource\", \"x\", false],"
     "\"outcome\":\"tracker\""},
    {"Case([(('sourceless',), (1, 2))])", "",
     "\"roots\":[{\"kind\":\"Root\",\"source\":null,\"source_tree\":null,"
     "\"outcome\":\"tracker\""},
    {"Case([(('do',), lambda: None), (x, 5)])", "", "\"roots\":[{\"kind\":\"Root\",\"source\":\"L"},
    {"Case([(('sourceless',), Plain())])", "",
     "\"outcome\":\"exception\",\"exception\":{\"kind\":\"Unsupported\",\"class\":\"torch._dynamo."
     "exc.Unsupported\""},
    {"Case([(('sourceless',), Plain())])", "",
     "\"message\":\"Unexpected type in sourceless builder <class '__main__.Plain'>\""},
    {"Case([(('sourceless',), Plain())])", "f.values[0] = KeyError('k')",
     "{\"kind\":\"KeyError\",\"class\":\"KeyError\",\"message\":\"'k'\"}"},
    {"Case([(('sourceless',), Plain())])", "f.values[0] = KeyError(Plain)",
     "\"message\":\"<class '__main__.Plain'>\""},
    {"Case([(('sourceless',), Plain())])",
     "f.values[0] = ValueError(f'at {hex(id(case.objects[0]))} or {id(case.objects[0])}')",
     "\"message\":\"at <object 0> or <object 0>\""},
    /* what a node calls, and what that is bound to */
    {"Case([(x, torch.ones(2)), (('fxcall', (('ref', 0), 'no')), torch.add)])", "",
     "<built-in method add of type object at <object 2>>"},
    /* made with what a program could answer for: the arguments, unspelled */
    {"Case([(('sourceless',), Plain())])", "f.values[0] = ValueError(case.objects[0])",
     "\"message\":[\"tuple\", [[\"object\", 0]]]"},
    {"Case([(('sourceless',), Plain())])",
     "f.values[0] = type('Mine', (ValueError,), {'__str__': lambda self: 1 / 0})('a', 1)",
     "\"message\":[\"tuple\", [\"a\", 1]]"},
    {"Case([(x, 5)])", "f.values[0] = (t, [t], None)",
     "\"tracker\":[\"tuple\", [{\"kind\":\"ConstantVariable\""},
};

static void
roots_are_seen(void **state)
{
    (void)state;
    WALK_ROWS_SEEN(seen);
}

/* A compile step is none: what was built in it is seen in its contexts. */
static walk_row_t const compiled[] = {
    {"Case([(('compile', 'frame'), (torch.ones(2), 3))])", "", "\"roots\":[]"},
};

static void
compile_steps_are_no_roots(void **state)
{
    (void)state;
    WALK_ROWS_SEEN(compiled);
}

static walk_row_t const refused[] = {
    {"Case([(x, 5)])", "f.kinds[0] = 2", "a ConstantVariable was raised"},
    {"Case([(x, 5)])", "f.values.clear()", "a step has no outcome"},
};

static void
broken_outcomes_are_refused(void **state)
{
    (void)state;
    WALK_ROWS_REFUSED(refused);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(roots_are_seen),
        cmocka_unit_test(compile_steps_are_no_roots),
        cmocka_unit_test(broken_outcomes_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
