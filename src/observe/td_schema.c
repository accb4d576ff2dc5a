/* td_schema.c: the tables that classes.def and fields.def describe. */
#include "observe/td_schema.h"

#include <string.h>
#include <threads.h>

#include "base/td_assert.h"

static char const *const class_names[TD_CLASS_CNT] = {
    [TD_CLASS_NONE] = "",
#define X(class_name, parent) [TD_CLASS_##class_name] = #class_name,
#include "observe/classes.def"
#undef X
};

static td_class_t const class_parents[TD_CLASS_CNT] = {
#define X(class_name, parent) [TD_CLASS_##class_name] = TD_CLASS_##parent,
#include "observe/classes.def"
#undef X
};

static td_field_info_t const field_table[TD_FIELD_CNT] = {
    [TD_FIELD_NONE] = {"", "", TD_CLASS_NONE, TD_IGNORED, "", TD_FORM_NONE},
#define X(class_name, attribute, disposition, why, form)                                          \
    [TD_FIELD_##class_name##_##attribute] = {#class_name,      #attribute, TD_CLASS_##class_name, \
                                             TD_##disposition, why,        TD_FORM_##form},
#include "observe/fields.def"
#undef X
};

typedef struct {
    td_field_t fields[TD_CLASS_FIELD_CNT_MAX];
    size_t     field_cnt;
} class_fields_t;

/* Derived from the constant tables above, once; the same in every process. */
static class_fields_t class_fields[TD_CLASS_CNT];
static uint32_t       fingerprint;
static once_flag      derived = ONCE_FLAG_INIT;

td_field_info_t const *
td_field_info(td_field_t field)
{
    return field < TD_FIELD_CNT ? &field_table[field] : NULL;
}

char const *
td_class_name(td_class_t class_id)
{
    return class_id < TD_CLASS_CNT ? class_names[class_id] : "";
}

td_class_t
td_class_parent(td_class_t class_id)
{
    return class_id < TD_CLASS_CNT ? class_parents[class_id] : TD_CLASS_NONE;
}

td_class_t
td_class_find(char const *name)
{
    for (td_class_t class_id = TD_CLASS_NONE + 1; class_id < TD_CLASS_CNT; class_id++) {
        if (strcmp(class_names[class_id], name) == 0) {
            return class_id;
        }
    }
    return TD_CLASS_NONE;
}

bool
td_class_is_a(td_class_t class_id, td_class_t ancestor)
{
    while (class_id != TD_CLASS_NONE && class_id != ancestor) {
        class_id = td_class_parent(class_id);
    }
    return class_id != TD_CLASS_NONE;
}

/* A class's own row, not its parents'. */
static td_field_t
own_field_find(td_class_t class_id, char const *attribute)
{
    for (td_field_t field = TD_FIELD_NONE + 1; field < TD_FIELD_CNT; field++) {
        if (field_table[field].class_id == class_id &&
            strcmp(field_table[field].attribute, attribute) == 0) {
            return field;
        }
    }
    return TD_FIELD_NONE;
}

td_field_t
td_field_find(td_class_t class_id, char const *attribute)
{
    td_field_t field = TD_FIELD_NONE;

    while (class_id != TD_CLASS_NONE && field == TD_FIELD_NONE) {
        field    = own_field_find(class_id, attribute);
        class_id = td_class_parent(class_id);
    }
    return field;
}

static void
class_fields_derive(td_class_t class_id)
{
    class_fields_t *list = &class_fields[class_id];

    for (td_field_t field = TD_FIELD_NONE + 1; field < TD_FIELD_CNT; field++) {
        td_field_info_t const *info = &field_table[field];

        if (info->disposition != TD_COMPARED || !td_class_is_a(class_id, info->class_id) ||
            td_field_find(class_id, info->attribute) != field) {
            continue;
        }
        TD_ASSERT(list->field_cnt < TD_CLASS_FIELD_CNT_MAX);
        list->fields[list->field_cnt++] = field;
    }
}

/* FNV-1a with the terminating NUL, so that "a","bc" is not "ab","c". */
static uint32_t
text_hash(uint32_t hash, char const *text)
{
    do {
        hash = (hash ^ (uint8_t)*text) * 16777619u;
    } while (*text++ != '\0');
    return hash;
}

static void
derive(void)
{
    uint32_t hash = 2166136261u;

    for (td_class_t class_id = TD_CLASS_NONE + 1; class_id < TD_CLASS_CNT; class_id++) {
        class_fields_derive(class_id);
        hash = text_hash(hash, class_names[class_id]);
        for (size_t idx = 0; idx < class_fields[class_id].field_cnt; idx++) {
            hash = text_hash(hash, field_table[class_fields[class_id].fields[idx]].attribute);
        }
    }
    fingerprint = hash;
}

td_field_t const *
td_class_fields(td_class_t class_id, size_t *field_cnt)
{
    call_once(&derived, derive);
    if (class_id == TD_CLASS_NONE || class_id >= TD_CLASS_CNT) {
        *field_cnt = 0;
        return NULL;
    }
    *field_cnt = class_fields[class_id].field_cnt;
    return class_fields[class_id].fields;
}

uint32_t
td_schema_fingerprint(void)
{
    call_once(&derived, derive);
    return fingerprint;
}
