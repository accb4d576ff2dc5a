/* test_td_gen.c: the generator keeps its promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen/td_stats.h"
#include "gen_programs.h"

enum { PROGRAM_CNT = 4000 };

/* Mixes of PROGRAM_CNT programs; every one is valid and comes back from its text. */
static td_stats_t
mix_of(td_weights_t const *weights)
{
    td_stats_t stats;

    td_stats_init(&stats);
    for (uint64_t seed = 0; seed < PROGRAM_CNT; seed++) {
        td_prog_t prog = generated(seed, weights);

        require_valid(&prog, 4096);
        assert_true(td_stats_add(&stats, &prog));
        td_prog_clear(&prog);
    }
    return stats;
}

static void
every_thing_is_generated(void **state)
{
    td_weights_t weights;
    td_stats_t   stats;

    (void)state;
    td_weights_init(&weights);
    stats = mix_of(&weights);
    for (int tag = 0; tag < TD_WEIGHTS_KIND_CNT; tag++) {
        assert_true(stats.kind[tag] != 0 || td_kind_info((uint8_t)tag) == NULL);
    }
    for (int tag = 0; tag < TD_WEIGHTS_SOURCE_CNT; tag++) {
        assert_true(stats.source[tag] != 0 || td_source_info((uint8_t)tag) == NULL);
    }
    for (int tag = 0; tag < TD_WEIGHTS_ENTRY_CNT; tag++) {
        assert_true(stats.entry[tag] != 0 || td_entry_info((uint8_t)tag) == NULL);
    }
    for (int tag = 0; tag < TD_WEIGHTS_DO_CNT; tag++) {
        assert_true(stats.change[tag] != 0 || td_do_info((uint8_t)tag) == NULL);
    }
    for (int tag = 0; tag < TD_LAYOUT_CNT; tag++) {
        assert_true(stats.layout[tag] != 0);
    }
    for (size_t key = 0; key < td_config_cnt(); key++) {
        for (size_t value = 0; value < td_config_value_cnt(key); value++) {
            assert_true(stats.config[key][value] != 0);
        }
    }
    assert_true(stats.export_cnt != 0);
}

static void
require_share(char const *what, uint64_t count, uint64_t percent_min)
{
    print_message("%s: %.1f %%\n", what, 100.0 * (double)count / PROGRAM_CNT);
    assert_true(count * 100 >= percent_min * PROGRAM_CNT);
}

static void
the_mix_is_what_is_asked_for(void **state)
{
    td_weights_t weights = weights_only(DONE_FAMILIES);
    td_stats_t   stats   = mix_of(&weights);

    (void)state;
    print_message("median program: %u objects\n", td_stats_median_objects(&stats));
    assert_true(td_stats_median_objects(&stats) >= 8);
    require_share("sharing", stats.shared_cnt, 25);
    require_share("two frames or more", stats.frames_cnt, 25);
    require_share("aliases", stats.alias_cnt, 15);
    require_share("changes", stats.changed_cnt, 20);
    require_share("duplicates", stats.duplicate_cnt, 3);
    require_share("containers in containers", stats.nested_cnt, 25);
    require_share("cycles", stats.cycle_cnt, 0);
    assert_true(stats.cycle_cnt != 0);
    assert_true(stats.cycle_cnt * 200 <= PROGRAM_CNT); /* both sides end in a RecursionError */
    for (int tag = 0; tag < TD_WEIGHTS_KIND_CNT; tag++) {
        assert_true(stats.kind[tag] == 0 || weights.kind[tag] != 0 || tag == TD_KIND_NONE);
        assert_true(stats.kind[tag] >= PROGRAM_CNT / 50 || weights.kind[tag] == 0);
    }
}

/* What a swarm leaves out is not made either, though it may be in a program. */
static void
require_no_kind_that_is_off(td_prog_t const *prog, td_weights_t const *weights)
{
    for (uint32_t i = 0; i < prog->node_cnt; i++) {
        uint8_t kind = prog->nodes[i].kind;

        assert_true(weights->kind[kind] != 0 || kind == TD_KIND_NONE);
    }
}

static void
what_is_off_stays_away(void **state)
{
    td_weights_t weights =
                     weights_only(DONE_FAMILIES ",plainkeys,-builtin.intern,-function.checkpoint"),
                 swarm;

    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        td_prog_t prog;
        bool      allowed = false;

        td_weights_swarm(&weights, seed / 20, &swarm);
        prog = generated(seed, &swarm);
        require_no_kind_that_is_off(&prog, &swarm);
        assert_int_equal(td_trim_allowed(&prog, &swarm, &allowed), TD_OK);
        if (!allowed) {
            require_text(&prog, "this program is not allowed");
        }
        td_prog_clear(&prog);
    }
}

static void
twenty_thousand_come_back_from_their_text(void **state)
{
    td_weights_t weights, swarm;

    (void)state;
    td_weights_init(&weights);
    for (uint64_t seed = 0; seed < 20000; seed++) {
        td_prog_t    prog, again;
        td_refusal_t refusal = {.what = ""};
        char        *text;

        if (seed % 100 == 0) {
            td_weights_swarm(&weights, seed, &swarm);
        }
        td_prog_init(&prog);
        td_prog_init(&again);
        assert_int_equal(td_gen(&prog, seed, 1024, 1 + (uint32_t)(seed % 12), &swarm), TD_OK);
        text = td_prog_disasm(&prog);
        assert_int_equal(td_prog_asm(text, strlen(text), &again, &refusal), TD_OK);
        assert_true(same_programs(&prog, &again));
        td_free(text);
        td_prog_clear(&prog);
        td_prog_clear(&again);
    }
}

static void
a_seed_gives_the_same_program(void **state)
{
    td_weights_t weights;
    uint32_t     different = 0;

    (void)state;
    td_weights_init(&weights);
    for (uint64_t seed = 0; seed < 300; seed++) {
        td_prog_t first = generated(seed, &weights), second = generated(seed, &weights);
        td_prog_t other = generated(seed + 1, &weights);

        assert_true(same_programs(&first, &second));
        different += !same_programs(&first, &other);
        td_prog_clear(&first);
        td_prog_clear(&second);
        td_prog_clear(&other);
    }
    assert_true(different >= 298);
}

static void
sizes_are_kept(void **state)
{
    static size_t const sizes[] = {TD_PROG_SZ_MIN,  10,      12, 20, 50, 200, 1000,
                                   TD_INPUT_SZ_MAX, SIZE_MAX};
    td_weights_t        weights;
    td_prog_t           prog;

    (void)state;
    td_weights_init(&weights);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (uint64_t seed = 0; seed < 200; seed++) {
            td_prog_init(&prog);
            assert_int_equal(td_gen(&prog, seed, sizes[i], 0, &weights), TD_OK);
            require_valid(&prog, sizes[i]);
            td_prog_clear(&prog);
        }
    }
    td_prog_init(&prog);
    assert_int_equal(td_gen(&prog, 1, TD_PROG_SZ_MIN - 1, 0, &weights), TD_LIMIT);
}

static void
as_many_nodes_as_asked_for(void **state)
{
    td_weights_t weights;

    (void)state;
    td_weights_init(&weights);
    for (uint32_t cnt = 1; cnt <= 3000; cnt = cnt * 5 + 1) {
        td_prog_t prog;

        td_prog_init(&prog);
        assert_int_equal(td_gen(&prog, cnt, SIZE_MAX, cnt, &weights), TD_OK);
        assert_in_range(prog.node_cnt, cnt, cnt + 60); /* and what keys and changes brought */
        require_valid(&prog, TD_INPUT_SZ_MAX);
        td_prog_clear(&prog);
    }
}

static void
one_kind_alone_will_do(void **state)
{
    (void)state;
    for (int tag = 0; tag < TD_WEIGHTS_KIND_CNT; tag++) {
        td_weights_t weights;
        char         why[200], word[80];
        bool         allowed = false;

        if (td_kind_info((uint8_t)tag) == NULL) {
            continue;
        }
        td_weights_init(&weights);
        snprintf(word, sizeof word, "kind:%s", td_kind_info((uint8_t)tag)->name);
        assert_int_equal(td_weights_only(&weights, word, why), TD_OK);
        for (uint64_t seed = 0; seed < 30; seed++) {
            td_prog_t prog = generated(seed, &weights);

            require_valid(&prog, 4096);
            assert_int_equal(td_trim_allowed(&prog, &weights, &allowed), TD_OK);
            assert_true(allowed);
            td_prog_clear(&prog);
        }
    }
}

static void
every_allocation_may_fail(void **state)
{
    int64_t      before = td_alloc_live_cnt();
    td_weights_t weights;

    (void)state;
    td_weights_init(&weights);
    for (uint64_t seed = 0; seed < 20; seed++) {
        bool fired = true;

        for (uint64_t nth = 1; fired; nth++) {
            td_prog_t   prog;
            td_status_t status;

            td_prog_init(&prog);
            td_nomem_arm(nth);
            status = td_gen(&prog, seed, seed < 10 ? 4096 : 60, 0, &weights);
            fired  = td_nomem_disarm();
            assert_int_equal(status, fired ? TD_NOMEM : TD_OK);
            td_prog_clear(&prog);
            assert_int_equal(td_alloc_live_cnt(), before);
        }
    }
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_thing_is_generated),
        cmocka_unit_test(the_mix_is_what_is_asked_for),
        cmocka_unit_test(what_is_off_stays_away),
        cmocka_unit_test(twenty_thousand_come_back_from_their_text),
        cmocka_unit_test(a_seed_gives_the_same_program),
        cmocka_unit_test(sizes_are_kept),
        cmocka_unit_test(as_many_nodes_as_asked_for),
        cmocka_unit_test(one_kind_alone_will_do),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
