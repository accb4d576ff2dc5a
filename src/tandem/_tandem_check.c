/* _tandem_check.c: judging programs and cases. */
#include "tandem/td_module.h"

#include "base/td_alloc.h"
#include "check/td_check_case.h"
#include "check/td_render.h"

/* ---- set-up ------------------------------------------------------------------- */

PyDoc_STRVAR(
    setup_doc,
    "setup(builder=None, revision=None, subject=None, other_side=None, coverage=False) -> dict\n\n"
    "Loads the reference and a subject, once a process; gives builder, revision,\n"
    "revision_distance, torch and subject as they were loaded.  BadInput: what was\n"
    "asked for is not what it should be; HarnessError: the environment is not.");

static PyObject *
loaded(td_check_t const *check)
{
    int         distance = 0;
    char const *revision = td_check_revision(check, &distance);

    return Py_BuildValue("{s:s,s:s,s:i,s:s,s:s}", "builder", td_check_builder(check), "revision",
                         revision, "revision_distance", distance, "torch", td_check_torch(check),
                         "subject", td_check_subject(check));
}

static PyObject *
check_setup(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char      *names[]  = {"builder", "revision", "subject", "other_side", "coverage", NULL};
    td_module_t      *state    = td_module_of(module);
    td_check_config_t config   = {0};
    int               coverage = 0;
    td_status_t       status;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|zzzzp:setup", names, &config.builder,
                                     &config.revision, &config.subject_path, &config.other_side,
                                     &coverage)) {
        return NULL;
    }
    if (state->check != NULL) {
        return td_module_raise(module, TD_INTERNAL, "tandem is set up already in this process");
    }
    config.coverage = coverage != 0;
    status          = td_check_new(&config, &state->check);
    return status == TD_OK ? loaded(state->check) : td_module_raise(module, status, td_check_why());
}

static td_check_t *
require_check(PyObject *module)
{
    td_check_t *check = td_module_of(module)->check;

    if (check == NULL) {
        td_module_raise(module, TD_INTERNAL, "setup() was not called");
    }
    return check;
}

/* ---- reports -------------------------------------------------------------------- */

static PyObject *
divergence_dict(td_divergence_t const *one)
{
    return Py_BuildValue("{s:s,s:s,s:s,s:s,s:{s:s,s:s,s:s}}", "path", one->path, "field",
                         one->field, "reference", one->reference, "subject", one->subject, "arm",
                         "id", one->arm, "function", one->function, "subject",
                         one->subject_function);
}

/* Appends value (stolen, may be NULL); -1 with an exception. */
static int
list_add(PyObject *list, PyObject *value)
{
    int failed = value == NULL ? -1 : PyList_Append(list, value);

    Py_XDECREF(value);
    return failed;
}

static PyObject *
divergence_list(td_report_t const *report)
{
    PyObject *list = PyList_New(0); /* owned, returned */

    for (size_t idx = 0; list != NULL && idx < report->divergence_cnt; idx++) {
        if (list_add(list, divergence_dict(&report->divergences[idx])) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *
unsupported_list(td_report_t const *report)
{
    PyObject *list = PyList_New(0); /* owned, returned */

    for (size_t idx = 0; list != NULL && idx < report->unsupported_cnt; idx++) {
        td_unsupported_t const *one = &report->unsupported[idx];
        PyObject *dict = Py_BuildValue("{s:n,s:n,s:s,s:s}", "frame", (Py_ssize_t)one->frame, "root",
                                       (Py_ssize_t)one->root, "arm", one->arm, "why",
                                       one->why); /* stolen below */

        if (list_add(list, dict) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *
verdict_list(td_report_t const *report)
{
    PyObject *list = PyList_New(0); /* owned, returned */

    for (size_t idx = 0; list != NULL && idx < report->root_cnt; idx++) {
        if (list_add(list, PyUnicode_FromString(td_verdict_text(report->root_verdicts[idx]))) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *
flag_list(td_report_t const *report)
{
    PyObject *list = PyList_New(0); /* owned, returned */

    if (list != NULL && report->internal_error &&
        list_add(list, PyUnicode_FromString("internal-error")) < 0) {
        Py_CLEAR(list);
    }
    if (list != NULL && report->flaky && list_add(list, PyUnicode_FromString("flaky")) < 0) {
        Py_CLEAR(list);
    }
    return list;
}

static PyObject *
arm_list(td_check_t const *check, td_report_t const *report)
{
    PyObject *list = PyList_New(0); /* owned, returned */
    size_t    cnt  = report->arms == NULL ? 0 : td_check_arm_cnt(check);

    for (size_t idx = 0; list != NULL && idx < cnt; idx++) {
        bool reached = (report->arms[idx / 64] >> (idx % 64)) & 1;

        if (reached && list_add(list, PyUnicode_FromString(td_check_arm_id(check, idx))) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *
report_dict(td_check_t const *check, td_report_t const *report)
{
    PyObject *dict = Py_BuildValue(
        "{s:s,s:s,s:z,s:s,s:s,s:O,s:z,s:z}", "verdict", td_verdict_text(report->verdict), "why",
        report->why, "signature", report->signature, "signature_hash", report->signature_hash,
        "headline", report->headline, "compared", report->compared ? Py_True : Py_False,
        "reference", report->reference_json, "subject", report->subject_json); /* owned, returned */

    if (dict != NULL && (td_module_set(dict, "flags", flag_list(report)) < 0 ||
                         td_module_set(dict, "divergences", divergence_list(report)) < 0 ||
                         td_module_set(dict, "unsupported", unsupported_list(report)) < 0 ||
                         td_module_set(dict, "roots", verdict_list(report)) < 0 ||
                         td_module_set(dict, "arms", arm_list(check, report)) < 0)) {
        Py_CLEAR(dict);
    }
    return dict;
}

/* ---- judging ----------------------------------------------------------------------- */

PyDoc_STRVAR(run_doc, "run(program, observations=False) -> dict\n\n"
                      "Both sides on a program in either form.  Values and observations are JSON\n"
                      "texts; arms is empty unless setup() asked for coverage.");

static PyObject *
check_run(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char       *names[] = {"program", "observations", NULL};
    td_check_t        *check   = require_check(module);
    PyObject          *source; /* borrowed */
    int                observations = 0;
    td_prog_t          prog;
    td_report_t const *report;
    td_status_t        status;

    if (check == NULL ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "O|p:run", names, &source, &observations) ||
        !td_module_load(module, source, &prog)) {
        return NULL;
    }
    status = td_check_program(check, &prog, observations != 0, &report);
    td_prog_clear(&prog);
    return status == TD_OK ? report_dict(check, report)
                           : td_module_raise(module, status, td_check_why());
}

/* records_view makes views of a list of str or None, one a step. */
static int
records_view(PyObject *list, td_recorded_frame_t *frame)
{
    size_t cnt = PyList_Check(list) ? (size_t)PyList_GET_SIZE(list) : 0;

    frame->records = td_calloc(cnt + 1, sizeof *frame->records);
    if (frame->records == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (frame->record_cnt = 0; frame->record_cnt < cnt; frame->record_cnt++) {
        PyObject *text = PyList_GET_ITEM(list, (Py_ssize_t)frame->record_cnt); /* borrowed */

        if (text != Py_None) {
            frame->records[frame->record_cnt] = PyUnicode_AsUTF8(text);
            if (frame->records[frame->record_cnt] == NULL) {
                return -1;
            }
        }
    }
    return 0;
}

static void
recorded_free(td_recorded_frame_t *frames, size_t cnt)
{
    for (size_t idx = 0; frames != NULL && idx < cnt; idx++) {
        td_free(frames[idx].records);
    }
    td_free(frames);
}

/* frame_view makes a view of one recorded frame and of its operator records. */
static int
frame_view(PyObject *list, PyObject *records, Py_ssize_t idx, td_recorded_frame_t *frame)
{
    char      *bytes = NULL;
    Py_ssize_t sz    = 0;

    if (PyBytes_AsStringAndSize(PyList_GET_ITEM(list, idx), &bytes, &sz) < 0) {
        return -1;
    }
    frame->bytes    = (uint8_t const *)bytes;
    frame->bytes_sz = (size_t)sz;
    return records == NULL || idx >= PyList_GET_SIZE(records)
               ? 0
               : records_view(PyList_GET_ITEM(records, idx), frame);
}

/* Views of a list of bytes objects and of the operator records beside them (may be
   NULL); NULL: an exception is set. */
static td_recorded_frame_t *
recorded_frames(PyObject *list, PyObject *records)
{
    Py_ssize_t           cnt    = PyList_GET_SIZE(list);
    td_recorded_frame_t *frames = td_calloc((size_t)cnt + 1, sizeof *frames); /* owned, returned */

    if (frames == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t idx = 0; idx < cnt; idx++) {
        if (frame_view(list, records, idx, &frames[idx]) < 0) {
            recorded_free(frames, (size_t)cnt);
            return NULL;
        }
    }
    return frames;
}

PyDoc_STRVAR(run_recorded_doc,
             "run_recorded(program, frames, observations=False, records=None) -> dict\n\n"
             "run() with recorded frames (a list of bytes) in the reference's place, and\n"
             "operator records (for each frame a list of str or None, one a step).");

static PyObject *
check_run_recorded(PyObject *module, PyObject *args)
{
    td_check_t          *check = require_check(module);
    PyObject            *source, *list;       /* borrowed */
    PyObject            *records      = NULL; /* borrowed */
    int                  observations = 0;
    td_recorded_frame_t *frames       = NULL; /* owned */
    size_t               cnt          = 0;
    td_prog_t            prog;
    td_report_t const   *report;
    td_status_t          status;

    if (check == NULL || !PyArg_ParseTuple(args, "OO!|pO!:run_recorded", &source, &PyList_Type,
                                           &list, &observations, &PyList_Type, &records)) {
        return NULL;
    }
    cnt    = (size_t)PyList_GET_SIZE(list);
    frames = recorded_frames(list, records);
    if (frames == NULL || !td_module_load(module, source, &prog)) {
        recorded_free(frames, cnt);
        return NULL;
    }
    status = td_check_recorded(check, &prog, frames, cnt, observations != 0, &report);
    td_prog_clear(&prog);
    recorded_free(frames, cnt);
    return status == TD_OK ? report_dict(check, report)
                           : td_module_raise(module, status, td_check_why());
}

/* None stands for what a case does not have. */
static PyObject *
unless_none(PyObject *object)
{
    return object == Py_None ? NULL : object;
}

static bool
case_parse(PyObject *args, PyObject *kwargs, char const *format, td_case_t *in, int *observations,
           char const **side)
{
    static char *names[]     = {"frames", "config",       "constraints", "export",
                                "shared", "observations", "side",        NULL};
    PyObject    *config      = Py_None; /* borrowed */
    PyObject    *constraints = Py_None; /* borrowed */

    *in = (td_case_t){0};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, format, names, &in->frames, &config,
                                     &constraints, &in->export_mode, &in->shared, observations,
                                     side)) {
        return false;
    }
    in->config      = unless_none(config);
    in->constraints = unless_none(constraints);
    return true;
}

PyDoc_STRVAR(compare_doc,
             "compare(frames, config=None, constraints=None, export=False, shared=False,\n"
             "        observations=False) -> dict\n\n"
             "Both sides on objects made in Python.  frames is a callable, called once for\n"
             "each side, or with shared a list used by both.");

static PyObject *
check_compare(PyObject *module, PyObject *args, PyObject *kwargs)
{
    td_check_t        *check        = require_check(module);
    int                observations = 0;
    char const        *side         = NULL;
    td_case_t          in;
    td_report_t const *report;
    td_status_t        status;

    if (check == NULL || !case_parse(args, kwargs, "O|OOpppz:compare", &in, &observations, &side)) {
        return NULL;
    }
    status = td_check_case(check, &in, observations != 0, &report);
    return status == TD_OK ? report_dict(check, report)
                           : td_module_raise(module, status, td_check_why());
}

/* ---- one side alone ------------------------------------------------------------------- */

static bool
which_side(PyObject *module, char const *side, td_which_t *which)
{
    bool subject = side != NULL && side[0] == 's';

    *which = subject ? TD_SIDE_SUBJECT : TD_SIDE_REFERENCE;
    if (side == NULL || (strcmp(side, "subject") != 0 && strcmp(side, "reference") != 0)) {
        td_module_raise(module, TD_REJECT, "side is none of subject, reference");
        return false;
    }
    return true;
}

/* records_list gives the operator records of a frame: a list of str or None. */
static PyObject *
records_list(td_run_frame_t const *frame)
{
    PyObject *list = PyList_New(0); /* owned, returned */

    for (size_t step = 0; list != NULL && frame->records != NULL && step < frame->outcome_cnt;
         step++) {
        char const *text = frame->records[step];

        if (list_add(list, text == NULL ? Py_NewRef(Py_None) : PyUnicode_FromString(text)) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

static PyObject *
shown_dict(td_shown_t const *shown)
{
    PyObject *list    = PyList_New(0); /* owned, given to the dict */
    PyObject *records = PyList_New(0); /* owned, given to the dict */

    for (size_t idx = 0; list != NULL && records != NULL && idx < shown->frame_cnt; idx++) {
        char const *bytes = (char const *)shown->frames[idx];

        if (list_add(list, bytes == NULL ? Py_NewRef(Py_None)
                                         : PyBytes_FromStringAndSize(
                                               bytes, (Py_ssize_t)shown->frame_szs[idx])) < 0 ||
            list_add(records, records_list(&shown->runs[idx])) < 0) {
            Py_CLEAR(list);
        }
    }
    if (list == NULL || records == NULL) {
        Py_XDECREF(list);
        Py_XDECREF(records);
        return NULL;
    }
    return Py_BuildValue("{s:O,s:s,s:s,s:s,s:N,s:N}", "built", shown->built ? Py_True : Py_False,
                         "why", shown->why, "observation", shown->json, "tree", shown->tree,
                         "frames", list, "records", records);
}

PyDoc_STRVAR(show_doc,
             "show(program, side) -> dict\n\n"
             "One side alone: built, why, observation (JSON text), frames (canonical bytes).");

static PyObject *
check_show(PyObject *module, PyObject *args)
{
    td_check_t       *check = require_check(module);
    PyObject         *source; /* borrowed */
    char const       *side;
    td_which_t        which;
    td_prog_t         prog;
    td_shown_t const *shown;
    td_status_t       status;

    if (check == NULL || !PyArg_ParseTuple(args, "Os:show", &source, &side) ||
        !which_side(module, side, &which) || !td_module_load(module, source, &prog)) {
        return NULL;
    }
    status = td_check_show(check, &prog, which, &shown);
    td_prog_clear(&prog);
    return status == TD_OK ? shown_dict(shown) : td_module_raise(module, status, td_check_why());
}

PyDoc_STRVAR(show_case_doc,
             "show_case(frames, config=None, constraints=None, export=False, shared=False,\n"
             "          observations=False, side='reference') -> dict\n\n"
             "show() for objects made in Python.");

static PyObject *
check_show_case(PyObject *module, PyObject *args, PyObject *kwargs)
{
    td_check_t       *check        = require_check(module);
    int               observations = 0;
    char const       *side         = "reference";
    td_which_t        which;
    td_case_t         in;
    td_shown_t const *shown;
    td_status_t       status;

    if (check == NULL ||
        !case_parse(args, kwargs, "O|OOppps:show_case", &in, &observations, &side) ||
        !which_side(module, side, &which)) {
        return NULL;
    }
    status = td_check_show_case(check, &in, which, &shown);
    return status == TD_OK ? shown_dict(shown) : td_module_raise(module, status, td_check_why());
}

PyDoc_STRVAR(arms_doc,
             "arms() -> list of ids\n\nAll arms of the loaded builder, in enumeration order.");

static PyObject *
check_arms(PyObject *module, PyObject *Py_UNUSED(none))
{
    td_check_t *check = require_check(module);
    PyObject   *list  = check == NULL ? NULL : PyList_New(0); /* owned, returned */

    for (size_t idx = 0; list != NULL && idx < td_check_arm_cnt(check); idx++) {
        if (list_add(list, PyUnicode_FromString(td_check_arm_id(check, idx))) < 0) {
            Py_CLEAR(list);
        }
    }
    return list;
}

PyDoc_STRVAR(signature_hash_doc,
             "signature_hash(text) -> str\n\nThe 8 hex digits that name a signature.");

static PyObject *
check_signature_hash(PyObject *Py_UNUSED(module), PyObject *text)
{
    char        hash[9];
    char const *utf8 = PyUnicode_AsUTF8(text); /* borrowed */

    if (utf8 == NULL) {
        return NULL;
    }
    td_render_hash(utf8, hash);
    return PyUnicode_FromString(hash);
}

PyMethodDef td_module_check_methods[] = {
    {"setup", (PyCFunction)(void (*)(void))check_setup, METH_VARARGS | METH_KEYWORDS, setup_doc},
    {"run", (PyCFunction)(void (*)(void))check_run, METH_VARARGS | METH_KEYWORDS, run_doc},
    {"run_recorded", check_run_recorded, METH_VARARGS, run_recorded_doc},
    {"compare", (PyCFunction)(void (*)(void))check_compare, METH_VARARGS | METH_KEYWORDS,
     compare_doc},
    {"show", check_show, METH_VARARGS, show_doc},
    {"show_case", (PyCFunction)(void (*)(void))check_show_case, METH_VARARGS | METH_KEYWORDS,
     show_case_doc},
    {"signature_hash", check_signature_hash, METH_O, signature_hash_doc},
    {"arms", check_arms, METH_NOARGS, arms_doc},
    {NULL, NULL, 0, NULL},
};
