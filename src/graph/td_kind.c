/* td_kind.c: the tables of object kinds and of what they choose from. */
#include <string.h>

#include "base/td_assert.h"
#include "graph/td_graph.h"

static td_kind_info_t const kinds[256] = {
#define X(tag, NAME, text, payload, edge_min, edge_max, family, meaning) \
    [tag] = {text, TD_PAYLOAD_##payload, edge_min, edge_max, #family, meaning},
#include "graph/kinds.def"
#undef X
};

#define X(tag, NAME, text, payload, edge_min, edge_max, family, meaning)                     \
    _Static_assert((tag) > 0 && (tag) < 0x80, "the tag of " text " is no opcode of a node"); \
    _Static_assert((edge_max) <= TD_EDGE_CNT_MAX + 1, "too many edges: " text);
#include "graph/kinds.def"
#undef X

typedef struct {
    uint8_t     kind;
    char const *name;
    char const *path;
} choice_t;

static choice_t const choices[] = {
#define X(KIND, word, path) {TD_KIND_##KIND, #word, path},
#include "graph/choices.def"
#undef X
};

enum { CHOICE_CNT = sizeof choices / sizeof *choices };

td_kind_info_t const *
td_kind_info(uint8_t tag)
{
    return kinds[tag].name != NULL ? &kinds[tag] : NULL;
}

int
td_kind_find(char const *name)
{
    for (int tag = 0; tag < 256; tag++) {
        if (kinds[tag].name != NULL && strcmp(kinds[tag].name, name) == 0) {
            return tag;
        }
    }
    return -1;
}

/* The rows of a kind stand together: first row, and one behind the last. */
static size_t
choice_first(uint8_t kind)
{
    size_t first = 0;

    while (first < CHOICE_CNT && choices[first].kind != kind) {
        first++;
    }
    return first;
}

size_t
td_choice_cnt(uint8_t kind)
{
    size_t first = choice_first(kind), end = first;

    while (end < CHOICE_CNT && choices[end].kind == kind) {
        end++;
    }
    return end - first;
}

static choice_t const *
choice_at(uint8_t kind, size_t idx)
{
    size_t row = choice_first(kind) + idx;

    TD_ASSERT(row < CHOICE_CNT && choices[row].kind == kind);
    return &choices[row];
}

char const *
td_choice_name(uint8_t kind, size_t idx)
{
    return choice_at(kind, idx)->name;
}

char const *
td_choice_path(uint8_t kind, size_t idx)
{
    return choice_at(kind, idx)->path;
}
