/* td_module_plain.c: modules that answer as torch.nn.Module makes them.

   What decides about such a module stands in its own dict and in its type.  The dict is
   read once, from end to end, which also tells what is not there; what the type decides is
   remembered for as long as the type is what it was.  No code is run. */
#include "builder/td_builder_private.h"

/* ---- types ---------------------------------------------------------------------------- */

static bool
has_plain_attrs(td_builder_t *b, PyTypeObject *type)
{
    return _PyType_Lookup(type, b->names.getattr) == b->tables.module_getattr &&
           _PyType_Lookup(type, b->names.getattribute) ==
               PyDict_GetItemWithError(PyBaseObject_Type.tp_dict, b->names.getattribute);
}

/* walks_plainly: the type has nothing of its own in the place of one of the methods that
   list members. */
static bool
walks_plainly(td_builder_t *b, PyTypeObject *type)
{
    td_names_t const  *n = &b->names;
    td_tables_t const *t = &b->tables;

    return _PyType_Lookup(type, n->named_modules) == t->module_named_modules &&
           _PyType_Lookup(type, n->named_parameters) == t->module_named_parameters &&
           _PyType_Lookup(type, n->named_buffers) == t->module_named_buffers &&
           _PyType_Lookup(type, n->named_members) == t->module_named_members;
}

/* has_plain_meta: the metaclass answers for no attribute of the type. */
static bool
has_plain_meta(td_builder_t *b, PyTypeObject *type)
{
    return Py_TYPE(type) == &PyType_Type || (PyObject *)Py_TYPE(type) == b->tables.abc_meta;
}

/* hides_own: the type has an attribute by the name of one of Module's tables. */
static bool
hides_own(td_builder_t *b, PyTypeObject *type)
{
#define X(field, place)                                 \
    if (_PyType_Lookup(type, b->names.field) != NULL) { \
        return true;                                    \
    }
    TD_OWN_LIST(X)
#undef X
    return false;
}

static bool
is_special(td_builder_t *b, PyTypeObject *type)
{
    td_tables_t const *t         = &b->tables;
    PyObject *const    classes[] = {t->rnn, t->gru, t->lstm, t->lazy_module, t->data_parallel};

    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (classes[i] != Py_None && PyType_IsSubtype(type, (PyTypeObject *)classes[i])) {
            return true;
        }
    }
    return _PyType_Lookup(type, b->names.force_dynamic) != NULL ||
           _PyType_Lookup(type, b->names.fsdp_managed) != NULL;
}

/* type_read: what module_type remembers. */
static td_module_type_t
type_read(td_builder_t *b, PyObject *module)
{
    PyTypeObject    *type = Py_TYPE(module);
    td_module_type_t read = {.type = type};

    read.has_plain_attrs = has_plain_attrs(b, type);
    read.is_plain        = read.has_plain_attrs && has_plain_meta(b, type) &&
                    PyType_IsSubtype(type, (PyTypeObject *)b->tables.module) != 0 &&
                    td_is_lying(b, NULL, module) == 0 &&
                    type->tp_hash == PyBaseObject_Type.tp_hash && walks_plainly(b, type) &&
                    !hides_own(b, type);
    read.is_special = read.is_plain && is_special(b, type);
    return read;
}

/* module_type gives what the type of a module decides. */
static td_module_type_t
module_type(td_builder_t *b, PyObject *module)
{
    PyTypeObject     *type  = Py_TYPE(module);
    size_t            cnt   = sizeof b->module_types / sizeof *b->module_types;
    td_module_type_t *known = &b->module_types[((uintptr_t)type >> 4) % cnt];
    td_module_type_t  read  = {0};

    if ((type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG) != 0 && known->type == type &&
        known->version == type->tp_version_tag) {
        return *known;
    }
    read = type_read(b, module);
    if ((type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG) != 0) {
        read.version = type->tp_version_tag;
        *known       = read;
    }
    return read;
}

bool
td_module_has_plain_attrs(td_builder_t *b, PyObject *module)
{
    return module_type(b, module).has_plain_attrs;
}

/* ---- dicts ---------------------------------------------------------------------------- */

/* Keys of a module's dict that are no table of its own. */
enum {
    OTHER = TD_OWN_CNT, /* says nothing here */
    SPECIAL,            /* decides what the module becomes */
    INSTEAD,            /* stands in the place of a method that lists members */
};

static td_own_key_t *
own_key(td_builder_t *b, PyObject const *name)
{
    size_t mask = sizeof b->own_keys / sizeof *b->own_keys - 1;
    size_t idx  = ((uintptr_t)name >> 4) & mask;

    while (b->own_keys[idx].name != NULL && b->own_keys[idx].name != name) {
        idx = (idx + 1) & mask;
    }
    return &b->own_keys[idx];
}

/* own_place says what a key counts for: a str that is not interned may be equal to one of
   them without being the same. */
static int
own_place(td_builder_t *b, PyObject *key)
{
    if (PyUnicode_CHECK_INTERNED(key)) {
        td_own_key_t const *known = own_key(b, key);

        return known->name == NULL ? OTHER : known->place;
    }
    for (size_t i = 0; i < sizeof b->own_keys / sizeof *b->own_keys; i++) {
        PyObject *name = (PyObject *)(uintptr_t)b->own_keys[i].name;

        if (name != NULL && PyUnicode_Compare(name, key) == 0) {
            return b->own_keys[i].place;
        }
    }
    return OTHER;
}

static void
own_keys_fill(td_builder_t *b)
{
    td_names_t const  *n      = &b->names;
    td_own_key_t const keys[] = {
#define X(field, place) {n->field, TD_OWN_##place},
        TD_OWN_LIST(X)
#undef X
            {n->forward, SPECIAL},
        {n->force_dynamic, SPECIAL},
        {n->fsdp_managed, SPECIAL},
        {n->named_modules, INSTEAD},
        {n->named_members, INSTEAD},
        {n->named_parameters, INSTEAD},
        {n->named_buffers, INSTEAD},
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        *own_key(b, keys[i].name) = keys[i];
    }
    b->has_own_keys = true;
}

/* dict_read fills own: false: a key is no plain str, or the module has a method of its own. */
static bool
dict_read(td_builder_t *b, PyObject *dict, td_module_own_t *own)
{
    PyObject  *key   = NULL; /* borrowed */
    PyObject  *value = NULL; /* borrowed */
    Py_ssize_t pos   = 0;

    while (PyDict_Next(dict, &pos, &key, &value)) {
        int place = PyUnicode_CheckExact(key) ? own_place(b, key) : INSTEAD;

        if (place < TD_OWN_CNT) {
            own->at[place] = value;
        } else if (place == SPECIAL) {
            own->is_special = true;
        } else if (place == INSTEAD) {
            return false;
        }
    }
    return true;
}

bool
td_module_own(td_builder_t *b, PyObject *module, td_module_own_t *own)
{
    PyObject       **dict = NULL; /* borrowed */
    td_module_type_t type = module_type(b, module);

    if (!type.is_plain || !has_plain_meta(b, Py_TYPE(module))) {
        return false;
    }
    if (!b->has_own_keys) {
        own_keys_fill(b);
    }
    *own = (td_module_own_t){.is_special = type.is_special};
    dict = _PyObject_GetDictPtr(module);
    return dict != NULL && *dict != NULL && PyDict_CheckExact(*dict) && dict_read(b, *dict, own);
}

bool
td_module_has_no_hooks(td_builder_t *b, td_module_own_t const *own)
{
    for (int i = TD_OWN_HOOKS_FIRST; i < TD_OWN_CNT; i++) {
        if (own->at[i] == NULL || !td_is_exact_dict(b, own->at[i]) ||
            PyDict_GET_SIZE(own->at[i]) != 0) {
            return false;
        }
    }
    return true;
}
