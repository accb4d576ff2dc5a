/* test_td_wire.c: the codes of the binary form, and what is published of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>

#include <cmocka.h>

#include "base/td_alloc.h"
#include "base/td_rng.h"
#include "graph/td_wire.h"

/* On the wire of every corpus there is: added to, never changed. */
static int64_t const ints[] = {
    INT64_MIN,
    INT64_MAX,
    INT64_MIN + 1,
    INT64_C(2147483647),
    INT64_C(2147483648),
    INT64_C(-2147483648),
    INT64_C(-2147483649),
    INT64_C(4294967295),
    INT64_C(4294967296),
    INT64_C(1073741823),
    INT64_C(1073741824),
    INT64_C(-1073741824),
    INT64_C(1152921504606846975),
    INT64_C(1152921504606846976),
    INT64_C(9007199254740992),
    INT64_C(9007199254740993),
    INT64_C(4611686018427387904),
    256,
    257,
    1000,
    1024,
    65536,
    -1000,
    1000000,
};

static double const floats[] = {
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.0,
    3.0,
    0.1,
    1e-3,
    1e-5,
    1e-8,
    0.9,
    0.999,
    3.14,
    10.0,
    100.0,
    1e10,
    1e16,
    1e22,
    1e300,
    5e-324,
    2.2250738585072014e-308,
    1.7976931348623157e308,
    9007199254740993.0,
    1e-300,
    -0.5,
    -1e22,
    123456789.125,
    0.30000000000000004,
};

static char const *const decimals[] = {
    "9223372036854775808",   "-9223372036854775809",
    "18446744073709551615",  "18446744073709551616",
    "-18446744073709551616", "1180591620717411303424",
    "100000000000000000000", "340282366920938463463374607431768211456",
};

static char const *const names[] = {
    "x",        "y",        "self",      "w",     "m",      "d",      "a",
    "b",        "c",        "z",         "items", "args",   "kwargs", "weight",
    "bias",     "data",     "config",    "state", "key",    "value",  "fn",
    "cls",      "n",        "t",         "i",     "model",  "layer",  "layers",
    "inputs",   "hidden",   "batch",     "mask",  "lr",     "params", "param_groups",
    "training", "torch",    "np",        "math",  "",       "0",      "L",
    "_private", "__dict__", "__class__", "shape", "dtype",  "grad",   "name with space",
    "a.b",      "\xc3\xa9", "scale",     "head",  "table",  "cache",  "rows",
    "options",  "seq",      "index",     "g",     "append", "add",    "mul",
    "size",
};

#define CNT(table) (sizeof(table) / sizeof *(table))

static void
published_values_mean_what_they_meant(void **state)
{
    (void)state;
    for (size_t i = 0; i < CNT(ints); i++) {
        assert_true(td_wire_int(i) == ints[i]);
    }
    for (size_t i = 0; i < CNT(floats); i++) {
        double value = td_wire_float(i);

        assert_memory_equal(&value, &floats[i], sizeof value);
    }
    for (size_t i = 0; i < CNT(decimals); i++) {
        assert_string_equal(td_wire_decimal(i), decimals[i]);
    }
    for (size_t i = 0; i < CNT(names); i++) {
        assert_string_equal(td_wire_name(i), names[i]);
    }
    assert_int_equal(td_wire_int_cnt(), CNT(ints));
    assert_int_equal(td_wire_float_cnt(), CNT(floats) + 3); /* inf, -inf, nan */
    assert_true(isinf(td_wire_float(CNT(floats))) && isinf(td_wire_float(CNT(floats) + 1)));
    assert_true(isnan(td_wire_float(CNT(floats) + 2)));
    assert_int_equal(td_wire_decimal_cnt(), CNT(decimals));
    assert_int_equal(td_wire_name_cnt(), CNT(names));
}

_Static_assert(TD_WIRE_VERSION == 0xA1 && TD_WIRE_SOURCE == 0x80 && TD_WIRE_ENTRY == 0xA0 &&
                   TD_WIRE_DO == 0xB0 && TD_WIRE_FRAME == 0xE0 && TD_WIRE_EXPORT == 0xE1 &&
                   TD_WIRE_RANGED == 0xE2 && TD_WIRE_TIED == 0xE3 && TD_WIRE_SETTING == 0xE4 &&
                   TD_WIRE_END == 0xE5,
               "published opcodes");

/* Each row: a code's bytes, as they were published. */
static void
expect(td_writer_t *out, char const *bytes, size_t sz)
{
    assert_int_equal(out->status, TD_OK);
    assert_int_equal(out->sz, sz);
    assert_memory_equal(out->bytes, bytes, sz);
    td_writer_reset(out);
}

#define EXPECT(bytes) expect(&out, bytes, sizeof(bytes) - 1)

static void
codes_are_the_published_ones(void **state)
{
    td_writer_t out;

    (void)state;
    td_writer_init(&out, SIZE_MAX);
    td_wire_put_index(&out, 0x7F), EXPECT("\x7F");
    td_wire_put_index(&out, 0x80), EXPECT("\x80\x80");
    td_wire_put_index(&out, 0x7FFF), EXPECT("\xFF\xFF");
    td_wire_put_count(&out, 15), EXPECT("\x0F");
    td_wire_put_count(&out, 16), EXPECT("\x10\x10");
    td_wire_put_count(&out, 1025), EXPECT("\x14\x01");
    td_wire_put_int(&out, -32), EXPECT("\x00"
                                       "");
    td_wire_put_int(&out, 0), EXPECT(" ");
    td_wire_put_int(&out, 191), EXPECT("\xDF");
    td_wire_put_int(&out, 192), EXPECT("\xE1\xC0\x00"
                                       "");
    td_wire_put_int(&out, -33), EXPECT("\xE0\xDF");
    td_wire_put_int(&out, INT64_MIN), EXPECT("\xE8");
    td_wire_put_int(&out, INT64_MAX - 1), EXPECT("\xE7\xFE\xFF\xFF\xFF\xFF\xFF\xFF\x7F");
    td_wire_put_float(&out, 1.0), EXPECT("\x02");
    td_wire_put_float(&out, 0.25), EXPECT("\xFF\x00\x00\x00\x00\x00\x00\xD0\x3F");
    td_wire_put_text(&out, td_text("self")), EXPECT("\x02");
    td_wire_put_text(&out, td_text("xy")), EXPECT("\xE1xy");
    td_wire_put_text(&out, td_text("0123456789012345678901234567890")),
        EXPECT("\xFE"
               "0123456789012345678901234567890");
    td_wire_put_text(&out, td_text("01234567890123456789012345678901")),
        EXPECT("\xFF\x20"
               "01234567890123456789012345678901");
    td_wire_put_bytes(&out, td_text("ab")), EXPECT("\x02"
                                                   "ab");
    td_wire_put_bytes(&out, td_text("0123456789abcdef")), EXPECT("\x10\x10"
                                                                 "0123456789abcdef");
    td_wire_put_decimal(&out, td_text("18446744073709551616")), EXPECT("\x03");
    td_wire_put_decimal(&out, td_text("18446744073709551617")), EXPECT("\xFF\x14"
                                                                       "18446744073709551617");
    td_wire_put_arg(&out, false, 3), EXPECT("\x06");
    td_wire_put_arg(&out, true, 0x7E), EXPECT("\xFD");
    td_wire_put_arg(&out, true, 0x7F), EXPECT("\xFF\x7F\x00"
                                              "");
    td_writer_clear(&out);
}

static td_reader_t
reader_of(td_writer_t const *out, td_refusal_t *refusal)
{
    td_reader_t reader;

    td_reader_init(&reader, out->bytes, out->sz, refusal);
    return reader;
}

static void
ints_come_back(void **state)
{
    td_writer_t out;
    td_rng_t    rng;

    (void)state;
    td_writer_init(&out, SIZE_MAX);
    td_rng_init(&rng, 1);
    for (int i = 0; i < 20000; i++) {
        int64_t      value = (int64_t)(td_rng_u64(&rng) >> td_rng_below(&rng, 64));
        td_refusal_t refusal;
        td_reader_t  reader;

        value = td_rng_chance(&rng, 50) ? -value : value;
        td_wire_put_int(&out, value);
        reader = reader_of(&out, &refusal);
        assert_true(td_reader_int(&reader) == value);
        assert_int_equal(reader.in.off, out.sz);
        assert_false(reader.noted);
        td_writer_reset(&out);
    }
    td_writer_clear(&out);
}

static void
other_values_come_back(void **state)
{
    td_writer_t  out;
    td_refusal_t refusal;
    td_reader_t  reader;
    bool         is_ref;
    char         buffer[TD_NAME_SZ_MAX + 1];

    (void)state;
    td_writer_init(&out, SIZE_MAX);
    td_wire_put_float(&out, -1.25);
    td_wire_put_index(&out, 12345);
    td_wire_put_count(&out, 300);
    td_wire_put_arg(&out, true, 500);
    td_wire_put_text(&out, td_text("na\xc3\xafve"));
    td_wire_put_bytes(&out, td_text("\xff\xfe"));
    td_wire_put_decimal(&out, td_text("-99999999999999999999"));
    reader = reader_of(&out, &refusal);
    assert_true(td_reader_float(&reader) == -1.25);
    assert_int_equal(td_reader_index(&reader), 12345);
    assert_int_equal(td_reader_count(&reader, 300), 300);
    assert_int_equal(td_reader_arg(&reader, &is_ref), 500);
    assert_true(is_ref);
    assert_int_equal(td_reader_text(&reader, buffer).sz, 6);
    assert_int_equal(td_reader_bytes(&reader, buffer).sz, 2);
    assert_int_equal(td_reader_decimal(&reader, buffer).sz, 21);
    assert_int_equal(td_cursor_left(&reader.in), 0);
    assert_false(reader.noted);
    td_writer_clear(&out);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(published_values_mean_what_they_meant),
        cmocka_unit_test(codes_are_the_published_ones),
        cmocka_unit_test(ints_come_back),
        cmocka_unit_test(other_values_come_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
