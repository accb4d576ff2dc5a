/* td_constraint.c: export constraints: ranges that the user gave for dims of a tensor. */
#include <string.h>

#include "builder/td_builder_private.h"
#include "py/td_call.h"

/* What one constraint says of one dim of one tensor. */
typedef struct {
    PyObject  *tensor; /* borrowed */
    td_dims_t *dims;
    uint32_t   cnt;
    td_range_t range;
} told_t;

/* held reads what an instance of one of torch's classes holds: borrowed from the keep, None
   where it holds nothing of that name.  NULL: stopped. */
static PyObject *
held(td_builder_t *b, PyObject *object, PyObject *name)
{
    PyObject *value = td_mark(object, name); /* borrowed */

    if (value == NULL) {
        return Py_None;
    }
    return td_keep(b, value) ? value : NULL;
}

/* attr reads an attribute of a number of sympy's: borrowed from the keep.  NULL: stopped. */
static PyObject *
attr(td_builder_t *b, PyObject *number, PyObject *name)
{
    PyObject *got = td_call_attr(number, name); /* owned until kept */

    if (got == NULL) {
        td_stop_python(b);
        return NULL;
    }
    return td_keep_steal(b, got) ? got : NULL;
}

/* bound_of reads a bound of a range, one of sympy's: a whole number, or no end. */
static bool
bound_of(td_builder_t *b, PyObject *range, PyObject *name, int64_t *bound, bool *is_endless)
{
    PyObject *value = held(b, range, name);
    PyObject *whole =
        value == NULL || value == Py_None ? value : attr(b, value, b->names.is_integer);
    PyObject *number   = NULL; /* borrowed from the keep */
    int       overflow = 0;

    if (whole == NULL) {
        return false;
    }
    if (strcmp(Py_TYPE(value)->tp_name, "Infinity") == 0) {
        *bound      = INT64_MAX;
        *is_endless = true;
        return true;
    }
    if (whole == Py_True) {
        number = attr(b, value, b->names.p);
        if (number == NULL) {
            return false;
        }
        *bound = PyLong_Check(number) ? PyLong_AsLongLongAndOverflow(number, &overflow) : 0;
    }
    if (number == NULL || !PyLong_Check(number) || overflow != 0) {
        return td_stop_unsupported(b, "L1625/if/T", __func__, "a bound that is no int of 64 bits");
    }
    return true;
}

static bool
range_of(td_builder_t *b, PyObject *constraint, td_range_t *out)
{
    PyObject *range = held(b, constraint, b->names.constraint_range);
    PyObject *vr    = range == NULL ? NULL : held(b, range, b->names.vr);
    PyObject *name  = Py_None;

    *out = (td_range_t){0};
    if (vr == NULL || !bound_of(b, vr, b->names.lower, &out->lower, &out->is_endless) ||
        !bound_of(b, vr, b->names.upper, &out->upper, &out->is_endless)) {
        return false;
    }
    if (td_switch(b, TD_SWITCH_DEBUG_NAMES)) {
        name = held(b, constraint, b->names.debug_name);
        if (name == NULL) {
            return false;
        }
    }
    if (name != Py_None && !PyUnicode_CheckExact(name)) {
        return td_stop_unsupported(b, "L1625/if/T", __func__, "a debug name that is no str");
    }
    out->debug_name = name == Py_None ? NULL : name;
    return true;
}

static bool
invalid(td_builder_t *b, td_range_t const *range)
{
    PyObject *text = PyUnicode_FromFormat("Invalid ranges [%lld:%lld]", (long long)range->lower,
                                          (long long)range->upper); /* owned until kept */

    if (text == NULL) {
        return td_stop_python(b);
    }
    return td_keep_steal(b, text) &&
           td_stop_raise_text(b, "L1608/if/T", __func__,
                              "torch.utils._sympy.value_ranges.ValueRangeError", text);
}

/* meet mirrors update_dim2constraint for a dim that has a constraint. */
static bool
meet(td_builder_t *b, td_range_t *known, td_range_t const *more)
{
    td_range_t both = *known;

    if (!TD_PLANT(LAST_RANGE)) {
        both.lower      = more->lower > both.lower ? more->lower : both.lower;
        both.upper      = more->upper < both.upper ? more->upper : both.upper;
        both.is_endless = both.is_endless && more->is_endless;
    }
    if (both.lower > both.upper) {
        return invalid(b, &both);
    }
    if (both.debug_name == NULL) {
        both.debug_name = more->debug_name;
    } else if (more->debug_name != NULL &&
               PyUnicode_Compare(both.debug_name, more->debug_name) != 0) {
        return td_stop_raise(b, "L1617/assert/fail", __func__, "AssertionError", "");
    }
    *known = both;
    return true;
}

/* tell mirrors update_dim2constraint; a dim that the tensor has not is never looked up. */
static bool
tell(td_builder_t *b, told_t *told, PyObject *number)
{
    td_dims_t *dims     = told->dims;
    int        overflow = 0;
    long long  dim = PyLong_Check(number) ? PyLong_AsLongLongAndOverflow(number, &overflow) : -1;

    if (!PyLong_Check(number) || overflow != 0 || dim < 0 || dim >= told->cnt) {
        return td_stop_unsupported(b, "L1625/if/T", __func__, "a dim that no tensor has");
    }
    if (dims->ranges == NULL) {
        dims->ranges      = td_alloc_in(b, told->cnt * sizeof *dims->ranges);
        dims->constraints = td_alloc_in(b, told->cnt * sizeof *dims->constraints);
        if (dims->ranges == NULL || dims->constraints == NULL) {
            return false;
        }
    }
    if (dims->constraints[dim] == TD_CONSTRAINT_STRICT) {
        return meet(b, &dims->ranges[dim], &told->range);
    }
    dims->constraints[dim] = TD_CONSTRAINT_STRICT;
    dims->ranges[dim]      = told->range;
    return true;
}

/* concerns says whether target (a constraint, or what it shares its range with) is about
   the tensor.  -1: stopped. */
static int
concerns(td_builder_t *b, PyObject *target, PyObject *tensor)
{
    PyObject *id  = held(b, target, b->names.t_id);
    void     *ptr = id == NULL || !PyLong_Check(id) ? NULL : PyLong_AsVoidPtr(id);

    PyErr_Clear();
    return id == NULL ? -1 : ptr == (void *)tensor;
}

static bool
look_at(td_builder_t *b, told_t *told, PyObject *constraint)
{
    PyObject *shared = NULL; /* borrowed from the keep */
    PyObject *dim    = NULL; /* borrowed from the keep */
    int       is     = concerns(b, constraint, told->tensor);

    if (is > 0) {
        dim = range_of(b, constraint, &told->range) ? held(b, constraint, b->names.dim) : NULL;
        is  = dim != NULL && tell(b, told, dim) ? 0 : -1;
    }
    shared = is < 0 ? NULL : held(b, constraint, b->names.shared);
    if (shared == NULL || shared == Py_None) {
        return shared != NULL;
    }
    is = concerns(b, shared, told->tensor);
    if (is <= 0) {
        return is == 0;
    }
    dim = range_of(b, constraint, &told->range) ? held(b, shared, b->names.dim) : NULL;
    return dim != NULL && tell(b, told, dim);
}

bool
td_constraints_of(td_builder_t *b, PyObject *tensor, uint32_t cnt, td_dims_t *dims)
{
    PyObject *list = b->frame.constraints;
    told_t    told = {.tensor = tensor, .dims = dims, .cnt = cnt};

    if (list == Py_None) {
        return true;
    }
    if (!PyList_Check(list) && !PyTuple_Check(list)) {
        return td_stop_unsupported(b, "L1625/if/T", __func__, "constraints that are no list");
    }
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list); i++) {
        if (!look_at(b, &told, PySequence_Fast_GET_ITEM(list, i))) {
            return false;
        }
    }
    return true;
}

/* dim_name leaves in *text how a dim is called: `L['x'].size()[0]`. */
static bool
dim_name(td_builder_t *b, td_at_t const *at, uint32_t dim, char const **text)
{
    td_buf_t name = {0};
    bool     good = td_source_name(&b->frame.sources, at->id, &name);

    if (good) {
        td_buf_puts(&name, ".size()[");
        td_buf_put_i64(&name, dim);
        td_buf_putc(&name, ']');
        *text = name.failed ? NULL : td_arena_dup(&b->frame.arena, name.bytes, name.sz);
    }
    td_buf_clear(&name);
    if (!good && PyErr_Occurred() != NULL) {
        return td_stop_python(b);
    }
    return *text != NULL || td_stop_nomem(b);
}

bool
td_constraint_named(td_builder_t *b, td_at_t const *at, td_dims_t const *dims, uint32_t dim)
{
    td_symbols_t *symbols = &b->frame.symbols;
    char const   *text    = NULL;

    if (dims->ranges == NULL || dims->constraints[dim] != TD_CONSTRAINT_STRICT ||
        dims->ranges[dim].debug_name == NULL) {
        return true;
    }
    if (!dim_name(b, at, dim, &text)) {
        return false;
    }
    for (uint32_t i = 0; i < symbols->debug_name_cnt; i++) {
        if (strcmp(symbols->debug_names[i].source, text) == 0) {
            symbols->debug_names[i].name = dims->ranges[dim].debug_name;
            return true;
        }
    }
    if (symbols->debug_name_cnt == symbols->debug_name_cap &&
        !td_array_grow((void **)&symbols->debug_names, &symbols->debug_name_cap,
                       sizeof *symbols->debug_names)) {
        return td_stop_nomem(b);
    }
    symbols->debug_names[symbols->debug_name_cnt].source = text;
    symbols->debug_names[symbols->debug_name_cnt].name   = dims->ranges[dim].debug_name;
    symbols->debug_name_cnt++;
    return true;
}
