/* td_weights.c: the usual mix, lists of words, and swarms. */
#include "gen/td_weights.h"

#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "base/td_writer.h"

/* How common the members of a family are; a kind's own weight may differ. */
static struct {
    char const *family;
    uint32_t    weight;
} const families[] = {
    {"literal", 8},  {"list", 10},     {"slice", 5},     {"dict", 10},   {"tensor", 22},
    {"callable", 5}, {"parameter", 4}, {"iterator", 16}, {"set", 3},     {"enum", 3},
    {"object", 4},   {"module", 4},    {"numpy", 4},     {"partial", 3}, {"typing", 2},
    {"method", 2},   {"autograd", 3},  {"operator", 4},  {"special", 3}, {"pytree", 2},
    {"subclass", 4}, {"standin", 3},   {"optimizer", 6}, {"fxproxy", 4},
};

static struct {
    uint8_t  kind;
    uint32_t weight;
} const kinds[] = {
    {TD_KIND_INT, 22},  {TD_KIND_STR, 12},    {TD_KIND_LIST, 22},  {TD_KIND_TUPLE, 14},
    {TD_KIND_DICT, 18}, {TD_KIND_MEMBER, 18}, {TD_KIND_CALLEE, 5},
};

static struct {
    uint8_t  source;
    uint32_t weight;
} const sources[] = {
    {TD_SOURCE_LOCAL, 60}, {TD_SOURCE_GLOBAL, 15}, {TD_SOURCE_ATTR, 14},
    {TD_SOURCE_ITEM, 20},  {TD_SOURCE_CELL, 8},
};

static struct {
    uint8_t  change;
    uint32_t weight;
} const changes[] = {
    {TD_DO_APPEND, 12},
    {TD_DO_SETITEM, 12},
    {TD_DO_SETATTR, 8},
    {TD_DO_DELITEM, 6},
};

static void
may_set(bool *may, uint32_t const *weight, size_t cnt)
{
    for (size_t i = 0; i < cnt; i++) {
        may[i] = weight[i] != 0;
    }
}

/* What has a weight now is what may be. */
static void
may_hold(td_weights_t *weights)
{
    may_set(weights->may.kind, weights->kind, TD_WEIGHTS_KIND_CNT);
    may_set(weights->may.source, weights->source, TD_WEIGHTS_SOURCE_CNT);
    may_set(weights->may.entry, weights->entry, TD_WEIGHTS_ENTRY_CNT);
    may_set(weights->may.change, weights->change, TD_WEIGHTS_DO_CNT);
    for (size_t key = 0; key < TD_WEIGHTS_CONFIG_CNT; key++) {
        may_set(weights->may.config[key], weights->config[key], TD_WEIGHTS_VALUE_CNT);
    }
    weights->may.kind[TD_KIND_NONE] = true; /* what takes the place of all that can't be */
}

void
td_weights_init(td_weights_t *weights)
{
    memset(weights, 0, sizeof *weights);
    for (int tag = 0; tag < TD_WEIGHTS_KIND_CNT; tag++) {
        td_kind_info_t const *info = td_kind_info((uint8_t)tag);

        for (size_t f = 0; info != NULL && f < sizeof families / sizeof *families; f++) {
            if (strcmp(info->family, families[f].family) == 0) {
                weights->kind[tag] = families[f].weight;
            }
        }
        TD_ASSERT(info == NULL || weights->kind[tag] != 0);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        weights->kind[kinds[i].kind] = kinds[i].weight;
    }
    for (int tag = 0; tag < TD_WEIGHTS_SOURCE_CNT; tag++) {
        weights->source[tag] = td_source_info((uint8_t)tag) != NULL ? 4 : 0;
    }
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        weights->source[sources[i].source] = sources[i].weight;
    }
    for (int tag = 0; tag < TD_WEIGHTS_ENTRY_CNT; tag++) {
        weights->entry[tag] = td_entry_info((uint8_t)tag) != NULL ? 2 : 0;
    }
    weights->entry[TD_ENTRY_BUILD]      = 100;
    weights->entry[TD_ENTRY_SOURCELESS] = 5;
    for (int tag = 0; tag < TD_WEIGHTS_DO_CNT; tag++) {
        weights->change[tag] = td_do_info((uint8_t)tag) != NULL ? 3 : 0;
    }
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        weights->change[changes[i].change] = changes[i].weight;
    }
    for (size_t key = 0; key < td_config_cnt(); key++) {
        for (size_t value = 0; value < td_config_value_cnt(key); value++) {
            weights->config[key][value] = 3;
        }
    }
    weights->config[0][0] = 5; /* specialize_int = False: what "static" allows only now and then */
    weights->config_percent = 25;
    weights->export_percent = 5;
    weights->frames_percent = 55;
    weights->change_percent = 50;
    weights->share_percent  = 25;
    weights->alias_percent  = 15;
    weights->odd_percent    = 8;
    weights->drift_percent  = 100;
    may_hold(weights);
}

/* ---- lists of words ---- */

/* What a list names; `named` says of which sorts it names anything. */
typedef struct {
    td_weights_may_t kept, gone;
    struct {
        bool kind, source, entry, change, config;
    } named;
    bool export_mode, is_static;
} naming_t;

/* One word: what it names goes to set, and its sort to naming. */
typedef struct {
    naming_t         *naming;
    td_weights_may_t *set;
} word_t;

static bool
name_kinds(word_t at, char const *word, bool families_too)
{
    bool found = false;

    for (int tag = 0; tag < TD_WEIGHTS_KIND_CNT; tag++) {
        td_kind_info_t const *info = td_kind_info((uint8_t)tag);

        if (info != NULL && strcmp(families_too ? info->family : info->name, word) == 0) {
            at.set->kind[tag] = found = true;
        }
    }
    at.naming->named.kind |= found && at.set == &at.naming->kept;
    return found;
}

static bool
name_tag(word_t at, bool *set, bool *named, int tag)
{
    if (tag >= 0) {
        set[tag] = true;
        *named |= at.set == &at.naming->kept;
    }
    return tag >= 0;
}

static bool
name_config(word_t at, char const *word)
{
    int key = td_config_find(word);

    for (size_t value = 0; key >= 0 && value < td_config_value_cnt((size_t)key); value++) {
        name_tag(at, at.set->config[key], &at.naming->named.config, (int)value);
    }
    return key >= 0;
}

static bool
name_mode(naming_t *naming, char const *word)
{
    if (strcmp(word, "static") == 0) {
        naming->is_static = true;
    } else if (strcmp(word, "export") == 0) {
        naming->export_mode = true;
    } else if (strcmp(word, "plainkeys") == 0) {
        naming->kept.plain_keys = true;
    } else {
        return false;
    }
    return true;
}

/* "kind.choice", only ever taken away. */
static bool
name_choice(naming_t *naming, char const *word)
{
    char const *dot = strchr(word, '.');

    for (int tag = 0; dot != NULL && tag < TD_WEIGHTS_KIND_CNT; tag++) {
        td_kind_info_t const *info = td_kind_info((uint8_t)tag);
        size_t                cnt  = td_choice_cnt((uint8_t)tag);

        if (info == NULL || strlen(info->name) != (size_t)(dot - word) ||
            strncmp(info->name, word, strlen(info->name)) != 0) {
            continue;
        }
        for (size_t idx = 0; idx < cnt && idx < 64; idx++) {
            if (strcmp(td_choice_name((uint8_t)tag, idx), dot + 1) == 0) {
                naming->gone.choice_gone[tag] |= UINT64_C(1) << idx;
                return true;
            }
        }
    }
    return false;
}

/* The word behind "sort:"; the word itself when it says no sort; NULL when it has
   another one. */
static char const *
of_sort(char const *word, char const *sort)
{
    char const *colon = strchr(word, ':');

    if (colon == NULL) {
        return word;
    }
    return strlen(sort) == (size_t)(colon - word) && strncmp(word, sort, strlen(sort)) == 0
               ? colon + 1
               : NULL;
}

static bool
name_thing(word_t at, char const *word)
{
    naming_t   *naming = at.naming;
    char const *name;

    return ((name = of_sort(word, "family")) != NULL && name_kinds(at, name, true)) ||
           ((name = of_sort(word, "kind")) != NULL && name_kinds(at, name, false)) ||
           ((name = of_sort(word, "source")) != NULL &&
            name_tag(at, at.set->source, &naming->named.source, td_source_find(name))) ||
           ((name = of_sort(word, "config")) != NULL && name_config(at, name)) ||
           ((name = of_sort(word, "entry")) != NULL &&
            name_tag(at, at.set->entry, &naming->named.entry, td_entry_find(name))) ||
           ((name = of_sort(word, "change")) != NULL &&
            name_tag(at, at.set->change, &naming->named.change, td_do_find(name)));
}

static bool
name_word(naming_t *naming, char const *word)
{
    if (word[0] == '-') {
        return name_choice(naming, word + 1) ||
               name_thing((word_t){naming, &naming->gone}, word + 1);
    }
    return name_mode(naming, word) || name_thing((word_t){naming, &naming->kept}, word);
}

static void
keep(uint32_t *weight, bool const *kept, bool const *gone, size_t cnt, bool named)
{
    for (size_t i = 0; i < cnt; i++) {
        if ((named && !kept[i]) || gone[i]) {
            weight[i] = 0;
        }
    }
}

static bool
has_choice(td_weights_t const *weights, uint8_t kind)
{
    for (size_t idx = 0; idx < td_choice_cnt(kind); idx++) {
        if ((weights->may.choice_gone[kind] >> idx & 1) == 0) {
            return true;
        }
    }
    return td_choice_cnt(kind) == 0;
}

static void
apply_choices(td_weights_t *weights, naming_t const *naming)
{
    for (int tag = 0; tag < TD_WEIGHTS_KIND_CNT; tag++) {
        weights->may.choice_gone[tag] |= naming->gone.choice_gone[tag];
        if (!has_choice(weights, (uint8_t)tag)) {
            weights->kind[tag] = 0;
        }
    }
}

static void
apply(td_weights_t *weights, naming_t const *naming)
{
    td_weights_may_t const *kept = &naming->kept, *gone = &naming->gone;

    keep(weights->kind, kept->kind, gone->kind, TD_WEIGHTS_KIND_CNT, naming->named.kind);
    keep(weights->source, kept->source, gone->source, TD_WEIGHTS_SOURCE_CNT, naming->named.source);
    keep(weights->entry, kept->entry, gone->entry, TD_WEIGHTS_ENTRY_CNT, naming->named.entry);
    keep(weights->change, kept->change, gone->change, TD_WEIGHTS_DO_CNT, naming->named.change);
    for (size_t key = 0; key < TD_WEIGHTS_CONFIG_CNT; key++) {
        keep(weights->config[key], kept->config[key], gone->config[key], TD_WEIGHTS_VALUE_CNT,
             naming->named.config);
    }
    if (!naming->export_mode) {
        weights->export_percent = 0;
    }
    if (naming->is_static) {
        weights->drift_percent                   = 0;
        weights->change[TD_DO_MARK_DYNAMIC]      = 0;
        weights->change[TD_DO_MARK_WEAK_DYNAMIC] = 0;
    }
    weights->may.plain_keys |= kept->plain_keys;
    apply_choices(weights, naming);
    may_hold(weights);
}

static bool
any(uint32_t const *weight, size_t cnt)
{
    for (size_t i = 0; i < cnt; i++) {
        if (weight[i] != 0) {
            return true;
        }
    }
    return false;
}

static td_status_t
name_list(naming_t *naming, char const *list, char why[200])
{
    while (*list != '\0') {
        size_t sz = strcspn(list, ", \t\n");
        char   word[64];

        if (sz >= sizeof word) {
            snprintf(why, 200, "'%.60s...' is too long for a name", list);
            return TD_REJECT;
        }
        memcpy(word, list, sz);
        word[sz] = '\0';
        if (sz != 0 && !name_word(naming, word)) {
            snprintf(
                why, 200,
                "'%s' is no kind, family, source, config value, entry point or change of programs",
                word);
            return TD_REJECT;
        }
        list += sz + (list[sz] != '\0');
    }
    return TD_OK;
}

td_status_t
td_weights_only(td_weights_t *weights, char const *list, char why[200])
{
    naming_t    naming;
    td_status_t status;

    memset(&naming, 0, sizeof naming);
    why[0] = '\0';
    TD_TRY(name_list(&naming, list, why));
    apply(weights, &naming);
    if (!any(weights->kind, TD_WEIGHTS_KIND_CNT) || !any(weights->entry, TD_WEIGHTS_ENTRY_CNT)) {
        snprintf(why, 200, "no object kind or no entry point is left");
        status = TD_REJECT;
    }
done:
    return status;
}

/* ---- choices and keys ---- */

size_t
td_weights_choice(td_weights_t const *weights, td_rng_t *rng, uint8_t kind)
{
    size_t cnt = td_choice_cnt(kind), idx = (size_t)td_rng_below(rng, cnt);

    TD_ASSERT(cnt != 0 && cnt <= 64);
    for (size_t tries = 0; tries < cnt && (weights->may.choice_gone[kind] >> idx & 1) != 0;
         tries++) {
        idx = (idx + 1) % cnt;
    }
    return idx;
}

bool
td_weights_plain_key(td_prog_t const *prog, uint16_t idx)
{
    td_node_t const *node = &prog->nodes[idx];

    switch (node->kind) {
    case TD_KIND_NONE:
    case TD_KIND_BOOL:
    case TD_KIND_INT:
    case TD_KIND_BIGINT:
    case TD_KIND_FLOAT:
    case TD_KIND_STR:
    case TD_KIND_ENUM:
        return true;
    case TD_KIND_TUPLE:
        break;
    default:
        return false;
    }
    for (int i = 0; i < node->edge_cnt; i++) {
        if (prog->nodes[node->edge[i]].kind == TD_KIND_ENUM ||
            !td_weights_plain_key(prog, node->edge[i])) {
            return false;
        }
    }
    return true;
}

/* ---- swarms ---- */

/* Each weight is left out, kept, or made a quarter or four times as large. */
static void
swarm_weights(td_rng_t *rng, uint32_t *weight, size_t cnt, unsigned off_percent)
{
    static uint32_t const factor[] = {1, 4, 4, 16};

    for (size_t i = 0; i < cnt; i++) {
        bool     off  = td_rng_chance(rng, off_percent);
        uint64_t draw = td_rng_below(rng, sizeof factor / sizeof *factor);

        weight[i] *= off ? 0 : factor[draw];
    }
}

void
td_weights_swarm(td_weights_t const *weights, uint64_t seed, td_weights_t *swarm)
{
    td_rng_t rng;

    td_rng_init(&rng, seed);
    *swarm = *weights;
    swarm_weights(&rng, swarm->kind, TD_WEIGHTS_KIND_CNT, 20);
    swarm_weights(&rng, swarm->source, TD_WEIGHTS_SOURCE_CNT, 20);
    swarm_weights(&rng, swarm->change, TD_WEIGHTS_DO_CNT, 20);
    swarm->share_percent =
        (unsigned)td_rng_between(&rng, weights->share_percent / 2, weights->share_percent * 2);
    swarm->alias_percent =
        (unsigned)td_rng_between(&rng, weights->alias_percent / 2, weights->alias_percent * 2);
    /* What nothing can be made without. */
    if (!any(swarm->kind, TD_WEIGHTS_KIND_CNT)) {
        memcpy(swarm->kind, weights->kind, sizeof swarm->kind);
    }
    if (!any(swarm->source, TD_WEIGHTS_SOURCE_CNT)) {
        memcpy(swarm->source, weights->source, sizeof swarm->source);
    }
}

/* ---- the line of the log ---- */

static char const *
kind_name(size_t tag)
{
    return td_kind_info((uint8_t)tag)->name;
}

static char const *
source_name(size_t tag)
{
    return td_source_info((uint8_t)tag)->name;
}

static char const *
entry_name(size_t tag)
{
    return td_entry_info((uint8_t)tag)->name;
}

static char const *
change_name(size_t tag)
{
    return td_do_info((uint8_t)tag)->name;
}

static void
put_weights(td_writer_t *out, char const *title, uint32_t const *weight, size_t cnt,
            char const *(*name)(size_t))
{
    char const *comma = "";

    td_writer_put_format(out, "\"%s\": {", title);
    for (size_t i = 0; i < cnt; i++) {
        if (weight[i] != 0) {
            td_writer_put_format(out, "%s\"%s\": %u", comma, name(i), weight[i]);
            comma = ", ";
        }
    }
    td_writer_put_text(out, "}, ");
}

char *
td_weights_text(td_weights_t const *weights)
{
    td_writer_t out;
    char const *comma = "";

    td_writer_init(&out, SIZE_MAX);
    td_writer_put_u8(&out, '{');
    put_weights(&out, "kinds", weights->kind, TD_WEIGHTS_KIND_CNT, kind_name);
    put_weights(&out, "sources", weights->source, TD_WEIGHTS_SOURCE_CNT, source_name);
    put_weights(&out, "entries", weights->entry, TD_WEIGHTS_ENTRY_CNT, entry_name);
    put_weights(&out, "changes", weights->change, TD_WEIGHTS_DO_CNT, change_name);
    td_writer_put_text(&out, "\"config\": [");
    for (size_t key = 0; key < td_config_cnt(); key++) {
        if (any(weights->config[key], TD_WEIGHTS_VALUE_CNT)) {
            td_writer_put_format(&out, "%s\"%s\"", comma, td_config_name(key));
            comma = ", ";
        }
    }
    td_writer_put_format(&out, "], \"export_percent\": %u, \"drift_percent\": %u}",
                         weights->export_percent, weights->drift_percent);
    return (char *)td_writer_take(&out, NULL);
}
