/* td_writer.c: a byte buffer that grows. */
#include "base/td_writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"

void
td_writer_init(td_writer_t *writer, size_t sz_max)
{
    writer->bytes  = NULL;
    writer->sz     = 0;
    writer->cap    = 0;
    writer->sz_max = sz_max;
    writer->status = TD_OK;
}

void
td_writer_clear(td_writer_t *writer)
{
    td_free(writer->bytes);
    td_writer_init(writer, writer->sz_max);
}

void
td_writer_reset(td_writer_t *writer)
{
    writer->sz     = 0;
    writer->status = TD_OK;
}

static td_status_t
writer_grow(td_writer_t *writer, size_t need)
{
    size_t   cap = writer->cap < 64 ? 64 : writer->cap;
    uint8_t *bytes;

    while (cap < need) {
        if (cap > SIZE_MAX / 2) {
            return TD_NOMEM;
        }
        cap *= 2;
    }
    bytes = td_realloc(writer->bytes, cap);
    if (bytes == NULL) {
        return TD_NOMEM;
    }
    writer->bytes = bytes;
    writer->cap   = cap;
    return TD_OK;
}

/* One byte more than asked for is always there: for the NUL of take. */
static td_status_t
writer_reserve(td_writer_t *writer, size_t sz)
{
    if (writer->sz_max - writer->sz < sz) {
        return TD_LIMIT;
    }
    if (writer->cap - writer->sz > sz) {
        return TD_OK;
    }
    if (sz >= SIZE_MAX - writer->sz) {
        return TD_NOMEM;
    }
    return writer_grow(writer, writer->sz + sz + 1);
}

void
td_writer_put_bytes(td_writer_t *writer, void const *bytes, size_t sz)
{
    if (writer->status == TD_OK) {
        writer->status = writer_reserve(writer, sz);
    }
    if (writer->status != TD_OK || sz == 0) {
        return;
    }
    memcpy(writer->bytes + writer->sz, bytes, sz);
    writer->sz += sz;
}

static void
put_little_endian(td_writer_t *writer, uint64_t value, size_t sz)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < sz; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
    td_writer_put_bytes(writer, bytes, sz);
}

void
td_writer_put_u8(td_writer_t *writer, uint8_t value)
{
    /* Most of what is written is single bytes. */
    if (writer->status == TD_OK && writer->cap - writer->sz > 1 && writer->sz < writer->sz_max) {
        writer->bytes[writer->sz++] = value;
        return;
    }
    put_little_endian(writer, value, 1);
}

void
td_writer_put_u16(td_writer_t *writer, uint16_t value)
{
    put_little_endian(writer, value, 2);
}

void
td_writer_put_u32(td_writer_t *writer, uint32_t value)
{
    put_little_endian(writer, value, 4);
}

void
td_writer_put_u64(td_writer_t *writer, uint64_t value)
{
    put_little_endian(writer, value, 8);
}

void
td_writer_put_text(td_writer_t *writer, char const *text)
{
    td_writer_put_bytes(writer, text, strlen(text));
}

void
td_writer_put_format(td_writer_t *writer, char const *format, ...)
{
    char    text[512];
    int     sz;
    va_list args;

    va_start(args, format);
    sz = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (writer->status == TD_OK && (sz < 0 || (size_t)sz >= sizeof text)) {
        writer->status = TD_LIMIT;
        return;
    }
    td_writer_put_bytes(writer, text, (size_t)sz);
}

uint8_t *
td_writer_take(td_writer_t *writer, size_t *sz)
{
    uint8_t *bytes = NULL; /* the caller's */

    if (writer->status == TD_OK) {
        writer->status = writer_reserve(writer, 0);
    }
    if (writer->status == TD_OK) {
        bytes             = writer->bytes;
        bytes[writer->sz] = '\0';
        if (sz != NULL) {
            *sz = writer->sz;
        }
        writer->bytes = NULL;
    }
    td_free(writer->bytes);
    writer->bytes = NULL;
    writer->sz    = 0;
    writer->cap   = 0;
    return bytes;
}
