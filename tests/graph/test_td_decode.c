/* test_td_decode.c: the strict decoder against the repair, on wild bytes and on
   valid programs with one byte changed; what random strings are worth. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <stdlib.h>
#include <time.h>

#include "programs.h"

/* Byte strings, and what the strict decoder says of them. */
static struct {
    char const *bytes;
    size_t      sz;
    char const *what; /* NULL: accepted */
    size_t      offset;
} const rows[] = {
#define ROW(bytes, what, offset)               \
    {                                          \
        bytes, sizeof(bytes) - 1, what, offset \
    }
    ROW("\xA1\x01\xE0\x81\x00\xA1\x00\x00\xE5", NULL, 0),
    ROW("", "the program is empty", 0),
    ROW("\xA1", "the program is cut off: its end record is missing", 1),
    ROW("\xA1\x01\xE0\x81\x00\xA1\x00\x00", "the program is cut off: its end record is missing", 8),
    ROW("\xA1\x01\xE0\x81\x00\xA1\x00\x00\xE5\xE5", "bytes follow the end of the program", 8),
    ROW("\xA2\x01\xE0\x81\x00\xA1\x00\x00\xE5",
        "the program has format version 2; this tool reads version 1", 0),
    ROW("\x01\x01\xE0\x81\x00\xA1\x00\x00\xE5", "a program begins with 0xa1, not with 0x01", 0),
    ROW("\xA1\x01\xE0\xE5", "there is no root", 4),
    ROW("\xA1\x00\xE0\x81\x00\xA1\x00\x00\xE5", "no record begins with 0x00", 1),
    ROW("\xA1\x01\x81\x00\xA1\x00\x00\xE5", "a root stands before the first frame", 4),
    ROW("\xA1\xE0\xA2\x00\xE5", "a root stands before the first node", 2),
    ROW("\xA1\x01\xE0\xA1\x00\x00\xE5", "a root has no source", 3),
    ROW("\xA1\x02\x02\xE0\xA2\x00\xE5", "there is no bool 2", 2),
    ROW("\xA1\x01\xE0\xA2\x05\xE5", "6 nodes back: there are only 1", 4),
    ROW("\xA1\x01\x81\x00\xE0\xA2\x00\xE5",
        "not in its canonical form (something is spelled longer than it need be, or a source "
        "does not stand right before the first root that needs it)",
        2),
    ROW("\xA1\x03\xE0\x05\xE0\xA2\x00\xE5",
        "not in its canonical form (something is spelled longer than it need be, or a source "
        "does not stand right before the first root that needs it)",
        2),
    ROW("\xA1\x01\xE4\x00\x01\xE4\x00\x00\xE0\xA2\x00\xE5", "the config key is set already", 5),
    ROW("\xA1\x01\xE1\xE1\xE0\xA2\x00\xE5", "export stands there already", 3),
    ROW("\xA1\x0F\x20\x21\x20\xE0\xA2\x00\xE5", "the step of a range is 0", 1),
    ROW("\xA1\x0E\x00\xE0\xA2\x00\xE5", "1 nodes back: there are only 0", 2),
#undef ROW
};

static void
refusals_say_where_and_why(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        td_prog_t    prog;
        td_refusal_t refusal = {.what = ""};
        td_status_t  status;

        td_prog_init(&prog);
        status = td_prog_decode((uint8_t const *)rows[i].bytes, rows[i].sz, &prog, &refusal);
        if (rows[i].what == NULL) {
            assert_int_equal(status, TD_OK);
        } else {
            assert_int_equal(status, TD_REJECT);
            assert_string_equal(refusal.what, rows[i].what);
            assert_int_equal(refusal.offset, rows[i].offset);
            assert_int_equal(refusal.line, 0);
            assert_int_equal(prog.order_cnt, 0);
        }
        td_prog_clear(&prog);
    }
}

/* Encodes a program and repairs the bytes: nothing may change. */
static void
expect_fixed_point(td_prog_t const *prog)
{
    td_prog_t again;
    bool      changed = true;
    uint8_t  *first = NULL, *second = NULL;
    size_t    first_sz = 0, second_sz = 0;

    td_prog_init(&again);
    assert_int_equal(td_prog_encode(prog, &first, &first_sz), TD_OK);
    assert_int_equal(td_prog_repair(first, first_sz, &again, &changed), TD_OK);
    assert_false(changed);
    assert_int_equal(td_prog_encode(&again, &second, &second_sz), TD_OK);
    assert_int_equal(first_sz, second_sz);
    assert_memory_equal(first, second, first_sz);
    td_free(first);
    td_free(second);
    td_prog_clear(&again);
}

static void
check_any_bytes(uint8_t const *bytes, size_t sz)
{
    td_prog_t    prog, strict;
    td_refusal_t refusal = {.what = ""};
    bool         changed = false;
    td_status_t  status;

    td_prog_init(&prog);
    td_prog_init(&strict);
    assert_int_equal(td_prog_repair(bytes, sz, &prog, &changed), TD_OK);
    status = td_prog_decode(bytes, sz, &strict, &refusal);
    assert_int_equal(status, changed ? TD_REJECT : TD_OK);
    assert_int_equal(refusal.what[0] != '\0', changed);
    expect_fixed_point(&prog);
    td_prog_clear(&strict);
    td_prog_clear(&prog);
}

static void
strict_accepts_what_repair_leaves_alone(void **state)
{
    uint8_t  bytes[80];
    td_rng_t rng;

    (void)state;
    td_rng_init(&rng, 1);
    for (int i = 0; i < 100000; i++) {
        size_t sz = random_bytes(&rng, bytes, 0, i % 10 == 0 ? sizeof bytes : 16);

        /* Every second one gets past the version byte. */
        if (sz != 0 && i % 2 == 0) {
            bytes[0] = 0xA1;
        }
        check_any_bytes(bytes, sz);
    }
}

static void
long_inputs_end_at_the_limit(void **state)
{
    static uint8_t bytes[TD_INPUT_SZ_MAX + 5000];
    td_rng_t       rng;
    td_prog_t      prog;
    td_refusal_t   refusal;

    (void)state;
    td_rng_init(&rng, 3);
    for (int fill = 0; fill < 6; fill++) {
        static uint8_t const same[] = {0x01, 0x81, 0xA1, 0xE0, 0x0A};

        random_bytes(&rng, bytes, sizeof bytes, sizeof bytes);
        if (fill != 0) {
            memset(bytes, same[fill - 1], sizeof bytes);
        }
        check_any_bytes(bytes, sizeof bytes);
        check_any_bytes(bytes, TD_INPUT_SZ_MAX);
    }
    td_prog_init(&prog);
    assert_int_equal(td_prog_decode(bytes, sizeof bytes, &prog, &refusal), TD_REJECT);
    assert_string_equal(refusal.what, "a program has at most 65536 bytes");
}

static bool
same_node(td_node_t const *left, td_node_t const *right)
{
    bool same = left->kind == right->kind && left->edge_cnt == right->edge_cnt;

    for (int i = 0; same && i < left->edge_cnt; i++) {
        same = left->edge[i] == right->edge[i];
    }
    return same;
}

/* Nodes that are the same in both, from the first on. */
static uint32_t
same_nodes(td_prog_t const *left, td_prog_t const *right)
{
    uint32_t i = 0;

    while (i < left->node_cnt && i < right->node_cnt &&
           same_node(&left->nodes[i], &right->nodes[i])) {
        i++;
    }
    return i;
}

/* Nodes that lie wholly before byte at. */
static uint32_t
nodes_before(uint8_t const *bytes, size_t at)
{
    td_prog_t prog;
    uint32_t  cnt;

    td_prog_init(&prog);
    assert_int_equal(td_prog_repair(bytes, at, &prog, NULL), TD_OK);
    cnt = prog.node_cnt;
    td_prog_clear(&prog);
    return cnt != 0 ? cnt - 1 : 0; /* the last one may have been cut */
}

static bool
keeps_nodes_before(uint8_t const *bytes, size_t sz, td_rng_t *rng)
{
    uint8_t   changed[1024];
    size_t    at = (size_t)td_rng_below(rng, sz);
    td_prog_t before, after;
    bool      kept;

    memcpy(changed, bytes, sz);
    changed[at] = (uint8_t)(changed[at] + td_rng_between(rng, 1, 255));
    td_prog_init(&before);
    td_prog_init(&after);
    assert_int_equal(td_prog_repair(bytes, sz, &before, NULL), TD_OK);
    assert_int_equal(td_prog_repair(changed, sz, &after, NULL), TD_OK);
    kept = same_nodes(&before, &after) >= nodes_before(bytes, at);
    td_prog_clear(&before);
    td_prog_clear(&after);
    return kept;
}

static void
one_changed_byte_keeps_the_nodes_before_it(void **state)
{
    uint8_t  wild[512];
    uint32_t kept = 0, cnt = 0;
    td_rng_t rng;

    (void)state;
    td_rng_init(&rng, 5);
    for (int i = 0; i < 2000; i++) {
        td_prog_t prog;
        uint8_t  *bytes = NULL;
        size_t    sz    = random_bytes(&rng, wild, 64, 256);

        td_prog_init(&prog);
        assert_int_equal(td_prog_repair(wild, sz, &prog, NULL), TD_OK);
        assert_int_equal(td_prog_encode(&prog, &bytes, &sz), TD_OK);
        for (int change = 0; change < 5 && sz <= 1024; change++, cnt++) {
            kept += keeps_nodes_before(bytes, sz, &rng);
        }
        td_free(bytes);
        td_prog_clear(&prog);
    }
    print_message("one byte changed: %u of %u keep all nodes before it\n", kept, cnt);
    assert_true(cnt >= 9000);
    assert_true(kept >= cnt - cnt / 5);
}

enum { STRING_CNT = 10000 };

static int
compare_u64(void const *left, void const *right)
{
    uint64_t l = *(uint64_t const *)left, r = *(uint64_t const *)right;

    return (l > r) - (l < r);
}

static uint64_t
hash_of(td_prog_t const *prog)
{
    uint8_t *bytes = NULL;
    size_t   sz    = 0;
    uint64_t hash  = 1;

    assert_int_equal(td_prog_encode(prog, &bytes, &sz), TD_OK);
    for (size_t i = 0; i < sz; i++) {
        hash = td_rng_mix(hash ^ bytes[i]);
    }
    td_free(bytes);
    return hash;
}

static void
random_strings_are_worth_something(void **state)
{
    static uint64_t hashes[STRING_CNT], nodes[STRING_CNT];
    bool            seen[256] = {false};
    uint8_t         bytes[512];
    uint32_t        different = 1;
    td_rng_t        rng;

    (void)state;
    td_rng_init(&rng, 7);
    for (int i = 0; i < STRING_CNT; i++) {
        td_prog_t prog;
        size_t    sz       = random_bytes(&rng, bytes, 64, 512);
        uint32_t  root_cnt = 0;

        td_prog_init(&prog);
        assert_int_equal(td_prog_repair(bytes, sz, &prog, NULL), TD_OK);
        hashes[i] = hash_of(&prog);
        nodes[i]  = prog.node_cnt;
        for (uint32_t n = 0; n < prog.node_cnt; n++) {
            seen[prog.nodes[n].kind] = true;
        }
        for (uint32_t s = 0; s < prog.step_cnt; s++) {
            root_cnt += prog.steps[s].kind == TD_STEP_ROOT;
        }
        assert_true(root_cnt != 0);
        td_prog_clear(&prog);
    }
    qsort(hashes, STRING_CNT, sizeof *hashes, compare_u64);
    qsort(nodes, STRING_CNT, sizeof *nodes, compare_u64);
    for (int i = 1; i < STRING_CNT; i++) {
        different += hashes[i] != hashes[i - 1];
    }
    print_message("random strings: %u of %d different programs, median %u nodes\n", different,
                  STRING_CNT, (unsigned)nodes[STRING_CNT / 2]);
    assert_true(different >= STRING_CNT * 9 / 10);
    assert_true(nodes[STRING_CNT / 2] >= 5);
    for (int tag = 0; tag < 256; tag++) {
        assert_int_equal(seen[tag], td_kind_info((uint8_t)tag) != NULL);
    }
}

static double
cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Shown, not judged: a sanitizer makes it ten times as much. */
static void
repair_costs_little(void **state)
{
    enum { ROUND_CNT = 5000 };
    uint8_t  bytes[512];
    uint64_t node_cnt = 0, byte_cnt = 0;
    double   spent = 0;
    td_rng_t rng;

    (void)state;
    td_rng_init(&rng, 9);
    for (int i = 0; i < ROUND_CNT; i++) {
        size_t    sz = random_bytes(&rng, bytes, 64, 512);
        td_prog_t prog;
        double    begin;

        td_prog_init(&prog);
        begin = cpu_ns();
        assert_int_equal(td_prog_repair(bytes, sz, &prog, NULL), TD_OK);
        spent += cpu_ns() - begin;
        node_cnt += prog.node_cnt;
        byte_cnt += sz;
        td_prog_clear(&prog);
    }
    print_message("repair: %.0f ns a program (%.0f bytes, %.0f nodes), %.0f ns a node\n",
                  spent / ROUND_CNT, (double)byte_cnt / ROUND_CNT, (double)node_cnt / ROUND_CNT,
                  spent / (double)node_cnt);
    assert_true(node_cnt > ROUND_CNT);
}

static void
every_allocation_may_fail(void **state)
{
    uint8_t  bytes[400];
    int64_t  before = td_alloc_live_cnt();
    td_rng_t rng;

    (void)state;
    td_rng_init(&rng, 11);
    for (int i = 0; i < 50; i++) {
        size_t sz    = random_bytes(&rng, bytes, 200, sizeof bytes);
        bool   fired = true;

        for (uint64_t nth = 1; fired; nth++) {
            td_prog_t   prog;
            td_status_t status;

            td_prog_init(&prog);
            td_nomem_arm(nth);
            status = td_prog_repair(bytes, sz, &prog, NULL);
            fired  = td_nomem_disarm();
            assert_int_equal(status, fired ? TD_NOMEM : TD_OK);
            assert_int_equal(prog.order_cnt == 0, fired);
            td_prog_clear(&prog);
            assert_int_equal(td_alloc_live_cnt(), before);
        }
    }
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(refusals_say_where_and_why),
        cmocka_unit_test(strict_accepts_what_repair_leaves_alone),
        cmocka_unit_test(long_inputs_end_at_the_limit),
        cmocka_unit_test(one_changed_byte_keeps_the_nodes_before_it),
        cmocka_unit_test(random_strings_are_worth_something),
        cmocka_unit_test(repair_costs_little),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
