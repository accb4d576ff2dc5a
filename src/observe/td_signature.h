/* td_signature.h: a divergence's identity by meaning.

   Two divergences with one signature are one finding, whatever program showed
   them.  The text has five parts, joined by " | ":

       wrap | ListVariable.guards | roots[].tracker.guards |
       guard LIST_LENGTH missing | VariableBuilder.wrap_listlike: istype(...)

   entry point; field; path with indices removed; what each side has; the
   reference's deciding arm as function and condition.  What a side has is said
   by its class: a guard by its kind and missing (the subject lacks it) or extra,
   an exception by class and message, a tracker or another record by its kind, a
   source by its class, a canonical value by its word, anything else by its type.
   A difference in an outcome is told by the tracker or the exception. */
#ifndef TD_OBSERVE_SIGNATURE_H
#define TD_OBSERVE_SIGNATURE_H

#include "observe/td_obs.h"

/* Everything borrowed; an unknown text is "". */
typedef struct {
    td_obs_diff_t const *diffs;     /* as td_obs_diff found them; the first one names the finding */
    size_t               diff_cnt;  /* at least 1 */
    char const          *entry;     /* entry point: "wrap", "sourceless", ... */
    char const          *function;  /* of the deciding arm: "VariableBuilder._wrap" */
    char const          *condition; /* its condition, without line */
} td_signature_parts_t;

/* td_signature_text lives until td_obs_reset; NULL: no memory, which sticks. */
char const *td_signature_text(td_obs_t *obs, td_signature_parts_t const *parts);

/* td_signature_hash writes 8 hexadecimal digits and a NUL. */
enum { TD_SIGNATURE_HASH_SZ = 9 };
void td_signature_hash(char const *text, char hash[TD_SIGNATURE_HASH_SZ]);

/* td_signature_message takes out of an exception's message what differs from
   program to program: quoted text becomes '', numbers (also hexadecimal ones)
   and <object 3> become #, white space one blank; at most 200 bytes.  Lives
   until td_obs_reset; NULL: no memory, which sticks. */
char const *td_signature_message(td_obs_t *obs, char const *message, size_t sz);

#endif
