/* td_rules.c: validity, record by record. */
#include "graph/td_rules.h"

#include <string.h>

#include "base/td_assert.h"

/* Bytes of the utf-8 sequence at the start of bytes, 0 if it is none: no
   overlong form, no surrogate, nothing above U+10FFFF. */
static size_t
utf8_sequence(uint8_t const *bytes, size_t sz)
{
    size_t  cnt;
    uint8_t low = 0x80, high = 0xBF;

    if (bytes[0] < 0x80) {
        return 1;
    }
    if (bytes[0] < 0xC2 || bytes[0] > 0xF4) {
        return 0;
    }
    cnt  = bytes[0] < 0xE0 ? 2 : bytes[0] < 0xF0 ? 3 : 4;
    low  = bytes[0] == 0xE0 ? 0xA0 : bytes[0] == 0xF0 ? 0x90 : low;
    high = bytes[0] == 0xED ? 0x9F : bytes[0] == 0xF4 ? 0x8F : high;
    if (sz < cnt || bytes[1] < low || bytes[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < cnt; i++) {
        if ((bytes[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return cnt;
}

size_t
td_rules_utf8(char const *bytes, size_t sz)
{
    size_t good = 0;

    while (good < sz) {
        size_t cnt = utf8_sequence((uint8_t const *)bytes + good, sz - good);

        if (cnt == 0) {
            break;
        }
        good += cnt;
    }
    return good;
}

static bool
text_is_fine(td_text_t text)
{
    return text.sz <= TD_NAME_SZ_MAX && td_rules_utf8(text.bytes, text.sz) == text.sz;
}

bool
td_rules_is_bigint(td_text_t decimal)
{
    static char const below[]  = "9223372036854775808";
    static char const above[]  = "9223372036854775807";
    bool              negative = decimal.sz > 0 && decimal.bytes[0] == '-';
    char const       *digits   = decimal.bytes + negative;
    size_t            cnt      = decimal.sz - negative;

    if (cnt < 19 || decimal.sz > TD_NAME_SZ_MAX || digits[0] == '0') {
        return false;
    }
    for (size_t i = 0; i < cnt; i++) {
        if (digits[i] < '0' || digits[i] > '9') {
            return false;
        }
    }
    return cnt > 19 || memcmp(digits, negative ? below : above, 19) > 0;
}

bool
td_layout_fits(uint8_t kind, td_tensor_t const *tensor)
{
    bool numpy = kind == TD_KIND_NDARRAY;

    switch (tensor->layout) {
    case TD_LAYOUT_CONTIGUOUS:
        return true;
    case TD_LAYOUT_TRANSPOSED:
        return tensor->dim_cnt >= 2;
    case TD_LAYOUT_OFFSET:
    case TD_LAYOUT_STRIDED:
        return tensor->dim_cnt >= 1;
    case TD_LAYOUT_EXPANDED:
    case TD_LAYOUT_SPARSE_COO:
        return tensor->dim_cnt >= 1 && !numpy;
    case TD_LAYOUT_CHANNELS_LAST:
        return tensor->dim_cnt == 4 && !numpy;
    case TD_LAYOUT_SPARSE_CSR:
        return tensor->dim_cnt == 2 && !numpy;
    case TD_LAYOUT_META:
        return !numpy;
    case TD_LAYOUT_CONJ:
        return td_dtype_is_complex(tensor->dtype) && !numpy;
    case TD_LAYOUT_NONLEAF:
        return tensor->requires_grad && kind == TD_KIND_TENSOR;
    default:
        return false;
    }
}

uint64_t
td_tensor_storage_cnt(td_tensor_t const *tensor)
{
    uint64_t cnt = 1;

    for (int i = 0; i < tensor->dim_cnt; i++) {
        cnt *= tensor->dim[i] != 0 ? tensor->dim[i] : 1;
    }
    /* Both are cut out of a base that is up to twice as large. */
    return tensor->layout == TD_LAYOUT_OFFSET || tensor->layout == TD_LAYOUT_STRIDED ? 2 * cnt
                                                                                     : cnt;
}

static char const *
rules_tensor(uint8_t kind, td_tensor_t const *tensor)
{
    if (tensor->dtype >= td_dtype_cnt() || tensor->dim_cnt > TD_DIM_CNT_MAX) {
        return "there is no such dtype, or there are too many dims";
    }
    for (int i = 0; i < tensor->dim_cnt; i++) {
        if (tensor->dim[i] > TD_DIM_SIZE_MAX) {
            return "a dim is too large";
        }
    }
    if (tensor->requires_grad &&
        (!td_dtype_is_floating(tensor->dtype) || kind == TD_KIND_NDARRAY)) {
        return "only tensors of a floating or complex dtype can require grad";
    }
    if (kind == TD_KIND_NDARRAY && strcmp(td_dtype_name(tensor->dtype), "bfloat16") == 0) {
        return "numpy has no bfloat16";
    }
    if (!td_layout_fits(kind, tensor)) {
        return "the layout does not fit the dims, the dtype or the kind";
    }
    return td_tensor_storage_cnt(tensor) > TD_NUMEL_MAX ? "the tensor holds too many elements"
                                                        : NULL;
}

static char const *
rules_payload(td_node_t const *node, td_payload_t payload)
{
    switch (payload) {
    case TD_PAYLOAD_BOOL:
        return node->i != 0 && node->i != 1 ? "a bool is 0 or 1" : NULL;
    case TD_PAYLOAD_TEXT:
        return text_is_fine(node->text) ? NULL : "the text is too long or no utf-8";
    case TD_PAYLOAD_BYTES:
        return node->text.sz <= TD_NAME_SZ_MAX ? NULL : "there are too many bytes";
    case TD_PAYLOAD_BIGINT:
        return td_rules_is_bigint(node->text) ? NULL
                                              : "these are no digits of an int outside 64 bits";
    case TD_PAYLOAD_CHOICE:
        return (uint64_t)node->i < td_choice_cnt(node->kind) ? NULL : "there is no such choice";
    case TD_PAYLOAD_RANGE:
        return node->range[2] != 0 ? NULL : "the step of a range is 0";
    case TD_PAYLOAD_DIMS:
        return node->dims.cnt <= TD_SIZE_CNT_MAX ? NULL : "there are too many dims";
    case TD_PAYLOAD_TENSOR:
        return rules_tensor(node->kind, &node->tensor);
    case TD_PAYLOAD_NONE:
    case TD_PAYLOAD_INT:
    case TD_PAYLOAD_FLOAT:
        break;
    }
    return NULL;
}

bool
td_rules_is_paired(uint8_t kind)
{
    return kind == TD_KIND_DICT || kind == TD_KIND_ORDERED_DICT || kind == TD_KIND_DEFAULT_DICT;
}

/* The kind that the one edge of a view must have; 0: any. */
static uint8_t
viewed_kind(uint8_t kind)
{
    return kind == TD_KIND_ODICT_VALUES     ? TD_KIND_ORDERED_DICT
           : kind == TD_KIND_TUPLE_ITERATOR ? TD_KIND_TUPLE
                                            : 0;
}

static char const *
rules_edges(td_prog_t const *prog, td_node_t const *node, td_kind_info_t const *info)
{
    uint8_t viewed = viewed_kind(node->kind);

    if (node->edge_cnt < info->edge_min || node->edge_cnt > info->edge_max) {
        return "the kind has not that many edges";
    }
    if (td_rules_is_paired(node->kind) && (node->edge_cnt - info->edge_min) % 2 != 0) {
        return "a key has no value";
    }
    for (int i = 0; i < node->edge_cnt; i++) {
        if (node->edge[i] >= prog->node_cnt) {
            return "an edge points at no earlier node";
        }
    }
    if (viewed != 0 && prog->nodes[node->edge[0]].kind != viewed) {
        return viewed == TD_KIND_TUPLE ? "its edge is no tuple" : "its edge is no ordered_dict";
    }
    return NULL;
}

char const *
td_rules_node(td_prog_t const *prog, td_node_t const *node)
{
    td_kind_info_t const *info = td_kind_info(node->kind);
    char const           *why;

    if (info == NULL) {
        return "there is no such kind";
    }
    why = rules_payload(node, info->payload);
    return why != NULL ? why : rules_edges(prog, node, info);
}

bool
td_rules_is_key(td_node_t const *node, bool edges_are_keys)
{
    switch (node->kind) {
    case TD_KIND_NONE:
    case TD_KIND_BOOL:
    case TD_KIND_INT:
    case TD_KIND_BIGINT:
    case TD_KIND_FLOAT:
    case TD_KIND_STR:
    case TD_KIND_BYTES:
    case TD_KIND_DEVICE:
    case TD_KIND_DTYPE:
    case TD_KIND_SIZE:
    case TD_KIND_ENUM:
    case TD_KIND_CLASS:
        return true;
    case TD_KIND_TUPLE:
    case TD_KIND_SLICE:
        return edges_are_keys;
    default:
        return false;
    }
}

bool
td_rules_is_tensor(td_node_t const *node)
{
    return node->kind == TD_KIND_TENSOR || node->kind == TD_KIND_PARAMETER;
}

/* Of keys and of sources the draft keeps more than the program; what it knows
   (is_key, depth) it checks itself. */
char const *
td_rules_source(td_prog_t const *prog, td_src_t const *src)
{
    td_op_info_t const *info = td_source_info(src->kind);

    if (info == NULL) {
        return "there is no such source kind";
    }
    if (strchr(info->operands, 'b') != NULL && src->base >= prog->source_cnt) {
        return "its base is no earlier source";
    }
    if (strchr(info->operands, 'n') != NULL && !text_is_fine(src->name)) {
        return "its name is too long or no utf-8";
    }
    if (strchr(info->operands, 'k') != NULL && src->key >= prog->node_cnt) {
        return "its key is no earlier node";
    }
    if (strchr(info->operands, 'i') != NULL && (src->idx < 0 || src->idx >= TD_EDGE_CNT_MAX)) {
        return "its index is out of range";
    }
    return NULL;
}

static bool
is_listed(td_text_t name, size_t cnt, char const *(*at)(size_t))
{
    for (size_t i = 0; i < cnt; i++) {
        if (strlen(at(i)) == name.sz && memcmp(at(i), name.bytes, name.sz) == 0) {
            return true;
        }
    }
    return false;
}

static char const *
rules_args(td_prog_t const *prog, td_step_t const *step, int frame_root_cnt)
{
    if (step->arg_cnt > TD_ARG_CNT_MAX) {
        return "there are too many arguments";
    }
    for (int i = 0; i < step->arg_cnt; i++) {
        uint32_t end = step->arg[i].is_ref ? (uint32_t)frame_root_cnt : prog->node_cnt;

        if (step->arg[i].idx >= end) {
            return step->arg[i].is_ref ? "a ref means no earlier root of the frame"
                                       : "an argument is no earlier node";
        }
    }
    return NULL;
}

static char const *
rules_root(td_prog_t const *prog, td_step_t const *step, int frame_root_cnt)
{
    td_op_info_t const *info = td_entry_info(step->op);
    char const         *what;

    if (info == NULL) {
        return "there is no such entry point";
    }
    what = info->operands;
    if (strchr(what, 's') != NULL && step->source >= prog->source_cnt) {
        return "there is no such source";
    }
    if (strchr(what, 'o') != NULL && step->node >= prog->node_cnt) {
        return "its object is no earlier node";
    }
    if (strchr(what, 'n') != NULL && !text_is_fine(step->name)) {
        return "its name is too long or no utf-8";
    }
    if (strchr(what, 'm') != NULL && !is_listed(step->name, td_method_cnt(), td_method_name)) {
        return "methods.def has no such method";
    }
    if (strchr(what, 'c') != NULL && !is_listed(step->name, td_compile_cnt(), td_compile_name)) {
        return "compiles.def has no such function";
    }
    return strchr(what, 'a') != NULL ? rules_args(prog, step, frame_root_cnt) : NULL;
}

static char const *
rules_do(td_prog_t const *prog, td_step_t const *step)
{
    td_op_info_t const *info      = td_do_info(step->op);
    size_t              other_cnt = 0;

    if (info == NULL) {
        return "there is no such change";
    }
    if (step->node >= prog->node_cnt) {
        return "the object that changes is no earlier node";
    }
    for (char const *what = info->operands; *what != '\0'; what++) {
        if (*what == 'x' && step->other[other_cnt++] >= prog->node_cnt) {
            return "an operand is no earlier node";
        }
        if (*what == 'n' && !text_is_fine(step->name)) {
            return "its name is too long or no utf-8";
        }
    }
    return NULL;
}

static bool
has_dim(td_prog_t const *prog, uint16_t node, int64_t dim)
{
    return dim >= 0 && dim < prog->nodes[node].tensor.dim_cnt;
}

static bool
is_tensor(td_prog_t const *prog, uint16_t node)
{
    return node < prog->node_cnt && td_rules_is_tensor(&prog->nodes[node]);
}

static char const *
rules_constraint(td_prog_t const *prog, td_step_t const *step)
{
    if (!is_tensor(prog, step->node) || (step->tied && !is_tensor(prog, step->other[0]))) {
        return "a constraint is on tensors";
    }
    if (!has_dim(prog, step->node, step->num[0]) ||
        (step->tied && !has_dim(prog, step->other[0], step->num[1]))) {
        return "the tensor has no such dim";
    }
    if (!step->tied && (step->num[1] < 0 || step->num[1] > step->num[2])) {
        return "the smallest size is below 0 or above the largest";
    }
    return text_is_fine(step->name) ? NULL : "its name is too long or no utf-8";
}

char const *
td_rules_step(td_prog_t const *prog, td_step_t const *step, int frame_root_cnt)
{
    bool needs_frame = step->kind == TD_STEP_ROOT || step->kind == TD_STEP_CONSTRAINT;

    if (needs_frame && frame_root_cnt < 0) {
        return "it stands before the first frame";
    }
    switch (step->kind) {
    case TD_STEP_FRAME:
        return NULL;
    case TD_STEP_ROOT:
        return rules_root(prog, step, frame_root_cnt);
    case TD_STEP_DO:
        return rules_do(prog, step);
    case TD_STEP_CONSTRAINT:
        return rules_constraint(prog, step);
    default:
        return "there is no such step";
    }
}

char const *
td_rules_setting(td_prog_t const *prog, td_setting_t setting)
{
    if (setting.key >= td_config_cnt() || setting.value >= td_config_value_cnt(setting.key)) {
        return "there is no such config value";
    }
    for (uint32_t i = 0; i < prog->setting_cnt; i++) {
        if (prog->settings[i].key == setting.key) {
            return "the config key is set already";
        }
    }
    return NULL;
}
