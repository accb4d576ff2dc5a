/* td_reference.h: the doorway to the Python builder.

   It drives tandem.oracle in the same process: loads a builder, gives each frame
   a fresh context, builds the roots, and walks what came out into observations
   (td_walk).  One reference a process: torch._dynamo can be loaded only once. */
#ifndef TD_REFERENCE_REFERENCE_H
#define TD_REFERENCE_REFERENCE_H

#include "live/td_live.h"
#include "observe/td_run.h"
#include "py/td_py.h"

typedef struct td_reference td_reference_t;

/* td_reference_new loads the builder: NULL or "installed" is torch's own, else
   the path of a file that is loaded over it.  TD_REJECT: the file does not parse
   or is no builder (td_reference_why has one line file:line:column: what);
   TD_INTERNAL: torch is missing or of another version; TD_PYERR as always. */
td_status_t td_reference_new(char const *builder, td_reference_t **reference);
void        td_reference_free(td_reference_t *reference);
char const *td_reference_why(void); /* about the last failure of td_reference_new */

/* What was loaded.  revision is "mission" or "installed"; distance is how many
   syntax nodes the file is away from the known revision (0: it is that one). */
char const *td_reference_revision(td_reference_t const *reference, int *distance);
char const *td_reference_torch(td_reference_t const *reference);   /* "2.1.2" */
char const *td_reference_builder(td_reference_t const *reference); /* path or "installed" */

/* Arms of the loaded file, in enumeration order. */
size_t td_reference_arm_cnt(td_reference_t const *reference);
/* "L410/if/T", and "VariableBuilder._wrap: condition" */
char const *td_reference_arm_id(td_reference_t const *reference, size_t idx);
char const *td_reference_arm_text(td_reference_t const *reference, size_t idx);

/* td_reference_watch_arms switches the recording of arms on (as it is at first) or
   off, for whole programs; off, runs have no arms and outcomes no deciding arm. */
td_status_t td_reference_watch_arms(td_reference_t *reference, bool on);

/* td_reference_recursion_left: how many more Python frames may be entered at a
   root before RecursionError.  Always the same: the reference is called from the
   same stack depth whoever calls. */
int td_reference_recursion_left(td_reference_t const *reference);

/* td_reference_reset sets everything in the process that objects and builds draw
   from to the same value; called before each materialisation. */
td_status_t td_reference_reset(td_reference_t *reference);

/* td_reference_enter_frame is what every frame begins with that the reference does not open
   itself: modules made before it are not "dynamic".  -1: Python exception. */
int td_reference_enter_frame(td_reference_t *reference);

/* td_reference_config gives a new dict of every Dynamo config value a builder
   may read, as in force under live's own values; td_reference_tables the module
   data that a subject may read (keys: td_tables.h).  NULL: Python exception. */
PyObject *td_reference_config(td_reference_t *reference, PyObject *overrides);
PyObject *td_reference_tables(td_reference_t *reference);

/* td_reference_on_step sets what is called during td_reference_run, with the GIL
   held and no exception set: frame and step after each step (root or do), and
   once a frame with step TD_STEP_BEGIN before its first step and TD_STEP_END
   when its observation is written but its context still open.  So another builder
   can be led beside this one on the same objects.  What it returns, if not TD_OK,
   ends the run with that status.  NULL: nothing is called. */
#define TD_STEP_BEGIN (SIZE_MAX - 1)
#define TD_STEP_END   SIZE_MAX
typedef td_status_t (*td_step_hook_t)(void *ctx, size_t frame_idx, size_t step_idx);
void td_reference_on_step(td_reference_t *reference, td_step_hook_t hook, void *ctx);

/* A builder call inside a compile step: its context, in the words of
   tandem.oracle.calls, and where it stands among the contexts of the run.  Borrowed,
   for the time of the hook. */
typedef enum { TD_CALL_BEFORE, TD_CALL_AFTER, TD_CALL_END } td_call_event_t;

typedef struct {
    PyObject      *context; /* tandem.oracle.calls.Context */
    size_t         context_idx;
    size_t         step_idx;       /* of the call in its context; END: how many there were */
    int            recursion_left; /* Python frames left where the builder is called */
    uint8_t const *state; /* canonical bytes of the context's Frame record before the call */
    size_t         state_sz;
    char const    *records; /* AFTER: operator records as JSON; NULL: none */
    bool           wanted;  /* within the limit of the run */
} td_reference_call_t;

/* td_reference_on_call sets what is called during td_reference_run before and after each
   builder call inside a compile step, and when its context ends.  As td_reference_on_step. */
typedef td_status_t (*td_call_hook_t)(void *ctx, td_call_event_t event,
                                      td_reference_call_t const *call);
void td_reference_on_call(td_reference_t *reference, td_call_hook_t hook, void *ctx);

/* td_reference_run builds live's frames and fills run (initialised, empty).
   limit may be NULL.  An exception in a root is an outcome; what breaks outside
   every root sets run->failed.  Returns an error only for the harness's own
   failures; TD_PYERR with tandem.oracle.context.BadProgram or
   tandem.oracle.config.UnknownConfig is bad input.  Names of arms and functions
   in outcomes live as long as reference. */
td_status_t td_reference_run(td_reference_t *reference, td_live_t const *live,
                             td_run_limit_t const *limit, td_run_t *run);

#endif
