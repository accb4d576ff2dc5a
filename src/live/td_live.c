/* td_live.c: a program's nodes become objects, its steps become frames. */
#include "live/td_live.h"

#include <stdio.h>

#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "live/live_private.h"
#include "py/td_py_error.h"

static live_make_t const make_table[TD_KIND_TAG_END] = {
    [TD_KIND_NONE]            = live_make_none,
    [TD_KIND_BOOL]            = live_make_bool,
    [TD_KIND_INT]             = live_make_int,
    [TD_KIND_BIGINT]          = live_make_bigint,
    [TD_KIND_FLOAT]           = live_make_float,
    [TD_KIND_STR]             = live_make_str,
    [TD_KIND_DEVICE]          = live_make_choice,
    [TD_KIND_DTYPE]           = live_make_choice,
    [TD_KIND_SIZE]            = live_make_size,
    [TD_KIND_LIST]            = live_make_list,
    [TD_KIND_TUPLE]           = live_make_tuple,
    [TD_KIND_NAMEDTUPLE]      = live_make_namedtuple,
    [TD_KIND_DEQUE]           = live_make_deque,
    [TD_KIND_ODICT_VALUES]    = live_make_odict_values,
    [TD_KIND_RANGE]           = live_make_range,
    [TD_KIND_SLICE]           = live_make_slice,
    [TD_KIND_DICT]            = live_make_dict,
    [TD_KIND_ORDERED_DICT]    = live_make_ordered_dict,
    [TD_KIND_DEFAULT_DICT]    = live_make_default_dict,
    [TD_KIND_TENSOR]          = live_make_tensor,
    [TD_KIND_FUNCTION]        = live_make_choice,
    [TD_KIND_BUILTIN]         = live_make_choice,
    [TD_KIND_CLASS]           = live_make_choice,
    [TD_KIND_PYMODULE]        = live_make_choice,
    [TD_KIND_TORCH]           = live_make_choice,
    [TD_KIND_PARAMETER]       = live_make_parameter,
    [TD_KIND_TUPLE_ITERATOR]  = live_make_tuple_iterator,
    [TD_KIND_SET]             = live_make_set,
    [TD_KIND_FROZENSET]       = live_make_frozenset,
    [TD_KIND_ENUM]            = live_make_choice,
    [TD_KIND_OBJECT]          = live_make_object,
    [TD_KIND_NN_MODULE]       = live_make_choice,
    [TD_KIND_NDARRAY]         = live_make_ndarray,
    [TD_KIND_NP_SCALAR]       = live_make_choice,
    [TD_KIND_PARTIAL]         = live_make_partial,
    [TD_KIND_TYPING]          = live_make_choice,
    [TD_KIND_BYTES]           = live_make_bytes,
    [TD_KIND_COMPLEX]         = live_make_complex,
    [TD_KIND_BOUND_METHOD]    = live_make_choice,
    [TD_KIND_AUTOGRAD]        = live_make_choice,
    [TD_KIND_HIGHER_ORDER]    = live_make_choice,
    [TD_KIND_MODULE]          = live_make_module,
    [TD_KIND_MEMBER]          = live_make_member,
    [TD_KIND_KEYWORDS]        = live_make_keywords,
    [TD_KIND_SPECIAL]         = live_make_choice,
    [TD_KIND_ODD_ARRAY]       = live_make_choice,
    [TD_KIND_STAND_IN]        = live_make_applied,
    [TD_KIND_PYTREE]          = live_make_choice,
    [TD_KIND_SUBCLASS_TENSOR] = live_make_applied,
    [TD_KIND_OPTIMIZER]       = live_make_applied,
    [TD_KIND_OPTIMIZER_PART]  = live_make_applied,
    [TD_KIND_CALLEE]          = live_make_choice,
    [TD_KIND_FX_OPTION]       = live_make_applied,
};

/* ---- objects --------------------------------------------------------------------- */

static int
node_make(live_maker_t *maker, uint32_t idx)
{
    td_node_t const *node   = &maker->prog->nodes[idx];
    live_make_t      make   = make_table[node->kind];
    PyObject        *object = NULL; /* owned, stolen by objects */

    TD_ASSERT(make != NULL);
    maker->hash[idx] = live_hash(maker, node);
    object           = make(maker, node);
    if (object == NULL) {
        char where[64];

        snprintf(where, sizeof where, "node %u (%s)", idx, td_kind_info(node->kind)->name);
        td_py_error_where(where);
        return -1;
    }
    PyTuple_SET_ITEM(maker->objects, (Py_ssize_t)idx, object);
    return 0;
}

/* objects_make makes all nodes, and in between the changes that stand before the
   first frame, each when the nodes that it may name exist. */
static int
objects_make(live_maker_t *maker)
{
    td_prog_t const *prog = maker->prog;
    uint32_t         step = 0;

    for (uint32_t idx = 0; idx <= prog->node_cnt; idx++) {
        for (; step < prog->step_cnt && prog->steps[step].kind == TD_STEP_DO &&
               prog->steps[step].node_cnt <= idx;
             step++) {
            if (live_do_now(maker, &prog->steps[step]) < 0) {
                return -1;
            }
        }
        if (idx < prog->node_cnt && node_make(maker, idx) < 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- frames ---------------------------------------------------------------------- */

/* pair_add appends (spec, value) to frame and lets both go; they may be NULL. */
static int
pair_add(PyObject *frame, PyObject *spec, PyObject *value)
{
    PyObject *pair   = NULL; /* owned */
    int       result = -1;

    TD_ASSERT(frame != NULL);
    if (spec != NULL && value != NULL) {
        pair = PyTuple_Pack(2, spec, value);
    }
    if (pair != NULL) {
        result = PyList_Append(frame, pair);
    }
    Py_XDECREF(pair);
    Py_XDECREF(value);
    Py_XDECREF(spec);
    return result;
}

/* step_add appends a root or a do step of the program. */
static int
step_add(live_maker_t *maker, td_step_t const *step, PyObject *frame)
{
    int       is_root = step->kind == TD_STEP_ROOT;
    PyObject *spec    = NULL; /* owned, handed on */
    PyObject *value   = NULL; /* owned, handed on */

    spec = is_root ? live_root_spec(maker, step) : Py_BuildValue("(s)", "do");
    if (spec != NULL) {
        value = is_root ? live_root_value(maker, step) : live_do(maker, step);
    }
    if (is_root) {
        maker->root_at[maker->root_cnt++] = (uint16_t)PyList_GET_SIZE(frame);
    }
    return pair_add(frame, spec, value);
}

/* frame_begin appends an empty frame and its constraints: borrowed from live. */
static PyObject *
frame_begin(live_maker_t *maker, uint32_t at, td_live_t *live)
{
    PyObject *constraints = live_constraints(maker, at); /* owned */
    PyObject *frame       = PyList_New(0);               /* owned; live keeps it */

    if (constraints == NULL || frame == NULL || PyList_Append(live->constraints, constraints) < 0 ||
        PyList_Append(live->frames, frame) < 0) {
        Py_CLEAR(frame);
    }
    Py_XDECREF(constraints);
    if (frame != NULL) {
        Py_DECREF(frame); /* borrowed from live->frames from here on */
    }
    return frame;
}

static int
frames_make(live_maker_t *maker, td_live_t *live)
{
    PyObject *frame  = NULL; /* borrowed from live->frames */
    int       result = 0;

    for (uint32_t i = 0; result == 0 && i < maker->prog->step_cnt; i++) {
        td_step_t const *step = &maker->prog->steps[i];

        if (step->kind == TD_STEP_FRAME) {
            frame           = frame_begin(maker, i, live);
            maker->root_cnt = 0;
            result          = frame == NULL ? -1 : 0;
        } else if (step->kind == TD_STEP_ROOT || (step->kind == TD_STEP_DO && frame != NULL)) {
            result = step_add(maker, step, frame);
        }
    }
    return result;
}

static int
config_make(td_prog_t const *prog, td_live_t *live)
{
    for (uint32_t i = 0; i < prog->setting_cnt; i++) {
        td_setting_t setting = prog->settings[i];
        PyObject    *value   = live_setting(setting.key, setting.value); /* borrowed, kept */

        if (value == NULL ||
            PyDict_SetItemString(live->config, td_config_name(setting.key), value) < 0) {
            return -1;
        }
    }
    live->export_mode = prog->export_mode;
    return 0;
}

/* objects_complete puts what the program's modules hold behind its own objects. */
static int
objects_complete(td_prog_t const *prog, td_live_t *live)
{
    PyObject *all  = NULL; /* owned, handed on */
    int       more = 0;

    for (uint32_t i = 0; i < prog->node_cnt; i++) {
        more = more || live_holds_more(prog->nodes[i].kind);
    }
    if (!more) {
        return 0;
    }
    all = live_reach(prog, live->objects);
    if (all == NULL) {
        return -1;
    }
    Py_SETREF(live->objects, all);
    return 0;
}

/* ---- the whole ------------------------------------------------------------------- */

static td_status_t
live_init(td_live_t *live, Py_ssize_t object_cnt)
{
    *live             = (td_live_t){0};
    live->objects     = PyTuple_New(object_cnt);
    live->frames      = PyList_New(0);
    live->config      = PyDict_New();
    live->constraints = PyList_New(0);
    live->user_calls  = PyList_New(0);
    if (live->objects == NULL || live->frames == NULL || live->config == NULL ||
        live->constraints == NULL || live->user_calls == NULL) {
        return TD_PYERR;
    }
    return TD_OK;
}

static td_status_t
maker_init(live_maker_t *maker, td_prog_t const *prog, td_live_t const *live)
{
    *maker = (live_maker_t){.prog = prog, .objects = live->objects, .calls = live->user_calls};
    maker->state = td_state_get();
    if (maker->state == NULL) {
        return TD_PYERR;
    }
    maker->hash    = td_calloc(prog->node_cnt + 1, sizeof *maker->hash);
    maker->specs   = td_calloc(prog->source_cnt + 1, sizeof *maker->specs);
    maker->root_at = td_calloc(prog->step_cnt + 1, sizeof *maker->root_at);
    if (maker->hash == NULL || maker->specs == NULL || maker->root_at == NULL) {
        return TD_NOMEM;
    }
    return TD_OK;
}

static void
maker_clear(live_maker_t *maker)
{
    for (uint32_t i = 0; maker->specs != NULL && i < maker->prog->source_cnt; i++) {
        Py_XDECREF(maker->specs[i]);
    }
    td_free(maker->root_at);
    td_free(maker->specs);
    td_free(maker->hash);
}

td_status_t
td_live_from_program(td_prog_t const *prog, td_live_t *live)
{
    live_maker_t maker  = {0};
    td_status_t  status = TD_OK;

    TD_TRY(live_init(live, (Py_ssize_t)prog->node_cnt));
    TD_TRY(maker_init(&maker, prog, live));
    if (objects_make(&maker) < 0 || frames_make(&maker, live) < 0 || config_make(prog, live) < 0 ||
        objects_complete(prog, live) < 0) {
        status = TD_PYERR;
        goto done;
    }
    /* What user code ran while the objects were made is no part of any build. */
    if (PyList_SetSlice(live->user_calls, 0, PyList_GET_SIZE(live->user_calls), NULL) < 0) {
        status = TD_PYERR;
    }

done:
    maker_clear(&maker);
    if (status != TD_OK) {
        td_live_clear(live);
    }
    TD_ASSERT((status == TD_PYERR) == (PyErr_Occurred() != NULL));
    return status;
}

void
td_live_clear(td_live_t *live)
{
    td_py_error_t error = {0};

    /* Finalizers of the objects may raise and must not replace what is pending. */
    td_py_error_fetch(&error);
    Py_CLEAR(live->constraints);
    Py_CLEAR(live->frames);
    Py_CLEAR(live->config);
    Py_CLEAR(live->objects);
    Py_CLEAR(live->user_calls);
    *live = (td_live_t){0};
    td_py_error_restore(&error);
}
