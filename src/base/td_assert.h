/* td_assert.h: assertions that stay on in every build.

   A broken invariant is our bug: say which, where, and stop at once, so that no
   verdict is ever drawn from a state that makes no sense. */
#ifndef TD_BASE_ASSERT_H
#define TD_BASE_ASSERT_H

/* td_assert_fail prints "tandem: file:line: function: assertion failed: text"
   to stderr and aborts. */
_Noreturn void td_assert_fail(char const *text, char const *file, int line, char const *function);

#define TD_ASSERT(cond) ((cond) ? (void)0 : td_assert_fail(#cond, __FILE__, __LINE__, __func__))

#endif
