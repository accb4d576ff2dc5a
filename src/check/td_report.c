/* td_report.c: what a judgement looks like when it is handed out. */
#include "check/td_check_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"
#include "base/td_writer.h"
#include "observe/td_signature.h"

char const *
td_report_keep(td_check_t *check, char const *text)
{
    char *copy = td_arena_dup(&check->arena, text, strlen(text));

    return copy == NULL ? "" : copy;
}

char const *
td_report_keepf(td_check_t *check, char const *format, ...)
{
    char    text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return td_report_keep(check, text);
}

char const *
td_report_quote(td_check_t *check, char const *text)
{
    td_obs_t   *obs  = td_obs_new(); /* owned: check's own may hold a frame */
    char       *json = obs == NULL ? NULL : td_obs_json(obs, td_obs_cstr(obs, text), false);
    char const *kept = td_report_keep(check, json == NULL ? "" : json);

    td_free(json);
    td_obs_free(obs);
    return kept;
}

/* ---- signatures ------------------------------------------------------------------ */

/* "VariableBuilder._wrap: condition", "" for an unknown id. */
static char const *
arm_text(td_check_t const *check, char const *arm)
{
    size_t cnt = td_reference_arm_cnt(check->reference);

    for (size_t idx = 0; idx < cnt; idx++) {
        if (strcmp(td_reference_arm_id(check->reference, idx), arm) == 0) {
            return td_reference_arm_text(check->reference, idx);
        }
    }
    return "";
}

static char const *
sign_values(td_check_t *check, td_finding_t const *finding)
{
    char                 function[256];
    char const          *text  = finding->outside ? "" : arm_text(check, finding->arm);
    char const          *colon = strstr(text, ": ");
    td_signature_parts_t parts = {
        .diffs     = finding->diffs,
        .diff_cnt  = finding->diff_cnt,
        .entry     = finding->entry,
        .function  = function,
        .condition = colon == NULL ? "" : colon + 2,
    };

    snprintf(function, sizeof function, "%.*s",
             (int)(colon == NULL ? strlen(text) : (size_t)(colon - text)), text);
    return td_signature_text(check->obs, &parts);
}

/* The part of a signature between its idx-th and next bar. */
static char const *
part_of(td_check_t *check, char const *signature, size_t idx)
{
    char const *end;

    for (; idx > 0 && signature != NULL; idx--) {
        signature = strstr(signature, " | ");
        signature = signature == NULL ? NULL : signature + 3;
    }
    end = signature == NULL ? NULL : strstr(signature, " | ");
    return end == NULL ? "" : td_report_keepf(check, "%.*s", (int)(end - signature), signature);
}

static td_status_t
sign(td_check_t *check, td_finding_t const *finding)
{
    td_report_t *report = &check->report;
    char const  *text =
        finding->diffs != NULL
             ? sign_values(check, finding)
             : td_report_keepf(check, "%s | %s | | %s | %s", finding->entry, finding->field,
                               finding->what, arm_text(check, finding->arm));

    if (text == NULL) {
        return TD_NOMEM;
    }
    report->signature = td_report_keep(check, text);
    report->headline  = td_report_keepf(check, "%s %s %s", part_of(check, text, 0),
                                        part_of(check, text, 1), part_of(check, text, 3));
    td_signature_hash(text, report->signature_hash);
    return TD_OK;
}

td_status_t
td_report_add(td_check_t *check, td_finding_t const *finding)
{
    td_report_t *report = &check->report;

    if (report->divergence_cnt == 0 && sign(check, finding) != TD_OK) {
        return TD_NOMEM;
    }
    if (report->divergence_cnt == TD_DIVERGENCE_CNT_MAX) {
        return TD_OK;
    }
    report->divergences[report->divergence_cnt++] = (td_divergence_t){
        .path             = td_report_keep(check, finding->path),
        .field            = td_report_keep(check, finding->field),
        .reference        = td_report_keep(check, finding->reference),
        .subject          = td_report_keep(check, finding->subject),
        .arm              = td_report_keep(check, finding->arm),
        .function         = td_report_keep(check, arm_text(check, finding->arm)),
        .subject_function = td_report_keep(check, finding->subject_function),
    };
    return TD_OK;
}

/* ---- observations as JSON ----------------------------------------------------------- */

/* How a value is written: as JSON, or as a tree for people. */
typedef char *(*spell_t)(td_obs_t *obs, td_val_t val, bool style);

static td_status_t
frame_put(td_check_t *check, td_run_frame_t const *frame, spell_t spell, td_writer_t *text)
{
    td_val_t    val;
    char       *written = NULL; /* owned */
    td_status_t status;

    if (frame->bytes == NULL) {
        td_writer_put_text(text, "null");
        return TD_OK;
    }
    td_obs_reset(check->obs);
    status = td_obs_decode(check->obs, frame->bytes, frame->bytes_sz, &val);
    if (status == TD_REJECT) {
        td_writer_put_text(text, "null"); /* bytes that nobody can read: the divergence says so */
        return TD_OK;
    }
    if (status == TD_OK) {
        written = spell(check->obs, val, false);
        status  = written == NULL ? TD_NOMEM : TD_OK;
        td_writer_put_text(text, written == NULL ? "" : written);
        td_free(written);
    }
    return status;
}

static td_status_t
run_put(td_check_t *check, td_run_t const *run, char const *const marks[3], spell_t spell,
        char const **out)
{
    td_status_t status = TD_OK;
    td_writer_t text;

    td_writer_init(&text, SIZE_MAX);
    td_writer_put_text(&text, marks[0]);
    for (size_t frame = 0; frame < run->frame_cnt; frame++) {
        td_writer_put_text(&text, frame == 0 ? "" : marks[1]);
        TD_TRY(frame_put(check, &run->frames[frame], spell, &text));
    }
    td_writer_put_text(&text, marks[2]);
    TD_TRY(text.status);
    *out   = td_arena_dup(&check->arena, (char const *)text.bytes, text.sz);
    status = *out == NULL ? TD_NOMEM : TD_OK;
done:
    td_writer_clear(&text);
    return status;
}

td_status_t
td_report_json(td_check_t *check, td_run_t const *run, char const **json)
{
    static char const *const marks[] = {"{\"frames\": [", ", ", "]}"};

    return run_put(check, run, marks, td_obs_json, json);
}

td_status_t
td_report_tree(td_check_t *check, td_run_t const *run, char const **tree)
{
    static char const *const marks[] = {"", "\n", "\n"};

    return run_put(check, run, marks, td_obs_tree_text, tree);
}

td_status_t
td_report_observations(td_check_t *check, td_run_t const *reference, td_run_t const *subject)
{
    td_status_t status;

    TD_TRY(td_report_json(check, reference, &check->report.reference_json));
    TD_TRY(td_report_json(check, subject, &check->report.subject_json));
done:
    return status;
}
