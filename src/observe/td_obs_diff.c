/* td_obs_diff.c: where two values differ, each place with an address. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "base/td_limits.h"
#include "observe/td_obs.h"
#include "observe/td_obs_private.h"

/* One step from the root towards the place that is looked at.  Steps lie on the
   stack of the search, each pointing at the one before it; only a difference
   makes text of them. */
typedef struct step step_t;
struct step {
    step_t const *before;  /* NULL at the root */
    td_field_t    field;   /* a record's attribute, or TD_FIELD_NONE */
    size_t        idx;     /* of a list, when field is none */
    bool          is_pair; /* idx 0 is a key, 1 its value */
};

typedef struct {
    td_obs_t      *obs;
    td_obs_diff_t *diffs;
    size_t         diff_cnt, diff_max;
    uint64_t      *seen; /* owned: pairs of records, open addressing, 0 free */
    size_t         seen_cnt, seen_cap;
} search_t;

/* ---- addresses --------------------------------------------------------------- */

/* What one step adds to a path: at most sz bytes, always with a NUL. */
static size_t
step_text(step_t const *step, char *out, size_t sz)
{
    td_field_info_t const *info = td_field_info(step->field);
    int                    len;

    if (step->field != TD_FIELD_NONE) {
        len = snprintf(out, sz, "%s%s", step->before != NULL ? "." : "", info->attribute);
    } else if (step->is_pair) {
        len = snprintf(out, sz, "%s", step->idx == 0 ? ".key" : ".value");
    } else {
        len = snprintf(out, sz, "[%zu]", step->idx);
    }
    TD_ASSERT(len >= 0);
    return (size_t)len;
}

static char const *
path_text(td_obs_t *obs, step_t const *last)
{
    size_t sz = 0;
    char  *path;

    for (step_t const *step = last; step != NULL; step = step->before) {
        sz += step_text(step, NULL, 0);
    }
    path = td_arena_alloc(&obs->arena, sz + 1);
    if (path == NULL) {
        td_obs_fail(obs, TD_NOMEM, "no memory");
        return "";
    }
    for (step_t const *step = last; step != NULL; step = step->before) {
        char   part[128];
        size_t len = step_text(step, part, sizeof part);

        TD_ASSERT(len < sizeof part);
        sz -= len;
        memcpy(path + sz, part, len);
    }
    return path;
}

static char const *
field_text(td_obs_t *obs, char const *class_name, char const *attribute)
{
    size_t sz   = strlen(class_name) + strlen(attribute) + 2;
    char  *text = td_arena_alloc(&obs->arena, sz);

    if (text == NULL) {
        td_obs_fail(obs, TD_NOMEM, "no memory");
        return "";
    }
    snprintf(text, sz, "%s.%s", class_name, attribute);
    return text;
}

static bool
is_record(td_obs_t const *obs, td_val_t val)
{
    return val != TD_VAL_NONE && obs->vals[val].kind == TD_VAL_RECORD;
}

static void
report(search_t *search, step_t const *step, td_class_t owner, td_val_t reference, td_val_t subject)
{
    td_obs_t      *obs  = search->obs;
    td_obs_diff_t *diff = &search->diffs[search->diff_cnt];
    step_t const  *at   = step;

    TD_ASSERT(search->diff_cnt < search->diff_max);
    while (at != NULL && at->field == TD_FIELD_NONE) {
        at = at->before;
    }
    *diff = (td_obs_diff_t){path_text(obs, step), "", reference, subject};
    if (is_record(obs, reference) && is_record(obs, subject) &&
        obs->vals[reference].class_id != obs->vals[subject].class_id) {
        diff->field = field_text(obs, td_class_name(td_obs_get_class(obs, reference)), "kind");
    } else if (at != NULL) {
        diff->field = field_text(obs, td_class_name(owner), td_field_info(at->field)->attribute);
    }
    search->diff_cnt += obs->status == TD_OK;
}

/* ---- pairs seen before --------------------------------------------------------- */

static uint64_t *
seen_slot(search_t const *search, uint64_t pair)
{
    size_t slot = (size_t)(pair * UINT64_C(0x9E3779B97F4A7C15) >> 32) & (search->seen_cap - 1);

    while (search->seen[slot] != 0 && search->seen[slot] != pair) {
        slot = (slot + 1) & (search->seen_cap - 1);
    }
    return &search->seen[slot];
}

static bool
seen_grow(search_t *search)
{
    search_t  old   = *search;
    size_t    cap   = old.seen_cap != 0 ? old.seen_cap * 2 : 64;
    uint64_t *grown = td_calloc(cap, sizeof *grown);

    if (grown == NULL) {
        td_obs_fail(search->obs, TD_NOMEM, "no memory");
        return false;
    }
    search->seen     = grown;
    search->seen_cap = cap;
    for (size_t slot = 0; slot < old.seen_cap; slot++) {
        if (old.seen[slot] != 0) {
            *seen_slot(search, old.seen[slot]) = old.seen[slot];
        }
    }
    td_free(old.seen);
    return true;
}

static bool
is_new_pair(search_t *search, td_val_t reference, td_val_t subject)
{
    uint64_t  pair = (uint64_t)reference << 32 | subject;
    uint64_t *slot;

    if (search->seen_cnt >= search->seen_cap / 2 && !seen_grow(search)) {
        return false;
    }
    slot = seen_slot(search, pair);
    if (*slot == pair) {
        return false;
    }
    *slot = pair;
    search->seen_cnt++;
    return true;
}

/* ---- the search ---------------------------------------------------------------- */

static void compare(search_t *search, step_t const *step, td_class_t owner, td_val_t reference,
                    td_val_t subject);

static bool
is_done(search_t const *search)
{
    return search->diff_cnt == search->diff_max || search->obs->status != TD_OK;
}

static void
compare_records(search_t *search, step_t const *step, td_val_t reference, td_val_t subject)
{
    td_obs_t  *obs      = search->obs;
    td_class_t class_id = td_obs_get_class(obs, reference);
    size_t     cnt      = td_obs_get_cnt(obs, reference);

    if (!is_new_pair(search, reference, subject)) {
        return;
    }
    for (size_t idx = 0; idx < cnt && !is_done(search); idx++) {
        step_t next = {.before = step, .field = td_obs_get_field(obs, reference, idx)};

        compare(search, &next, class_id, td_obs_get_item(obs, reference, idx),
                td_obs_get_item(obs, subject, idx));
    }
}

/* The members of a dict of trackers are pairs of a key and its value. */
static bool
holds_pairs(step_t const *step)
{
    return step != NULL && step->field == TD_FIELD_NONE && !step->is_pair && step->before != NULL &&
           step->before->field != TD_FIELD_NONE &&
           td_field_info(step->before->field)->form == TD_FORM_TRACKER_DICT;
}

static void
compare_lists(search_t *search, step_t const *step, td_class_t owner, td_val_t reference,
              td_val_t subject)
{
    td_obs_t *obs           = search->obs;
    size_t    reference_cnt = td_obs_get_cnt(obs, reference);
    size_t    subject_cnt   = td_obs_get_cnt(obs, subject);

    for (size_t idx = 0; (idx < reference_cnt || idx < subject_cnt) && !is_done(search); idx++) {
        step_t   next = {.before = step, .idx = idx, .is_pair = holds_pairs(step)};
        td_val_t one  = idx < reference_cnt ? td_obs_get_item(obs, reference, idx) : TD_VAL_NONE;
        td_val_t two  = idx < subject_cnt ? td_obs_get_item(obs, subject, idx) : TD_VAL_NONE;

        compare(search, &next, owner, one, two);
    }
}

/* Both sides are sorted alike, so that equal members meet. */
static void
compare_bags(search_t *search, step_t const *step, td_class_t owner, td_val_t reference,
             td_val_t subject)
{
    td_obs_t *obs           = search->obs;
    size_t    reference_cnt = td_obs_get_cnt(obs, reference), reference_idx = 0;
    size_t    subject_cnt = td_obs_get_cnt(obs, subject), subject_idx = 0;

    while ((reference_idx < reference_cnt || subject_idx < subject_cnt) && !is_done(search)) {
        td_val_t one = TD_VAL_NONE, two = TD_VAL_NONE;
        int      order;

        if (reference_idx < reference_cnt) {
            one = td_obs_get_item(obs, reference, reference_idx);
        }
        if (subject_idx < subject_cnt) {
            two = td_obs_get_item(obs, subject, subject_idx);
        }
        order = one == TD_VAL_NONE ? 1 : two == TD_VAL_NONE ? -1 : td_obs_cmp(obs, one, two);
        reference_idx += order <= 0;
        subject_idx += order >= 0;
        if (order != 0) {
            report(search, step, owner, order < 0 ? one : TD_VAL_NONE,
                   order > 0 ? two : TD_VAL_NONE);
        }
    }
}

/* owner is the class of the record that the innermost attribute of step is of. */
static void
compare(search_t *search, step_t const *step, td_class_t owner, td_val_t reference,
        td_val_t subject)
{
    td_obs_row_t const *one = &search->obs->vals[reference];
    td_obs_row_t const *two = &search->obs->vals[subject];

    if (reference == subject) {
        return;
    }
    if (reference == TD_VAL_NONE || subject == TD_VAL_NONE || one->kind != two->kind ||
        one->class_id != two->class_id ||
        (td_form_is_form(search->obs, reference) && td_form_is_form(search->obs, subject))) {
        report(search, step, owner, reference, subject);
    } else if (one->kind == TD_VAL_RECORD) {
        compare_records(search, step, reference, subject);
    } else if (one->kind == TD_VAL_LIST) {
        compare_lists(search, step, owner, reference, subject);
    } else if (one->kind == TD_VAL_BAG) {
        compare_bags(search, step, owner, reference, subject);
    } else {
        report(search, step, owner, reference, subject);
    }
}

size_t
td_obs_diff(td_obs_t *obs, td_val_t reference, td_val_t subject, td_obs_diff_t *diffs,
            size_t diff_max)
{
    search_t search = {.obs = obs, .diffs = diffs, .diff_max = diff_max};

    if (obs->status != TD_OK || diff_max == 0) {
        return 0;
    }
    TD_ASSERT(reference < obs->val_cnt);
    TD_ASSERT(subject < obs->val_cnt);
    if (reference == TD_VAL_NONE || subject == TD_VAL_NONE) {
        if (reference != subject) {
            report(&search, NULL, TD_CLASS_NONE, reference, subject);
        }
        return search.diff_cnt;
    }
    compare(&search, NULL, TD_CLASS_NONE, reference, subject);
    td_free(search.seen);
    return search.diff_cnt;
}
