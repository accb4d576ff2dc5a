/* td_disasm.c: program -> text, as td_asm.c reads it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/td_assert.h"
#include "base/td_writer.h"
#include "graph/td_graph.h"
#include "graph/td_rules.h"

static void
put_quoted(td_writer_t *out, td_text_t text, bool is_bytes)
{
    td_writer_put_u8(out, '"');
    for (uint32_t i = 0; i < text.sz; i++) {
        uint8_t c = (uint8_t)text.bytes[i];

        if (c == '\n') {
            td_writer_put_text(out, "\\n");
        } else if (c == '\t') {
            td_writer_put_text(out, "\\t");
        } else if (c == '\r') {
            td_writer_put_text(out, "\\r");
        } else if (c == '"' || c == '\\') {
            td_writer_put_format(out, "\\%c", c);
        } else if (c < 0x20 || c == 0x7F || (is_bytes && c >= 0x80)) {
            td_writer_put_format(out, "\\x%02x", c);
        } else {
            td_writer_put_u8(out, c);
        }
    }
    td_writer_put_u8(out, '"');
}

/* The fewest digits that read back as the same value. */
static int
float_precision(double value)
{
    char text[40];
    int  precision = 1;

    do {
        snprintf(text, sizeof text, "%.*e", precision - 1, value);
    } while (strtod(text, NULL) != value && precision++ < 17);
    return precision;
}

static void
put_finite(td_writer_t *out, double value)
{
    int  precision = float_precision(value);
    char text[40];
    int  exponent;

    snprintf(text, sizeof text, "%.*e", precision - 1, value);
    exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    if (exponent < -4 || exponent >= 16) {
        td_writer_put_text(out, text);
        return;
    }
    /* Plain notation where a person would use it, with a point always. */
    precision -= 1 + exponent;
    td_writer_put_format(out, "%.*f", precision > 0 ? precision : 1, value);
}

static void
put_float(td_writer_t *out, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    if (isfinite(value)) {
        put_finite(out, value);
    } else if (isinf(value)) {
        td_writer_put_text(out, value < 0 ? "-inf" : "inf");
    } else if (bits == UINT64_C(0x7ff8000000000000)) {
        td_writer_put_text(out, "nan");
    } else {
        td_writer_put_format(out, "nan:%016llx", (unsigned long long)bits);
    }
}

static void
put_dims(td_writer_t *out, td_node_t const *node)
{
    td_writer_put_u8(out, '[');
    for (int i = 0; i < node->dims.cnt; i++) {
        td_writer_put_format(out, "%s%lld", i != 0 ? ", " : "", (long long)node->dims.dim[i]);
    }
    td_writer_put_u8(out, ']');
}

static void
put_tensor(td_writer_t *out, td_tensor_t const *tensor)
{
    td_writer_put_format(out, "%s[", td_dtype_name(tensor->dtype));
    for (int i = 0; i < tensor->dim_cnt; i++) {
        td_writer_put_format(out, "%s%u", i != 0 ? ", " : "", tensor->dim[i]);
    }
    td_writer_put_u8(out, ']');
    if (tensor->layout != TD_LAYOUT_CONTIGUOUS) {
        td_writer_put_format(out, " %s", td_layout_name(tensor->layout));
    }
    if (tensor->requires_grad) {
        td_writer_put_text(out, " grad");
    }
}

static void
put_payload(td_writer_t *out, td_node_t const *node)
{
    td_payload_t payload = td_kind_info(node->kind)->payload;

    if (payload != TD_PAYLOAD_NONE) {
        td_writer_put_u8(out, ' ');
    }
    switch (payload) {
    case TD_PAYLOAD_NONE:
        break;
    case TD_PAYLOAD_BOOL:
        td_writer_put_text(out, node->i ? "true" : "false");
        break;
    case TD_PAYLOAD_CHOICE:
        td_writer_put_text(out, td_choice_name(node->kind, (size_t)node->i));
        break;
    case TD_PAYLOAD_INT:
        td_writer_put_format(out, "%lld", (long long)node->i);
        break;
    case TD_PAYLOAD_BIGINT:
        td_writer_put_bytes(out, node->text.bytes, node->text.sz);
        break;
    case TD_PAYLOAD_FLOAT:
        put_float(out, node->f);
        break;
    case TD_PAYLOAD_TEXT:
        put_quoted(out, node->text, false);
        break;
    case TD_PAYLOAD_BYTES:
        td_writer_put_u8(out, 'b');
        put_quoted(out, node->text, true);
        break;
    case TD_PAYLOAD_RANGE:
        td_writer_put_format(out, "%lld %lld %lld", (long long)node->range[0],
                             (long long)node->range[1], (long long)node->range[2]);
        break;
    case TD_PAYLOAD_DIMS:
        put_dims(out, node);
        break;
    case TD_PAYLOAD_TENSOR:
        put_tensor(out, &node->tensor);
        break;
    }
}

static void
put_node(td_writer_t *out, td_prog_t const *prog, uint32_t idx)
{
    td_node_t const *node   = &prog->nodes[idx];
    bool             paired = td_rules_is_paired(node->kind);
    int              from   = td_kind_info(node->kind)->edge_min;

    td_writer_put_format(out, "%%%u = %s", idx, td_kind_info(node->kind)->name);
    put_payload(out, node);
    for (int i = 0; i < node->edge_cnt; i++) {
        char const *mark = paired && i > from ? ((i - from) % 2 != 0 ? ":" : ",") : "";

        td_writer_put_format(out, "%s %%%u", mark, node->edge[i]);
    }
}

static void
put_source(td_writer_t *out, td_prog_t const *prog, uint16_t idx)
{
    td_src_t const *src      = &prog->sources[idx];
    char const     *operands = td_source_info(src->kind)->operands;

    td_writer_put_format(out, "%s(", td_source_info(src->kind)->name);
    for (char const *what = operands; *what != '\0'; what++) {
        if (what != operands) {
            td_writer_put_text(out, ", ");
        }
        switch (*what) {
        case 'b':
            put_source(out, prog, src->base); /* at most TD_SOURCE_DEPTH_MAX deep */
            break;
        case 'n':
            put_quoted(out, src->name, false);
            break;
        case 'k':
            td_writer_put_format(out, "%%%u", src->key);
            break;
        default:
            TD_ASSERT(*what == 'i');
            td_writer_put_format(out, "%lld", (long long)src->idx);
        }
    }
    td_writer_put_u8(out, ')');
}

static void
put_args(td_writer_t *out, td_step_t const *step)
{
    td_writer_put_text(out, " (");
    for (int i = 0; i < step->arg_cnt; i++) {
        td_writer_put_format(out, "%s%s%u", i != 0 ? ", " : "", step->arg[i].is_ref ? "ref " : "%",
                             step->arg[i].idx);
    }
    td_writer_put_u8(out, ')');
}

static void
put_root(td_writer_t *out, td_prog_t const *prog, td_step_t const *step)
{
    td_writer_put_format(out, "root %s", td_entry_info(step->op)->name);
    for (char const *what = td_entry_info(step->op)->operands; *what != '\0'; what++) {
        switch (*what) {
        case 's':
            td_writer_put_u8(out, ' ');
            put_source(out, prog, step->source);
            break;
        case 'o':
            td_writer_put_format(out, " %%%u", step->node);
            break;
        case 'a':
            put_args(out, step);
            break;
        default:
            td_writer_put_u8(out, ' ');
            put_quoted(out, step->name, false);
        }
    }
}

static void
put_do(td_writer_t *out, td_step_t const *step)
{
    size_t other = 0;

    td_writer_put_format(out, "do %s", td_do_info(step->op)->name);
    for (char const *what = td_do_info(step->op)->operands; *what != '\0'; what++) {
        switch (*what) {
        case 'o':
            td_writer_put_format(out, " %%%u", step->node);
            break;
        case 'x':
            td_writer_put_format(out, " %%%u", step->other[other++]);
            break;
        case 'n':
            td_writer_put_u8(out, ' ');
            put_quoted(out, step->name, false);
            break;
        default:
            TD_ASSERT(*what == 'i');
            td_writer_put_format(out, " %lld", (long long)step->num[0]);
        }
    }
}

static void
put_constraint(td_writer_t *out, td_step_t const *step)
{
    td_writer_put_format(out, "constraint %%%u dim %lld ", step->node, (long long)step->num[0]);
    if (step->tied) {
        td_writer_put_format(out, "== %%%u dim %lld", step->other[0], (long long)step->num[1]);
    } else {
        td_writer_put_format(out, "in %lld..", (long long)step->num[1]);
        if (step->num[2] != INT64_MAX) {
            td_writer_put_format(out, "%lld", (long long)step->num[2]);
        }
    }
    if (step->name.sz != 0) {
        td_writer_put_text(out, " name ");
        put_quoted(out, step->name, false);
    }
}

static void
put_step(td_writer_t *out, td_prog_t const *prog, td_step_t const *step)
{
    switch (step->kind) {
    case TD_STEP_FRAME:
        td_writer_put_text(out, "frame");
        break;
    case TD_STEP_ROOT:
        put_root(out, prog, step);
        break;
    case TD_STEP_DO:
        put_do(out, step);
        break;
    default:
        TD_ASSERT(step->kind == TD_STEP_CONSTRAINT);
        put_constraint(out, step);
    }
}

typedef struct {
    uint32_t node, step, setting; /* the next of each */
    bool     in_frame;
} place_t;

/* One record, one line; a source has none, it stands in the roots that use it. */
static void
put_record(td_writer_t *out, td_prog_t const *prog, td_record_t record, place_t *at)
{
    bool is_frame = record == TD_RECORD_STEP && prog->steps[at->step].kind == TD_STEP_FRAME;

    if (record == TD_RECORD_SOURCE) {
        return;
    }
    td_writer_put_text(out, at->in_frame && !is_frame ? "  " : "");
    at->in_frame |= is_frame;
    if (record == TD_RECORD_NODE) {
        put_node(out, prog, at->node++);
    } else if (record == TD_RECORD_STEP) {
        put_step(out, prog, &prog->steps[at->step++]);
    } else if (record == TD_RECORD_SETTING) {
        td_setting_t setting = prog->settings[at->setting++];

        td_writer_put_format(out, "config %s = %s", td_config_name(setting.key),
                             td_config_value(setting.key, setting.value));
    } else {
        td_writer_put_text(out, "export");
    }
    td_writer_put_u8(out, '\n');
}

char *
td_prog_disasm(td_prog_t const *prog)
{
    td_writer_t out;
    place_t     at = {0};

    td_writer_init(&out, SIZE_MAX);
    td_writer_put_format(&out, "tandem %d\n", TD_FORMAT_VERSION);
    for (uint32_t r = 0; r < prog->order_cnt; r++) {
        put_record(&out, prog, (td_record_t)prog->order[r], &at);
    }
    return (char *)td_writer_take(&out, NULL);
}
