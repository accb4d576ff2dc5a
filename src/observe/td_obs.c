/* td_obs.c: values of an observation, interned. */
#include "observe/td_obs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "base/td_limits.h"
#include "observe/td_obs_private.h"

enum {
    VAL_CAP_FIRST  = 512,
    SLOT_CNT_FIRST = 1024, /* kept below two thirds full */
};

/* ---- lifetime ------------------------------------------------------------ */

static td_val_t
fail_nomem(td_obs_t *obs)
{
    return td_obs_fail(obs, TD_NOMEM, "no memory");
}

td_val_t
td_obs_fail(td_obs_t *obs, td_status_t status, char const *format, ...)
{
    va_list args;

    if (obs->status != TD_OK) {
        return TD_VAL_NONE;
    }
    obs->status = status;
    va_start(args, format);
    vsnprintf(obs->why, sizeof obs->why, format, args);
    va_end(args);
    return TD_VAL_NONE;
}

td_obs_t *
td_obs_new(void)
{
    td_obs_t *obs = td_calloc(1, sizeof *obs); /* owned, returned */

    if (obs == NULL) {
        return NULL;
    }
    td_arena_init(&obs->arena);
    obs->vals  = td_malloc(VAL_CAP_FIRST * sizeof *obs->vals);
    obs->slots = td_calloc(SLOT_CNT_FIRST, sizeof *obs->slots);
    if (obs->vals == NULL || obs->slots == NULL) {
        td_obs_free(obs);
        return NULL;
    }
    obs->val_cap  = VAL_CAP_FIRST;
    obs->val_cnt  = 1;
    obs->slot_cnt = SLOT_CNT_FIRST;
    return obs;
}

void
td_obs_free(td_obs_t *obs)
{
    if (obs == NULL) {
        return;
    }
    for (int space = 0; space < TD_SPACE_CNT; space++) {
        td_free(obs->spaces[space].slots);
        td_free(obs->spaces[space].used);
    }
    td_free(obs->bytes);
    td_free(obs->scratch);
    td_free(obs->slots);
    td_free(obs->vals);
    td_arena_clear(&obs->arena);
    td_free(obs);
}

void
td_obs_reset(td_obs_t *obs)
{
    for (uint32_t val = 1; val < obs->val_cnt; val++) {
        obs->slots[obs->vals[val].slot] = (td_obs_slot_t){0, TD_VAL_NONE};
    }
    for (int space = 0; space < TD_SPACE_CNT; space++) {
        td_obs_space_t *map = &obs->spaces[space];

        for (uint32_t ordinal = 0; ordinal < map->cnt; ordinal++) {
            map->slots[map->used[ordinal]].identity = NULL;
        }
        map->cnt = 0;
    }
    td_arena_reset(&obs->arena);
    memset(obs->atoms, 0, sizeof obs->atoms);
    memset(obs->words, 0, sizeof obs->words);
    obs->val_cnt = 1;
    obs->epoch   = 0;
    obs->status  = TD_OK;
    obs->why[0]  = '\0';
}

td_status_t
td_obs_status(td_obs_t const *obs)
{
    return obs->status;
}

char const *
td_obs_why(td_obs_t const *obs)
{
    return obs->why;
}

td_val_t *
td_obs_scratch(td_obs_t *obs, size_t cnt)
{
    td_val_t *moved;

    if (cnt <= obs->scratch_cap) {
        return obs->scratch;
    }
    moved = cnt <= SIZE_MAX / sizeof *moved / 2 ? td_realloc(obs->scratch, 2 * cnt * sizeof *moved)
                                                : NULL;
    if (moved == NULL) {
        fail_nomem(obs);
        return NULL;
    }
    obs->scratch     = moved;
    obs->scratch_cap = 2 * cnt;
    return moved;
}

/* ---- interning ----------------------------------------------------------- */

static uint64_t
mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static uint64_t
text_hash(uint64_t hash, char const *text, size_t sz)
{
    uint64_t word;

    for (; sz >= sizeof word; sz -= sizeof word, text += sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, text, sz);
    return mix(hash, word);
}

static uint64_t
row_hash(td_obs_row_t const *row)
{
    uint64_t hash = mix(row->kind, (uint64_t)row->cnt << 16 | row->class_id);

    switch ((td_val_kind_t)row->kind) {
    case TD_VAL_STR:
    case TD_VAL_BIGINT:
        return text_hash(hash, row->text, row->cnt);
    case TD_VAL_LIST:
    case TD_VAL_BAG:
    case TD_VAL_RECORD:
        for (uint32_t idx = 0; idx < row->cnt; idx++) {
            hash = mix(hash, row->items[idx]);
        }
        return hash;
    default:
        return mix(hash, row->bits);
    }
}

static bool
row_equal(td_obs_row_t const *a, td_obs_row_t const *b)
{
    if (a->kind != b->kind || a->cnt != b->cnt || a->class_id != b->class_id) {
        return false;
    }
    switch ((td_val_kind_t)a->kind) {
    case TD_VAL_STR:
    case TD_VAL_BIGINT:
        return memcmp(a->text, b->text, a->cnt) == 0;
    case TD_VAL_LIST:
    case TD_VAL_BAG:
    case TD_VAL_RECORD:
        return a->cnt == 0 || memcmp(a->items, b->items, a->cnt * sizeof *a->items) == 0;
    default:
        return a->bits == b->bits;
    }
}

static void
slot_put(td_obs_t *obs, uint32_t hash, td_val_t val)
{
    uint32_t mask = obs->slot_cnt - 1;
    uint32_t slot = hash & mask;

    while (obs->slots[slot].val != TD_VAL_NONE) {
        slot = (slot + 1) & mask;
    }
    obs->slots[slot]    = (td_obs_slot_t){hash, val};
    obs->vals[val].slot = slot;
}

static bool
slots_grow(td_obs_t *obs)
{
    td_obs_slot_t *old     = obs->slots; /* owned until the end */
    uint32_t       old_cnt = obs->slot_cnt;
    td_obs_slot_t *slots = old_cnt <= UINT32_MAX / 4 ? td_calloc((size_t)old_cnt * 2, sizeof *slots)
                                                     : NULL; /* owned by obs at the end */

    if (slots == NULL) {
        fail_nomem(obs);
        return false;
    }
    obs->slots    = slots;
    obs->slot_cnt = old_cnt * 2;
    for (uint32_t slot = 0; slot < old_cnt; slot++) {
        if (old[slot].val != TD_VAL_NONE) {
            slot_put(obs, old[slot].hash, old[slot].val);
        }
    }
    td_free(old);
    return true;
}

static bool
vals_grow(td_obs_t *obs)
{
    uint32_t      cap   = obs->val_cap <= UINT32_MAX / 4 ? obs->val_cap * 2 : 0;
    td_obs_row_t *moved = cap != 0 ? td_realloc(obs->vals, (size_t)cap * sizeof *moved) : NULL;

    if (moved == NULL) {
        fail_nomem(obs);
        return false;
    }
    obs->vals    = moved;
    obs->val_cap = cap;
    return true;
}

/* Depth and has_record follow from the items. */
static bool
row_derive(td_obs_t *obs, td_obs_row_t *row)
{
    unsigned depth = 0;

    row->has_record = row->kind == TD_VAL_RECORD;
    for (uint32_t idx = 0; idx < row->cnt; idx++) {
        td_obs_row_t const *item = &obs->vals[row->items[idx]];

        depth = item->depth > depth ? item->depth : depth;
        row->has_record |= item->has_record;
    }
    if (depth >= TD_VALUE_DEPTH_MAX) {
        td_obs_fail(obs, TD_LIMIT, "a value is nested more than %d deep", TD_VALUE_DEPTH_MAX);
        return false;
    }
    row->depth = (uint16_t)(depth + 1);
    return true;
}

/* What a new row points at moves into the arena. */
static bool
row_keep(td_obs_t *obs, td_obs_row_t *row)
{
    void *copy;

    if (row->kind < TD_VAL_BIGINT || row->kind == TD_VAL_FLOAT) {
        return true;
    }
    if (row->kind >= TD_VAL_LIST) {
        if (!row_derive(obs, row)) {
            return false;
        }
        copy = td_arena_dup(&obs->arena, (char const *)row->items, row->cnt * sizeof *row->items);
        row->items = copy;
    } else {
        copy      = td_arena_dup(&obs->arena, row->text, row->cnt);
        row->text = copy;
    }
    if (copy == NULL) {
        fail_nomem(obs);
    }
    return copy != NULL;
}

/* intern gives the id of the value that row describes; text and items of row are
   the caller's. */
static td_val_t
intern(td_obs_t *obs, td_obs_row_t *row)
{
    uint32_t hash = (uint32_t)row_hash(row);
    uint32_t mask = obs->slot_cnt - 1;
    td_val_t val;

    if (obs->status != TD_OK) {
        return TD_VAL_NONE;
    }
    for (uint32_t slot = hash & mask; obs->slots[slot].val != TD_VAL_NONE;
         slot          = (slot + 1) & mask) {
        if (obs->slots[slot].hash == hash && row_equal(&obs->vals[obs->slots[slot].val], row)) {
            return obs->slots[slot].val;
        }
    }
    if (row->kind == TD_VAL_STR && !td_utf8_is_valid(row->text, row->cnt)) {
        return td_obs_fail(obs, TD_INTERNAL, "a string that is no utf-8");
    }
    if ((obs->val_cnt == obs->val_cap && !vals_grow(obs)) ||
        (obs->val_cnt >= obs->slot_cnt / 3 * 2 && !slots_grow(obs)) || !row_keep(obs, row)) {
        return TD_VAL_NONE;
    }
    val            = obs->val_cnt++;
    obs->vals[val] = *row;
    slot_put(obs, hash, val);
    return val;
}

/* ---- atoms --------------------------------------------------------------- */

/* The four commonest atoms are looked up without hashing. */
static td_val_t
atom(td_obs_t *obs, int which, td_val_kind_t kind, int64_t number)
{
    if (obs->atoms[which] == TD_VAL_NONE) {
        obs->atoms[which] = intern(obs, &(td_obs_row_t){.kind = (uint8_t)kind, .number = number});
    }
    return obs->status == TD_OK ? obs->atoms[which] : TD_VAL_NONE;
}

td_val_t
td_obs_absent(td_obs_t *obs)
{
    return atom(obs, 0, TD_VAL_ABSENT, 0);
}

td_val_t
td_obs_null(td_obs_t *obs)
{
    return atom(obs, 1, TD_VAL_NULL, 0);
}

td_val_t
td_obs_bool(td_obs_t *obs, bool value)
{
    return atom(obs, value ? 3 : 2, TD_VAL_BOOL, value);
}

td_val_t
td_obs_int(td_obs_t *obs, int64_t value)
{
    return intern(obs, &(td_obs_row_t){.kind = TD_VAL_INT, .number = value});
}

td_val_t
td_obs_bigint(td_obs_t *obs, char const *decimal)
{
    size_t sz = strlen(decimal);

    if (sz > UINT32_MAX || !td_bigint_is_valid(decimal, sz)) {
        return td_obs_fail(obs, TD_INTERNAL, "not a big int: %.40s", decimal);
    }
    return intern(obs,
                  &(td_obs_row_t){.kind = TD_VAL_BIGINT, .text = decimal, .cnt = (uint32_t)sz});
}

td_val_t
td_obs_float(td_obs_t *obs, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return intern(obs, &(td_obs_row_t){.kind = TD_VAL_FLOAT, .bits = bits});
}

td_val_t
td_obs_str(td_obs_t *obs, char const *bytes, size_t sz)
{
    if (sz > UINT32_MAX) {
        return td_obs_fail(obs, TD_LIMIT, "a string of 4 GiB or more");
    }
    if (sz == 0) {
        bytes = ""; /* NULL is fine, but not for memcpy */
    }
    return intern(obs, &(td_obs_row_t){.kind = TD_VAL_STR, .text = bytes, .cnt = (uint32_t)sz});
}

td_val_t
td_obs_cstr(td_obs_t *obs, char const *text)
{
    return td_obs_str(obs, text, strlen(text));
}

/* ---- containers ---------------------------------------------------------- */

td_val_t
td_obs_container(td_obs_t *obs, td_val_kind_t kind, td_class_t class_id, td_val_t const *items,
                 size_t item_cnt)
{
    if (item_cnt > UINT32_MAX) {
        return td_obs_fail(obs, TD_LIMIT, "a value with 2^32 items or more");
    }
    for (size_t idx = 0; idx < item_cnt; idx++) {
        if (items[idx] == TD_VAL_NONE) {
            /* Of a failure before, or a caller's mistake: no value is a value's item. */
            return td_obs_fail(obs, TD_INTERNAL, "item %zu of a value is no value", idx);
        }
        TD_ASSERT(items[idx] < obs->val_cnt);
    }
    return intern(obs, &(td_obs_row_t){.kind     = (uint8_t)kind,
                                       .class_id = (uint16_t)class_id,
                                       .items    = items,
                                       .cnt      = (uint32_t)item_cnt});
}

td_val_t
td_obs_list(td_obs_t *obs, td_val_t const *items, size_t item_cnt)
{
    return td_obs_container(obs, TD_VAL_LIST, TD_CLASS_NONE, items, item_cnt);
}

td_val_t
td_obs_pair(td_obs_t *obs, td_val_t a, td_val_t b)
{
    return td_obs_list(obs, (td_val_t[]){a, b}, 2);
}

td_val_t
td_obs_triple(td_obs_t *obs, td_val_t a, td_val_t b, td_val_t c)
{
    return td_obs_list(obs, (td_val_t[]){a, b, c}, 3);
}

/* Merges two sorted neighbours [from, mid) and [mid, to) of vals through room. */
static void
bag_merge(td_obs_t const *obs, td_val_t *vals, td_val_t *room, size_t from, size_t mid, size_t to)
{
    size_t left = from, right = mid, out = from;

    if (td_obs_cmp(obs, vals[mid - 1], vals[mid]) <= 0) {
        return; /* guards made in tree order are mostly sorted already */
    }
    while (left < mid && right < to) {
        room[out++] = td_obs_cmp(obs, vals[left], vals[right]) <= 0 ? vals[left++] : vals[right++];
    }
    while (left < mid) {
        room[out++] = vals[left++];
    }
    memcpy(vals + from, room + from, (out - from) * sizeof *vals);
}

/* Insertion within short runs, then merging from the bottom up. */
static void
bag_sort(td_obs_t const *obs, td_val_t *vals, td_val_t *room, size_t cnt)
{
    size_t const run = 8;

    for (size_t from = 0; from < cnt; from += run) {
        size_t to = cnt - from < run ? cnt : from + run;

        for (size_t idx = from + 1; idx < to; idx++) {
            td_val_t val  = vals[idx];
            size_t   hole = idx;

            for (; hole > from && td_obs_cmp(obs, vals[hole - 1], val) > 0; hole--) {
                vals[hole] = vals[hole - 1];
            }
            vals[hole] = val;
        }
    }
    for (size_t width = run; width < cnt; width *= 2) {
        for (size_t from = 0; cnt - from > width; from += 2 * width) {
            size_t to = cnt - from < 2 * width ? cnt : from + 2 * width;

            bag_merge(obs, vals, room, from, from + width, to);
            if (to == cnt) {
                break;
            }
        }
    }
}

td_val_t
td_obs_bag(td_obs_t *obs, td_val_t const *items, size_t item_cnt)
{
    td_val_t *sorted;

    for (size_t idx = 0; idx < item_cnt; idx++) {
        if (items[idx] == TD_VAL_NONE) {
            return td_obs_fail(obs, TD_INTERNAL, "member %zu of a bag is no value", idx);
        }
    }
    if (item_cnt < 2) {
        return td_obs_container(obs, TD_VAL_BAG, TD_CLASS_NONE, items, item_cnt);
    }
    sorted = item_cnt <= SIZE_MAX / 4 ? td_obs_scratch(obs, 2 * item_cnt) : NULL;
    if (sorted == NULL) {
        return fail_nomem(obs);
    }
    memcpy(sorted, items, item_cnt * sizeof *sorted);
    bag_sort(obs, sorted, sorted + item_cnt, item_cnt);
    return td_obs_container(obs, TD_VAL_BAG, TD_CLASS_NONE, sorted, item_cnt);
}

/* ---- records ------------------------------------------------------------- */

static size_t
field_idx(td_field_t const *order, size_t order_cnt, td_field_t field)
{
    size_t from = 0, to = order_cnt;

    while (from < to) {
        size_t mid = from + (to - from) / 2;

        if (order[mid] < field) {
            from = mid + 1;
        } else {
            to = mid;
        }
    }
    return from < order_cnt && order[from] == field ? from : order_cnt;
}

static td_val_t
record_fail(td_obs_t *obs, td_class_t class_id, td_field_t field, char const *what)
{
    td_field_info_t const *info = td_field_info(field);

    return td_obs_fail(obs, TD_INTERNAL, "a record of class %s: %s.%s %s", td_class_name(class_id),
                       info != NULL ? info->class_name : "?", info != NULL ? info->attribute : "?",
                       what);
}

td_val_t
td_obs_record(td_obs_t *obs, td_class_t class_id, td_obs_field_t const *fields, size_t field_cnt)
{
    td_val_t          items[TD_CLASS_FIELD_CNT_MAX];
    size_t            order_cnt;
    td_field_t const *order = td_class_fields(class_id, &order_cnt);

    if (order == NULL) {
        return td_obs_fail(obs, TD_INTERNAL, "a record of no class");
    }
    memset(items, 0, order_cnt * sizeof *items); /* TD_VAL_NONE */
    for (size_t idx = 0; idx < field_cnt; idx++) {
        td_field_t field = fields[idx].field;
        size_t     at =
            idx < order_cnt && order[idx] == field ? idx : field_idx(order, order_cnt, field);

        if (at == order_cnt) {
            return record_fail(obs, class_id, field, "is not compared there");
        }
        if (items[at] != TD_VAL_NONE) {
            return record_fail(obs, class_id, field, "is given twice");
        }
        if (fields[idx].value == TD_VAL_NONE) {
            return record_fail(obs, class_id, field, "is no value");
        }
        items[at] = fields[idx].value;
    }
    for (size_t at = 0; at < order_cnt; at++) {
        if (items[at] == TD_VAL_NONE) {
            return record_fail(obs, class_id, order[at], "is missing");
        }
    }
    return td_obs_container(obs, TD_VAL_RECORD, class_id, items, order_cnt);
}
