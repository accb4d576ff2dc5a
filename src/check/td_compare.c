/* td_compare.c: where two frames differ, and what that place is called. */
#include "check/td_check_private.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"

/* One frame under comparison. */
typedef struct {
    td_check_t      *check;
    td_plan_t const *plan;
    size_t           frame;
    size_t           end;
} place_t;

/* ---- who decided ------------------------------------------------------------------ */

/* The row whose path is the longest beginning of path, at a border of a name. */
static td_run_row_t const *
trail_find(td_run_frame_t const *frame, char const *path)
{
    td_run_row_t const *best    = NULL;
    size_t              best_sz = 0;

    for (size_t idx = 0; idx < frame->trail_cnt; idx++) {
        td_run_row_t const *row    = &frame->trail[idx];
        size_t              sz     = strlen(row->path);
        bool                border = strncmp(path, row->path, sz) == 0 &&
                      (path[sz] == '\0' || strchr(".[", path[sz]) != NULL);

        if (border && (best == NULL || sz >= best_sz)) {
            best    = row;
            best_sz = sz;
        }
    }
    return best;
}

/* The step that a path inside a frame belongs to; what stands outside all roots
   is blamed on the last one that was built. */
static size_t
step_of(place_t const *place, char const *path)
{
    unsigned long root;
    size_t        last  = 0;
    size_t        cnt   = 0;
    char const   *roots = strstr(path, "roots[");

    if (roots == NULL || sscanf(roots, "roots[%lu]", &root) != 1) {
        root = ULONG_MAX;
    }
    for (size_t step = 0; step < place->end; step++) {
        if (td_plan_is_root(place->plan, place->frame, step)) {
            last = step;
            if (cnt++ == root) {
                break;
            }
        }
    }
    return last;
}

static char const *
entry_at(place_t const *place, size_t step)
{
    return step < place->plan->step_cnt[place->frame] ? place->plan->entries[place->frame][step]
                                                      : "build";
}

static td_outcome_t const *
outcome_at(place_t const *place, td_which_t which, size_t step)
{
    td_run_frame_t const *frame = &place->check->runs[which].frames[place->frame];

    return step < frame->outcome_cnt ? &frame->outcomes[step] : NULL;
}

static void
deciders(place_t const *place, char const *path, size_t step, td_finding_t *finding)
{
    td_outcome_t const *outcome[TD_SIDE_CNT];
    td_run_row_t const *row[TD_SIDE_CNT] = {NULL, NULL};

    for (size_t which = 0; which < TD_SIDE_CNT; which++) {
        td_run_t const *again = &place->check->again[which];

        outcome[which] = outcome_at(place, which, step);
        if (place->frame < again->frame_cnt) {
            row[which] = trail_find(&again->frames[place->frame], path);
        }
    }
    finding->arm              = "";
    finding->subject_function = "";
    if (row[TD_SIDE_REFERENCE] != NULL) {
        finding->arm = row[TD_SIDE_REFERENCE]->arm;
    } else if (outcome[TD_SIDE_REFERENCE] != NULL) {
        finding->arm = outcome[TD_SIDE_REFERENCE]->arm;
    }
    if (row[TD_SIDE_SUBJECT] != NULL) {
        finding->subject_function = row[TD_SIDE_SUBJECT]->function;
    } else if (outcome[TD_SIDE_SUBJECT] != NULL) {
        finding->subject_function = outcome[TD_SIDE_SUBJECT]->function;
    }
}

/* ---- one difference ------------------------------------------------------------------ */

static char const *
json_of(td_check_t *check, td_val_t val)
{
    char       *json;
    char const *kept;

    if (val == TD_VAL_NONE) {
        return "";
    }
    json = td_obs_json(check->obs, val, false);
    kept = td_report_keep(check, json == NULL ? "" : json);
    td_free(json);
    return kept;
}

static td_status_t
add_diff(place_t const *place, td_obs_diff_t const *diffs, size_t idx, size_t cnt, bool *diverges)
{
    td_obs_diff_t const *diff    = &diffs[idx];
    size_t               step    = step_of(place, diff->path);
    td_finding_t         finding = {
                .entry = entry_at(place, step),
                .path  = td_report_keepf(place->check, "frames[%zu].%s", place->frame, diff->path),
                .field = diff->field,
                .reference = json_of(place->check, diff->reference),
                .subject   = json_of(place->check, diff->subject),
                .diffs     = diffs,
                .diff_cnt  = cnt,
                .outside   = strstr(diff->path, "roots[") == NULL,
    };

    deciders(place, diff->path, step, &finding);
    if (step < place->end) {
        diverges[step] = true;
    }
    return td_report_add(place->check, &finding);
}

/* A frame that one side could not write down, or wrote in no canonical form. */
static td_status_t
add_unreadable(place_t const *place, char const *reference, char const *subject, bool *diverges)
{
    td_obs_t const *obs     = place->check->obs;
    td_finding_t    finding = {
           .entry     = "build",
           .path      = td_report_keepf(place->check, "frames[%zu]", place->frame),
           .field     = "Frame",
           .reference = reference,
           .subject   = td_report_quote(
                 place->check, td_report_keepf(place->check, "%s: %s", subject, td_obs_why(obs))),
           .what = subject,
    };

    deciders(place, "", 0, &finding);
    if (place->end > 0) {
        diverges[step_of(place, "")] = true;
    }
    return td_report_add(place->check, &finding);
}

static td_status_t
decode(td_check_t *check, td_run_frame_t const *frame, td_val_t *val)
{
    *val = TD_VAL_NONE;
    return frame->bytes == NULL ? TD_REJECT
                                : td_obs_decode(check->obs, frame->bytes, frame->bytes_sz, val);
}

static td_status_t
compare_values(place_t const *place, td_val_t reference, td_val_t subject, bool *diverges)
{
    td_status_t   status = TD_OK;
    td_obs_diff_t diffs[TD_DIVERGENCE_CNT_MAX];
    size_t cnt = td_obs_diff(place->check->obs, reference, subject, diffs, TD_DIVERGENCE_CNT_MAX);

    if (cnt == 0) {
        snprintf(place->check->sides[TD_SIDE_SUBJECT]->why, sizeof place->check->sides[0]->why,
                 "frame %zu: the bytes differ and no value does", place->frame);
        return TD_INTERNAL;
    }
    for (size_t idx = 0; idx < cnt; idx++) {
        TD_TRY(add_diff(place, diffs, idx, cnt, diverges));
    }
done:
    return status;
}

static bool
same_bytes(td_run_frame_t const *a, td_run_frame_t const *b)
{
    if (a->bytes == NULL && b->bytes == NULL) {
        return true; /* a context that was cut before its first call */
    }
    return a->bytes != NULL && b->bytes != NULL && a->bytes_sz == b->bytes_sz &&
           memcmp(a->bytes, b->bytes, a->bytes_sz) == 0;
}

td_status_t
td_compare_frame(td_check_t *check, td_plan_t const *plan, size_t frame_idx, size_t end,
                 bool *diverges, bool *differs)
{
    td_status_t           status;
    td_val_t              values[TD_SIDE_CNT];
    place_t               place = {.check = check, .plan = plan, .frame = frame_idx, .end = end};
    td_run_frame_t const *reference = &check->runs[TD_SIDE_REFERENCE].frames[frame_idx];
    td_run_frame_t const *subject   = &check->runs[TD_SIDE_SUBJECT].frames[frame_idx];

    *differs = !same_bytes(reference, subject);
    if (!*differs) {
        return TD_OK;
    }
    td_obs_reset(check->obs);
    status = decode(check, reference, &values[TD_SIDE_REFERENCE]);
    if (status != TD_OK) {
        snprintf(check->sides[TD_SIDE_REFERENCE]->why, sizeof check->sides[0]->why,
                 "frame %zu: the reference's observation cannot be read: %s", frame_idx,
                 td_obs_why(check->obs));
        return TD_INTERNAL;
    }
    status = decode(check, subject, &values[TD_SIDE_SUBJECT]);
    if (status == TD_REJECT) {
        return add_unreadable(&place, "\"a frame\"", "not canonical", diverges);
    }
    return status != TD_OK ? status
                           : compare_values(&place, values[TD_SIDE_REFERENCE],
                                            values[TD_SIDE_SUBJECT], diverges);
}

/* ---- the frame state alone ------------------------------------------------------------- */

static td_val_t
field_get(td_obs_t const *obs, td_val_t record, td_field_t field)
{
    for (size_t idx = 0;
         td_obs_kind(obs, record) == TD_VAL_RECORD && idx < td_obs_get_cnt(obs, record); idx++) {
        if (td_obs_get_field(obs, record, idx) == field) {
            return td_obs_get_item(obs, record, idx);
        }
    }
    return TD_VAL_NONE;
}

td_status_t
td_compare_state(td_check_t *check, td_run_frame_t const *a, td_run_frame_t const *b, bool *differs)
{
    td_val_t left, right;

    *differs = true;
    td_obs_reset(check->obs);
    if (decode(check, a, &left) != TD_OK || decode(check, b, &right) != TD_OK) {
        return td_obs_status(check->obs) == TD_NOMEM ? TD_NOMEM : TD_OK;
    }
    left  = field_get(check->obs, left, TD_FIELD_Frame_frame_state);
    right = field_get(check->obs, right, TD_FIELD_Frame_frame_state);
    /* Values are interned: equal ones have equal ids. */
    *differs = left == TD_VAL_NONE || left != right;
    return TD_OK;
}
