/* test_live_hash.c: keys that cost too much to hash are left out, in time. */
#include "live_rows.h"

enum { LEVEL_CNT = 60, CHAIN_CNT = 300 };

static live_row_t const rows[] = {
    {"%0 = int 1\n%1 = tuple %0 %0\n%2 = tuple %1 %1\n%3 = dict %2: %0\n", "len(o[3]) == 1"},
    {"%0 = int 1\n%1 = tuple %0\n%2 = namedtuple Pair %1 %0\n%3 = int 2\n%4 = set %2 %3\n",
     "o[4] == {2}"},
    {"%0 = enum Color_RED\n%1 = range 0 3 1\n%2 = device cpu\n%3 = np_scalar int64\n"
     "%4 = set %0 %1 %2 %3\n",
     "o[4] == {objects.Color.RED, range(3), torch.device('cpu'), numpy.int64(3)}"},
    {"%0 = float nan\n%1 = int 0\n%2 = complex %0 %1\n%3 = set %2 %1\n", "o[3] == {0}"},
};

/* Each level holds the one below twice: hashing it takes 2^60 steps. */
static void
doubled_levels(void **state)
{
    char      program[4096];
    size_t    sz = (size_t)snprintf(program, sizeof program, "%%0 = int 1\n");
    td_live_t live;

    (void)state;
    for (int i = 1; i <= LEVEL_CNT; i++) {
        sz += (size_t)snprintf(program + sz, sizeof program - sz, "%%%d = tuple %%%d %%%d\n", i,
                               i - 1, i - 1);
    }
    snprintf(program + sz, sizeof program - sz,
             "%%%d = dict %%%d: %%0\n%%%d = set %%%d\n%%%d = list\ndo setitem %%%d %%%d %%0\n",
             LEVEL_CNT + 1, LEVEL_CNT, LEVEL_CNT + 2, LEVEL_CNT, LEVEL_CNT + 3, LEVEL_CNT + 1,
             LEVEL_CNT);
    live_make(program, &live);
    live_expect("doubled levels", &live, "o[-3] == {} and o[-2] == set()");
    td_live_clear(&live);
}

static void
chain(void **state)
{
    char      program[8192];
    size_t    sz = (size_t)snprintf(program, sizeof program, "%%0 = int 1\n");
    td_live_t live;

    (void)state;
    for (int i = 1; i <= CHAIN_CNT; i++) {
        sz += (size_t)snprintf(program + sz, sizeof program - sz, "%%%d = tuple %%%d\n", i, i - 1);
    }
    snprintf(program + sz, sizeof program - sz, "%%%d = dict %%%d: %%0\n", CHAIN_CNT + 1,
             CHAIN_CNT);
    live_make(program, &live);
    live_expect("a chain", &live, "len(o[-1]) == 1");
    td_live_clear(&live);
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
        cmocka_unit_test(doubled_levels),
        cmocka_unit_test(chain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
