/* td_render.h: a report as text, for logs and for a finding's folder. */
#ifndef TD_CHECK_RENDER_H
#define TD_CHECK_RENDER_H

#include "check/td_check.h"

/* Both give a text that lives until the next call on the same td_check_t, "" for
   want of memory.

   td_render_text: what a person reads: verdict, reason, the divergences with
   both values and both arms; lines end in a newline.

   td_render_json: the same as one JSON object: verdict, flags, why, signature,
   signature_hash, headline, class, reference_arm, subject_arm, divergences. */
char const *td_render_text(td_check_t *check, td_report_t const *report);
char const *td_render_json(td_check_t *check, td_report_t const *report);

/* td_render_class: "diverge", "reference-failed" or "flaky": what kind of finding
   a report is; NULL: it is none. */
char const *td_render_class(td_report_t const *report);

/* td_render_hash names a text by 8 hex digits, as signatures are named. */
void td_render_hash(char const *text, char hash[9]);

#endif
