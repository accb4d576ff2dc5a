/* td_process.h: the one judge of a fuzzing process, set up from the environment. */
#ifndef TD_TARGET_PROCESS_H
#define TD_TARGET_PROCESS_H

#include "check/td_check.h"
#include "graph/td_graph.h"

/* td_process_check gives the judge (borrowed, never NULL), set up at the first
   call; a process that cannot be set up ends with one line and exit 2 or 3. */
td_check_t *td_process_check(void);

/* td_process_mutate changes an input in place, for the engine: most often by
   td_mutate, every second time by a fresh program in its stead, since what grows out of
   small inputs alone stays small.  What programs are made of is what TANDEM_ONLY
   names, in a swarm drawn from TANDEM_SEED that changes from turn to turn.
   Arguments and result as td_mutate; 0 also where the engine should use its own
   mutator.  Ends the process like td_process_check for an unknown word. */
size_t td_process_mutate(uint8_t *data, size_t sz, size_t sz_max, unsigned seed);

/* td_process_cross: td_crossover with the same weights. */
size_t td_process_cross(uint8_t const *left, size_t left_sz, uint8_t const *right, size_t right_sz,
                        uint8_t *out, size_t out_sz_max, unsigned seed);

/* td_process_allows says whether prog holds nothing but what TANDEM_ONLY names;
   always true where it is not set. */
bool td_process_allows(td_prog_t const *prog);

/* td_process_stop ends the process with one line: the harness itself failed. */
_Noreturn void td_process_stop(char const *why);

#endif
