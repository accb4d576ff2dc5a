/* td_frame_state.c: what was seen under each source name, over all frames. */
#include <string.h>

#include "base/td_alloc.h"
#include "builder/td_builder_private.h"

void
td_frame_state_init(td_frame_state_t *state)
{
    memset(state, 0, sizeof *state);
}

void
td_frame_state_clear(td_frame_state_t *state)
{
    for (uint32_t i = 0; i < state->cnt; i++) {
        td_free((char *)state->entries[i].name);
        Py_XDECREF(state->entries[i].scalar);
        Py_XDECREF(state->entries[i].symbolic);
    }
    td_free(state->entries);
    td_smap_clear(&state->by_name);
    td_arena_clear(&state->sizes);
    memset(state, 0, sizeof *state);
}

static td_state_entry_t *
entry_new(td_builder_t *b)
{
    td_frame_state_t *state = &b->state;

    if (state->cnt == state->cap &&
        !td_array_grow((void **)&state->entries, &state->cap, sizeof *state->entries)) {
        td_stop_nomem(b);
        return NULL;
    }
    state->entries[state->cnt] = (td_state_entry_t){0};
    return &state->entries[state->cnt++];
}

/* spell gives the name of a source as malloc'ed text. */
static bool
spell(td_builder_t *b, td_src_id_t source, char const **name, uint32_t *name_sz)
{
    td_buf_t text = {0};
    char    *kept = NULL;

    if (!td_source_name(&b->frame.sources, source, &text)) {
        td_buf_clear(&text);
        return PyErr_Occurred() != NULL ? td_stop_python(b) : td_stop_nomem(b);
    }
    kept = td_malloc(text.sz + 1);
    if (kept == NULL) {
        td_buf_clear(&text);
        return td_stop_nomem(b);
    }
    memcpy(kept, text.bytes, text.sz + 1);
    *name    = kept;
    *name_sz = (uint32_t)text.sz;
    td_buf_clear(&text);
    return true;
}

bool
td_frame_state_spell(td_builder_t *b)
{
    td_frame_state_t *state = &b->state;

    while (state->indexed_cnt < state->cnt) {
        td_state_entry_t *entry = &state->entries[state->indexed_cnt];

        if (entry->name == NULL && !spell(b, entry->source, &entry->name, &entry->name_sz)) {
            return false;
        }
        if (!td_smap_put(&state->by_name, entry->name, entry->name_sz, state->indexed_cnt)) {
            return td_stop_nomem(b);
        }
        state->indexed_cnt++;
    }
    return true;
}

/* get_by_name is the slow way: needed as soon as two sources may be called alike. */
static td_state_entry_t *
get_by_name(td_builder_t *b, td_at_t const *at, bool *fresh)
{
    td_frame_state_t *state   = &b->state;
    td_state_entry_t *entry   = NULL;
    char const       *name    = NULL; /* owned until an entry has it */
    uint32_t          name_sz = 0;
    uint32_t          idx     = 0;

    if (!td_frame_state_spell(b) || !spell(b, at->id, &name, &name_sz)) {
        return NULL;
    }
    idx    = td_smap_get(&state->by_name, name, name_sz);
    *fresh = idx == TD_MAP_NONE;
    if (!*fresh) {
        td_free((char *)name);
        return &state->entries[idx];
    }
    entry = entry_new(b);
    if (entry == NULL) {
        td_free((char *)name);
        return NULL;
    }
    entry->name    = name;
    entry->name_sz = name_sz;
    return td_frame_state_spell(b) ? entry : NULL;
}

bool
td_frame_state_knows(td_builder_t *b, td_at_t const *at, bool *known)
{
    char const *name    = NULL; /* owned */
    uint32_t    name_sz = 0;

    *known = false;
    if (!b->frame.text_mode && at->fresh) {
        return true;
    }
    if (!td_frame_state_spell(b) || !spell(b, at->id, &name, &name_sz)) {
        return false;
    }
    *known = td_smap_get(&b->state.by_name, name, name_sz) != TD_MAP_NONE;
    td_free((char *)name);
    return true;
}

td_state_entry_t *
td_frame_state_get(td_builder_t *b, td_at_t const *at, bool *fresh)
{
    td_state_entry_t *entry = NULL;

    if (b->frame.text_mode || !at->fresh) {
        return get_by_name(b, at, fresh);
    }
    *fresh = true;
    entry  = entry_new(b);
    if (entry != NULL) {
        entry->source = at->id;
    }
    return entry;
}
