/* value_text.h: values written as text, for the tables of this room's tests.

       null true false absent 5 -1.5 'text' [a, b] list, (a, b) bag
       ListVariable{items=[...], source=...} a record; attributes left out are null
       L'x' a LocalSource; G'x' a GlobalSource

   Text that is none of this is a bug of the test and ends it. */
#ifndef TESTS_OBSERVE_VALUE_TEXT_H
#define TESTS_OBSERVE_VALUE_TEXT_H

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "observe/td_forms.h"
#include "observe/td_obs.h"

enum { VALUE_TEXT_ITEM_CNT_MAX = 64 };

typedef struct {
    td_obs_t   *obs;
    char const *at;
} value_text_t;

static td_val_t value_text_read(value_text_t *text);

static void
value_text_blank(value_text_t *text)
{
    while (isspace((unsigned char)*text->at)) {
        text->at++;
    }
}

static bool
value_text_take(value_text_t *text, char const *word)
{
    size_t sz = strlen(word);

    value_text_blank(text);
    if (strncmp(text->at, word, sz) != 0) {
        return false;
    }
    text->at += sz;
    return true;
}

static void
value_text_must(value_text_t *text, char const *word)
{
    if (!value_text_take(text, word)) {
        fail_msg("value text: %s expected at: %s", word, text->at);
    }
}

static size_t
value_text_word_sz(char const *word)
{
    size_t sz = 0;

    while (isalnum((unsigned char)word[sz]) || word[sz] == '_') {
        sz++;
    }
    return sz;
}

static td_val_t
value_text_quoted(value_text_t *text, char which)
{
    char const *begin = text->at;
    char const *end   = strchr(begin, '\'');

    if (end == NULL) {
        fail_msg("value text: no closing quote: %s", begin);
        return TD_VAL_NONE;
    }
    text->at = end + 1;
    if (which == 'L') {
        return td_form_local(text->obs, begin, (size_t)(end - begin), false);
    }
    return which == 'G' ? td_form_global_source(text->obs, begin, (size_t)(end - begin))
                        : td_obs_str(text->obs, begin, (size_t)(end - begin));
}

static td_val_t
value_text_items(value_text_t *text, char const *close)
{
    td_val_t items[VALUE_TEXT_ITEM_CNT_MAX];
    size_t   cnt = 0;

    while (!value_text_take(text, close)) {
        if (cnt != 0) {
            value_text_must(text, ",");
        }
        assert_true(cnt < VALUE_TEXT_ITEM_CNT_MAX);
        items[cnt++] = value_text_read(text);
    }
    return *close == ']' ? td_obs_list(text->obs, items, cnt) : td_obs_bag(text->obs, items, cnt);
}

static td_val_t
value_text_record(value_text_t *text, td_class_t class_id)
{
    td_obs_field_t    fields[TD_CLASS_FIELD_CNT_MAX];
    size_t            cnt;
    td_field_t const *order = td_class_fields(class_id, &cnt);

    for (size_t idx = 0; idx < cnt; idx++) {
        fields[idx] = (td_obs_field_t){order[idx], td_obs_null(text->obs)};
    }
    for (bool first = true; !value_text_take(text, "}"); first = false) {
        char       name[64];
        size_t     sz, idx = 0;
        td_field_t field;

        if (!first) {
            value_text_must(text, ",");
        }
        value_text_blank(text);
        sz = value_text_word_sz(text->at);
        assert_true(sz < sizeof name);
        memcpy(name, text->at, sz);
        name[sz] = '\0';
        text->at += sz;
        value_text_must(text, "=");
        field = td_field_find(class_id, name);
        while (idx < cnt && order[idx] != field) {
            idx++;
        }
        if (idx == cnt) {
            fail_msg("value text: no attribute %s", name);
            return TD_VAL_NONE;
        }
        fields[idx].value = value_text_read(text);
    }
    return td_obs_record(text->obs, class_id, fields, cnt);
}

static td_val_t
value_text_number(value_text_t *text)
{
    char     *end;
    long long number = strtoll(text->at, &end, 10);

    if (*end == '.') {
        double value = strtod(text->at, &end);

        text->at = end;
        return td_obs_float(text->obs, value);
    }
    if (end == text->at) {
        fail_msg("value text: nothing known at: %s", text->at);
    }
    text->at = end;
    return td_obs_int(text->obs, number);
}

static td_val_t
value_text_read(value_text_t *text)
{
    char   name[64] = "";
    size_t sz;

    value_text_blank(text);
    sz = value_text_word_sz(text->at);
    if (value_text_take(text, "null")) {
        return td_obs_null(text->obs);
    }
    if (value_text_take(text, "true")) {
        return td_obs_bool(text->obs, true);
    }
    if (value_text_take(text, "false")) {
        return td_obs_bool(text->obs, false);
    }
    if (value_text_take(text, "absent")) {
        return td_obs_absent(text->obs);
    }
    if (value_text_take(text, "L'") || value_text_take(text, "G'")) {
        return value_text_quoted(text, text->at[-2]);
    }
    if (value_text_take(text, "'")) {
        return value_text_quoted(text, '\'');
    }
    if (value_text_take(text, "[")) {
        return value_text_items(text, "]");
    }
    if (value_text_take(text, "(")) {
        return value_text_items(text, ")");
    }
    if (text->at[sz] == '{' && sz < sizeof name) {
        memcpy(name, text->at, sz);
        text->at += sz + 1;
        assert_int_not_equal(td_class_find(name), TD_CLASS_NONE);
        return value_text_record(text, td_class_find(name));
    }
    return value_text_number(text);
}

static td_val_t
value_of(td_obs_t *obs, char const *source)
{
    value_text_t text = {obs, source};
    td_val_t     val  = value_text_read(&text);

    value_text_blank(&text);
    if (*text.at != '\0') {
        fail_msg("value text: what is this: %s", text.at);
    }
    assert_int_equal(td_obs_status(obs), TD_OK);
    return val;
}

#endif
