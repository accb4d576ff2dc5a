/* td_obs_show.c: what the JSON and the tree of an observation have in common. */
#include <string.h>

#include "base/td_alloc.h"
#include "observe/td_obs_private.h"

bool
td_obs_is_guards(td_obs_t const *obs, td_val_t val)
{
    td_obs_row_t const *row = td_obs_row(obs, val);

    if (row->kind != TD_VAL_BAG || row->cnt == 0) {
        return false;
    }
    for (uint32_t idx = 0; idx < row->cnt; idx++) {
        if (!td_form_is_guard(obs, row->items[idx])) {
            return false;
        }
    }
    return true;
}

char const *
td_obs_source_text(td_obs_t *obs, td_val_t tree, size_t *sz)
{
    char const *name = td_form_source_name(obs, tree, sz);

    if (name == NULL && sz != NULL) {
        *sz = 1;
    }
    return name != NULL ? name : "?";
}

/* Rows are in content order already: merging keeps it where name and kind tie. */
static bool
is_later(td_obs_t const *obs, char const *const *names, td_val_t const *rows, size_t a, size_t b)
{
    int order = strcmp(names[a], names[b]);

    if (order == 0) {
        order = td_obs_cmp(obs, td_obs_get_item(obs, rows[a], 1), td_obs_get_item(obs, rows[b], 1));
    }
    return order != 0 ? order > 0 : a > b;
}

/* A heap, since bags of guards can be large and qsort takes no context. */
static void
sift_down(td_obs_t const *obs, char const *const *names, td_val_t const *rows, size_t *heap,
          size_t root, size_t cnt)
{
    for (size_t child; (child = 2 * root + 1) < cnt; root = child) {
        size_t swapped;

        if (child + 1 < cnt && is_later(obs, names, rows, heap[child + 1], heap[child])) {
            child++;
        }
        if (!is_later(obs, names, rows, heap[child], heap[root])) {
            return;
        }
        swapped     = heap[root];
        heap[root]  = heap[child];
        heap[child] = swapped;
    }
}

static void
heap_sort(td_obs_t const *obs, char const *const *names, td_val_t const *rows, size_t *heap,
          size_t cnt)
{
    for (size_t root = cnt / 2; root-- > 0;) {
        sift_down(obs, names, rows, heap, root, cnt);
    }
    for (size_t end = cnt; end-- > 1;) {
        size_t last = heap[0];

        heap[0]   = heap[end];
        heap[end] = last;
        sift_down(obs, names, rows, heap, 0, end);
    }
}

td_val_t const *
td_obs_guards_by_name(td_obs_t *obs, td_val_t guards)
{
    size_t          cnt    = td_obs_get_cnt(obs, guards);
    td_val_t const *rows   = td_obs_row(obs, guards)->items;
    char const    **names  = td_arena_alloc(&obs->arena, cnt * sizeof *names);
    size_t         *heap   = td_arena_alloc(&obs->arena, cnt * sizeof *heap);
    td_val_t       *sorted = td_arena_alloc(&obs->arena, cnt * sizeof *sorted);

    if (names == NULL || heap == NULL || sorted == NULL) {
        td_obs_fail(obs, TD_NOMEM, "no memory");
        return NULL;
    }
    for (size_t idx = 0; idx < cnt; idx++) {
        names[idx] = td_obs_source_text(obs, td_obs_get_item(obs, rows[idx], 0), NULL);
        heap[idx]  = idx;
    }
    if (obs->status != TD_OK) {
        return NULL;
    }
    heap_sort(obs, names, rows, heap, cnt);
    for (size_t idx = 0; idx < cnt; idx++) {
        sorted[idx] = rows[heap[idx]];
    }
    return sorted;
}

td_val_t
td_obs_find_item(td_obs_t const *obs, td_val_t record, char const *attribute)
{
    size_t cnt = td_obs_get_cnt(obs, record);

    for (size_t idx = 0; idx < cnt; idx++) {
        if (strcmp(td_field_info(td_obs_get_field(obs, record, idx))->attribute, attribute) == 0) {
            return td_obs_get_item(obs, record, idx);
        }
    }
    return TD_VAL_NONE;
}

/* is_value: a Root whose outcome is a value. */
static bool
is_value(td_obs_t const *obs, td_val_t root)
{
    td_val_t outcome = td_obs_find_item(obs, root, "outcome");

    return td_obs_kind(obs, outcome) == TD_VAL_STR &&
           strcmp(td_obs_get_str(obs, outcome, NULL), "value") == 0;
}

bool
td_obs_is_left_out(td_obs_t const *obs, td_val_t record, size_t idx)
{
    td_val_kind_t          kind = td_obs_kind(obs, td_obs_get_item(obs, record, idx));
    td_field_info_t const *info = td_field_info(td_obs_get_field(obs, record, idx));

    if (td_obs_get_field(obs, record, idx) == TD_FIELD_Root_value && is_value(obs, record)) {
        return false; /* the value None */
    }
    return kind == TD_VAL_ABSENT ||
           (kind == TD_VAL_NULL && td_obs_get_class(obs, record) == TD_CLASS_Root &&
            info->form != TD_FORM_SOURCE);
}
