/* td_forms.h: the shapes that values take inside records, one constructor each.

   A *form* is a value of a fixed shape, for example a source as a tree.  Both
   sides make their forms here, so that they can differ in content but never in
   shape.  What is a record in the schema (a tracker, a Node, a GraphArg, a
   TrackedFake, an Exception, ...) needs no form of its own: td_obs_record
   refuses an attribute too many or too few.

   Every constructor takes values of obs, gives a value of obs, and TD_VAL_NONE
   once obs has failed (td_obs_status).  None runs Python code. */
#ifndef TD_OBSERVE_FORMS_H
#define TD_OBSERVE_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "observe/td_obs.h"

/* ---- sources ------------------------------------------------------------- */

/* How a field of a source is written in its tree. */
typedef enum {
    TD_SOURCE_FIELD_NONE,   /* no such field */
    TD_SOURCE_FIELD_STR,
    TD_SOURCE_FIELD_INT,
    TD_SOURCE_FIELD_BOOL,
    TD_SOURCE_FIELD_VALUE,  /* canonical value: int, str or None */
    TD_SOURCE_FIELD_PROP,   /* name of a TensorProperty: "SIZE", "STRIDE", "STORAGE_OFFSET" */
    TD_SOURCE_FIELD_SOURCE, /* a source tree */
    /* A source tree when it is a Source, else its canonical value: an enum member,
       a class and a tuple of such by value even when they are objects of the
       program, or the name could not be spelled. */
    TD_SOURCE_FIELD_INDEX
} td_source_field_kind_t;

typedef enum {
#define X(class_name, where, f1, k1, f2, k2, f3, k3) TD_SOURCE_CLASS_##class_name,
#include "observe/source_classes.def"
#undef X
    TD_SOURCE_CLASS_CNT
} td_source_class_t;

enum { TD_SOURCE_FIELD_CNT_MAX = 3 };

typedef struct {
    char const            *name; /* "AttrSource" */
    size_t                 field_cnt;
    char const            *fields[TD_SOURCE_FIELD_CNT_MAX]; /* in dataclass order */
    td_source_field_kind_t kinds [TD_SOURCE_FIELD_CNT_MAX];
} td_source_class_info_t;

/* td_source_class_info: NULL out of range. */
td_source_class_info_t const *td_source_class_info(td_source_class_t source_class);

/* td_source_class_find: TD_SOURCE_CLASS_CNT when no class has that name. */
td_source_class_t td_source_class_find(char const *class_name);

/* td_form_source makes the tree [class name, field values...]; field_cnt must be
   the class's own.  A missing source (None) is td_obs_null. */
td_val_t td_form_source(td_obs_t *obs, td_source_class_t source_class,
                        td_val_t const *fields, size_t field_cnt);

/* Short spellings of the commonest.  td_form_attr splits a dotted member into a
   chain as AttrSource's constructor does (the inner links are AttrSource).
   td_form_chained is for classes with no field but base. */
td_val_t td_form_local  (td_obs_t *obs, char const *name, size_t name_sz, bool cell_or_freevar);
td_val_t td_form_global_source(td_obs_t *obs, char const *name, size_t name_sz);
td_val_t td_form_attr   (td_obs_t *obs, td_source_class_t source_class, td_val_t base,
                         char const *member, size_t member_sz);
td_val_t td_form_item   (td_obs_t *obs, td_source_class_t source_class, td_val_t base,
                         td_val_t index, bool index_is_slice);
td_val_t td_form_chained(td_obs_t *obs, td_source_class_t source_class, td_val_t base);
td_val_t td_form_tensor_property(td_obs_t *obs, td_val_t base, char const *prop, td_val_t idx);

/* td_form_slice_index: the index of a GetItemSource made with a slice, as
   slice.__reduce__() gives it: ["tuple", [["class", "builtins", "slice"],
   ["tuple", [start, stop, step]]]]. */
td_val_t td_form_slice_index(td_obs_t *obs, td_val_t start, td_val_t stop, td_val_t step);

/* td_form_source_name spells what the reference's Source.name() gives for tree
   ("" for null).  An index that has no spelling without an address (an arbitrary
   object) appears as <object 3>.  NUL-terminated, lives until td_obs_reset; sz
   may be NULL.  NULL: no memory, or tree is no source tree. */
char const *td_form_source_name(td_obs_t *obs, td_val_t tree, size_t *sz);

/* td_form_guard_source gives the name of the GuardSource that guard_source()
   answers: "LOCAL", "GLOBAL_NN_MODULE", ...; static.  "" when tree is no source
   tree, or where the reference raises (a module source over an FSDP one, a
   module source over a constant). */
char const *td_form_guard_source(td_obs_t const *obs, td_val_t tree);

/* td_form_is_source says whether val has the shape of a source tree (outermost
   link only). */
bool td_form_is_source(td_obs_t const *obs, td_val_t val);

/* ---- canonical values ---------------------------------------------------- */

/* ["object", 3]; ["tuple", [...]] or ["torch.dtype", "float32"]; ["enum", class, "RED"] */
td_val_t td_form_object(td_obs_t *obs, uint32_t ordinal);
td_val_t td_form_typed (td_obs_t *obs, char const *type, td_val_t content);
td_val_t td_form_enum  (td_obs_t *obs, td_val_t cls, char const *member, size_t member_sz);

/* ["global", module, qualname] and ["class", module, qualname]: something found
   again under its module and qualified name.  Module and name
   are two strings since source names need them apart; classes have a word of
   their own since their repr differs. */
td_val_t td_form_global(td_obs_t *obs, char const *module, char const *qualname);
td_val_t td_form_class (td_obs_t *obs, char const *module, char const *qualname);

/* td_form_bytes: ["bytes", text], one character U+0000 to U+00FF for each byte. */
td_val_t td_form_bytes(td_obs_t *obs, uint8_t const *bytes, size_t sz);

/* ---- identities ---------------------------------------------------------- */

/* ["again", 3]: a tracker, mutable local or fake met before; ["node", 3]: a node
   among args; [3, "l_x_"]: a proxy. */
td_val_t td_form_again(td_obs_t *obs, uint32_t ordinal);
td_val_t td_form_node (td_obs_t *obs, uint32_t ordinal);
td_val_t td_form_proxy(td_obs_t *obs, uint32_t node_ordinal, char const *node_name,
                       size_t name_sz);

/* td_form_contains: [0, 2, 5]; sorts ordinals in place. */
td_val_t td_form_contains(td_obs_t *obs, uint32_t *ordinals, size_t cnt);

/* ---- numbers ------------------------------------------------------------- */

/* td_form_sym: a symbolic number [Python type ("SymInt", "int", ...), expression
   text, hint]; hint null when there is none.  td_form_shape is a list of plain
   ints and such forms. */
td_val_t td_form_sym(td_obs_t *obs, char const *type, char const *expr, size_t expr_sz,
                     td_val_t hint);

/* ---- guards -------------------------------------------------------------- */

/* td_form_guard: [source tree, kind, is_volatile, payload]; kind is the name of
   the GuardBuilder function; payload null, or td_form_payload. */
td_val_t td_form_guard(td_obs_t *obs, td_val_t source, char const *kind,
                       bool is_volatile, td_val_t payload);

/* td_form_payload: the keywords of a functools.partial, in their order, as
   [[keyword, form], ...]; positional arguments have keyword "0", "1", ... */
typedef struct {
    char const *keyword;
    td_val_t    form;
} td_form_keyword_t;
td_val_t td_form_payload(td_obs_t *obs, td_form_keyword_t const *keywords, size_t keyword_cnt);

/* td_form_guards: the bag of guard rows; equal rows count. */
td_val_t td_form_guards(td_obs_t *obs, td_val_t const *rows, size_t row_cnt);

#endif
