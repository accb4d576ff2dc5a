/* test_td_fxname.c: names as torch.fx and Dynamo give them; expectations were read off torch
   2.1.2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/td_alloc.h"
#include "builder/td_fxname.h"

typedef void (*rule_t)(td_buf_t *out, char const *text, size_t sz);

static struct {
    rule_t      rule;
    char const *text, *want;
} const rows[] = {
    {td_fxname_target, "L['x'][0]", "L_x_0_"},
    {td_fxname_target, "G['a__b'].c", "G_a_b_c"},
    {td_fxname_target, "", ""},
    {td_fxname_target, "\xc3\xa9t", "_t"},
    {td_fxname_snake, "L_x_A_", "l_x_a_"},
    {td_fxname_snake, "aBcD", "a_bc_d"},
    {td_fxname_snake, "ABC", "abc"},
    {td_fxname_module_key, "L['x']", "x"},
    {td_fxname_module_key, "G['x']", "x"},
    {td_fxname_module_key, "L['m'].w", "L__m___w"},
    {td_fxname_module_key, "L['m'].w[3]",
     "m___w_3" /* the pattern strips what begins with L[' and ends with ] */},
    {td_fxname_module_key, "L['9']", "sub9"},
    {td_fxname_module_key, "a[12].b[x]", "a_12_b_x_"},
    {td_fxname_module_key, "", "sub"},
};

static void
each_rule_spells_as_the_reference(void **state)
{
    td_buf_t out = {0};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        td_buf_reset(&out);
        td_buf_putc(&out, '|');
        rows[i].rule(&out, rows[i].text, strlen(rows[i].text));
        assert_string_equal(out.bytes + 1, rows[i].want);
    }
    td_buf_clear(&out);
}

static void
a_taken_target_gets_a_number(void **state)
{
    td_smap_t taken = {0};
    td_buf_t  out   = {0};

    (void)state;
    td_smap_init(&taken);
    td_fxname_free_suffix(&out, &taken, "L_x_", 4);
    assert_string_equal(out.bytes, "L_x_");
    assert_true(td_smap_put(&taken, "L_x_", 4, 0));
    assert_true(td_smap_put(&taken, "L_x__0", 6, 0));
    td_buf_reset(&out);
    td_fxname_free_suffix(&out, &taken, "L_x_", 4);
    assert_string_equal(out.bytes, "L_x__1");
    td_buf_clear(&out);
    td_smap_clear(&taken);
}

static bool
is_list(void *ctx, char const *name, size_t sz)
{
    (void)ctx;
    return sz == 4 && memcmp(name, "list", 4) == 0;
}

static struct {
    char const *candidate, *want;
} const asked[] = {
    {"l_x_", "l_x_"}, {"l_x_", "l_x__1"}, {"l_x__1", "l_x__2"}, {"list", "list_1"}, {"9a", "_9a"},
    {"", "_unnamed"}, {"a.b-c", "a_b_c"}, {"a_007", "a_7"},     {"a_7", "a_8"},     {"a_0", "a_0"},
    {"a", "a"},       {"b", "b"},         {"b", "b_1"},         {"b", "b_2"},
};

static void
a_namespace_gives_each_name_once(void **state)
{
    td_arena_t     arena;
    td_namespace_t space;

    (void)state;
    td_arena_init(&arena);
    td_namespace_init(&space, &arena, is_list, NULL);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char const *name    = NULL;
        size_t      name_sz = 0;

        assert_int_equal(td_namespace_create(&space, asked[i].candidate, strlen(asked[i].candidate),
                                             &name, &name_sz),
                         TD_OK);
        assert_string_equal(name, asked[i].want);
        assert_int_equal(name_sz, strlen(asked[i].want));
    }
    td_namespace_clear(&space);
    td_arena_clear(&arena);
}

static void
a_number_beyond_64_bits_is_refused(void **state)
{
    td_arena_t     arena;
    td_namespace_t space;
    char const    *name    = NULL;
    size_t         name_sz = 0;
    char const     text[]  = "a_18446744073709551616";

    (void)state;
    td_arena_init(&arena);
    td_namespace_init(&space, &arena, is_list, NULL);
    assert_int_equal(td_namespace_create(&space, text, strlen(text), &name, &name_sz), TD_LIMIT);
    td_namespace_clear(&space);
    td_arena_clear(&arena);
}

static void
every_allocation_may_fail(void **state)
{
    (void)state;
    for (uint64_t nth = 1;; nth++) {
        int64_t        before = td_alloc_live_cnt();
        td_arena_t     arena;
        td_namespace_t space;
        char const    *name    = NULL;
        size_t         name_sz = 0;
        td_status_t    status  = TD_OK;

        td_arena_init(&arena);
        td_namespace_init(&space, &arena, is_list, NULL);
        td_nomem_arm(nth);
        status = td_namespace_create(&space, "l_x_", 4, &name, &name_sz);
        if (!td_nomem_disarm()) {
            assert_int_equal(status, TD_OK);
            td_namespace_clear(&space);
            td_arena_clear(&arena);
            break;
        }
        assert_int_equal(status, TD_NOMEM);
        td_namespace_clear(&space);
        td_arena_clear(&arena);
        assert_int_equal(td_alloc_live_cnt(), before);
    }
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(each_rule_spells_as_the_reference),
        cmocka_unit_test(a_taken_target_gets_a_number),
        cmocka_unit_test(a_namespace_gives_each_name_once),
        cmocka_unit_test(a_number_beyond_64_bits_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests_name("builder.td_fxname", tests, NULL, NULL);
}
