/* _tandem_program.c: programs as bytes and text; needs no reference. */
#include "base/td_alloc.h"
#include "tandem/td_module.h"

/* Hands over a malloc'ed text or block as a Python object; frees it. */
static PyObject *
str_of(char *text)
{
    PyObject *result;

    if (text == NULL) {
        return PyErr_NoMemory();
    }
    result = PyUnicode_FromString(text);
    td_free(text);
    return result;
}

PyObject *
td_module_encode(PyObject *module, td_prog_t const *prog)
{
    uint8_t    *bytes  = NULL; /* owned */
    size_t      sz     = 0;
    PyObject   *result = NULL;
    td_status_t status = td_prog_encode(prog, &bytes, &sz);

    if (status != TD_OK) {
        return td_module_raise(module, status, td_status_text(status));
    }
    result = PyBytes_FromStringAndSize((char const *)bytes, (Py_ssize_t)sz);
    td_free(bytes);
    return result;
}

PyDoc_STRVAR(asm_doc, "asm(program) -> bytes\n\n"
                      "The canonical binary form of a program given in either form.");

static PyObject *
program_asm(PyObject *module, PyObject *source)
{
    td_prog_t prog;
    PyObject *result;

    if (!td_module_load(module, source, &prog)) {
        return NULL;
    }
    result = td_module_encode(module, &prog);
    td_prog_clear(&prog);
    return result;
}

PyDoc_STRVAR(disasm_doc, "disasm(program) -> str\n\n"
                         "The text form of a program given in either form.");

static PyObject *
program_disasm(PyObject *module, PyObject *source)
{
    td_prog_t prog;
    PyObject *result;

    if (!td_module_load(module, source, &prog)) {
        return NULL;
    }
    result = str_of(td_prog_disasm(&prog));
    td_prog_clear(&prog);
    return result;
}

PyDoc_STRVAR(repair_doc, "repair(bytes) -> (bytes, changed)\n\n"
                         "The nearest program of any bytes, and whether they were none.");

static PyObject *
program_repair(PyObject *module, PyObject *source)
{
    td_prog_t   prog;
    Py_buffer   view;
    td_status_t status;
    bool        changed = false;
    PyObject   *bytes;

    if (PyObject_GetBuffer(source, &view, PyBUF_SIMPLE) < 0) {
        return NULL;
    }
    td_prog_init(&prog);
    status = td_prog_repair(view.buf, (size_t)view.len, &prog, &changed);
    PyBuffer_Release(&view);
    if (status != TD_OK) {
        td_prog_clear(&prog);
        return td_module_raise(module, status, td_status_text(status));
    }
    bytes = td_module_encode(module, &prog);
    td_prog_clear(&prog);
    if (bytes == NULL) {
        return NULL;
    }
    return Py_BuildValue("(NO)", bytes, changed ? Py_True : Py_False);
}

static int
counts_add(PyObject *counts, char const *word)
{
    int       failed = -1;
    PyObject *key    = PyUnicode_FromString(word); /* owned */
    PyObject *old    = NULL;                       /* borrowed from counts */
    PyObject *cnt    = NULL;                       /* owned */

    if (key == NULL) {
        return -1;
    }
    old = PyDict_GetItemWithError(counts, key);
    if (old != NULL || !PyErr_Occurred()) {
        cnt = PyLong_FromLong(1 + (old == NULL ? 0 : PyLong_AsLong(old)));
    }
    if (cnt != NULL) {
        failed = PyDict_SetItem(counts, key, cnt);
    }
    Py_XDECREF(cnt);
    Py_DECREF(key);
    return failed;
}

static PyObject *
kind_counts(td_prog_t const *prog)
{
    PyObject *counts = PyDict_New(); /* owned, returned */

    for (uint32_t idx = 0; counts != NULL && idx < prog->node_cnt; idx++) {
        if (counts_add(counts, td_kind_info(prog->nodes[idx].kind)->name) < 0) {
            Py_CLEAR(counts);
        }
    }
    return counts;
}

static PyObject *
source_counts(td_prog_t const *prog)
{
    PyObject *counts = PyDict_New(); /* owned, returned */

    for (uint32_t idx = 0; counts != NULL && idx < prog->source_cnt; idx++) {
        if (counts_add(counts, td_source_info(prog->sources[idx].kind)->name) < 0) {
            Py_CLEAR(counts);
        }
    }
    return counts;
}

static PyObject *
setting_values(td_prog_t const *prog)
{
    PyObject *values = PyDict_New(); /* owned, returned */

    for (uint32_t idx = 0; values != NULL && idx < prog->setting_cnt; idx++) {
        td_setting_t const *setting = &prog->settings[idx];
        char const         *text    = td_config_value(setting->key, setting->value);

        if (td_module_set(values, td_config_name(setting->key), PyUnicode_FromString(text)) < 0) {
            Py_CLEAR(values);
        }
    }
    return values;
}

static size_t
step_cnt(td_prog_t const *prog, uint8_t kind)
{
    size_t cnt = 0;

    for (uint32_t idx = 0; idx < prog->step_cnt; idx++) {
        cnt += prog->steps[idx].kind == kind;
    }
    return cnt;
}

PyDoc_STRVAR(stats_doc,
             "stats(program) -> dict\n\n"
             "nodes, sources, frames, roots, dos: numbers; kinds, source_kinds: words\n"
             "with how often they occur; config: values set; sharing: whether a node has\n"
             "more than one user.");

static bool
has_sharing(td_prog_t const *prog)
{
    bool      shared = false;
    uint16_t *users  = td_calloc(prog->node_cnt + 1, sizeof *users); /* owned */

    for (uint32_t idx = 0; users != NULL && idx < prog->node_cnt; idx++) {
        for (uint16_t edge = 0; edge < prog->nodes[idx].edge_cnt; edge++) {
            shared |= users[prog->nodes[idx].edge[edge]]++ > 0;
        }
    }
    for (uint32_t idx = 0; users != NULL && idx < prog->step_cnt; idx++) {
        if (prog->steps[idx].kind == TD_STEP_ROOT) {
            shared |= users[prog->steps[idx].node]++ > 0;
        }
    }
    td_free(users);
    return shared;
}

static PyObject *
program_stats(PyObject *module, PyObject *source)
{
    td_prog_t prog;
    PyObject *dict = NULL; /* owned, returned */

    if (!td_module_load(module, source, &prog)) {
        return NULL;
    }
    dict = Py_BuildValue(
        "{s:I,s:I,s:n,s:n,s:n,s:N}", "nodes", (unsigned)prog.node_cnt, "sources",
        (unsigned)prog.source_cnt, "frames", (Py_ssize_t)step_cnt(&prog, TD_STEP_FRAME), "roots",
        (Py_ssize_t)step_cnt(&prog, TD_STEP_ROOT), "dos", (Py_ssize_t)step_cnt(&prog, TD_STEP_DO),
        "sharing", PyBool_FromLong(has_sharing(&prog)));
    if (dict != NULL && (td_module_set(dict, "kinds", kind_counts(&prog)) < 0 ||
                         td_module_set(dict, "source_kinds", source_counts(&prog)) < 0 ||
                         td_module_set(dict, "config", setting_values(&prog)) < 0)) {
        Py_CLEAR(dict);
    }
    td_prog_clear(&prog);
    return dict;
}

PyDoc_STRVAR(choices_doc,
             "choices() -> list of (kind, word, path)\n\n"
             "What the kinds that choose can name: \"module\" or \"module:attribute\".");

static PyObject *
program_choices(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(none))
{
    PyObject *list = PyList_New(0); /* owned, returned */

    for (unsigned kind = 0; list != NULL && kind < TD_KIND_TAG_END; kind++) {
        size_t cnt = td_kind_info((uint8_t)kind) == NULL ? 0 : td_choice_cnt((uint8_t)kind);

        for (size_t idx = 0; list != NULL && idx < cnt; idx++) {
            PyObject *row = Py_BuildValue("(sss)", td_kind_info((uint8_t)kind)->name,
                                          td_choice_name((uint8_t)kind, idx),
                                          td_choice_path((uint8_t)kind, idx)); /* owned */

            if (row == NULL || PyList_Append(list, row) < 0) {
                Py_CLEAR(list);
            }
            Py_XDECREF(row);
        }
    }
    return list;
}

PyMethodDef td_module_program_methods[] = {
    {"choices", program_choices, METH_NOARGS, choices_doc},
    {"asm", program_asm, METH_O, asm_doc},
    {"disasm", program_disasm, METH_O, disasm_doc},
    {"repair", program_repair, METH_O, repair_doc},
    {"stats", program_stats, METH_O, stats_doc},
    {NULL, NULL, 0, NULL},
};
