/* td_subject.c: the builder behind the table of td_abi.h. */
#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"
#include "builder/td_frame.h"

/* ---- programs -------------------------------------------------------------------- */

static int
fail(td_builder_t *b, char const *what)
{
    PyErr_Clear();
    snprintf(b->why, sizeof b->why, "%s", what);
    return -1;
}

/* truth_of reads one truth value of the configuration; name keeps the key.  -1: missing. */
static int
truth_of(PyObject *config, PyObject **name, char const *key)
{
    PyObject *value = td_dict_find_kept(config, name, key); /* borrowed */

    return value == NULL ? -1 : PyObject_IsTrue(value);
}

static int
read_config(td_builder_t *b)
{
    static struct {
#define X(field, key) PyObject *field;
        TD_CONFIG_LIST(X)
#undef X
        PyObject *subclasses;
    } names; /* every program reads them: the keys are made once */
    int truth = 0;

#define X(field, key)                                   \
    truth = truth_of(b->config, &names.field, key);     \
    if (truth < 0) {                                    \
        return fail(b, "the configuration lacks " key); \
    }                                                   \
    b->cfg.field = truth == 1;
    TD_CONFIG_LIST(X)
#undef X
    b->cfg.traceable_tensor_subclasses =
        td_dict_find_kept(b->config, &names.subclasses, "traceable_tensor_subclasses");
    if (b->cfg.traceable_tensor_subclasses == NULL ||
        !PyAnySet_Check(b->cfg.traceable_tensor_subclasses)) {
        return fail(b, "the configuration lacks traceable_tensor_subclasses");
    }
    b->cfg.force_unspec_int = b->cfg.force_unspec_int && td_switch(b, TD_SWITCH_UNBACKED_INTS);
    td_plant_stale(&b->cfg.specialize_int);
    return 0;
}

static int
read_names(td_builder_t *b)
{
    td_names_t const *names = td_names_get();

    if (names == NULL) {
        return fail(b, "out of memory");
    }
    b->names = *names;
    return 0;
}

/* Members that a caller of an earlier version does not have. */
#define HAS(in, member) \
    ((in)->struct_sz >= offsetof(td_abi_program_v1, member) + sizeof(in)->member)

static int
program_set_up(td_builder_t *b, td_abi_program_v1 const *program)
{
    char why[128];

    b->objects     = Py_NewRef(program->objects);
    b->config      = Py_NewRef(program->config);
    b->table_dict  = Py_NewRef(program->tables);
    b->export_mode = program->export_mode != 0;
    b->no_trail    = HAS(program, no_trail) && program->no_trail != 0;
    b->frame_cnt   = HAS(program, frame_cnt) ? program->frame_cnt : 0;
    if (!td_switches_find(program->revision, &b->switches)) {
        return fail(b, "this subject follows the revisions mission and installed");
    }
    if (!td_plant_load(why, sizeof why) ||
        !td_tables_load(&b->tables, b->table_dict, why, sizeof why)) {
        return fail(b, why);
    }
    return read_config(b) == 0 && read_names(b) == 0 ? 0 : -1;
}

static int
program_open(td_abi_program_v1 const *program, void **self)
{
    td_builder_t *b = td_calloc(1, sizeof *b);

    *self = b;
    if (b == NULL) {
        return -1;
    }
    td_frame_state_init(&b->state);
    return program_set_up(b, program);
}

static void
program_close(void *self)
{
    td_builder_t *b = self;

    if (b == NULL) {
        return;
    }
    td_frame_close(b);
    td_frame_state_clear(&b->state);
    Py_CLEAR(b->objects);
    Py_CLEAR(b->config);
    Py_CLEAR(b->table_dict);
    td_free(b->members[0].at);
    td_free(b->members[1].at);
    td_free(b);
}

static char const *
error(void *self)
{
    return self == NULL ? "out of memory" : ((td_builder_t *)self)->why;
}

/* ---- frames ------------------------------------------------------------------------ */

static int
frame_open(void *self, td_abi_frame_v1 const *frame)
{
    td_builder_t *b = self;

    b->stop = (td_stop_t){0};
    if (!td_frame_open(b, frame)) {
        td_frame_close(b);
        return fail(b, "out of memory while a frame was opened");
    }
    b->frame.has_state = frame->state != NULL;
    return 0;
}

static int
frame_observe(void *self, td_abi_sink_v1 sink, void *ctx)
{
    return td_observe_frame(self, sink, ctx);
}

static void
frame_close(void *self)
{
    td_builder_t *b       = self;
    bool          is_last = b->frame_cnt != 0 && b->frame_idx + 1 >= b->frame_cnt;

    /* What cannot be spelled now cannot be found again: such an entry is dropped. */
    if (b->frame_open && (is_last || !td_frame_state_spell(b))) {
        PyErr_Clear();
        td_frame_state_clear(&b->state);
        td_frame_state_init(&b->state);
    }
    td_frame_close(b);
    b->frame_idx++;
}

/* ---- roots ---------------------------------------------------------------------------- */

/* note keeps what a root gave, for the observation. */
static bool
note(td_builder_t *b, td_at_t const *at, size_t step_idx, td_var_t const *var)
{
    td_stop_t const *stop = &b->stop;
    td_root_t        root = {.kind = TD_ROOT_EXCEPTION, .source = at->id, .step_idx = step_idx};

    if (stop->kind == TD_STOP_NONE && b->value != NULL) {
        root.kind  = TD_ROOT_VALUE;
        root.value = b->value;
    } else if (stop->kind == TD_STOP_NONE) {
        td_var_t *kept = td_alloc_in(b, sizeof *kept);

        if (kept == NULL) {
            return false;
        }
        *kept     = *var;
        root.kind = TD_ROOT_TRACKER;
        root.var  = kept;
    } else {
        root.exception  = stop->why;
        root.message    = stop->message;
        root.message_sz = stop->message_sz;
        root.text       = stop->text;
        root.key_error  = stop->key_error;
    }
    return TD_ARRAY_PUSH(b->frame.roots, root) || td_stop_nomem(b);
}

/* build runs one root and gives the arm and function that decided. */
static void
build(td_builder_t *b, td_abi_root_v1 const *in, td_abi_outcome_v1 *out)
{
    td_at_t  at  = {0};
    td_var_t var = {0};

    if (b->frame.has_state) {
        td_stop_unsupported(b, "L211/fn/entered", __func__,
                            "a frame that starts from somebody else's state");
    } else {
        (void)(td_context_read(b) && td_enter(b, in, &at, &var));
    }
    if (b->stop.kind == TD_STOP_NONE || b->stop.kind == TD_STOP_EXCEPTION) {
        (void)note(b, &at, in->step_idx, &var);
    }
    out->arm      = b->stop.kind == TD_STOP_NONE ? "L239/ret/reached" : b->stop.arm;
    out->function = b->stop.kind == TD_STOP_NONE ? "td_build" : b->stop.function;
    if (b->stop.kind == TD_STOP_NONE && b->frame.root_trail < b->frame.trail.cnt) {
        out->arm      = b->frame.trail.at[b->frame.root_trail].arm;
        out->function = b->frame.trail.at[b->frame.root_trail].function;
    }
}

#define ROOT_HAS(in, member) \
    ((in)->struct_sz >= offsetof(td_abi_root_v1, member) + sizeof(in)->member)

static int
root(void *self, td_abi_root_v1 const *in, td_abi_outcome_v1 *out)
{
    static int const kinds[] = {
        [TD_STOP_NONE]        = TD_ABI_TRACKER,
        [TD_STOP_EXCEPTION]   = TD_ABI_EXCEPTION,
        [TD_STOP_UNSUPPORTED] = TD_ABI_UNSUPPORTED,
        [TD_STOP_POISONED]    = TD_ABI_POISONED,
        [TD_STOP_FAILED]      = 0,
    };
    td_builder_t *b = self;

    b->stop             = (td_stop_t){0};
    b->frames           = 0;
    b->context          = ROOT_HAS(in, recursion_left) ? in->state : NULL;
    b->records          = in->records;
    b->record_idx       = 0;
    b->value            = NULL;
    b->modes            = TD_MODES_UNKNOWN;
    b->frame.root_trail = b->frame.trail.cnt;
    if (b->context != NULL) {
        td_frame_deepen(b, in->recursion_left);
    }
    build(b, in, out);
    b->records = NULL;
    b->context = NULL;
    if (b->stop.kind == TD_STOP_FAILED) {
        return -1;
    }
    out->kind =
        b->value != NULL && b->stop.kind == TD_STOP_NONE ? TD_ABI_VALUE : kinds[b->stop.kind];
    out->why = b->stop.kind == TD_STOP_NONE ? "" : b->stop.why;
    return 0;
}

/* ---- the trail -------------------------------------------------------------------------- */

static int
trail(void *self, void (*row)(void *ctx, char const *path, char const *arm, char const *function),
      void *ctx)
{
    td_builder_t *b    = self;
    td_buf_t      name = {0};

    for (uint32_t i = 0; i < b->frame.trail.cnt; i++) {
        td_trail_t const *step = &b->frame.trail.at[i];

        td_buf_reset(&name);
        if (step->source != 0 && !td_source_name(&b->frame.sources, step->source, &name)) {
            PyErr_Clear();
            td_buf_clear(&name);
            return fail(b, "a decision's source could not be spelled");
        }
        row(ctx, name.bytes == NULL ? "" : name.bytes, step->arm, step->function);
    }
    td_buf_clear(&name);
    return 0;
}

/* ---- the table ---------------------------------------------------------------------------- */

/* Families that are done, by the words of `tandem gen --only`, and the arms of
   which an unsupported answer would be a divergence. */
static char const *const done[] = {
#define DONE(name) name,
#include "builder/done.def"
#undef DONE
};

static td_abi_subject_v1 const table = {
    .struct_sz      = sizeof table,
    .name           = "tandem",
    .abi_version    = TD_ABI_VERSION,
    .schema_version = TD_OBS_SCHEMA_VERSION,
    .done           = done,
    .done_cnt       = sizeof done / sizeof *done,
    .program_open   = program_open,
    .frame_open     = frame_open,
    .root           = root,
    .frame_observe  = frame_observe,
    .frame_close    = frame_close,
    .program_close  = program_close,
    .error          = error,
    .trail          = trail,
};

td_abi_subject_v1 const *
td_subject_v1(void)
{
    return &table;
}
