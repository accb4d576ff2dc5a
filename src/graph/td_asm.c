/* td_asm.c: text -> program.

   A text is lines; '#' begins a comment, blank lines and indentation mean
   nothing.  The first line is the header, every other line one record:

     tandem 1
     config NAME = VALUE                     as configs.def spells both
     export
     %N = KIND [PAYLOAD] [EDGES]             N counts up from 0
     frame
     root build SOURCE %N
     root sourceless %N
     root fxcall %N (ARGS)
     root fxmethod "NAME" (ARGS)
     root method "NAME" (ARGS)
     root compile "NAME" (ARGS)
     do CHANGE %N [operands]                 as dos.def lists them
     constraint %N dim I in MIN..[MAX] [name "NAME"]
     constraint %N dim I == %M dim J [name "NAME"]

     PAYLOAD  true | -5 | 1.5 | -0.0 | inf | nan | nan:7ff8000000000001 | "text"
              | b"bytes" | a word of choices.def | 2 9 3 (range) | [2, 3] (size)
              | float32[2, 3] [LAYOUT] [grad]
     EDGES    %0 %1 ...; of dicts %KEY: %VALUE, %KEY: %VALUE
     SOURCE   local("x") | attr(SOURCE, "w") | item(SOURCE, %N) | random(0) | ...
     ARGS     %N or ref I (the I-th root of the frame, from 0), with commas

   Texts know the escapes \n \t \r \" \\ \xNN. */
#include <string.h>

#include "graph/td_draft.h"
#include "graph/td_lex.h"
#include "graph/td_rules.h"

typedef struct {
    td_lex_t    lex;
    td_draft_t  draft;
    td_status_t status; /* TD_NOMEM sticks beside the lexer's failure */
    char        text[TD_NAME_SZ_MAX + 1];
    uint16_t    edges[TD_EDGE_CNT_MAX + 1];
    int64_t     dims[TD_SIZE_CNT_MAX];
    td_arg_t    args[TD_ARG_CNT_MAX];
} asm_t;

/* What a put gave, as a failure at offset off. */
static void
check_put(asm_t *a, td_status_t status, size_t off)
{
    if (status == TD_OK) {
        return;
    }
    if (status == TD_NOMEM) {
        a->status = TD_NOMEM;
    }
    td_lex_fail(&a->lex, off, "%s", status == TD_NOMEM ? "out of memory" : a->draft.why);
}

static size_t
offset(asm_t *a)
{
    td_lex_at(&a->lex);
    return a->lex.off;
}

static uint16_t
take_node(asm_t *a)
{
    size_t  off = offset(a);
    int64_t idx;

    if (td_lex_at(&a->lex) != '%') {
        td_lex_fail(&a->lex, off, "a node (%%0) is missing here");
        return 0;
    }
    a->lex.off++;
    idx = td_lex_int(&a->lex, 0, TD_NODE_CNT_MAX, "the number of a node");
    if (!a->lex.failed && idx >= a->draft.prog->node_cnt) {
        td_lex_fail(&a->lex, off, "there is no node %%%d before this line", (int)idx);
    }
    return (uint16_t)idx;
}

/* A word out of a table; tag is -1 for an unknown one. */
static void
take_listed(asm_t *a, char const *what, int (*find)(char const *), uint8_t *tag)
{
    size_t off = offset(a);
    char   word[TD_WORD_SZ_MAX + 1];
    int    found;

    td_lex_word(&a->lex, word, what);
    found = a->lex.failed ? 0 : find(word);
    if (found < 0) {
        td_lex_fail(&a->lex, off, "'%s' is no %s", word, what);
    }
    *tag = (uint8_t)(found < 0 ? 0 : found);
}

/* ---- payloads ---- */

static int64_t
take_bool(asm_t *a)
{
    size_t off = offset(a);
    char   word[TD_WORD_SZ_MAX + 1];

    td_lex_word(&a->lex, word, "true or false");
    if (!a->lex.failed && strcmp(word, "true") != 0 && strcmp(word, "false") != 0) {
        td_lex_fail(&a->lex, off, "'%s' is neither true nor false", word);
    }
    return strcmp(word, "true") == 0;
}

static int64_t
take_choice(asm_t *a, uint8_t kind)
{
    size_t off = offset(a), cnt = td_choice_cnt(kind);
    char   word[TD_WORD_SZ_MAX + 1];

    td_lex_word(&a->lex, word, "a choice of this kind");
    for (size_t i = 0; i < cnt; i++) {
        if (strcmp(td_choice_name(kind, i), word) == 0) {
            return (int64_t)i;
        }
    }
    td_lex_fail(&a->lex, off, "%s has no choice '%s'", td_kind_info(kind)->name, word);
    return 0;
}

/* "[2, 3]": up to cnt_max ints. */
static uint8_t
take_dims(asm_t *a, int64_t *dims, uint8_t cnt_max, int64_t min, int64_t max)
{
    uint8_t cnt = 0;

    td_lex_expect(&a->lex, '[');
    if (td_lex_accept(&a->lex, ']')) {
        return 0;
    }
    do {
        if (cnt == cnt_max) {
            td_lex_fail(&a->lex, offset(a), "at most %d dims stand here", cnt_max);
            return cnt;
        }
        dims[cnt++] = td_lex_int(&a->lex, min, max, "a dim");
    } while (td_lex_accept(&a->lex, ','));
    td_lex_expect(&a->lex, ']');
    return cnt;
}

static int
dtype_find(char const *name)
{
    for (size_t i = 0; i < td_dtype_cnt(); i++) {
        if (strcmp(td_dtype_name(i), name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* Layouts and "grad" share one list of words. */
enum { GRAD_WORD = 0xFE };

static int
flag_find(char const *name)
{
    for (int i = 0; i < TD_LAYOUT_CNT; i++) {
        if (strcmp(td_layout_name((size_t)i), name) == 0) {
            return i;
        }
    }
    return strcmp(name, "grad") == 0 ? GRAD_WORD : -1;
}

static void
take_tensor(asm_t *a, td_tensor_t *tensor)
{
    int64_t dims[TD_DIM_CNT_MAX];
    uint8_t flag;

    take_listed(a, "dtype", dtype_find, &tensor->dtype);
    tensor->dim_cnt = take_dims(a, dims, TD_DIM_CNT_MAX, 0, TD_DIM_SIZE_MAX);
    for (int i = 0; i < tensor->dim_cnt; i++) {
        tensor->dim[i] = (uint16_t)dims[i];
    }
    while (td_lex_at(&a->lex) != '\0') {
        take_listed(a, "layout of a tensor, nor grad", flag_find, &flag);
        if (flag == GRAD_WORD) {
            tensor->requires_grad = 1;
        } else {
            tensor->layout = flag;
        }
    }
}

static void
take_payload(asm_t *a, td_node_t *node)
{
    td_lex_t *lex = &a->lex;

    switch (td_kind_info(node->kind)->payload) {
    case TD_PAYLOAD_NONE:
        break;
    case TD_PAYLOAD_BOOL:
        node->i = take_bool(a);
        break;
    case TD_PAYLOAD_CHOICE:
        node->i = take_choice(a, node->kind);
        break;
    case TD_PAYLOAD_INT:
        node->i = td_lex_int(lex, INT64_MIN, INT64_MAX, "an int of 64 bits");
        break;
    case TD_PAYLOAD_BIGINT:
        node->text = td_lex_decimal(lex, a->text);
        break;
    case TD_PAYLOAD_FLOAT:
        node->f = td_lex_float(lex);
        break;
    case TD_PAYLOAD_TEXT:
        node->text = td_lex_string(lex, a->text);
        break;
    case TD_PAYLOAD_BYTES:
        node->text = td_lex_bytes(lex, a->text);
        break;
    case TD_PAYLOAD_RANGE:
        for (int i = 0; i < 3; i++) {
            node->range[i] = td_lex_int(lex, INT64_MIN, INT64_MAX, "start, stop or step");
        }
        break;
    case TD_PAYLOAD_DIMS:
        node->dims.cnt = take_dims(a, a->dims, TD_SIZE_CNT_MAX, INT64_MIN, INT64_MAX);
        node->dims.dim = a->dims;
        break;
    case TD_PAYLOAD_TENSOR:
        take_tensor(a, &node->tensor);
        break;
    }
}

/* ---- nodes ---- */

/* Between a key and its value stands a colon, between pairs a comma. */
static void
take_pair_mark(asm_t *a, td_node_t const *node)
{
    int from = td_kind_info(node->kind)->edge_min;

    if (td_rules_is_paired(node->kind) && node->edge_cnt > from && td_lex_at(&a->lex) != '\0') {
        td_lex_expect(&a->lex, (node->edge_cnt - from) % 2 != 0 ? ':' : ',');
    }
}

static void
take_edges(asm_t *a, td_node_t *node)
{
    node->edge = a->edges;
    while (td_lex_at(&a->lex) != '\0') {
        take_pair_mark(a, node);
        if (node->edge_cnt == TD_EDGE_CNT_MAX + 1) {
            td_lex_fail(&a->lex, a->lex.off, "a node has at most %d edges", TD_EDGE_CNT_MAX);
        }
        if (a->lex.failed) {
            return;
        }
        a->edges[node->edge_cnt++] = take_node(a);
    }
}

static void
take_node_line(asm_t *a, size_t off)
{
    td_node_t node = {0};
    size_t    kind_off;
    int64_t   idx;

    td_lex_expect(&a->lex, '%');
    idx = td_lex_int(&a->lex, 0, TD_NODE_CNT_MAX, "the number of a node");
    if (!a->lex.failed && idx != a->draft.prog->node_cnt) {
        td_lex_fail(&a->lex, off, "the next node is %%%u", a->draft.prog->node_cnt);
    }
    td_lex_expect(&a->lex, '=');
    kind_off = offset(a);
    take_listed(a, "object kind", td_kind_find, &node.kind);
    if (a->lex.failed) {
        return;
    }
    take_payload(a, &node);
    take_edges(a, &node);
    if (!a->lex.failed) {
        check_put(a, td_draft_put_node(&a->draft, &node), kind_off);
    }
}

/* ---- roots ---- */

static void take_source(asm_t *a, int depth, uint16_t *idx);

static void
take_source_operand(asm_t *a, char what, int depth, td_src_t *src)
{
    switch (what) {
    case 'b':
        take_source(a, depth + 1, &src->base);
        break;
    case 'n':
        src->name = td_lex_string(&a->lex, a->text);
        break;
    case 'k':
        src->key = take_node(a);
        break;
    default:
        src->idx = td_lex_int(&a->lex, 0, TD_EDGE_CNT_MAX - 1, "an index");
    }
}

static void
take_source(asm_t *a, int depth, uint16_t *idx)
{
    size_t   off = offset(a);
    td_src_t src = {0};

    if (depth > TD_SOURCE_DEPTH_MAX) {
        td_lex_fail(&a->lex, off, "it is nested too deeply");
    }
    take_listed(a, "source kind", td_source_find, &src.kind);
    td_lex_expect(&a->lex, '(');
    if (a->lex.failed) {
        return;
    }
    for (char const *what = td_source_info(src.kind)->operands; *what != '\0'; what++) {
        if (what != td_source_info(src.kind)->operands) {
            td_lex_expect(&a->lex, ',');
        }
        take_source_operand(a, *what, depth, &src);
    }
    td_lex_expect(&a->lex, ')');
    if (!a->lex.failed) {
        check_put(a, td_draft_put_source(&a->draft, &src, idx), off);
    }
}

static td_arg_t
take_arg(asm_t *a)
{
    size_t   off = offset(a);
    td_arg_t arg = {.is_ref = td_lex_at(&a->lex) != '%'};
    char     word[TD_WORD_SZ_MAX + 1];

    if (!arg.is_ref) {
        arg.idx = take_node(a);
        return arg;
    }
    td_lex_word(&a->lex, word, "an argument (%0 or ref 0)");
    if (!a->lex.failed && strcmp(word, "ref") != 0) {
        td_lex_fail(&a->lex, off, "'%s' is no argument (%%0 or ref 0)", word);
    }
    arg.idx = (uint16_t)td_lex_int(&a->lex, 0, TD_STEP_CNT_MAX, "the number of a root");
    return arg;
}

static void
take_args(asm_t *a, td_step_t *step)
{
    step->arg = a->args;
    td_lex_expect(&a->lex, '(');
    if (td_lex_accept(&a->lex, ')')) {
        return;
    }
    do {
        if (step->arg_cnt == TD_ARG_CNT_MAX) {
            td_lex_fail(&a->lex, offset(a), "at most %d arguments stand here", TD_ARG_CNT_MAX);
            return;
        }
        a->args[step->arg_cnt++] = take_arg(a);
    } while (td_lex_accept(&a->lex, ','));
    td_lex_expect(&a->lex, ')');
}

static void
take_root_line(asm_t *a, size_t off)
{
    td_step_t step = {.kind = TD_STEP_ROOT};

    take_listed(a, "entry point", td_entry_find, &step.op);
    if (a->lex.failed) {
        return;
    }
    for (char const *what = td_entry_info(step.op)->operands; *what != '\0'; what++) {
        switch (*what) {
        case 's':
            take_source(a, 0, &step.source);
            break;
        case 'o':
            step.node = take_node(a);
            break;
        case 'a':
            take_args(a, &step);
            break;
        default:
            step.name = td_lex_string(&a->lex, a->text);
        }
    }
    if (!a->lex.failed) {
        check_put(a, td_draft_put_step(&a->draft, &step), off);
    }
}

/* ---- other lines ---- */

static void
take_do_line(asm_t *a, size_t off)
{
    td_step_t step  = {.kind = TD_STEP_DO};
    size_t    other = 0;

    take_listed(a, "change", td_do_find, &step.op);
    if (a->lex.failed) {
        return;
    }
    for (char const *what = td_do_info(step.op)->operands; *what != '\0'; what++) {
        switch (*what) {
        case 'o':
            step.node = take_node(a);
            break;
        case 'x':
            step.other[other++] = take_node(a);
            break;
        case 'n':
            step.name = td_lex_string(&a->lex, a->text);
            break;
        default:
            step.num[0] = td_lex_int(&a->lex, INT64_MIN, INT64_MAX, "an int");
        }
    }
    if (!a->lex.failed) {
        check_put(a, td_draft_put_step(&a->draft, &step), off);
    }
}

static void
expect_word(asm_t *a, char const *wanted)
{
    size_t off = offset(a);
    char   word[TD_WORD_SZ_MAX + 1];

    td_lex_word(&a->lex, word, wanted);
    if (!a->lex.failed && strcmp(word, wanted) != 0) {
        td_lex_fail(&a->lex, off, "'%s' should stand here, not '%s'", wanted, word);
    }
}

static int64_t
take_dim(asm_t *a)
{
    expect_word(a, "dim");
    return td_lex_int(&a->lex, 0, TD_DIM_CNT_MAX - 1, "a dim");
}

static void
take_constraint_line(asm_t *a, size_t off)
{
    td_step_t step = {.kind = TD_STEP_CONSTRAINT, .name = {.bytes = ""}};

    step.node   = take_node(a);
    step.num[0] = take_dim(a);
    step.tied   = td_lex_accept(&a->lex, '=');
    if (step.tied) {
        td_lex_expect(&a->lex, '=');
        step.other[0] = take_node(a);
        step.num[1]   = take_dim(a);
    } else {
        expect_word(a, "in");
        step.num[1] = td_lex_int(&a->lex, 0, INT64_MAX, "a smallest size");
        td_lex_expect(&a->lex, '.');
        td_lex_expect(&a->lex, '.');
        step.num[2] = INT64_MAX;
        if (td_lex_at(&a->lex) >= '0' && td_lex_at(&a->lex) <= '9') {
            step.num[2] = td_lex_int(&a->lex, 0, INT64_MAX, "a largest size");
        }
    }
    if (td_lex_at(&a->lex) != '\0') {
        expect_word(a, "name");
        step.name = td_lex_string(&a->lex, a->text);
    }
    if (!a->lex.failed) {
        check_put(a, td_draft_put_step(&a->draft, &step), off);
    }
}

static void
take_config_line(asm_t *a, size_t off)
{
    td_setting_t setting = {0};
    size_t       value_off, value = 0;
    char         word[TD_WORD_SZ_MAX + 1];

    take_listed(a, "config value", td_config_find, &setting.key);
    td_lex_expect(&a->lex, '=');
    value_off = offset(a);
    td_lex_chunk(&a->lex, word, "the value");
    if (a->lex.failed) {
        return;
    }
    while (value < td_config_value_cnt(setting.key) &&
           strcmp(td_config_value(setting.key, value), word) != 0) {
        value++;
    }
    if (value == td_config_value_cnt(setting.key)) {
        td_lex_fail(&a->lex, value_off, "'%s' is no value that %s can have here", word,
                    td_config_name(setting.key));
        return;
    }
    setting.value = (uint8_t)value;
    check_put(a, td_draft_put_setting(&a->draft, setting), off);
}

static void
take_frame_line(asm_t *a, size_t off)
{
    td_step_t const frame = {.kind = TD_STEP_FRAME};

    check_put(a, td_draft_put_step(&a->draft, &frame), off);
}

static void
take_export_line(asm_t *a, size_t off)
{
    check_put(a, td_draft_put_export(&a->draft), off);
}

static struct {
    char const *word;
    void (*take)(asm_t *a, size_t off);
} const lines[] = {
    {"root", take_root_line},     {"do", take_do_line},
    {"frame", take_frame_line},   {"constraint", take_constraint_line},
    {"config", take_config_line}, {"export", take_export_line},
};

static void
take_line(asm_t *a)
{
    size_t off = offset(a);
    char   word[TD_WORD_SZ_MAX + 1];

    if (td_lex_at(&a->lex) == '%') {
        take_node_line(a, off);
        td_lex_end(&a->lex);
        return;
    }
    td_lex_word(&a->lex, word, "a record");
    for (size_t i = 0; i < sizeof lines / sizeof *lines && !a->lex.failed; i++) {
        if (strcmp(lines[i].word, word) == 0) {
            lines[i].take(a, off);
            td_lex_end(&a->lex);
            return;
        }
    }
    td_lex_fail(&a->lex, off, "no record begins with '%s'", word);
}

static void
take_header(asm_t *a)
{
    size_t  off;
    int64_t version;

    if (!td_lex_next_line(&a->lex)) {
        td_lex_fail(&a->lex, a->lex.off, "the header 'tandem %d' is missing", TD_FORMAT_VERSION);
        return;
    }
    expect_word(a, "tandem");
    off     = offset(a);
    version = td_lex_int(&a->lex, 0, INT64_MAX, "the format version");
    if (!a->lex.failed && version != TD_FORMAT_VERSION) {
        td_lex_fail(&a->lex, off,
                    "the program has another format version; this tool reads version %d",
                    TD_FORMAT_VERSION);
    }
    td_lex_end(&a->lex);
}

static td_status_t
take_text(asm_t *a)
{
    take_header(a);
    while (td_lex_next_line(&a->lex)) {
        take_line(a);
    }
    if (!a->lex.failed) {
        check_put(a, td_draft_finish(&a->draft), a->lex.off);
    }
    return a->status != TD_OK ? a->status : a->lex.failed ? TD_REJECT : TD_OK;
}

td_status_t
td_prog_asm(char const *text, size_t sz, td_prog_t *prog, td_refusal_t *refusal)
{
    td_refusal_t ignored;
    asm_t        a;
    td_status_t  status;

    memset(&a.draft, 0, sizeof a.draft);
    a.status = TD_OK;
    td_lex_init(&a.lex, text, sz, refusal != NULL ? refusal : &ignored);
    TD_TRY(td_draft_init(&a.draft, prog));
    TD_TRY(take_text(&a));
done:
    td_draft_clear(&a.draft);
    if (status != TD_OK) {
        td_prog_clear(prog);
    }
    return status;
}

td_status_t
td_prog_load(uint8_t const *bytes, size_t sz, td_prog_t *prog, td_refusal_t *refusal)
{
    /* Version bytes are 0xA0..0xAF: no utf-8 text begins so. */
    if (sz != 0 && bytes[0] >> 4 == 0xA) {
        return td_prog_decode(bytes, sz, prog, refusal);
    }
    return td_prog_asm((char const *)bytes, sz, prog, refusal);
}
