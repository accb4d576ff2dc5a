/* _tandem_testing.c: low-level hooks for the project's own tests, as
   `_tandem.testing`; no promise to anybody else. */
#include "tandem/td_module.h"

#include "live/td_live.h"

static PyObject *
or_none(PyObject *object)
{
    return object == NULL ? Py_None : object;
}

PyDoc_STRVAR(live_doc, "live(program) -> dict\n\n"
                       "The program's objects, made once: objects, frames, config, constraints,\n"
                       "user_calls, export.");

static PyObject *
testing_live(PyObject *module, PyObject *source)
{
    td_prog_t   prog;
    td_live_t   live = { 0 };
    td_status_t status;
    PyObject   *result = NULL; /* owned, returned */

    if (!td_module_load(module, source, &prog)) {
        return NULL;
    }
    status = td_live_from_program(&prog, &live);
    td_prog_clear(&prog);
    if (status != TD_OK) {
        return td_module_raise(module, status, td_status_text(status));
    }
    result = Py_BuildValue("{s:O,s:O,s:O,s:O,s:O,s:i}", "objects", or_none(live.objects),
                           "frames", or_none(live.frames), "config", or_none(live.config),
                           "constraints", or_none(live.constraints), "user_calls",
                           or_none(live.user_calls), "export", live.export_mode);
    td_live_clear(&live);
    return result;
}

PyMethodDef td_module_testing_methods[] = {
    { "live", testing_live, METH_O, live_doc },
    { NULL, NULL, 0, NULL },
};
