/* td_obs_tree.c: a value as an indented tree for people. */
#include <inttypes.h>
#include <string.h>

#include "base/td_alloc.h"
#include "base/td_writer.h"
#include "observe/td_obs.h"
#include "observe/td_obs_private.h"
#include "observe/td_repr.h"

#define COLOUR_KIND   "\x1b[1m"
#define COLOUR_SOURCE "\x1b[36m"
#define COLOUR_GUARD  "\x1b[33m"
#define COLOUR_END    "\x1b[0m"

typedef struct {
    td_obs_t   *obs;
    td_writer_t writer;
    bool        colour;
    unsigned    depth;
} printer_t;

static void put_value(printer_t *printer, td_val_t val);

static void
put_text(printer_t *printer, char const *text)
{
    td_writer_put_text(&printer->writer, text);
}

static void
put_line(printer_t *printer)
{
    put_text(printer, "\n");
    for (unsigned level = 0; level < printer->depth; level++) {
        put_text(printer, "  ");
    }
}

/* Text of a program goes to a terminal: no control character gets through. */
static void
put_coloured(printer_t *printer, char const *colour, char const *text)
{
    put_text(printer, printer->colour ? colour : "");
    for (; *text != '\0'; text++) {
        if ((uint8_t)*text < 0x20 || *text == 0x7F) {
            td_writer_put_format(&printer->writer, "\\x%02x", (unsigned)(uint8_t)*text);
        } else {
            td_writer_put_u8(&printer->writer, (uint8_t)*text);
        }
    }
    put_text(printer, printer->colour ? COLOUR_END : "");
}

static void
put_source(printer_t *printer, td_val_t tree)
{
    td_source_class_info_t const *info =
        td_source_class_info(td_form_source_class(printer->obs, tree));

    put_coloured(printer, COLOUR_SOURCE, td_obs_source_text(printer->obs, tree, NULL));
    put_text(printer, " (");
    put_text(printer, info->name);
    put_text(printer, ")");
}

/* One value within a line. */
static void
put_inline(printer_t *printer, td_val_t val)
{
    td_obs_t *obs = printer->obs;

    if (printer->writer.status != TD_OK) {
        return;
    }
    if (td_form_is_source(obs, val)) {
        put_source(printer, val);
    } else if ((td_obs_kind(obs, val) == TD_VAL_LIST && !td_form_is_form(obs, val)) ||
               td_obs_kind(obs, val) == TD_VAL_BAG) {
        put_text(printer, "[");
        for (size_t idx = 0; idx < td_obs_get_cnt(obs, val); idx++) {
            put_text(printer, idx != 0 ? ", " : "");
            put_inline(printer, td_obs_get_item(obs, val, idx));
        }
        put_text(printer, "]");
    } else {
        td_repr_value(&printer->writer, obs, val);
    }
}

static void
put_guard(printer_t *printer, td_val_t row)
{
    td_obs_t *obs     = printer->obs;
    td_val_t  tree    = td_obs_get_item(obs, row, 0);
    td_val_t  payload = td_obs_get_item(obs, row, 3);

    put_coloured(printer, COLOUR_GUARD, td_obs_get_str(obs, td_obs_get_item(obs, row, 1), NULL));
    put_text(printer, " ");
    if (td_form_is_source(obs, tree)) {
        put_source(printer, tree);
        put_text(printer, " ");
        put_text(printer, td_form_guard_source(obs, tree));
    } else {
        put_inline(printer, tree);
    }
    put_text(printer, td_obs_get_bool(obs, td_obs_get_item(obs, row, 2)) ? " volatile" : "");
    if (td_obs_kind(obs, payload) != TD_VAL_NULL) {
        put_text(printer, " ");
        put_inline(printer, payload);
    }
}

static void
put_guards(printer_t *printer, td_val_t guards)
{
    td_val_t const *rows = td_obs_guards_by_name(printer->obs, guards);

    for (size_t idx = 0; rows != NULL && idx < td_obs_get_cnt(printer->obs, guards); idx++) {
        put_line(printer);
        put_guard(printer, rows[idx]);
    }
}

static void
put_list(printer_t *printer, td_val_t list)
{
    for (size_t idx = 0; idx < td_obs_get_cnt(printer->obs, list); idx++) {
        put_line(printer);
        td_writer_put_format(&printer->writer, "[%zu] ", idx);
        put_value(printer, td_obs_get_item(printer->obs, list, idx));
    }
}

static void
put_members(printer_t *printer, td_val_t record)
{
    td_obs_t *obs = printer->obs;
    size_t    cnt = td_obs_get_cnt(obs, record);

    for (size_t idx = 0; idx < cnt; idx++) {
        if (td_obs_is_left_out(obs, record, idx)) {
            continue;
        }
        put_line(printer);
        put_text(printer, td_field_info(td_obs_get_field(obs, record, idx))->attribute);
        put_text(printer, ": ");
        put_value(printer, td_obs_get_item(obs, record, idx));
    }
}

static void
put_value(printer_t *printer, td_val_t val)
{
    td_obs_t *obs = printer->obs;

    if (printer->writer.status != TD_OK) {
        return; /* hostile values would be walked without end */
    }
    printer->depth++;
    if (td_obs_kind(obs, val) == TD_VAL_RECORD) {
        put_coloured(printer, COLOUR_KIND, td_class_name(td_obs_get_class(obs, val)));
        put_members(printer, val);
    } else if (td_obs_is_guards(obs, val)) {
        put_guards(printer, val);
    } else if (td_obs_row(obs, val)->has_record) {
        put_list(printer, val);
    } else {
        put_inline(printer, val);
    }
    printer->depth--;
}

char *
td_obs_tree_text(td_obs_t *obs, td_val_t val, bool colour)
{
    printer_t printer = {.obs = obs, .colour = colour};
    char     *text    = NULL;

    if (obs->status != TD_OK || val == TD_VAL_NONE) {
        return NULL;
    }
    td_writer_init(&printer.writer, TD_SHOW_SZ_MAX);
    put_value(&printer, val);
    put_text(&printer, "\n");
    if (obs->status == TD_OK) {
        text = (char *)td_writer_take(&printer.writer, NULL);
    }
    td_writer_clear(&printer.writer);
    return text;
}
