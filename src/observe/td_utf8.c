/* td_utf8.c: what text of an observation may look like. */
#include <string.h>

#include "observe/td_obs_private.h"

static uint32_t
tail_bits(char const *text, size_t sz, size_t off, int cnt)
{
    uint32_t bits = 0;

    if (sz - off < (size_t)cnt) {
        return UINT32_MAX;
    }
    for (int idx = 0; idx < cnt; idx++) {
        uint8_t byte = (uint8_t)text[off + (size_t)idx];

        if ((byte & 0xC0) != 0x80) {
            return UINT32_MAX;
        }
        bits = bits << 6 | (byte & 0x3F);
    }
    return bits;
}

uint32_t
td_utf8_next(char const *text, size_t sz, size_t *off)
{
    static uint32_t const least[4] = {0, 0x80, 0x800, 0x10000};
    uint8_t               lead;
    int                   tail_cnt;
    uint32_t              bits, code;

    if (*off >= sz) {
        return UINT32_MAX;
    }
    lead = (uint8_t)text[*off];
    if (lead < 0x80) {
        *off += 1;
        return lead;
    }
    tail_cnt = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    bits     = tail_bits(text, sz, *off + 1, tail_cnt);
    if (lead < 0xC2 || lead > 0xF4 || bits == UINT32_MAX) {
        return UINT32_MAX;
    }
    code = (uint32_t)(lead & (0x3F >> tail_cnt)) << (6 * tail_cnt) | bits;
    if (code < least[tail_cnt] || code > 0x10FFFF) {
        return UINT32_MAX;
    }
    *off += (size_t)tail_cnt + 1;
    return code;
}

bool
td_utf8_is_valid(char const *text, size_t sz)
{
    uint64_t const high = UINT64_C(0x8080808080808080);
    size_t         off  = 0;
    uint64_t       word;

    while (off < sz) {
        if (sz - off >= sizeof word) {
            memcpy(&word, text + off, sizeof word);
            if ((word & high) == 0) {
                off += sizeof word;
                continue;
            }
        }
        if (td_utf8_next(text, sz, &off) == UINT32_MAX) {
            return false;
        }
    }
    return true;
}

bool
td_bigint_is_valid(char const *text, size_t sz)
{
    bool        minus  = sz != 0 && text[0] == '-';
    char const *digits = text + minus;
    size_t      cnt    = sz - minus;
    char const *bound  = minus ? "9223372036854775808" : "9223372036854775807";

    if (cnt < 19 || digits[0] == '0') {
        return false;
    }
    for (size_t idx = 0; idx < cnt; idx++) {
        if (digits[idx] < '0' || digits[idx] > '9') {
            return false;
        }
    }
    return cnt > 19 || memcmp(digits, bound, 19) > 0;
}
