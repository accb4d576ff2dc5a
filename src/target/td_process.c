/* td_process.c: setting a fuzzing process up from its environment. */
#include "target/td_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/td_target.h"

enum {
    EXIT_BAD_INPUT = 2,
    EXIT_HARNESS   = 3,
    TURN_LENGTH    = 2048, /* a second or two: some twenty swarms a minute */
    ONLY_SZ        = 4096,
};

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

/* ---- what programs are made of --------------------------------------------------- */

static char const *
only_list(char done[ONLY_SZ])
{
    char const *only = variable("TANDEM_ONLY");

    if (only == NULL || strcmp(only, "done") != 0) {
        return only;
    }
    if (td_check_done(variable("TANDEM_SUBJECT"), done, ONLY_SZ) != TD_OK) {
        leave(EXIT_BAD_INPUT, td_check_why());
    }
    return done;
}

static void
weights_read(td_weights_t *weights)
{
    char        why[200];
    char        done[ONLY_SZ];
    char const *only = only_list(done);

    td_weights_init(weights);
    if (only != NULL && td_weights_only(weights, only, why) != TD_OK) {
        leave(EXIT_BAD_INPUT, why);
    }
}

td_weights_t const *
td_process_weights(void)
{
    static td_weights_t all, swarm;
    static uint64_t     seed, call_cnt;

    if (call_cnt == 0) {
        char const *text = variable("TANDEM_SEED");

        seed = text == NULL ? 0 : strtoull(text, NULL, 10);
        weights_read(&all);
    }
    if (call_cnt++ % TURN_LENGTH == 0) {
        td_weights_swarm(&all, seed + call_cnt / TURN_LENGTH, &swarm);
    }
    return &swarm;
}

void
td_target_prepare(char const *target_name)
{
    if (strcmp(target_name, "decode") != 0) { /* it alone needs no builder */
        td_process_check();
        td_process_weights();
    }
}
