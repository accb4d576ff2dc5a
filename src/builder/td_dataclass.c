/* td_dataclass.c: what dataclasses.fields gives. */
#include "builder/td_dataclass.h"

#include "py/td_call.h"

/* is_field: class variables and variables of the constructor alone are no fields. */
static int
is_field(td_builder_t *b, PyObject *field)
{
    PyObject *sort = td_call_attr(field, b->names.field_type); /* owned */
    int       is   = sort == NULL ? -1 : sort == b->tables.dataclass_field;

    Py_XDECREF(sort);
    if (is < 0) {
        td_stop_python(b);
    }
    return is;
}

bool
td_dataclass_fields(td_builder_t *b, PyObject *all, char const *arm, td_dataclass_t *fields)
{
    PyObject  *name, *field; /* borrowed */
    Py_ssize_t pos = 0;
    size_t     cnt = 0;

    if (all == NULL) {
        return td_stop_raise(b, arm, __func__, "TypeError",
                             "must be called with a dataclass type or instance");
    }
    if (!PyDict_CheckExact(all)) {
        return td_stop_unsupported(b, arm, __func__, "a dataclass whose fields are no dict");
    }
    cnt            = (size_t)PyDict_GET_SIZE(all);
    fields->names  = td_alloc_in(b, (2 * cnt + 1) * sizeof *fields->names);
    fields->fields = fields->names == NULL ? NULL : fields->names + cnt;
    if (fields->names == NULL) {
        return false;
    }
    while (PyDict_Next(all, &pos, &name, &field)) {
        int is = is_field(b, field);

        if (is < 0 || (is > 0 && (!td_keep(b, name) || !td_keep(b, field)))) {
            return false;
        }
        if (is > 0) {
            fields->names[fields->cnt]    = name;
            fields->fields[fields->cnt++] = field;
        }
    }
    return true;
}
