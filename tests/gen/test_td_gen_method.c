/* test_td_gen_method.c: functions are called with what they take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen/td_gen_private.h"
#include "gen_programs.h"
#include "graph/td_rules.h"

enum { SEEDS = 1500, ROOT_MAX = 256, METHOD_MAX = 32 };

typedef struct {
    uint32_t calls[METHOD_MAX];
    uint32_t inputs, misses; /* of GraphArg.load, where a root built a tensor: what it got */
} seen_t;

/* given_input says whether the call's one operand is a root that built a tensor. */
static bool
given_input(td_step_t const *step, bool const *built, uint32_t cnt)
{
    return step->arg_cnt == 1 && step->arg[0].is_ref && step->arg[0].idx < cnt &&
           built[step->arg[0].idx];
}

static size_t
method_of(td_text_t name)
{
    size_t idx = 0;

    while (strlen(td_method_name(idx)) != name.sz ||
           memcmp(td_method_name(idx), name.bytes, name.sz) != 0) {
        idx++;
    }
    return idx;
}

static void
look(td_prog_t const *prog, seen_t *seen)
{
    bool     built[ROOT_MAX] = {0}; /* a root: it built a tensor */
    uint32_t cnt             = 0;
    bool     any             = false;

    for (uint32_t i = 0; i < prog->step_cnt; i++) {
        td_step_t const *step = &prog->steps[i];

        if (step->kind == TD_STEP_FRAME) {
            cnt = 0;
            any = false;
        }
        if (step->kind != TD_STEP_ROOT) {
            continue;
        }
        if (step->op == TD_ENTRY_METHOD) {
            size_t idx = method_of(step->name);
            bool   is  = given_input(step, built, cnt);

            seen->calls[idx]++;
            seen->inputs += strcmp(td_method_name(idx), "GraphArg.load") == 0 && is;
            seen->misses += strcmp(td_method_name(idx), "GraphArg.load") == 0 && !is && any;
        }
        assert_true(cnt < ROOT_MAX);
        built[cnt] = step->op == TD_ENTRY_BUILD && td_rules_is_tensor(&prog->nodes[step->node]);
        any        = any || built[cnt++];
    }
}

static void
every_function_is_called_and_mostly_with_what_it_takes(void **state)
{
    td_weights_t weights = weights_only("entry:method,build,tensor,str,int,list");
    seen_t       seen    = {0};

    (void)state;
    weights.entry[TD_ENTRY_METHOD] = 20;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        td_prog_t prog = generated(seed, &weights);

        look(&prog, &seen);
        td_prog_clear(&prog);
    }
    assert_true(td_method_cnt() <= METHOD_MAX);
    for (size_t idx = 0; idx < td_method_cnt(); idx++) {
        assert_true(seen.calls[idx] > 5);
    }
    assert_true(seen.inputs > 5);
    assert_true(seen.inputs > 3 * seen.misses);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_function_is_called_and_mostly_with_what_it_takes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
