/* td_encode.c: program -> bytes. */
#include "graph/td_encode.h"

#include <string.h>

#include "base/td_assert.h"
#include "graph/td_rules.h"
#include "graph/td_wire.h"

static void
put_back(td_writer_t *out, uint32_t cnt, uint32_t idx)
{
    TD_ASSERT(idx < cnt);
    td_wire_put_index(out, cnt - 1 - idx);
}

static void
put_tensor(td_writer_t *out, td_tensor_t const *tensor)
{
    td_writer_put_u8(out, tensor->dtype);
    td_writer_put_u8(out, (uint8_t)(tensor->layout | (tensor->requires_grad ? 0x80 : 0)));
    td_writer_put_u8(out, tensor->dim_cnt);
    for (int i = 0; i < tensor->dim_cnt; i++) {
        td_writer_put_u8(out, (uint8_t)tensor->dim[i]);
    }
}

static void
put_dims(td_writer_t *out, td_node_t const *node)
{
    td_wire_put_count(out, node->dims.cnt);
    for (int i = 0; i < node->dims.cnt; i++) {
        td_wire_put_int(out, node->dims.dim[i]);
    }
}

static void
put_payload(td_writer_t *out, td_node_t const *node)
{
    switch (td_kind_info(node->kind)->payload) {
    case TD_PAYLOAD_NONE:
        break;
    case TD_PAYLOAD_BOOL:
    case TD_PAYLOAD_CHOICE:
        td_writer_put_u8(out, (uint8_t)node->i);
        break;
    case TD_PAYLOAD_INT:
        td_wire_put_int(out, node->i);
        break;
    case TD_PAYLOAD_BIGINT:
        td_wire_put_decimal(out, node->text);
        break;
    case TD_PAYLOAD_FLOAT:
        td_wire_put_float(out, node->f);
        break;
    case TD_PAYLOAD_TEXT:
        td_wire_put_text(out, node->text);
        break;
    case TD_PAYLOAD_BYTES:
        td_wire_put_bytes(out, node->text);
        break;
    case TD_PAYLOAD_RANGE:
        td_wire_put_int(out, node->range[0]);
        td_wire_put_int(out, node->range[1]);
        td_wire_put_int(out, node->range[2]);
        break;
    case TD_PAYLOAD_DIMS:
        put_dims(out, node);
        break;
    case TD_PAYLOAD_TENSOR:
        put_tensor(out, &node->tensor);
        break;
    }
}

void
td_encode_node(td_writer_t *out, td_node_t const *node, uint32_t node_cnt)
{
    td_kind_info_t const *info = td_kind_info(node->kind);
    uint32_t              more = (uint32_t)node->edge_cnt - info->edge_min;

    td_writer_put_u8(out, node->kind);
    put_payload(out, node);
    if (info->edge_min != info->edge_max) {
        td_wire_put_count(out, td_rules_is_paired(node->kind) ? more / 2 : more);
    }
    for (int i = 0; i < node->edge_cnt; i++) {
        put_back(out, node_cnt, node->edge[i]);
    }
}

void
td_encode_source(td_writer_t *out, td_src_t const *src, uint32_t node_cnt, uint32_t source_cnt)
{
    td_writer_put_u8(out, (uint8_t)(TD_WIRE_SOURCE + src->kind));
    for (char const *what = td_source_info(src->kind)->operands; *what != '\0'; what++) {
        switch (*what) {
        case 'b':
            put_back(out, source_cnt, src->base);
            break;
        case 'n':
            td_wire_put_text(out, src->name);
            break;
        case 'k':
            put_back(out, node_cnt, src->key);
            break;
        default:
            TD_ASSERT(*what == 'i');
            td_writer_put_u16(out, (uint16_t)src->idx);
        }
    }
}

/* A listed function's index among its names. */
static uint8_t
listed_idx(td_text_t name, size_t cnt, char const *(*at)(size_t))
{
    for (size_t i = 0; i < cnt; i++) {
        if (strlen(at(i)) == name.sz && memcmp(at(i), name.bytes, name.sz) == 0) {
            return (uint8_t)i;
        }
    }
    TD_ASSERT(!"the name is in the list");
    return 0;
}

static void
put_args(td_writer_t *out, td_step_t const *step, uint32_t node_cnt)
{
    td_wire_put_count(out, step->arg_cnt);
    for (int i = 0; i < step->arg_cnt; i++) {
        td_arg_t arg = step->arg[i];

        td_wire_put_arg(out, arg.is_ref, arg.is_ref ? arg.idx : node_cnt - 1 - arg.idx);
    }
}

static void
put_root(td_writer_t *out, td_step_t const *step, uint32_t node_cnt, uint32_t source_cnt)
{
    td_writer_put_u8(out, (uint8_t)(TD_WIRE_ENTRY + step->op));
    for (char const *what = td_entry_info(step->op)->operands; *what != '\0'; what++) {
        switch (*what) {
        case 's':
            put_back(out, source_cnt, step->source);
            break;
        case 'o':
            put_back(out, node_cnt, step->node);
            break;
        case 'n':
            td_wire_put_text(out, step->name);
            break;
        case 'm':
            td_writer_put_u8(out, listed_idx(step->name, td_method_cnt(), td_method_name));
            break;
        case 'c':
            td_writer_put_u8(out, listed_idx(step->name, td_compile_cnt(), td_compile_name));
            break;
        default:
            TD_ASSERT(*what == 'a');
            put_args(out, step, node_cnt);
        }
    }
}

static void
put_do(td_writer_t *out, td_step_t const *step, uint32_t node_cnt)
{
    size_t other = 0;

    td_writer_put_u8(out, (uint8_t)(TD_WIRE_DO + step->op));
    for (char const *what = td_do_info(step->op)->operands; *what != '\0'; what++) {
        switch (*what) {
        case 'o':
            put_back(out, node_cnt, step->node);
            break;
        case 'x':
            put_back(out, node_cnt, step->other[other++]);
            break;
        case 'n':
            td_wire_put_text(out, step->name);
            break;
        default:
            TD_ASSERT(*what == 'i');
            td_wire_put_int(out, step->num[0]);
        }
    }
}

static void
put_constraint(td_writer_t *out, td_step_t const *step, uint32_t node_cnt)
{
    td_writer_put_u8(out, step->tied ? TD_WIRE_TIED : TD_WIRE_RANGED);
    put_back(out, node_cnt, step->node);
    td_writer_put_u8(out, (uint8_t)step->num[0]);
    if (step->tied) {
        put_back(out, node_cnt, step->other[0]);
        td_writer_put_u8(out, (uint8_t)step->num[1]);
    } else {
        td_wire_put_int(out, step->num[1]);
        td_wire_put_int(out, step->num[2]);
    }
    td_wire_put_text(out, step->name);
}

void
td_encode_step(td_writer_t *out, td_step_t const *step, uint32_t node_cnt, uint32_t source_cnt)
{
    switch (step->kind) {
    case TD_STEP_FRAME:
        td_writer_put_u8(out, TD_WIRE_FRAME);
        break;
    case TD_STEP_ROOT:
        put_root(out, step, node_cnt, source_cnt);
        break;
    case TD_STEP_DO:
        put_do(out, step, node_cnt);
        break;
    default:
        TD_ASSERT(step->kind == TD_STEP_CONSTRAINT);
        put_constraint(out, step, node_cnt);
    }
}

void
td_encode_setting(td_writer_t *out, td_setting_t setting)
{
    td_writer_put_u8(out, TD_WIRE_SETTING);
    td_writer_put_u8(out, setting.key);
    td_writer_put_u8(out, setting.value);
}

void
td_encode_export(td_writer_t *out)
{
    td_writer_put_u8(out, TD_WIRE_EXPORT);
}

void
td_encode_end(td_writer_t *out)
{
    td_writer_put_u8(out, TD_WIRE_END);
}

void
td_encode_records(td_writer_t *out, td_prog_t const *prog, size_t *off)
{
    uint32_t node = 0, source = 0, step = 0, setting = 0;

    td_writer_put_u8(out, TD_WIRE_VERSION);
    for (uint32_t r = 0; r < prog->order_cnt; r++) {
        if (off != NULL) {
            off[r] = out->sz;
        }
        switch ((td_record_t)prog->order[r]) {
        case TD_RECORD_NODE:
            td_encode_node(out, &prog->nodes[node], node);
            node++;
            break;
        case TD_RECORD_SOURCE:
            td_encode_source(out, &prog->sources[source], node, source);
            source++;
            break;
        case TD_RECORD_STEP:
            td_encode_step(out, &prog->steps[step], node, source);
            step++;
            break;
        case TD_RECORD_SETTING:
            td_encode_setting(out, prog->settings[setting++]);
            break;
        case TD_RECORD_EXPORT:
            td_encode_export(out);
            break;
        }
    }
    if (off != NULL) {
        off[prog->order_cnt] = out->sz;
    }
    td_encode_end(out);
    TD_ASSERT(node == prog->node_cnt && source == prog->source_cnt && step == prog->step_cnt);
}

td_status_t
td_prog_encode(td_prog_t const *prog, uint8_t **bytes, size_t *sz)
{
    td_writer_t out;

    td_writer_init(&out, SIZE_MAX);
    td_encode_records(&out, prog, NULL);
    *bytes = td_writer_take(&out, sz);
    return out.status;
}
