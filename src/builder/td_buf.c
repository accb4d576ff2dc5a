/* td_buf.c: text that grows while it is written. */
#include "builder/td_buf.h"

#include <string.h>

#include "base/td_alloc.h"

enum { FIRST_CAP = 128 };

void
td_buf_init(td_buf_t *buf)
{
    memset(buf, 0, sizeof *buf);
}

void
td_buf_clear(td_buf_t *buf)
{
    td_free(buf->bytes);
    memset(buf, 0, sizeof *buf);
}

void
td_buf_reset(td_buf_t *buf)
{
    buf->sz     = 0;
    buf->failed = false;
    if (buf->bytes != NULL) {
        buf->bytes[0] = '\0';
    }
}

char *
td_buf_room(td_buf_t *buf, size_t sz)
{
    if (buf->failed || td_room_refused()) {
        buf->failed = true;
        return NULL;
    }
    if (buf->cap - buf->sz <= sz) {
        size_t cap   = (buf->cap == 0 ? FIRST_CAP : 2 * buf->cap) + sz;
        char  *grown = td_realloc(buf->bytes, cap);

        if (grown == NULL) {
            buf->failed = true;
            return NULL;
        }
        buf->bytes = grown;
        buf->cap   = cap;
    }
    return buf->bytes + buf->sz;
}

void
td_buf_fill(td_buf_t *buf, size_t sz)
{
    buf->sz += sz;
    buf->bytes[buf->sz] = '\0';
}

void
td_buf_put(td_buf_t *buf, char const *bytes, size_t sz)
{
    char *room = td_buf_room(buf, sz);

    if (room != NULL) {
        memcpy(room, bytes, sz);
        td_buf_fill(buf, sz);
    }
}

void
td_buf_puts(td_buf_t *buf, char const *text)
{
    td_buf_put(buf, text, strlen(text));
}

void
td_buf_put_u64(td_buf_t *buf, uint64_t value)
{
    char   text[32];
    size_t at = sizeof text;

    do {
        text[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    td_buf_put(buf, text + at, sizeof text - at);
}

void
td_buf_put_i64(td_buf_t *buf, int64_t value)
{
    if (value < 0) {
        td_buf_putc(buf, '-');
    }
    td_buf_put_u64(buf, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}
