/* td_status.h: the one vocabulary of failure.

   A function that can fail in more than one way returns td_status_t; a
   constructor returns an object or NULL.  A function that returns TD_PYERR (or
   NULL for a Python reason) leaves a Python exception set; every other return
   leaves none. */
#ifndef TD_BASE_STATUS_H
#define TD_BASE_STATUS_H

#define TD_STATUS_LIST(X)                                            \
    X(OK, 0, "success")                                              \
    X(REJECT, -1, "the input is not what it should be")              \
    X(LIMIT, -2, "a limit from td_limits.h would be exceeded")       \
    X(PYERR, -3, "a Python exception is set in this thread")         \
    X(NOMEM, -4, "an allocation failed, no Python exception is set") \
    X(INTERNAL, -5, "harness bug: an invariant did not hold")

typedef enum {
#define X(name, value, text) TD_##name = value,
    TD_STATUS_LIST(X)
#undef X
} td_status_t;

/* td_status_text gives the sentence that belongs to status: static, never
   NULL, also for a number that is no status. */
char const *td_status_text(td_status_t status);

/* TD_TRY hands an error on: one way to write it, so that coverage can tell the
   lines that only do this from lines that decide. `done` releases what is
   owned; `status` is the function's result. */
#define TD_TRY(call)           \
    do {                       \
        status = (call);       \
        if (status != TD_OK) { \
            goto done;         \
        }                      \
    } while (0)

#endif
