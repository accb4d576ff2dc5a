/* td_obs_codec.c: a value as canonical bytes, and strictly back (td_obs.h has
   the format). */
#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "base/td_limits.h"
#include "observe/td_obs.h"
#include "observe/td_obs_private.h"

enum {
    TAG_ABSENT    = 0x00,
    TAG_NULL      = 0x01,
    TAG_FALSE     = 0x02,
    TAG_TRUE      = 0x03,
    TAG_INT       = 0x04,
    TAG_BIGINT    = 0x05,
    TAG_FLOAT     = 0x06,
    TAG_STR       = 0x07,
    TAG_LIST      = 0x08,
    TAG_BAG       = 0x09,
    TAG_RECORD    = 0x0A,
    TAG_REF       = 0x0B,
    TAG_LIST_FEW  = 0x10, /* + count */
    TAG_STR_SHORT = 0x20, /* + size */
    TAG_INT_SMALL = 0x40, /* + number */
    TAG_REF_NEAR  = 0x80, /* + number */

    LIST_FEW_CNT  = 8,
    STR_SHORT_CNT = 24,
    INT_SMALL_CNT = 64,
    REF_NEAR_CNT  = 64,

    VARINT_SZ_MAX = 10,
    HEAD_SZ_MAX   = 1 + VARINT_SZ_MAX, /* of any value: tag and number */
    HEADER_SZ     = 10,
};

static char const magic[4] = "TDOB";

/* ---- writing ------------------------------------------------------------- */

bool
td_obs_room(td_obs_t *obs, size_t need)
{
    size_t   cap = obs->bytes_cap != 0 ? obs->bytes_cap : 4096;
    uint8_t *moved;

    if (obs->bytes_cap - obs->bytes_sz >= need) {
        return true;
    }
    while (cap - obs->bytes_sz < need) {
        if (cap > SIZE_MAX / 2) {
            td_obs_fail(obs, TD_NOMEM, "no memory");
            return false;
        }
        cap *= 2;
    }
    moved = td_realloc(obs->bytes, cap);
    if (moved == NULL) {
        td_obs_fail(obs, TD_NOMEM, "no memory");
        return false;
    }
    obs->bytes     = moved;
    obs->bytes_cap = cap;
    return true;
}

/* The put functions below write at most HEAD_SZ_MAX bytes, for which put_value
   has made room. */
static void
put_u8(td_obs_t *obs, unsigned byte)
{
    obs->bytes[obs->bytes_sz++] = (uint8_t)byte;
}

static void
put_varint(td_obs_t *obs, uint64_t number)
{
    for (; number >= 0x80; number >>= 7) {
        put_u8(obs, (unsigned)(number & 0x7F) | 0x80);
    }
    put_u8(obs, (unsigned)number);
}

static void
put_little_endian(td_obs_t *obs, uint64_t number, int sz)
{
    for (int idx = 0; idx < sz; idx++) {
        put_u8(obs, (unsigned)(number >> (8 * idx)) & 0xFF);
    }
}

static uint64_t
zigzag(int64_t number)
{
    return (uint64_t)number << 1 ^ (number < 0 ? UINT64_MAX : 0);
}

static void
put_int(td_obs_t *obs, int64_t number)
{
    if (number >= 0 && number < INT_SMALL_CNT) {
        put_u8(obs, TAG_INT_SMALL + (unsigned)number);
    } else {
        put_u8(obs, TAG_INT);
        put_varint(obs, zigzag(number));
    }
}

static void
put_ref(td_obs_t *obs, uint32_t ref)
{
    if (ref < REF_NEAR_CNT) {
        put_u8(obs, TAG_REF_NEAR + ref);
    } else {
        put_u8(obs, TAG_REF);
        put_varint(obs, ref - REF_NEAR_CNT);
    }
}

static void
put_text(td_obs_t *obs, td_obs_row_t const *row)
{
    if (row->kind == TD_VAL_STR && row->cnt < STR_SHORT_CNT) {
        put_u8(obs, TAG_STR_SHORT + row->cnt);
    } else {
        put_u8(obs, row->kind == TD_VAL_STR ? TAG_STR : TAG_BIGINT);
        put_varint(obs, row->cnt);
    }
    if (row->cnt != 0 && td_obs_room(obs, row->cnt)) {
        memcpy(obs->bytes + obs->bytes_sz, row->text, row->cnt);
        obs->bytes_sz += row->cnt;
    }
}

static void
put_container_head(td_obs_t *obs, td_obs_row_t const *row)
{
    if (row->kind == TD_VAL_RECORD) {
        put_u8(obs, TAG_RECORD);
        put_varint(obs, row->class_id);
    } else if (row->kind == TD_VAL_LIST && row->cnt < LIST_FEW_CNT) {
        put_u8(obs, TAG_LIST_FEW + row->cnt);
    } else {
        put_u8(obs, row->kind == TD_VAL_LIST ? TAG_LIST : TAG_BAG);
        put_varint(obs, row->cnt);
    }
}

static void
put_atom(td_obs_t *obs, td_obs_row_t const *row)
{
    switch ((td_val_kind_t)row->kind) {
    case TD_VAL_ABSENT:
        put_u8(obs, TAG_ABSENT);
        break;
    case TD_VAL_NULL:
        put_u8(obs, TAG_NULL);
        break;
    case TD_VAL_BOOL:
        put_u8(obs, row->number != 0 ? TAG_TRUE : TAG_FALSE);
        break;
    case TD_VAL_INT:
        put_int(obs, row->number);
        break;
    default:
        TD_ASSERT(row->kind == TD_VAL_FLOAT);
        put_u8(obs, TAG_FLOAT);
        put_little_endian(obs, row->bits, 8);
        break;
    }
}

static bool
is_numbered(td_obs_row_t const *row)
{
    return row->kind >= TD_VAL_BIGINT && row->kind != TD_VAL_FLOAT;
}

/* Rows stay where they are while writing: nothing is interned. */
static void
put_value(td_obs_t *obs, td_val_t val, uint32_t *ref_cnt)
{
    td_obs_row_t *row = &obs->vals[val];

    if (!td_obs_room(obs, HEAD_SZ_MAX)) {
        return;
    }
    if (!is_numbered(row)) {
        put_atom(obs, row);
        return;
    }
    if (row->epoch == obs->epoch) {
        put_ref(obs, row->ref);
        return;
    }
    if (row->kind >= TD_VAL_LIST) {
        put_container_head(obs, row);
        for (uint32_t idx = 0; idx < row->cnt; idx++) {
            put_value(obs, row->items[idx], ref_cnt);
        }
    } else {
        put_text(obs, row);
    }
    row->epoch = obs->epoch;
    row->ref   = (*ref_cnt)++;
}

static void
epoch_begin(td_obs_t *obs)
{
    obs->epoch++;
    TD_ASSERT(obs->epoch != 0);
}

td_status_t
td_obs_encode(td_obs_t *obs, td_val_t root, uint8_t **bytes, size_t *sz)
{
    uint32_t ref_cnt = 0;

    *bytes = NULL;
    *sz    = 0;
    if (root == TD_VAL_NONE) {
        td_obs_fail(obs, TD_INTERNAL, "no value cannot be encoded");
    }
    if (obs->status != TD_OK) {
        return obs->status;
    }
    epoch_begin(obs);
    obs->bytes_sz = 0;
    if (td_obs_room(obs, HEADER_SZ)) {
        memcpy(obs->bytes, magic, sizeof magic);
        obs->bytes_sz = sizeof magic;
        put_little_endian(obs, TD_OBS_SCHEMA_VERSION, 2);
        put_little_endian(obs, td_schema_fingerprint(), 4);
        put_value(obs, root, &ref_cnt);
    }
    if (obs->status == TD_OK) {
        *bytes = td_malloc(obs->bytes_sz);
        if (*bytes == NULL) {
            td_obs_fail(obs, TD_NOMEM, "no memory");
        } else {
            *sz = obs->bytes_sz;
            memcpy(*bytes, obs->bytes, obs->bytes_sz);
        }
    }
    return obs->status;
}

/* ---- reading ------------------------------------------------------------- */

typedef struct {
    td_obs_t      *obs;
    uint8_t const *bytes;
    size_t         sz, off;
    char const    *refused; /* NULL: all is well so far */
    td_val_t      *refs;    /* owned: value of each number */
    size_t         ref_cnt, ref_cap;
    td_val_t      *items; /* owned: a stack of the open containers' items */
    size_t         item_cnt, item_cap;
    unsigned       depth;
} reader_t;

static td_val_t
refuse(reader_t *reader, char const *why)
{
    if (reader->refused == NULL) {
        reader->refused = why;
    }
    return TD_VAL_NONE;
}

static bool
push(reader_t *reader, td_val_t **vals, size_t *cnt, size_t *cap, td_val_t val)
{
    if (*cnt == *cap) {
        size_t    more  = *cap != 0 ? *cap * 2 : 64;
        td_val_t *moved = td_realloc(*vals, more * sizeof *moved);

        if (moved == NULL) {
            td_obs_fail(reader->obs, TD_NOMEM, "no memory");
            return false;
        }
        *vals = moved;
        *cap  = more;
    }
    (*vals)[(*cnt)++] = val;
    return true;
}

static unsigned
get_u8(reader_t *reader)
{
    if (reader->off == reader->sz) {
        refuse(reader, "the bytes end too early");
        return 0;
    }
    return reader->bytes[reader->off++];
}

static uint64_t
get_varint(reader_t *reader)
{
    uint64_t number = 0;
    unsigned byte   = 0x80;

    for (int shift = 0; byte >= 0x80; shift += 7) {
        byte = get_u8(reader);
        if (shift == 63 && byte > 1) {
            refuse(reader, "a number of more than 64 bits");
            return 0;
        }
        number |= (uint64_t)(byte & 0x7F) << shift;
        if (byte == 0 && shift != 0) {
            refuse(reader, "a number that is longer than it need be");
            return 0;
        }
    }
    return number;
}

static uint64_t
get_little_endian(reader_t *reader, int sz)
{
    uint64_t number = 0;

    for (int idx = 0; idx < sz; idx++) {
        number |= (uint64_t)get_u8(reader) << (8 * idx);
    }
    return number;
}

/* A count of things that take at least a byte each. */
static size_t
get_cnt(reader_t *reader)
{
    uint64_t cnt = get_varint(reader);

    if (cnt > reader->sz - reader->off || cnt > UINT32_MAX) {
        refuse(reader, "a count beyond the end of the bytes");
        return 0;
    }
    return (size_t)cnt;
}

/* What encode would have written as a reference may not be written out again. */
static td_val_t
numbered(reader_t *reader, td_val_t val)
{
    td_obs_row_t *row = &reader->obs->vals[val];

    if (val == TD_VAL_NONE) {
        return TD_VAL_NONE;
    }
    if (row->epoch == reader->obs->epoch) {
        return refuse(reader, "a value that should be a reference");
    }
    row->epoch = reader->obs->epoch;
    row->ref   = (uint32_t)reader->ref_cnt;
    return push(reader, &reader->refs, &reader->ref_cnt, &reader->ref_cap, val) ? val : TD_VAL_NONE;
}

static td_val_t
get_text(reader_t *reader, size_t sz, bool is_bigint)
{
    td_obs_t   *obs  = reader->obs;
    char const *text = (char const *)reader->bytes + reader->off;
    char       *copy; /* of a bigint, with the NUL that it needs */

    if (reader->refused != NULL) {
        return TD_VAL_NONE;
    }
    if (sz > reader->sz - reader->off) {
        return refuse(reader, "the bytes end too early");
    }
    if (is_bigint ? !td_bigint_is_valid(text, sz) : !td_utf8_is_valid(text, sz)) {
        return refuse(reader, is_bigint ? "not a big int" : "a string that is no utf-8");
    }
    reader->off += sz;
    if (!is_bigint) {
        return td_obs_str(obs, text, sz);
    }
    copy = td_arena_dup(&obs->arena, text, sz);
    if (copy == NULL) {
        return td_obs_fail(obs, TD_NOMEM, "no memory");
    }
    return td_obs_bigint(obs, copy);
}

static td_val_t
get_int(reader_t *reader)
{
    uint64_t bits   = get_varint(reader);
    int64_t  number = (int64_t)(bits >> 1 ^ ((bits & 1) != 0 ? UINT64_MAX : 0));

    if (number >= 0 && number < INT_SMALL_CNT) {
        return refuse(reader, "a number that is longer than it need be");
    }
    return td_obs_int(reader->obs, number);
}

static td_val_t
get_float(reader_t *reader)
{
    uint64_t bits = get_little_endian(reader, 8);
    double   value;

    memcpy(&value, &bits, sizeof value);
    return td_obs_float(reader->obs, value);
}

static td_val_t
get_ref(reader_t *reader, uint64_t ref)
{
    if (ref >= reader->ref_cnt) {
        return refuse(reader, "a reference to what has not been yet");
    }
    return reader->refs[ref];
}

static td_val_t
get_far_ref(reader_t *reader)
{
    uint64_t beyond = get_varint(reader);

    /* Compared before the sum, which could wrap. */
    return get_ref(reader, beyond < reader->ref_cnt ? beyond + REF_NEAR_CNT : UINT64_MAX);
}

static td_val_t get_value(reader_t *reader);

/* Reads cnt items onto the stack; false: refused or failed. */
static bool
get_items(reader_t *reader, size_t cnt)
{
    td_obs_t *obs = reader->obs;

    for (size_t idx = 0; idx < cnt; idx++) {
        td_val_t item = get_value(reader);

        if (item == TD_VAL_NONE ||
            !push(reader, &reader->items, &reader->item_cnt, &reader->item_cap, item)) {
            return false;
        }
        if (obs->vals[item].depth >= TD_VALUE_DEPTH_MAX) {
            refuse(reader, "a value that is nested too deep");
            return false;
        }
    }
    return true;
}

static bool
is_sorted(td_obs_t const *obs, td_val_t const *items, size_t cnt)
{
    for (size_t idx = 1; idx < cnt; idx++) {
        if (td_obs_cmp(obs, items[idx - 1], items[idx]) > 0) {
            return false;
        }
    }
    return true;
}

static td_val_t
get_container(reader_t *reader, td_val_kind_t kind, td_class_t class_id, size_t cnt)
{
    size_t   base = reader->item_cnt;
    td_val_t val  = TD_VAL_NONE;

    if (reader->refused != NULL) {
        return TD_VAL_NONE;
    }
    if (reader->depth == TD_VALUE_DEPTH_MAX) {
        return refuse(reader, "a value that is nested too deep");
    }
    reader->depth++;
    if (get_items(reader, cnt)) {
        td_val_t const *items = cnt != 0 ? reader->items + base : NULL;

        if (kind == TD_VAL_BAG && !is_sorted(reader->obs, items, cnt)) {
            val = refuse(reader, "a bag that is not sorted");
        } else {
            val = td_obs_container(reader->obs, kind, class_id, items, cnt);
        }
    }
    reader->depth--;
    reader->item_cnt = base;
    return val;
}

static td_val_t
get_record(reader_t *reader)
{
    uint64_t class_id = get_varint(reader);
    size_t   field_cnt;

    if (class_id == TD_CLASS_NONE || class_id >= TD_CLASS_CNT) {
        return refuse(reader, "a record of no class");
    }
    td_class_fields((td_class_t)class_id, &field_cnt);
    return get_container(reader, TD_VAL_RECORD, (td_class_t)class_id, field_cnt);
}

static td_val_t
get_long(reader_t *reader, td_val_kind_t kind, size_t least)
{
    size_t cnt = get_cnt(reader);

    if (reader->refused == NULL && cnt < least) {
        return refuse(reader, "a count that is longer than it need be");
    }
    return kind == TD_VAL_STR ? get_text(reader, cnt, false)
                              : get_container(reader, kind, TD_CLASS_NONE, cnt);
}

static td_val_t
get_tagged(reader_t *reader, unsigned tag)
{
    switch (tag) {
    case TAG_ABSENT:
        return td_obs_absent(reader->obs);
    case TAG_NULL:
        return td_obs_null(reader->obs);
    case TAG_FALSE:
    case TAG_TRUE:
        return td_obs_bool(reader->obs, tag == TAG_TRUE);
    case TAG_INT:
        return get_int(reader);
    case TAG_FLOAT:
        return get_float(reader);
    case TAG_BIGINT:
        return numbered(reader, get_text(reader, get_cnt(reader), true));
    case TAG_STR:
        return numbered(reader, get_long(reader, TD_VAL_STR, STR_SHORT_CNT));
    case TAG_LIST:
        return numbered(reader, get_long(reader, TD_VAL_LIST, LIST_FEW_CNT));
    case TAG_BAG:
        return numbered(reader, get_long(reader, TD_VAL_BAG, 0));
    case TAG_RECORD:
        return numbered(reader, get_record(reader));
    case TAG_REF:
        return get_far_ref(reader);
    default:
        return refuse(reader, "a tag that no value has");
    }
}

static td_val_t
get_value(reader_t *reader)
{
    unsigned tag = get_u8(reader);
    td_val_t val;

    if (reader->refused != NULL) {
        return TD_VAL_NONE;
    }
    if (tag >= TAG_REF_NEAR + REF_NEAR_CNT) {
        val = refuse(reader, "a tag that no value has");
    } else if (tag >= TAG_REF_NEAR) {
        val = get_ref(reader, tag - TAG_REF_NEAR);
    } else if (tag >= TAG_INT_SMALL) {
        val = td_obs_int(reader->obs, (int64_t)tag - TAG_INT_SMALL);
    } else if (tag >= TAG_STR_SHORT && tag < TAG_STR_SHORT + STR_SHORT_CNT) {
        val = numbered(reader, get_text(reader, tag - TAG_STR_SHORT, false));
    } else if (tag >= TAG_LIST_FEW && tag < TAG_LIST_FEW + LIST_FEW_CNT) {
        val =
            numbered(reader, get_container(reader, TD_VAL_LIST, TD_CLASS_NONE, tag - TAG_LIST_FEW));
    } else {
        val = get_tagged(reader, tag);
    }
    return reader->refused == NULL ? val : TD_VAL_NONE;
}

static void
get_header(reader_t *reader)
{
    uint64_t version, fingerprint;

    if (reader->sz < HEADER_SZ || memcmp(reader->bytes, magic, sizeof magic) != 0) {
        refuse(reader, "not an observation");
        return;
    }
    reader->off = sizeof magic;
    version     = get_little_endian(reader, 2);
    fingerprint = get_little_endian(reader, 4);
    if (version != TD_OBS_SCHEMA_VERSION || fingerprint != td_schema_fingerprint()) {
        refuse(reader, "an observation of another schema version");
    }
}

td_status_t
td_obs_decode(td_obs_t *obs, uint8_t const *bytes, size_t sz, td_val_t *root)
{
    reader_t reader = {.obs = obs, .bytes = bytes, .sz = sz};

    *root = TD_VAL_NONE;
    if (obs->status != TD_OK) {
        return obs->status;
    }
    obs->why[0] = '\0';
    epoch_begin(obs);
    get_header(&reader);
    if (reader.refused == NULL) {
        *root = get_value(&reader);
    }
    if (reader.refused == NULL && obs->status == TD_OK && reader.off != sz) {
        refuse(&reader, "bytes behind the end");
    }
    td_free(reader.refs);
    td_free(reader.items);
    if (obs->status != TD_OK || reader.refused != NULL) {
        *root = TD_VAL_NONE;
    }
    if (obs->status == TD_OK && reader.refused != NULL) {
        snprintf(obs->why, sizeof obs->why, "byte %zu: %s", reader.off, reader.refused);
        return TD_REJECT;
    }
    return obs->status;
}
