/* test_td_stats.c: what is counted, and how it is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gen/td_stats.h"
#include "gen_programs.h"

static td_stats_t
counted(char const *lines)
{
    td_prog_t  prog = program(lines);
    td_stats_t stats;

    td_stats_init(&stats);
    assert_true(td_stats_add(&stats, &prog));
    td_prog_clear(&prog);
    return stats;
}

static void
what_roots_reach_is_counted(void **state)
{
    td_stats_t stats =
        counted("config allow_rnn = True\n%0 = int 5\n%1 = int 6\n%2 = list %0 %0\n%3 = str \"x\"\n"
                "%4 = tensor float64[2] strided\ndo append %2 %4\nframe\n"
                "root build attr(local(\"x\"), \"y\") %2\nroot sourceless %0\n");

    (void)state;
    assert_int_equal(stats.program_cnt, 1);
    assert_int_equal(stats.kind[TD_KIND_INT], 1); /* %1 is reached by nothing */
    assert_int_equal(stats.kind[TD_KIND_STR], 0);
    assert_int_equal(stats.kind[TD_KIND_LIST], 1);
    assert_int_equal(stats.kind[TD_KIND_TENSOR], 1); /* through the change */
    assert_int_equal(stats.layout[TD_LAYOUT_STRIDED], 1);
    assert_int_equal(stats.dtype[1], 1);
    assert_int_equal(stats.source[TD_SOURCE_LOCAL], 1);
    assert_int_equal(stats.source[TD_SOURCE_ATTR], 1);
    assert_int_equal(stats.entry[TD_ENTRY_BUILD], 1);
    assert_int_equal(stats.entry[TD_ENTRY_SOURCELESS], 1);
    assert_int_equal(stats.change[TD_DO_APPEND], 1);
    assert_int_equal(stats.config[4][1], 1);
    assert_int_equal(stats.config[4][0], 0);
    assert_int_equal(td_stats_median_objects(&stats), 3);
    assert_int_equal(stats.changed_cnt, 1);
}

/* One property a row: how a program gets it, and how it just misses it. */
static struct {
    size_t      field;
    char const *with, *without;
} const rows[] = {
    {offsetof(td_stats_t, shared_cnt), "%0 = list\n%1 = list %0 %0\nframe\nroot sourceless %1\n",
     "%0 = int 5\n%1 = list %0 %0\nframe\nroot sourceless %1\n"},
    {offsetof(td_stats_t, shared_cnt),
     "%0 = list\n%1 = list %0\nframe\nroot sourceless %1\nroot build local(\"x\") %0\n",
     "%0 = list\n%1 = list %0\nframe\nroot sourceless %1\n"},
    {offsetof(td_stats_t, frames_cnt),
     "%0 = list\nframe\nroot sourceless %0\nframe\nroot sourceless %0\n",
     "%0 = list\nframe\nroot sourceless %0\nframe\n"},
    {offsetof(td_stats_t, drift_cnt),
     "config specialize_int = False\n%0 = int 5\n%1 = int 6\n"
     "frame\nroot build local(\"x\") %0\nframe\nroot build local(\"x\") %1\n",
     "config specialize_int = False\n%0 = int 5\n%1 = int 6\n"
     "frame\nroot build local(\"x\") %0\nframe\nroot build local(\"y\") %1\n"},
    {offsetof(td_stats_t, alias_cnt),
     "%0 = list\nframe\nroot build local(\"x\") %0\nroot build local(\"y\") %0\n",
     "%0 = list\nframe\nroot build local(\"x\") %0\nframe\nroot build local(\"y\") %0\n"},
    {offsetof(td_stats_t, duplicate_cnt),
     "%0 = list\nframe\nroot build local(\"x\") %0\nroot build local(\"x\") %0\n",
     "%0 = list\nframe\nroot build local(\"x\") %0\nframe\nroot build local(\"x\") %0\n"},
    {offsetof(td_stats_t, cycle_cnt),
     "%0 = list\n%1 = list %0\ndo append %0 %1\nframe\nroot sourceless %0\n",
     "%0 = list\n%1 = list %0\n%2 = list\ndo append %2 %1\nframe\nroot sourceless %2\n"},
    {offsetof(td_stats_t, cycle_cnt), "%0 = list\ndo append %0 %0\nframe\nroot sourceless %0\n",
     "%0 = list\n%1 = list %0 %0\nframe\nroot sourceless %1\n"},
    {offsetof(td_stats_t, nested_cnt),
     "%0 = int 5\n%1 = list %0\n%2 = tuple %1\nframe\nroot sourceless %2\n",
     "%0 = int 5\n%1 = list %0\nframe\nroot sourceless %1\n"},
    {offsetof(td_stats_t, export_cnt), "export\n%0 = int 5\nframe\nroot sourceless %0\n",
     "%0 = int 5\nframe\nroot sourceless %0\n"},
};

static uint64_t
field_of(td_stats_t const *stats, size_t field)
{
    uint64_t count;

    memcpy(&count, (char const *)stats + field, sizeof count);
    return count;
}

static void
properties_are_told_from_near_misses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        td_stats_t with = counted(rows[i].with), without = counted(rows[i].without);

        if (field_of(&with, rows[i].field) != 1 || field_of(&without, rows[i].field) != 0) {
            print_error("%s\n", rows[i].with);
        }
        assert_int_equal(field_of(&with, rows[i].field), 1);
        assert_int_equal(field_of(&without, rows[i].field), 0);
    }
}

static void
counts_add_up(void **state)
{
    td_stats_t first = counted(rows[0].with), second = counted(rows[0].without);

    (void)state;
    td_stats_merge(&first, &second);
    assert_int_equal(first.program_cnt, 2);
    assert_int_equal(first.kind[TD_KIND_LIST], 3);
    assert_int_equal(first.shared_cnt, 1);
}

static void
json_names_everything(void **state)
{
    td_stats_t  stats = counted(rows[0].with);
    td_writer_t out;
    char       *text;

    (void)state;
    td_writer_init(&out, SIZE_MAX);
    td_stats_json(&stats, &out);
    text = (char *)td_writer_take(&out, NULL);
    assert_non_null(
        strstr(text, "{\"programs\": 1, \"median_objects\": 2, \"programs_shared\": 1,"));
    assert_non_null(strstr(text, "\"list\": 2"));
    assert_non_null(strstr(text, "\"bound_method\": 0"));
    assert_non_null(strstr(text, "\"specialize_int\": {\"False\": 0, \"True\": 0}"));
    td_free(text);
}

static void
memory_may_run_out(void **state)
{
    td_prog_t  prog = program(rows[0].with);
    td_stats_t stats;

    (void)state;
    td_stats_init(&stats);
    td_nomem_arm(1);
    assert_false(td_stats_add(&stats, &prog));
    assert_true(td_nomem_disarm());
    assert_int_equal(stats.program_cnt, 0);
    td_prog_clear(&prog);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(what_roots_reach_is_counted),
        cmocka_unit_test(properties_are_told_from_near_misses),
        cmocka_unit_test(counts_add_up),
        cmocka_unit_test(json_names_everything),
        cmocka_unit_test(memory_may_run_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
