/* test_live_walk.c: the objects of a case are found in a fixed order, by reading
   alone. */
#include "live_cases.h"

/* frames -> what holds of o; `a` and `b` are fresh lists of this row. */
static live_row_t const rows[] = {
    {"[[(('local', 'x'), 5), (('local', 'y'), 'a'), (('local', 'z'), None)]]", "o == ()"},
    {"[[(('local', 'x'), [[], 5])]]", "o == ([[], 5], [])"},
    {"(lambda a: [[(('local', 'x'), a), (('local', 'y'), [a])]])([])", "o == ([], [[]])"},
    {"(lambda a: a.append(a) or [[(('local', 'x'), a)]])([])", "len(o) == 1 and o[0][0] is o[0]"},
    {"[[(('local', 'x'), {(1,): [2]})]]", "o == ({(1,): [2]}, (1,), [2])"},
    {"[[(('local', 'x'), {frozenset({1})})]]", "o == ({frozenset({1})}, frozenset({1}))"},
    {"[[(('local', 'x'), slice([], {}, None))]]", "len(o) == 3 and o[1:] == ([], {})"},
    {"[[(('local', 'x'), collections.deque([[]]))]]", "o[1:] == ([],)"},
    {"[[(('local', 'x'), functools.partial(len, [], k={}))]]",
     "o[1:4] == (len, ([],), {'k': {}}) and o[4:] == ([], {})"},
    {"(lambda p: p.__setattr__('a', [1]) or [[(('local', 'x'), p)]])(objects.Plain())",
     "len(o) == 2 and o[1] == [1]"},
    {"[[(('local', 'x'), objects.Plain().method)]]", "type(o[1]) is objects.Plain and len(o) == 2"},
    {"[[(('local', 'x'), torch.ones(2, 3).t())]]", "len(o) == 2 and o[0]._base is o[1]"},
    {"[[(('local', 'x'), torch.nn.Linear(2, 2))]]",
     "sum(type(x) is torch.nn.Parameter for x in o) == 2"},
    /* leaves: what belongs to the process */
    {"[[(('local', 'x'), objects.Plain), (('local', 'y'), torch), (('local', 'z'), "
     "objects.scale)]]",
     "o == (objects.Plain, torch, objects.scale)"},
    {"[[(('local', 'x'), torch.ops.aten.add.Tensor), (('local', 'y'), torch.ops.aten.add)]]",
     "len(o) == 2"},
    /* keys and arguments of specs are objects too, a change is none */
    {"[[(('attr', ('item', ('local', 'x'), (1,)), 'w'), 5)]]", "o == ((1,),)"},
    {"[[(('fxcall', (('ref', 0), [])), len), (('fxmethod', 'size', ({},)), None)]]",
     "o == (len, [], {})"},
    {"[[(('do',), lambda: None), (('sourceless',), [])]]", "o == ([],)"},
    /* no code of the objects' own runs */
    {"[[(('local', 'x'), objects.Raising()), (('local', 'y'), [objects.Raising()])]]",
     "len(o) == 3"},
    {"[[(('local', 'x'), objects.TaggedTensor([1.]))]]", "len(o) == 1"},
};

static void
rows_hold(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        td_live_t live;

        assert_int_equal(live_case(rows[i].program, &live), TD_OK);
        live_expect(rows[i].program, &live, rows[i].holds);
        td_live_clear(&live);
        td_py_require_quiet(rows[i].program);
    }
}

int
main(void)
{
    struct CMUnitTest const tests[] = {cmocka_unit_test(rows_hold)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
