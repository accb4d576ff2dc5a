/* td_cover.h: what <build>/subjects/covered.so shows beside td_subject_v1.

   That library is the subject once more, from the same sources, with counters at its
   lines; `tandem cover` runs it in the subject's place. */
#ifndef TD_COVER_COVER_H
#define TD_COVER_COVER_H

#include <stdint.h>

#define TD_COVER_SHOWN __attribute__((visibility("default")))

/* td_cover_write writes the counters to the file at path, as llvm-profdata reads them; 0,
   or a number that is none of ours. */
TD_COVER_SHOWN int td_cover_write(char const *path);

/* td_cover_arm lets the subject's nth allocation from now on (from 1) fail, once: of its
   own memory, or with of_python the nth that CPython makes for it, which is counted within
   the functions of the subject's table alone, and not while they run code that is not ours
   (td_call) or hand something out.  td_cover_disarm ends that and says whether it failed. */
TD_COVER_SHOWN void td_cover_arm(uint64_t nth, int of_python);
TD_COVER_SHOWN int  td_cover_disarm(void);

/* td_cover_live_cnt counts blocks that the subject holds. */
TD_COVER_SHOWN int64_t td_cover_live_cnt(void);

#endif
