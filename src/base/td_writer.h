/* td_writer.h: write bytes with bounds; the first failure sticks.

   After a failure every put does nothing, so a writer looks at the status once,
   at the end (TD_NOMEM, or TD_LIMIT once sz_max would be exceeded). */
#ifndef TD_BASE_WRITER_H
#define TD_BASE_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "base/td_status.h"

typedef struct {
    uint8_t    *bytes; /* owned; NULL before the first put */
    size_t      sz;    /* written so far */
    size_t      cap;
    size_t      sz_max; /* TD_LIMIT beyond this */
    td_status_t status;
} td_writer_t;

void td_writer_init(td_writer_t *writer, size_t sz_max); /* SIZE_MAX: no bound */
void td_writer_clear(td_writer_t *writer);               /* gives the memory back */
void td_writer_reset(td_writer_t *writer);               /* empty and well again, memory kept */

void td_writer_put_u8(td_writer_t *writer, uint8_t value);
void td_writer_put_u16(td_writer_t *writer, uint16_t value); /* little endian, as all below */
void td_writer_put_u32(td_writer_t *writer, uint32_t value);
void td_writer_put_u64(td_writer_t *writer, uint64_t value);
void td_writer_put_bytes(td_writer_t *writer, void const *bytes, size_t sz);
void td_writer_put_text(td_writer_t *writer, char const *text); /* without its NUL */

/* td_writer_put_format is printf into the writer; one call writes at most 511
   bytes (TD_LIMIT beyond). */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void
td_writer_put_format(td_writer_t *writer, char const *format, ...);

/* td_writer_take gives the bytes (with a NUL behind them that *sz leaves out;
   sz may be NULL) to the caller, who frees them with td_free; NULL after a
   failure.  The writer is empty afterwards, its status is kept. */
uint8_t *td_writer_take(td_writer_t *writer, size_t *sz);

#endif
