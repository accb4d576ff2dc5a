/* test_td_gen_node.c: objects vary in all they can. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen/td_gen_private.h"
#include "gen_programs.h"

/* Nodes of one kind among many programs: what on counts of them. */
static uint32_t
count_nodes(char const *only, bool (*counts)(td_prog_t const *, td_node_t const *), uint32_t *cnt)
{
    td_weights_t weights = weights_only(only);
    uint32_t     found   = 0;

    *cnt = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        td_prog_t prog = generated(seed, &weights);

        for (uint32_t i = 0; i < prog.node_cnt; i++) {
            found += counts(&prog, &prog.nodes[i]);
            ++*cnt;
        }
        td_prog_clear(&prog);
    }
    return found;
}

static bool
is_small_int(td_prog_t const *prog, td_node_t const *node)
{
    (void)prog;
    return node->i >= -3 && node->i <= 12;
}

static bool
is_huge_int(td_prog_t const *prog, td_node_t const *node)
{
    (void)prog;
    return node->i > INT32_MAX || node->i < INT32_MIN;
}

static bool
has_no_dims(td_prog_t const *prog, td_node_t const *node)
{
    (void)prog;
    return node->tensor.dim_cnt == 0;
}

static bool
is_empty(td_prog_t const *prog, td_node_t const *node)
{
    (void)prog;
    return node->kind == TD_KIND_LIST && node->edge_cnt == 0;
}

static bool
has_list_inside(td_prog_t const *prog, td_node_t const *node)
{
    for (int i = 0; i < node->edge_cnt; i++) {
        if (prog->nodes[node->edge[i]].kind == TD_KIND_LIST) {
            return true;
        }
    }
    return false;
}

static bool
has_equal_keys(td_prog_t const *prog, td_node_t const *node)
{
    for (int i = 0; node->kind == TD_KIND_DICT && i + 2 < node->edge_cnt; i += 2) {
        for (int j = i + 2; j < node->edge_cnt; j += 2) {
            td_node_t const *left  = &prog->nodes[node->edge[i]],
                            *right = &prog->nodes[node->edge[j]];

            if (left->kind == TD_KIND_INT && right->kind == TD_KIND_INT && left->i == right->i) {
                return true;
            }
        }
    }
    return false;
}

static void
require_between(uint32_t found, uint32_t cnt, uint32_t percent_min, uint32_t percent_max)
{
    assert_true(cnt > 1000);
    assert_in_range(100 * found / cnt, percent_min, percent_max);
}

static void
values_are_drawn_from_all_over(void **state)
{
    uint32_t cnt, found;

    (void)state;
    found = count_nodes("kind:int,static", is_small_int, &cnt);
    require_between(found, cnt, 60, 90);
    found = count_nodes("kind:int,static", is_huge_int, &cnt);
    require_between(found, cnt, 5, 30);
    found = count_nodes("kind:tensor,export", has_no_dims, &cnt);
    require_between(found, cnt, 3, 25);
    found = count_nodes("kind:list,kind:int", is_empty, &cnt);
    require_between(found, cnt, 1, 15);
    found = count_nodes("kind:list", has_list_inside, &cnt);
    require_between(found, cnt, 60, 99);
    found = count_nodes("kind:dict,kind:int", has_equal_keys, &cnt);
    require_between(found, cnt, 0, 8);
}

/* A generator with a few nodes to point at. */
static td_gen_t *
generator(td_prog_t *prog, td_weights_t const *weights)
{
    td_gen_t *gen;

    td_prog_init(prog);
    gen = td_gen_new(prog, 1, 4096, weights);
    assert_non_null(gen);
    return gen;
}

static void
an_int_that_is_there_is_found(void **state)
{
    td_weights_t weights;
    td_prog_t    prog;
    td_gen_t    *gen;

    (void)state;
    td_weights_init(&weights);
    gen = generator(&prog, &weights);
    assert_int_equal(td_gen_int(gen, 7), 0);
    assert_int_equal(td_gen_int(gen, 8), 1);
    assert_int_equal(td_gen_int(gen, 7), 0);
    assert_int_equal(prog.node_cnt, 2);
    assert_int_equal(td_gen_end(gen), TD_OK);
    td_prog_clear(&prog);
}

static void
unused_nodes_are_picked_first(void **state)
{
    td_weights_t weights;
    td_prog_t    prog;
    td_gen_t    *gen;
    uint32_t     unused = 0;

    (void)state;
    td_weights_init(&weights);
    weights.share_percent = 0;
    gen                   = generator(&prog, &weights);
    for (int i = 0; i < 10; i++) {
        td_gen_int(gen, i);
        if (i % 2 == 0) {
            td_gen_use(gen, (uint16_t)i);
        }
    }
    for (int i = 0; i < 1000; i++) {
        unused += td_gen_pick(gen) % 2 != 0;
    }
    assert_true(unused > 900);
    assert_int_equal(td_gen_end(gen), TD_OK);
    td_prog_clear(&prog);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(values_are_drawn_from_all_over),
        cmocka_unit_test(an_int_that_is_there_is_found),
        cmocka_unit_test(unused_nodes_are_picked_first),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
