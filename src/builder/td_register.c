/* td_register.c: what the output graph holds by a name of its own: modules, and tensors
   that are attributes. */
#include <string.h>

#include "builder/td_builder_private.h"

/* ---- names ------------------------------------------------------------------------------ */

bool
td_module_key(td_builder_t *b, PyObject *value, char const *text, size_t text_sz,
              td_module_t *module, bool *fresh)
{
    td_frame_t *frame = &b->frame;
    uint32_t    known = td_pmap_get(&frame->module_by_value, value);
    td_smap_t   none  = {0};
    td_buf_t    base  = {0};
    td_buf_t    key   = {0};
    bool        good  = false;

    *fresh = known == TD_MAP_NONE;
    if (!*fresh) {
        *module = frame->modules.at[known];
        return true;
    }
    td_fxname_module_key(&base, text, text_sz);
    td_fxname_free_suffix(&key, TD_PLANT(MODULE_CLASH) ? &none : &frame->module_names, base.bytes,
                          base.sz);
    *module = (td_module_t){.value = value, .key_sz = key.sz};
    if (!base.failed && !key.failed) {
        module->key = td_arena_dup(&frame->arena, key.bytes, key.sz);
    }
    good = module->key != NULL &&
           td_smap_put(&frame->module_names, module->key, module->key_sz, 0) &&
           td_pmap_put(&frame->module_by_value, value, frame->modules.cnt) &&
           TD_ARRAY_PUSH(frame->modules, *module);
    td_buf_clear(&base);
    td_buf_clear(&key);
    return good ? td_keep(b, value) : td_stop_nomem(b);
}

bool
td_param_name(td_builder_t *b, char const *name, size_t name_sz, td_src_id_t source)
{
    td_frame_t     *frame = &b->frame;
    td_param_name_t row   = {.name = name, .name_sz = name_sz, .source = source};
    uint32_t        known = td_smap_get(&frame->param_index, name, name_sz);

    if (known != TD_MAP_NONE) {
        frame->param_names.at[known].source = source;
        return true;
    }
    return (td_smap_put(&frame->param_index, name, name_sz, frame->param_names.cnt) &&
            TD_ARRAY_PUSH(frame->param_names, row)) ||
           td_stop_nomem(b);
}

/* ---- modules ---------------------------------------------------------------------------- */

typedef struct {
    td_builder_t      *b;
    td_at_t const     *at;
    td_module_t const *module;
} leaves_t;

/* leaf mirrors register_leaf_name. */
static bool
leaf(void *ctx, PyObject *name)
{
    leaves_t   *leaves = ctx;
    Py_ssize_t  sz     = 0;
    char const *utf8   = PyUnicode_AsUTF8AndSize(name, &sz);
    size_t      key_sz = leaves->module->key_sz;
    char       *text   = NULL;
    td_at_t     source = {0};

    if (utf8 == NULL) {
        PyErr_Clear();
        return td_stop_unsupported(leaves->b, "L937/ret/reached", __func__,
                                   "a member's name that is no Unicode text");
    }
    text = td_alloc_in(leaves->b, key_sz + 1 + (size_t)sz + 1);
    if (text == NULL ||
        !td_source_attr(leaves->b, leaves->at, TD_SOURCE_CLASS_ParamBufferSource, name, &source)) {
        return false;
    }
    memcpy(text, leaves->module->key, key_sz);
    text[key_sz] = '.';
    memcpy(text + key_sz + 1, utf8, (size_t)sz);
    return td_param_name(leaves->b, text, key_sz + 1 + (size_t)sz, source.id);
}

/* walked goes over what td_module_walk found. */
static bool
walked(leaves_t *leaves, bool buffers)
{
    td_builder_t *b    = leaves->b;
    bool          good = true;

    for (uint32_t i = 0; good && i < b->members[buffers].cnt; i++) {
        good = leaf(leaves, b->members[buffers].at[i]);
    }
    return good;
}

/* asked mirrors the loop over one kind of members, which a module may have lost. */
static bool
asked(leaves_t *leaves, PyObject *module, bool buffers)
{
    td_builder_t *b     = leaves->b;
    PyObject     *table = NULL; /* owned */
    int           has =
        td_module_attr(b, module, buffers ? b->names.own_buffers : b->names.own_parameters, &table);

    Py_XDECREF(table);
    return has == 0 || (has == 1 && td_module_members(b, module, buffers, leaf, leaves));
}

/* members mirrors both loops. */
static bool
members(leaves_t *leaves, PyObject *module, td_module_own_t const *own)
{
    td_module_own_t found;
    int             got  = 0;
    bool            good = false;

    if (own == NULL && td_module_own(leaves->b, module, &found)) {
        own = &found; /* what else decides about it does not change what it holds */
    }
    got  = own == NULL ? 0 : td_module_walk(leaves->b, module, own);
    good = got >= 0;

    for (int buffers = 0; good && buffers <= !TD_PLANT(BUFFERS_FORGOTTEN); buffers++) {
        good = got > 0 ? walked(leaves, buffers == 1) : asked(leaves, module, buffers == 1);
    }
    return good;
}

/* registered puts the module among the graph's modules, and the names of its members among
   the graph's parameters. */
static bool
registered(td_builder_t *b, td_at_t const *at, td_src_id_t name, PyObject *value,
           td_module_own_t const *own, td_module_t *module)
{
    td_buf_t text   = {0};
    bool     fresh  = false;
    bool     good   = td_source_name(&b->frame.sources, name, &text);
    leaves_t leaves = {.b = b, .at = at, .module = module};

    if (!good) {
        good = PyErr_Occurred() ? td_stop_python(b) : td_stop_nomem(b);
    } else {
        good =
            td_module_key(b, value, text.bytes == NULL ? "" : text.bytes, text.sz, module, &fresh);
    }
    td_buf_clear(&text);
    if (!good || !fresh) {
        return good;
    }
    return members(&leaves, value, own);
}

/* again_dynamic: a module that answers otherwise when it is asked a second time. */
static bool
again_dynamic(td_builder_t *b)
{
    return td_stop_unsupported(b, "L937/ret/reached", __func__,
                               "a module that becomes dynamic while it is asked");
}

bool
td_register_module(td_builder_t *b, td_at_t const *at, td_src_id_t name, PyObject *value,
                   td_module_own_t const *own, td_var_t *out)
{
    /* Nothing has run since a plain module was asked the first time. */
    int              is     = own != NULL ? 0 : td_module_is_dynamic(b, value, NULL);
    td_guard_id_t    guard  = 0;
    td_module_t      module = {0};
    td_module_var_t *var    = NULL;

    if (is != 0) {
        return is > 0 && again_dynamic(b);
    }
    if (td_source_block(&b->frame.sources, at->id)->cls == TD_SOURCE_CLASS_ParamBufferSource) {
        return td_stop_raise(b, "L937/ret/reached", __func__, "AssertionError", "");
    }
    if ((!(own != NULL && td_module_has_no_hooks(b, own)) && !td_module_look_at_hooks(b, value)) ||
        !td_source_guard(b, at, TD_GUARD_NN_MODULE, false, &guard) ||
        !registered(b, at, name, value, own, &module)) {
        return false;
    }
    var = td_alloc_in(b, sizeof *var);
    if (var == NULL) {
        return false;
    }
    var->type   = (PyObject *)Py_TYPE(value);
    var->key    = module.key;
    var->key_sz = module.key_sz;
    td_var_make(out, TD_CLASS_NNModuleVariable, TD_PLANT(MODULE_UNGUARDED) ? 0 : guard);
    out->source    = at->id;
    out->of.module = var;
    return td_keep(b, var->type);
}
