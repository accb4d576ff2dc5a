/* td_look_symbols.c: the shape environment of a frame as the observation has it. */
#include "builder/td_look.h"

td_val_t
td_look_decimal(td_look_t *look, int64_t value)
{
    td_buf_t text = {0};
    td_val_t val  = TD_VAL_NONE;

    td_buf_put_i64(&text, value);
    look->failed = look->failed || text.failed;
    val          = td_obs_cstr(look->obs, text.failed ? "" : text.bytes);
    td_buf_clear(&text);
    return val;
}

/* val_to_var begins with 0 and 1, which stand for themselves. */
static td_val_t
val_to_var(td_look_t *look)
{
    td_symbols_t const *symbols = &look->b->frame.symbols;
    td_obs_t           *obs     = look->obs;
    td_vals_t           vals    = {0};

    td_vals_add(look, &vals, td_obs_pair(obs, td_obs_int(obs, 0), td_obs_cstr(obs, "0")));
    td_vals_add(look, &vals, td_obs_pair(obs, td_obs_int(obs, 1), td_obs_cstr(obs, "1")));
    for (uint32_t i = 0; i < symbols->duck_cnt; i++) {
        td_duck_t const *duck  = &symbols->ducks[i];
        td_val_t         value = td_obs_int(obs, duck->value);

        td_vals_add(look, &vals,
                    td_obs_pair(obs, value, td_obs_cstr(obs, symbols->at[duck->symbol].name)));
    }
    return td_vals_end(look, &vals);
}

/* spelled gives the decimals of an int, or its hexadecimal digits where Python refuses so
   many decimals. */
static PyObject *
spelled(PyObject *number)
{
    PyObject *text = PyObject_Str(number);

    if (text == NULL) {
        PyErr_Clear();
        text = PyNumber_ToBase(number, 16);
    }
    return text;
}

static td_val_t
symbol_value(td_look_t *look, td_symbol_t const *symbol)
{
    PyObject *text = spelled(symbol->value); /* owned */
    td_val_t  name = td_obs_cstr(look->obs, symbol->name);
    td_val_t  val  = TD_VAL_NONE;

    if (text == NULL) {
        PyErr_Clear();
        look->failed = true;
        return td_obs_null(look->obs);
    }
    val = td_canon_str(&look->canon, text);
    Py_DECREF(text);
    return td_obs_pair(look->obs, name, val);
}

static td_val_t
symbol_range(td_look_t *look, td_symbol_t const *symbol)
{
    td_val_t name  = td_obs_cstr(look->obs, symbol->name);
    td_val_t lower = td_look_decimal(look, symbol->lower);

    return td_obs_triple(look->obs, name, lower, td_look_decimal(look, symbol->upper));
}

static td_val_t
symbol_sources(td_look_t *look, td_symbol_t const *symbol)
{
    td_val_t  name = td_obs_cstr(look->obs, symbol->name);
    td_vals_t vals = {0};

    for (uint32_t i = 0; i < symbol->source_cnt; i++) {
        td_vals_add(look, &vals, td_look_source(look, symbol->sources[i]));
    }
    return td_obs_pair(look->obs, name, td_vals_end(look, &vals));
}

/* runtime_range: what an unbacked symbol is taken to be when the code runs. */
static td_val_t
runtime_range(td_look_t *look, td_symbol_t const *symbol)
{
    td_val_t name = td_obs_cstr(look->obs, symbol->name);

    return td_obs_triple(look->obs, name, td_look_decimal(look, 0), td_obs_cstr(look->obs, "oo"));
}

static td_val_t
symbol_name(td_look_t *look, td_symbol_t const *symbol)
{
    return td_obs_cstr(look->obs, symbol->name);
}

typedef enum { BACKED = 1, UNBACKED = 2, ALL = BACKED | UNBACKED } which_t;

static td_val_t
each_symbol(td_look_t *look, which_t which,
            td_val_t (*row)(td_look_t *look, td_symbol_t const *symbol))
{
    td_symbols_t const *symbols = &look->b->frame.symbols;
    td_vals_t           vals    = {0};

    for (uint32_t i = 0; i < symbols->cnt; i++) {
        if ((which & (symbols->at[i].value == NULL ? UNBACKED : BACKED)) != 0) {
            td_vals_add(look, &vals, row(look, &symbols->at[i]));
        }
    }
    return td_vals_end(look, &vals);
}

/* shape_guards: what was asked of symbols: Eq(s2, s0). */
static td_val_t
shape_guards(td_look_t *look)
{
    td_symbols_t const *symbols = &look->b->frame.symbols;
    td_vals_t           vals    = {0};

    for (uint32_t i = 0; i < symbols->guard_cnt; i++) {
        td_vals_add(look, &vals, td_obs_cstr(look->obs, symbols->guards[i].text));
    }
    return td_vals_end(look, &vals);
}

static td_val_t
replacements(td_look_t *look)
{
    td_symbols_t const *symbols = &look->b->frame.symbols;
    td_vals_t           vals    = {0};

    for (uint32_t i = 0; i < symbols->replacement_cnt; i++) {
        td_replacement_t const *row  = &symbols->replacements[i];
        td_symbol_t const      *goes = &symbols->at[row->symbol];
        td_val_t                name = td_obs_cstr(look->obs, goes->name);
        td_val_t                by   = TD_VAL_NONE;

        if (row->by == TD_MAP_NONE) {
            by = td_look_decimal(look, goes->number);
        } else {
            by = td_obs_cstr(look->obs, symbols->at[row->by].name);
        }
        td_vals_add(look, &vals, td_obs_pair(look->obs, name, by));
    }
    return td_vals_end(look, &vals);
}

static td_val_t
guard_or_null(td_look_t *look, char const *text)
{
    return text == NULL ? td_obs_null(look->obs) : td_obs_cstr(look->obs, text);
}

/* var_to_guards: what narrowed the range of a symbol, in the order that it first happened. */
static td_val_t
var_to_guards(td_look_t *look)
{
    td_symbols_t const *symbols = &look->b->frame.symbols;
    td_vals_t           vals    = {0};

    for (uint32_t n = 0; n < symbols->refined_cnt; n++) {
        for (uint32_t i = 0; i < symbols->cnt; i++) {
            td_symbol_t const *symbol = &symbols->at[i];

            if (symbol->is_refined && symbol->refined_at == n) {
                td_val_t name  = td_obs_cstr(look->obs, symbol->name);
                td_val_t lower = guard_or_null(look, symbol->lower_guard);

                td_vals_add(look, &vals,
                            td_obs_triple(look->obs, name, lower,
                                          guard_or_null(look, symbol->upper_guard)));
            }
        }
    }
    return td_vals_end(look, &vals);
}

static td_val_t
debug_names(td_look_t *look)
{
    td_symbols_t const *symbols = &look->b->frame.symbols;
    td_vals_t           vals    = {0};

    for (uint32_t i = 0; i < symbols->debug_name_cnt; i++) {
        td_vals_add(look, &vals,
                    td_obs_pair(look->obs, td_obs_cstr(look->obs, symbols->debug_names[i].source),
                                td_canon_str(&look->canon, symbols->debug_names[i].name)));
    }
    return td_vals_end(look, &vals);
}

td_val_t
td_look_symbols(td_look_t *look)
{
    static td_field_t const empty[] = {
        TD_FIELD_ShapeEnv_deferred_runtime_asserts,
    };
    td_config_t const *cfg    = &look->b->cfg;
    td_fields_t        fields = {0};

    td_fields_put(&fields, TD_FIELD_ShapeEnv_var_to_val, each_symbol(look, BACKED, symbol_value));
    td_fields_put(&fields, TD_FIELD_ShapeEnv_var_to_range, each_symbol(look, ALL, symbol_range));
    td_fields_put(&fields, TD_FIELD_ShapeEnv_guards, shape_guards(look));
    td_fields_put(&fields, TD_FIELD_ShapeEnv_replacements, replacements(look));
    td_fields_put(&fields, TD_FIELD_ShapeEnv_var_to_guards, var_to_guards(look));
    td_fields_put(&fields, TD_FIELD_ShapeEnv_runtime_var_to_range,
                  each_symbol(look, UNBACKED, runtime_range));
    td_fields_put(&fields, TD_FIELD_ShapeEnv_var_to_stack,
                  each_symbol(look, UNBACKED, symbol_name));
    td_fields_put(&fields, TD_FIELD_ShapeEnv_var_to_sources,
                  each_symbol(look, BACKED, symbol_sources));
    td_fields_put(&fields, TD_FIELD_ShapeEnv_val_to_var, val_to_var(look));
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        td_fields_put(&fields, empty[i], td_obs_list(look->obs, NULL, 0));
    }
    td_fields_put(&fields, TD_FIELD_ShapeEnv_source_name_to_debug_name,
                  td_switch(look->b, TD_SWITCH_DEBUG_NAMES) ? debug_names(look)
                                                            : td_obs_absent(look->obs));
    td_fields_put(&fields, TD_FIELD_ShapeEnv_divisible, td_obs_bag(look->obs, NULL, 0));
    td_fields_put(&fields, TD_FIELD_ShapeEnv_unbacked_symint_counter,
                  td_obs_int(look->obs, look->b->frame.symbols.unbacked_cnt));
    td_fields_put(&fields, TD_FIELD_ShapeEnv_unbacked_symfloat_counter, td_obs_int(look->obs, 0));
    td_fields_put(&fields, TD_FIELD_ShapeEnv_allow_scalar_outputs,
                  td_obs_bool(look->obs, cfg->capture_scalar_outputs));
    td_fields_put(&fields, TD_FIELD_ShapeEnv_allow_dynamic_output_shape_ops,
                  td_obs_bool(look->obs, cfg->capture_dynamic_output_shape_ops));
    td_fields_put(&fields, TD_FIELD_ShapeEnv_assume_static_by_default,
                  td_obs_bool(look->obs, false));
    td_fields_put(&fields, TD_FIELD_ShapeEnv_specialize_zero_one, td_obs_bool(look->obs, true));
    td_fields_put(&fields, TD_FIELD_ShapeEnv_duck_shape, td_obs_bool(look->obs, true));
    return td_obs_record(look->obs, TD_CLASS_ShapeEnv, fields.at, fields.cnt);
}
