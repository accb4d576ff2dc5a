/* test_td_repr.c: repr() in C gives what Python's gives. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "observe/td_forms.h"
#include "observe/td_repr.h"

static void
expect(td_obs_t *obs, td_val_t val, char const *text)
{
    td_writer_t writer;

    td_writer_init(&writer, SIZE_MAX);
    td_repr_value(&writer, obs, val);
    td_writer_put_u8(&writer, 0);
    assert_int_equal(writer.status, TD_OK);
    assert_string_equal((char const *)writer.bytes, text);
    td_writer_clear(&writer);
}

static void
floats_are_shortest(void **state)
{
    static struct {
        double      value;
        char const *text;
    } const table[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.5, "1.5"},
        {0.1, "0.1"},
        {100.0, "100.0"},
        {1e15, "1000000000000000.0"},
        {1e16, "1e+16"},
        {123456789012345680.0, "1.2345678901234568e+17"},
        {0.0001, "0.0001"},
        {0.00012, "0.00012"},
        {1e-5, "1e-05"},
        {1.25e-5, "1.25e-05"},
        {123456.789, "123456.789"},
        {-2.5e-3, "-0.0025"},
        {5e-324, "5e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {1.0 / 3, "0.3333333333333333"},
        {9007199254740993.0, "9007199254740992.0"},
        {NAN, "nan"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
    };

    (void)state;
    for (size_t idx = 0; idx < sizeof table / sizeof *table; idx++) {
        char out[TD_REPR_FLOAT_SZ];

        td_repr_float(out, table[idx].value);
        assert_string_equal(out, table[idx].text);
    }
}

static void
texts_choose_their_quotes(void **state)
{
    td_obs_t *obs = td_obs_new();

    (void)state;
    expect(obs, td_obs_cstr(obs, ""), "''");
    expect(obs, td_obs_cstr(obs, "it's"), "\"it's\"");
    expect(obs, td_obs_cstr(obs, "'\""), "'\\'\"'");
    expect(obs, td_obs_str(obs, "\0\x1F\x7F\r\t", 5), "'\\x00\\x1f\\x7f\\r\\t'");
    expect(obs, td_obs_cstr(obs, "\xC2\xAD\xE2\x80\xA8\xF3\xA0\x80\x81"),
           "'\\xad\\u2028\\U000e0001'");
    expect(obs, td_obs_cstr(obs, "\xCE\xB1\xE4\xB8\xAD"), "'\xCE\xB1\xE4\xB8\xAD'");
    expect(obs, td_form_bytes(obs, (uint8_t const *)"a'\\\x00\xFF\n", 6),
           "b\"a'\\\\\\x00\\xff\\n\"");
    expect(obs, td_form_bytes(obs, NULL, 0), "b''");
    td_obs_free(obs);
}

static void
forms_are_spelled(void **state)
{
    td_obs_t *obs   = td_obs_new();
    td_val_t  one   = td_obs_int(obs, 1);
    td_val_t  pair  = td_obs_pair(obs, one, td_obs_cstr(obs, "a"));
    td_val_t  empty = td_obs_list(obs, NULL, 0);

    (void)state;
    expect(obs, td_form_typed(obs, "tuple", td_obs_list(obs, &one, 1)), "(1,)");
    expect(obs, td_form_typed(obs, "tuple", pair), "(1, 'a')");
    expect(obs, td_form_typed(obs, "tuple", empty), "()");
    expect(obs, td_form_typed(obs, "list", td_obs_list(obs, &one, 1)), "[1]");
    expect(obs, td_form_typed(obs, "frozenset", td_obs_bag(obs, &one, 1)), "frozenset({1})");
    expect(obs, td_form_typed(obs, "frozenset", td_obs_bag(obs, NULL, 0)), "frozenset()");
    expect(obs, td_form_typed(obs, "torch.Size", pair), "torch.Size([1, 'a'])");
    expect(obs, td_form_typed(obs, "torch.dtype", td_obs_cstr(obs, "float32")), "torch.float32");
    expect(obs, td_form_typed(obs, "torch.device", td_obs_cstr(obs, "cpu")), "device(type='cpu')");
    expect(obs, td_form_typed(obs, "torch.device", td_obs_cstr(obs, "cuda:1")),
           "device(type='cuda', index=1)");
    expect(obs, td_form_typed(obs, "singleton", td_obs_cstr(obs, "Ellipsis")), "Ellipsis");
    expect(obs, td_form_class(obs, "builtins", "int"), "<class 'int'>");
    expect(obs, td_form_class(obs, "m.n", "A.B"), "<class 'm.n.A.B'>");
    expect(obs, td_form_global(obs, "m", "f"), "<global m f>");
    expect(obs, td_form_object(obs, 7), "<object 7>");
    expect(obs, td_obs_bool(obs, false), "False");
    td_obs_free(obs);
}

static void
identifiers_are_told(void **state)
{
    static char const *const yes[] = {"a", "_", "A1", "\xC3\xA9", "a\xCC\x81", "x\xC2\xB7"};
    static char const *const no[]  = {
         "", "1", "a-", "a b", "\xCC\x81", "\xE2\x82\xAC", "\xED\xA0\x80"};

    (void)state;
    for (size_t idx = 0; idx < sizeof yes / sizeof *yes; idx++) {
        assert_true(td_is_identifier(yes[idx], strlen(yes[idx])));
    }
    for (size_t idx = 0; idx < sizeof no / sizeof *no; idx++) {
        assert_false(td_is_identifier(no[idx], strlen(no[idx])));
    }
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(floats_are_shortest),
        cmocka_unit_test(texts_choose_their_quotes),
        cmocka_unit_test(forms_are_spelled),
        cmocka_unit_test(identifiers_are_told),
    };

    return cmocka_run_group_tests_name("observe.td_repr", tests, NULL, NULL);
}
