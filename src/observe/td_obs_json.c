/* td_obs_json.c: a value as JSON text (td_obs.h says in which shape). */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/td_alloc.h"
#include "base/td_writer.h"
#include "observe/td_obs.h"
#include "observe/td_obs_private.h"
#include "observe/td_repr.h"

#define JSON_INT_MAX (INT64_C(1) << 53) /* beyond it JSON readers round */

typedef struct {
    td_obs_t   *obs;
    td_writer_t writer;
    bool        indent;
    unsigned    depth; /* of open brackets that have lines of their own */
} printer_t;

static void put_value(printer_t *printer, td_val_t val);

/* ---- layout ------------------------------------------------------------------ */

static void
put_text(printer_t *printer, char const *text)
{
    td_writer_put_text(&printer->writer, text);
}

static void
put_line(printer_t *printer)
{
    if (!printer->indent) {
        return;
    }
    put_text(printer, "\n");
    for (unsigned level = 0; level < printer->depth; level++) {
        put_text(printer, "  ");
    }
}

static void
open_bracket(printer_t *printer, char const *bracket)
{
    put_text(printer, bracket);
    printer->depth++;
}

static void
close_bracket(printer_t *printer, char const *bracket, bool has_lines)
{
    printer->depth--;
    if (has_lines) {
        put_line(printer);
    }
    put_text(printer, bracket);
}

/* Bytes from text on that JSON takes as they are; 0xED may begin a surrogate. */
static size_t
plain_sz(char const *text, size_t sz)
{
    size_t idx = 0;

    while (idx < sz && (uint8_t)text[idx] >= 0x20 && text[idx] != '"' && text[idx] != '\\' &&
           (uint8_t)text[idx] != 0xED) {
        idx++;
    }
    return idx;
}

static void
put_string(printer_t *printer, char const *text, size_t sz)
{
    td_writer_t *writer = &printer->writer;

    td_writer_put_u8(writer, '"');
    for (size_t off = 0, next = 0; off < sz; off = next) {
        uint32_t code;

        next = off + plain_sz(text + off, sz - off);
        td_writer_put_bytes(writer, text + off, next - off);
        if (next == sz) {
            break;
        }
        off  = next;
        code = td_utf8_next(text, sz, &next);
        if (code == '"' || code == '\\') {
            td_writer_put_format(writer, "\\%c", (int)code);
        } else if (code < 0x20 || (code >= 0xD800 && code <= 0xDFFF)) {
            td_writer_put_format(writer, "\\u%04" PRIx32, code);
        } else {
            td_writer_put_bytes(writer, text + off, next - off);
        }
    }
    td_writer_put_u8(writer, '"');
}

/* Begins an object's member: key is name and, behind it, suffix. */
static void
put_key(printer_t *printer, bool *first, char const *name, char const *suffix)
{
    put_text(printer, *first ? "" : ",");
    *first = false;
    put_line(printer);
    put_text(printer, "\"");
    put_text(printer, name);
    put_text(printer, suffix);
    put_text(printer, printer->indent ? "\": " : "\":");
}

/* ---- atoms and forms ----------------------------------------------------------- */

static bool
is_far(int64_t number)
{
    return number > JSON_INT_MAX || number < -JSON_INT_MAX;
}

static void
put_int(printer_t *printer, int64_t number)
{
    td_writer_put_format(&printer->writer, is_far(number) ? "\"%" PRId64 "\"" : "%" PRId64, number);
}

static void
put_float(printer_t *printer, double value)
{
    char text[TD_REPR_FLOAT_SZ];

    td_repr_float(text, value);
    put_text(printer, isfinite(value) ? "" : "\"");
    put_text(printer, text);
    put_text(printer, isfinite(value) ? "" : "\"");
}

static void
put_items(printer_t *printer, td_val_t val)
{
    size_t cnt      = td_obs_get_cnt(printer->obs, val);
    bool   on_lines = td_obs_row(printer->obs, val)->has_record;

    open_bracket(printer, "[");
    for (size_t idx = 0; idx < cnt; idx++) {
        put_text(printer, idx == 0 ? "" : on_lines && printer->indent ? "," : ", ");
        if (on_lines) {
            put_line(printer);
        }
        put_value(printer, td_obs_get_item(printer->obs, val, idx));
    }
    close_bracket(printer, "]", on_lines);
}

static void
put_name(printer_t *printer, td_val_t tree)
{
    size_t      sz;
    char const *name = td_obs_source_text(printer->obs, tree, &sz);

    if (td_obs_kind(printer->obs, tree) == TD_VAL_NULL) {
        put_text(printer, "null");
    } else {
        put_string(printer, name, sz);
    }
}

/* ---- guards ---------------------------------------------------------------------- */

/* A keyword and what it was given, which may be a record. */
static bool
is_keyword_pair(td_obs_t const *obs, td_val_t val)
{
    return td_obs_kind(obs, val) == TD_VAL_LIST && td_obs_get_cnt(obs, val) == 2 &&
           td_obs_kind(obs, td_obs_get_item(obs, val, 0)) == TD_VAL_STR;
}

static bool
is_payload(td_obs_t const *obs, td_val_t val)
{
    size_t cnt = td_obs_kind(obs, val) == TD_VAL_LIST ? td_obs_get_cnt(obs, val) : 0;

    for (size_t idx = 0; idx < cnt; idx++) {
        if (!is_keyword_pair(obs, td_obs_get_item(obs, val, idx))) {
            return false;
        }
    }
    return cnt != 0;
}

static void
put_payload(printer_t *printer, td_val_t payload)
{
    td_obs_t *obs = printer->obs;
    size_t    sz;

    if (!is_payload(obs, payload)) {
        put_value(printer, payload);
        return;
    }
    put_text(printer, "{");
    for (size_t idx = 0; idx < td_obs_get_cnt(obs, payload); idx++) {
        td_val_t    pair    = td_obs_get_item(obs, payload, idx);
        char const *keyword = td_obs_get_str(obs, td_obs_get_item(obs, pair, 0), &sz);

        put_text(printer, idx != 0 ? ", " : "");
        put_string(printer, keyword, sz);
        put_text(printer, ": ");
        put_value(printer, td_obs_get_item(obs, pair, 1));
    }
    put_text(printer, "}");
}

static void
put_guard(printer_t *printer, td_val_t row)
{
    td_obs_t *obs     = printer->obs;
    td_val_t  tree    = td_obs_get_item(obs, row, 0);
    td_val_t  payload = td_obs_get_item(obs, row, 3);

    put_text(printer, "[");
    put_name(printer, tree);
    put_text(printer, ", ");
    put_value(printer, td_obs_get_item(obs, row, 1));
    put_text(printer, ", {\"guard_source\": \"");
    put_text(printer, td_form_guard_source(obs, tree));
    put_text(printer, "\", \"source_tree\": ");
    put_value(printer, tree);
    if (td_obs_get_bool(obs, td_obs_get_item(obs, row, 2))) {
        put_text(printer, ", \"is_volatile\": true");
    }
    if (td_obs_kind(obs, payload) != TD_VAL_NULL) {
        put_text(printer, ", \"payload\": ");
        put_payload(printer, payload);
    }
    put_text(printer, "}]");
}

static void
put_guards(printer_t *printer, td_val_t guards)
{
    td_val_t const *rows = td_obs_guards_by_name(printer->obs, guards);

    open_bracket(printer, "[");
    for (size_t idx = 0; rows != NULL && idx < td_obs_get_cnt(printer->obs, guards); idx++) {
        put_text(printer, idx == 0 ? "" : printer->indent ? "," : ", ");
        put_line(printer);
        put_guard(printer, rows[idx]);
    }
    close_bracket(printer, "]", true);
}

/* ---- records --------------------------------------------------------------------- */

/* The Python type of a number that JSON lacks and has as a string; else NULL. */
static char const *
lacking_type(td_obs_t const *obs, td_val_t val)
{
    switch (td_obs_kind(obs, val)) {
    case TD_VAL_INT:
        return is_far(td_obs_get_int(obs, val)) ? "int" : NULL;
    case TD_VAL_BIGINT:
        return "int";
    case TD_VAL_FLOAT:
        return isfinite(td_obs_get_float(obs, val)) ? NULL : "float";
    default:
        return NULL;
    }
}

/* A member's value, and beside it what kind of number a string stands for. */
static void
put_plain_member(printer_t *printer, char const *attribute, td_val_t val, bool *first)
{
    char const *type = lacking_type(printer->obs, val);

    put_value(printer, val);
    if (type != NULL) {
        put_key(printer, first, attribute, "_kind");
        put_string(printer, type, strlen(type));
    }
}

static void
put_member(printer_t *printer, td_val_t record, size_t idx, bool *first)
{
    td_obs_t              *obs  = printer->obs;
    td_val_t               val  = td_obs_get_item(obs, record, idx);
    td_field_info_t const *info = td_field_info(td_obs_get_field(obs, record, idx));

    put_key(printer, first, info->attribute, "");
    if (!td_form_is_source(obs, val) && info->form != TD_FORM_SOURCE) {
        put_plain_member(printer, info->attribute, val, first);
        return;
    }
    if (td_form_is_source(obs, val)) {
        put_name(printer, val);
    } else {
        put_value(printer, val);
    }
    put_key(printer, first, info->attribute, "_tree");
    put_value(printer, val);
}

/* The members of a record that a choice takes, in schema order. */
static void
put_members(printer_t *printer, td_val_t record, bool *first, bool (*choice)(td_field_t field))
{
    size_t cnt = td_obs_get_cnt(printer->obs, record);

    for (size_t idx = 0; idx < cnt; idx++) {
        if (!td_obs_is_left_out(printer->obs, record, idx) &&
            choice(td_obs_get_field(printer->obs, record, idx))) {
            put_member(printer, record, idx, first);
        }
    }
}

static bool
is_any(td_field_t field)
{
    (void)field;
    return true;
}

static bool
is_up_front(td_field_t field)
{
    return field == TD_FIELD_VariableTracker_source || field == TD_FIELD_VariableTracker_guards;
}

static bool
is_in_fields(td_field_t field)
{
    return !is_up_front(field);
}

/* The graph arguments stand in the meta of their nodes; here they are together. */
static void
put_graph_args(printer_t *printer, td_val_t frame, bool *first)
{
    td_obs_t *obs       = printer->obs;
    td_val_t  graph     = td_obs_find_item(obs, frame, "graph");
    size_t    cnt       = td_obs_kind(obs, graph) == TD_VAL_LIST ? td_obs_get_cnt(obs, graph) : 0;
    bool      first_arg = true;

    put_key(printer, first, "graph_args", "");
    open_bracket(printer, "[");
    for (size_t idx = 0; idx < cnt; idx++) {
        td_val_t val = td_obs_get_item(obs, graph, idx);

        for (int part = 0; part < 2 && val != TD_VAL_NONE; part++) {
            bool is_record = td_obs_kind(obs, val) == TD_VAL_RECORD;

            val = is_record ? td_obs_find_item(obs, val, part == 0 ? "meta" : "grapharg")
                            : TD_VAL_NONE;
        }
        if (val != TD_VAL_NONE && td_obs_kind(obs, val) == TD_VAL_RECORD) {
            put_text(printer, first_arg ? "" : ",");
            put_line(printer);
            put_value(printer, val);
            first_arg = false;
        }
    }
    close_bracket(printer, "]", !first_arg);
}

/* The class of an exception is text with its module; the last name is what
   people call it. */
static void
put_exception(printer_t *printer, td_val_t record, bool *first)
{
    td_obs_t   *obs  = printer->obs;
    td_val_t    full = td_obs_find_item(obs, record, "kind");
    char const *text = td_obs_kind(obs, full) == TD_VAL_STR ? td_obs_get_str(obs, full, NULL) : "";
    char const *dot  = strrchr(text, '.');
    char const *last = dot != NULL ? dot + 1 : text;

    put_key(printer, first, "kind", "");
    put_string(printer, last, strlen(last));
    put_key(printer, first, "class", "");
    put_value(printer, full);
    put_key(printer, first, "message", "");
    put_value(printer, td_obs_find_item(obs, record, "message"));
}

static void
put_tracker(printer_t *printer, td_val_t record, bool *first)
{
    bool none_in = true;

    put_members(printer, record, first, is_up_front);
    put_key(printer, first, "fields", "");
    open_bracket(printer, "{");
    put_members(printer, record, &none_in, is_in_fields);
    close_bracket(printer, "}", !none_in);
}

static void
put_record(printer_t *printer, td_val_t record)
{
    td_class_t class_id = td_obs_get_class(printer->obs, record);
    bool       first    = true;

    open_bracket(printer, "{");
    if (class_id == TD_CLASS_Exception) {
        put_exception(printer, record, &first);
    } else {
        put_key(printer, &first, "kind", "");
        put_string(printer, td_class_name(class_id), strlen(td_class_name(class_id)));
    }
    if (td_class_is_a(class_id, TD_CLASS_VariableTracker)) {
        put_tracker(printer, record, &first);
    } else if (class_id != TD_CLASS_Exception) {
        put_members(printer, record, &first, is_any);
    }
    if (class_id == TD_CLASS_Frame) {
        put_graph_args(printer, record, &first);
    }
    close_bracket(printer, "}", true);
}

static void
put_value(printer_t *printer, td_val_t val)
{
    td_obs_t   *obs = printer->obs;
    size_t      sz;
    char const *text;

    if (printer->writer.status != TD_OK) {
        return; /* hostile values would be walked without end */
    }
    switch (td_obs_kind(obs, val)) {
    case TD_VAL_ABSENT:
    case TD_VAL_NULL:
        put_text(printer, "null");
        break;
    case TD_VAL_BOOL:
        put_text(printer, td_obs_get_bool(obs, val) ? "true" : "false");
        break;
    case TD_VAL_INT:
        put_int(printer, td_obs_get_int(obs, val));
        break;
    case TD_VAL_FLOAT:
        put_float(printer, td_obs_get_float(obs, val));
        break;
    case TD_VAL_BIGINT:
    case TD_VAL_STR:
        text = td_obs_get_str(obs, val, &sz);
        put_string(printer, text, sz);
        break;
    case TD_VAL_BAG:
        if (td_obs_is_guards(obs, val)) {
            put_guards(printer, val);
            break;
        }
        put_items(printer, val);
        break;
    case TD_VAL_LIST:
        /* A guard on its own: one side of a difference. */
        if (td_form_is_guard(obs, val) && td_form_is_source(obs, td_obs_get_item(obs, val, 0))) {
            put_guard(printer, val);
            break;
        }
        put_items(printer, val);
        break;
    case TD_VAL_RECORD:
        put_record(printer, val);
        break;
    }
}

char *
td_obs_json(td_obs_t *obs, td_val_t val, bool indent)
{
    printer_t printer = {.obs = obs, .indent = indent};
    char     *text    = NULL;

    if (obs->status != TD_OK || val == TD_VAL_NONE) {
        return NULL;
    }
    td_writer_init(&printer.writer, TD_SHOW_SZ_MAX);
    put_value(&printer, val);
    if (obs->status == TD_OK) {
        text = (char *)td_writer_take(&printer.writer, NULL);
    }
    td_writer_clear(&printer.writer);
    return text;
}
