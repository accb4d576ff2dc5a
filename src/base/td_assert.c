/* td_assert.c: says which invariant broke, then stops the process. */
#include "base/td_assert.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void
td_assert_fail(char const *text, char const *file, int line, char const *function)
{
    fprintf(stderr, "tandem: %s:%d: %s: assertion failed: %s\n", file, line, function, text);
    fflush(stderr);
    abort();
}
