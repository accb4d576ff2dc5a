/* test_td_assert.c: a broken invariant says which one and stops the process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/td_assert.h"

/* What a child that breaks an invariant writes to stderr. */
static int
broken(char *text, size_t sz)
{
    int     ends[2], status = 0;
    pid_t   child;
    ssize_t got;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        TD_ASSERT(1 + 1 == 3);
        _exit(0);
    }
    close(ends[1]);
    got                     = read(ends[0], text, sz - 1);
    text[got > 0 ? got : 0] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void
a_broken_invariant_aborts(void **state)
{
    char text[512];
    int  status = broken(text, sizeof text);

    (void)state;
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_non_null(strstr(text, "test_td_assert.c:"));
    assert_non_null(strstr(text, "broken: assertion failed: 1 + 1 == 3"));
}

static void
a_kept_one_does_nothing(void **state)
{
    (void)state;
    TD_ASSERT(1 + 1 == 2);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_broken_invariant_aborts),
        cmocka_unit_test(a_kept_one_does_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
