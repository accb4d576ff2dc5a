/* td_cursor.h: read bytes with bounds; the first failure sticks.

   After a failure every get gives 0 and moves nothing, so a reader looks at the
   status once, at the end of what it reads together. */
#ifndef TD_BASE_CURSOR_H
#define TD_BASE_CURSOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/td_status.h"

typedef struct {
    uint8_t const *bytes; /* borrowed; must outlive the cursor */
    size_t         sz;
    size_t         off;    /* of the next byte */
    td_status_t    status; /* TD_OK, or TD_REJECT once more was asked for than there is */
} td_cursor_t;

void   td_cursor_init(td_cursor_t *cursor, uint8_t const *bytes, size_t sz);
size_t td_cursor_left(td_cursor_t const *cursor); /* 0 after a failure */

uint8_t  td_cursor_get_u8(td_cursor_t *cursor);
uint16_t td_cursor_get_u16(td_cursor_t *cursor); /* little endian, as all below */
uint32_t td_cursor_get_u32(td_cursor_t *cursor);
uint64_t td_cursor_get_u64(td_cursor_t *cursor);

/* td_cursor_get_bytes gives a pointer to the next sz bytes; NULL on failure. */
uint8_t const *td_cursor_get_bytes(td_cursor_t *cursor, size_t sz);

#endif
