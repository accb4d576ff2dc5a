/* td_signature.c: what a divergence is, without where and in which program. */
#include "observe/td_signature.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/td_assert.h"
#include "base/td_writer.h"
#include "observe/td_obs_private.h"

enum { MESSAGE_SZ_MAX = 200 }; /* enough to tell messages apart; signatures are read by people */

/* ---- messages ---------------------------------------------------------------- */

static bool
is_word(char byte)
{
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z') || byte == '_' || (uint8_t)byte >= 0x80;
}

static bool
is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool
is_blank(char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

/* Size of the quoted text at text, 0 when there is none.  A quote within a word
   is an apostrophe. */
static size_t
quoted_sz(char const *text, size_t sz, bool in_word)
{
    if (sz == 0 || in_word || (text[0] != '\'' && text[0] != '"' && text[0] != '`')) {
        return 0;
    }
    for (size_t idx = 1; idx < sz; idx++) {
        if (text[idx] == text[0] && (idx + 1 == sz || !is_word(text[idx + 1]))) {
            return idx + 1;
        }
    }
    return 0;
}

/* Size of the number at text, 0 when there is none. Digits within a word, as in
   float32, belong to the word. */
static size_t
number_sz(char const *text, size_t sz, bool in_word)
{
    size_t idx = 0;

    if (in_word || sz == 0 || !is_digit(text[0])) {
        return 0;
    }
    while (idx < sz &&
           (is_word(text[idx]) || (text[idx] == '.' && idx + 1 < sz && is_digit(text[idx + 1])))) {
        idx++;
    }
    return idx;
}

/* Size of "<object 3>" at text, 0 when there is none. */
static size_t
object_sz(char const *text, size_t sz)
{
    static char const begin[] = "<object ";
    size_t            idx     = sizeof begin - 1;

    if (sz <= idx || memcmp(text, begin, idx) != 0) {
        return 0;
    }
    while (idx < sz && is_digit(text[idx])) {
        idx++;
    }
    return idx < sz && text[idx] == '>' ? idx + 1 : 0;
}

static size_t
blank_sz(char const *text, size_t sz)
{
    size_t idx = 0;

    while (idx < sz && is_blank(text[idx])) {
        idx++;
    }
    return idx;
}

static void
put_message(td_writer_t *writer, char const *text, size_t sz)
{
    bool   in_word = false;
    size_t begin   = writer->sz;

    for (size_t off = 0, step; off < sz && writer->sz - begin < MESSAGE_SZ_MAX; off += step) {
        char const *at   = text + off;
        size_t      left = sz - off;

        if ((step = quoted_sz(at, left, in_word)) != 0) {
            td_writer_put_text(writer, "''");
        } else if ((step = number_sz(at, left, in_word)) != 0 ||
                   (step = object_sz(at, left)) != 0) {
            td_writer_put_text(writer, "#");
        } else if ((step = blank_sz(at, left)) != 0) {
            td_writer_put_text(writer, " ");
        } else {
            step = 1;
            td_writer_put_u8(writer, (uint8_t)*at);
        }
        in_word = is_word(text[off + step - 1]);
    }
}

/* The text of a writer that ends here, in the arena. */
static char const *
taken(td_obs_t *obs, td_writer_t *writer)
{
    char const *text = NULL;

    if (writer->status == TD_OK) {
        text = td_arena_dup(&obs->arena, (char const *)writer->bytes, writer->sz);
    }
    if (text == NULL) {
        td_obs_fail(obs, TD_NOMEM, "no memory");
    }
    td_writer_clear(writer);
    return text;
}

char const *
td_signature_message(td_obs_t *obs, char const *message, size_t sz)
{
    td_writer_t writer;

    td_writer_init(&writer, SIZE_MAX);
    put_message(&writer, message, sz);
    return taken(obs, &writer);
}

/* ---- what a side has --------------------------------------------------------- */

static void
put_str(td_writer_t *writer, td_obs_t const *obs, td_val_t val)
{
    size_t      sz;
    char const *text;

    if (val != TD_VAL_NONE && td_obs_kind(obs, val) == TD_VAL_STR) {
        text = td_obs_get_str(obs, val, &sz);
        put_message(writer, text, sz);
    }
}

static void
put_record(td_writer_t *writer, td_obs_t const *obs, td_val_t record)
{
    td_class_t class_id = td_obs_get_class(obs, record);

    if (class_id != TD_CLASS_Exception) {
        td_writer_put_text(writer, td_class_name(class_id));
        return;
    }
    put_str(writer, obs, td_obs_find_item(obs, record, "kind"));
    td_writer_put_text(writer, ": ");
    put_str(writer, obs, td_obs_find_item(obs, record, "message"));
}

static void
put_class(td_writer_t *writer, td_obs_t const *obs, td_val_t val)
{
    static char const *const types[] = {
        [TD_VAL_ABSENT] = "absent", [TD_VAL_NULL] = "None",  [TD_VAL_BOOL] = "bool",
        [TD_VAL_INT] = "int",       [TD_VAL_BIGINT] = "int", [TD_VAL_FLOAT] = "float",
        [TD_VAL_STR] = "str",       [TD_VAL_LIST] = "list",  [TD_VAL_BAG] = "bag",
    };

    if (val == TD_VAL_NONE) {
        td_writer_put_text(writer, "missing");
    } else if (td_obs_kind(obs, val) == TD_VAL_RECORD) {
        put_record(writer, obs, val);
    } else if (td_form_is_form(obs, val)) {
        td_writer_put_text(writer, td_obs_get_str(obs, td_obs_get_item(obs, val, 0), NULL));
    } else {
        td_writer_put_text(writer, types[td_obs_kind(obs, val)]);
    }
}

static void
put_guard(td_writer_t *writer, td_obs_t const *obs, td_val_t row, char const *word)
{
    td_writer_put_text(writer, "guard ");
    td_writer_put_text(writer, td_obs_get_str(obs, td_obs_get_item(obs, row, 1), NULL));
    td_writer_put_text(writer, word);
}

static size_t
parent_sz(char const *path)
{
    char const *dot = strrchr(path, '.');

    return dot != NULL ? (size_t)(dot - path) : 0;
}

/* What came out of a root on one side, if the differences beside its outcome say
   so: the tracker or the exception. */
static td_val_t
result_of(td_obs_t const *obs, td_signature_parts_t const *parts, bool is_reference)
{
    size_t sz = parent_sz(parts->diffs[0].path);

    for (size_t idx = 1; idx < parts->diff_cnt; idx++) {
        td_obs_diff_t const *diff = &parts->diffs[idx];
        td_val_t             val  = is_reference ? diff->reference : diff->subject;
        bool                 beside =
            parent_sz(diff->path) == sz && memcmp(diff->path, parts->diffs[0].path, sz) == 0;

        if (beside && val != TD_VAL_NONE && td_obs_kind(obs, val) == TD_VAL_RECORD &&
            strncmp(diff->field, "Root.", 5) == 0) {
            return val;
        }
    }
    return TD_VAL_NONE;
}

static void
put_side(td_writer_t *writer, td_obs_t const *obs, td_signature_parts_t const *parts,
         bool is_reference)
{
    td_obs_diff_t const *diff   = &parts->diffs[0];
    td_val_t             val    = is_reference ? diff->reference : diff->subject;
    bool                 is_str = val != TD_VAL_NONE && td_obs_kind(obs, val) == TD_VAL_STR;
    td_val_t             result;

    if (strcmp(diff->field, "Root.outcome") == 0 && is_str) {
        result = result_of(obs, parts, is_reference);
        put_str(writer, obs, val);
        td_writer_put_text(writer, result != TD_VAL_NONE ? " " : "");
        if (result != TD_VAL_NONE) {
            put_class(writer, obs, result);
        }
    } else if (strncmp(diff->field, "Exception.", 10) == 0 && is_str) {
        put_str(writer, obs, val);
    } else {
        put_class(writer, obs, val);
    }
}

static void
put_sides(td_writer_t *writer, td_obs_t const *obs, td_signature_parts_t const *parts)
{
    td_obs_diff_t const *diff = &parts->diffs[0];

    if (diff->subject == TD_VAL_NONE && diff->reference != TD_VAL_NONE &&
        td_form_is_guard(obs, diff->reference)) {
        put_guard(writer, obs, diff->reference, " missing");
    } else if (diff->reference == TD_VAL_NONE && diff->subject != TD_VAL_NONE &&
               td_form_is_guard(obs, diff->subject)) {
        put_guard(writer, obs, diff->subject, " extra");
    } else {
        put_side(writer, obs, parts, true);
        td_writer_put_text(writer, " / ");
        put_side(writer, obs, parts, false);
    }
}

/* "roots[12].tracker" -> "roots[].tracker" */
static void
put_path(td_writer_t *writer, char const *path)
{
    bool inside = false;

    for (; *path != '\0'; path++) {
        inside = inside && *path != ']';
        if (!inside) {
            td_writer_put_u8(writer, (uint8_t)*path);
        }
        inside = inside || *path == '[';
    }
}

char const *
td_signature_text(td_obs_t *obs, td_signature_parts_t const *parts)
{
    td_writer_t writer;

    TD_ASSERT(parts->diff_cnt != 0);
    if (obs->status != TD_OK) {
        return NULL;
    }
    td_writer_init(&writer, SIZE_MAX);
    td_writer_put_text(&writer, parts->entry);
    td_writer_put_text(&writer, " | ");
    td_writer_put_text(&writer, parts->diffs[0].field);
    td_writer_put_text(&writer, " | ");
    put_path(&writer, parts->diffs[0].path);
    td_writer_put_text(&writer, " | ");
    put_sides(&writer, obs, parts);
    td_writer_put_text(&writer, " | ");
    td_writer_put_text(&writer, parts->function);
    td_writer_put_text(&writer, parts->condition[0] != '\0' ? ": " : "");
    td_writer_put_text(&writer, parts->condition);
    return taken(obs, &writer);
}

void
td_signature_hash(char const *text, char hash[TD_SIGNATURE_HASH_SZ])
{
    uint32_t bits = 2166136261u;

    for (; *text != '\0'; text++) {
        bits = (bits ^ (uint8_t)*text) * 16777619u;
    }
    snprintf(hash, TD_SIGNATURE_HASH_SZ, "%08" PRIx32, bits);
}
