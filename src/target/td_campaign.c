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

enum {
    TAG_CNT        = 256, /* tags are bytes */
    CONFIG_CNT     = 64,  /* keys of configs.def, with room */
    VALUE_CNT      = 8,   /* values of one key, with room */
    SIZE_CNT       = 512, /* program sizes in nodes; larger ones count as the largest */
    VERDICT_CNT    = TD_VERDICT_BAD_INPUT + 1,
    REASON_CNT     = 256,     /* arms that the subject lacks; its list is shorter */
    FINDING_CNT    = 4096,    /* a campaign with more has another problem */
    DISTINCT_CNT   = 1 << 18, /* slots for programs; a frequent one gets its slot early */
    FLUSH_INTERVAL = 1,       /* seconds between two writes of the counts */
};

/* How often something occurred: in programs, and in programs that were compared. */
typedef struct {
    uint64_t seen, compared;
} tally_t;

typedef struct {
    char     text[160];
    uint64_t cnt;
} reason_t;

typedef struct {
    uint64_t hash, cnt;
} distinct_t;

static struct {
    time_t      started, flushed;
    uint64_t    program_cnt, compared_cnt, flaky_cnt, internal_cnt;
    uint64_t    verdicts[VERDICT_CNT];
    uint64_t    sizes[SIZE_CNT]; /* by node count */
    uint64_t    shared_cnt, frames_cnt;
    tally_t     kinds[TAG_CNT], sources[TAG_CNT], entries[TAG_CNT], dos[TAG_CNT];
    tally_t     config[CONFIG_CNT][VALUE_CNT];
    uint64_t    arms[16];
    reason_t    reasons[REASON_CNT];
    size_t      reason_cnt;
    reason_t    findings[FINDING_CNT];
    size_t      finding_cnt;
    distinct_t *distinct; /* td_malloc'ed, DISTINCT_CNT slots, open addressing */
    size_t      distinct_cnt;
    uint64_t    top_cnt; /* executions of the most frequent program */
    td_check_t *check;   /* borrowed: names of arms */
} campaign;

/* ---- one program ------------------------------------------------------------------ */

static void
tally_add(tally_t *tally, bool compared)
{
    tally->seen++;
    tally->compared += compared;
}

/* Which tags a program has, each counted once a program. */
typedef struct {
    bool   kinds[TAG_CNT], sources[TAG_CNT], entries[TAG_CNT], dos[TAG_CNT];
    size_t frame_cnt;
} traits_t;

static void
traits_take(td_prog_t const *prog, traits_t *traits)
{
    memset(traits, 0, sizeof *traits);
    for (uint32_t idx = 0; idx < prog->node_cnt; idx++) {
        traits->kinds[prog->nodes[idx].kind] = true;
    }
    for (uint32_t idx = 0; idx < prog->source_cnt; idx++) {
        traits->sources[prog->sources[idx].kind] = true;
    }
    for (uint32_t idx = 0; idx < prog->step_cnt; idx++) {
        td_step_t const *step = &prog->steps[idx];

        traits->frame_cnt += step->kind == TD_STEP_FRAME;
        if (step->kind == TD_STEP_ROOT) {
            traits->entries[step->op] = true;
        } else if (step->kind == TD_STEP_DO) {
            traits->dos[step->op] = true;
        }
    }
}

static bool
has_sharing(td_prog_t const *prog)
{
    bool     shared = false;
    uint8_t *used   = td_calloc(prog->node_cnt + 1, 1); /* owned */

    for (uint32_t idx = 0; used != NULL && idx < prog->node_cnt; idx++) {
        for (uint16_t edge = 0; edge < prog->nodes[idx].edge_cnt; edge++) {
            uint8_t *mark = &used[prog->nodes[idx].edge[edge]];

            shared |= *mark != 0;
            *mark = 1;
        }
    }
    for (uint32_t idx = 0; used != NULL && idx < prog->step_cnt; idx++) {
        if (prog->steps[idx].kind == TD_STEP_ROOT) {
            uint8_t *mark = &used[prog->steps[idx].node];

            shared |= *mark != 0;
            *mark = 1;
        }
    }
    td_free(used);
    return shared;
}

static void
shape_add(td_prog_t const *prog, bool compared)
{
    traits_t traits;
    size_t   size = prog->node_cnt < SIZE_CNT ? prog->node_cnt : SIZE_CNT - 1;

    traits_take(prog, &traits);
    campaign.sizes[size]++;
    campaign.shared_cnt += has_sharing(prog);
    campaign.frames_cnt += traits.frame_cnt >= 2;
    for (size_t tag = 0; tag < TAG_CNT; tag++) {
        traits.kinds[tag] ? tally_add(&campaign.kinds[tag], compared) : (void)0;
        traits.sources[tag] ? tally_add(&campaign.sources[tag], compared) : (void)0;
        traits.entries[tag] ? tally_add(&campaign.entries[tag], compared) : (void)0;
        traits.dos[tag] ? tally_add(&campaign.dos[tag], compared) : (void)0;
    }
    for (size_t key = 0; key < td_config_cnt() && key < CONFIG_CNT; key++) {
        uint8_t value = 0; /* the default holds where nothing is set */

        for (uint32_t idx = 0; idx < prog->setting_cnt; idx++) {
            value = prog->settings[idx].key == key ? prog->settings[idx].value : value;
        }
        tally_add(&campaign.config[key][value % VALUE_CNT], compared);
    }
}

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
    for (size_t idx = 0; report->arms != NULL && report->compared &&
                         report->verdict == TD_VERDICT_AGREE && idx < 16;
         idx++) {
        campaign.arms[idx] |= report->arms[idx];
    }
}

void
td_campaign_add(td_check_t *check, td_prog_t const *prog, td_report_t const *report)
{
    if (campaign.started == 0) {
        campaign.started = campaign.flushed = time(NULL);
        atexit(td_campaign_flush);
    }
    campaign.check = check;
    campaign.program_cnt++;
    shape_add(prog, report != NULL && report->compared);
    distinct_add(program_hash(prog));
    if (report != NULL) {
        report_add(report);
    }
    if (time(NULL) - campaign.flushed >= FLUSH_INTERVAL) {
        td_campaign_flush();
    }
}

bool
td_campaign_finding(char const *hash)
{
    reason_t *finding = reason_find(campaign.findings, &campaign.finding_cnt, FINDING_CNT, hash);

    return finding == NULL || ++finding->cnt == 1;
}

/* ---- writing it down ---------------------------------------------------------------------- */

static void
text_write(FILE *file, char const *text)
{
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            fputc('\\', file);
        }
        if ((unsigned char)*text >= 0x20) {
            fputc(*text, file);
        }
    }
    fputc('"', file);
}

static void
tally_write(FILE *file, bool *first, char const *name, tally_t const *tally)
{
    fputs(*first ? "" : ", ", file);
    *first = false;
    text_write(file, name);
    fprintf(file, ": [%" PRIu64 ", %" PRIu64 "]", tally->seen, tally->compared);
}

static char const *
source_name(uint8_t tag)
{
    td_op_info_t const *info = td_source_info(tag);

    return info == NULL ? NULL : info->name;
}

static char const *
kind_name(uint8_t tag)
{
    td_kind_info_t const *info = td_kind_info(tag);

    return info == NULL ? NULL : info->name;
}

static char const *
entry_name(uint8_t tag)
{
    td_op_info_t const *info = td_entry_info(tag);

    return info == NULL ? NULL : info->name;
}

static char const *
do_name(uint8_t tag)
{
    td_op_info_t const *info = td_do_info(tag);

    return info == NULL ? NULL : info->name;
}

/* Every name of a table, those that never occurred too: a zero is what a reader
   looks for. */
static void
table_write(FILE *file, char const *title, tally_t const *tallies, char const *(*name_of)(uint8_t))
{
    bool first = true;

    fprintf(file, ",\n \"%s\": {", title);
    for (size_t tag = 0; tag < TAG_CNT; tag++) {
        if (name_of((uint8_t)tag) != NULL) {
            tally_write(file, &first, name_of((uint8_t)tag), &tallies[tag]);
        }
    }
    fputs("}", file);
}

static void
config_write(FILE *file)
{
    bool first = true;

    fputs(",\n \"config\": {", file);
    for (size_t key = 0; key < td_config_cnt() && key < CONFIG_CNT; key++) {
        for (size_t value = 0; value < td_config_value_cnt(key) && value < VALUE_CNT; value++) {
            char name[200];

            snprintf(name, sizeof name, "%s=%s", td_config_name(key), td_config_value(key, value));
            tally_write(file, &first, name, &campaign.config[key][value]);
        }
    }
    fputs("}", file);
}

static void
reasons_write(FILE *file, char const *title, reason_t const *reasons, size_t cnt)
{
    fprintf(file, ",\n \"%s\": {", title);
    for (size_t idx = 0; idx < cnt; idx++) {
        fputs(idx == 0 ? "" : ", ", file);
        text_write(file, reasons[idx].text);
        fprintf(file, ": %" PRIu64, reasons[idx].cnt);
    }
    fputs("}", file);
}

static void
arms_write(FILE *file)
{
    bool   first = true;
    size_t cnt   = campaign.check == NULL ? 0 : td_check_arm_cnt(campaign.check);

    fputs(",\n \"arms\": [", file);
    for (size_t idx = 0; idx < cnt && idx < 16 * 64; idx++) {
        if ((campaign.arms[idx / 64] >> (idx % 64)) & 1) {
            fputs(first ? "" : ", ", file);
            text_write(file, td_check_arm_id(campaign.check, idx));
            first = false;
        }
    }
    fputs("]", file);
}

static void
sizes_write(FILE *file)
{
    size_t last = SIZE_CNT;

    while (last > 0 && campaign.sizes[last - 1] == 0) {
        last--;
    }
    fputs(",\n \"sizes\": [", file);
    for (size_t idx = 0; idx < last; idx++) {
        fprintf(file, "%s%" PRIu64, idx == 0 ? "" : ", ", campaign.sizes[idx]);
    }
    fputs("]", file);
}

static void
counts_write(FILE *file)
{
    fprintf(file,
            "{\"schema\": 1, \"seconds\": %ld, \"programs\": %" PRIu64 ", \"compared\": %" PRIu64,
            (long)(time(NULL) - campaign.started), campaign.program_cnt, campaign.compared_cnt);
    fprintf(file, ", \"flaky\": %" PRIu64 ", \"internal_errors\": %" PRIu64, campaign.flaky_cnt,
            campaign.internal_cnt);
    fprintf(file, ", \"shared\": %" PRIu64 ", \"two_frames\": %" PRIu64, campaign.shared_cnt,
            campaign.frames_cnt);
    fprintf(file, ", \"distinct\": %zu, \"top\": %" PRIu64 ",\n \"verdicts\": {",
            campaign.distinct_cnt, campaign.top_cnt);
    for (int verdict = 0; verdict < VERDICT_CNT; verdict++) {
        fprintf(file, "%s\"%s\": %" PRIu64, verdict == 0 ? "" : ", ",
                td_verdict_text((td_verdict_t)verdict), campaign.verdicts[verdict]);
    }
    fputs("}", file);
    table_write(file, "kinds", campaign.kinds, kind_name);
    table_write(file, "sources", campaign.sources, source_name);
    table_write(file, "entries", campaign.entries, entry_name);
    table_write(file, "dos", campaign.dos, do_name);
    config_write(file);
    reasons_write(file, "unsupported", campaign.reasons, campaign.reason_cnt);
    reasons_write(file, "findings", campaign.findings, campaign.finding_cnt);
    arms_write(file);
    sizes_write(file);
    fputs("}\n", file);
}

/* The file is replaced whole: whoever reads it while we are killed sees the
   counts of a second ago.  A full disk costs counts, never a finding. */
void
td_campaign_flush(void)
{
    char        temporary[1024];
    char const *path = getenv("TANDEM_STATS");
    FILE       *file;
    bool        written;

    campaign.flushed = time(NULL);
    if (path == NULL || path[0] == '\0') {
        return;
    }
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    file = fopen(temporary, "w");
    if (file == NULL) {
        fprintf(stderr, "tandem: counts cannot be written: %s: %s\n", temporary, strerror(errno));
        return;
    }
    counts_write(file);
    written = fflush(file) == 0;
    written &= fclose(file) == 0;
    if (!written || rename(temporary, path) != 0) {
        fprintf(stderr, "tandem: counts cannot be written: %s: %s\n", path, strerror(errno));
        unlink(temporary);
    }
}
