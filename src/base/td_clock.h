/* td_clock.h: how much of the processor's time this process has used. */
#ifndef TD_BASE_CLOCK_H
#define TD_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* td_clock_ns gives nanoseconds of processor time, all threads together: what other
   processes do to the machine moves it least of all clocks.  A call costs some
   hundred nanoseconds, which whoever times something short takes off. */
static inline uint64_t
td_clock_ns(void)
{
    struct timespec now = {0};

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
