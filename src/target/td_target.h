/* td_target.h: what a fuzzing engine calls, without any engine.

   A *target* takes any bytes and always returns 0.  What it finds it announces by
   a line and abort(), as fuzzing services expect; with TANDEM_FINDINGS set it
   writes a folder instead and goes on.

   A process is set up by environment variables, since an engine owns the command
   line:

     TANDEM_BUILDER   the reference: a builder.py, or "installed" (default)
     TANDEM_REVISION  "mission", "installed" or "auto" (default)
     TANDEM_SUBJECT   a subject's .so in place of the one linked in
     TANDEM_ONLY      kinds, sources and config values to keep to ("done", or words)
     TANDEM_SEED      where the draws of what programs are made of come from
     TANDEM_FINDINGS  folder for findings
     TANDEM_STATS     file that gets the campaign's counts as JSON, about once a second */
#ifndef TD_TARGET_TARGET_H
#define TD_TARGET_TARGET_H

#include <stddef.h>
#include <stdint.h>

#define X(name, meaning) int td_target_##name(uint8_t const *data, size_t data_sz);
#include "target/targets.def"
#undef X

/* td_target_prepare does what a target does before its first input: starting
   Python and loading both builders takes seconds, which no input's time limit
   should pay for.  Prints one line and exits with 2 or 3 when it cannot. */
void td_target_prepare(char const *target_name);

#endif
