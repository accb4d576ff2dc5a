/* td_forms.c: the shapes of values inside records, made in one place. */
#include "observe/td_forms.h"

#include <stdlib.h>
#include <string.h>

#include "base/td_assert.h"
#include "observe/td_obs_private.h"

/* Words that forms begin with, kept as values so that they are hashed once an
   observation.  The classes of sources come first, by their number. */
#define WORD_LIST(X)    \
    X(OBJECT, "object") \
    X(AGAIN, "again")   \
    X(NODE, "node")     \
    X(ENUM, "enum")     \
    X(GLOBAL, "global") \
    X(CLASS, "class") X(BYTES, "bytes") X(TUPLE, "tuple") X(VALUE, "value")

typedef enum {
    WORD_BEFORE = TD_SOURCE_CLASS_CNT - 1,
#define X(name, text) WORD_##name,
    WORD_LIST(X)
#undef X
        WORD_CNT
} word_t;

_Static_assert(WORD_CNT <= (int)TD_OBS_WORD_CNT, "obs->words has room for every word");

static char const *const word_texts[WORD_CNT] = {
#define X(class_name, where, f1, k1, f2, k2, f3, k3) [TD_SOURCE_CLASS_##class_name] = #class_name,
#include "observe/source_classes.def"
#undef X
#define X(name, text) [WORD_##name] = text,
    WORD_LIST(X)
#undef X
};

static td_source_class_info_t const source_table[TD_SOURCE_CLASS_CNT] = {
#define FIELD_CNT(k1, k2, k3)                         \
    ((TD_SOURCE_FIELD_##k1 != TD_SOURCE_FIELD_NONE) + \
     (TD_SOURCE_FIELD_##k2 != TD_SOURCE_FIELD_NONE) + \
     (TD_SOURCE_FIELD_##k3 != TD_SOURCE_FIELD_NONE))
#define X(class_name, where, f1, k1, f2, k2, f3, k3) \
    [TD_SOURCE_CLASS_##                              \
        class_name] = {#class_name,                  \
                       FIELD_CNT(k1, k2, k3),        \
                       {#f1, #f2, #f3},              \
                       {TD_SOURCE_FIELD_##k1, TD_SOURCE_FIELD_##k2, TD_SOURCE_FIELD_##k3}},
#include "observe/source_classes.def"
#undef X
};

static td_val_t
word(td_obs_t *obs, int which)
{
    if (obs->words[which] == TD_VAL_NONE) {
        obs->words[which] = td_obs_cstr(obs, word_texts[which]);
    }
    return obs->words[which];
}

/* ---- sources --------------------------------------------------------------- */

td_source_class_info_t const *
td_source_class_info(td_source_class_t source_class)
{
    return source_class < TD_SOURCE_CLASS_CNT ? &source_table[source_class] : NULL;
}

td_source_class_t
td_source_class_find(char const *class_name)
{
    td_source_class_t found = 0;

    while (found < TD_SOURCE_CLASS_CNT && strcmp(source_table[found].name, class_name) != 0) {
        found++;
    }
    return found;
}

static td_source_class_t
class_of_word(td_obs_t const *obs, td_val_t val)
{
    for (td_source_class_t found = 0; found < TD_SOURCE_CLASS_CNT; found++) {
        if (obs->words[found] == val) {
            return found;
        }
    }
    /* Not made by this file: decoded, or written by somebody else. */
    return obs->vals[val].kind == TD_VAL_STR ? td_source_class_find(obs->vals[val].text)
                                             : TD_SOURCE_CLASS_CNT;
}

static bool
is_source_or_null(td_obs_t const *obs, td_val_t val)
{
    return obs->vals[val].kind == TD_VAL_NULL || td_form_is_source(obs, val);
}

static bool
field_fits(td_obs_t const *obs, td_source_field_kind_t kind, td_val_t val)
{
    uint8_t is = obs->vals[val].kind;

    switch (kind) {
    case TD_SOURCE_FIELD_STR:
    case TD_SOURCE_FIELD_PROP:
        return is == TD_VAL_STR;
    case TD_SOURCE_FIELD_BOOL:
        return is == TD_VAL_BOOL;
    case TD_SOURCE_FIELD_INT:
        return is == TD_VAL_INT || is == TD_VAL_BIGINT;
    case TD_SOURCE_FIELD_SOURCE:
        return is_source_or_null(obs, val);
    default:
        return true;
    }
}

td_source_class_t
td_form_source_class(td_obs_t const *obs, td_val_t val)
{
    td_obs_row_t const *row = td_obs_row(obs, val);
    td_source_class_t   found;

    if (row->kind != TD_VAL_LIST || row->cnt == 0 || row->cnt > TD_SOURCE_FIELD_CNT_MAX + 1) {
        return TD_SOURCE_CLASS_CNT;
    }
    found = class_of_word(obs, row->items[0]);
    if (found != TD_SOURCE_CLASS_CNT && source_table[found].field_cnt != row->cnt - 1) {
        return TD_SOURCE_CLASS_CNT;
    }
    return found;
}

bool
td_form_is_source(td_obs_t const *obs, td_val_t val)
{
    return td_form_source_class(obs, val) != TD_SOURCE_CLASS_CNT;
}

td_val_t
td_form_source(td_obs_t *obs, td_source_class_t source_class, td_val_t const *fields,
               size_t field_cnt)
{
    td_source_class_info_t const *info = td_source_class_info(source_class);
    td_val_t                      items[TD_SOURCE_FIELD_CNT_MAX + 1];

    TD_ASSERT(info != NULL);
    if (obs->status != TD_OK) {
        return TD_VAL_NONE;
    }
    if (field_cnt != info->field_cnt) {
        return td_obs_fail(obs, TD_INTERNAL, "%s takes %zu fields", info->name, info->field_cnt);
    }
    items[0] = word(obs, (int)source_class);
    for (size_t idx = 0; idx < field_cnt; idx++) {
        if (fields[idx] == TD_VAL_NONE || !field_fits(obs, info->kinds[idx], fields[idx])) {
            return td_obs_fail(obs, TD_INTERNAL, "%s.%s is of another kind", info->name,
                               info->fields[idx]);
        }
        items[idx + 1] = fields[idx];
    }
    return td_obs_list(obs, items, field_cnt + 1);
}

td_val_t
td_form_local(td_obs_t *obs, char const *name, size_t name_sz, bool cell_or_freevar)
{
    td_val_t fields[2] = {td_obs_str(obs, name, name_sz), td_obs_bool(obs, cell_or_freevar)};

    return td_form_source(obs, TD_SOURCE_CLASS_LocalSource, fields, 2);
}

td_val_t
td_form_global_source(td_obs_t *obs, char const *name, size_t name_sz)
{
    td_val_t field = td_obs_str(obs, name, name_sz);

    return td_form_source(obs, TD_SOURCE_CLASS_GlobalSource, &field, 1);
}

td_val_t
td_form_attr(td_obs_t *obs, td_source_class_t source_class, td_val_t base, char const *member,
             size_t member_sz)
{
    char const *dot;
    td_val_t    fields[2] = {base, TD_VAL_NONE};

    TD_ASSERT(source_class == TD_SOURCE_CLASS_AttrSource ||
              source_class == TD_SOURCE_CLASS_ParamBufferSource);
    while ((dot = memchr(member, '.', member_sz)) != NULL) {
        fields[1] = td_obs_str(obs, member, (size_t)(dot - member));
        fields[0] = td_form_source(obs, TD_SOURCE_CLASS_AttrSource, fields, 2);
        member_sz -= (size_t)(dot - member) + 1;
        member = dot + 1;
    }
    fields[1] = td_obs_str(obs, member, member_sz);
    return td_form_source(obs, source_class, fields, 2);
}

td_val_t
td_form_item(td_obs_t *obs, td_source_class_t source_class, td_val_t base, td_val_t index,
             bool index_is_slice)
{
    td_val_t fields[3] = {base, index, TD_VAL_NONE};
    bool     is_odict  = source_class == TD_SOURCE_CLASS_ODictGetItemSource;

    TD_ASSERT(is_odict || source_class == TD_SOURCE_CLASS_GetItemSource ||
              source_class == TD_SOURCE_CLASS_TupleIteratorGetItemSource);
    TD_ASSERT(!is_odict || !index_is_slice);
    fields[2] = td_obs_bool(obs, index_is_slice);
    return td_form_source(obs, source_class, fields, is_odict ? 2 : 3);
}

td_val_t
td_form_chained(td_obs_t *obs, td_source_class_t source_class, td_val_t base)
{
    return td_form_source(obs, source_class, &base, 1);
}

td_val_t
td_form_tensor_property(td_obs_t *obs, td_val_t base, char const *prop, td_val_t idx)
{
    td_val_t fields[3] = {base, td_obs_cstr(obs, prop), idx};

    return td_form_source(obs, TD_SOURCE_CLASS_TensorPropertySource, fields, 3);
}

td_val_t
td_form_slice_index(td_obs_t *obs, td_val_t start, td_val_t stop, td_val_t step)
{
    td_val_t ends   = td_obs_triple(obs, start, stop, step);
    td_val_t args   = td_obs_pair(obs, word(obs, WORD_TUPLE), ends);
    td_val_t reduce = td_obs_pair(obs, td_form_class(obs, "builtins", "slice"), args);

    return td_obs_pair(obs, word(obs, WORD_TUPLE), reduce);
}

/* ---- canonical values ------------------------------------------------------ */

static td_val_t
word_and_ordinal(td_obs_t *obs, word_t which, uint32_t ordinal)
{
    return td_obs_pair(obs, word(obs, which), td_obs_int(obs, ordinal));
}

td_val_t
td_form_object(td_obs_t *obs, uint32_t ordinal)
{
    return word_and_ordinal(obs, WORD_OBJECT, ordinal);
}

td_val_t
td_form_typed(td_obs_t *obs, char const *type, td_val_t content)
{
    return td_obs_pair(obs, td_obs_cstr(obs, type), content);
}

td_val_t
td_form_enum(td_obs_t *obs, td_val_t cls, char const *member, size_t member_sz)
{
    return td_obs_triple(obs, word(obs, WORD_ENUM), cls, td_obs_str(obs, member, member_sz));
}

td_val_t
td_form_global(td_obs_t *obs, char const *module, char const *qualname)
{
    return td_obs_triple(obs, word(obs, WORD_GLOBAL), td_obs_cstr(obs, module),
                         td_obs_cstr(obs, qualname));
}

td_val_t
td_form_class(td_obs_t *obs, char const *module, char const *qualname)
{
    return td_obs_triple(obs, word(obs, WORD_CLASS), td_obs_cstr(obs, module),
                         td_obs_cstr(obs, qualname));
}

td_val_t
td_form_bytes(td_obs_t *obs, uint8_t const *bytes, size_t sz)
{
    char  *text = sz < SIZE_MAX / 2 ? td_arena_alloc(&obs->arena, 2 * sz) : NULL;
    size_t cnt  = 0;

    if (text == NULL) {
        return td_obs_fail(obs, TD_NOMEM, "no memory");
    }
    for (size_t idx = 0; idx < sz; idx++) {
        if (bytes[idx] >= 0x80) {
            text[cnt++] = (char)(0xC0 | bytes[idx] >> 6);
            text[cnt++] = (char)(0x80 | (bytes[idx] & 0x3F));
        } else {
            text[cnt++] = (char)bytes[idx];
        }
    }
    return td_obs_pair(obs, word(obs, WORD_BYTES), td_obs_str(obs, text, cnt));
}

/* ---- identities ------------------------------------------------------------ */

td_val_t
td_form_again(td_obs_t *obs, uint32_t ordinal)
{
    return word_and_ordinal(obs, WORD_AGAIN, ordinal);
}

td_val_t
td_form_node(td_obs_t *obs, uint32_t ordinal)
{
    return word_and_ordinal(obs, WORD_NODE, ordinal);
}

td_val_t
td_form_proxy(td_obs_t *obs, uint32_t node_ordinal, char const *node_name, size_t name_sz)
{
    return td_obs_pair(obs, td_obs_int(obs, node_ordinal), td_obs_str(obs, node_name, name_sz));
}

static int
ordinal_cmp(void const *left, void const *right)
{
    uint32_t a = *(uint32_t const *)left, b = *(uint32_t const *)right;

    return (a > b) - (a < b);
}

td_val_t
td_form_contains(td_obs_t *obs, uint32_t *ordinals, size_t cnt)
{
    td_val_t *items = td_obs_scratch(obs, cnt);

    if (items == NULL && cnt != 0) {
        return TD_VAL_NONE;
    }
    if (cnt > 1) {
        qsort(ordinals, cnt, sizeof *ordinals, ordinal_cmp);
    }
    for (size_t idx = 0; idx < cnt; idx++) {
        items[idx] = td_obs_int(obs, ordinals[idx]);
    }
    return td_obs_list(obs, items, cnt);
}

/* ---- numbers and guards ---------------------------------------------------- */

td_val_t
td_form_sym(td_obs_t *obs, char const *type, char const *expr, size_t expr_sz, td_val_t hint)
{
    return td_obs_triple(obs, td_obs_cstr(obs, type), td_obs_str(obs, expr, expr_sz), hint);
}

td_val_t
td_form_guard(td_obs_t *obs, td_val_t source, char const *kind, bool is_volatile, td_val_t payload)
{
    td_val_t row[4] = {source, td_obs_cstr(obs, kind), td_obs_bool(obs, is_volatile), payload};

    if (obs->status == TD_OK && (source == TD_VAL_NONE || !is_source_or_null(obs, source))) {
        return td_obs_fail(obs, TD_INTERNAL, "a guard %s on what is no source", kind);
    }
    return td_obs_list(obs, row, 4);
}

td_val_t
td_form_payload(td_obs_t *obs, td_form_keyword_t const *keywords, size_t keyword_cnt)
{
    td_val_t *items = td_obs_scratch(obs, keyword_cnt);

    if (items == NULL && keyword_cnt != 0) {
        return TD_VAL_NONE;
    }
    for (size_t idx = 0; idx < keyword_cnt; idx++) {
        items[idx] = td_obs_pair(obs, td_obs_cstr(obs, keywords[idx].keyword), keywords[idx].form);
    }
    return td_obs_list(obs, items, keyword_cnt);
}

td_val_t
td_form_guards(td_obs_t *obs, td_val_t const *rows, size_t row_cnt)
{
    return td_obs_bag(obs, rows, row_cnt);
}

bool
td_form_is_guard(td_obs_t const *obs, td_val_t val)
{
    td_obs_row_t const *row = td_obs_row(obs, val);

    return row->kind == TD_VAL_LIST && row->cnt == 4 && is_source_or_null(obs, row->items[0]) &&
           obs->vals[row->items[1]].kind == TD_VAL_STR &&
           obs->vals[row->items[2]].kind == TD_VAL_BOOL;
}

bool
td_form_is_form(td_obs_t const *obs, td_val_t val)
{
    td_obs_row_t const *row = td_obs_row(obs, val);

    return row->kind == TD_VAL_LIST && !row->has_record && row->cnt != 0 &&
           obs->vals[row->items[0]].kind == TD_VAL_STR;
}
