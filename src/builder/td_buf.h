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
void td_buf_puts(td_buf_t *buf, char const *text);
void td_buf_putc(td_buf_t *buf, char c);
void td_buf_put_u64(td_buf_t *buf, uint64_t value); /* decimal */
void td_buf_put_i64(td_buf_t *buf, int64_t value);  /* decimal */

#endif
