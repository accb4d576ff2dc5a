/* td_bench.h: how long each side takes, with everything else left out.

   A *pass* makes a program's objects and has one side build them once, timing
   each part apart.  Whoever measures repeats passes, the sides in turn, and takes
   medians; all times are processor time. */
#ifndef TD_CHECK_BENCH_H
#define TD_CHECK_BENCH_H

#include "check/td_check_case.h"

typedef struct {
    /* in */
    bool        want_memory; /* fill memory_sz: takes time, so not in a pass that is timed */
    char const *count;       /* NULL, or the name of a count of instructions (callgrind) */
    /* out */
    uint64_t reset_ns;   /* setting the process to its start; 0 for a case, see make_ns */
    uint64_t make_ns;    /* making the objects, and dropping them; of a case reset too */
    uint64_t run_ns;     /* everything the side did, contexts and do steps too */
    uint64_t context_ns; /* opening and closing contexts */
    uint64_t roots_ns;   /* the roots alone, in contexts that are there */
    size_t   stretch_cnt; /* readings of the clock that roots_ns holds */
    size_t   root_cnt;
    size_t   stopped_cnt; /* roots that the subject did not build */
    size_t   memory_sz;   /* bytes from malloc that the subject's roots hold in their frame */
} td_bench_t;

/* td_bench_program and td_bench_case do one pass of one side; TD_SIDE_REFERENCE is
   the bare reference, whose arms td_reference_watch_arms switches.  TD_INTERNAL
   with td_check_why; TD_PYERR: the exception is set. */
td_status_t td_bench_program(td_check_t *check, td_prog_t const *prog, td_which_t which,
                             td_bench_t *bench);
td_status_t td_bench_case(td_check_t *check, td_case_t const *in, td_which_t which,
                          td_bench_t *bench);

/* td_bench_counts says whether this build can count instructions, which it does only
   under valgrind. */
bool td_bench_counts(void);

/* td_bench_keep_memory has the process keep what it frees from now on, so that passes are
   timed on memory that is there, as in a process that has run for a while. */
void td_bench_keep_memory(void);

/* td_bench_making_ns: how long the objects of the program that was judged last took to make
   and to drop, for both sides together. */
uint64_t td_bench_making_ns(td_check_t const *check);

/* td_bench_clock_ns: what two readings of the clock right after each other are apart. */
uint64_t td_bench_clock_ns(void);

#endif
