/* td_lying.c: objects that answer for themselves what the reference asks of every
   object: isinstance(), by a __class__ of their own, and __module__.

   Their code is run as often, and in the order, as the reference runs it. */
#include <string.h>

#include "builder/td_builder_private.h"
#include "py/td_call.h"

/* ---- who lies ------------------------------------------------------------------------ */

/* is_made_in_c: a descriptor that C code brought, whatever class it is of. */
static bool
is_made_in_c(PyObject *descriptor)
{
    PyTypeObject *type = Py_TYPE(descriptor);

    return type == &PyWrapperDescr_Type || type == &PyGetSetDescr_Type ||
           type == &PyMemberDescr_Type || type == &PyMethodDescr_Type;
}

/* A metaclass with a __getattr__ alone (enum's) is asked only for what is not there. */
bool
td_has_lying_meta(PyTypeObject *type)
{
    static char const *const asked[] = {"__getattribute__", "__name__", "__module__", "__dict__",
                                        "__mro__"};
    PyTypeObject            *meta    = Py_TYPE(type);

    if (meta == &PyType_Type) {
        return false;
    }
    if (meta->tp_hash != PyType_Type.tp_hash ||
        meta->tp_richcompare != PyType_Type.tp_richcompare) {
        return true;
    }
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        PyObject *name  = PyUnicode_FromString(asked[i]);                           /* owned */
        PyObject *own   = name == NULL ? NULL : _PyType_Lookup(meta, name);         /* borrowed */
        PyObject *plain = name == NULL ? NULL : _PyType_Lookup(&PyType_Type, name); /* borrowed */
        bool      lies =
            own != plain && own != NULL && !is_made_in_c(own) && Py_TYPE(own)->tp_descr_get != NULL;

        Py_XDECREF(name);
        PyErr_Clear();
        if (lies) {
            return true;
        }
    }
    return false;
}

int
td_is_lying(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    PyTypeObject *type  = Py_TYPE(value);
    PyObject     *own   = NULL; /* borrowed */
    PyObject     *plain = NULL; /* borrowed */

    (void)at;
    if (type == &_PyWeakref_ProxyType || type == &_PyWeakref_CallableProxyType) {
        return 1;
    }
    if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        return 0;
    }
    if (td_has_lying_meta(type)) {
        return 1;
    }
    plain = PyDict_GetItemWithError(PyBaseObject_Type.tp_dict, b->names.class_);
    own   = _PyType_Lookup(type, b->names.class_);
    if (own != plain) {
        return 1;
    }
    own = _PyType_Lookup(type, b->names.getattribute);
    return own != NULL && PyFunction_Check(own);
}

/* ---- modules ------------------------------------------------------------------------- */

/* runs_code: whether reading __module__ may run code of the value's, or give what is no
   str. */
static bool
runs_code(td_builder_t *b, PyObject *value)
{
    PyTypeObject *type  = Py_TYPE(value);
    PyObject     *found = NULL; /* borrowed */

    if (PyModule_Check(value)) {
        return PyDict_GetItemWithError(PyModule_GetDict(value), b->names.getattr) != NULL ||
               !PyModule_CheckExact(value);
    }
    if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE) || PyType_Check(value)) {
        return false;
    }
    found = td_getattr_static(value, b->names.module);
    return found == NULL || !PyUnicode_CheckExact(found);
}

/* fills_table: whether a module of that name would fill the table of allowed functions. */
static bool
fills_table(td_builder_t *b, PyObject *module)
{
    PyObject  *root = NULL; /* borrowed */
    Py_ssize_t pos  = 0;

    while (PyDict_Next(b->tables.lazy_modules, &pos, &root, NULL)) {
        Py_ssize_t sz = PyUnicode_GET_LENGTH(root);

        if (PyUnicode_Tailmatch(module, root, 0, PY_SSIZE_T_MAX, -1) == 1 &&
            (PyUnicode_GET_LENGTH(module) == sz || PyUnicode_READ_CHAR(module, sz) == '.')) {
            return true;
        }
    }
    return false;
}

/* read_module mirrors getattr(value, "__module__", None): NULL with stopped false is
   None. */
static bool
read_module(td_builder_t *b, PyObject *value, PyObject **module)
{
    *module = td_call_attr(value, b->names.module); /* owned */
    if (*module == NULL && PyErr_ExceptionMatches(PyExc_AttributeError)) {
        PyErr_Clear();
    } else if (*module == NULL) {
        return td_stop_passing(b, "L488/if/T", __func__);
    } else if (*module == Py_None) {
        Py_CLEAR(*module);
    }
    return true;
}

/* split mirrors module.split(".") of what may be no str. */
static bool
split(td_builder_t *b, PyObject *module)
{
    PyObject *method = NULL; /* owned */

    if (PyUnicode_CheckExact(module)) {
        return !fills_table(b, module) ||
               td_stop_unsupported(b, "L488/if/T", __func__,
                                   "an object of a module that Dynamo has yet to look at");
    }
    method = td_call_attr(module, b->names.split);
    if (method == NULL) {
        return td_stop_passing(b, "L488/if/T", __func__);
    }
    Py_DECREF(method);
    return td_stop_unsupported(b, "L488/if/T", __func__, "a __module__ that is no plain str");
}

static bool
meet_module(td_builder_t *b, PyObject *value)
{
    PyObject *module = NULL; /* owned */
    bool      good   = read_module(b, value, &module) && (module == NULL || split(b, module));

    Py_XDECREF(module);
    return good;
}

bool
td_meet_module(td_builder_t *b, PyObject *value)
{
    return !runs_code(b, value) || meet_module(b, value);
}

/* ---- asking -------------------------------------------------------------------------- */

/* ask gives what a check of two arguments answers: 1, 0, or -1: stopped. */
static int
ask(td_builder_t *b, PyObject *check, PyObject *first, PyObject *second, char const *arm)
{
    PyObject *args[2] = {first, second};
    PyObject *answer  = td_call(check, args, 2); /* owned */
    int       is      = 0;

    if (answer == NULL) {
        td_stop_passing(b, arm, __func__);
        return -1;
    }
    is = answer == Py_True;
    Py_DECREF(answer);
    return is;
}

int
td_lying_asked(td_builder_t *b, PyObject *value, PyObject *cls, char const *arm)
{
    if (cls == Py_None) {
        return 0; /* its library is not there */
    }
    return ask(b, b->tables.isinstance, value, cls, arm);
}

/* asked_parameter does the same of Parameter, whose metaclass asks by the class first and
   then whether the value is a tensor at all, which may have a mark. */
static int
asked_parameter(td_builder_t *b, PyObject *value, char const *arm)
{
    PyObject *check = PyDict_GetItemWithError(PyType_Type.tp_dict, b->names.instancecheck);
    int       is    = ask(b, check, b->tables.parameter, value, arm);

    return is != 0 ? is : td_lying_asked(b, value, b->tables.tensor, arm);
}

int
td_lying_takes_in(td_builder_t *b, char const *arm)
{
    td_stop_unsupported(b, arm, __func__,
                        "an object that answers isinstance() itself, and is believed");
    return -1;
}

int
td_lying_allowed(td_builder_t *b, PyObject *value)
{
    PyObject *classes[] = {b->tables.op_overload_packet, b->tables.op_overload,
                           b->tables.op_namespace};
    int       has       = 0;

    if (!meet_module(b, value)) {
        return -1;
    }
    has = td_tables_has(b->tables.disallowed_ids, value);
    if (has != 0) {
        return has < 0 ? (td_stop_python(b), -1) : 0;
    }
    has = td_tables_has(b->tables.allowed_ids, value);
    for (size_t i = 0; has == 0 && i < sizeof classes / sizeof *classes; i++) {
        has = td_lying_asked(b, value, classes[i], "L488/if/T");
    }
    return has > 0 ? td_lying_takes_in(b, "L488/if/T") : has;
}

int
td_lying_key(td_builder_t *b, td_at_t const *at, PyObject *key)
{
    int is = asked_parameter(b, key, "L799/bool/op0=F");

    if (is == 0 && td_key_is_tensor(b, at, key)) {
        is = 1; /* by its source alone */
    }
    if (is == 0) {
        is = td_lying_asked(b, key, b->tables.enum_class, "L411/if/T");
    }
    return is > 0 ? td_lying_takes_in(b, "L411/if/T") : is;
}

/* ---- the ladder ------------------------------------------------------------------------ */

/* by_type: what the reference tells by the value's type, and this ladder does not do. */
static int
by_type(td_builder_t *b, td_at_t const *at, PyObject *value)
{
    return td_is_namedtuple(b, at, value) || td_is_model_output(b, at, value) ||
           td_is_pretrained_config(b, at, value) || td_is_nullcontext(b, at, value) ||
           td_is_keyed_jagged(b, at, value) || td_is_process_group(b, at, value) ||
           td_is_device_mesh(b, at, value);
}

/* believed follows an answer that ends the ladder, where the answer alone makes the
   tracker: nothing else is asked of the object. */
static bool
believed(td_builder_t *b, td_at_t const *at, PyObject *value, PyObject *cls, char const *arm,
         td_var_t *out)
{
    td_tables_t const *T = &b->tables;
    struct {
        PyObject *cls; /* borrowed */
        bool (*wrap)(td_builder_t *, td_at_t const *, PyObject *, td_var_t *);
    } const followed[] = {
        {T->enum_class, td_wrap_enum},
        {T->special_generic_alias, td_wrap_typing},
        {T->union_generic_alias, td_wrap_typing},
        {T->function_ctx, td_wrap_autograd_context},
        {T->stream, td_wrap_stream},
        {(PyObject *)&PyGetSetDescr_Type, td_wrap_getset},
        {(PyObject *)&_PyMethodWrapper_Type, td_wrap_method_wrapper},
    };

    for (size_t i = 0; i < sizeof followed / sizeof *followed; i++) {
        if (cls == followed[i].cls) {
            td_trail_add(b, at, arm, __func__);
            return followed[i].wrap(b, at, value, out);
        }
    }
    return td_lying_takes_in(b, arm) > 0;
}

/* ask_all asks everything that the reference asks: 0 when each answer is no; 1 when the
   value's tracker is made, or none is: *good says which. */
static int
ask_all(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out, bool *good)
{
    td_tables_t const *T  = &b->tables;
    int                is = 0;

#define ASKED(cls, arm)                                            \
    is = td_lying_asked(b, value, (PyObject *)(cls), arm);         \
    if (is != 0) {                                                 \
        *good = is > 0 && believed(b, at, value, (cls), arm, out); \
        return 1;                                                  \
    }
#define ASKED_IF(name, cls, arm)          \
    if (td_switch(b, TD_SWITCH_##name)) { \
        ASKED(cls, arm)                   \
    }
#define ALLOWED                            \
    if (td_lying_allowed(b, value) != 0) { \
        *good = false;                     \
        return 1;                          \
    }
#define TYPE_OF_TYPES                                  \
    if (PyType_Check(value)) {                         \
        *good = td_wrap_user_class(b, at, value, out); \
        return 1;                                      \
    }
#include "builder/asked.def"
#undef ASKED
#undef ASKED_IF
#undef ALLOWED
#undef TYPE_OF_TYPES
    return 0;
}

/* td_wrap_lying mirrors the whole ladder of _wrap for an object that answers isinstance()
   itself. */
bool
td_wrap_lying(td_builder_t *b, td_at_t const *at, PyObject *value, td_var_t *out)
{
    bool good = false;

    if (td_has_lying_meta(Py_TYPE(value))) {
        return td_stop_unsupported(b, "L377/alt/miss", __func__,
                                   "an object whose class's class answers in its place");
    }
    if (by_type(b, at, value)) {
        return td_lying_takes_in(b, "L377/alt/miss") > 0;
    }
    if (ask_all(b, at, value, out, &good) != 0) {
        return good;
    }
    return td_has_plain_setattr(b, at, value) ? td_wrap_user_object_tracked(b, at, value, out)
                                              : td_wrap_user_object(b, at, value, out);
}
