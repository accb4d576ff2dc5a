/* wrap_wrapper.c: traceable wrappers: tensors of a class that wraps other tensors.

   The reference takes one apart by its own code, makes each part fake without a word about its
   dims, and has the class's code put the fakes together.  Here the parts are asked for, and
   what became of them comes from the record of that run. */
#include "builder/td_builder_private.h"
#include "py/td_call.h"

static char const arm[] = "L1705/bool/op2=T";

bool
td_is_wrapper(td_builder_t *b, PyObject *tensor)
{
    PyTypeObject *type = Py_TYPE(tensor);

    return td_is_subclass_tensor(b, tensor) && td_is_a(tensor, b->tables.tensor) &&
           _PyType_Lookup(type, b->names.flatten) != NULL &&
           _PyType_Lookup(type, b->names.unflatten) != NULL;
}

bool
td_stays_real(td_builder_t *b, td_at_t const *at, PyObject *tensor)
{
    (void)at;
    return td_is_subclass_tensor(b, tensor) && !td_is_wrapper(b, tensor);
}

/* are_plain: a list of tensors that are made fake as they are, without marks of their own. */
static bool
are_plain(td_builder_t *b, PyObject *list)
{
    bool good = PyList_CheckExact(list);

    for (Py_ssize_t i = 0; good && i < PyList_GET_SIZE(list); i++) {
        PyObject *part = PyList_GET_ITEM(list, i); /* borrowed */

        good = td_is_a(part, b->tables.tensor) && !td_is_subclass_tensor(b, part) &&
               td_mark(part, b->names.dynamic_indices) == NULL;
    }
    return good;
}

/* parts_of takes a wrapper apart as the reference does: a new list, NULL stopped. */
static PyObject *
parts_of(td_builder_t *b, PyObject *tensor)
{
    PyObject *take = td_call_attr((PyObject *)Py_TYPE(tensor), b->names.flatten); /* owned */
    PyObject *pair = take == NULL ? NULL : td_call(take, &tensor, 1);             /* owned */
    PyObject *list = NULL;                                                        /* owned */

    Py_XDECREF(take);
    if (pair == NULL) {
        td_stop_passing(b, arm, __func__);
        return NULL;
    }
    if (PyTuple_CheckExact(pair) && PyTuple_GET_SIZE(pair) == 2) {
        list = Py_NewRef(PyTuple_GET_ITEM(pair, 0));
    }
    Py_DECREF(pair);
    if (list == NULL || !are_plain(b, list)) {
        Py_CLEAR(list);
        td_stop_unsupported(b, arm, __func__, "a wrapper of something else than plain tensors");
    }
    return list;
}

bool
td_wrapper_admit(td_builder_t *b, PyObject *tensor)
{
    PyObject  *parts = NULL; /* owned */
    Py_ssize_t fake  = 0;
    bool       good  = false;

    if (!td_is_wrapper(b, tensor)) {
        return true;
    }
    if (b->export_mode) {
        return td_stop_unsupported(b, "L1397/if/T", __func__, "in export a copy of a wrapper");
    }
    if (!td_switch(b, TD_SWITCH_INTO_WRAPPERS)) {
        return true;
    }
    parts = parts_of(b, tensor);
    for (Py_ssize_t i = 0; parts != NULL && i < PyList_GET_SIZE(parts); i++) {
        fake += td_is_fake_tensor(b, PyList_GET_ITEM(parts, i));
    }
    good =
        parts != NULL && (fake == 0 || fake == PyList_GET_SIZE(parts) ||
                          td_stop_raise(b, "L1392/bool/op0=F", __func__,
                                        TD_PLANT(MIXED_MISNAMED) ? "TypeError" : "AssertionError",
                                        "got mixed fake and real tensors!"));
    Py_XDECREF(parts);
    return good;
}

/* part_fake makes one part fake: each dim shares the symbol of an equal number. */
static td_fake_t *
part_fake(td_builder_t *b, td_at_t const *at, PyObject *part)
{
    td_dims_t dims = {0};
    PyObject *size = td_keep(b, part) ? td_tensor_size(b, part) : NULL; /* owned */

    if (size == NULL) {
        return NULL;
    }
    dims.cnt         = (uint32_t)PyTuple_GET_SIZE(size);
    dims.dims        = td_alloc_in(b, dims.cnt * sizeof *dims.dims);
    dims.constraints = dims.dims == NULL ? NULL : td_alloc_in(b, dims.cnt);
    Py_DECREF(size);
    for (uint32_t i = 0; dims.constraints != NULL && i < dims.cnt; i++) {
        dims.dims[i] = TD_DIM_DUCK;
    }
    return dims.constraints == NULL ? NULL : td_fake_of(b, at, part, &dims, false);
}

td_fake_t *
td_wrapper_fake(td_builder_t *b, td_at_t const *at, PyObject *tensor)
{
    PyObject   *parts = parts_of(b, tensor); /* owned */
    uint32_t    cnt   = parts == NULL ? 0 : (uint32_t)PyList_GET_SIZE(parts);
    td_fake_t **fakes = parts == NULL ? NULL : td_alloc_in(b, (cnt + 1) * sizeof *fakes);
    bool        good  = fakes != NULL;

    for (uint32_t i = 0; good && i < cnt; i++) {
        fakes[i] = part_fake(b, at, PyList_GET_ITEM(parts, i));
        good     = fakes[i] != NULL;
    }
    Py_XDECREF(parts);
    return good ? td_record_wrapper(b, (PyObject *)Py_TYPE(tensor), fakes, cnt) : NULL;
}
