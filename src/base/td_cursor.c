/* td_cursor.c: bounded reads. */
#include "base/td_cursor.h"

void
td_cursor_init(td_cursor_t *cursor, uint8_t const *bytes, size_t sz)
{
    cursor->bytes  = bytes;
    cursor->sz     = sz;
    cursor->off    = 0;
    cursor->status = TD_OK;
}

size_t
td_cursor_left(td_cursor_t const *cursor)
{
    return cursor->status == TD_OK ? cursor->sz - cursor->off : 0;
}

uint8_t const *
td_cursor_get_bytes(td_cursor_t *cursor, size_t sz)
{
    uint8_t const *bytes;

    if (cursor->status != TD_OK || cursor->sz - cursor->off < sz) {
        cursor->status = TD_REJECT;
        return NULL;
    }
    bytes = cursor->bytes + cursor->off;
    cursor->off += sz;
    return bytes;
}

static uint64_t
get_little_endian(td_cursor_t *cursor, size_t sz)
{
    uint8_t const *bytes = td_cursor_get_bytes(cursor, sz);
    uint64_t       value = 0;

    for (size_t i = 0; bytes != NULL && i < sz; i++) {
        value |= (uint64_t)bytes[i] << (8 * i);
    }
    return value;
}

uint8_t
td_cursor_get_u8(td_cursor_t *cursor)
{
    uint8_t const *byte = td_cursor_get_bytes(cursor, 1);

    return byte != NULL ? *byte : 0;
}

uint16_t
td_cursor_get_u16(td_cursor_t *cursor)
{
    return (uint16_t)get_little_endian(cursor, 2);
}

uint32_t
td_cursor_get_u32(td_cursor_t *cursor)
{
    return (uint32_t)get_little_endian(cursor, 4);
}

uint64_t
td_cursor_get_u64(td_cursor_t *cursor)
{
    return get_little_endian(cursor, 8);
}
