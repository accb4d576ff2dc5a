/* td_target.h: what a fuzzing engine calls.

   A *target* takes any bytes and always returns 0; what it finds it says by
   aborting.  It knows no engine; engines know nothing else. */
#ifndef TD_TARGET_TARGET_H
#define TD_TARGET_TARGET_H

#include <stddef.h>
#include <stdint.h>

#define X(name, meaning) int td_target_##name(uint8_t const *data, size_t sz);
#include "target/targets.def"
#undef X

#endif
