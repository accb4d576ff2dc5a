/* td_liar.h: observations with one value changed, made from the schema.

   A comparison is trusted once it has caught a lie about every attribute that
   it claims to compare.  The liar takes an observation's canonical bytes and
   tells one lie: the first place that has the attribute gets another value of
   the same shape (a number one more, a bool turned, a text longer, a list or a
   bag one member shorter, null something and something null). */
#ifndef TD_OBSERVE_LIAR_H
#define TD_OBSERVE_LIAR_H

#include "observe/td_obs.h"

typedef struct {
    uint8_t    *bytes; /* owned by the caller, freed with td_free */
    size_t      sz;
    char const *field; /* what a difference must name ("ListVariable.guards"); lives until
                          td_obs_reset */
} td_lie_t;

/* td_liar_tell lies about field in the first record of class class_id, or, with
   TD_CLASS_NONE, of any class that has it.  An attribute of a Source or of Guard
   is changed in the first tree or row that has it; the record attribute around
   it is then what lie->field names.

   false: no record has it, and nothing was made; or obs failed (td_obs_status),
   or the bytes were refused (td_obs_why). */
bool td_liar_tell(td_obs_t *obs, uint8_t const *bytes, size_t sz, td_class_t class_id,
                  td_field_t field, td_lie_t *lie);

/* td_liar_change gives another value of the shape of val, as field has it. */
td_val_t td_liar_change(td_obs_t *obs, td_val_t val, td_field_t field);

#endif
