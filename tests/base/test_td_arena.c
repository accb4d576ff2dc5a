/* test_td_arena.c: blocks are zeroed, aligned, apart from each other, and stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/td_alloc.h"
#include "base/td_arena.h"

static void
blocks_are_zeroed_aligned_and_apart(void **state)
{
    static size_t const sizes[] = {0, 1, 15, 16, 17, 100, 3999, 4001, 70000, 1};
    unsigned char      *blocks[10];
    td_arena_t          arena;

    (void)state;
    td_arena_init(&arena);
    for (int i = 0; i < 10; i++) {
        blocks[i] = td_arena_alloc(&arena, sizes[i]);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % _Alignof(max_align_t), 0);
        for (size_t at = 0; at < sizes[i]; at++) {
            assert_int_equal(blocks[i][at], 0);
        }
        memset(blocks[i], i + 1, sizes[i]);
    }
    for (int i = 0; i < 10; i++) {
        for (size_t at = 0; at < sizes[i]; at++) {
            assert_int_equal(blocks[i][at], i + 1);
        }
    }
    td_arena_clear(&arena);
    assert_null(arena.chunk);
}

static void
reset_forgets_and_zeroes_again(void **state)
{
    int64_t    before = td_alloc_live_cnt();
    td_arena_t arena;

    (void)state;
    td_arena_init(&arena);
    td_arena_reset(&arena); /* empty: fine */
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 100; i++) {
            unsigned char *block = td_arena_alloc(&arena, 200);

            assert_int_equal(block[0] | block[199], 0);
            memset(block, 0xFF, 200);
        }
        td_arena_reset(&arena);
        assert_int_equal(arena.used_sz, 0);
        assert_int_equal(td_alloc_live_cnt(), before + 1); /* one chunk is kept */
    }
    td_arena_clear(&arena);
    assert_int_equal(td_alloc_live_cnt(), before);
}

static void
copies_end_in_nul(void **state)
{
    td_arena_t arena;
    char      *copy;

    (void)state;
    td_arena_init(&arena);
    copy = td_arena_dup(&arena, "a\0b", 3);
    assert_memory_equal(copy, "a\0b", 4);
    copy = td_arena_dup(&arena, NULL, 0);
    assert_string_equal(copy, "");
    td_arena_clear(&arena);
}

static void
failure_gives_null_and_keeps_what_was(void **state)
{
    td_arena_t arena;
    char      *kept;

    (void)state;
    td_arena_init(&arena);
    td_nomem_arm(1);
    assert_null(td_arena_alloc(&arena, 1));
    assert_true(td_nomem_disarm());
    kept = td_arena_dup(&arena, "kept", 4);
    td_nomem_arm(1);
    assert_null(td_arena_alloc(&arena, 100000));
    assert_true(td_nomem_disarm());
    assert_null(td_arena_alloc(&arena, SIZE_MAX));
    assert_null(td_arena_dup(&arena, kept, SIZE_MAX));
    assert_string_equal(kept, "kept");
    td_arena_clear(&arena);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(blocks_are_zeroed_aligned_and_apart),
        cmocka_unit_test(reset_forgets_and_zeroes_again),
        cmocka_unit_test(copies_end_in_nul),
        cmocka_unit_test(failure_gives_null_and_keeps_what_was),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
