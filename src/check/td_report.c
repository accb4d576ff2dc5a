/* td_report.c: what a judgement looks like when it is handed out. */
#include "check/td_check_private.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"

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

/* "frames[0].roots[1].tracker.items[2].value" -> ".tracker.items[].value": what
   the place is, without which one it is. */
static void
path_shape(char const *path, char *out, size_t out_sz)
{
    size_t      at    = 0;
    char const *roots = strstr(path, "roots[");

    if (roots != NULL) {
        path = strchr(roots, ']') + 1;
    } else if (strncmp(path, "frames[", 7) == 0) {
        path = strchr(path, ']') + 1;
    }
    for (; *path != '\0' && at + 3 < out_sz; path++) {
        out[at++] = *path;
        if (*path == '[') {
            char const *close = strchr(path, ']');

            path      = close == NULL ? path + strlen(path) - 1 : close;
            out[at++] = ']';
        }
    }
    out[at] = '\0';
}

/* FNV-1a, folded to 32 bits: a name for a text, not a defence. */
static uint32_t
text_hash(char const *text)
{
    uint64_t hash = 14695981039346656037u;

    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    }
    return (uint32_t)(hash ^ (hash >> 32));
}

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

static void
sign(td_check_t *check, td_finding_t const *finding)
{
    char         shape[512];
    td_report_t *report = &check->report;

    path_shape(finding->path, shape, sizeof shape);
    report->headline  = td_report_keepf(check, "%s %s %s/%s", finding->entry, finding->field,
                                        finding->reference_class, finding->subject_class);
    report->signature = td_report_keepf(check, "%s %s %s %s/%s at %s", finding->entry,
                                        finding->field, shape, finding->reference_class,
                                        finding->subject_class, arm_text(check, finding->arm));
    snprintf(report->signature_hash, sizeof report->signature_hash, "%08x",
             (unsigned)text_hash(report->signature));
}

td_status_t
td_report_add(td_check_t *check, td_finding_t const *finding)
{
    td_report_t *report = &check->report;

    if (report->divergence_cnt == 0) {
        sign(check, finding);
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

/* A text that grows; failed sticks. */
typedef struct {
    char  *text; /* td_malloc'ed */
    size_t sz, cap;
    bool   failed;
} text_t;

static void
text_put(text_t *text, char const *more)
{
    size_t sz = strlen(more);

    if (!text->failed && text->cap - text->sz <= sz) {
        size_t cap   = 2 * (text->sz + sz) + 256;
        char  *block = td_realloc(text->text, cap);

        text->failed = block == NULL;
        text->text   = block == NULL ? text->text : block;
        text->cap    = block == NULL ? text->cap : cap;
    }
    if (!text->failed) {
        memcpy(text->text + text->sz, more, sz + 1);
        text->sz += sz;
    }
}

/* How a value is written: as JSON, or as a tree for people. */
typedef char *(*writer_t)(td_obs_t *obs, td_val_t val, bool style);

static td_status_t
frame_put(td_check_t *check, td_run_frame_t const *frame, writer_t write, text_t *text)
{
    td_val_t    val;
    char       *written = NULL; /* owned */
    td_status_t status;

    if (frame->bytes == NULL) {
        text_put(text, "null");
        return TD_OK;
    }
    td_obs_reset(check->obs);
    status = td_obs_decode(check->obs, frame->bytes, frame->bytes_sz, &val);
    if (status == TD_REJECT) {
        text_put(text, "null"); /* bytes that nobody can read: the divergence says so */
        return TD_OK;
    }
    if (status == TD_OK) {
        written = write(check->obs, val, false);
        status  = written == NULL ? TD_NOMEM : TD_OK;
        text_put(text, written == NULL ? "" : written);
        td_free(written);
    }
    return status;
}

static td_status_t
run_put(td_check_t *check, td_run_t const *run, char const *const marks[3], writer_t write,
        char const **out)
{
    td_status_t status = TD_OK;
    text_t      text   = {0};

    text_put(&text, marks[0]);
    for (size_t frame = 0; frame < run->frame_cnt; frame++) {
        text_put(&text, frame == 0 ? "" : marks[1]);
        TD_TRY(frame_put(check, &run->frames[frame], write, &text));
    }
    text_put(&text, marks[2]);
    *out   = text.failed ? NULL : td_arena_dup(&check->arena, text.text, text.sz);
    status = *out == NULL ? TD_NOMEM : TD_OK;
done:
    td_free(text.text);
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
