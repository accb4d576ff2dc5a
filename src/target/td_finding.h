/* td_finding.h: how a divergence announces itself. */
#ifndef TD_TARGET_FINDING_H
#define TD_TARGET_FINDING_H

#include "check/td_check.h"

/* td_finding_announce tells about a finding.  With TANDEM_FINDINGS set it writes
   the folder <hash> there (program.tdm, program.txt, finding.json, log.txt),
   whole or not at all, unless it is there, and returns.  Otherwise it prints the details, then

       ASSERTION FAILED: FuzzerHash=<hash> <headline>

   and aborts: a service cuts the line at 80 characters and takes two findings
   for the same when it is the same.

   hash: 8 hex digits; text and json: see td_render.h. */
void td_finding_announce(td_prog_t const *prog, char const *hash, char const *headline,
                         char const *text, char const *json);

/* td_finding_broken: the harness itself failed on prog, which is no finding but
   must not be lost either.  With TANDEM_FINDINGS set the program is kept there
   (class "harness") and the campaign goes on, to end with exit 3; else the process
   ends with one line and exit 3. */
void td_finding_broken(td_prog_t const *prog, char const *why);

#endif
