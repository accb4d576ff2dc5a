/* td_reader.c: codes read leniently, with a note of the first thing amiss. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/td_assert.h"
#include "graph/td_rules.h"
#include "graph/td_wire.h"

void
td_reader_init(td_reader_t *reader, uint8_t const *bytes, size_t sz, td_refusal_t *refusal)
{
    td_cursor_init(&reader->in, bytes, sz);
    reader->refusal = refusal;
    reader->noted   = false;
}

void
td_reader_note(td_reader_t *reader, size_t off, char const *format, ...)
{
    va_list args;

    if (reader->noted || reader->refusal == NULL) {
        return;
    }
    reader->noted           = true;
    reader->refusal->offset = off;
    reader->refusal->line   = 0;
    reader->refusal->column = 0;
    va_start(args, format);
    vsnprintf(reader->refusal->what, sizeof reader->refusal->what, format, args);
    va_end(args);
}

uint8_t
td_reader_u8(td_reader_t *reader)
{
    if (td_cursor_left(&reader->in) == 0) {
        td_reader_note(reader, reader->in.sz, "the program ends inside a record");
        return 0;
    }
    return td_cursor_get_u8(&reader->in);
}

uint32_t
td_reader_index(td_reader_t *reader)
{
    uint32_t code = td_reader_u8(reader);

    return code < 0x80 ? code : (code & 0x7F) << 8 | td_reader_u8(reader);
}

uint16_t
td_reader_u16(td_reader_t *reader, uint16_t below)
{
    size_t   off   = reader->in.off;
    uint32_t value = td_reader_u8(reader);

    value |= (uint32_t)td_reader_u8(reader) << 8;
    if (value >= below) {
        td_reader_note(reader, off, "%u is too large here (at most %u)", value, below - 1u);
        value %= below;
    }
    return (uint16_t)value;
}

uint32_t
td_reader_count(td_reader_t *reader, uint32_t max)
{
    size_t   off   = reader->in.off;
    uint32_t code  = td_reader_u8(reader);
    uint32_t count = code;

    if (code >= 0x20) {
        td_reader_note(reader, off, "0x%02x is no count", code);
        count = code & 3;
    } else if (code >= 0x10) {
        count = (code & 0xF) << 8 | td_reader_u8(reader);
    }
    if (count > max) {
        td_reader_note(reader, off, "%u is too many here (at most %u)", count, max);
        count = count % (max + 1);
    }
    return count;
}

uint8_t
td_reader_below(td_reader_t *reader, size_t cnt, char const *what)
{
    size_t  off   = reader->in.off;
    uint8_t value = td_reader_u8(reader);

    TD_ASSERT(cnt != 0);
    if (value >= cnt) {
        td_reader_note(reader, off, "there is no %s %u", what, value);
        value = (uint8_t)(value % cnt);
    }
    return value;
}

int64_t
td_reader_int(td_reader_t *reader)
{
    uint8_t  code  = td_reader_u8(reader);
    uint64_t value = 0;
    int      cnt   = code - 0xE0 + 1;

    if (code < 0xE0) {
        return (int64_t)code - 32;
    }
    if (code >= 0xE8) {
        return td_wire_int((size_t)(code - 0xE8) % td_wire_int_cnt());
    }
    for (int i = 0; i < cnt; i++) {
        value |= (uint64_t)td_reader_u8(reader) << (8 * i);
    }
    if (cnt < 8 && value >> (8 * cnt - 1) != 0) {
        value |= UINT64_MAX << (8 * cnt);
    }
    return (int64_t)value;
}

double
td_reader_float(td_reader_t *reader)
{
    size_t   off  = reader->in.off;
    uint8_t  code = td_reader_u8(reader);
    uint64_t bits = 0;
    double   value;

    if (code != 0xFF) {
        if (code >= td_wire_float_cnt()) {
            td_reader_note(reader, off, "there is no float 0x%02x", code);
        }
        return td_wire_float(code % td_wire_float_cnt());
    }
    for (int i = 0; i < 8; i++) {
        bits |= (uint64_t)td_reader_u8(reader) << (8 * i);
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint32_t
td_reader_arg(td_reader_t *reader, bool *is_ref)
{
    uint32_t code = td_reader_u8(reader);

    *is_ref = code & 1;
    return code < 0xFE ? code >> 1 : td_reader_u16(reader, 0x8000);
}

/* Copies up to sz bytes; fewer where the input ends. */
static td_text_t
raw_bytes(td_reader_t *reader, size_t sz, char *buffer)
{
    size_t left = td_cursor_left(&reader->in);

    if (sz > left) {
        td_reader_note(reader, reader->in.sz, "the program ends inside a text");
        sz = left;
    }
    if (sz != 0) {
        memcpy(buffer, td_cursor_get_bytes(&reader->in, sz), sz);
    }
    return (td_text_t){.bytes = buffer, .sz = (uint32_t)sz};
}

td_text_t
td_reader_bytes(td_reader_t *reader, char *buffer)
{
    size_t  off  = reader->in.off;
    uint8_t code = td_reader_u8(reader);

    if (code > 0x10) {
        td_reader_note(reader, off, "0x%02x is no length", code);
        code &= 0xF;
    }
    return raw_bytes(reader, code == 0x10 ? td_reader_u8(reader) : code, buffer);
}

static void
repair_utf8(td_reader_t *reader, size_t off, td_text_t text, char *buffer)
{
    size_t good = td_rules_utf8(buffer, text.sz);

    while (good < text.sz) {
        td_reader_note(reader, off + good, "the text is not utf-8");
        buffer[good] = '?';
        good++;
        good += td_rules_utf8(buffer + good, text.sz - good);
    }
}

td_text_t
td_reader_text(td_reader_t *reader, char *buffer)
{
    size_t    off  = reader->in.off;
    uint8_t   code = td_reader_u8(reader);
    td_text_t text;

    if (code < 0xE0) {
        if (code >= td_wire_name_cnt()) {
            td_reader_note(reader, off, "there is no name 0x%02x", code);
        }
        text.bytes = td_wire_name(code % td_wire_name_cnt());
        text.sz    = (uint32_t)strlen(text.bytes);
        return text;
    }
    text = raw_bytes(reader, code == 0xFF ? td_reader_u8(reader) : code - 0xE0u + 1, buffer);
    repair_utf8(reader, reader->in.off - text.sz, text, buffer);
    return text;
}

td_text_t
td_reader_decimal(td_reader_t *reader, char *buffer)
{
    size_t    off  = reader->in.off;
    uint8_t   code = td_reader_u8(reader);
    td_text_t text;

    if (code == 0xFF) {
        text = raw_bytes(reader, td_reader_u8(reader), buffer);
        if (td_rules_is_bigint(text)) {
            return text;
        }
        td_reader_note(reader, off, "these are no digits of an int outside 64 bits");
        code = (uint8_t)text.sz;
    }
    if (code >= td_wire_decimal_cnt()) {
        td_reader_note(reader, off, "there is no bigint 0x%02x", code);
    }
    text.bytes = td_wire_decimal(code % td_wire_decimal_cnt());
    text.sz    = (uint32_t)strlen(text.bytes);
    return text;
}
