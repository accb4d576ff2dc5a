/* td_look.h: what the files that write the observation share.

   A *look* reads one frame into the values of an observation, in the order of the
   schema: identities become ordinals as they are met, the nodes of the graph
   first. */
#ifndef TD_BUILDER_LOOK_H
#define TD_BUILDER_LOOK_H

#include "builder/td_builder_private.h"
#include "observe/td_forms.h"
#include "py/td_canon.h"

typedef struct {
    td_builder_t  *b;   /* borrowed */
    td_obs_t      *obs; /* owned */
    td_canon_t     canon;
    td_val_t      *sources; /* owned: tree of each source, 0 until asked for */
    td_val_t      *guards;  /* owned: row of each guard without payload, 0 until asked for */
    td_guard_id_t *twins;   /* owned: the first guard that each is the same as; NULL: not needed */
    uint32_t       epoch;   /* of marks on payloads */
    bool           failed;  /* memory ran out outside obs */
} td_look_t;

td_val_t td_look_source(td_look_t *look, td_src_id_t id);
td_val_t td_look_name(td_look_t *look, char const *name, size_t sz);
td_val_t td_look_value(td_look_t *look, PyObject *value); /* NULL is None */
td_val_t td_look_tracker(td_look_t *look, td_var_t *var); /* NULL is None */
td_val_t td_look_guards(td_look_t *look, td_guard_id_t const *guards, uint32_t cnt);
td_val_t td_look_shape(td_look_t *look, td_num_t const *nums, uint32_t cnt);
td_val_t td_look_number(td_look_t *look, td_num_t const *num);
td_val_t td_look_fake(td_look_t *look, td_fake_t *fake);  /* NULL is None */
td_val_t td_look_real(td_look_t *look, PyObject *tensor); /* a Tensor that is no node's */
/* td_look_init_canon starts look->canon, which knows what td_value.h has. */
bool td_look_init_canon(td_look_t *look);

td_val_t td_look_symbols(td_look_t *look);                /* the shape environment */
td_val_t td_look_decimal(td_look_t *look, int64_t value); /* as sympy spells a number */

td_val_t td_look_graph(td_look_t *look);
td_val_t td_look_proxy(td_look_t *look, td_fxnode_t *node);

/* A list of values that grows; td_vals_end gives it as list or bag and frees it. */
typedef struct {
    td_val_t *at;
    uint32_t  cnt, cap;
} td_vals_t;

void     td_vals_add(td_look_t *look, td_vals_t *vals, td_val_t val);
td_val_t td_vals_end(td_look_t *look, td_vals_t *vals);
td_val_t td_vals_end_bag(td_look_t *look, td_vals_t *vals);

/* td_field_of gives one field of a record; TD_VAL_NONE: it has none. */
td_val_t td_field_of(td_obs_t const *obs, td_val_t record, td_field_t field);

/* The fields of one record, put in schema order. */
enum { TD_FIELDS_MAX = 40 };
typedef struct {
    td_obs_field_t at[TD_FIELDS_MAX];
    size_t         cnt;
} td_fields_t;

static inline void
td_fields_put(td_fields_t *fields, td_field_t field, td_val_t value)
{
    fields->at[fields->cnt++] = (td_obs_field_t){.field = field, .value = value};
}

#endif
