/* td_liar.c: one value of an observation becomes another one. */
#include "observe/td_liar.h"

#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "observe/td_obs_private.h"

/* ---- another value of the same shape -------------------------------------------- */

static td_val_t
something(td_obs_t *obs, td_field_t field)
{
    switch (td_field_info(field)->form) {
    case TD_FORM_SOURCE:
        return td_form_local(obs, "liar", 4, false);
    case TD_FORM_BOOL:
        return td_obs_bool(obs, true);
    case TD_FORM_INT:
        return td_obs_int(obs, 0);
    default:
        return td_obs_cstr(obs, "liar");
    }
}

/* Text with one more character; suffix is a single byte. */
static td_val_t
longer_text(td_obs_t *obs, td_val_t val, char suffix)
{
    size_t      sz;
    char const *text = td_obs_get_str(obs, val, &sz);
    char       *more = td_arena_dup(&obs->arena, text, sz + 1);

    if (more == NULL) {
        return td_obs_fail(obs, TD_NOMEM, "no memory");
    }
    more[sz] = suffix;
    if (td_obs_kind(obs, val) == TD_VAL_BIGINT) {
        return td_obs_bigint(obs, more);
    }
    return td_obs_str(obs, more, sz + 1);
}

/* val with item idx replaced; lists, bags and records. */
static td_val_t
with_item(td_obs_t *obs, td_val_t val, size_t idx, td_val_t item)
{
    td_val_kind_t kind  = td_obs_kind(obs, val);
    size_t        cnt   = td_obs_get_cnt(obs, val);
    td_val_t     *items = td_arena_alloc(&obs->arena, cnt * sizeof *items);

    TD_ASSERT(idx < cnt);
    if (items == NULL) {
        return td_obs_fail(obs, TD_NOMEM, "no memory");
    }
    memcpy(items, td_obs_row(obs, val)->items, cnt * sizeof *items);
    items[idx] = item;
    if (kind == TD_VAL_BAG) {
        return td_obs_bag(obs, items, cnt);
    }
    return td_obs_container(obs, kind, (td_class_t)td_obs_row(obs, val)->class_id, items, cnt);
}

/* A form keeps its word: its last value changes. */
static td_val_t
changed_form(td_obs_t *obs, td_val_t val, td_field_t field)
{
    size_t   last = td_obs_get_cnt(obs, val) - 1;
    td_val_t item = td_obs_get_item(obs, val, last);

    return with_item(obs, val, last, td_liar_change(obs, item, field));
}

static td_val_t
changed_list(td_obs_t *obs, td_val_t val, td_field_t field)
{
    td_obs_row_t const *row = td_obs_row(obs, val);
    td_val_t            one;

    if (row->kind == TD_VAL_LIST && row->cnt > 1 && td_form_is_form(obs, val)) {
        return changed_form(obs, val, field);
    }
    if (row->cnt != 0) {
        return td_obs_container(obs, (td_val_kind_t)row->kind, TD_CLASS_NONE, row->items,
                                row->cnt - 1);
    }
    one = td_form_guard(obs, td_form_local(obs, "liar", 4, false), "LIAR", false, td_obs_null(obs));
    return td_obs_container(obs, (td_val_kind_t)row->kind, TD_CLASS_NONE, &one, one != TD_VAL_NONE);
}

td_val_t
td_liar_change(td_obs_t *obs, td_val_t val, td_field_t field)
{
    int64_t  number;
    uint64_t bits;
    double   value;

    if (obs->status != TD_OK || val == TD_VAL_NONE) {
        return TD_VAL_NONE;
    }
    switch (td_obs_kind(obs, val)) {
    case TD_VAL_ABSENT:
        return td_obs_null(obs);
    case TD_VAL_NULL:
        return something(obs, field);
    case TD_VAL_BOOL:
        return td_obs_bool(obs, !td_obs_get_bool(obs, val));
    case TD_VAL_INT:
        number = td_obs_get_int(obs, val);
        return td_obs_int(obs, number == INT64_MAX ? 0 : number + 1);
    case TD_VAL_FLOAT:
        value = td_obs_get_float(obs, val);
        memcpy(&bits, &value, sizeof bits);
        bits ^= 1;
        memcpy(&value, &bits, sizeof value);
        return td_obs_float(obs, value);
    case TD_VAL_BIGINT:
        return longer_text(obs, val, '0');
    case TD_VAL_STR:
        return longer_text(obs, val, '\'');
    case TD_VAL_LIST:
    case TD_VAL_BAG:
        return changed_list(obs, val, field);
    case TD_VAL_RECORD:
        break;
    }
    return td_obs_null(obs);
}

/* ---- where to lie ----------------------------------------------------------------- */

typedef struct {
    td_class_t class_id;
    td_field_t field;
} owner_t;

typedef struct {
    td_obs_t  *obs;
    td_class_t class_id; /* TD_CLASS_NONE: any */
    td_field_t field;
    uint8_t   *searched; /* owned: values that have nothing to lie about */
    uint32_t   searched_cnt;
    owner_t    owner; /* what a difference in the value being searched names */
    bool       found;
} liar_t;

/* Which item of a source tree or guard row the attribute is; SIZE_MAX: none. */
static size_t
source_item(liar_t const *liar, td_val_t val)
{
    td_field_info_t const        *field = td_field_info(liar->field);
    td_source_class_info_t const *info = td_source_class_info(td_form_source_class(liar->obs, val));
    td_class_t                    is   = info != NULL ? td_class_find(info->name) : TD_CLASS_NONE;

    if (is == TD_CLASS_NONE || !td_class_is_a(is, field->class_id) ||
        (liar->class_id != TD_CLASS_NONE && liar->class_id != is)) {
        return SIZE_MAX;
    }
    for (size_t idx = 0; idx < info->field_cnt; idx++) {
        if (strcmp(info->fields[idx], field->attribute) == 0) {
            return idx + 1;
        }
    }
    return SIZE_MAX;
}

static size_t
guard_item(liar_t const *liar, td_val_t val)
{
    static td_field_t const items[] = {
        TD_FIELD_Guard_originating_source,
        TD_FIELD_Guard_create_fn,
        TD_FIELD_Guard_is_volatile,
        TD_FIELD_Guard_payload,
    };

    for (size_t idx = 0; idx < sizeof items / sizeof *items; idx++) {
        if (items[idx] == liar->field && td_form_is_guard(liar->obs, val)) {
            return idx;
        }
    }
    return SIZE_MAX;
}

static size_t
record_item(liar_t const *liar, td_val_t val)
{
    td_class_t        is = td_obs_get_class(liar->obs, val);
    size_t            cnt;
    td_field_t const *fields = td_class_fields(is, &cnt);

    for (size_t idx = 0; idx < cnt; idx++) {
        if (fields[idx] == liar->field &&
            (liar->class_id == TD_CLASS_NONE || liar->class_id == is)) {
            return idx;
        }
    }
    return SIZE_MAX;
}

/* The item of val that the lie is about, SIZE_MAX when it is not here. */
static size_t
item_here(liar_t const *liar, td_val_t val)
{
    size_t idx = SIZE_MAX;

    if (td_obs_kind(liar->obs, val) == TD_VAL_RECORD) {
        return record_item(liar, val);
    }
    if (td_obs_kind(liar->obs, val) == TD_VAL_LIST) {
        idx = guard_item(liar, val);
        idx = idx != SIZE_MAX ? idx : source_item(liar, val);
    }
    return idx;
}

static td_val_t told(liar_t *liar, td_val_t val);

static td_val_t
told_within(liar_t *liar, td_val_t val)
{
    td_obs_t     *obs   = liar->obs;
    td_val_kind_t kind  = td_obs_kind(obs, val);
    owner_t       owner = liar->owner;

    for (size_t idx = 0; idx < td_obs_get_cnt(obs, val); idx++) {
        td_val_t item = td_obs_get_item(obs, val, idx);
        td_val_t lie;

        if (kind == TD_VAL_RECORD) {
            liar->owner = (owner_t){td_obs_get_class(obs, val), td_obs_get_field(obs, val, idx)};
        }
        lie = told(liar, item);
        if (!liar->found || kind == TD_VAL_BAG) {
            liar->owner = owner; /* the members of a bag differ as wholes */
        }
        if (liar->found) {
            return lie != TD_VAL_NONE ? with_item(obs, val, idx, lie) : TD_VAL_NONE;
        }
    }
    return val;
}

/* val with the lie in it, or val itself; TD_VAL_NONE after a failure. */
static td_val_t
told(liar_t *liar, td_val_t val)
{
    td_obs_t *obs = liar->obs;
    size_t    idx;

    TD_ASSERT(val < liar->searched_cnt);
    if (td_obs_kind(obs, val) < TD_VAL_LIST || liar->searched[val]) {
        return val;
    }
    idx = item_here(liar, val);
    if (idx != SIZE_MAX) {
        if (td_obs_kind(obs, val) == TD_VAL_RECORD) {
            liar->owner = (owner_t){td_obs_get_class(obs, val), liar->field};
        }
        liar->found = true;
        return with_item(obs, val, idx,
                         td_liar_change(obs, td_obs_get_item(obs, val, idx), liar->field));
    }
    liar->searched[val] = 1;
    return told_within(liar, val);
}

static char const *
owner_text(liar_t const *liar)
{
    char const *class_name = td_class_name(liar->owner.class_id);
    char const *attribute  = td_field_info(liar->owner.field)->attribute;
    size_t      sz         = strlen(class_name) + strlen(attribute) + 2;
    char       *text       = td_arena_alloc(&liar->obs->arena, sz);

    if (text == NULL) {
        td_obs_fail(liar->obs, TD_NOMEM, "no memory");
        return NULL;
    }
    snprintf(text, sz, "%s.%s", class_name, attribute);
    return text;
}

bool
td_liar_tell(td_obs_t *obs, uint8_t const *bytes, size_t sz, td_class_t class_id, td_field_t field,
             td_lie_t *lie)
{
    liar_t   liar = {.obs = obs, .class_id = class_id, .field = field};
    td_val_t root, with_lie;

    TD_ASSERT(field > TD_FIELD_NONE && field < TD_FIELD_CNT);
    *lie = (td_lie_t){NULL, 0, NULL};
    if (td_obs_decode(obs, bytes, sz, &root) != TD_OK) {
        return false;
    }
    liar.searched_cnt = obs->val_cnt;
    liar.searched     = td_calloc(obs->val_cnt, 1);
    if (liar.searched == NULL) {
        td_obs_fail(obs, TD_NOMEM, "no memory");
        return false;
    }
    with_lie = told(&liar, root);
    td_free(liar.searched);
    if (!liar.found || obs->status != TD_OK) {
        return false;
    }
    TD_ASSERT(with_lie != root);
    lie->field = owner_text(&liar);
    return td_obs_encode(obs, with_lie, &lie->bytes, &lie->sz) == TD_OK;
}
