/* td_wire.h: the bytes of the binary form.

   A program is the version byte and then records without length or padding.  A
   record is its *opcode* and then its operands, each in one of the codes below.
   What programs use most takes one byte, so that a changed byte changes one
   thing, and every byte stands for something:

     index   n-th before the newest: 0..0x7F in one byte; else 0x80 | high, low
     count   0..0x0F in one byte; else 0x10 | high, low (bytes from 0x20 on are
             no count: repaired to their last two bits, so that a wild byte does
             not swallow the stream)
     int     0x00..0xDF: -32..191; 0xE0..0xE7: 1..8 bytes, two's complement;
             0xE8..0xFF: ints where things break (td_wire.c)
     float   an index into floats where things break (td_wire.c); 0xFF: 8 bytes
     text    0x00..0xDF: an index into names.def; 0xE0..0xFE: 1..31 bytes; 0xFF: a
             length byte and 0..255 bytes
     bytes   0x00..0x0F: so many bytes; 0x10: a length byte and 16..255 bytes
     decimal an index into bigints (td_wire.c); 0xFF: a length byte and digits
     argument  2 * index | is_ref in one byte up to 0xFD; else that and 2 bytes more

   Only the shortest spelling is canonical.

     node        kind tag (0x01..0x7F), payload, edge count, edges (indices)
     source      0x80 + tag, its operands: base index, name, key index, idx (2 bytes)
     root        0xA0 + tag, its operands: source, node, name, arguments
     do          0xB0 + tag, its operands: nodes, name, int
     frame       0xE0
     export      0xE1
     constraint  0xE2 tensor, dim, min, max, debug name
                 0xE3 tensor, dim, other tensor, other dim, debug name
     config      0xE4 key, value
     end         0xE5: the last byte of every program, so that a cut one is none

   What is on the wire never changes its meaning: append only. */
#ifndef TD_GRAPH_WIRE_H
#define TD_GRAPH_WIRE_H

#include "base/td_cursor.h"
#include "base/td_writer.h"
#include "graph/td_graph.h"

enum {
    TD_WIRE_VERSION = 0xA0 | TD_FORMAT_VERSION,
    TD_WIRE_SOURCE  = 0x80, /* + td_source_kind_t */
    TD_WIRE_ENTRY   = 0xA0, /* + td_entry_t */
    TD_WIRE_DO      = 0xB0, /* + td_do_t */
    TD_WIRE_FRAME   = 0xE0,
    TD_WIRE_EXPORT  = 0xE1,
    TD_WIRE_RANGED  = 0xE2, /* a constraint with min and max */
    TD_WIRE_TIED    = 0xE3, /* a constraint that ties two dims */
    TD_WIRE_SETTING = 0xE4,
    TD_WIRE_END     = 0xE5,
};

/* A *reader* reads codes leniently: it always gives a value that the code can
   hold, and notes the first thing that was not as it should be. */
typedef struct {
    td_cursor_t   in;
    td_refusal_t *refusal; /* borrowed; NULL: nobody asks why */
    bool          noted;   /* refusal holds the first reason */
} td_reader_t;

void td_reader_init(td_reader_t *reader, uint8_t const *bytes, size_t sz, td_refusal_t *refusal);

/* td_reader_note keeps the first note: what is wrong at byte off. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void
td_reader_note(td_reader_t *reader, size_t off, char const *format, ...);

uint8_t  td_reader_u8(td_reader_t *reader);                                  /* 0 behind the end */
uint32_t td_reader_index(td_reader_t *reader);                               /* up to 0x7FFF */
uint32_t td_reader_count(td_reader_t *reader, uint32_t max);                 /* up to max */
uint16_t td_reader_u16(td_reader_t *reader, uint16_t below);                 /* below `below` */
uint8_t  td_reader_below(td_reader_t *reader, size_t cnt, char const *what); /* below cnt > 0 */
int64_t  td_reader_int(td_reader_t *reader);
double   td_reader_float(td_reader_t *reader);
uint32_t td_reader_arg(td_reader_t *reader, bool *is_ref); /* up to 0x7FFF */

/* Texts are written to buffer, which holds TD_NAME_SZ_MAX bytes or more; what is
   no utf-8 becomes '?'. */
td_text_t td_reader_text(td_reader_t *reader, char *buffer);
td_text_t td_reader_bytes(td_reader_t *reader, char *buffer);
td_text_t td_reader_decimal(td_reader_t *reader, char *buffer);

/* The canonical spellings. */
void td_wire_put_index(td_writer_t *out, uint32_t index);
void td_wire_put_count(td_writer_t *out, uint32_t count);
void td_wire_put_int(td_writer_t *out, int64_t value);
void td_wire_put_float(td_writer_t *out, double value);
void td_wire_put_text(td_writer_t *out, td_text_t text);
void td_wire_put_bytes(td_writer_t *out, td_text_t bytes);
void td_wire_put_decimal(td_writer_t *out, td_text_t decimal);
void td_wire_put_arg(td_writer_t *out, bool is_ref, uint32_t index);

/* Values where things break, by wire index: for the generator. */
size_t      td_wire_int_cnt(void);
int64_t     td_wire_int(size_t idx);
size_t      td_wire_float_cnt(void);
double      td_wire_float(size_t idx);
size_t      td_wire_decimal_cnt(void);
char const *td_wire_decimal(size_t idx);
size_t      td_wire_name_cnt(void);
char const *td_wire_name(size_t idx);

#endif
