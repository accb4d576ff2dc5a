/* td_obs_look.c: reading values back, and their order by content. */
#include <string.h>

#include "base/td_assert.h"
#include "observe/td_obs.h"
#include "observe/td_obs_private.h"

/* What is read where memory ran out before there was a value: an empty one of any kind. */
static td_obs_row_t const unmade = {.text = ""};

static td_obs_row_t const *
row_of(td_obs_t const *obs, td_val_t val)
{
    if (val == TD_VAL_NONE && td_obs_status(obs) != TD_OK) {
        return &unmade;
    }
    TD_ASSERT(val != TD_VAL_NONE);
    TD_ASSERT(val < obs->val_cnt);
    return &obs->vals[val];
}

static td_obs_row_t const *
row_of_kind(td_obs_t const *obs, td_val_t val, td_val_kind_t kind)
{
    td_obs_row_t const *row = row_of(obs, val);

    TD_ASSERT(row->kind == kind || row == &unmade);
    return row;
}

td_val_kind_t
td_obs_kind(td_obs_t const *obs, td_val_t val)
{
    return (td_val_kind_t)row_of(obs, val)->kind;
}

bool
td_obs_get_bool(td_obs_t const *obs, td_val_t val)
{
    return row_of_kind(obs, val, TD_VAL_BOOL)->number != 0;
}

int64_t
td_obs_get_int(td_obs_t const *obs, td_val_t val)
{
    return row_of_kind(obs, val, TD_VAL_INT)->number;
}

double
td_obs_get_float(td_obs_t const *obs, td_val_t val)
{
    uint64_t bits = row_of_kind(obs, val, TD_VAL_FLOAT)->bits;
    double   value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

char const *
td_obs_get_str(td_obs_t const *obs, td_val_t val, size_t *sz)
{
    td_obs_row_t const *row = row_of(obs, val);

    TD_ASSERT(row->kind == TD_VAL_STR || row->kind == TD_VAL_BIGINT || row == &unmade);
    if (sz != NULL) {
        *sz = row->cnt;
    }
    return row->text;
}

td_class_t
td_obs_get_class(td_obs_t const *obs, td_val_t val)
{
    return (td_class_t)row_of_kind(obs, val, TD_VAL_RECORD)->class_id;
}

size_t
td_obs_get_cnt(td_obs_t const *obs, td_val_t val)
{
    td_obs_row_t const *row = row_of(obs, val);

    TD_ASSERT(row->kind >= TD_VAL_LIST || row == &unmade);
    return row->cnt;
}

td_val_t
td_obs_get_item(td_obs_t const *obs, td_val_t val, size_t idx)
{
    td_obs_row_t const *row = row_of(obs, val);

    TD_ASSERT(row->kind >= TD_VAL_LIST);
    TD_ASSERT(idx < row->cnt);
    return row->items[idx];
}

td_field_t
td_obs_get_field(td_obs_t const *obs, td_val_t val, size_t idx)
{
    td_obs_row_t const *row = row_of_kind(obs, val, TD_VAL_RECORD);
    size_t              field_cnt;
    td_field_t const   *fields = td_class_fields((td_class_t)row->class_id, &field_cnt);

    TD_ASSERT(idx < field_cnt);
    return fields[idx];
}

/* ---- order --------------------------------------------------------------- */

static int
bytes_cmp(td_obs_row_t const *a, td_obs_row_t const *b)
{
    int order = memcmp(a->text, b->text, a->cnt < b->cnt ? a->cnt : b->cnt);

    return order != 0 ? order : (a->cnt > b->cnt) - (a->cnt < b->cnt);
}

/* Equal items have equal ids, so that only the first differing pair is looked
   into: the cost is bounded by depth, however much the two values share. */
static int
items_cmp(td_obs_t const *obs, td_obs_row_t const *a, td_obs_row_t const *b)
{
    for (uint32_t idx = 0; idx < a->cnt && idx < b->cnt; idx++) {
        if (a->items[idx] != b->items[idx]) {
            return td_obs_cmp(obs, a->items[idx], b->items[idx]);
        }
    }
    return (a->cnt > b->cnt) - (a->cnt < b->cnt);
}

int
td_obs_cmp(td_obs_t const *obs, td_val_t val_a, td_val_t val_b)
{
    td_obs_row_t const *a = row_of(obs, val_a);
    td_obs_row_t const *b = row_of(obs, val_b);

    if (val_a == val_b) {
        return 0;
    }
    if (a->kind != b->kind) {
        return (int)a->kind - (int)b->kind;
    }
    if (a->kind >= TD_VAL_LIST) {
        if (a->class_id != b->class_id) {
            return (int)a->class_id - (int)b->class_id;
        }
        /* Depth before content: the sources of a deeply nested list are chains
           that share nothing at equal places, and walking down two of them for
           every pair of guards costs more than all else. */
        if (a->depth != b->depth) {
            return (int)a->depth - (int)b->depth;
        }
        return items_cmp(obs, a, b);
    }
    if (a->kind == TD_VAL_STR || a->kind == TD_VAL_BIGINT) {
        return bytes_cmp(a, b);
    }
    if (a->kind == TD_VAL_FLOAT) {
        return (a->bits > b->bits) - (a->bits < b->bits);
    }
    return (a->number > b->number) - (a->number < b->number);
}
