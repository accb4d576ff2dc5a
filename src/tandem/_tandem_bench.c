/* _tandem_bench.c: timed passes of either side, and of their peers. */
#include "tandem/td_module.h"

#include "base/td_clock.h"
#include "check/td_bench.h"
#include "py/td_state.h"

static td_check_t *
require_check(PyObject *module)
{
    td_check_t *check = td_module_of(module)->check;

    if (check == NULL) {
        td_module_raise(module, TD_INTERNAL, "setup() was not called");
    }
    return check;
}

/* One pass on a program in either form, or on a case's frames. */
static td_status_t
pass(PyObject *module, PyObject *source, td_which_t which, td_bench_t *bench)
{
    td_check_t *check = td_module_of(module)->check;
    td_case_t   in    = {.frames = source};
    td_prog_t   prog;
    td_status_t status;

    if (!PyBytes_Check(source) && !PyUnicode_Check(source)) {
        return td_bench_case(check, &in, which, bench);
    }
    if (!td_module_load(module, source, &prog)) {
        return TD_PYERR;
    }
    status = td_bench_program(check, &prog, which, bench);
    td_prog_clear(&prog);
    return status;
}

PyDoc_STRVAR(pass_doc,
             "bench_pass(side, source, memory=False, count=None) -> dict\n\n"
             "Builds a program, or a case's frames, once on one side (\"subject\", or\n"
             "\"reference\": the bare one) and says what each part took in nanoseconds of\n"
             "processor time: reset, make, run, context, roots; and root_cnt, stopped_cnt,\n"
             "stretch_cnt (readings of the clock in roots), memory (bytes held by the roots, when\n"
             "asked for).  count: the name under which callgrind counts the roots' instructions.");

static PyObject *
bench_pass(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"side", "source", "memory", "count", NULL};
    char const  *side;
    PyObject    *source; /* borrowed */
    int          memory = 0;
    td_bench_t   bench  = {0};
    td_status_t  status;

    if (require_check(module) == NULL ||
        !PyArg_ParseTupleAndKeywords(args, kwargs, "sO|pz:bench_pass", names, &side, &source,
                                     &memory, &bench.count)) {
        return NULL;
    }
    bench.want_memory = memory != 0;
    status = pass(module, source, side[0] == 's' ? TD_SIDE_SUBJECT : TD_SIDE_REFERENCE, &bench);
    if (status != TD_OK) {
        return td_module_raise(module, status, td_check_why());
    }
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:n,s:n,s:n,s:n}", "reset", bench.reset_ns, "make",
                         bench.make_ns, "run", bench.run_ns, "context", bench.context_ns, "roots",
                         bench.roots_ns, "root_cnt", (Py_ssize_t)bench.root_cnt, "stopped_cnt",
                         (Py_ssize_t)bench.stopped_cnt, "stretch_cnt",
                         (Py_ssize_t)bench.stretch_cnt, "memory", (Py_ssize_t)bench.memory_sz);
}

PyDoc_STRVAR(harness_doc, "bench_harness(program) -> (nanoseconds, verdict, compared, making)\n\n"
                          "Judges a program as a campaign does, making its objects twice; making:\n"
                          "how many of the nanoseconds that took.");

static PyObject *
bench_harness(PyObject *module, PyObject *source)
{
    td_check_t        *check = require_check(module);
    td_report_t const *report;
    td_prog_t          prog;
    td_status_t        status;
    uint64_t           before, after;

    if (check == NULL || !td_module_load(module, source, &prog)) {
        return NULL;
    }
    before = td_clock_ns();
    status = td_check_program(check, &prog, false, &report);
    after  = td_clock_ns();
    td_prog_clear(&prog);
    if (status != TD_OK) {
        return td_module_raise(module, status, td_check_why());
    }
    return Py_BuildValue("(KsOK)", after - before, td_verdict_text(report->verdict),
                         report->compared ? Py_True : Py_False, td_bench_making_ns(check));
}

PyDoc_STRVAR(arms_doc, "bench_arms(on)\n\n"
                       "Switches the recording of the reference's arms: the bare one has none.");

static PyObject *
bench_arms(PyObject *module, PyObject *on)
{
    td_check_t *check = require_check(module);
    int         truth = PyObject_IsTrue(on);
    td_status_t status;

    if (check == NULL || truth < 0) {
        return NULL;
    }
    status = td_reference_watch_arms(td_check_reference(check), truth == 1);
    if (status != TD_OK) {
        return td_module_raise(module, status, td_status_text(status));
    }
    Py_RETURN_NONE;
}

PyDoc_STRVAR(pickle_doc, "bench_pickle(object) -> nanoseconds\n\nOne dumps() of the pickle in C.");

static PyObject *
bench_pickle(PyObject *Py_UNUSED(module), PyObject *object)
{
    enum { PROTOCOL = 5 };
    uint64_t  before, after;
    PyObject *dumps    = td_state_find("_pickle", "dumps"); /* owned */
    PyObject *protocol = PyLong_FromLong(PROTOCOL);         /* owned */
    PyObject *bytes    = NULL;                              /* owned */
    PyObject *result   = NULL;                              /* owned, returned */

    if (dumps != NULL && protocol != NULL) {
        PyObject *const args[] = {object, protocol};

        before = td_clock_ns();
        bytes  = PyObject_Vectorcall(dumps, args, 2, NULL);
        after  = td_clock_ns();
        result = bytes == NULL ? NULL : PyLong_FromUnsignedLongLong(after - before);
    }
    Py_XDECREF(bytes);
    Py_XDECREF(protocol);
    Py_XDECREF(dumps);
    return result;
}

PyDoc_STRVAR(clock_doc, "bench_clock() -> nanoseconds\n\nWhat a reading of the clock costs.");

static PyObject *
bench_clock(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return PyLong_FromUnsignedLongLong(td_bench_clock_ns());
}

PyDoc_STRVAR(counts_doc, "bench_counts() -> bool\n\n"
                         "Whether instructions can be counted, when run under callgrind.");

static PyObject *
bench_counts(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    return PyBool_FromLong(td_bench_counts());
}

PyDoc_STRVAR(keep_doc, "bench_keep_memory()\n\n"
                       "From now on the process keeps the memory that it gives back, so that a\n"
                       "pass does not pay for the kernel's making of pages.");

static PyObject *
bench_keep_memory(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    td_bench_keep_memory();
    Py_RETURN_NONE;
}

PyMethodDef td_module_bench_methods[] = {
    {"bench_pass", (PyCFunction)(void (*)(void))bench_pass, METH_VARARGS | METH_KEYWORDS, pass_doc},
    {"bench_harness", bench_harness, METH_O, harness_doc},
    {"bench_arms", bench_arms, METH_O, arms_doc},
    {"bench_pickle", bench_pickle, METH_O, pickle_doc},
    {"bench_clock", bench_clock, METH_NOARGS, clock_doc},
    {"bench_keep_memory", bench_keep_memory, METH_NOARGS, keep_doc},
    {"bench_counts", bench_counts, METH_NOARGS, counts_doc},
    {NULL, NULL, 0, NULL},
};
