/* td_buf.h: text that grows while it is written.

   The first failure sticks: after it every put does nothing, and the caller
   looks at failed once. */
#ifndef TD_BUILDER_BUF_H
#define TD_BUILDER_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    char  *bytes; /* NUL-terminated once something was put; owned */
    size_t sz;    /* without the NUL */
    size_t cap;
    bool   failed; /* memory ran out */
} td_buf_t;

void td_buf_init(td_buf_t *buf);
void td_buf_clear(td_buf_t *buf); /* gives the memory back */
void td_buf_reset(td_buf_t *buf); /* forgets the text and a failure, keeps the memory */

void td_buf_put(td_buf_t *buf, char const *bytes, size_t sz);
/* td_buf_room gives a place for sz bytes and a NUL behind the text; NULL: failed.  Whoever
   filled it tells td_buf_fill how many bytes it holds now, at most sz. */
char *td_buf_room(td_buf_t *buf, size_t sz);
void  td_buf_fill(td_buf_t *buf, size_t sz);

void td_buf_puts(td_buf_t *buf, char const *text);
void td_buf_put_u64(td_buf_t *buf, uint64_t value); /* decimal */
void td_buf_put_i64(td_buf_t *buf, int64_t value);  /* decimal */

static inline void
td_buf_putc(td_buf_t *buf, char c)
{
    if (buf->cap - buf->sz <= 1 || buf->failed) {
        td_buf_put(buf, &c, 1);
        return;
    }
    buf->bytes[buf->sz++] = c;
    buf->bytes[buf->sz]   = '\0';
}

#endif
