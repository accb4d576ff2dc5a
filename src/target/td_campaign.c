/* td_campaign.c: counting a campaign. */
#include "target/td_campaign.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/td_alloc.h"
#include "base/td_writer.h"
#include "gen/td_stats.h"

enum {
    VERDICT_CNT    = TD_VERDICT_BAD_INPUT + 1,
    ARM_WORD_CNT   = 16,
    REASON_CNT     = 256,     /* arms that the subject lacks; its list is shorter */
    FINDING_CNT    = 4096,    /* a campaign with more has another problem */
    DISTINCT_CNT   = 1 << 18, /* slots for programs; a frequent one gets its slot early */
    FLUSH_INTERVAL = 1,       /* seconds between two writes of the counts */
};

typedef struct {
    char     text[160];
    uint64_t cnt;
} reason_t;

typedef struct {
    uint64_t hash, cnt;
} distinct_t;

static struct {
    bool        begun;
    time_t      started, flushed;
    uint64_t    broken_cnt;
    uint64_t    program_cnt, compared_cnt, flaky_cnt, internal_cnt;
    uint64_t    verdicts[VERDICT_CNT];
    td_stats_t  seen, compared; /* what all programs, and those compared, are made of */
    uint64_t    arms[ARM_WORD_CNT];
    reason_t    reasons[REASON_CNT];
    size_t      reason_cnt;
    reason_t    findings[FINDING_CNT];
    size_t      finding_cnt;
    distinct_t *distinct; /* td_malloc'ed, DISTINCT_CNT slots, open addressing */
    size_t      distinct_cnt;
    uint64_t    top_cnt; /* executions of the most frequent program */
    td_check_t *check;   /* borrowed: names of arms */
} campaign;

/* ---- how often the same one ----------------------------------------------------------- */

static uint64_t
program_hash(td_prog_t const *prog)
{
    uint64_t hash  = 14695981039346656037u;
    uint8_t *bytes = NULL; /* owned */
    size_t   sz    = 0;

    if (td_prog_encode(prog, &bytes, &sz) != TD_OK) {
        return 0;
    }
    for (size_t idx = 0; idx < sz; idx++) {
        hash = (hash ^ bytes[idx]) * 1099511628211u;
    }
    td_free(bytes);
    return hash == 0 ? 1 : hash;
}

static void
distinct_add(uint64_t hash)
{
    distinct_t *slot;

    if (campaign.distinct == NULL) {
        campaign.distinct = td_calloc(DISTINCT_CNT, sizeof *campaign.distinct);
    }
    if (campaign.distinct == NULL || hash == 0) {
        return;
    }
    slot = &campaign.distinct[hash % DISTINCT_CNT];
    while (slot->hash != hash && slot->hash != 0) {
        slot = slot + 1 == campaign.distinct + DISTINCT_CNT ? campaign.distinct : slot + 1;
    }
    if (slot->hash == 0) {
        if (campaign.distinct_cnt > DISTINCT_CNT / 2) {
            return;
        }
        campaign.distinct_cnt++;
        slot->hash = hash;
    }
    slot->cnt++;
    campaign.top_cnt = slot->cnt > campaign.top_cnt ? slot->cnt : campaign.top_cnt;
}

/* ---- what became of it ------------------------------------------------------------------ */

static reason_t *
reason_find(reason_t *reasons, size_t *cnt, size_t cnt_max, char const *text)
{
    for (size_t idx = 0; idx < *cnt; idx++) {
        if (strncmp(reasons[idx].text, text, sizeof reasons[idx].text - 1) == 0) {
            return &reasons[idx];
        }
    }
    if (*cnt == cnt_max) {
        return NULL;
    }
    snprintf(reasons[*cnt].text, sizeof reasons[*cnt].text, "%s", text);
    return &reasons[(*cnt)++];
}

static void
unsupported_add(td_report_t const *report)
{
    for (size_t idx = 0; idx < report->unsupported_cnt; idx++) {
        char      text[sizeof campaign.reasons[0].text];
        reason_t *reason;

        snprintf(text, sizeof text, "%s: %s", report->unsupported[idx].arm,
                 report->unsupported[idx].why);
        reason = reason_find(campaign.reasons, &campaign.reason_cnt, REASON_CNT, text);
        if (reason != NULL) {
            reason->cnt++;
        }
    }
}

static void
report_add(td_report_t const *report)
{
    campaign.verdicts[report->verdict]++;
    campaign.compared_cnt += report->compared;
    campaign.flaky_cnt += report->flaky;
    campaign.internal_cnt += report->internal_error;
    unsupported_add(report);
    /* An arm counts as reached only by a program that is compared and agrees. */
    if (report->arms != NULL && report->compared && report->verdict == TD_VERDICT_AGREE) {
        for (size_t idx = 0; idx < ARM_WORD_CNT; idx++) {
            campaign.arms[idx] |= report->arms[idx];
        }
    }
}

static void
begin(td_check_t *check)
{
    campaign.begun   = true;
    campaign.started = campaign.flushed = time(NULL);
    campaign.check                      = check;
    td_stats_init(&campaign.seen);
    td_stats_init(&campaign.compared);
    atexit(td_campaign_flush);
}

void
td_campaign_add(td_check_t *check, td_prog_t const *prog, td_report_t const *report)
{
    if (!campaign.begun) {
        begin(check);
    }
    campaign.program_cnt++;
    td_stats_add(&campaign.seen, prog);
    distinct_add(program_hash(prog));
    if (report != NULL) {
        report_add(report);
        if (report->compared) {
            td_stats_add(&campaign.compared, prog);
        }
    }
    if (time(NULL) - campaign.flushed >= FLUSH_INTERVAL) {
        td_campaign_flush();
    }
}

void
td_campaign_broken(void)
{
    campaign.broken_cnt++;
}

bool
td_campaign_finding(char const *hash)
{
    reason_t *finding = reason_find(campaign.findings, &campaign.finding_cnt, FINDING_CNT, hash);

    return finding == NULL || ++finding->cnt == 1;
}

/* ---- writing it down ---------------------------------------------------------------------- */

static void
text_put(td_writer_t *out, char const *text)
{
    td_writer_put_u8(out, '"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            td_writer_put_u8(out, '\\');
        }
        if ((unsigned char)*text >= 0x20) {
            td_writer_put_u8(out, (uint8_t)*text);
        }
    }
    td_writer_put_u8(out, '"');
}

static void
number_put(td_writer_t *out, char const *name, uint64_t number)
{
    td_writer_put_format(out, "\"%s\": %" PRIu64 ", ", name, number);
}

static void
reasons_put(td_writer_t *out, char const *title, reason_t const *reasons, size_t cnt)
{
    td_writer_put_format(out, "\"%s\": {", title);
    for (size_t idx = 0; idx < cnt; idx++) {
        td_writer_put_text(out, idx == 0 ? "" : ", ");
        text_put(out, reasons[idx].text);
        td_writer_put_format(out, ": %" PRIu64, reasons[idx].cnt);
    }
    td_writer_put_text(out, "},\n ");
}

static void
arms_put(td_writer_t *out)
{
    bool   first = true;
    size_t cnt   = td_check_arm_cnt(campaign.check);

    td_writer_put_text(out, "\"arms\": [");
    for (size_t idx = 0; idx < cnt && idx < ARM_WORD_CNT * 64; idx++) {
        if ((campaign.arms[idx / 64] >> (idx % 64)) & 1) {
            td_writer_put_text(out, first ? "" : ", ");
            text_put(out, td_check_arm_id(campaign.check, idx));
            first = false;
        }
    }
    td_writer_put_text(out, "],\n ");
}

static void
verdicts_put(td_writer_t *out)
{
    td_writer_put_text(out, "\"verdicts\": {");
    for (int verdict = 0; verdict < VERDICT_CNT; verdict++) {
        td_writer_put_format(out, "%s\"%s\": %" PRIu64, verdict == 0 ? "" : ", ",
                             td_verdict_text((td_verdict_t)verdict), campaign.verdicts[verdict]);
    }
    td_writer_put_text(out, "},\n ");
}

static void
sizes_put(td_writer_t *out)
{
    td_writer_put_text(out, "\"sizes\": [");
    for (size_t idx = 0; idx < TD_STATS_SIZE_CNT; idx++) {
        td_writer_put_format(out, "%s%" PRIu64, idx == 0 ? "" : ", ", campaign.seen.objects[idx]);
    }
    td_writer_put_text(out, "],\n ");
}

static void
counts_put(td_writer_t *out)
{
    td_writer_put_text(out, "{\"schema\": 1, ");
    number_put(out, "seconds", (uint64_t)(time(NULL) - campaign.started));
    number_put(out, "programs", campaign.program_cnt);
    number_put(out, "compared", campaign.compared_cnt);
    number_put(out, "broken", campaign.broken_cnt);
    number_put(out, "flaky", campaign.flaky_cnt);
    number_put(out, "internal_errors", campaign.internal_cnt);
    number_put(out, "distinct", campaign.distinct_cnt);
    number_put(out, "top", campaign.top_cnt);
    verdicts_put(out);
    reasons_put(out, "unsupported", campaign.reasons, campaign.reason_cnt);
    reasons_put(out, "findings", campaign.findings, campaign.finding_cnt);
    arms_put(out);
    sizes_put(out);
    td_writer_put_text(out, "\"mix_seen\": ");
    td_stats_json(&campaign.seen, out);
    td_writer_put_text(out, ",\n \"mix_compared\": ");
    td_stats_json(&campaign.compared, out);
    td_writer_put_text(out, "}\n");
}

static bool
file_write(char const *path, td_writer_t const *counts)
{
    FILE *file    = fopen(path, "w");
    bool  written = file != NULL && counts->status == TD_OK;

    written = written && fwrite(counts->bytes, 1, counts->sz, file) == counts->sz;
    written = written && fflush(file) == 0;
    if (file != NULL && fclose(file) != 0) {
        written = false;
    }
    return written;
}

/* The file is replaced whole: whoever reads it while we are killed sees the
   counts of a second ago.  A full disk costs counts, never a finding. */
void
td_campaign_flush(void)
{
    char        temporary[1024];
    td_writer_t counts;
    char const *path = getenv("TANDEM_STATS");

    campaign.flushed = time(NULL);
    if (path == NULL || path[0] == '\0' || !campaign.begun) {
        return;
    }
    td_writer_init(&counts, SIZE_MAX);
    counts_put(&counts);
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    if (!file_write(temporary, &counts) || rename(temporary, path) != 0) {
        fprintf(stderr, "tandem: counts cannot be written: %s: %s\n", path, strerror(errno));
        unlink(temporary);
    }
    td_writer_clear(&counts);
}
