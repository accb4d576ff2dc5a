/* td_switches.c: which revision of the reference a program is built by. */
#include "builder/td_switches.h"

#include <stddef.h>
#include <string.h>

_Static_assert(TD_SWITCH_CNT <= 32, "td_switches_t has one bit for each switch");

/* The rows of switches.def, a column a revision. */
static struct {
    char const   *revision;
    td_switches_t switches;
} const revisions[] = {
#define X(name, mission, installed, what, program) | (td_switches_t)(mission) << TD_SWITCH_##name
    {"mission", 0
#include "builder/switches.def"
    },
#undef X
#define X(name, mission, installed, what, program) | (td_switches_t)(installed) << TD_SWITCH_##name
    {"installed", 0
#include "builder/switches.def"
    },
#undef X
};

bool
td_switches_find(char const *revision, td_switches_t *switches)
{
    for (size_t i = 0; i < sizeof revisions / sizeof *revisions; i++) {
        if (strcmp(revisions[i].revision, revision) == 0) {
            *switches = revisions[i].switches;
            return true;
        }
    }
    return false;
}
