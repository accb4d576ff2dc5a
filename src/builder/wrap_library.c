/* wrap_library.c: objects of transformers, where a program has it. */
#include "builder/td_dataclass.h"
#include "builder/td_depth.h"
#include "py/td_call.h"

bool
td_wrap_pretrained_config(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    return td_point_at(b, at, value, TD_CLASS_HFPretrainedConfigVariable, TD_GUARD_TYPE_MATCH,
                       false, out);
}

/* ---- model outputs ------------------------------------------------------------------------ */

/* has mirrors hasattr(obj, key): 1, 0, or -1 stopped. */
static int
has(td_builder_t *b, PyObject *value, PyObject *name)
{
    PyObject *got = td_call_attr(value, name); /* owned */

    if (got == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
        return 0;
    }
    if (got == NULL) {
        td_stop_passing(b, "L612/ret/reached", __func__);
        return -1;
    }
    Py_DECREF(got);
    return 1;
}

/* add_field builds one field.  None is built too, but only its guards are kept. */
static bool
add_field(td_builder_t *b, td_at_t const *at, PyObject *value, PyObject *name, td_var_t *out)
{
    td_dict_t *dict = out->of.dict;
    td_var_t   none = {0};
    PyObject  *got  = NULL; /* owned until kept */
    int        is   = has(b, value, name);

    if (is <= 0) {
        return is == 0;
    }
    got = td_call_attr(value, name);
    if (got == NULL) {
        return td_stop_passing(b, "L612/ret/reached", __func__);
    }
    if (!td_keep_steal(b, got)) {
        return false;
    }
    if (got == Py_None) {
        return td_build(b, at, got, &none) &&
               td_var_add_guards(b, out, TD_PLANT(UNGUARDED_NONE) ? 0 : none.guard);
    }
    ((PyObject **)dict->keys)[dict->cnt] = name;
    return td_build(b, at, got, &dict->items[dict->cnt++]);
}

/* dict_new makes a payload with room for cnt items and none in it. */
static td_dict_t *
dict_new(td_builder_t *b, PyObject *cls, uint32_t cnt)
{
    td_dict_t *dict = td_alloc_in(b, sizeof *dict + cnt * (sizeof(td_var_t) + sizeof(PyObject *)));

    if (dict != NULL) {
        dict->items = (td_var_t *)(dict + 1);
        dict->keys  = (PyObject **)(dict->items + cnt);
        dict->cls   = cls;
    }
    return dict;
}

/* td_wrap_model_output mirrors DataClassVariable.wrap. */
bool
td_wrap_model_output(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    td_dataclass_t fields = {0};
    td_at_t        first  = {0};
    td_guard_id_t  guard  = 0;

    if (!td_dataclass_fields(b, _PyType_Lookup(Py_TYPE(value), b->names.dataclass_fields),
                             "L612/ret/reached", &fields) ||
        !td_children(b, at, TD_SOURCE_CLASS_AttrSource, TD_PAYLOAD_KEYS, fields.names, NULL,
                     fields.cnt, &first)) {
        return false;
    }
    td_var_make(out, TD_CLASS_DataClassVariable, 0);
    out->of.dict = dict_new(b, (PyObject *)Py_TYPE(value), fields.cnt);
    if (out->of.dict == NULL) {
        return false;
    }
    b->frames += TD_DEPTH_FUNC;
    for (uint32_t i = 0; i < fields.cnt; i++) {
        td_at_t child = td_source_nth(&first, i);

        if (!add_field(b, &child, value, fields.names[i], out)) {
            return false;
        }
    }
    b->frames -= TD_DEPTH_FUNC;
    return td_make_guards(b, at, TD_GUARD_TYPE_MATCH, &guard) && td_var_add_guards(b, out, guard);
}
