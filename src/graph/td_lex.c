/* td_lex.c: takes words, numbers and texts out of a line. */
#include "graph/td_lex.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/td_rules.h"

void
td_lex_init(td_lex_t *lex, char const *text, size_t sz, td_refusal_t *refusal)
{
    *lex = (td_lex_t){.text = text, .sz = sz, .refusal = refusal};
}

/* A message may quote a word of the input; it is one line of UTF-8 all the same. */
static void
make_printable(char *what)
{
    for (; *what != '\0'; what++) {
        *what = *what >= ' ' && *what <= '~' ? *what : '?';
    }
}

void
td_lex_fail(td_lex_t *lex, size_t off, char const *format, ...)
{
    va_list args;

    if (lex->failed) {
        return;
    }
    lex->failed          = true;
    lex->refusal->offset = off;
    lex->refusal->line   = lex->line;
    lex->refusal->column = 1;
    for (size_t i = lex->line_off; i < off && i < lex->sz; i++) {
        lex->refusal->column += ((uint8_t)lex->text[i] & 0xC0) != 0x80;
    }
    va_start(args, format);
    vsnprintf(lex->refusal->what, sizeof lex->refusal->what, format, args);
    va_end(args);
    make_printable(lex->refusal->what);
}

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* A NUL in the text is no end of line: it is a character that nothing wants. */
static bool
is_line_end(td_lex_t const *lex)
{
    return lex->off == lex->sz || lex->text[lex->off] == '\n';
}

static void
skip_blanks(td_lex_t *lex)
{
    while (lex->off < lex->sz && is_blank(lex->text[lex->off])) {
        lex->off++;
    }
    if (lex->off < lex->sz && lex->text[lex->off] == '#') {
        while (!is_line_end(lex)) {
            lex->off++;
        }
    }
}

bool
td_lex_next_line(td_lex_t *lex)
{
    while (!lex->failed) {
        if (lex->line != 0) {
            if (lex->off == lex->sz) {
                return false;
            }
            lex->off++; /* the line feed: the line was read to its end */
        }
        lex->line++;
        lex->line_off = lex->off;
        skip_blanks(lex);
        if (!is_line_end(lex)) {
            return true;
        }
    }
    return false;
}

char
td_lex_at(td_lex_t *lex)
{
    if (lex->failed) {
        return '\0';
    }
    skip_blanks(lex);
    if (is_line_end(lex)) {
        return '\0';
    }
    return lex->text[lex->off] != '\0' ? lex->text[lex->off] : '\1';
}

bool
td_lex_accept(td_lex_t *lex, char wanted)
{
    if (td_lex_at(lex) != wanted) {
        return false;
    }
    lex->off++;
    return true;
}

void
td_lex_expect(td_lex_t *lex, char wanted)
{
    if (!td_lex_accept(lex, wanted)) {
        td_lex_fail(lex, lex->off, "'%c' is missing here", wanted);
    }
}

void
td_lex_end(td_lex_t *lex)
{
    if (td_lex_at(lex) != '\0') {
        td_lex_fail(lex, lex->off, "the line should end here");
    }
}

static bool
is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool
is_word_rest(char c)
{
    return is_letter(c) || is_digit(c) || c == '.';
}

static bool
is_no_blank(char c)
{
    return !is_blank(c) && c != '\n' && c != '#';
}

/* Takes characters while they are of a class; fails on none or too many. */
static void
take_while(td_lex_t *lex, bool (*is)(char), char *word, char const *what)
{
    size_t start = lex->off, sz = 0;

    word[0] = '\0';
    if (lex->failed) {
        return;
    }
    while (start + sz < lex->sz && is(lex->text[start + sz])) {
        sz++;
    }
    if (sz == 0 || sz > TD_WORD_SZ_MAX) {
        td_lex_fail(lex, start, sz == 0 ? "%s is missing here" : "this is no %s: it is too long",
                    what);
        return;
    }
    memcpy(word, lex->text + start, sz);
    word[sz] = '\0';
    lex->off = start + sz;
}

void
td_lex_word(td_lex_t *lex, char *word, char const *what)
{
    word[0] = '\0';
    if (!is_letter(td_lex_at(lex))) {
        td_lex_fail(lex, lex->off, "%s is missing here", what);
        return;
    }
    take_while(lex, is_word_rest, word, what);
}

void
td_lex_chunk(td_lex_t *lex, char *word, char const *what)
{
    td_lex_at(lex);
    take_while(lex, is_no_blank, word, what);
}

/* Takes an optional sign and digits; the text, empty on failure. */
static td_text_t
take_digits(td_lex_t *lex, char const *what)
{
    td_text_t digits = {.bytes = "", .sz = 0};
    size_t    start, off;

    td_lex_at(lex);
    start = off = lex->off;
    off += off < lex->sz && lex->text[off] == '-';
    while (off < lex->sz && is_digit(lex->text[off])) {
        off++;
    }
    if (lex->failed || off == start || !is_digit(lex->text[off - 1])) {
        td_lex_fail(lex, start, "%s is missing here", what);
        return digits;
    }
    digits.bytes = lex->text + start;
    digits.sz    = (uint32_t)(off - start);
    lex->off     = off;
    return digits;
}

int64_t
td_lex_int(td_lex_t *lex, int64_t min, int64_t max, char const *what)
{
    td_text_t digits = take_digits(lex, what);
    size_t    start  = lex->off - digits.sz;
    char      copy[24];
    long long value;

    if (lex->failed) {
        return 0;
    }
    if (digits.sz >= sizeof copy) {
        td_lex_fail(lex, start, "%s is out of range", what);
        return 0;
    }
    memcpy(copy, digits.bytes, digits.sz);
    copy[digits.sz] = '\0';
    errno           = 0;
    value           = strtoll(copy, NULL, 10);
    if (errno != 0 || value < min || value > max) {
        td_lex_fail(lex, start, "%s is out of range", what);
        return 0;
    }
    return value;
}

td_text_t
td_lex_decimal(td_lex_t *lex, char *buffer)
{
    td_text_t digits = take_digits(lex, "a decimal number");
    size_t    start  = lex->off - digits.sz;

    if (!lex->failed && !td_rules_is_bigint(digits)) {
        td_lex_fail(lex, start, "these are no digits of an int outside 64 bits");
    }
    if (lex->failed) {
        return (td_text_t){.bytes = "", .sz = 0};
    }
    memcpy(buffer, digits.bytes, digits.sz);
    return (td_text_t){.bytes = buffer, .sz = digits.sz};
}

/* nan with its bits in hexadecimal: nan:7ff8000000000001. */
static bool
nan_from_bits(char const *word, double *value)
{
    uint64_t bits = 0;
    char    *end;

    if (strncmp(word, "nan:", 4) != 0 || strlen(word) != 20) {
        return false;
    }
    errno = 0;
    bits  = strtoull(word + 4, &end, 16);
    memcpy(value, &bits, sizeof *value);
    return *end == '\0' && errno == 0 && isnan(*value);
}

double
td_lex_float(td_lex_t *lex)
{
    uint64_t const quiet = UINT64_C(0x7ff8000000000000);
    char           word[TD_WORD_SZ_MAX + 1];
    size_t         start = (td_lex_at(lex), lex->off);
    double         value = 0.0;
    char          *end;

    td_lex_chunk(lex, word, "a float");
    if (lex->failed || nan_from_bits(word, &value)) {
        return value;
    }
    if (strcmp(word, "nan") == 0) {
        memcpy(&value, &quiet, sizeof value);
        return value;
    }
    value = strtod(word, &end);
    if (*end != '\0' || isnan(value) || strpbrk(word, "xX") != NULL ||
        (isinf(value) && strstr(word, "inf") == NULL)) {
        td_lex_fail(lex, start, "this is no float that fits in 64 bits");
    }
    return value;
}

static int
hex_digit(char c)
{
    if (is_digit(c)) {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Takes \xNN behind its x. */
static int
take_hex(td_lex_t *lex, bool is_bytes)
{
    int high = lex->off < lex->sz ? hex_digit(lex->text[lex->off]) : -1;
    int low  = high >= 0 && lex->off + 1 < lex->sz ? hex_digit(lex->text[lex->off + 1]) : -1;

    if (low < 0) {
        td_lex_fail(lex, lex->off, "two hexadecimal digits are missing here");
        return 0;
    }
    if (!is_bytes && high >= 8) {
        td_lex_fail(lex, lex->off, "in a text, \\x goes up to 7f: write the character itself");
        return 0;
    }
    lex->off += 2;
    return high * 16 + low;
}

static char
take_escape(td_lex_t *lex, bool is_bytes)
{
    char c = lex->off < lex->sz ? lex->text[lex->off] : '\n';

    switch (c) {
    case 'n':
        lex->off++;
        return '\n';
    case 't':
        lex->off++;
        return '\t';
    case 'r':
        lex->off++;
        return '\r';
    case '"':
    case '\\':
        lex->off++;
        return c;
    case 'x':
        lex->off++;
        return (char)take_hex(lex, is_bytes);
    default:
        td_lex_fail(lex, lex->off - 1,
                    "there is no such escape (only \\n \\t \\r \\\" \\\\ \\xNN)");
        return '\0';
    }
}

static td_text_t
take_quoted(td_lex_t *lex, char *buffer, bool is_bytes)
{
    size_t start = (td_lex_at(lex), lex->off);
    size_t sz    = 0;

    td_lex_expect(lex, '"');
    while (!lex->failed && !is_line_end(lex) && lex->text[lex->off] != '"') {
        char c = lex->text[lex->off++];

        if (c == '\\') {
            c = take_escape(lex, is_bytes);
        }
        if (sz == TD_NAME_SZ_MAX) {
            td_lex_fail(lex, start, "the text has more than %d bytes", TD_NAME_SZ_MAX);
            break;
        }
        buffer[sz++] = c;
    }
    if (!lex->failed && is_line_end(lex)) {
        td_lex_fail(lex, start, "the text does not end in this line");
    }
    lex->off += !lex->failed;
    if (!is_bytes && !lex->failed && td_rules_utf8(buffer, sz) != sz) {
        td_lex_fail(lex, start, "the text is not utf-8");
    }
    return (td_text_t){.bytes = buffer, .sz = (uint32_t)sz};
}

td_text_t
td_lex_string(td_lex_t *lex, char *buffer)
{
    return take_quoted(lex, buffer, false);
}

td_text_t
td_lex_bytes(td_lex_t *lex, char *buffer)
{
    if (!td_lex_accept(lex, 'b')) {
        td_lex_fail(lex, lex->off, "b\"...\" is missing here");
    }
    return take_quoted(lex, buffer, true);
}
