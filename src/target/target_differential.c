/* target_differential.c: both builders on any bytes. */
#include <stdio.h>

#include "check/td_render.h"
#include "target/td_campaign.h"
#include "target/td_finding.h"
#include "target/td_process.h"
#include "target/td_target.h"

static void
announce(td_check_t *check, td_prog_t const *prog, td_report_t const *report)
{
    char        hash[9];
    char        headline[256];
    char const *class_name = td_render_class(report);

    /* A divergence has a signature; what has none is grouped by its reason. */
    if (report->signature != NULL && !report->flaky) {
        snprintf(hash, sizeof hash, "%s", report->signature_hash);
        snprintf(headline, sizeof headline, "%s", report->headline);
    } else {
        snprintf(headline, sizeof headline, "%s %s", class_name, report->why);
        td_render_hash(headline, hash);
    }
    if (td_campaign_finding(hash)) {
        td_finding_announce(prog, hash, headline, td_render_text(check, report),
                            td_render_json(check, report));
    }
}

static void
judge(td_prog_t const *prog)
{
    td_report_t const *report = NULL;
    td_check_t        *check  = td_process_check();

    if (td_check_program(check, prog, false, &report) != TD_OK) {
        td_campaign_broken();
        td_finding_broken(prog, td_check_why());
        return;
    }
    td_campaign_add(check, prog, report);
    if (td_render_class(report) != NULL) {
        announce(check, prog, report);
    }
}

int
td_target_differential(uint8_t const *data, size_t data_sz)
{
    td_prog_t prog;

    td_process_check();
    td_prog_init(&prog);
    if (td_prog_repair(data, data_sz, &prog, NULL) != TD_OK) {
        td_process_stop("out of memory while repairing an input");
    }
    if (td_process_allows(&prog)) {
        judge(&prog);
    }
    td_prog_clear(&prog);
    return 0;
}
