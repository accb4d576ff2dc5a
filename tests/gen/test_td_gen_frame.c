/* test_td_gen_frame.c: roots come from where real ones come from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen_programs.h"

/* Whether an item's source is that of something that the container really holds:
   some root of the same program is built from its base. */
static bool
is_real_item(td_prog_t const *prog, td_src_t const *src)
{
    for (uint32_t i = 0; i < prog->step_cnt; i++) {
        td_step_t const *step = &prog->steps[i];

        if (step->kind == TD_STEP_ROOT && step->op == TD_ENTRY_BUILD && step->source == src->base &&
            prog->nodes[step->node].edge_cnt != 0) {
            return true;
        }
    }
    return false;
}

static void
items_are_mostly_of_containers_that_are_there(void **state)
{
    td_weights_t weights;
    uint32_t     item_cnt = 0, real_cnt = 0;

    (void)state;
    td_weights_init(&weights);
    for (uint64_t seed = 0; seed < 2000; seed++) {
        td_prog_t prog = generated(seed, &weights);

        for (uint32_t i = 0; i < prog.source_cnt; i++) {
            if (prog.sources[i].kind == TD_SOURCE_ITEM) {
                item_cnt++;
                real_cnt += is_real_item(&prog, &prog.sources[i]);
            }
        }
        td_prog_clear(&prog);
    }
    assert_true(item_cnt > 300);
    assert_true(real_cnt * 2 > item_cnt);
}

/* Roots of frame nth whose source stands in the frame before too; of those the
   ones with the same object. */
static void
count_again(td_prog_t const *prog, uint32_t *roots, uint32_t *again, uint32_t *same)
{
    uint32_t frame = 0, first[TD_FRAME_CNT_MAX + 1] = {0};

    for (uint32_t i = 0; i < prog->step_cnt; i++) {
        td_step_t const *step = &prog->steps[i];

        if (step->kind == TD_STEP_FRAME) {
            first[++frame] = i;
        }
        if (step->kind != TD_STEP_ROOT || step->op != TD_ENTRY_BUILD || frame < 2) {
            continue;
        }
        ++*roots;
        for (uint32_t j = first[frame - 1]; j < first[frame]; j++) {
            td_step_t const *other = &prog->steps[j];

            if (other->kind == TD_STEP_ROOT && other->op == TD_ENTRY_BUILD &&
                other->source == step->source) {
                ++*again;
                *same += other->node == step->node;
                break;
            }
        }
    }
}

static void
later_frames_have_the_same_names(void **state)
{
    td_weights_t weights;
    uint32_t     roots = 0, again = 0, same = 0;

    (void)state;
    td_weights_init(&weights);
    for (uint64_t seed = 0; seed < 1000; seed++) {
        td_prog_t prog = generated(seed, &weights);

        count_again(&prog, &roots, &again, &same);
        td_prog_clear(&prog);
    }
    assert_true(again * 2 > roots);
    assert_true(same * 2 > again);
    assert_true(same <
                again); /* and now and then another object: that is how things become dynamic */
}

static void
names_are_what_variables_are_called(void **state)
{
    td_weights_t weights = weights_only("int,source:local");
    uint32_t     cnt = 0, usual = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        td_prog_t prog = generated(seed, &weights);

        for (uint32_t i = 0; i < prog.source_cnt; i++, cnt++) {
            td_text_t name = prog.sources[i].name;

            usual += name.sz != 0 &&
                     strspn(name.bytes, "abcdefghijklmnopqrstuvwxyz_0123456789") == name.sz;
        }
        td_prog_clear(&prog);
    }
    assert_true(usual * 10 > cnt * 8);
    assert_true(usual < cnt);
}

static void
constraints_come_with_export(void **state)
{
    td_weights_t weights = weights_only("tensor,export");
    uint32_t     with = 0, tied = 0;

    (void)state;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        td_prog_t prog = generated(seed, &weights);

        for (uint32_t i = 0; i < prog.step_cnt; i++) {
            if (prog.steps[i].kind == TD_STEP_CONSTRAINT) {
                assert_true(prog.export_mode);
                with++;
                tied += prog.steps[i].tied;
            }
        }
        td_prog_clear(&prog);
    }
    assert_true(with > 10);
    assert_true(tied != 0 && tied < with);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(items_are_mostly_of_containers_that_are_there),
        cmocka_unit_test(later_frames_have_the_same_names),
        cmocka_unit_test(names_are_what_variables_are_called),
        cmocka_unit_test(constraints_come_with_export),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
