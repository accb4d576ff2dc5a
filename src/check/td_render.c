/* td_render.c: a report as text. */
#include "check/td_render.h"

#include <string.h>

#include "base/td_alloc.h"
#include "check/td_check_private.h"

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

/* A text that grows; what did not fit for want of memory is left out. */
typedef struct {
    char  *text; /* td_malloc'ed */
    size_t sz, cap;
} page_t;

static void
page_put(page_t *page, char const *more)
{
    size_t sz = strlen(more);

    if (page->cap - page->sz <= sz) {
        size_t cap   = 2 * (page->sz + sz) + 256;
        char  *block = td_realloc(page->text, cap);

        if (block == NULL) {
            return;
        }
        page->text = block;
        page->cap  = cap;
    }
    memcpy(page->text + page->sz, more, sz + 1);
    page->sz += sz;
}

static char const *
page_keep(td_check_t *check, page_t *page)
{
    char const *kept = page->text == NULL ? "" : td_report_keep(check, page->text);

    td_free(page->text);
    return kept;
}

/* ---- for people ------------------------------------------------------------------- */

static void
row_put(page_t *page, char const *head, char const *text)
{
    page_put(page, head);
    page_put(page, text[0] == '\0' ? "(nothing there)" : text);
    page_put(page, "\n");
}

static void
divergence_put(page_t *page, td_divergence_t const *one)
{
    row_put(page, "at        ", one->path);
    row_put(page, "field     ", one->field);
    row_put(page, "reference ", one->reference);
    page_put(page, "          decided by ");
    row_put(page, one->arm, one->function[0] == '\0' ? " " : one->function);
    row_put(page, "subject   ", one->subject);
    row_put(page, "          decided by ", one->subject_function);
    page_put(page, "\n");
}

char const *
td_render_text(td_check_t *check, td_report_t const *report)
{
    page_t page = { 0 };

    row_put(&page, "verdict   ", td_verdict_text(report->verdict));
    if (report->why[0] != '\0') {
        row_put(&page, "why       ", report->why);
    }
    if (report->signature != NULL) {
        row_put(&page, "signature ", report->signature);
    }
    page_put(&page, "\n");
    for (size_t idx = 0; idx < report->divergence_cnt; idx++) {
        divergence_put(&page, &report->divergences[idx]);
    }
    return page_keep(check, &page);
}

/* ---- for programs ------------------------------------------------------------------ */

static void
member_put(td_check_t *check, page_t *page, char const *name, char const *text, char const *end)
{
    page_put(page, td_report_quote(check, name));
    page_put(page, ": ");
    page_put(page, text == NULL ? "null" : td_report_quote(check, text));
    page_put(page, end);
}

static void
value_put(td_check_t *check, page_t *page, char const *name, char const *json)
{
    page_put(page, td_report_quote(check, name));
    page_put(page, ": ");
    page_put(page, json[0] == '\0' ? "null" : json);
    page_put(page, ", ");
}

static void
divergence_json(td_check_t *check, page_t *page, td_divergence_t const *one)
{
    page_put(page, "{");
    member_put(check, page, "path", one->path, ", ");
    member_put(check, page, "field", one->field, ", ");
    value_put(check, page, "reference", one->reference);
    value_put(check, page, "subject", one->subject);
    page_put(page, "\"arm\": {");
    member_put(check, page, "id", one->arm, ", ");
    member_put(check, page, "function", one->function, ", ");
    member_put(check, page, "subject", one->subject_function, "}}");
}

char const *
td_render_json(td_check_t *check, td_report_t const *report)
{
    page_t                 page  = { 0 };
    td_divergence_t const *first = report->divergence_cnt == 0 ? NULL : &report->divergences[0];

    page_put(&page, "{\"schema\": 1, ");
    member_put(check, &page, "verdict", td_verdict_text(report->verdict), ", ");
    member_put(check, &page, "class", td_render_class(report), ", ");
    member_put(check, &page, "why", report->why, ", ");
    member_put(check, &page, "signature", report->signature, ", ");
    member_put(check, &page, "signature_hash", report->signature_hash, ", ");
    member_put(check, &page, "headline", report->headline, ", ");
    member_put(check, &page, "reference_arm", first == NULL ? "" : first->arm, ", ");
    member_put(check, &page, "subject_arm", first == NULL ? "" : first->subject_function, ", ");
    page_put(&page, "\"divergences\": [");
    for (size_t idx = 0; idx < report->divergence_cnt; idx++) {
        page_put(&page, idx == 0 ? "" : ", ");
        divergence_json(check, &page, &report->divergences[idx]);
    }
    page_put(&page, "]}\n");
    return page_keep(check, &page);
}
