/* td_source_name.c: what Source.name() and guard_source() answer, from the tree. */
#include <inttypes.h>
#include <string.h>

#include "base/td_alloc.h"
#include "base/td_writer.h"
#include "observe/td_forms.h"
#include "observe/td_obs_private.h"
#include "observe/td_repr.h"

/* ---- guard_source() -------------------------------------------------------- */

typedef enum {
    WHERE_RAISES, /* the reference looks into a table that lacks it */
    WHERE_LOCAL,
    WHERE_GLOBAL,
    WHERE_LOCAL_NN_MODULE,
    WHERE_GLOBAL_NN_MODULE,
    WHERE_CONSTANT,
    WHERE_RANDOM_VALUE,
    WHERE_SHAPE_ENV,
    WHERE_LOCAL_FSDP_MODULE,
    WHERE_GLOBAL_FSDP_MODULE,
    WHERE_CNT,
    WHERE_BASE, /* rules, no answers */
    WHERE_NN,
    WHERE_NOT_NN,
    WHERE_FSDP,
} where_t;

static char const *const where_names[WHERE_CNT] = {
    "",         "LOCAL",        "GLOBAL",    "LOCAL_NN_MODULE",   "GLOBAL_NN_MODULE",
    "CONSTANT", "RANDOM_VALUE", "SHAPE_ENV", "LOCAL_FSDP_MODULE", "GLOBAL_FSDP_MODULE",
};

static where_t const where_rules[TD_SOURCE_CLASS_CNT] = {
#define X(class_name, where, f1, k1, f2, k2, f3, k3) [TD_SOURCE_CLASS_##class_name] = WHERE_##where,
#include "observe/source_classes.def"
#undef X
};

static where_t
mapped(where_t rule, where_t base)
{
    bool is_nn    = base == WHERE_LOCAL_NN_MODULE || base == WHERE_GLOBAL_NN_MODULE;
    bool is_fsdp  = base == WHERE_LOCAL_FSDP_MODULE || base == WHERE_GLOBAL_FSDP_MODULE;
    bool is_plain = base == WHERE_LOCAL || base == WHERE_GLOBAL;
    bool is_local =
        base == WHERE_LOCAL || base == WHERE_LOCAL_NN_MODULE || base == WHERE_LOCAL_FSDP_MODULE;

    if (rule == WHERE_BASE) {
        return base;
    }
    /* The reference's table for modules has no row for FSDP ones. */
    if (!is_plain && !is_nn && !(is_fsdp && rule != WHERE_NN)) {
        return WHERE_RAISES;
    }
    switch (rule) {
    case WHERE_NN:
        return is_local ? WHERE_LOCAL_NN_MODULE : WHERE_GLOBAL_NN_MODULE;
    case WHERE_FSDP:
        return is_local ? WHERE_LOCAL_FSDP_MODULE : WHERE_GLOBAL_FSDP_MODULE;
    default:
        return is_local ? WHERE_LOCAL : WHERE_GLOBAL;
    }
}

static where_t
where_of(td_obs_t const *obs, td_val_t tree)
{
    td_source_class_t source_class = td_form_source_class(obs, tree);
    where_t           rule;

    if (source_class == TD_SOURCE_CLASS_CNT) {
        return WHERE_RAISES;
    }
    rule = where_rules[source_class];
    return rule < WHERE_CNT ? rule : mapped(rule, where_of(obs, td_obs_get_item(obs, tree, 1)));
}

char const *
td_form_guard_source(td_obs_t const *obs, td_val_t tree)
{
    return where_names[where_of(obs, tree)];
}

static bool
is_local(td_obs_t const *obs, td_val_t tree)
{
    return strncmp(td_form_guard_source(obs, tree), "LOCAL", 5) == 0;
}

/* ---- name() ---------------------------------------------------------------- */

typedef struct {
    td_obs_t const *obs;
    td_writer_t     writer;
    bool            malformed; /* somewhere in the tree is no source where one must be */
} speller_t;

static void put_name(speller_t *speller, td_val_t tree);

static td_val_t
field(speller_t *speller, td_val_t tree, size_t idx)
{
    return td_obs_get_item(speller->obs, tree, idx + 1);
}

static void
put_text(speller_t *speller, char const *text)
{
    td_writer_put_text(&speller->writer, text);
}

static void
put_repr(speller_t *speller, td_val_t val)
{
    td_repr_value(&speller->writer, speller->obs, val);
}

/* As an f-string puts it: text without quotes. */
static void
put_str(speller_t *speller, td_val_t val)
{
    size_t      sz;
    char const *text;

    if (td_obs_kind(speller->obs, val) != TD_VAL_STR) {
        put_repr(speller, val);
        return;
    }
    text = td_obs_get_str(speller->obs, val, &sz);
    td_writer_put_bytes(&speller->writer, text, sz);
}

/* before base behind */
static void
put_wrapped(speller_t *speller, char const *before, td_val_t tree, char const *behind)
{
    put_text(speller, before);
    put_name(speller, field(speller, tree, 0));
    put_text(speller, behind);
}

static void
put_quoted(speller_t *speller, char const *before, td_val_t tree, char const *behind)
{
    put_text(speller, before);
    put_repr(speller, field(speller, tree, 0));
    put_text(speller, behind);
}

static void
put_attr(speller_t *speller, td_val_t tree)
{
    td_val_t    member = field(speller, tree, 1);
    size_t      sz     = 0;
    char const *text   = "";

    if (td_obs_kind(speller->obs, member) == TD_VAL_STR) {
        text = td_obs_get_str(speller->obs, member, &sz);
    }
    if (td_is_identifier(text, sz)) {
        put_wrapped(speller, "", tree, ".");
        put_str(speller, member);
    } else {
        put_wrapped(speller, "getattr(", tree, ", ");
        put_repr(speller, member);
        put_text(speller, ")");
    }
}

/* The form's word when val is a list of cnt that begins with one, else "". */
static char const *
word_of(speller_t const *speller, td_val_t val, size_t cnt)
{
    if (td_form_is_form(speller->obs, val) && td_obs_get_cnt(speller->obs, val) == cnt) {
        return td_obs_get_str(speller->obs, td_obs_get_item(speller->obs, val, 0), NULL);
    }
    return "";
}

/* The class's __name__: the last part of its qualified name. */
static void
put_bare_class(speller_t *speller, td_val_t cls)
{
    char const *qualname, *dot;
    td_val_t    last;

    if (word_of(speller, cls, 3)[0] == '\0') {
        put_repr(speller, cls);
        return;
    }
    last = td_obs_get_item(speller->obs, cls, 2);
    if (td_obs_kind(speller->obs, last) != TD_VAL_STR) {
        put_repr(speller, cls);
        return;
    }
    qualname = td_obs_get_str(speller->obs, last, NULL);
    dot      = strrchr(qualname, '.');
    put_text(speller, dot != NULL ? dot + 1 : qualname);
}

static void
put_enum(speller_t *speller, td_val_t tree, td_val_t index)
{
    put_text(speller, is_local(speller->obs, tree) ? "L[\"" : "G[\"");
    put_bare_class(speller, td_obs_get_item(speller->obs, index, 1));
    put_text(speller, "\"].");
    put_str(speller, td_obs_get_item(speller->obs, index, 2));
}

/* index is ["tuple", [slice class, ["tuple", [start, stop, step]]]]: the last
   element's content is what slice(...) shows. */
static void
put_slice(speller_t *speller, td_val_t index)
{
    td_obs_t const *obs = speller->obs;
    td_val_t        reduce, args;

    if (word_of(speller, index, 2)[0] == '\0') {
        put_repr(speller, index);
        return;
    }
    reduce = td_obs_get_item(obs, index, 1);
    if (td_obs_kind(obs, reduce) != TD_VAL_LIST || td_obs_get_cnt(obs, reduce) != 2) {
        put_repr(speller, index);
        return;
    }
    args = td_obs_get_item(obs, reduce, 1);
    put_text(speller, "slice");
    put_repr(speller, args);
}

static void
put_index(speller_t *speller, td_val_t tree)
{
    td_obs_t const *obs      = speller->obs;
    td_val_t        index    = field(speller, tree, 1);
    td_val_t        is_slice = field(speller, tree, 2);

    put_wrapped(speller, "", tree, "[");
    if (td_form_is_source(obs, index)) {
        put_name(speller, index);
    } else if (td_obs_kind(obs, is_slice) == TD_VAL_BOOL && td_obs_get_bool(obs, is_slice)) {
        put_slice(speller, index);
    } else if (strcmp(word_of(speller, index, 3), "enum") == 0) {
        put_enum(speller, tree, index);
    } else {
        put_repr(speller, index);
    }
    put_text(speller, "]");
}

static void
put_odict_index(speller_t *speller, td_val_t tree)
{
    td_val_t index = field(speller, tree, 1);

    put_wrapped(speller, "___odict_getitem(", tree, ", ");
    if (td_form_is_source(speller->obs, index)) {
        put_name(speller, index);
    } else if (strcmp(word_of(speller, index, 3), "class") == 0 ||
               strcmp(word_of(speller, index, 4), "local-class") == 0) {
        put_text(speller, "__load_module(\"");
        put_str(speller, td_obs_get_item(speller->obs, index, 1));
        put_text(speller, "\").");
        put_str(speller, td_obs_get_item(speller->obs, index, 2));
    } else {
        put_repr(speller, index);
    }
    put_text(speller, ")");
}

static void
put_default(speller_t *speller, td_val_t tree)
{
    td_val_t is_kw = field(speller, tree, 2);
    bool     kw =
        td_obs_kind(speller->obs, is_kw) == TD_VAL_BOOL && td_obs_get_bool(speller->obs, is_kw);

    put_wrapped(speller, "", tree, kw ? ".__kwdefaults__['" : ".__defaults__[");
    put_str(speller, field(speller, tree, 1));
    put_text(speller, kw ? "']" : "]");
}

static void
put_tensor_property(speller_t *speller, td_val_t tree)
{
    td_val_t    prop = field(speller, tree, 1);
    char const *text = td_obs_kind(speller->obs, prop) == TD_VAL_STR
                           ? td_obs_get_str(speller->obs, prop, NULL)
                           : "";

    if (strcmp(text, "STORAGE_OFFSET") == 0) {
        put_wrapped(speller, "", tree, ".storage_offset()");
        return;
    }
    put_wrapped(speller, "", tree, strcmp(text, "SIZE") == 0 ? ".size()[" : ".stride()[");
    put_repr(speller, field(speller, tree, 2));
    put_text(speller, "]");
}

static void
put_two(speller_t *speller, td_val_t tree)
{
    put_text(speller, "super(");
    put_name(speller, field(speller, tree, 1));
    put_wrapped(speller, ", ", tree, ")");
}

static void
put_tuple_iterator(speller_t *speller, td_val_t tree)
{
    put_wrapped(speller, "___tuple_iterator_getitem(", tree, ", ");
    put_repr(speller, field(speller, tree, 1));
    put_text(speller, ")");
}

static void
put_generator_state(speller_t *speller, td_val_t tree)
{
    put_text(speller, "L[generator_state_");
    put_str(speller, field(speller, tree, 0));
    put_text(speller, "_");
    put_str(speller, field(speller, tree, 1));
    put_text(speller, "]");
}

static void
put_name(speller_t *speller, td_val_t tree)
{
    /* Classes that say no more than their base with something around it. */
    static struct {
        char const *before, *behind;
    } const wraps[TD_SOURCE_CLASS_CNT] = {
        [TD_SOURCE_CLASS_NegateSource]       = {"", ".__neg__()"},
        [TD_SOURCE_CLASS_ConvertIntSource]   = {"cast_symbool_to_symint_guardless(", ")"},
        [TD_SOURCE_CLASS_TypeSource]         = {"type(", ")"},
        [TD_SOURCE_CLASS_NNModuleSource]     = {"", ""},
        [TD_SOURCE_CLASS_NotNNModuleSource]  = {"", ""},
        [TD_SOURCE_CLASS_FSDPNNModuleSource] = {"", ""},
        [TD_SOURCE_CLASS_NumpyTensorSource]  = {"__as_tensor(", ")"},
    };
    td_source_class_t source_class = td_form_source_class(speller->obs, tree);

    switch (source_class) {
    case TD_SOURCE_CLASS_LocalSource:
        put_quoted(speller, "L[", tree, "]");
        break;
    case TD_SOURCE_CLASS_GlobalSource:
        put_quoted(speller, "G[", tree, "]");
        break;
    case TD_SOURCE_CLASS_GlobalWeakRefSource:
        put_quoted(speller, "G[", tree, "]()");
        break;
    case TD_SOURCE_CLASS_DummyGlobalSource:
    case TD_SOURCE_CLASS_GlobalStateSource:
    case TD_SOURCE_CLASS_ShapeEnvSource:
        break;
    case TD_SOURCE_CLASS_ConstantSource:
        put_str(speller, field(speller, tree, 0));
        break;
    case TD_SOURCE_CLASS_RandomValueSource:
        put_text(speller, "random_value_");
        put_repr(speller, field(speller, tree, 0));
        break;
    case TD_SOURCE_CLASS_GeneratorStateSource:
        put_generator_state(speller, tree);
        break;
    case TD_SOURCE_CLASS_AttrSource:
    case TD_SOURCE_CLASS_ParamBufferSource:
        put_attr(speller, tree);
        break;
    case TD_SOURCE_CLASS_GetItemSource:
        put_index(speller, tree);
        break;
    case TD_SOURCE_CLASS_TupleIteratorGetItemSource:
        put_tuple_iterator(speller, tree);
        break;
    case TD_SOURCE_CLASS_ODictGetItemSource:
        put_odict_index(speller, tree);
        break;
    case TD_SOURCE_CLASS_DefaultsSource:
        put_default(speller, tree);
        break;
    case TD_SOURCE_CLASS_TensorPropertySource:
        put_tensor_property(speller, tree);
        break;
    case TD_SOURCE_CLASS_SuperSource:
        put_two(speller, tree);
        break;
    case TD_SOURCE_CLASS_CNT:
        speller->malformed = true;
        break;
    default:
        put_wrapped(speller, wraps[source_class].before, tree, wraps[source_class].behind);
        break;
    }
}

char const *
td_form_source_name(td_obs_t *obs, td_val_t tree, size_t *sz)
{
    speller_t   speller = {.obs = obs};
    char const *name    = NULL;

    if (sz != NULL) {
        *sz = 0;
    }
    if (obs->status != TD_OK || tree == TD_VAL_NONE) {
        return NULL;
    }
    if (td_obs_kind(obs, tree) == TD_VAL_NULL) {
        return "";
    }
    td_writer_init(&speller.writer, SIZE_MAX);
    put_name(&speller, tree);
    if (speller.writer.status != TD_OK) {
        td_obs_fail(obs, TD_NOMEM, "no memory");
    } else if (!speller.malformed) {
        name = td_arena_dup(&obs->arena, (char const *)speller.writer.bytes, speller.writer.sz);
        if (name == NULL) {
            td_obs_fail(obs, TD_NOMEM, "no memory");
        } else if (sz != NULL) {
            *sz = speller.writer.sz;
        }
    }
    td_writer_clear(&speller.writer);
    return name;
}
