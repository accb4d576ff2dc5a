/* td_switches.h: which revision of the reference a program is built by.

   Revisions differ in what switches.def lists and in nothing else: code asks
   td_switch(b, TD_SWITCH_NAME) and never for a revision.  The rows of rules.def that
   stand in one revision only name their switch.

   Arms go by the mission's names in both revisions: a rule is the same decision
   whatever line it stands on, and names of arms are shown and counted, never
   compared.  Only a rule that the mission lacks has the installed file's name. */
#ifndef TD_BUILDER_SWITCHES_H
#define TD_BUILDER_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
#define X(name, mission, installed, what, program) TD_SWITCH_##name,
#include "builder/switches.def"
#undef X
    TD_SWITCH_CNT
} td_switch_t;

typedef uint32_t td_switches_t; /* a set of switches: those that are on */

/* td_switches_find gives the switches of a revision: "mission" or "installed".
   False: there is no such revision. */
bool td_switches_find(char const *revision, td_switches_t *switches);

static inline bool
td_switches_has(td_switches_t switches, td_switch_t which)
{
    return (switches >> which & 1U) != 0;
}

#endif
