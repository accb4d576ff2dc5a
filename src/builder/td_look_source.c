/* td_look_source.c: sources as trees, guards as rows, and other small forms. */
#include <stdlib.h>
#include <string.h>

#include "base/td_alloc.h"
#include "builder/td_look.h"

/* ---- lists ------------------------------------------------------------------ */

void
td_vals_add(td_look_t *look, td_vals_t *vals, td_val_t val)
{
    if (vals->cnt == vals->cap &&
        !td_array_grow((void **)&vals->at, &vals->cap, sizeof *vals->at)) {
        look->failed = true;
        return;
    }
    vals->at[vals->cnt++] = val;
}

td_val_t
td_vals_end(td_look_t *look, td_vals_t *vals)
{
    td_val_t val = td_obs_list(look->obs, vals->at, vals->cnt);

    td_free(vals->at);
    return val;
}

td_val_t
td_vals_end_bag(td_look_t *look, td_vals_t *vals)
{
    td_val_t val = td_obs_bag(look->obs, vals->at, vals->cnt);

    td_free(vals->at);
    return val;
}

/* ---- values ------------------------------------------------------------------ */

td_val_t
td_look_value(td_look_t *look, PyObject *value)
{
    return value == NULL ? td_obs_null(look->obs) : td_canon_value(&look->canon, value);
}

td_val_t
td_look_name(td_look_t *look, char const *name, size_t sz)
{
    return td_canon_name(&look->canon, name, sz);
}

static td_val_t
name_of_str(td_look_t *look, PyObject *text)
{
    Py_ssize_t  sz   = 0;
    char const *utf8 = PyUnicode_AsUTF8AndSize(text, &sz);

    if (utf8 == NULL) {
        PyErr_Clear(); /* a lone surrogate: no generated name */
        return td_canon_str(&look->canon, text);
    }
    return td_look_name(look, utf8, (size_t)sz);
}

/* result_number: a number that an operator gave. */
static td_val_t
result_number(td_look_t *look, td_num_t const *num)
{
    td_val_t hint = TD_VAL_NONE;

    if (num->no_hint) {
        hint = td_obs_null(look->obs);
    } else {
        hint =
            num->known == NULL ? td_obs_int(look->obs, num->hint) : td_look_value(look, num->known);
    }
    return td_form_sym(look->obs, num->type, num->expr, strlen(num->expr), hint);
}

td_val_t
td_look_number(td_look_t *look, td_num_t const *num)
{
    td_buf_t text = {0};
    td_val_t val  = TD_VAL_NONE;

    if (num->expr != NULL) {
        return result_number(look, num);
    }
    if (num->product.cnt == 0) {
        return td_obs_int(look->obs, num->hint);
    }
    td_num_put(look->b, num, &text);
    look->failed = look->failed || text.failed;
    val          = td_form_sym(look->obs, "SymInt", text.failed ? "" : text.bytes, text.sz,
                      num->no_hint ? td_obs_null(look->obs) : td_obs_int(look->obs, num->hint));
    td_buf_clear(&text);
    return val;
}

td_val_t
td_look_shape(td_look_t *look, td_num_t const *nums, uint32_t cnt)
{
    td_vals_t vals = {0};

    for (uint32_t i = 0; i < cnt; i++) {
        td_vals_add(look, &vals, td_look_number(look, &nums[i]));
    }
    return td_vals_end(look, &vals);
}

/* ---- sources -------------------------------------------------------------------- */

static td_val_t
field(td_look_t *look, td_src_block_t const *block, td_src_id_t id, td_source_field_kind_t kind)
{
    PyObject *key    = td_source_key(block, id); /* borrowed */
    uint32_t  offset = id - block->first;

    switch (kind) {
    case TD_SOURCE_FIELD_SOURCE:
        return td_look_source(look, block->base);
    case TD_SOURCE_FIELD_BOOL:
        return td_obs_bool(look->obs, block->flag);
    case TD_SOURCE_FIELD_STR:
        return block->cls == TD_SOURCE_CLASS_GlobalSource ||
                       block->cls == TD_SOURCE_CLASS_GlobalWeakRefSource
                   ? name_of_str(look, key)
                   : td_canon_str(&look->canon, key);
    case TD_SOURCE_FIELD_INDEX:
        if (block->payload == TD_PAYLOAD_INDEX) {
            return td_obs_int(look->obs, block->start + offset);
        }
        if (block->payload == TD_PAYLOAD_SOURCES && block->subs[offset] != 0) {
            return td_look_source(look, block->subs[offset]);
        }
        return td_canon_index(&look->canon, key);
    case TD_SOURCE_FIELD_PROP:
        return td_obs_cstr(look->obs, td_prop_name((td_prop_t)block->prop));
    case TD_SOURCE_FIELD_VALUE:
        if (block->payload == TD_PAYLOAD_INDEX) {
            return td_obs_int(look->obs, block->start + offset);
        }
        break;
    default:
        break;
    }
    return td_look_value(look, key);
}

td_val_t
td_look_source(td_look_t *look, td_src_id_t id)
{
    td_val_t                      fields[TD_SOURCE_FIELD_CNT_MAX];
    td_src_block_t const         *block = NULL;
    td_source_class_info_t const *info  = NULL;

    if (id == 0) {
        return td_obs_null(look->obs);
    }
    if (look->sources[id] != TD_VAL_NONE) {
        return look->sources[id];
    }
    block = td_source_block(&look->b->frame.sources, id);
    info  = td_source_class_info((td_source_class_t)block->cls);
    for (size_t i = 0; i < info->field_cnt; i++) {
        fields[i] = field(look, block, id, info->kinds[i]);
    }
    look->sources[id] =
        td_form_source(look->obs, (td_source_class_t)block->cls, fields, info->field_cnt);
    return look->sources[id];
}

/* ---- guards ---------------------------------------------------------------------- */

/* A guard that is equal to itself alone, before its payload is written. */
typedef struct {
    td_look_t    *look;
    td_guard_id_t id;
    td_val_t      source, kind;
} pending_t;

static int
cmp_id(void const *a, void const *b)
{
    uint32_t x = *(uint32_t const *)a;
    uint32_t y = *(uint32_t const *)b;

    return x < y ? -1 : x > y;
}

static int
cmp_pending(void const *a, void const *b)
{
    pending_t const *x     = a;
    pending_t const *y     = b;
    int              order = td_obs_cmp(x->look->obs, x->source, y->source);

    order = order != 0 ? order : td_obs_cmp(x->look->obs, x->kind, y->kind);
    return order != 0 ? order : cmp_id(&x->id, &y->id);
}

static uint32_t
unique(uint32_t *ids, uint32_t cnt)
{
    uint32_t kept = 0;

    if (cnt > 1) {
        qsort(ids, cnt, sizeof *ids, cmp_id);
    }
    for (uint32_t i = 0; i < cnt; i++) {
        if (kept == 0 || ids[kept - 1] != ids[i]) {
            ids[kept++] = ids[i];
        }
    }
    return kept;
}

static td_val_t
payload(td_look_t *look, td_guard_t const *guard)
{
    td_form_keyword_t keyword = {0};

    if (guard->kind == TD_GUARD_DUPLICATE_INPUT) {
        keyword = (td_form_keyword_t){.keyword = "source_b",
                                      .form    = td_look_source(look, guard->source_b)};
        return td_form_payload(look->obs, &keyword, 1);
    }
    keyword = (td_form_keyword_t){.keyword = "value", .form = td_look_value(look, guard->tensor)};
    if (!guard->is_strong) {
        keyword.form = td_form_typed(look->obs, "weakref", keyword.form);
    }
    return td_form_payload(look->obs, &keyword, 1);
}

static td_val_t
row(td_look_t *look, td_guard_t const *guard, td_val_t with)
{
    return td_form_guard(look->obs, td_look_source(look, guard->source),
                         td_guard_kind_name((td_guard_kind_t)guard->kind), guard->is_volatile,
                         with);
}

/* ---- guards that are one ------------------------------------------------------ */

static bool
is_twin(td_look_t const *look, td_guard_t const *a, td_guard_t const *b)
{
    return a->kind == b->kind && a->is_volatile == b->is_volatile &&
           td_source_same_guard(&look->b->frame.sources, a->source, b->source);
}

/* twin_find gives the first guard that a set takes for the same as id, by a table of
   mask + 1 places. */
static td_guard_id_t
twin_find(td_look_t const *look, td_guard_id_t *places, uint32_t mask, td_guard_id_t id)
{
    td_guard_t const *guards = look->b->frame.guards.guards;
    uint32_t at = td_source_hash(&look->b->frame.sources, guards[id].source) + guards[id].kind;

    for (at &= mask; places[at] != 0; at = (at + 1) & mask) {
        if (is_twin(look, &guards[places[at]], &guards[id])) {
            return places[at];
        }
    }
    places[at] = id;
    return id;
}

/* twins_make fills look->twins.  Where every index of a source is a literal, guards are one
   exactly when their rows are; other indices may be equal and two objects (sizes, say), or the
   same to look at and not equal (NaN). */
static void
twins_make(td_look_t *look)
{
    td_guards_t const *guards = &look->b->frame.guards;
    td_guard_id_t     *places = NULL; /* owned */
    uint32_t           size   = 16;

    while (size < 2 * guards->cnt) {
        size *= 2;
    }
    look->twins = td_calloc(guards->cnt, sizeof *look->twins);
    places      = td_calloc(size, sizeof *places);
    if (look->twins == NULL || places == NULL) {
        look->failed = true;
        td_free(places);
        return;
    }
    for (td_guard_id_t id = 1; id < guards->cnt; id++) {
        if (!guards->guards[id].has_payload) {
            look->twins[id] = twin_find(look, places, size - 1, id);
        }
    }
    td_free(places);
}

/* A plain guard: those with one key are one, of which the first stays. */
typedef struct {
    uint32_t      key;
    td_guard_id_t id;
    td_val_t      row;
} plain_t;

static int
cmp_plain(void const *a, void const *b)
{
    plain_t const *x = a;
    plain_t const *y = b;

    return x->key != y->key ? cmp_id(&x->key, &y->key) : cmp_id(&x->id, &y->id);
}

static void
plain_rows(td_look_t *look, plain_t *plain, uint32_t cnt, td_vals_t *rows)
{
    if (look->b->frame.sources.has_odd_keys && look->twins == NULL) {
        twins_make(look);
    }
    for (uint32_t i = 0; i < cnt; i++) {
        plain[i].key = look->twins == NULL ? plain[i].row : look->twins[plain[i].id];
    }
    if (cnt > 1) {
        qsort(plain, cnt, sizeof *plain, cmp_plain);
    }
    for (uint32_t i = 0; i < cnt; i++) {
        if (i == 0 || plain[i - 1].key != plain[i].key) {
            td_vals_add(look, rows, plain[i].row);
        }
    }
}

static void
pending_rows(td_look_t *look, pending_t *pending, uint32_t cnt, td_vals_t *rows)
{
    if (cnt > 1 && td_obs_status(look->obs) == TD_OK) {
        qsort(pending, cnt, sizeof *pending, cmp_pending);
    }
    for (uint32_t i = 0; i < cnt; i++) {
        td_guard_t const *guard = &look->b->frame.guards.guards[pending[i].id];

        td_vals_add(look, rows, row(look, guard, payload(look, guard)));
    }
}

/* plain_row gives the row of a guard without payload: many trackers have it. */
static td_val_t
plain_row(td_look_t *look, td_guard_id_t id)
{
    if (look->guards[id] == TD_VAL_NONE) {
        look->guards[id] = row(look, &look->b->frame.guards.guards[id], td_obs_null(look->obs));
    }
    return look->guards[id];
}

/* rows_of writes ids (sorted in place): plain guards that are equal are one, those
   with a payload are each their own. */
static void
rows_of(td_look_t *look, uint32_t *ids, uint32_t cnt, td_vals_t *rows)
{
    pending_t *pending     = td_malloc((cnt + 1) * sizeof *pending);
    plain_t   *plain       = td_malloc((cnt + 1) * sizeof *plain);
    uint32_t   pending_cnt = 0;
    uint32_t   plain_cnt   = 0;

    if (pending == NULL || plain == NULL) {
        look->failed = true;
        goto done;
    }
    cnt = unique(ids, cnt);
    for (uint32_t i = 0; i < cnt; i++) {
        td_guard_t const *guard = &look->b->frame.guards.guards[ids[i]];

        if (guard->has_payload) {
            pending[pending_cnt++] = (pending_t){
                look, ids[i], td_look_source(look, guard->source),
                td_obs_cstr(look->obs, td_guard_kind_name((td_guard_kind_t)guard->kind))};
        } else {
            plain[plain_cnt++] = (plain_t){.id = ids[i], .row = plain_row(look, ids[i])};
        }
    }
    plain_rows(look, plain, plain_cnt, rows);
    pending_rows(look, pending, pending_cnt, rows);

done:
    td_free(plain);
    td_free(pending);
}

td_val_t
td_look_guards(td_look_t *look, td_guard_id_t const *guards, uint32_t cnt)
{
    td_vals_t rows = {0};
    td_val_t  bag  = TD_VAL_NONE;
    uint32_t *ids  = td_malloc((cnt + 1) * sizeof *ids);

    if (ids == NULL) {
        look->failed = true;
        return TD_VAL_NONE;
    }
    if (cnt > 0) {
        memcpy(ids, guards, cnt * sizeof *ids);
    }
    rows_of(look, ids, cnt, &rows);
    bag = td_form_guards(look->obs, rows.at, rows.cnt);
    td_free(rows.at);
    td_free(ids);
    return bag;
}
