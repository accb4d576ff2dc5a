/* td_wire.c: the tables behind the codes, and how values are written in them. */
#include "graph/td_wire.h"

#include <math.h>
#include <string.h>

#include "base/td_assert.h"

/* Wire indices: append only, all three. */
static int64_t const ints[] = {
    INT64_MIN,
    INT64_MAX,
    INT64_MIN + 1,
    INT64_C(2147483647), /* int32 ends */
    INT64_C(2147483648),
    INT64_C(-2147483648),
    INT64_C(-2147483649),
    INT64_C(4294967295),
    INT64_C(4294967296),
    INT64_C(1073741823), /* one digit of CPython's int */
    INT64_C(1073741824),
    INT64_C(-1073741824),
    INT64_C(1152921504606846975), /* two digits */
    INT64_C(1152921504606846976),
    INT64_C(9007199254740992), /* doubles stop being exact */
    INT64_C(9007199254740993),
    INT64_C(4611686018427387904),
    256, /* CPython's small ints end here */
    257,
    1000,
    1024,
    65536,
    -1000,
    1000000,
};

static char const *const decimals[] = {
    "9223372036854775808",   "-9223372036854775809",
    "18446744073709551615",  "18446744073709551616",
    "-18446744073709551616", "1180591620717411303424",
    "100000000000000000000", "340282366920938463463374607431768211456",
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

/* Infinities and nan are not constant expressions everywhere. */
enum { FLOAT_INF = sizeof floats / sizeof *floats, FLOAT_NEG_INF, FLOAT_NAN, FLOAT_CNT };

static char const *const names[] = {
#define X(idx, text) [idx] = text,
#include "graph/names.def"
#undef X
};

static uint8_t const name_sz[] = {
#define X(idx, text) [idx] = sizeof(text) - 1,
#include "graph/names.def"
#undef X
};

enum {
    INT_CNT     = sizeof ints / sizeof *ints,
    DECIMAL_CNT = sizeof decimals / sizeof *decimals,
    NAME_CNT    = sizeof names / sizeof *names,
    INT_SMALL   = 32,   /* bias of a small int */
    INT_LONG    = 0xE0, /* + bytes - 1 */
    INT_LISTED  = 0xE8,
    TEXT_SHORT  = 0xE0, /* + bytes - 1 */
    ESCAPE      = 0xFF, /* of floats, texts and decimals */
};

_Static_assert(INT_CNT <= 0x100 - INT_LISTED, "an int of the list is one byte");
_Static_assert(NAME_CNT <= TEXT_SHORT, "a name of the list is one byte");
_Static_assert((int)FLOAT_CNT < (int)ESCAPE, "a float of the list is one byte");

size_t
td_wire_int_cnt(void)
{
    return INT_CNT;
}

int64_t
td_wire_int(size_t idx)
{
    TD_ASSERT(idx < INT_CNT);
    return ints[idx];
}

size_t
td_wire_float_cnt(void)
{
    return FLOAT_CNT;
}

static double
float_from_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t
float_to_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double
td_wire_float(size_t idx)
{
    TD_ASSERT(idx < FLOAT_CNT);
    switch (idx) {
    case FLOAT_INF:
        return (double)INFINITY;
    case FLOAT_NEG_INF:
        return (double)-INFINITY;
    case FLOAT_NAN:
        return float_from_bits(UINT64_C(0x7ff8000000000000));
    default:
        return floats[idx];
    }
}

size_t
td_wire_decimal_cnt(void)
{
    return DECIMAL_CNT;
}

char const *
td_wire_decimal(size_t idx)
{
    TD_ASSERT(idx < DECIMAL_CNT);
    return decimals[idx];
}

size_t
td_wire_name_cnt(void)
{
    return NAME_CNT;
}

char const *
td_wire_name(size_t idx)
{
    TD_ASSERT(idx < NAME_CNT);
    return names[idx];
}

void
td_wire_put_index(td_writer_t *out, uint32_t index)
{
    TD_ASSERT(index <= 0x7FFF);
    if (index >= 0x80) {
        td_writer_put_u8(out, (uint8_t)(0x80 | index >> 8));
    }
    td_writer_put_u8(out, (uint8_t)index);
}

void
td_wire_put_count(td_writer_t *out, uint32_t count)
{
    TD_ASSERT(count <= 0xFFF);
    if (count >= 0x10) {
        td_writer_put_u8(out, (uint8_t)(0x10 | count >> 8));
    }
    td_writer_put_u8(out, (uint8_t)count);
}

static int
int_listed(int64_t value)
{
    for (int i = 0; i < INT_CNT; i++) {
        if (ints[i] == value) {
            return i;
        }
    }
    return -1;
}

/* Bytes that hold value in two's complement, 1..8. */
static int
int_byte_cnt(int64_t value)
{
    uint64_t magnitude = value < 0 ? ~(uint64_t)value : (uint64_t)value;
    int      cnt       = 1;

    while (magnitude >> (8 * cnt - 1) != 0) {
        cnt++;
    }
    return cnt;
}

void
td_wire_put_int(td_writer_t *out, int64_t value)
{
    int listed, cnt;

    if (value >= -INT_SMALL && value < INT_LONG - INT_SMALL) {
        td_writer_put_u8(out, (uint8_t)(value + INT_SMALL));
        return;
    }
    listed = int_listed(value);
    if (listed >= 0) {
        td_writer_put_u8(out, (uint8_t)(INT_LISTED + listed));
        return;
    }
    cnt = int_byte_cnt(value);
    td_writer_put_u8(out, (uint8_t)(INT_LONG + cnt - 1));
    for (int i = 0; i < cnt; i++) {
        td_writer_put_u8(out, (uint8_t)((uint64_t)value >> (8 * i)));
    }
}

void
td_wire_put_float(td_writer_t *out, double value)
{
    uint64_t bits = float_to_bits(value);

    for (size_t i = 0; i < FLOAT_CNT; i++) {
        if (float_to_bits(td_wire_float(i)) == bits) {
            td_writer_put_u8(out, (uint8_t)i);
            return;
        }
    }
    td_writer_put_u8(out, ESCAPE);
    td_writer_put_u64(out, bits);
}

static int
name_listed(td_text_t text)
{
    for (int i = 0; i < NAME_CNT; i++) {
        if (name_sz[i] == text.sz && memcmp(names[i], text.bytes, text.sz) == 0) {
            return i;
        }
    }
    return -1;
}

void
td_wire_put_text(td_writer_t *out, td_text_t text)
{
    int listed = name_listed(text);

    TD_ASSERT(text.sz <= TD_NAME_SZ_MAX);
    if (listed >= 0) {
        td_writer_put_u8(out, (uint8_t)listed);
        return;
    }
    if (text.sz >= 1 && text.sz <= 31) {
        td_writer_put_u8(out, (uint8_t)(TEXT_SHORT + text.sz - 1));
    } else {
        td_writer_put_u8(out, ESCAPE);
        td_writer_put_u8(out, (uint8_t)text.sz);
    }
    td_writer_put_bytes(out, text.bytes, text.sz);
}

void
td_wire_put_bytes(td_writer_t *out, td_text_t bytes)
{
    TD_ASSERT(bytes.sz <= TD_NAME_SZ_MAX);
    if (bytes.sz >= 0x10) {
        td_writer_put_u8(out, 0x10);
    }
    td_writer_put_u8(out, (uint8_t)bytes.sz);
    td_writer_put_bytes(out, bytes.bytes, bytes.sz);
}

void
td_wire_put_decimal(td_writer_t *out, td_text_t decimal)
{
    TD_ASSERT(decimal.sz <= TD_NAME_SZ_MAX);
    for (int i = 0; i < DECIMAL_CNT; i++) {
        if (strlen(decimals[i]) == decimal.sz &&
            memcmp(decimals[i], decimal.bytes, decimal.sz) == 0) {
            td_writer_put_u8(out, (uint8_t)i);
            return;
        }
    }
    td_writer_put_u8(out, ESCAPE);
    td_writer_put_u8(out, (uint8_t)decimal.sz);
    td_writer_put_bytes(out, decimal.bytes, decimal.sz);
}

void
td_wire_put_arg(td_writer_t *out, bool is_ref, uint32_t index)
{
    TD_ASSERT(index <= 0x7FFF);
    if (index < 0x7F) {
        td_writer_put_u8(out, (uint8_t)(2 * index + is_ref));
        return;
    }
    td_writer_put_u8(out, (uint8_t)(0xFE + is_ref));
    td_writer_put_u16(out, (uint16_t)index);
}
