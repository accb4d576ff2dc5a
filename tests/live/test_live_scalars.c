/* test_live_scalars.c: atoms have exactly the value and type that the text says. */
#include "live_rows.h"

static live_row_t const rows[] = {
    {"%0 = none\n", "o == (None,)"},
    {"%0 = bool true\n%1 = bool false\n", "o[0] is True and o[1] is False"},
    {"%0 = int -5\n", "type(o[0]) is int and o[0] == -5"},
    {"%0 = int 9223372036854775807\n", "o[0] == 2**63 - 1"},
    {"%0 = int -9223372036854775808\n", "o[0] == -2**63"},
    {"%0 = bigint 9223372036854775808\n", "o[0] == 2**63"},
    {"%0 = bigint -9223372036854775809\n", "o[0] == -2**63 - 1"},
    {"%0 = float 1.5\n", "type(o[0]) is float and o[0] == 1.5"},
    {"%0 = float -0.0\n", "math.copysign(1, o[0]) == -1"},
    {"%0 = float nan\n", "math.isnan(o[0])"},
    {"%0 = float nan:7ff8000000000001\n",
     "__import__('struct').pack('>d', o[0]).hex() == '7ff8000000000001'"},
    {"%0 = float inf\n", "o[0] == math.inf"},
    {"%0 = str \"\"\n", "o[0] == ''"},
    {"%0 = str \"a\\n\xc3\xa9\"\n", "type(o[0]) is str and o[0] == 'a\\n\\u00e9'"},
    {"%0 = str \"a\\x00b\"\n", "o[0] == 'a\\0b'"},
    {"%0 = bytes b\"\\x00\\xff\"\n", "type(o[0]) is bytes and o[0] == b'\\0\\xff'"},
    {"%0 = int 2\n%1 = float 0.5\n%2 = complex %0 %1\n", "o[2] == 2 + 0.5j"},
    {"%0 = bool true\n%1 = str \"x\"\n%2 = complex %0 %1\n", "o[2] == 1 + 0j"},
    {"%0 = bigint 1180591620717411303424\n%1 = complex %0 %0\n", "o[1].real == 2.0**70"},
    {"%0 = none\n%1 = complex %0 %0\n", "o[1] == 0"},
};

/* An int that no double holds counts as 0. */
static void
too_large_for_a_double(void **state)
{
    char      program[512];
    char      digits[256];
    td_live_t live;

    (void)state;
    memset(digits, '0', sizeof digits);
    digits[0]                 = '1';
    digits[sizeof digits - 1] = '\0';
    snprintf(program, sizeof program, "%%0 = bigint %.251s\n%%1 = complex %%0 %%0\n", digits);
    live_make(program, &live);
    live_expect(program, &live, "o[0] == 10**250 and o[1] == complex(1e250, 1e250)");
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
        cmocka_unit_test(too_large_for_a_double),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
