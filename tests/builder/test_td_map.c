/* test_td_map.c: maps give back what was put, however much that was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"
#include "builder/td_map.h"

enum { MANY = 5000 };

static char cells[16 * MANY]; /* addresses to be keys */

static void
addresses_are_found_again(void **state)
{
    td_pmap_t map;

    (void)state;
    td_pmap_init(&map);
    assert_int_equal(td_pmap_get(&map, cells), TD_MAP_NONE);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_true(td_pmap_put(&map, &cells[16 * i], i));
    }
    assert_true(td_pmap_put(&map, &cells[16], 77));
    assert_int_equal(map.cnt, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(td_pmap_get(&map, &cells[16 * i]), i == 1 ? 77 : i);
    }
    assert_int_equal(td_pmap_get(&map, &cells[8]), TD_MAP_NONE);
    td_pmap_clear(&map);
}

static void
texts_are_found_by_content(void **state)
{
    static char texts[MANY][8];
    td_smap_t   map;
    char        other[8];

    (void)state;
    td_smap_init(&map);
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(texts[i], sizeof texts[i], "k%u", (unsigned)i);
        assert_true(td_smap_put(&map, texts[i], strlen(texts[i]), i));
    }
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(other, sizeof other, "k%u", (unsigned)i);
        assert_int_equal(td_smap_get(&map, other, strlen(other)), i);
    }
    assert_int_equal(td_smap_get(&map, "k", 1), TD_MAP_NONE);
    assert_int_equal(td_smap_get(&map, "", 0), TD_MAP_NONE);
    td_smap_clear(&map);
}

static void
a_map_that_cannot_grow_keeps_what_it_has(void **state)
{
    int64_t   before = td_alloc_live_cnt();
    td_pmap_t map;
    bool      stored = true;
    uint32_t  cnt    = 0;

    (void)state;
    td_pmap_init(&map);
    td_nomem_arm(2);
    while (stored && cnt < MANY) {
        stored = td_pmap_put(&map, &cells[16 * cnt], cnt);
        cnt += stored ? 1 : 0;
    }
    assert_true(td_nomem_disarm());
    assert_false(stored);
    for (uint32_t i = 0; i < cnt; i++) {
        assert_int_equal(td_pmap_get(&map, &cells[16 * i]), i);
    }
    td_pmap_clear(&map);
    assert_int_equal(td_alloc_live_cnt(), before);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(addresses_are_found_again),
        cmocka_unit_test(texts_are_found_by_content),
        cmocka_unit_test(a_map_that_cannot_grow_keeps_what_it_has),
    };

    return cmocka_run_group_tests_name("builder.td_map", tests, NULL, NULL);
}
