/* td_index.c: what stands in the brackets of a source. */
#include "builder/td_index.h"

#include "builder/td_plant.h"
#include "builder/td_tables.h"

bool
td_index_is_literal(PyObject *key)
{
    PyTypeObject *type = Py_TYPE(key);

    return type == &PyLong_Type || type == &PyUnicode_Type || type == &PyBool_Type ||
           type == &PyFloat_Type || type == Py_TYPE(Py_None) || type == &PyBytes_Type;
}

bool
td_index_is_enum(td_sources_t const *sources, PyObject *key)
{
    return PyType_IsSubtype(Py_TYPE(key), sources->enum_type);
}

/* ---- who can be spelled ------------------------------------------------------------ */

/* is_plain_class: a class whose repr and attributes are those of type itself. */
static bool
is_plain_class(PyObject *key)
{
    return PyType_Check(key) && Py_TYPE(key)->tp_repr == PyType_Type.tp_repr &&
           Py_TYPE(key)->tp_getattro == PyType_Type.tp_getattro;
}

static bool
is_torch_type(td_sources_t const *sources, PyTypeObject *type)
{
    for (size_t i = 0; i < sizeof sources->torch_types / sizeof *sources->torch_types; i++) {
        if (sources->torch_types[i] == type) {
            return true;
        }
    }
    return false;
}

/* of_class gives what a class or its bases have under a name; borrowed. */
static PyObject *
of_class(PyTypeObject *type, char const *name)
{
    PyObject *text  = PyUnicode_FromString(name);                       /* owned */
    PyObject *found = text == NULL ? NULL : _PyType_Lookup(type, text); /* borrowed */

    Py_XDECREF(text);
    PyErr_Clear();
    return found;
}

/* is_enum_class: an enum whose repr, as a class, is that of every enum. */
static bool
is_enum_class(td_sources_t const *sources, PyObject *key)
{
    return PyType_Check(key) && PyType_IsSubtype((PyTypeObject *)key, sources->enum_type) &&
           of_class(Py_TYPE(key), "__repr__") ==
               of_class(Py_TYPE((PyObject *)sources->enum_type), "__repr__") &&
           of_class(Py_TYPE(key), "__getattribute__") == of_class(&PyType_Type, "__getattribute__");
}

/* own_attr gives what stands in an object's dict; borrowed. */
static PyObject *
own_attr(PyObject *object, char const *name)
{
    PyObject **dict = _PyObject_GetDictPtr(object);

    return dict == NULL || *dict == NULL ? NULL : td_dict_find(*dict, name);
}

/* value_repr gives how an enum's values are spelled where it is not by repr(): the slot of
   the type that the enum is mixed with. */
static reprfunc
value_repr(PyTypeObject *type)
{
    PyObject *own = of_class(type, "_value_repr_"); /* borrowed */

    return own != NULL && Py_IS_TYPE(own, &PyWrapperDescr_Type)
               ? ((PyDescrObject *)own)->d_type->tp_repr
               : NULL;
}

/* spells_by_enum: an enum whose repr is that of enum.Enum or enum.Flag, and which is
   compared by C code. */
static bool
spells_by_enum(td_sources_t const *sources, PyTypeObject *type)
{
    PyObject *own   = of_class(type, "__repr__");     /* borrowed */
    PyObject *value = of_class(type, "_value_repr_"); /* borrowed */
    bool      plain = type->tp_richcompare == PyBaseObject_Type.tp_richcompare ||
                 type->tp_richcompare == PyLong_Type.tp_richcompare ||
                 type->tp_richcompare == PyUnicode_Type.tp_richcompare;

    return plain && own != NULL &&
           (own == of_class(sources->enum_type, "__repr__") ||
            (sources->flag_type != NULL && own == of_class(sources->flag_type, "__repr__"))) &&
           (value == NULL || value == Py_None || value_repr(type) != NULL);
}

static bool
all_have_repr(td_sources_t const *sources, PyObject *const *keys, Py_ssize_t cnt)
{
    for (Py_ssize_t i = 0; i < cnt; i++) {
        if (!td_index_has_repr(sources, keys[i])) {
            return false;
        }
    }
    return true;
}

static bool
holds_literals(PyObject *set)
{
    PyObject  *item = NULL; /* borrowed */
    Py_ssize_t pos  = 0;
    Py_hash_t  hash = 0;

    while (_PySet_NextEntry(set, &pos, &item, &hash)) {
        if (!td_index_is_literal(item)) {
            return false;
        }
    }
    return true;
}

bool
td_index_has_repr(td_sources_t const *sources, PyObject *key)
{
    if (td_index_is_literal(key) || is_torch_type(sources, Py_TYPE(key)) || is_plain_class(key) ||
        is_enum_class(sources, key)) {
        return true;
    }
    if (PyTuple_CheckExact(key)) {
        return all_have_repr(sources, ((PyTupleObject *)key)->ob_item, PyTuple_GET_SIZE(key));
    }
    if (PySlice_Check(key)) {
        PySliceObject *slice    = (PySliceObject *)key;
        PyObject      *parts[3] = {slice->start, slice->stop, slice->step};

        return all_have_repr(sources, parts, 3);
    }
    if (td_index_is_enum(sources, key)) {
        PyObject *value = own_attr(key, "_value_"); /* borrowed */

        return value != NULL && spells_by_enum(sources, Py_TYPE(key)) &&
               td_index_has_repr(sources, value);
    }
    return PyFrozenSet_CheckExact(key) && holds_literals(key);
}

bool
td_index_is_hashable(PyObject *key)
{
    for (Py_ssize_t i = 0; PyTuple_CheckExact(key) && i < PyTuple_GET_SIZE(key); i++) {
        if (!td_index_is_hashable(PyTuple_GET_ITEM(key, i))) {
            return false;
        }
    }
    return !PySlice_Check(key);
}

/* ---- spelling ------------------------------------------------------------------------ */

bool
td_index_put_str(td_buf_t *out, PyObject *text)
{
    Py_ssize_t  sz      = 0;
    char const *utf8    = PyUnicode_AsUTF8AndSize(text, &sz);
    PyObject   *encoded = NULL; /* owned */

    if (utf8 != NULL) {
        td_buf_put(out, utf8, (size_t)sz);
        return !out->failed;
    }
    PyErr_Clear();
    encoded = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
    if (encoded == NULL) {
        return false;
    }
    td_buf_put(out, PyBytes_AS_STRING(encoded), (size_t)PyBytes_GET_SIZE(encoded));
    Py_DECREF(encoded);
    return !out->failed;
}

/* put_text puts a new str, or hands on the exception that stands for it. */
static bool
put_text(td_buf_t *out, PyObject *text)
{
    bool good = text != NULL && td_index_put_str(out, text);

    Py_XDECREF(text);
    return good;
}

static bool
put_items(td_sources_t const *sources, td_buf_t *out, PyObject *tuple)
{
    bool good = true;

    td_buf_putc(out, '(');
    for (Py_ssize_t i = 0; good && i < PyTuple_GET_SIZE(tuple); i++) {
        td_buf_puts(out, i == 0 ? "" : ", ");
        good = td_index_put_repr(sources, out, PyTuple_GET_ITEM(tuple, i));
    }
    td_buf_puts(out, PyTuple_GET_SIZE(tuple) == 1 ? ",)" : ")");
    return good && !out->failed;
}

/* member_lacks_value: it was deleted, or could not be looked for. */
static bool
member_lacks_value(PyObject *member)
{
    if (PyErr_Occurred() == NULL) {
        PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute '_value_'",
                     Py_TYPE(member)->tp_name);
    }
    return false;
}

/* put_member mirrors Enum.__repr__ and Flag.__repr__. */
static bool
put_member(td_sources_t const *sources, td_buf_t *out, PyObject *member)
{
    PyTypeObject *type  = Py_TYPE(member);
    PyObject     *name  = own_attr(member, "_name_");  /* borrowed */
    PyObject     *value = own_attr(member, "_value_"); /* borrowed */
    reprfunc      slot  = value_repr(type);
    bool          good  = true;

    if (value == NULL) {
        return member_lacks_value(member);
    }
    td_buf_putc(out, '<');
    good = put_text(out, PyType_GetName(type));
    if (name != NULL && PyUnicode_Check(name)) {
        td_buf_putc(out, '.');
        good = good && td_index_put_str(out, name);
    }
    td_buf_puts(out, ": ");
    good = good && (slot != NULL
                        ? put_text(out, slot(value))
                        : td_index_put_repr(sources, out, TD_PLANT(MEMBER_BY_NAME) ? name : value));
    td_buf_putc(out, '>');
    return good && !out->failed;
}

/* put_enum_class mirrors EnumType.__repr__. */
static bool
put_enum_class(td_sources_t const *sources, td_buf_t *out, PyTypeObject *cls)
{
    PyObject *name = PyType_GetName(cls); /* owned */
    bool      flag = sources->flag_type != NULL && PyType_IsSubtype(cls, sources->flag_type);
    bool      good = false;

    td_buf_puts(out, flag ? "<flag " : "<enum ");
    good = name != NULL && put_text(out, PyObject_Repr(name));
    td_buf_putc(out, '>');
    Py_XDECREF(name);
    return good && !out->failed;
}

bool
td_index_put_slice(td_sources_t const *sources, td_buf_t *out, PyObject *reduced)
{
    td_buf_puts(out, "slice");
    return put_items(sources, out, PyTuple_GET_ITEM(reduced, 1));
}

static bool
put_slice(td_sources_t const *sources, td_buf_t *out, PyObject *key)
{
    PySliceObject *slice = (PySliceObject *)key;
    PyObject      *parts = PyTuple_Pack(3, slice->start, slice->stop, slice->step); /* owned */
    bool           good  = false;

    td_buf_puts(out, "slice");
    good = parts != NULL && put_items(sources, out, parts);
    Py_XDECREF(parts);
    return good;
}

/* put_plain puts what repr() gives for a text without anything to escape. */
static bool
put_plain(td_buf_t *out, PyObject *text)
{
    char const *chars = PyUnicode_DATA(text);
    Py_ssize_t  cnt   = PyUnicode_GET_LENGTH(text);

    if (!PyUnicode_IS_COMPACT_ASCII(text)) {
        return false;
    }
    for (Py_ssize_t i = 0; i < cnt; i++) {
        if (chars[i] < ' ' || chars[i] > '~' || chars[i] == '\'' || chars[i] == '\\') {
            return false;
        }
    }
    td_buf_putc(out, '\'');
    td_buf_put(out, chars, (size_t)cnt);
    td_buf_putc(out, '\'');
    return true;
}

bool
td_index_put_repr(td_sources_t const *sources, td_buf_t *out, PyObject *key)
{
    if (PyUnicode_CheckExact(key) && put_plain(out, key)) {
        return !out->failed;
    }
    if (PyLong_CheckExact(key)) {
        int       overflow = 0;
        long long number   = PyLong_AsLongLongAndOverflow(key, &overflow);

        if (overflow == 0) {
            td_buf_put_i64(out, number);
            return !out->failed;
        }
    }
    if (PyTuple_CheckExact(key)) {
        return put_items(sources, out, key);
    }
    if (PySlice_Check(key)) {
        return put_slice(sources, out, key);
    }
    if (td_index_is_enum(sources, key)) {
        return put_member(sources, out, key);
    }
    if (is_enum_class(sources, key)) {
        return put_enum_class(sources, out, (PyTypeObject *)key);
    }
    return put_text(out, PyObject_Repr(key)); /* C code only */
}

bool
td_index_put_enum(td_buf_t *out, PyObject *member, bool local)
{
    PyObject *name = own_attr(member, "_name_"); /* borrowed */
    bool      good = false;

    td_buf_puts(out, local ? "L[\"" : "G[\"");
    good = put_text(out, PyType_GetName(Py_TYPE(member)));
    td_buf_puts(out, "\"].");
    if (name != NULL && PyUnicode_Check(name)) {
        good = good && td_index_put_str(out, name);
    } else {
        td_buf_puts(out, "None"); /* a pseudo-member of a flag without a name */
    }
    return good && !out->failed;
}

/* ---- equality ------------------------------------------------------------------------- */

/* is_number: what is compared with ints as a number, members of an IntEnum among it. */
static bool
is_number(PyObject *key)
{
    return PyFloat_CheckExact(key) ||
           (PyLong_Check(key) && Py_TYPE(key)->tp_richcompare == PyLong_Type.tp_richcompare);
}

/* is_text: the same of strs. */
static bool
is_text(PyObject *key)
{
    return PyUnicode_Check(key) && Py_TYPE(key)->tp_richcompare == PyUnicode_Type.tp_richcompare;
}

/* Enum members that are nothing besides are compared by identity, which is their own rule
   unless the class says otherwise. */
bool
td_index_equal(td_sources_t const *sources, PyObject *a, PyObject *b)
{
    bool alike = (is_number(a) && is_number(b)) || (is_text(a) && is_text(b));
    int  same  = 0;

    if (a == b) {
        return true;
    }
    if (!alike && (Py_TYPE(a) != Py_TYPE(b) || td_index_is_enum(sources, a))) {
        return false;
    }
    same = PyObject_RichCompareBool(a, b, Py_EQ);
    if (same < 0) {
        PyErr_Clear();
        return false;
    }
    return same == 1;
}

/* What may run code of a class made in Python counts as nothing. */
uint64_t
td_index_hash(PyObject *key)
{
    PyTypeObject *type = key == NULL ? NULL : Py_TYPE(key);

    if (type == NULL || !(td_index_is_literal(key) || type->tp_hash == PyLong_Type.tp_hash ||
                          type->tp_hash == PyUnicode_Type.tp_hash)) {
        return 0;
    }
    return (uint64_t)PyObject_Hash(key);
}
