/* td_repr.c: canonical values as Python's repr spells them. */
#include "observe/td_repr.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/td_assert.h"
#include "observe/td_obs_private.h"

typedef struct {
    uint32_t first, last;
} range_t;

static range_t const printable_table[] = {
#define PRINTABLE(first, last) {first, last},
#define START(first, last)
#define CONTINUE(first, last)
#include "observe/unicode.def"
#undef PRINTABLE
#undef START
#undef CONTINUE
};

static range_t const start_table[] = {
#define PRINTABLE(first, last)
#define START(first, last) {first, last},
#define CONTINUE(first, last)
#include "observe/unicode.def"
#undef PRINTABLE
#undef START
#undef CONTINUE
};

static range_t const continue_table[] = {
#define PRINTABLE(first, last)
#define START(first, last)
#define CONTINUE(first, last) {first, last},
#include "observe/unicode.def"
#undef PRINTABLE
#undef START
#undef CONTINUE
};

static int
range_cmp(void const *key, void const *entry)
{
    uint32_t       code  = *(uint32_t const *)key;
    range_t const *range = entry;

    return (code > range->last) - (code < range->first);
}

#define IN_TABLE(code, table) \
    (bsearch(&(code), table, sizeof(table) / sizeof *(table), sizeof *(table), range_cmp) != NULL)

static bool
is_printable(uint32_t code)
{
    return code < 0x80 ? code >= 0x20 && code != 0x7F : IN_TABLE(code, printable_table);
}

static bool
is_letter(uint32_t code)
{
    return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || code == '_';
}

bool
td_is_identifier(char const *text, size_t sz)
{
    size_t   off  = 0;
    uint32_t code = td_utf8_next(text, sz, &off);

    if (code == UINT32_MAX || !(code < 0x80 ? is_letter(code) : IN_TABLE(code, start_table))) {
        return false;
    }
    while (off < sz) {
        code = td_utf8_next(text, sz, &off);
        if (code < 0x80 ? !is_letter(code) && !(code >= '0' && code <= '9')
                        : !IN_TABLE(code, continue_table)) {
            return false;
        }
    }
    return true;
}

/* ---- str and float --------------------------------------------------------- */

static void
put_escape(td_writer_t *writer, uint32_t code)
{
    switch (code) {
    case '\n':
        td_writer_put_text(writer, "\\n");
        break;
    case '\r':
        td_writer_put_text(writer, "\\r");
        break;
    case '\t':
        td_writer_put_text(writer, "\\t");
        break;
    default:
        td_writer_put_format(writer,
                             code <= 0xFF     ? "\\x%02" PRIx32
                             : code <= 0xFFFF ? "\\u%04" PRIx32
                                              : "\\U%08" PRIx32,
                             code);
        break;
    }
}

/* Bytes from text on that need no second look, whatever the quotes are. */
static size_t
plain_sz(char const *text, size_t sz)
{
    size_t idx = 0;

    while (idx < sz && text[idx] >= 0x20 && text[idx] < 0x7F && text[idx] != '\'' &&
           text[idx] != '"' && text[idx] != '\\') {
        idx++;
    }
    return idx;
}

void
td_repr_str(td_writer_t *writer, char const *text, size_t sz)
{
    bool const single = memchr(text, '\'', sz) != NULL && memchr(text, '"', sz) == NULL;
    char const quote  = single ? '"' : '\'';

    td_writer_put_u8(writer, (uint8_t)quote);
    for (size_t off = 0, next = 0; off < sz; off = next) {
        uint32_t code;

        next = off + plain_sz(text + off, sz - off);
        td_writer_put_bytes(writer, text + off, next - off);
        if (next == sz) {
            break;
        }
        off  = next;
        code = td_utf8_next(text, sz, &next);
        TD_ASSERT(code != UINT32_MAX);
        if (code == (uint8_t)quote || code == '\\') {
            td_writer_put_u8(writer, '\\');
        }
        if (is_printable(code)) {
            td_writer_put_bytes(writer, text + off, next - off);
        } else {
            put_escape(writer, code);
        }
    }
    td_writer_put_u8(writer, (uint8_t)quote);
}

/* digits is d.ddde+xx of the shortest %e that reads back; Python puts the point
   among the digits when the exponent is from -4 to 15. */
static void
float_layout(char out[TD_REPR_FLOAT_SZ], char const *digits)
{
    char const *sign = digits[0] == '-' ? "-" : "";
    char        plain[24];
    int         cnt = 0, exponent;

    for (digits += sign[0] != '\0'; *digits != 'e'; digits++) {
        if (*digits != '.') {
            plain[cnt++] = *digits;
        }
    }
    plain[cnt] = '\0';
    exponent   = (int)strtol(digits + 1, NULL, 10);
    if (exponent < -4 || exponent > 15) {
        snprintf(out, TD_REPR_FLOAT_SZ, "%s%c%s%se%c%02d", sign, plain[0], cnt > 1 ? "." : "",
                 plain + 1, exponent < 0 ? '-' : '+', abs(exponent));
    } else if (exponent < 0) {
        snprintf(out, TD_REPR_FLOAT_SZ, "%s0.%.*s%s", sign, -exponent - 1, "000", plain);
    } else if (cnt <= exponent + 1) {
        snprintf(out, TD_REPR_FLOAT_SZ, "%s%s%.*s.0", sign, plain, exponent + 1 - cnt,
                 "000000000000000");
    } else {
        snprintf(out, TD_REPR_FLOAT_SZ, "%s%.*s.%s", sign, exponent + 1, plain,
                 plain + exponent + 1);
    }
}

void
td_repr_float(char out[TD_REPR_FLOAT_SZ], double value)
{
    char digits[TD_REPR_FLOAT_SZ];

    if (isnan(value)) {
        snprintf(out, TD_REPR_FLOAT_SZ, "nan");
        return;
    }
    if (isinf(value)) {
        snprintf(out, TD_REPR_FLOAT_SZ, value < 0 ? "-inf" : "inf");
        return;
    }
    for (int precision = 0; precision <= 16; precision++) {
        snprintf(digits, sizeof digits, "%.*e", precision, value);
        if (strtod(digits, NULL) == value) {
            break;
        }
    }
    float_layout(out, digits);
}

/* ---- forms ----------------------------------------------------------------- */

static void
put_items(td_writer_t *writer, td_obs_t const *obs, td_val_t items)
{
    size_t cnt = td_obs_get_cnt(obs, items);

    for (size_t idx = 0; idx < cnt; idx++) {
        td_writer_put_text(writer, idx != 0 ? ", " : "");
        td_repr_value(writer, obs, td_obs_get_item(obs, items, idx));
    }
}

static bool
is_sequence(td_obs_t const *obs, td_val_t val)
{
    return td_obs_kind(obs, val) == TD_VAL_LIST || td_obs_kind(obs, val) == TD_VAL_BAG;
}

/* Containers by exact type: word, what stands before and behind the items, and
   the whole when there are none. */
typedef struct {
    char const *word, *before, *behind, *empty;
} brackets_t;

static bool
put_container(td_writer_t *writer, td_obs_t const *obs, char const *word, td_val_t content)
{
    static brackets_t const table[] = {
        {"tuple", "(", ")", "()"},
        {"list", "[", "]", "[]"},
        {"set", "{", "}", "set()"},
        {"frozenset", "frozenset({", "})", "frozenset()"},
        {"torch.Size", "torch.Size([", "])", "torch.Size([])"},
        {"slice", "slice(", ")", "slice()"},
        {"range", "range(", ")", "range()"},
    };

    for (size_t idx = 0; idx < sizeof table / sizeof *table; idx++) {
        if (strcmp(table[idx].word, word) != 0 || !is_sequence(obs, content)) {
            continue;
        }
        if (td_obs_get_cnt(obs, content) == 0) {
            td_writer_put_text(writer, table[idx].empty);
            return true;
        }
        td_writer_put_text(writer, table[idx].before);
        put_items(writer, obs, content);
        td_writer_put_text(writer, idx == 0 && td_obs_get_cnt(obs, content) == 1 ? "," : "");
        td_writer_put_text(writer, table[idx].behind);
        return true;
    }
    return false;
}

/* "cpu", "cuda:1" -> device(type='cuda', index=1) */
static void
put_device(td_writer_t *writer, char const *text)
{
    char const *colon = strchr(text, ':');

    td_writer_put_format(writer, "device(type='%.*s'",
                         colon != NULL ? (int)(colon - text) : (int)strlen(text), text);
    if (colon != NULL) {
        td_writer_put_format(writer, ", index=%s", colon + 1);
    }
    td_writer_put_text(writer, ")");
}

/* bytes are written one character U+0000 to U+00FF for each. */
static void
put_bytes(td_writer_t *writer, char const *text, size_t sz)
{
    char const quote = memchr(text, '\'', sz) != NULL && memchr(text, '"', sz) == NULL ? '"' : '\'';

    td_writer_put_format(writer, "b%c", quote);
    for (size_t off = 0; off < sz;) {
        uint32_t code = td_utf8_next(text, sz, &off);

        if (code == (uint8_t)quote || code == '\\') {
            td_writer_put_format(writer, "\\%c", (int)code);
        } else if (code >= 0x20 && code < 0x7F) {
            td_writer_put_u8(writer, (uint8_t)code);
        } else {
            put_escape(writer, code);
        }
    }
    td_writer_put_u8(writer, (uint8_t)quote);
}

static bool
put_text_form(td_writer_t *writer, td_obs_t const *obs, char const *word, td_val_t content)
{
    size_t      sz;
    char const *text;

    if (td_obs_kind(obs, content) != TD_VAL_STR) {
        return false;
    }
    text = td_obs_get_str(obs, content, &sz);
    if (strcmp(word, "bytes") == 0) {
        put_bytes(writer, text, sz);
    } else if (strcmp(word, "torch.device") == 0) {
        put_device(writer, text);
    } else if (strcmp(word, "singleton") == 0) {
        td_writer_put_text(writer, text);
    } else if (strcmp(word, "torch.dtype") == 0 || strcmp(word, "torch.layout") == 0 ||
               strcmp(word, "torch.memory_format") == 0) {
        td_writer_put_format(writer, "%s%s", strncmp(text, "torch.", 6) == 0 ? "" : "torch.", text);
    } else {
        return false;
    }
    return true;
}

static char const *
item_text(td_obs_t const *obs, td_val_t list, size_t idx)
{
    td_val_t item = td_obs_get_item(obs, list, idx);

    return td_obs_kind(obs, item) == TD_VAL_STR ? td_obs_get_str(obs, item, NULL) : "";
}

/* What has no repr of its own here: the form in angle brackets. */
static void
put_unspelled(td_writer_t *writer, td_obs_t const *obs, td_val_t list)
{
    size_t cnt = td_obs_get_cnt(obs, list);

    td_writer_put_u8(writer, '<');
    for (size_t idx = 0; idx < cnt; idx++) {
        td_val_t item = td_obs_get_item(obs, list, idx);

        td_writer_put_text(writer, idx != 0 ? " " : "");
        if (td_obs_kind(obs, item) == TD_VAL_STR) {
            td_writer_put_text(writer, td_obs_get_str(obs, item, NULL));
        } else {
            td_repr_value(writer, obs, item);
        }
    }
    td_writer_put_u8(writer, '>');
}

static void
put_form(td_writer_t *writer, td_obs_t const *obs, td_val_t list)
{
    size_t      cnt  = td_obs_get_cnt(obs, list);
    char const *word = cnt != 0 ? item_text(obs, list, 0) : "";

    if (cnt == 2 && (put_container(writer, obs, word, td_obs_get_item(obs, list, 1)) ||
                     put_text_form(writer, obs, word, td_obs_get_item(obs, list, 1)))) {
        return;
    }
    if ((cnt == 3 && strcmp(word, "class") == 0) ||
        (cnt == 4 && strcmp(word, "local-class") == 0)) {
        bool builtin = strcmp(item_text(obs, list, 1), "builtins") == 0;

        td_writer_put_text(writer, "<class '");
        td_writer_put_text(writer, builtin ? "" : item_text(obs, list, 1));
        td_writer_put_text(writer, builtin ? "" : ".");
        td_writer_put_text(writer, item_text(obs, list, 2));
        td_writer_put_text(writer, "'>");
        return;
    }
    put_unspelled(writer, obs, list);
}

void
td_repr_value(td_writer_t *writer, td_obs_t const *obs, td_val_t val)
{
    char        number[TD_REPR_FLOAT_SZ];
    size_t      sz;
    char const *text;

    switch (td_obs_kind(obs, val)) {
    case TD_VAL_ABSENT:
        td_writer_put_text(writer, "<absent>");
        break;
    case TD_VAL_NULL:
        td_writer_put_text(writer, "None");
        break;
    case TD_VAL_BOOL:
        td_writer_put_text(writer, td_obs_get_bool(obs, val) ? "True" : "False");
        break;
    case TD_VAL_INT:
        td_writer_put_format(writer, "%" PRId64, td_obs_get_int(obs, val));
        break;
    case TD_VAL_BIGINT:
        text = td_obs_get_str(obs, val, &sz);
        td_writer_put_bytes(writer, text, sz);
        break;
    case TD_VAL_FLOAT:
        td_repr_float(number, td_obs_get_float(obs, val));
        td_writer_put_text(writer, number);
        break;
    case TD_VAL_STR:
        text = td_obs_get_str(obs, val, &sz);
        td_repr_str(writer, text, sz);
        break;
    case TD_VAL_LIST:
    case TD_VAL_BAG:
        put_form(writer, obs, val);
        break;
    case TD_VAL_RECORD:
        td_writer_put_format(writer, "<%s>", td_class_name(td_obs_get_class(obs, val)));
        break;
    }
}
