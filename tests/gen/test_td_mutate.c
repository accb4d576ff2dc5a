/* test_td_mutate.c: every mutator makes valid programs, and does what it says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen/td_mutate.h"
#include "gen_programs.h"

enum { ROUND_CNT = 200 };

static void
every_mutator_has_its_row(void **state)
{
    static char const *const published[] = {
        "payload",    "nudge",       "kind",        "edge",        "edge_add",   "edge_drop",
        "node_add",   "node_drop",   "root_add",    "root_alias",  "root_node",  "root_drop",
        "source_top", "source_name", "frame_again", "frame_split", "frame_drop", "change_add",
        "config_set", "config_drop", "tail_drop",   "byte",
    };

    (void)state;
    assert_int_equal(sizeof published / sizeof *published, TD_MUTATOR_CNT);
    for (int i = 0; i < TD_MUTATOR_CNT; i++) {
        td_mutator_info_t const *info = td_mutator_info((td_mutator_t)i);

        assert_string_equal(info->name, published[i]); /* finding records name them */
        assert_true(info->weight != 0 && info->meaning[0] != '\0');
    }
}

/* What a mutator did to programs, over all rounds. */
typedef struct {
    uint32_t changed, more, less; /* nodes, edges, steps and settings together */
} effect_t;

static uint32_t
size_of(td_prog_t const *prog)
{
    uint32_t size =
        prog->node_cnt + prog->step_cnt + prog->setting_cnt + prog->export_mode + prog->source_cnt;

    for (uint32_t i = 0; i < prog->node_cnt; i++) {
        size += prog->nodes[i].edge_cnt;
    }
    return size;
}

static effect_t
effect_of(td_mutator_t mutator, td_weights_t const *weights)
{
    effect_t effect = {0};

    for (uint64_t seed = 0; seed < ROUND_CNT; seed++) {
        td_prog_t from = generated(seed, weights), to;

        td_prog_init(&to);
        assert_int_equal(td_mutate_with(mutator, &from, seed, 4096, weights, &to), TD_OK);
        require_valid(&to, 4096);
        effect.changed += !same_programs(&from, &to);
        effect.more += size_of(&to) > size_of(&from);
        effect.less += size_of(&to) < size_of(&from);
        td_prog_clear(&from);
        td_prog_clear(&to);
    }
    return effect;
}

static void
every_mutator_does_what_it_says(void **state)
{
    td_weights_t weights;

    (void)state;
    td_weights_init(&weights);
    for (int i = 0; i < TD_MUTATOR_CNT; i++) {
        td_mutator_info_t const *info   = td_mutator_info((td_mutator_t)i);
        effect_t                 effect = effect_of((td_mutator_t)i, &weights);

        print_message("%-12s changed %3u, grew %3u, shrank %3u of %d\n", info->name, effect.changed,
                      effect.more, effect.less, ROUND_CNT);
        assert_true(effect.changed >= ROUND_CNT / 4);
        if (info->effect == TD_EFFECT_GROW) {
            assert_true(effect.more > effect.less * 10);
        } else if (info->effect == TD_EFFECT_SHRINK) {
            assert_true(effect.less > effect.more * 10);
        }
    }
}

static void
the_smallest_program_can_take_any(void **state)
{
    td_weights_t weights;

    (void)state;
    td_weights_init(&weights);
    for (int i = 0; i < TD_MUTATOR_CNT; i++) {
        for (uint64_t seed = 0; seed < 20; seed++) {
            td_prog_t from = program("%0 = none\nframe\nroot build local(\"x\") %0\n"), to;

            td_prog_init(&to);
            assert_int_equal(td_mutate_with((td_mutator_t)i, &from, seed, 12, &weights, &to),
                             TD_OK);
            require_valid(&to, 12);
            td_prog_clear(&to);
            td_prog_clear(&from);
        }
    }
}

/* The largest program there is: what a mutator adds may not fit. */
static void
a_full_program_can_take_any(void **state)
{
    static uint8_t bytes[TD_INPUT_SZ_MAX];
    td_weights_t   weights;
    td_prog_t      from;

    (void)state;
    td_weights_init(&weights);
    for (uint8_t fill = 0; fill < 2; fill++) {
        memset(bytes, fill == 0 ? 0x0A : 0xE1, sizeof bytes); /* lists; texts and much else */
        td_prog_init(&from);
        assert_int_equal(td_prog_repair(bytes, sizeof bytes, &from, NULL), TD_OK);
        for (int i = 0; i < TD_MUTATOR_CNT; i++) {
            td_prog_t to;

            td_prog_init(&to);
            assert_int_equal(td_mutate_with((td_mutator_t)i, &from, 1, SIZE_MAX, &weights, &to),
                             TD_OK);
            require_valid(&to, TD_INPUT_SZ_MAX);
            td_prog_clear(&to);
        }
        td_prog_clear(&from);
    }
}

static void
every_allocation_may_fail(void **state)
{
    td_weights_t weights;
    td_prog_t    from;
    int64_t      before;

    (void)state;
    td_weights_init(&weights);
    from   = generated(5, &weights);
    before = td_alloc_live_cnt();
    for (int i = 0; i < TD_MUTATOR_CNT; i++) {
        bool fired = true;

        for (uint64_t nth = 1; fired; nth++) {
            td_prog_t   to;
            td_status_t status;

            td_prog_init(&to);
            td_nomem_arm(nth);
            status = td_mutate_with((td_mutator_t)i, &from, 1, 4096, &weights, &to);
            fired  = td_nomem_disarm();
            assert_int_equal(status, fired ? TD_NOMEM : TD_OK);
            td_prog_clear(&to);
            assert_int_equal(td_alloc_live_cnt(), before);
        }
    }
    td_prog_clear(&from);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_mutator_has_its_row),
        cmocka_unit_test(every_mutator_does_what_it_says),
        cmocka_unit_test(the_smallest_program_can_take_any),
        cmocka_unit_test(a_full_program_can_take_any),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
