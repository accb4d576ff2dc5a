/* td_render.c: a report as text. */
#include "check/td_render.h"

#include <string.h>

#include "base/td_writer.h"
#include "check/td_check_private.h"
#include "observe/td_signature.h"

char const *
td_render_class(td_report_t const *report)
{
    if (report->flaky) {
        return "flaky";
    }
    if (report->verdict == TD_VERDICT_DIVERGE || report->verdict == TD_VERDICT_REFERENCE_FAILED) {
        return td_verdict_text(report->verdict);
    }
    return NULL;
}

void
td_render_hash(char const *text, char hash[9])
{
    td_signature_hash(text, hash);
}

/* What did not fit for want of memory is left out. */
static char const *
page_keep(td_check_t *check, td_writer_t *page)
{
    char const *kept = NULL;

    if (page->status == TD_OK && page->bytes != NULL) {
        kept = td_arena_dup(&check->arena, (char const *)page->bytes, page->sz);
    }
    td_writer_clear(page);
    return kept == NULL ? "" : kept;
}

/* ---- for people ------------------------------------------------------------------- */

static void
row_put(td_writer_t *page, char const *head, char const *text)
{
    td_writer_put_text(page, head);
    td_writer_put_text(page, text[0] == '\0' ? "(nothing there)" : text);
    td_writer_put_text(page, "\n");
}

static void
divergence_put(td_writer_t *page, td_divergence_t const *one)
{
    row_put(page, "at        ", one->path);
    row_put(page, "field     ", one->field);
    row_put(page, "reference ", one->reference);
    row_put(page, "          decided by ", one->arm);
    row_put(page, "          in ", one->function);
    row_put(page, "subject   ", one->subject);
    row_put(page, "          decided by ", one->subject_function);
    td_writer_put_text(page, "\n");
}

char const *
td_render_text(td_check_t *check, td_report_t const *report)
{
    td_writer_t page;

    td_writer_init(&page, SIZE_MAX);
    row_put(&page, "verdict   ", td_verdict_text(report->verdict));
    if (report->why[0] != '\0') {
        row_put(&page, "why       ", report->why);
    }
    if (report->signature != NULL) {
        row_put(&page, "signature ", report->signature);
    }
    td_writer_put_text(&page, "\n");
    for (size_t idx = 0; idx < report->divergence_cnt; idx++) {
        divergence_put(&page, &report->divergences[idx]);
    }
    return page_keep(check, &page);
}

/* ---- for programs ------------------------------------------------------------------ */

static void
member_put(td_check_t *check, td_writer_t *page, char const *name, char const *text,
           char const *end)
{
    td_writer_put_text(page, td_report_quote(check, name));
    td_writer_put_text(page, ": ");
    td_writer_put_text(page, text == NULL ? "null" : td_report_quote(check, text));
    td_writer_put_text(page, end);
}

static void
value_put(td_check_t *check, td_writer_t *page, char const *name, char const *json)
{
    td_writer_put_text(page, td_report_quote(check, name));
    td_writer_put_text(page, ": ");
    td_writer_put_text(page, json[0] == '\0' ? "null" : json);
    td_writer_put_text(page, ", ");
}

static void
divergence_json(td_check_t *check, td_writer_t *page, td_divergence_t const *one)
{
    td_writer_put_text(page, "{");
    member_put(check, page, "path", one->path, ", ");
    member_put(check, page, "field", one->field, ", ");
    value_put(check, page, "reference", one->reference);
    value_put(check, page, "subject", one->subject);
    td_writer_put_text(page, "\"arm\": {");
    member_put(check, page, "id", one->arm, ", ");
    member_put(check, page, "function", one->function, ", ");
    member_put(check, page, "subject", one->subject_function, "}}");
}

char const *
td_render_json(td_check_t *check, td_report_t const *report)
{
    td_divergence_t const *first = report->divergence_cnt == 0 ? NULL : &report->divergences[0];
    td_writer_t            page;

    td_writer_init(&page, SIZE_MAX);
    td_writer_put_text(&page, "{\"schema\": 1, ");
    member_put(check, &page, "verdict", td_verdict_text(report->verdict), ", ");
    member_put(check, &page, "class", td_render_class(report), ", ");
    member_put(check, &page, "why", report->why, ", ");
    member_put(check, &page, "signature", report->signature, ", ");
    member_put(check, &page, "signature_hash", report->signature_hash, ", ");
    member_put(check, &page, "headline", report->headline, ", ");
    member_put(check, &page, "reference_arm", first == NULL ? "" : first->arm, ", ");
    member_put(check, &page, "subject_arm", first == NULL ? "" : first->subject_function, ", ");
    td_writer_put_text(&page, "\"divergences\": [");
    for (size_t idx = 0; idx < report->divergence_cnt; idx++) {
        td_writer_put_text(&page, idx == 0 ? "" : ", ");
        divergence_json(check, &page, &report->divergences[idx]);
    }
    td_writer_put_text(&page, "]}\n");
    return page_keep(check, &page);
}
