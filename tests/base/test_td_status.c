/* test_td_status.c: every status has its sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/td_status.h"

static void
every_status_has_a_sentence(void **state)
{
    (void)state;
#define X(name, value, text)            \
    assert_int_equal(TD_##name, value); \
    assert_string_equal(td_status_text(TD_##name), text);
    TD_STATUS_LIST(X)
#undef X
    assert_string_equal(td_status_text((td_status_t)99), "no status of Tandem's");
}

static td_status_t
hand_on(td_status_t given, int *released)
{
    td_status_t status = TD_OK;

    TD_TRY(given);
    status = TD_LIMIT;
done:
    ++*released;
    return status;
}

static void
try_hands_errors_on_past_done(void **state)
{
    int released = 0;

    (void)state;
    assert_int_equal(hand_on(TD_NOMEM, &released), TD_NOMEM);
    assert_int_equal(hand_on(TD_OK, &released), TD_LIMIT);
    assert_int_equal(released, 2);
}

int
main(void)
{
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(every_status_has_a_sentence),
        cmocka_unit_test(try_hands_errors_on_past_done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
