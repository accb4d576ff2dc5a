/* test_td_reference_run.c: frames, outcomes, arms and the depth they run at. */
#include "reference_runs.h"

#include "base/td_alloc.h"
#include "observe/td_obs.h"

static td_outcome_kind_t
kind_of(td_run_t const *run, size_t frame_idx, size_t step_idx)
{
    return run->frames[frame_idx].outcomes[step_idx].kind;
}

static bool
has_arm(td_run_t const *run, char const *id)
{
    td_reference_t *reference = runs_reference();

    for (size_t idx = 0; idx < td_reference_arm_cnt(reference); idx++) {
        if (strcmp(td_reference_arm_id(reference, idx), id) == 0) {
            return (run->arms[idx / 64] >> (idx % 64) & 1) != 0;
        }
    }
    fail_msg("no arm %s", id);
    return false;
}

static void
steps_have_outcomes(void **state)
{
    td_run_t run;

    (void)state;
    assert_int_equal(
        runs_make("[[(x, 5), (('do',), list), (('local', 'y'), [1]), (('fxcall', (('ref', 2),)), "
                  "len)], [(x, torch.ones(2)), (('fxcall', (('ref', 0),)), torch.sin)]]",
                  "{}", NULL, &run),
        TD_OK);
    assert_null(run.failed);
    assert_int_equal(run.frame_cnt, 2);
    assert_int_equal(run.frames[0].outcome_cnt, 4);
    assert_int_equal(kind_of(&run, 0, 0), TD_OUTCOME_TRACKER);
    assert_int_equal(kind_of(&run, 0, 1), TD_OUTCOME_DO);
    assert_int_equal(kind_of(&run, 0, 2), TD_OUTCOME_TRACKER);
    assert_int_equal(kind_of(&run, 0, 3), TD_OUTCOME_EXCEPTION);
    assert_string_equal(run.frames[0].outcomes[3].why, "Unsupported");
    assert_false(run.frames[0].outcomes[3].internal_error);
    assert_int_equal(kind_of(&run, 1, 0), TD_OUTCOME_TRACKER);
    assert_int_equal(kind_of(&run, 1, 1), TD_OUTCOME_TRACKER);
    assert_non_null(run.frames[0].bytes);
    assert_non_null(run.frames[1].bytes);
    td_run_clear(&run);
}

static void
the_same_program_gives_the_same_bytes(void **state)
{
    char const *text = "[[(x, {'a': [torch.rand(2, 3), 7, print]})], [(x, {'a': [torch.ones(4), 8, "
                       "len]})]]";
    td_run_t    first, other, again;

    (void)state;
    assert_int_equal(runs_make(text, "{}", NULL, &first), TD_OK);
    assert_int_equal(
        runs_make("[[(x, torch.nn.Linear(2, 2))]]", "{'specialize_int': True}", NULL, &other),
        TD_OK);
    assert_int_equal(runs_make(text, "{}", NULL, &again), TD_OK);
    assert_null(first.failed);
    assert_int_equal(first.frame_cnt, again.frame_cnt);
    for (size_t idx = 0; idx < first.frame_cnt; idx++) {
        assert_int_equal(first.frames[idx].bytes_sz, again.frames[idx].bytes_sz);
        assert_memory_equal(first.frames[idx].bytes, again.frames[idx].bytes,
                            first.frames[idx].bytes_sz);
    }
    assert_memory_equal(first.arms, again.arms, sizeof first.arms);
    assert_memory_not_equal(first.arms, other.arms, sizeof first.arms);
    td_run_clear(&first);
    td_run_clear(&other);
    td_run_clear(&again);
}

static void
arms_can_be_switched_off(void **state)
{
    static uint64_t const none[16];
    td_reference_t       *reference = runs_reference();
    td_run_t              on, off;

    (void)state;
    assert_int_equal(runs_make("[[(x, [1, 'a'])]]", "{}", NULL, &on), TD_OK);
    assert_int_equal(td_reference_watch_arms(reference, false), TD_OK);
    assert_int_equal(runs_make("[[(x, [1, 'a'])]]", "{}", NULL, &off), TD_OK);
    assert_int_equal(td_reference_watch_arms(reference, true), TD_OK);
    assert_memory_equal(off.arms, none, sizeof none);
    assert_memory_not_equal(on.arms, none, sizeof none);
    assert_string_equal(off.frames[0].outcomes[0].arm, "");
    assert_string_equal(on.frames[0].outcomes[0].function, "VariableBuilder.wrap_listlike");
    assert_true(has_arm(&on, on.frames[0].outcomes[0].arm));
    assert_int_equal(on.frames[0].bytes_sz, off.frames[0].bytes_sz);
    assert_memory_equal(on.frames[0].bytes, off.frames[0].bytes, off.frames[0].bytes_sz);
    td_run_clear(&on);
    td_run_clear(&off);
}

static void
a_limit_leaves_builds_out_but_no_do(void **state)
{
    size_t const   step_cnt[] = {1};
    td_run_limit_t limit      = {step_cnt, 1};
    td_run_t       run;

    (void)state;
    assert_int_equal(
        runs_make("[[(x, 5), (('local', 'y'), 6), (('do',), list)], [(x, 5)]]", "{}", &limit, &run),
        TD_OK);
    assert_int_equal(kind_of(&run, 0, 0), TD_OUTCOME_TRACKER);
    assert_int_equal(kind_of(&run, 0, 1), TD_OUTCOME_NOT_RUN);
    assert_int_equal(kind_of(&run, 0, 2), TD_OUTCOME_DO);
    assert_int_equal(kind_of(&run, 1, 0), TD_OUTCOME_TRACKER);
    td_run_clear(&run);
}

static void
what_breaks_outside_a_root_fails_the_run(void **state)
{
    td_run_t run;

    (void)state;
    assert_int_equal(
        runs_make("[[(x, 5), (('do',), raises), (('local', 'y'), 6)], [(x, 5)]]", "{}", NULL, &run),
        TD_OK);
    assert_non_null(run.failed);
    assert_non_null(strstr(run.failed, "planted"));
    assert_int_equal(kind_of(&run, 0, 2), TD_OUTCOME_NOT_RUN);
    td_run_clear(&run);
    /* and the next program is none the worse for it */
    assert_int_equal(runs_make("[[(x, 5)]]", "{}", NULL, &run), TD_OK);
    assert_null(run.failed);
    td_run_clear(&run);
}

static void
unknown_config_is_bad_input(void **state)
{
    td_run_t run;

    (void)state;
    assert_int_equal(runs_make("[[(x, 5)]]", "{'no_such_value': 1}", NULL, &run), TD_PYERR);
    assert_non_null(PyErr_Occurred());
    PyErr_Clear();
    td_run_clear(&run);
}

static void
faults_are_told_from_user_code(void **state)
{
    td_run_t run;

    (void)state;
    assert_int_equal(runs_make("[[(x, nest(400)), (('local', 'y'), Hostile())]]", "{}", NULL, &run),
                     TD_OK);
    assert_string_equal(run.frames[0].outcomes[0].why, "RecursionError");
    assert_true(run.frames[0].outcomes[0].internal_error);
    assert_string_equal(run.frames[0].outcomes[1].why, "KeyError");
    assert_false(run.frames[0].outcomes[1].internal_error);
    td_run_clear(&run);
}

/* ---- depth ---------------------------------------------------------------------- */

/* end_of finds how deep maker's nesting may be before a build ends in RecursionError. */
static int
end_of(char const *maker)
{
    int low = 100, high = 400;

    while (high - low > 1) {
        int      middle = (low + high) / 2;
        char     text[64];
        td_run_t run;

        snprintf(text, sizeof text, "[[(x, %s(%d))]]", maker, middle);
        assert_int_equal(runs_make(text, "{}", NULL, &run), TD_OK);
        if (kind_of(&run, 0, 0) == TD_OUTCOME_TRACKER) {
            low = middle;
        } else {
            high = middle;
        }
        td_run_clear(&run);
    }
    return low;
}

static int ends[2];

static PyObject *
find_ends(PyObject *self, PyObject *args)
{
    (void)self;
    (void)args;
    ends[0] = end_of("nest");
    ends[1] = end_of("nest_dicts");
    Py_RETURN_NONE;
}

static void
the_end_of_recursion_hangs_on_nothing(void **state)
{
    static PyMethodDef method  = {"find_ends", find_ends, METH_NOARGS, NULL};
    PyObject          *globals = runs_globals();
    PyObject          *find    = PyCFunction_New(&method, NULL);
    PyObject          *deep    = PyMapping_GetItemString(globals, "deep");
    int                shallow[2];

    (void)state;
    runs_reference();
    find_ends(NULL, NULL);
    memcpy(shallow, ends, sizeof ends);
    for (int depth = 0; depth < 400; depth += 199) {
        PyObject *result = PyObject_CallFunction(deep, "iO", depth, find);

        assert_non_null(result);
        Py_DECREF(result);
        assert_memory_equal(shallow, ends, sizeof ends);
    }
    print_message("lists end at %d levels, dicts at %d\n", ends[0], ends[1]);
    assert_in_range(ends[0], 160, 170);
    assert_in_range(ends[1], 190, 205);
    Py_DECREF(deep);
    Py_DECREF(find);
}

/* ---- the hook -------------------------------------------------------------------- */

static char seen[256];

static td_status_t
note(void *ctx, size_t frame_idx, size_t step_idx)
{
    size_t      sz   = strlen(seen);
    char const *word = step_idx == TD_STEP_BEGIN ? "begin"
                       : step_idx == TD_STEP_END ? "end"
                                                 : "step";

    snprintf(seen + sz, sizeof seen - sz, "%zu:%s ", frame_idx, word);
    return strcmp(word, (char const *)ctx) == 0 ? TD_LIMIT : TD_OK;
}

static void
the_hook_is_called_after_each_step(void **state)
{
    td_reference_t *reference = runs_reference();
    td_run_t        run;

    (void)state;
    seen[0] = '\0';
    td_reference_on_step(reference, note, "never");
    assert_int_equal(runs_make("[[(x, 5), (('do',), list)], [(x, 5)]]", "{}", NULL, &run), TD_OK);
    td_run_clear(&run);
    assert_string_equal(seen, "0:begin 0:step 0:step 0:end 1:begin 1:step 1:end ");
    seen[0] = '\0';
    td_reference_on_step(reference, note, "end");
    assert_int_equal(runs_make("[[(x, 5)], [(x, 5)]]", "{}", NULL, &run), TD_LIMIT);
    td_run_clear(&run);
    td_reference_on_step(reference, NULL, NULL);
    assert_string_equal(seen, "0:begin 0:step 0:end ");
}

static void
nothing_is_kept(void **state)
{
    td_run_t run;
    int64_t  before;

    (void)state;
    assert_int_equal(runs_make("[[(x, [torch.ones(2), nest(400)])]]", "{}", NULL, &run), TD_OK);
    td_run_clear(&run);
    before = td_alloc_live_cnt();
    for (int count = 0; count < 3; count++) {
        assert_int_equal(runs_make("[[(x, [torch.ones(2), nest(400)])]]", "{}", NULL, &run), TD_OK);
        td_run_clear(&run);
    }
    assert_int_equal(td_alloc_live_cnt(), before);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(steps_have_outcomes),
        cmocka_unit_test(the_same_program_gives_the_same_bytes),
        cmocka_unit_test(arms_can_be_switched_off),
        cmocka_unit_test(a_limit_leaves_builds_out_but_no_do),
        cmocka_unit_test(what_breaks_outside_a_root_fails_the_run),
        cmocka_unit_test(unknown_config_is_bad_input),
        cmocka_unit_test(faults_are_told_from_user_code),
        cmocka_unit_test(the_end_of_recursion_hangs_on_nothing),
        cmocka_unit_test(the_hook_is_called_after_each_step),
        cmocka_unit_test(nothing_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
