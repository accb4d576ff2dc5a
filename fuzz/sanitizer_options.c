/* sanitizer_options.c: what the address sanitizer is told by every executable of ours.

   CPython leaks at start by design, so that a leak report would always come and
   never mean us; our own leaks are caught by counting references. */
char const *__asan_default_options(void);

char const *
__asan_default_options(void)
{
    return "detect_leaks=0";
}
