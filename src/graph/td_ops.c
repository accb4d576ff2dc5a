/* td_ops.c: the tables of sources, entries, changes, dtypes, layouts, config
   values and listed functions. */
#include <string.h>

#include "base/td_assert.h"
#include "graph/td_graph.h"

#define X(tag, NAME, text, operands, meaning) [tag] = {text, operands, meaning},
static td_op_info_t const sources[] = {
#include "graph/sources.def"
};
static td_op_info_t const entries[] = {
#include "graph/entries.def"
};
static td_op_info_t const dos[] = {
#include "graph/dos.def"
};
#undef X

#define CNT(table) (sizeof(table) / sizeof *(table))

_Static_assert(CNT(sources) <= 0x20 && CNT(entries) <= 0x10 && CNT(dos) <= 0x30,
               "opcodes of sources, entries and dos are 0x80.., 0xA0.., 0xB0..0xDF");

static td_op_info_t const *
op_at(td_op_info_t const *ops, size_t cnt, uint8_t tag)
{
    return tag < cnt && ops[tag].name != NULL ? &ops[tag] : NULL;
}

static int
op_find(td_op_info_t const *ops, size_t cnt, char const *name)
{
    for (size_t tag = 0; tag < cnt; tag++) {
        if (ops[tag].name != NULL && strcmp(ops[tag].name, name) == 0) {
            return (int)tag;
        }
    }
    return -1;
}

td_op_info_t const *
td_source_info(uint8_t tag)
{
    return op_at(sources, CNT(sources), tag);
}

td_op_info_t const *
td_entry_info(uint8_t tag)
{
    return op_at(entries, CNT(entries), tag);
}

td_op_info_t const *
td_do_info(uint8_t tag)
{
    return op_at(dos, CNT(dos), tag);
}

int
td_source_find(char const *name)
{
    return op_find(sources, CNT(sources), name);
}

int
td_entry_find(char const *name)
{
    return op_find(entries, CNT(entries), name);
}

int
td_do_find(char const *name)
{
    return op_find(dos, CNT(dos), name);
}

typedef struct {
    char const *name;
    bool        is_floating, is_complex;
} dtype_t;

static dtype_t const dtypes[] = {
#define X(idx, text, is_floating, is_complex) [idx] = {text, is_floating, is_complex},
#include "graph/dtypes.def"
#undef X
};

size_t
td_dtype_cnt(void)
{
    return CNT(dtypes);
}

char const *
td_dtype_name(size_t idx)
{
    TD_ASSERT(idx < CNT(dtypes));
    return dtypes[idx].name;
}

bool
td_dtype_is_floating(size_t idx)
{
    TD_ASSERT(idx < CNT(dtypes));
    return dtypes[idx].is_floating;
}

bool
td_dtype_is_complex(size_t idx)
{
    TD_ASSERT(idx < CNT(dtypes));
    return dtypes[idx].is_complex;
}

static char const *const layouts[] = {
#define X(tag, NAME, text) [tag] = text,
    TD_LAYOUT_LIST(X)
#undef X
};

char const *
td_layout_name(size_t idx)
{
    return idx < CNT(layouts) ? layouts[idx] : NULL;
}

typedef struct {
    char const *name;
    size_t      value_cnt;
    char const *values[4];
} config_t;

#define VALUE_CNT(...) (sizeof((char const *[]){__VA_ARGS__}) / sizeof(char const *))

static config_t const configs[] = {
#define X(key, name, ...) [key] = {name, VALUE_CNT(__VA_ARGS__), {__VA_ARGS__}},
#include "graph/configs.def"
#undef X
};

size_t
td_config_cnt(void)
{
    return CNT(configs);
}

char const *
td_config_name(size_t key)
{
    TD_ASSERT(key < CNT(configs));
    return configs[key].name;
}

int
td_config_find(char const *name)
{
    for (size_t key = 0; key < CNT(configs); key++) {
        if (strcmp(configs[key].name, name) == 0) {
            return (int)key;
        }
    }
    return -1;
}

size_t
td_config_value_cnt(size_t key)
{
    TD_ASSERT(key < CNT(configs));
    return configs[key].value_cnt;
}

char const *
td_config_value(size_t key, size_t value)
{
    TD_ASSERT(key < CNT(configs) && value < configs[key].value_cnt);
    return configs[key].values[value];
}

#define X(idx, NAME, text, meaning) [idx] = text,
static char const *const methods[] = {
#include "graph/methods.def"
};
static char const *const compiles[] = {
#include "graph/compiles.def"
};
#undef X

size_t
td_method_cnt(void)
{
    return CNT(methods);
}

char const *
td_method_name(size_t idx)
{
    TD_ASSERT(idx < CNT(methods));
    return methods[idx];
}

size_t
td_compile_cnt(void)
{
    return CNT(compiles);
}

char const *
td_compile_name(size_t idx)
{
    TD_ASSERT(idx < CNT(compiles));
    return compiles[idx];
}
