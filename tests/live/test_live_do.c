/* test_live_do.c: changes happen when they are run, and those that an object does
   not allow are left out. */
#include "live_rows.h"

#include "py/td_py_audit.h"

/* In a frame a change waits; before the first frame it is part of the making. */
static live_row_t const rows[] = {
    {"%0 = list\ndo append %0 %0\n", "o[0][0] is o[0]"},
    {"%0 = list\n%1 = int 1\nframe\nroot build local(\"x\") %0\ndo append %0 %1\n",
     "o[0] == [] and run(f[0]) and o[0] == [1] and run(f[0]) and o[0] == [1, 1]"},
    {"%0 = list\n%1 = int 1\nframe\nroot build local(\"x\") %0\nframe\ndo append %0 %1\n"
     "root build local(\"x\") %0\n",
     "[specs(x) for x in f] == [[('local', 'x')], [('do',), ('local', 'x')]]"},
    {"%0 = int 1\n%1 = deque %0\n%2 = int 2\ndo append %1 %2\n", "list(o[1]) == [1, 2]"},
    {"%0 = tuple\ndo append %0 %0\n", "o[0] == ()"},
    {"%0 = int 7\n%1 = list %0 %0 %0\n%2 = int -1\ndo setitem %1 %2 %2\n", "o[1] == [7, 7, -1]"},
    {"%0 = int 7\n%1 = list %0\n%2 = bigint 1180591620717411303424\ndo setitem %1 %2 %2\n",
     "o[1] == [2**70]"},
    {"%0 = list\n%1 = int 0\ndo setitem %0 %1 %1\n", "o[0] == []"},
    {"%0 = dict\n%1 = str \"k\"\ndo setitem %0 %1 %0\n", "o[0]['k'] is o[0]"},
    {"%0 = ordered_dict\n%1 = list\ndo setitem %0 %1 %1\n", "len(o[0]) == 0"},
    {"%0 = int 7\n%1 = list %0 %0\n%2 = int 5\ndo delitem %1 %2\n", "o[1] == [7]"},
    {"%0 = int 1\n%1 = dict %0: %0\ndo delitem %1 %0\ndo delitem %1 %0\n", "o[1] == {}"},
    {"%0 = int 1\n%1 = list %0\n%2 = dict %0: %0\n%3 = set %0\n%4 = ordered_dict %0: %0\n"
     "do clear %1\ndo clear %2\ndo clear %3\ndo clear %4\ndo clear %0\n",
     "o[1:] == ([], {}, set(), {})"},
    {"%0 = object Plain\n%1 = int 1\ndo setattr %0 \"x\" %1\n", "vars(o[0]) == {'x': 1}"},
    {"%0 = object CustomSetattr\n%1 = int 1\nframe\nroot build local(\"x\") %0\n"
     "do setattr %0 \"x\" %1\n",
     "run(f[0]) and o[0].x == 1 and u == ['0.__setattr__']"},
    {"%0 = tensor float32[2]\n%1 = int 1\ndo setattr %0 \"note\" %1\n", "o[0].note == 1"},
    {"%0 = nn_module Linear\n%1 = bool false\ndo setattr %0 \"training\" %1\n",
     "not o[0].training"},
    {"%0 = module Block\n%1 = int 1\ndo setattr %0 \"x\" %1\n", "o[0].x == 1"},
    {"%0 = nn_module Linear\n%1 = function double\ndo patch_forward %0 %1\n",
     "o[0].__dict__['forward'] is objects.double"},
    {"%0 = module Block\n%1 = module abstract\ndo mark_class_dynamic %0\n",
     "objects.Block in tracker().dynamic_classes and objects.Abstract not in "
     "tracker().dynamic_classes"},
    {"%0 = module Block\ndo make_new %0\n", "tracker().check(o[0])"},
    {"%0 = list\ndo make_new %0\ndo mark_class_dynamic %0\ndo patch_forward %0 %0\n", "o[0] == []"},
    /* What was only looked up belongs to the process. */
    {"%0 = class Plain\n%1 = int 1\ndo setattr %0 \"zz\" %1\n", "not hasattr(objects.Plain, 'zz')"},
    {"%0 = function scale\ndo setattr %0 \"zz\" %0\n", "not hasattr(objects.scale, 'zz')"},
    {"%0 = torch torch\ndo setattr %0 \"zz\" %0\n", "not hasattr(torch, 'zz')"},
    {"%0 = enum Color_RED\ndo setattr %0 \"zz\" %0\n", "not hasattr(o[0], 'zz')"},
    /* Gradients make no cycle. */
    {"%0 = tensor float32[2] grad\n%1 = tensor float32[2] grad\ndo setattr %0 \"grad\" %1\n"
     "do setattr %1 \"grad\" %0\n",
     "o[0].grad is o[1] and o[1].grad is None"},
    {"%0 = tensor float32[2]\n%1 = int 1\ndo setattr %0 \"shape\" %1\n", "o[0].shape == (2,)"},
    {"%0 = tensor float32[2, 3]\ndo mark_dynamic %0 1\ndo mark_dynamic %0 0\n",
     "o[0]._dynamo_dynamic_indices == {0, 1}"},
    {"%0 = tensor float32[2, 3]\ndo mark_weak_dynamic %0 1\n",
     "o[0]._dynamo_weak_dynamic_indices == {1}"},
    {"%0 = tensor float32[2, 3]\ndo mark_static %0 0\n", "o[0]._dynamo_static_indices == {0}"},
    {"%0 = tensor float32[2, 3]\ndo mark_static_address %0 1\n",
     "o[0]._dynamo_static_input_type == 'guarded'"},
    {"%0 = tensor float32[2, 3]\ndo mark_static_address %0 0\n",
     "o[0]._dynamo_static_input_type == 'unguarded'"},
    {"%0 = object Plain\ndo mark_dynamic %0 0\n", "vars(o[0]) == {}"},
    {"%0 = int 1\n%1 = int 2\n%2 = list %0 %1\n%3 = deque %0 %1\ndo reverse %2\ndo reverse %3\n",
     "o[2] == [2, 1] and list(o[3]) == [2, 1]"},
    {"%0 = int 1\n%1 = int 2\n%2 = ordered_dict %0: %0, %1: %1\ndo move_to_end %2 %0\n"
     "do move_to_end %2 %2\n",
     "list(o[2]) == [2, 1]"},
};

/* A change keeps its operands alive, and nothing but the frames keeps a change. */
static void
changes_go_with_the_program(void **state)
{
    static char const program[] =
        "%0 = list\n%1 = object Plain\nframe\nroot build local(\"x\") %0\ndo append %0 %1\n";
    td_live_t  live;
    td_audit_t audit;
    Py_ssize_t was  = 0;
    Py_ssize_t now  = 0;
    PyObject  *kept = NULL; /* owned */

    (void)state;
    live_make(program, &live);
    kept = Py_NewRef(live.objects);
    assert_int_equal(td_audit_init(&audit, kept), TD_OK);
    td_live_clear(&live);
    assert_int_equal(td_audit_refs_differ(&audit, &was, &now), 0); /* the list: root and do step */
    assert_int_equal(was - now, 2);
    assert_int_equal(Py_REFCNT(PyTuple_GET_ITEM(kept, 1)), 1); /* the tuple alone */
    td_audit_clear(&audit);
    Py_DECREF(kept);
}

static void
rows_hold(void **state)
{
    (void)state;
    LIVE_ROWS_CHECK(rows);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(rows_hold),
        cmocka_unit_test(changes_go_with_the_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
