/* td_process.h: the one judge of a fuzzing process, set up from the environment. */
#ifndef TD_TARGET_PROCESS_H
#define TD_TARGET_PROCESS_H

#include "check/td_check.h"

/* td_process_check gives the judge (borrowed, never NULL), set up at the first
   call; a process that cannot be set up ends with one line and exit 2 or 3. */
td_check_t *td_process_check(void);

/* td_process_stop ends the process with one line: the harness itself failed. */
_Noreturn void td_process_stop(char const *why);

#endif
