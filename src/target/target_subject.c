/* target_subject.c: the subject alone on any bytes, and what it leaves behind. */
#include <stdio.h>

#include "check/td_render.h"
#include "target/td_campaign.h"
#include "target/td_finding.h"
#include "target/td_process.h"
#include "target/td_target.h"

int
td_target_subject(uint8_t const *data, size_t data_sz)
{
    td_prog_t   prog;
    char        hash[9];
    char const *why   = NULL;
    td_check_t *check = td_process_check();

    td_prog_init(&prog);
    if (td_prog_repair(data, data_sz, &prog, NULL) != TD_OK) {
        td_process_stop("out of memory while repairing an input");
    }
    if (td_check_quiet(check, &prog, false, &why) != TD_OK) {
        td_campaign_broken();
        td_finding_broken(&prog, td_check_why());
    } else {
        td_campaign_add(check, &prog, NULL);
    }
    if (why != NULL) {
        td_render_hash(why, hash);
        td_finding_announce(&prog, hash, "subject left references behind", why, "{}");
    }
    td_prog_clear(&prog);
    return 0;
}
