/* td_process.c: setting a fuzzing process up from its environment. */
#include "target/td_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/td_target.h"

enum { EXIT_BAD_INPUT = 2, EXIT_HARNESS = 3 };

/* An engine treats a plain exit() of a target as a crash of it; nothing is to be
   written or blamed on an input here. */
static _Noreturn void
leave(int code, char const *why)
{
    fprintf(stderr, "tandem: %s\n", why);
    fflush(NULL);
    _Exit(code);
}

_Noreturn void
td_process_stop(char const *why)
{
    leave(EXIT_HARNESS, why);
}

static char const *
variable(char const *name)
{
    char const *value = getenv(name);

    return value == NULL || value[0] == '\0' ? NULL : value;
}

td_check_t *
td_process_check(void)
{
    static td_check_t *check; /* lives as long as the process */

    if (check == NULL) {
        td_check_config_t config = {
            .builder      = variable("TANDEM_BUILDER"),
            .revision     = variable("TANDEM_REVISION"),
            .subject_path = variable("TANDEM_SUBJECT"),
            .coverage     = true,
        };
        td_status_t status = td_check_new(&config, &check);

        if (status != TD_OK) {
            leave(status == TD_REJECT ? EXIT_BAD_INPUT : EXIT_HARNESS, td_check_why());
        }
    }
    return check;
}

void
td_target_prepare(char const *target_name)
{
    if (strcmp(target_name, "decode") != 0) { /* it alone needs no builder */
        td_process_check();
    }
}
