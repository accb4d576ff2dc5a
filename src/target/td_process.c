/* td_process.c: setting a fuzzing process up from its environment. */
#include "target/td_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/td_alloc.h"
#include "gen/td_crossover.h"
#include "gen/td_gen.h"
#include "gen/td_mutate.h"
#include "gen/td_trim.h"
#include "target/td_target.h"

enum {
    EXIT_BAD_INPUT = 2,
    EXIT_HARNESS   = 3,
    TURN_LENGTH    = 2048, /* a second or two: some twenty swarms a minute */
    STAND_ASIDE = 8, /* one mutation in so many is the engine's own: bytes we would never write */
    FRESH       = 2, /* every second one is no mutation but a new program */
    ONLY_SZ     = 4096,
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

/* Everything that is kept to, before a swarm is drawn from it. */
static td_weights_t const *
weights_all(void)
{
    static td_weights_t all; /* lives as long as the process */
    static bool         read;

    if (!read) {
        weights_read(&all);
        read = true;
    }
    return &all;
}

static td_weights_t const *
weights_now(void)
{
    static td_weights_t swarm; /* of this turn */
    static uint64_t     call_cnt;

    if (call_cnt % TURN_LENGTH == 0) {
        char const *text = variable("TANDEM_SEED");
        uint64_t    seed = text == NULL ? 0 : strtoull(text, NULL, 10);

        td_weights_swarm(weights_all(), seed + call_cnt / TURN_LENGTH, &swarm);
    }
    call_cnt++;
    return &swarm;
}

static bool
is_free(void)
{
    return variable("TANDEM_ONLY") == NULL;
}

/* A generated program over data; 0: none fits. */
static size_t
fresh(uint8_t *data, size_t sz_max, unsigned seed)
{
    td_prog_t prog;
    uint8_t  *bytes = NULL; /* owned */
    size_t    sz    = 0;

    td_prog_init(&prog);
    if (td_gen(&prog, seed, sz_max, 0, weights_now()) == TD_OK &&
        td_prog_encode(&prog, &bytes, &sz) == TD_OK && sz <= sz_max) {
        memcpy(data, bytes, sz);
    } else {
        sz = 0;
    }
    td_free(bytes);
    td_prog_clear(&prog);
    return sz;
}

/* A mutation can find nothing to change, a crossover nothing that may be put
   together; the same program again would teach nothing. */
static size_t
unless_same(uint8_t const *before, size_t before_sz, uint8_t *out, size_t out_sz, size_t sz_max,
            unsigned seed)
{
    size_t other = 0;

    if (before_sz == out_sz && memcmp(before, out, out_sz) == 0) {
        other = fresh(out, sz_max, seed);
    }
    return other != 0 ? other : out_sz;
}

size_t
td_process_mutate(uint8_t *data, size_t sz, size_t sz_max, unsigned seed)
{
    size_t   mutated = 0;
    uint8_t *before  = NULL; /* owned */

    if (seed % STAND_ASIDE == 0 && is_free()) {
        return 0;
    }
    if (seed % FRESH == 1) {
        mutated = fresh(data, sz_max, seed);
    }
    if (mutated != 0) {
        return mutated;
    }
    before = td_malloc(sz);
    if (before != NULL) {
        memcpy(before, data, sz);
        mutated = td_mutate(data, sz, sz_max, seed, weights_now(), NULL);
        mutated = unless_same(before, sz, data, mutated, sz_max, seed);
    }
    td_free(before);
    return mutated;
}

size_t
td_process_cross(uint8_t const *left, size_t left_sz, uint8_t const *right, size_t right_sz,
                 uint8_t *out, size_t out_sz_max, unsigned seed)
{
    size_t sz = td_crossover(left, left_sz, right, right_sz, out, out_sz_max, seed, weights_now());

    return unless_same(left, left_sz, out, sz, out_sz_max, seed);
}

bool
td_process_allows(td_prog_t const *prog)
{
    bool allowed = true;

    if (!is_free() && td_trim_allowed(prog, weights_all(), &allowed) != TD_OK) {
        td_process_stop("out of memory while looking at an input");
    }
    return allowed;
}

void
td_target_prepare(char const *target_name)
{
    if (strcmp(target_name, "decode") != 0) { /* it alone needs no builder */
        td_process_check();
        weights_now();
    }
}
