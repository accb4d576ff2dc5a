/* td_process.h: the one judge of a fuzzing process, set up from the environment. */
#ifndef TD_TARGET_PROCESS_H
#define TD_TARGET_PROCESS_H

#include "check/td_check.h"
#include "gen/td_weights.h"

/* td_process_check gives the judge (borrowed, never NULL), set up at the first
   call; a process that cannot be set up ends with one line and exit 2 or 3. */
td_check_t *td_process_check(void);

/* td_process_weights gives what generated programs are made of (borrowed): what
   TANDEM_ONLY names, in a swarm drawn from TANDEM_SEED that changes from turn to
   turn.  Counts calls: a turn is TURN_LENGTH of them.  Ends the process like
   td_process_check for an unknown word. */
td_weights_t const *td_process_weights(void);

/* td_process_stop ends the process with one line: the harness itself failed. */
_Noreturn void td_process_stop(char const *why);

#endif
