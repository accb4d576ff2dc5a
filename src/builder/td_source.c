/* td_source.c: where a value came from. */
#include "builder/td_source.h"

#include <string.h>

#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "builder/td_index.h"
#include "builder/td_plant.h"
#include "builder/td_tables.h"

char const *
td_where_name(td_where_t where)
{
    switch (where) {
#define X(name, value)    \
    case TD_WHERE_##name: \
        return #name;
        TD_WHERE_LIST(X)
#undef X
    case TD_WHERE_RAISES:
        break;
    }
    return "";
}

/* ---- making -------------------------------------------------------------- */

void
td_sources_init(td_sources_t *sources, PyTypeObject *enum_type)
{
    memset(sources, 0, sizeof *sources);
    sources->enum_type = enum_type;
    sources->next      = 1;
}

void
td_sources_clear(td_sources_t *sources)
{
    td_free(sources->blocks);
    memset(sources, 0, sizeof *sources);
}

/* nn_where, not_nn_where, fsdp_where mirror _GUARD_SOURCE_NN_MODULE,
   _GUARD_SOURCE_NOT_NN_MODULE and _GUARD_SOURCE_FSDP_MODULE of Dynamo's source.py
   (torch 2.1.2): what they lack raises KeyError. */
static td_where_t
nn_where(td_where_t base)
{
    switch (base) {
    case TD_WHERE_LOCAL:
    case TD_WHERE_LOCAL_NN_MODULE:
        return TD_WHERE_LOCAL_NN_MODULE;
    case TD_WHERE_GLOBAL:
    case TD_WHERE_GLOBAL_NN_MODULE:
        return TD_WHERE_GLOBAL_NN_MODULE;
    default:
        return TD_WHERE_RAISES;
    }
}

static td_where_t
not_nn_where(td_where_t base)
{
    switch (base) {
    case TD_WHERE_LOCAL:
    case TD_WHERE_LOCAL_NN_MODULE:
    case TD_WHERE_LOCAL_FSDP_MODULE:
        return TD_PLANT(WRONG_GUARD_SOURCE) ? TD_WHERE_LOCAL_NN_MODULE : TD_WHERE_LOCAL;
    case TD_WHERE_GLOBAL:
    case TD_WHERE_GLOBAL_NN_MODULE:
    case TD_WHERE_GLOBAL_FSDP_MODULE:
        return TD_WHERE_GLOBAL;
    default:
        return TD_WHERE_RAISES;
    }
}

static td_where_t
fsdp_where(td_where_t base)
{
    switch (not_nn_where(base)) {
    case TD_WHERE_LOCAL:
        return TD_WHERE_LOCAL_FSDP_MODULE;
    case TD_WHERE_GLOBAL:
        return TD_WHERE_GLOBAL_FSDP_MODULE;
    default:
        return TD_WHERE_RAISES;
    }
}

static td_where_t
chained_where(td_source_class_t cls, td_where_t base)
{
    switch (cls) {
    case TD_SOURCE_CLASS_NNModuleSource:
    case TD_SOURCE_CLASS_ParamBufferSource:
        return nn_where(base);
    case TD_SOURCE_CLASS_NotNNModuleSource:
        return not_nn_where(base);
    case TD_SOURCE_CLASS_FSDPNNModuleSource:
        return fsdp_where(base);
    default:
        return base;
    }
}

static td_src_block_t *
block_new(td_sources_t *sources)
{
    if (td_room_refused()) {
        return NULL;
    }
    if (sources->block_cnt == sources->block_cap) {
        enum { FIRST = 64, MANY = 1 << 14 };
        uint32_t        old   = sources->block_cap;
        uint32_t        cap   = old == 0 ? FIRST : (old < MANY ? 4 : 2) * old;
        td_src_block_t *grown = td_realloc(sources->blocks, cap * sizeof *grown);

        if (grown == NULL) {
            return NULL;
        }
        sources->blocks    = grown;
        sources->block_cap = cap;
    }
    return &sources->blocks[sources->block_cnt++];
}

td_at_t
td_source_block_add(td_sources_t *sources, td_at_t const *base, td_source_class_t cls,
                    td_src_payload_t payload, PyObject *const *keys, td_src_id_t const *subs,
                    uint32_t cnt, td_where_t where)
{
    td_at_t         at    = {0};
    td_src_block_t *block = block_new(sources);

    if (block == NULL) {
        return at;
    }
    at.id         = sources->next;
    at.where      = (uint8_t)(base == NULL ? where : chained_where(cls, (td_where_t)base->where));
    at.depth      = (uint16_t)(base == NULL ? 0 : base->depth + 1);
    at.local_root = base == NULL ? cls == TD_SOURCE_CLASS_LocalSource : base->local_root;
    at.fresh      = base != NULL && base->fresh;
    at.cls        = (uint8_t)cls;
    *block        = (td_src_block_t){
               .first      = at.id,
               .cnt        = cnt,
               .base       = base == NULL ? 0 : base->id,
               .cls        = (uint8_t)cls,
               .payload    = (uint8_t)payload,
               .where      = at.where,
               .local_root = at.local_root,
               .depth      = at.depth,
               .keys       = keys,
               .subs       = subs,
    };
    for (uint32_t i = 0; payload == TD_PAYLOAD_KEYS && i < cnt; i++) {
        sources->has_odd_keys |= !td_index_is_literal(keys[i]) || td_index_is_nan(keys[i]);
    }
    sources->next += cnt == 0 ? 1 : cnt; /* an empty container's block keeps a number of its own */
    return at;
}

char const *
td_prop_name(td_prop_t prop)
{
    return prop == TD_PROP_SIZE ? "SIZE" : prop == TD_PROP_STRIDE ? "STRIDE" : "STORAGE_OFFSET";
}

td_at_t
td_source_property(td_sources_t *sources, td_at_t const *base, td_prop_t prop, uint32_t idx)
{
    bool    has_idx = prop != TD_PROP_STORAGE_OFFSET;
    td_at_t at      = td_source_block_add(sources, base, TD_SOURCE_CLASS_TensorPropertySource,
                                     has_idx ? TD_PAYLOAD_INDEX : TD_PAYLOAD_NOTHING, NULL, NULL, 1,
                                          TD_WHERE_LOCAL);

    if (at.id != 0) {
        sources->blocks[sources->block_cnt - 1].prop  = (uint8_t)prop;
        sources->blocks[sources->block_cnt - 1].start = has_idx ? idx : 0;
    }
    return at;
}

td_src_block_t const *
td_source_block(td_sources_t const *sources, td_src_id_t id)
{
    uint32_t lo = 0;
    uint32_t hi = sources->block_cnt;

    TD_ASSERT(id > 0 && id < sources->next);
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (sources->blocks[mid].first <= id) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    return &sources->blocks[lo];
}

PyObject *
td_source_key(td_src_block_t const *block, td_src_id_t id)
{
    return block->keys == NULL ? NULL : block->keys[id - block->first];
}

td_where_t
td_source_raised(td_sources_t const *sources, td_src_id_t id)
{
    td_src_block_t const *block = td_source_block(sources, id);

    while (block->base != 0) {
        td_src_block_t const *base = td_source_block(sources, block->base);

        if (base->where != TD_WHERE_RAISES) {
            return (td_where_t)base->where;
        }
        block = base;
    }
    return (td_where_t)block->where;
}

/* ---- names --------------------------------------------------------------- */

static bool name_put(td_sources_t const *sources, td_src_id_t id, td_buf_t *out);

static bool
put_base(td_sources_t const *sources, td_src_block_t const *block, char const *before,
         td_buf_t *out)
{
    td_buf_puts(out, before);
    return name_put(sources, block->base, out);
}

/* put_class mirrors how ODictGetItemSource.name() spells a class. */
static bool
put_class(td_buf_t *out, PyObject *cls)
{
    PyObject *module = PyObject_GetAttrString(cls, "__module__");   /* owned; type's own getters */
    PyObject *name   = PyObject_GetAttrString(cls, "__qualname__"); /* owned */
    bool good = module != NULL && name != NULL && PyUnicode_Check(module) && PyUnicode_Check(name);

    td_buf_puts(out, "__load_module(\"");
    good = good && td_index_put_str(out, module);
    td_buf_puts(out, "\").");
    good = good && td_index_put_str(out, name);
    Py_XDECREF(name);
    Py_XDECREF(module);
    return good;
}

static bool
put_index(td_sources_t const *sources, td_src_block_t const *block, td_src_id_t id, td_buf_t *out)
{
    PyObject *key = td_source_key(block, id); /* borrowed */

    if (block->payload == TD_PAYLOAD_INDEX) {
        td_buf_put_i64(out, block->start + (id - block->first));
        return !out->failed;
    }
    if (block->payload == TD_PAYLOAD_SOURCES && block->subs[id - block->first] != 0) {
        return name_put(sources, block->subs[id - block->first], out);
    }
    if (block->flag && block->cls == TD_SOURCE_CLASS_GetItemSource) {
        return td_index_put_slice(sources, out, key);
    }
    if (block->cls == TD_SOURCE_CLASS_GetItemSource && td_index_is_enum(sources, key)) {
        return td_index_put_enum(out, key, td_where_is_local((td_where_t)block->where));
    }
    if (block->cls == TD_SOURCE_CLASS_ODictGetItemSource && PyType_Check(key)) {
        return put_class(out, key);
    }
    return td_index_put_repr(sources, out, key);
}

static bool
put_attr(td_sources_t const *sources, td_src_block_t const *block, td_src_id_t id, td_buf_t *out)
{
    PyObject *member = td_source_key(block, id); /* borrowed */
    bool      plain  = PyUnicode_IsIdentifier(member) == 1;
    bool      good   = put_base(sources, block, plain ? "" : "getattr(", out);

    td_buf_puts(out, plain ? "." : ", ");
    good =
        good && (plain ? td_index_put_str(out, member) : td_index_put_repr(sources, out, member));
    if (!plain) {
        td_buf_putc(out, ')');
    }
    return good && !out->failed;
}

static bool
put_call(td_sources_t const *sources, td_src_block_t const *block, td_src_id_t id,
         char const *function, bool index, td_buf_t *out)
{
    bool good = put_base(sources, block, function, out);

    if (index) {
        td_buf_puts(out, ", ");
        good = good && put_index(sources, block, id, out);
    }
    td_buf_putc(out, ')');
    return good && !out->failed;
}

static bool
put_scope(td_sources_t const *sources, td_buf_t *out, char const *scope, PyObject *name,
          char const *end)
{
    bool good = false;

    td_buf_puts(out, scope);
    good = td_index_put_repr(sources, out, name);
    td_buf_puts(out, end);
    return good && !out->failed;
}

static bool
put_item(td_sources_t const *sources, td_src_block_t const *block, td_src_id_t id, char const *open,
         td_buf_t *out)
{
    bool good = put_base(sources, block, "", out);

    td_buf_puts(out, open);
    good = good && put_index(sources, block, id, out);
    td_buf_putc(out, ']');
    return good && !out->failed;
}

/* put_keyword_default: the keyword stands between quotes as it is. */
static bool
put_keyword_default(td_sources_t const *sources, td_src_block_t const *block, PyObject *keyword,
                    td_buf_t *out)
{
    bool good = put_base(sources, block, "", out);

    td_buf_puts(out, ".__kwdefaults__['");
    good = good && td_index_put_str(out, keyword);
    td_buf_puts(out, "']");
    return good && !out->failed;
}

static bool
put_property(td_sources_t const *sources, td_src_block_t const *block, td_src_id_t id,
             td_buf_t *out)
{
    switch ((td_prop_t)block->prop) {
    case TD_PROP_SIZE:
        return put_item(sources, block, id, ".size()[", out);
    case TD_PROP_STRIDE:
        return put_item(sources, block, id, ".stride()[", out);
    case TD_PROP_STORAGE_OFFSET:
        break;
    }
    return put_base(sources, block, "", out) &&
           (td_buf_puts(out, ".storage_offset()"), !out->failed);
}

/* name_put mirrors the name() methods of Dynamo's source.py (torch 2.1.2). */
static bool
name_put(td_sources_t const *sources, td_src_id_t id, td_buf_t *out)
{
    td_src_block_t const *block = td_source_block(sources, id);
    PyObject             *key   = td_source_key(block, id); /* borrowed */

    switch ((td_source_class_t)block->cls) {
    case TD_SOURCE_CLASS_LocalSource:
        return put_scope(sources, out, "L[", key, "]");
    case TD_SOURCE_CLASS_GlobalSource:
        return put_scope(sources, out, "G[", key, "]");
    case TD_SOURCE_CLASS_GlobalWeakRefSource:
        return put_scope(sources, out, "G[", key, "]()");
    case TD_SOURCE_CLASS_ConstantSource:
        return td_index_put_str(out, key);
    case TD_SOURCE_CLASS_RandomValueSource:
        return put_scope(sources, out, "random_value_", key, "");
    case TD_SOURCE_CLASS_AttrSource:
    case TD_SOURCE_CLASS_ParamBufferSource:
        return put_attr(sources, block, id, out);
    case TD_SOURCE_CLASS_GetItemSource:
        return put_item(sources, block, id, "[", out);
    case TD_SOURCE_CLASS_DefaultsSource:
        return block->flag ? put_keyword_default(sources, block, key, out)
                           : put_item(sources, block, id, ".__defaults__[", out);
    case TD_SOURCE_CLASS_TupleIteratorGetItemSource:
        return put_call(sources, block, id, "___tuple_iterator_getitem(", true, out);
    case TD_SOURCE_CLASS_ODictGetItemSource:
        return put_call(sources, block, id, "___odict_getitem(", true, out);
    case TD_SOURCE_CLASS_TensorPropertySource:
        return put_property(sources, block, id, out);
    case TD_SOURCE_CLASS_TypeSource:
        return put_call(sources, block, id, "type(", false, out);
    case TD_SOURCE_CLASS_NumpyTensorSource:
        return put_call(sources, block, id, "__as_tensor(", false, out);
    case TD_SOURCE_CLASS_ConvertIntSource:
        return put_call(sources, block, id, "cast_symbool_to_symint_guardless(", false, out);
    case TD_SOURCE_CLASS_NNModuleSource:
    case TD_SOURCE_CLASS_NotNNModuleSource:
    case TD_SOURCE_CLASS_FSDPNNModuleSource:
        return put_base(sources, block, "", out);
    default:
        break;
    }
    TD_ASSERT(!"a source class that this builder never makes");
    return false;
}

bool
td_source_name(td_sources_t const *sources, td_src_id_t id, td_buf_t *out)
{
    return name_put(sources, id, out) && !out->failed;
}

/* ---- equality ------------------------------------------------------------ */

static bool
payload_equal(td_sources_t const *sources, td_src_block_t const *x, td_src_id_t a,
              td_src_block_t const *y, td_src_id_t b)
{
    PyObject *key_a = td_source_key(x, a); /* borrowed */
    PyObject *key_b = td_source_key(y, b); /* borrowed */
    int64_t   idx_a = x->start + (a - x->first);
    int64_t   idx_b = y->start + (b - y->first);
    bool      sub_a = x->payload == TD_PAYLOAD_SOURCES && x->subs[a - x->first] != 0;
    bool      sub_b = y->payload == TD_PAYLOAD_SOURCES && y->subs[b - y->first] != 0;

    if (sub_a || sub_b) {
        return sub_a && sub_b &&
               td_source_equal(sources, x->subs[a - x->first], y->subs[b - y->first]);
    }
    if (x->payload == TD_PAYLOAD_INDEX && y->payload == TD_PAYLOAD_INDEX) {
        return idx_a == idx_b;
    }
    if (key_a != NULL && key_b != NULL) {
        return td_index_equal(sources, key_a, key_b);
    }
    if (key_a == NULL && key_b == NULL) {
        return true;
    }
    key_a = key_a == NULL ? key_b : key_a;
    idx_a = x->payload == TD_PAYLOAD_INDEX ? idx_a : idx_b;
    if (PyLong_Check(key_a)) {
        int overflow = 0;

        return PyLong_AsLongLongAndOverflow(key_a, &overflow) == idx_a && overflow == 0;
    }
    return PyFloat_CheckExact(key_a) && PyFloat_AS_DOUBLE(key_a) == (double)idx_a;
}

bool
td_source_equal(td_sources_t const *sources, td_src_id_t a, td_src_id_t b)
{
    while (a != b) {
        td_src_block_t const *x = NULL;
        td_src_block_t const *y = NULL;

        if (a == 0 || b == 0) {
            return false;
        }
        x = td_source_block(sources, a);
        y = td_source_block(sources, b);
        if (x->cls != y->cls || x->flag != y->flag || x->prop != y->prop ||
            !payload_equal(sources, x, a, y, b)) {
            return false;
        }
        a = x->base;
        b = y->base;
    }
    return true;
}

static uint32_t
mix(uint32_t hash, uint64_t word)
{
    word ^= (uint64_t)hash * 0x9E3779B97F4A7C15u;
    word ^= word >> 32;
    return (uint32_t)(word * 0x85EBCA6Bu);
}

bool
td_source_is_hashable(td_sources_t const *sources, td_src_id_t id)
{
    while (sources->has_odd_keys && id != 0) {
        td_src_block_t const *block = td_source_block(sources, id);
        PyObject             *key   = td_source_key(block, id); /* borrowed */

        if (key != NULL && !td_index_is_hashable(key)) {
            return false;
        }
        id = block->base;
    }
    return true;
}

uint32_t
td_source_hash(td_sources_t const *sources, td_src_id_t id)
{
    uint32_t hash = 0;

    while (id != 0) {
        td_src_block_t const *block    = td_source_block(sources, id);
        bool                  is_index = block->payload == TD_PAYLOAD_INDEX;
        uint64_t              word     = is_index ? (uint64_t)(block->start + (id - block->first))
                                                  : td_index_hash(td_source_key(block, id));

        hash = mix(mix(hash, block->cls), word);
        id   = block->base;
    }
    return hash;
}

bool
td_source_same_guard(td_sources_t const *sources, td_src_id_t a, td_src_id_t b)
{
    td_buf_t left = {0}, right = {0};
    bool     same = false;

    if (a == b) {
        return true;
    }
    if (!td_source_equal(sources, a, b)) {
        return false;
    }
    same = td_source_name(sources, a, &left) && td_source_name(sources, b, &right) &&
           left.sz == right.sz && memcmp(left.bytes, right.bytes, left.sz) == 0;
    PyErr_Clear();
    td_buf_clear(&left);
    td_buf_clear(&right);
    return same;
}
