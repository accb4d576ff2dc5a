/* td_canon.c: atoms, containers and the order in which kinds are tried. */
#include "py/td_canon.h"

#include <string.h>

#include "base/td_alloc.h"
#include "base/td_assert.h"
#include "observe/td_forms.h"
#include "py/td_canon_parts.h"

bool
td_canon_is_static(PyTypeObject const *type, char const *tp_name)
{
    return (type->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 && strcmp(type->tp_name, tp_name) == 0;
}

PyObject *
td_canon_dict(PyObject *value)
{
    PyObject **slot;

    slot = Py_TYPE(value)->tp_dictoffset == 0 ? NULL : _PyObject_GetDictPtr(value);
    return slot == NULL ? NULL : *slot;
}

PyObject *
td_canon_get(PyObject *dict, PyObject *key)
{
    PyObject *found = dict == NULL ? NULL : PyDict_GetItemWithError(dict, key);

    if (found == NULL) {
        PyErr_Clear();
    }
    return found;
}

td_val_t
td_canon_ordinal(td_canon_t *canon, void const *identity)
{
    return td_obs_int(canon->obs,
                      (int64_t)td_obs_ordinal(canon->obs, TD_SPACE_OBJECT, identity, NULL));
}

char const *
td_canon_utf8(PyObject *text, Py_ssize_t *sz, PyObject **keep)
{
    char const *bytes;

    *keep = NULL;
    bytes = PyUnicode_AsUTF8AndSize(text, sz);
    if (bytes != NULL) {
        return bytes;
    }
    PyErr_Clear();
    *keep = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
    if (*keep == NULL) {
        PyErr_Clear();
        return NULL;
    }
    *sz = PyBytes_GET_SIZE(*keep);
    return PyBytes_AS_STRING(*keep);
}

td_val_t
td_canon_str(td_canon_t *canon, PyObject *text)
{
    Py_ssize_t  sz    = 0;
    PyObject   *keep  = NULL;
    char const *bytes = td_canon_utf8(text, &sz, &keep);
    td_val_t    val;

    val = td_obs_str(canon->obs, bytes == NULL ? "" : bytes, (size_t)sz);
    Py_XDECREF(keep);
    return val;
}

/* ---- atoms --------------------------------------------------------------- */

static td_val_t
canon_bigint(td_canon_t *canon, PyObject *value)
{
    /* Base 16 knows no limit of digits, base 10 has one. */
    PyObject *text = _PyLong_Format(value, 10);
    bool      hex  = text == NULL;
    td_val_t  val;

    if (hex) {
        PyErr_Clear();
        text = _PyLong_Format(value, 16);
    }
    if (text == NULL) {
        PyErr_Clear();
        return td_obs_bigint(canon->obs, "0");
    }
    val = hex ? td_form_typed(canon->obs, "int", td_canon_str(canon, text))
              : td_obs_bigint(canon->obs, PyUnicode_AsUTF8(text));
    Py_DECREF(text);
    return val;
}

static td_val_t
canon_int(td_canon_t *canon, PyObject *value)
{
    int       overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);

    return overflow != 0 ? canon_bigint(canon, value) : td_obs_int(canon->obs, number);
}

static td_val_t
canon_complex(td_canon_t *canon, PyObject *value)
{
    Py_complex number = ((PyComplexObject *)value)->cval;

    return td_form_typed(canon->obs, "complex",
                         td_obs_pair(canon->obs, td_obs_float(canon->obs, number.real),
                                     td_obs_float(canon->obs, number.imag)));
}

/* The C types of torch whose equal values are equal, and how to spell them. */
static struct {
    char const *tp_name;
    bool        forever; /* torch keeps each instance as long as the process lives */
} const canon_torch_atoms[] = {
    {"torch.dtype", true},
    {"torch.layout", true},
    {"torch.memory_format", true},
    {"torch.device", false},
};

enum { CANON_TORCH_ATOM_CNT = sizeof(canon_torch_atoms) / sizeof(canon_torch_atoms[0]) };

static int
canon_torch_atom_idx(PyTypeObject const *type)
{
    if ((type->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 || strncmp(type->tp_name, "torch.", 6) != 0) {
        return -1;
    }
    for (int i = 0; i < CANON_TORCH_ATOM_CNT; ++i) {
        if (strcmp(type->tp_name, canon_torch_atoms[i].tp_name) == 0) {
            return i;
        }
    }
    return -1;
}

static td_val_t
canon_torch_spelled(td_canon_t *canon, PyObject *value, char const *tp_name)
{
    PyObject   *text = PyObject_Str(value); /* C code of torch alone */
    char const *bytes;
    td_val_t    val;

    if (text == NULL) {
        PyErr_Clear();
        return td_form_typed(canon->obs, tp_name, td_obs_null(canon->obs));
    }
    bytes = PyUnicode_AsUTF8(text);
    TD_ASSERT(bytes != NULL);
    bytes += strncmp(bytes, "torch.", 6) == 0 ? 6 : 0;
    val = td_form_typed(canon->obs, tp_name, td_obs_cstr(canon->obs, bytes));
    Py_DECREF(text);
    return val;
}

/* canon_device: torch makes a new device at every question, and takes longer to spell it than
   all else here takes.  Its hash is type and index side by side (c10/core/Device.h), so that
   equal ones and only those have one. */
static td_val_t
canon_device(td_canon_t *canon, PyObject *value, char const *tp_name)
{
    Py_hash_t hash = PyObject_Hash(value); /* C code of torch alone, cannot fail */

    if (canon->device_val == TD_VAL_NONE || canon->device_hash != hash) {
        canon->device_hash = hash;
        canon->device_val  = canon_torch_spelled(canon, value, tp_name);
    }
    return canon->device_val;
}

static td_val_t
canon_torch_atom(td_canon_t *canon, PyObject *value)
{
    int      idx = canon_torch_atom_idx(Py_TYPE(value));
    size_t   slot;
    td_val_t val;

    if (idx < 0) {
        return TD_VAL_NONE;
    }
    if (!canon_torch_atoms[idx].forever) {
        return canon_device(canon, value, canon_torch_atoms[idx].tp_name);
    }
    slot = ((uintptr_t)value >> 4) % TD_CANON_MEMO_CNT;
    if (canon->memo_keys[slot] == value) {
        return canon->memo_vals[slot];
    }
    val                    = canon_torch_spelled(canon, value, canon_torch_atoms[idx].tp_name);
    canon->memo_keys[slot] = value;
    canon->memo_vals[slot] = val;
    return val;
}

td_val_t
td_canon_atom(td_canon_t *canon, PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    td_obs_t     *obs  = canon->obs;

    if (type == &PyUnicode_Type) {
        return td_canon_str(canon, value);
    }
    if (type == &PyLong_Type) {
        return canon_int(canon, value);
    }
    if (value == Py_None) {
        return td_obs_null(obs);
    }
    if (type == &PyBool_Type) {
        return td_obs_bool(obs, value == Py_True);
    }
    if (type == &PyFloat_Type) {
        return td_obs_float(obs, PyFloat_AS_DOUBLE(value));
    }
    if (value == Py_Ellipsis || value == Py_NotImplemented) {
        return td_form_typed(
            obs, "singleton",
            td_obs_cstr(obs, value == Py_Ellipsis ? "Ellipsis" : "NotImplemented"));
    }
    if (type == &PyBytes_Type) {
        return td_form_bytes(obs, (uint8_t const *)PyBytes_AS_STRING(value),
                             (size_t)PyBytes_GET_SIZE(value));
    }
    if (type == &PyComplex_Type) {
        return canon_complex(canon, value);
    }
    if (type == &PyTuple_Type && PyTuple_GET_SIZE(value) == 0) {
        return td_form_typed(obs, "tuple", td_obs_list(obs, NULL, 0));
    }
    return canon_torch_atom(canon, value);
}

bool
td_canon_is_atom(PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);

    return value == Py_None || value == Py_Ellipsis || value == Py_NotImplemented ||
           type == &PyUnicode_Type || type == &PyLong_Type || type == &PyBool_Type ||
           type == &PyFloat_Type || type == &PyBytes_Type || type == &PyComplex_Type ||
           (type == &PyTuple_Type && PyTuple_GET_SIZE(value) == 0) ||
           canon_torch_atom_idx(type) >= 0;
}

/* ---- containers ---------------------------------------------------------- */

/* Items of one container: short ones stay on the stack. */
enum { CANON_ITEM_LOCAL_MAX = 16 };

typedef struct {
    td_val_t  local[CANON_ITEM_LOCAL_MAX];
    td_val_t *items; /* local, or memory of its own */
    size_t    cnt;
} canon_items_t;

static bool
canon_items_init(canon_items_t *items, Py_ssize_t max)
{
    items->cnt   = 0;
    items->items = items->local;
    if (max > CANON_ITEM_LOCAL_MAX) {
        items->items = td_malloc((size_t)max * sizeof(td_val_t));
    }
    return items->items != NULL;
}

static void
canon_items_clear(canon_items_t *items)
{
    if (items->items != items->local) {
        td_free(items->items);
    }
}

static td_val_t
canon_sequence(td_canon_t *canon, PyObject *value, bool is_list)
{
    Py_ssize_t    cnt = is_list ? PyList_GET_SIZE(value) : PyTuple_GET_SIZE(value);
    canon_items_t items;
    td_val_t      val;

    if (!canon_items_init(&items, cnt)) {
        return TD_VAL_NONE;
    }
    for (Py_ssize_t i = 0; i < cnt; ++i) {
        items.items[items.cnt++] =
            td_canon_value(canon, is_list ? PyList_GET_ITEM(value, i) : PyTuple_GET_ITEM(value, i));
    }
    val = td_obs_list(canon->obs, items.items, items.cnt);
    canon_items_clear(&items);
    return val;
}

static td_val_t
canon_set(td_canon_t *canon, PyObject *value)
{
    canon_items_t items;
    Py_ssize_t    pos = 0;
    PyObject     *key; /* borrowed */
    Py_hash_t     hash;
    td_val_t      val;

    if (!canon_items_init(&items, PySet_GET_SIZE(value))) {
        return TD_VAL_NONE;
    }
    while (_PySet_NextEntry(value, &pos, &key, &hash)) {
        items.items[items.cnt++] = td_canon_value(canon, key);
    }
    val = td_obs_bag(canon->obs, items.items, items.cnt);
    canon_items_clear(&items);
    return val;
}

static td_val_t
canon_mapping(td_canon_t *canon, PyObject *value)
{
    canon_items_t items;
    Py_ssize_t    pos = 0;
    PyObject     *key, *item; /* borrowed */
    td_val_t      val;

    if (!canon_items_init(&items, PyDict_GET_SIZE(value))) {
        return TD_VAL_NONE;
    }
    while (PyDict_Next(value, &pos, &key, &item)) {
        td_val_t key_val = td_canon_value(canon, key);

        items.items[items.cnt++] = td_obs_pair(canon->obs, key_val, td_canon_value(canon, item));
    }
    val = td_obs_list(canon->obs, items.items, items.cnt);
    canon_items_clear(&items);
    return val;
}

static td_val_t
canon_slice(td_canon_t *canon, PyObject *value)
{
    PySliceObject *slice = (PySliceObject *)value;
    td_val_t       start = td_canon_value(canon, slice->start);
    td_val_t       stop  = td_canon_value(canon, slice->stop);

    return td_form_typed(
        canon->obs, "slice",
        td_obs_triple(canon->obs, start, stop, td_canon_value(canon, slice->step)));
}

/* A range has its three numbers behind C members that nobody can override. */
static td_val_t
canon_range(td_canon_t *canon, PyObject *value)
{
    PyObject *const names[3] = {canon->state->name_start, canon->state->name_stop,
                                canon->state->name_step};
    td_val_t        vals[3];

    for (int i = 0; i < 3; ++i) {
        PyObject *number = PyObject_GetAttr(value, names[i]);

        if (number == NULL) {
            PyErr_Clear();
            return TD_VAL_NONE;
        }
        vals[i] = td_canon_value(canon, number);
        Py_DECREF(number);
    }
    return td_form_typed(canon->obs, "range", td_obs_list(canon->obs, vals, 3));
}

static td_val_t
canon_tuple_subclass(td_canon_t *canon, PyObject *value)
{
    td_val_t items = canon_sequence(canon, value, false);

    if (td_canon_is_static(Py_TYPE(value), "torch.Size")) {
        return td_form_typed(canon->obs, "torch.Size", items);
    }
    return td_obs_triple(canon->obs, td_obs_cstr(canon->obs, "tuple"), items,
                         td_canon_type(canon, Py_TYPE(value)));
}

static td_val_t
canon_container(td_canon_t *canon, PyObject *value)
{
    PyTypeObject *type = Py_TYPE(value);
    td_obs_t     *obs  = canon->obs;

    if (type == &PyTuple_Type) {
        return td_form_typed(obs, "tuple", canon_sequence(canon, value, false));
    }
    if (type == &PyList_Type) {
        return td_form_typed(obs, "list", canon_sequence(canon, value, true));
    }
    if (type == &PyDict_Type) {
        return td_form_typed(obs, "dict", canon_mapping(canon, value));
    }
    if (type == &PySet_Type || type == &PyFrozenSet_Type) {
        return td_form_typed(obs, type == &PySet_Type ? "set" : "frozenset",
                             canon_set(canon, value));
    }
    if (type == &PySlice_Type) {
        return canon_slice(canon, value);
    }
    if (type == &PyRange_Type) {
        return canon_range(canon, value);
    }
    if (PyTuple_Check(value)) {
        return canon_tuple_subclass(canon, value);
    }
    if (type == &PyODict_Type || td_canon_is_static(type, "collections.defaultdict")) {
        return td_form_typed(obs, type->tp_name, canon_mapping(canon, value));
    }
    return TD_VAL_NONE;
}

static bool
canon_may_open(td_canon_t const *canon, PyObject const *value)
{
    if (canon->open_cnt == TD_CANON_DEPTH_MAX) {
        return false;
    }
    for (size_t i = 0; i < canon->open_cnt; ++i) {
        if (canon->open[i] == value) {
            return false;
        }
    }
    return true;
}

static td_val_t
canon_opened(td_canon_t *canon, PyObject *value)
{
    td_val_t val;

    if (!canon_may_open(canon, value)) {
        return TD_VAL_NONE;
    }
    canon->open[canon->open_cnt++] = value;
    val                            = canon_container(canon, value);
    canon->open_cnt--;
    return val;
}

td_val_t
td_canon_contents(td_canon_t *canon, PyObject *container)
{
    if (PyDict_Check(container)) {
        return canon_mapping(canon, container);
    }
    return PyList_Check(container) ? canon_sequence(canon, container, true)
                                   : canon_set(canon, container);
}

/* ---- anything ------------------------------------------------------------ */

static td_val_t
canon_weakref(td_canon_t *canon, PyObject *value)
{
    PyObject *target = PyWeakref_GET_OBJECT(value); /* borrowed, None when dead */

    return td_form_typed(canon->obs, "weakref", td_canon_value(canon, target));
}

static td_val_t
canon_numpy_scalar(td_canon_t *canon, PyObject *value)
{
    static char const digits[] = "0123456789abcdef";
    Py_buffer         view;
    char              text[65];
    size_t            sz;

    if (strncmp(Py_TYPE(value)->tp_name, "numpy.", 6) != 0 ||
        (Py_TYPE(value)->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0 ||
        PyObject_GetBuffer(value, &view, PyBUF_SIMPLE) != 0) {
        PyErr_Clear();
        return TD_VAL_NONE;
    }
    sz = view.ndim == 0 && view.len <= 32 ? (size_t)view.len : 0;
    for (size_t i = 0; i < sz; ++i) {
        text[2 * i]     = digits[((uint8_t const *)view.buf)[i] >> 4];
        text[2 * i + 1] = digits[((uint8_t const *)view.buf)[i] & 15];
    }
    text[2 * sz] = 0;
    PyBuffer_Release(&view);
    return sz == 0
               ? TD_VAL_NONE
               : td_form_typed(canon->obs, Py_TYPE(value)->tp_name, td_obs_cstr(canon->obs, text));
}

static td_val_t
canon_other(td_canon_t *canon, PyObject *value)
{
    td_val_t type = td_canon_type(canon, Py_TYPE(value));

    return td_obs_triple(canon->obs, td_obs_cstr(canon->obs, "other"), type,
                         td_canon_ordinal(canon, value));
}

/* Kinds of objects that no program brought, in the order in which they are tried. */
static td_val_t
canon_unowned(td_canon_t *canon, PyObject *value)
{
    td_val_t val = TD_VAL_NONE;

    if (canon->special != NULL) {
        val = canon->special(canon->special_ctx, value);
    }
    if (val == TD_VAL_NONE) {
        val = canon_opened(canon, value);
    }
    if (val == TD_VAL_NONE) {
        val = td_canon_named(canon, value);
    }
    if (val == TD_VAL_NONE && PyWeakref_CheckRefExact(value)) {
        val = canon_weakref(canon, value);
    }
    if (val == TD_VAL_NONE) {
        val = canon_numpy_scalar(canon, value);
    }
    return val != TD_VAL_NONE ? val : canon_other(canon, value);
}

td_val_t
td_canon_value(td_canon_t *canon, PyObject *value)
{
    td_val_t val = td_canon_atom(canon, value);
    uint32_t ordinal;

    if (val != TD_VAL_NONE) {
        return val;
    }
    if (PyType_Check(value)) {
        return td_canon_type(canon, (PyTypeObject *)value);
    }
    if (td_obs_find_ordinal(canon->obs, TD_SPACE_OBJECT, value, &ordinal) &&
        ordinal < canon->object_cnt) {
        return td_form_object(canon->obs, ordinal);
    }
    return canon_unowned(canon, value);
}

static td_val_t
canon_index_tuple(td_canon_t *canon, PyObject *value)
{
    Py_ssize_t    cnt = PyTuple_GET_SIZE(value);
    canon_items_t items;
    td_val_t      val;

    if (!canon_items_init(&items, cnt)) {
        return TD_VAL_NONE;
    }
    for (Py_ssize_t i = 0; i < cnt; ++i) {
        items.items[items.cnt++] = td_canon_index(canon, PyTuple_GET_ITEM(value, i));
    }
    val = td_form_typed(canon->obs, "tuple", td_obs_list(canon->obs, items.items, items.cnt));
    canon_items_clear(&items);
    return val;
}

td_val_t
td_canon_index(td_canon_t *canon, PyObject *value)
{
    td_val_t val;

    if (PyTuple_CheckExact(value)) {
        return canon_index_tuple(canon, value);
    }
    if (PyFrozenSet_CheckExact(value)) {
        return td_form_typed(canon->obs, "frozenset", canon_set(canon, value));
    }
    if (PyType_Check(value)) {
        return td_canon_type_name(canon, (PyTypeObject *)value);
    }
    val = td_canon_enum(canon, value);
    return val != TD_VAL_NONE ? val : td_canon_value(canon, value);
}

td_status_t
td_canon_init(td_canon_t *canon, td_obs_t *obs, PyObject *objects)
{
    Py_ssize_t cnt = PyTuple_GET_SIZE(objects);

    memset(canon, 0, sizeof(*canon));
    canon->obs        = obs;
    canon->state      = td_state_get();
    canon->object_cnt = (uint32_t)cnt;
    for (Py_ssize_t i = 0; i < cnt; ++i) {
        PyObject   *object = PyTuple_GET_ITEM(objects, i);
        char const *slot   = (char const *)&PyTuple_GET_ITEM(objects, i);
        bool        met =
            td_canon_is_atom(object) || td_obs_find_ordinal(obs, TD_SPACE_OBJECT, object, NULL);

        /* No object lives at an odd address: the slot's keeps the place. */
        (void)td_obs_ordinal(obs, TD_SPACE_OBJECT, met ? (void const *)(slot + 1) : object, NULL);
    }
    return canon->state == NULL ? TD_PYERR : td_obs_status(obs);
}
