/* td_method_fields.c: the function that stands for dataclasses.fields in a graph. */
#include "builder/td_dataclass.h"
#include "builder/td_method.h"
#include "builder/td_plant.h"
#include "py/td_call.h"

static td_at_t const nowhere;

static bool
is_user_object(td_class_t cls)
{
    while (cls != TD_CLASS_NONE && cls != TD_CLASS_UserDefinedObjectVariable) {
        cls = td_class_parent(cls);
    }
    return cls != TD_CLASS_NONE;
}

/* ---- a refusal -------------------------------------------------------------------- */

/* spelled gives how a tracker spells itself: a new reference.  NULL: stopped. */
static PyObject *
spelled(td_builder_t *b, td_var_t const *var)
{
    char const *name = td_class_name((td_class_t)var->cls);
    PyObject   *text = NULL; /* owned, returned */

    switch (var->cls) {
    case TD_CLASS_ConstantVariable:
        text = PyUnicode_FromFormat("%s(%s)", name, _PyType_Name(Py_TYPE(var->of.value)));
        break;
    case TD_CLASS_EnumVariable:
    case TD_CLASS_BuiltinVariable:
    case TD_CLASS_UserMethodVariable:
    case TD_CLASS_GetAttrVariable:
    case TD_CLASS_TorchVariable:
        td_stop_unsupported(b, "L1288/unimpl/raised", __func__, "a tracker that spells a value");
        return NULL;
    default:
        text = PyUnicode_FromFormat("%s()", name);
        break;
    }
    if (text == NULL) {
        td_stop_python(b);
    }
    return text;
}

static bool
refuse(td_builder_t *b, td_var_t const *var)
{
    PyObject *inner = spelled(b, var); /* owned */
    PyObject *text  = NULL;            /* owned until kept */

    if (inner == NULL) {
        return false;
    }
    text = PyUnicode_FromFormat("Dataclass fields handling fails for type %U", inner);
    Py_DECREF(inner);
    if (text == NULL) {
        return td_stop_python(b);
    }
    return td_keep_steal(b, text) && td_stop_raise_text(b, "L1288/unimpl/raised", __func__,
                                                        "torch._dynamo.exc.Unsupported", text);
}

/* ---- the fields ---------------------------------------------------------------------- */

/* fields_of mirrors dataclasses.fields(value), of an instance or a class. */
static bool
fields_of(td_builder_t *b, PyObject *value, td_dataclass_t *fields)
{
    PyObject *all  = td_call_attr(value, b->names.dataclass_fields); /* owned */
    bool      good = false;

    if (all == NULL && !PyErr_ExceptionMatches(PyExc_AttributeError)) {
        return td_stop_passing(b, "L1290/for/some", __func__);
    }
    PyErr_Clear();
    good = td_dataclass_fields(b, all, "L1290/for/zero", fields);
    Py_XDECREF(all);
    return good;
}

/* sources_of makes the sources of the fields, where the tracker has one. */
static bool
sources_of(td_builder_t *b, td_src_id_t source, td_dataclass_t const *fields, td_at_t *first)
{
    td_src_block_t const *block = source == 0 ? NULL : td_source_block(&b->frame.sources, source);
    td_at_t               base  = {0};
    td_at_t               table = {0};

    if (block == NULL || fields->cnt == 0) {
        return true;
    }
    base = (td_at_t){.id         = source,
                     .depth      = block->depth,
                     .where      = block->where,
                     .local_root = block->local_root};
    return td_source_attr(b, &base, TD_SOURCE_CLASS_AttrSource, b->names.dataclass_fields,
                          &table) &&
           td_children(b, &table, TD_SOURCE_CLASS_GetItemSource, TD_PAYLOAD_KEYS, fields->names,
                       NULL, fields->cnt, first);
}

static bool
more_push(td_builder_t *b, td_guard_id_t guard, td_more_t const **more)
{
    td_more_t *row = guard == 0 ? NULL : td_alloc_in(b, sizeof *row);

    if (row != NULL) {
        *row  = (td_more_t){.guard = guard, .next = *more};
        *more = row;
    }
    return row != NULL || guard == 0;
}

/* gather puts the guards of a tracker and of those below it, which its constructor took
   over, in a list. */
static bool
gather(td_builder_t *b, td_var_t *var, td_more_t const **more)
{
    td_var_t *items = NULL;
    uint32_t  cnt   = 0;

    var = td_var_target(var);
    if (!more_push(b, var->guard, more) || !more_push(b, var->added, more)) {
        return false;
    }
    for (td_more_t const *row = var->more; row != NULL; row = row->next) {
        if (!more_push(b, row->guard, more)) {
            return false;
        }
    }
    if (var->cls == TD_CLASS_TupleIteratorVariable || var->cls == TD_CLASS_UserMethodVariable ||
        td_var_seen(var, b->frame.epoch)) {
        return true;
    }
    items = td_var_children(var, &cnt);
    for (uint32_t i = 0; i < cnt; i++) {
        if (!gather(b, &items[i], more)) {
            return false;
        }
    }
    return true;
}

/* tuple_of makes the tracker of the tuple of fields. */
static bool
tuple_of(td_builder_t *b, td_var_t *var, td_dataclass_t const *fields, td_var_t *out)
{
    td_at_t          first = {0};
    td_items_t      *items = td_items_new(b, fields->cnt);
    td_more_t const *more  = NULL;

    b->frame.epoch++;
    if (items == NULL || !sources_of(b, var->source, fields, &first) || !gather(b, var, &more)) {
        return false;
    }
    for (uint32_t i = 0; i < fields->cnt; i++) {
        td_var_t *item = &items->items[i];

        td_var_make(item, TD_CLASS_UserDefinedObjectVariable, 0);
        item->of.value = fields->fields[i];
        item->source   = first.id == 0 ? 0 : first.id + i;
        item->more     = more;
        td_var_clone(item);
    }
    td_var_make(out, TD_CLASS_TupleVariable, 0);
    out->of.list = items;
    out->more    = TD_PLANT(UNGUARDED_FIELDS) ? NULL : more;
    td_var_clone(out);
    return true;
}

/* td_method_fields mirrors _dataclasses_fields_lambda. */
bool
td_method_fields(td_builder_t *b, td_call_t const *call, td_var_t *out)
{
    td_var_t       made   = {0};
    td_var_t      *var    = call->at[0].tracker;
    td_dataclass_t fields = {0};
    PyObject      *value  = NULL; /* borrowed */

    if (var == NULL) {
        td_var_make(&made, TD_CLASS_UserDefinedObjectVariable, 0);
        made.of.value = call->at[0].object;
        var           = &made;
    }
    var = td_var_target(var);
    if (var->cls == TD_CLASS_DataClassVariable) {
        value = var->of.dict->cls;
    } else if (is_user_object((td_class_t)var->cls)) {
        value = var->of.value;
    } else {
        return refuse(b, var);
    }
    td_trail_add(b, &nowhere, "L1297/ret/reached", __func__);
    return fields_of(b, value, &fields) && tuple_of(b, var, &fields, out);
}
