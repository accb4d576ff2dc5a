/* test_td_replay.c: a replay without changes gives the same program; with some,
   everything else keeps its meaning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen/td_replay.h"
#include "gen_programs.h"

static td_weights_t weights;

/* Replays all records of from but those in [skip_from, skip_to); before record 0
   two nodes are put, so that every index shifts. */
static td_prog_t
replayed(td_prog_t const *from, bool shift, uint32_t skip_from, uint32_t skip_to)
{
    td_prog_t   to;
    td_gen_t   *gen;
    td_replay_t replay;

    td_prog_init(&to);
    gen = td_gen_new(&to, 1, TD_INPUT_SZ_MAX, &weights);
    assert_non_null(gen);
    assert_true(td_replay_init(&replay, gen, from));
    for (int i = 0; shift && i < 2; i++) {
        td_gen_int(gen, 100 + i);
    }
    for (uint32_t r = 0; r < from->order_cnt; r++) {
        if (r >= skip_from && r < skip_to) {
            td_replay_skip(&replay, r);
        } else {
            td_replay_record(&replay, r);
        }
    }
    td_gen_need_root(gen);
    td_replay_clear(&replay);
    assert_int_equal(td_gen_end(gen), TD_OK);
    return to;
}

static void
nothing_done_is_nothing_changed(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        td_prog_t from = generated(seed, &weights), to = replayed(&from, false, 0, 0);

        assert_true(same_programs(&from, &to));
        td_prog_clear(&from);
        td_prog_clear(&to);
    }
}

static void
indices_keep_their_meaning(void **state)
{
    td_prog_t from =
        program("%0 = str \"k\"\n%1 = list %0\n%2 = tensor int8[2]\nframe\n"
                "root build local(\"x\") %1\nroot build item(local(\"x\"), %0) %0\n"
                "root fxcall %1 (ref 1, %0)\ndo append %1 %0\nconstraint %2 dim 0 in 1..2\n");
    td_prog_t to = replayed(&from, true, 0, 0);

    (void)state;
    require_text(
        &to,
        "%0 = int 100\n%1 = int 101\n%2 = str \"k\"\n%3 = list %2\n%4 = tensor int8[2]\nframe\n"
        "  root build local(\"x\") %3\n  root build item(local(\"x\"), %2) %2\n"
        "  root fxcall %3 (ref 1, %2)\n  do append %3 %2\n  constraint %4 dim 0 in 1..2\n");
    td_prog_clear(&from);
    td_prog_clear(&to);
}

static void
what_is_left_out_has_a_stand_in(void **state)
{
    td_prog_t from = program(
        "%0 = int 5\n%1 = list %0\nframe\nroot sourceless %1\nroot fxmethod \"add\" (ref 0)\n");
    td_prog_t no_node, no_frame, no_root;

    (void)state;
    no_node = replayed(&from, false, 1, 2); /* %1: another node in its place */
    require_text(&no_node,
                 "%0 = int 5\nframe\n  root sourceless %0\n  root fxmethod \"add\" (ref 0)\n");
    no_frame = replayed(&from, false, 2, 3); /* its mark: the roots need one */
    assert_true(same_programs(&no_frame, &from));
    no_root = replayed(&from, false, 3, 4);
    require_text(&no_root, "%0 = int 5\n%1 = list %0\nframe\n  root fxmethod \"add\" ()\n");
    td_prog_clear(&no_root);
    td_prog_clear(&no_frame);
    td_prog_clear(&no_node);
    td_prog_clear(&from);
}

static void
any_part_may_be_left_out(void **state)
{
    td_rng_t rng;

    (void)state;
    td_rng_init(&rng, 4);
    for (uint64_t seed = 0; seed < 500; seed++) {
        td_prog_t from  = generated(seed, &weights);
        uint32_t  first = (uint32_t)td_rng_below(&rng, from.order_cnt);
        td_prog_t to =
            replayed(&from, seed % 2 == 0, first, first + (uint32_t)td_rng_below(&rng, 10));

        require_valid(&to, TD_INPUT_SZ_MAX);
        td_prog_clear(&to);
        td_prog_clear(&from);
    }
}

static bool
becomes_list(td_replay_t *replay, td_node_t *node)
{
    (void)replay;
    node->kind     = TD_KIND_LIST;
    node->edge_cnt = 0;
    return true;
}

/* A view of an ordered_dict that no longer is one becomes None; so does nothing else. */
static void
what_no_longer_fits_becomes_the_nearest(void **state)
{
    td_prog_t   from = program("%0 = ordered_dict\n%1 = odict_values %0\n%2 = int 1\nframe\n"
                                 "root build item(local(\"x\"), %2) %1\n");
    td_prog_t   to;
    td_gen_t   *gen;
    td_replay_t replay;

    (void)state;
    for (uint32_t at = 0; at <= 2; at += 2) {
        td_prog_init(&to);
        gen = td_gen_new(&to, 1, TD_INPUT_SZ_MAX, &weights);
        assert_true(td_replay_init(&replay, gen, &from));
        replay.at_node = at;
        replay.on_node = becomes_list;
        for (uint32_t r = 0; r < from.order_cnt; r++) {
            td_replay_record(&replay, r);
        }
        td_replay_clear(&replay);
        assert_int_equal(td_gen_end(gen), TD_OK);
        require_text(&to, at == 0 ? "%0 = list\n%1 = none\n%2 = int 1\nframe\n  root build "
                                    "item(local(\"x\"), %2) %1\n"
                                  : "%0 = ordered_dict\n%1 = odict_values %0\n%2 = list\nframe\n"
                                    "  root build local(\"x\") %1\n");
        td_prog_clear(&to);
    }
    td_prog_clear(&from);
}

static int
set_up(void **state)
{
    (void)state;
    td_weights_init(&weights);
    return 0;
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(nothing_done_is_nothing_changed),
        cmocka_unit_test(indices_keep_their_meaning),
        cmocka_unit_test(what_is_left_out_has_a_stand_in),
        cmocka_unit_test(any_part_may_be_left_out),
        cmocka_unit_test(what_no_longer_fits_becomes_the_nearest),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
