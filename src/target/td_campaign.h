/* td_campaign.h: what a fuzzing process did, counted.

   A fuzzer that mostly gives up looks exactly like one that finds nothing, so
   everything is counted twice: how often it was seen, and how often in a program
   that was compared. */
#ifndef TD_TARGET_CAMPAIGN_H
#define TD_TARGET_CAMPAIGN_H

#include "check/td_check.h"

/* td_campaign_add counts one program and what became of it (report may be NULL:
   it was not judged); now and then writes the counts to the file that
   TANDEM_STATS names. */
void td_campaign_add(td_check_t *check, td_prog_t const *prog, td_report_t const *report);

/* td_campaign_broken counts a program on which the harness itself failed. */
void td_campaign_broken(void);

/* td_campaign_finding counts a finding by its signature's hash; true when it is
   the first with this hash in this process. */
bool td_campaign_finding(char const *hash);

/* td_campaign_flush writes the counts now. */
void td_campaign_flush(void);

#endif
