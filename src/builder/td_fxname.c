/* td_fxname.c: how torch.fx and Dynamo name things. */
#include "builder/td_fxname.h"

#include <string.h>

#include "base/td_alloc.h"
#include "builder/td_plant.h"

/* Locale-free: the texts are ASCII or UTF-8, and only ASCII counts. */
static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool
is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool
is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool
is_alnum(char c)
{
    return is_digit(c) || is_upper(c) || is_lower(c);
}

/* put_runs writes text to room with one underscore for each run of characters that are
   neither letter nor digit nor, where it is not NUL, the character that stands too; gives
   how many bytes that is, sz at most. */
static size_t
put_runs(char *room, char const *text, size_t sz, char stands)
{
    bool   in_run = false;
    size_t at     = 0;

    for (size_t i = 0; i < sz; i++) {
        char c = text[i];

        if (is_alnum(c) || (stands != '\0' && c == stands)) {
            room[at++] = c;
            in_run     = false;
        } else if (!in_run) {
            room[at++] = '_';
            in_run     = true;
        }
    }
    return at;
}

void
td_fxname_target(td_buf_t *out, char const *text, size_t sz)
{
    char *room = td_buf_room(out, sz);

    if (room != NULL) {
        td_buf_fill(out, put_runs(room, text, sz, '\0'));
    }
}

/* strip narrows [*text, *sz) to what the group of ^[GL]\['?(.*?)'?\]$ holds: the
   pattern asks only how the text begins and ends.  No name holds a raw newline
   (repr escapes it), so the dot matches everything. */
static void
strip(char const **text, size_t *sz)
{
    char const *from = *text;
    size_t      end  = *sz;

    if (end < 3 || (from[0] != 'L' && from[0] != 'G') || from[1] != '[' || from[end - 1] != ']') {
        return;
    }
    from += 2;
    end -= 3;
    if (end > 0 && from[0] == '\'') {
        from++;
        end--;
    }
    if (end > 0 && from[end - 1] == '\'') {
        end--;
    }
    *text = from;
    *sz   = end;
}

/* index_sz gives the length of "[digits]" at text, or 0. */
static size_t
index_sz(char const *text, size_t sz)
{
    size_t at = 1;

    if (sz < 3 || text[0] != '[') {
        return 0;
    }
    while (at < sz && is_digit(text[at])) {
        at++;
    }
    return at > 1 && at < sz && text[at] == ']' ? at + 1 : 0;
}

/* One underscore a character, not a byte: a UTF-8 continuation byte adds none. */
static bool
is_continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

void
td_fxname_module_key(td_buf_t *out, char const *text, size_t sz)
{
    size_t at = 0;

    strip(&text, &sz);
    if (sz == 0 || !(is_upper(text[0]) || is_lower(text[0]))) {
        td_buf_puts(out, "sub");
    }
    while (at < sz) {
        size_t idx_sz = index_sz(text + at, sz - at);

        if (idx_sz > 0) {
            td_buf_putc(out, '_');
            td_buf_put(out, text + at + 1, idx_sz - 2);
            at += idx_sz;
            continue;
        }
        if (!is_continuation(text[at])) {
            td_buf_putc(out, is_alnum(text[at]) ? text[at] : '_');
        }
        at++;
    }
}

void
td_fxname_snake(td_buf_t *out, char const *text, size_t sz)
{
    bool   prev_lower = false;
    size_t at         = 0;
    char  *room       = td_buf_room(out, 2 * sz); /* an underscore before each letter at most */

    if (room == NULL) {
        return;
    }
    for (size_t i = 0; i < sz; i++) {
        char c = text[i];

        if (prev_lower && is_upper(c) && !TD_PLANT(WRONG_NAME)) {
            room[at++] = '_';
        }
        room[at++] = is_upper(c) ? (char)(c - 'A' + 'a') : c;
        prev_lower = is_lower(c);
    }
    td_buf_fill(out, at);
}

void
td_fxname_free_suffix(td_buf_t *out, td_smap_t const *taken, char const *base, size_t sz)
{
    td_buf_put(out, base, sz);
    for (int64_t i = 0; !out->failed && td_smap_get(taken, out->bytes, out->sz) != TD_MAP_NONE;
         i++) {
        td_buf_reset(out);
        td_buf_put(out, base, sz);
        td_buf_putc(out, '_');
        td_buf_put_i64(out, i);
    }
}

/* ---- namespace ----------------------------------------------------------- */

void
td_namespace_init(td_namespace_t *space, td_arena_t *arena, td_fxname_reserved_t reserved,
                  void *ctx)
{
    memset(space, 0, sizeof *space);
    space->arena    = arena;
    space->reserved = reserved;
    space->ctx      = ctx;
    td_smap_init(&space->by_text);
}

void
td_namespace_clear(td_namespace_t *space)
{
    td_smap_clear(&space->by_text);
    td_free(space->rows);
    td_buf_clear(&space->base);
    td_buf_clear(&space->out);
    memset(space, 0, sizeof *space);
}

/* clean puts candidate as an identifier: other characters' runs become one
   underscore, nothing becomes "_unnamed", a leading digit gets one in front. */
static void
clean(td_buf_t *out, char const *candidate, size_t sz)
{
    char *room = NULL;

    if (sz == 0) {
        td_buf_puts(out, "_unnamed");
    }
    if (sz > 0 && is_digit(candidate[0])) {
        td_buf_putc(out, '_');
    }
    room = td_buf_room(out, sz);
    if (room != NULL) {
        td_buf_fill(out, put_runs(room, candidate, sz, '_'));
    }
}

/* split gives the length of the base of base_123 and its number; *has_num is
   false when there is no such suffix.  False: the number does not fit. */
static bool
split(char const *text, size_t sz, size_t *base_sz, uint64_t *num, bool *has_num)
{
    size_t at = sz;

    while (at > 0 && is_digit(text[at - 1])) {
        at--;
    }
    *num     = 0;
    *has_num = at < sz && at > 0 && text[at - 1] == '_';
    *base_sz = *has_num ? at - 1 : sz;
    for (size_t i = at; *has_num && i < sz; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');

        if (*num > (UINT64_MAX - digit) / 10) {
            return false;
        }
        *num = *num * 10 + digit;
    }
    return true;
}

/* row_of gives the index of a text's row, a new one where it has none; TD_MAP_NONE: no
   memory. */
static uint32_t
row_of(td_namespace_t *space, char const *text, size_t sz)
{
    uint32_t hash = td_smap_hash(text, sz);
    uint32_t idx  = td_smap_get_hashed(&space->by_text, text, sz, hash);
    char    *key  = NULL;

    if (idx != TD_MAP_NONE) {
        return idx;
    }
    if (space->row_cnt == space->row_cap) {
        uint32_t         cap   = space->row_cap == 0 ? 16 : 4 * space->row_cap;
        td_fxname_row_t *grown = td_realloc(space->rows, cap * sizeof *grown);

        if (grown == NULL) {
            return TD_MAP_NONE;
        }
        space->rows    = grown;
        space->row_cap = cap;
    }
    key = td_arena_dup(space->arena, text, sz);
    if (key == NULL || !td_smap_put_hashed(&space->by_text, key, sz, hash, space->row_cnt)) {
        return TD_MAP_NONE;
    }
    space->rows[space->row_cnt] = (td_fxname_row_t){.text = key};
    return space->row_cnt++;
}

static void
put_numbered(td_buf_t *out, char const *base, size_t sz, uint64_t num)
{
    td_buf_reset(out);
    td_buf_put(out, base, sz);
    td_buf_putc(out, '_');
    td_buf_put_u64(out, num);
}

/* pick gives the row of the first free name: base, or what out holds already, or one with a
   higher number than *num behind base; *num becomes the number that it ends with. */
static uint32_t
pick(td_namespace_t *space, uint32_t first, size_t base_sz, uint64_t *num)
{
    td_buf_t *out = &space->out;
    uint32_t  idx = first;

    while (idx != TD_MAP_NONE &&
           (space->rows[idx].used ||
            space->reserved(space->ctx, space->rows[idx].text, out->sz == 0 ? base_sz : out->sz))) {
        *num += TD_PLANT(SKIPPED_NUMBER) ? 2 : 1;
        put_numbered(out, space->base.bytes, base_sz, *num);
        idx = out->failed ? TD_MAP_NONE : row_of(space, out->bytes, out->sz);
    }
    return idx;
}

/* asked_row gives the row of the name that a candidate asks for: its base alone, or, left in
   out, the number behind it. */
static uint32_t
asked_row(td_namespace_t *space, uint32_t base_idx, size_t base_sz, bool has_num, uint64_t num)
{
    td_buf_reset(&space->out);
    if (!has_num) {
        return base_idx;
    }
    put_numbered(&space->out, space->base.bytes, base_sz, num);
    return space->out.failed ? TD_MAP_NONE : row_of(space, space->out.bytes, space->out.sz);
}

td_status_t
td_namespace_create(td_namespace_t *space, char const *candidate, size_t sz, char const **name,
                    size_t *name_sz)
{
    size_t   base_sz  = 0;
    uint64_t num      = 0;
    bool     has_num  = false;
    uint32_t base_idx = TD_MAP_NONE;
    uint32_t idx      = TD_MAP_NONE;

    td_buf_reset(&space->base);
    clean(&space->base, candidate, sz);
    if (space->base.failed) {
        return TD_NOMEM;
    }
    if (!split(space->base.bytes, space->base.sz, &base_sz, &num, &has_num)) {
        return TD_LIMIT;
    }
    base_idx = row_of(space, space->base.bytes, base_sz);
    if (base_idx == TD_MAP_NONE) {
        return TD_NOMEM;
    }
    idx = asked_row(space, base_idx, base_sz, has_num, num);
    num = num == 0 ? space->rows[base_idx].num : num;
    idx = pick(space, idx, base_sz, &num);
    if (idx == TD_MAP_NONE) {
        return TD_NOMEM;
    }
    space->rows[idx].used     = true;
    space->rows[base_idx].num = num;
    *name                     = space->rows[idx].text;
    *name_sz                  = space->out.sz == 0 ? base_sz : space->out.sz;
    return TD_OK;
}
