/* td_symbols.c: symbols, and the sizes and strides that are made of them.

   Mirrors ShapeEnv.create_symbol and create_symbolic_sizes_strides_storage_offset
   (torch 2.1.2).  An expression is a product of a number and of symbols, and what is
   asked of them is whether two are equal: nothing else comes up before operators are
   run. */
#include "builder/td_symbols.h"

#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"
#include "builder/td_ask.h"

void
td_symbols_init(td_symbols_t *symbols)
{
    memset(symbols, 0, sizeof *symbols);
}

void
td_symbols_clear(td_symbols_t *symbols)
{
    td_free(symbols->at);
    td_free(symbols->ducks);
    td_free(symbols->guards);
    td_free(symbols->replacements);
    td_free(symbols->debug_names);
    td_smap_clear(&symbols->asked);
    td_pmap_clear(&symbols->duck_by_value);
    memset(symbols, 0, sizeof *symbols);
}

/* ---- products ---------------------------------------------------------------- */

static td_product_t
constant_of(int64_t value)
{
    return (td_product_t){.coef = value};
}

static bool
symbol_of(td_builder_t *b, uint32_t symbol, td_product_t *out)
{
    uint32_t *factors = td_alloc_in(b, sizeof *factors);

    if (factors == NULL) {
        return false;
    }
    factors[0] = symbol;
    *out       = (td_product_t){.coef = 1, .factors = factors, .cnt = 1};
    return true;
}

/* times gives x * y; the caller knows that the numbers themselves do not overflow. */
static bool
times(td_builder_t *b, td_product_t const *x, td_product_t const *y, td_product_t *out)
{
    *out = constant_of(x->coef * y->coef);
    if (out->coef == 0 || x->cnt + y->cnt == 0) {
        return true;
    }
    out->factors = td_alloc_in(b, (x->cnt + y->cnt) * sizeof *out->factors);
    if (out->factors == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < x->cnt; i++) {
        out->factors[out->cnt++] = x->factors[i];
    }
    for (uint32_t i = 0; i < y->cnt; i++) {
        out->factors[out->cnt++] = y->factors[i];
    }
    return true;
}

/* now_of follows replacements: the symbol that stands for another one now. */
static td_symbol_t const *
now_of(td_builder_t const *b, uint32_t symbol)
{
    td_symbol_t const *at = &b->frame.symbols.at[symbol];

    while (at->replaced) {
        at = &b->frame.symbols.at[at->by];
    }
    return at;
}

/* next_factor gives the symbol of a product whose name comes next behind another one's
   (NULL: the first), and how often it is there; NULL: none. */
static td_symbol_t const *
next_factor(td_builder_t const *b, td_product_t const *product, td_symbol_t const *behind,
            uint32_t *power)
{
    td_symbol_t const *next = NULL;

    for (uint32_t i = 0; i < product->cnt; i++) {
        td_symbol_t const *one = &b->frame.symbols.at[product->factors[i]];

        if (one == next) {
            ++*power;
        } else if ((behind == NULL || strcmp(one->name, behind->name) > 0) &&
                   (next == NULL || strcmp(one->name, next->name) < 0)) {
            next   = one;
            *power = 1;
        }
    }
    return next;
}

char const *
td_num_name_now(td_builder_t const *b, td_num_t const *num)
{
    return now_of(b, num->product.factors[0])->name;
}

bool
td_num_is_symbol(td_builder_t const *b, td_num_t const *num)
{
    return num->product.cnt == 1 && num->product.coef == 1 &&
           !now_of(b, num->product.factors[0])->is_number;
}

bool
td_num_times(td_builder_t *b, td_num_t const *x, td_num_t const *y, td_num_t *out)
{
    td_product_t a    = x->product.cnt == 0 ? constant_of(x->hint) : x->product;
    td_product_t c    = y->product.cnt == 0 ? constant_of(y->hint) : y->product;
    int64_t      hint = 0;

    if (__builtin_mul_overflow(x->hint, y->hint, &hint)) {
        return td_stop_unsupported(b, "L1724/fn/entered", __func__, "a stride beyond 64 bits");
    }
    out->hint = hint;
    return times(b, &a, &c, &out->product);
}

void
td_num_put(td_builder_t const *b, td_num_t const *num, td_buf_t *out)
{
    td_product_t const *product = &num->product;
    td_symbol_t const  *symbol  = NULL;
    uint32_t            power   = 0;
    char const         *times   = product->coef == 1 ? "" : "*";

    if (product->coef != 1 || product->cnt == 0) {
        td_buf_put_i64(out, product->cnt == 0 ? num->hint : product->coef);
    }
    while ((symbol = next_factor(b, product, symbol, &power)) != NULL) {
        td_buf_puts(out, times);
        td_buf_puts(out, symbol->name);
        if (power > 1) {
            td_buf_puts(out, "**");
            td_buf_put_i64(out, power);
        }
        times = "*";
    }
}

/* ---- symbols ------------------------------------------------------------------- */

enum { NAME_SZ_MAX = 16 };

/* symbol_new makes the next symbol; value NULL: an unbacked one. */
static bool
symbol_new(td_builder_t *b, PyObject *value, int64_t lower, int64_t upper, uint32_t *idx)
{
    td_symbols_t *symbols = &b->frame.symbols;
    td_symbol_t   symbol  = {.value = value, .lower = lower, .upper = upper};
    char          name[NAME_SZ_MAX];
    uint32_t number = value == NULL ? symbols->unbacked_cnt : symbols->cnt - symbols->unbacked_cnt;
    int      sz     = snprintf(name, sizeof name, "%c%u", value == NULL ? 'i' : 's', number);

    symbol.name = td_arena_dup(&b->frame.arena, name, (size_t)sz);
    if (symbol.name == NULL ||
        (symbols->cnt == symbols->cap &&
         !td_array_grow((void **)&symbols->at, &symbols->cap, sizeof *symbols->at))) {
        return td_stop_nomem(b);
    }
    symbols->unbacked_cnt += value == NULL;
    *idx                        = symbols->cnt;
    symbols->at[symbols->cnt++] = symbol;
    return true;
}

static bool
note_source(td_builder_t *b, uint32_t idx, td_src_id_t source)
{
    td_symbol_t *symbol = &b->frame.symbols.at[idx];

    if (symbol->source_cnt == symbol->source_cap) {
        uint32_t     cap   = symbol->source_cap == 0 ? 4 : 2 * symbol->source_cap;
        td_src_id_t *grown = td_alloc_in(b, cap * sizeof *grown);

        if (grown == NULL) {
            return false;
        }
        if (symbol->source_cnt > 0) {
            memcpy(grown, symbol->sources, symbol->source_cnt * sizeof *grown);
        }
        symbol->sources    = grown;
        symbol->source_cap = cap;
    }
    symbol->sources[symbol->source_cnt++] = source;
    return true;
}

static bool
duck_new(td_builder_t *b, int64_t value, uint32_t symbol)
{
    td_symbols_t *symbols = &b->frame.symbols;

    if (symbols->duck_cnt == symbols->duck_cap &&
        !td_array_grow((void **)&symbols->ducks, &symbols->duck_cap, sizeof *symbols->ducks)) {
        return td_stop_nomem(b);
    }
    symbols->ducks[symbols->duck_cnt++] = (td_duck_t){.value = value, .symbol = symbol};
    return td_pmap_put(&symbols->duck_by_value, (void const *)(uintptr_t)value, symbol) ||
           td_stop_nomem(b);
}

/* What a size may be: at least 2, since 0 and 1 are numbers. */
enum { SIZE_MIN = 2 };
static int64_t const size_max = INT64_MAX - 1;

/* narrow mirrors how a strict constraint narrows the range of a symbol just made. */
static bool
narrow(td_builder_t *b, uint32_t idx, int64_t value, td_range_t const *range)
{
    td_symbol_t *symbol = &b->frame.symbols.at[idx];
    PyObject    *text   = NULL; /* owned until kept */

    symbol->lower = range->lower > symbol->lower ? range->lower : symbol->lower;
    symbol->upper = range->upper < symbol->upper ? range->upper : symbol->upper;
    if (value >= symbol->lower && value <= symbol->upper) {
        return true;
    }
    text = PyUnicode_FromFormat("%lld not in range [%lld, %lld]", (long long)value,
                                (long long)symbol->lower, (long long)symbol->upper);
    if (text == NULL) {
        return td_stop_python(b);
    }
    return td_keep_steal(b, text) &&
           td_stop_raise_text(b, "L1724/fn/entered", __func__,
                              "torch.fx.experimental.symbolic_shapes.ConstraintViolationError",
                              text);
}

/* create mirrors create_symbol for a size, a stride or an offset; range: what an exported
   program allows, or NULL. */
static bool
create(td_builder_t *b, int64_t value, td_at_t const *at, td_prop_t prop, uint32_t dim,
       td_dim_t how, td_range_t const *range, td_product_t *out)
{
    uint32_t  idx    = TD_MAP_NONE;
    PyObject *number = NULL; /* owned until kept */
    td_at_t   source = {0};

    if (how == TD_DIM_STATIC || value == 0 || (value == 1 && !TD_PLANT(ONE_IS_A_SYMBOL))) {
        *out = constant_of(value);
        return true;
    }
    if (how == TD_DIM_DUCK && !TD_PLANT(MISSED_DUCK)) {
        idx = td_pmap_get(&b->frame.symbols.duck_by_value, (void const *)(uintptr_t)value);
    }
    if (idx == TD_MAP_NONE) {
        number = PyLong_FromLongLong(value);
        if (number == NULL) {
            return td_stop_python(b);
        }
        if (!td_keep_steal(b, number) || !symbol_new(b, number, SIZE_MIN, size_max, &idx) ||
            (how == TD_DIM_DUCK && !duck_new(b, value, idx))) {
            return false;
        }
        if (range != NULL && !narrow(b, idx, value, range)) {
            return false;
        }
        if (value > size_max) {
            return td_stop_unsupported(b, "L1724/fn/entered", __func__,
                                       "a size beyond what a symbol may be");
        }
    }
    source = td_source_property(&b->frame.sources, at, prop, dim);
    return (source.id != 0 || td_stop_nomem(b)) && note_source(b, idx, source.id) &&
           symbol_of(b, idx, out);
}

/* ---- ints -------------------------------------------------------------------------- */

/* message_of gives what create_symbol says of an int beyond 64 bits, from the frame's
   keep; NULL: stopped, with what Python says of a number that it does not spell. */
static PyObject *
message_of(td_builder_t *b, PyObject *value)
{
    PyObject *text = PyUnicode_FromFormat("%S not in range [%lld, %lld]", value,
                                          (long long)INT64_MIN, (long long)INT64_MAX);

    if (text == NULL) {
        td_stop_passing(b, "L1206/if/T", __func__);
        return NULL;
    }
    return td_keep_steal(b, text) ? text : NULL;
}

/* refuse_bool: the range of a symbol takes in no bool, once the symbol is there. */
static bool
refuse_bool(td_builder_t *b, PyObject *value)
{
    PyObject *number = PyLong_FromLong(value == Py_True); /* owned until kept */
    uint32_t  idx    = 0;

    if (number == NULL) {
        return td_stop_python(b);
    }
    return td_keep_steal(b, number) && symbol_new(b, number, INT64_MIN, INT64_MAX, &idx) &&
           td_stop_raise(b, "L1206/if/T", __func__, "AssertionError", "");
}

bool
td_symbol_of_int(td_builder_t *b, td_at_t const *at, PyObject *value, td_num_t *num)
{
    PyObject *message  = NULL; /* borrowed from the keep */
    uint32_t  idx      = 0;
    int       overflow = 0;

    if (PyBool_Check(value)) {
        return refuse_bool(b, value);
    }
    num->hint = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (!td_keep(b, value) || !symbol_new(b, value, INT64_MIN, INT64_MAX, &idx)) {
        return false;
    }
    if (overflow != 0) {
        message = message_of(b, value);
        return message != NULL &&
               td_stop_raise_text(b, "L1206/if/T", __func__,
                                  "torch.fx.experimental.symbolic_shapes.ConstraintViolationError",
                                  message);
    }
    return note_source(b, idx, at->id) && symbol_of(b, idx, &num->product);
}

bool
td_symbol_unbacked(td_builder_t *b, td_num_t *num)
{
    uint32_t idx = 0;

    num->no_hint = true;
    return symbol_new(b, NULL, SIZE_MIN, INT64_MAX, &idx) && symbol_of(b, idx, &num->product);
}

bool
td_symbols_equal(td_builder_t *b, td_num_t const *x, td_num_t const *y)
{
    return TD_PLANT(SIZE_NOT_ASKED) || td_ask(b, TD_ASK_EQ, x, y, false) >= 0;
}

/* ---- sizes and strides ---------------------------------------------------------------- */

/* What becomes of one tensor. */
typedef struct {
    td_builder_t *b;
    td_fake_t    *fake;
    td_product_t *sizes, *strides; /* ndim of each */
    bool         *bound;           /* which strides are known */
    int64_t      *keys;            /* candidates: size times stride ... */
    td_product_t *values;          /* ... and the product that it is */
    uint32_t      candidate_cnt;
    uint32_t      made_cnt; /* strides that are symbols of their own */
} plan_t;

static bool
plan_init(plan_t *plan, td_builder_t *b, td_fake_t *fake)
{
    *plan         = (plan_t){.b = b, .fake = fake};
    plan->sizes   = td_alloc_in(b, fake->ndim * sizeof *plan->sizes);
    plan->strides = plan->sizes == NULL ? NULL : td_alloc_in(b, fake->ndim * sizeof *plan->strides);
    plan->bound   = plan->strides == NULL ? NULL : td_alloc_in(b, fake->ndim * sizeof *plan->bound);
    plan->keys    = plan->bound == NULL ? NULL : td_alloc_in(b, fake->ndim * sizeof *plan->keys);
    plan->values  = plan->keys == NULL ? NULL : td_alloc_in(b, fake->ndim * sizeof *plan->values);
    return plan->values != NULL;
}

/* offer adds the candidate that a known stride gives; a later one of the same value
   takes its place.  A value beyond 64 bits is nobody's stride. */
static bool
offer(plan_t *plan, uint32_t dim)
{
    int64_t  key = 0;
    uint32_t at  = 0;

    if (__builtin_mul_overflow(plan->fake->sizes[dim].hint, plan->fake->strides[dim].hint, &key)) {
        return true;
    }
    while (at < plan->candidate_cnt && plan->keys[at] != key) {
        at++;
    }
    plan->candidate_cnt += at == plan->candidate_cnt;
    plan->keys[at] = key;
    return times(plan->b, &plan->sizes[TD_PLANT(WRONG_STRIDE) ? 0 : dim], &plan->strides[dim],
                 &plan->values[at]);
}

/* smallest finds the unbound stride of the lowest value above (value, dim); ndim: none. */
static uint32_t
smallest(plan_t const *plan, int64_t value, int64_t dim)
{
    td_fake_t const *fake  = plan->fake;
    uint32_t         found = fake->ndim;

    for (uint32_t i = 0; i < fake->ndim; i++) {
        int64_t stride = fake->strides[i].hint;

        if (!plan->bound[i] && (stride > value || (stride == value && (int64_t)i > dim)) &&
            (found == fake->ndim || stride < fake->strides[found].hint)) {
            found = i;
        }
    }
    return found;
}

/* explain binds the strides that are a product of sizes, smallest first. */
static bool
explain(plan_t *plan)
{
    td_fake_t *fake = plan->fake;
    uint32_t   dim  = 0;

    plan->candidate_cnt = 0;
    for (uint32_t i = 0; i < fake->ndim; i++) {
        if (plan->bound[i] && !offer(plan, i)) {
            return false;
        }
    }
    for (dim = smallest(plan, -1, -1); dim < fake->ndim;
         dim = smallest(plan, fake->strides[dim].hint, dim)) {
        for (uint32_t i = 0; i < plan->candidate_cnt; i++) {
            if (plan->keys[i] == fake->strides[dim].hint) {
                plan->strides[dim] = plan->values[i];
                plan->bound[dim]   = true;
            }
        }
        if (plan->bound[dim] && !offer(plan, dim)) {
            return false;
        }
    }
    return true;
}

static bool
plan_strides(plan_t *plan, td_at_t const *at)
{
    td_fake_t *fake = plan->fake;
    uint32_t   dim  = 0;

    for (uint32_t i = 0; i < fake->ndim; i++) {
        if (fake->strides[i].hint == 0 || fake->strides[i].hint == 1) {
            plan->strides[i] = constant_of(fake->strides[i].hint);
            plan->bound[i]   = true;
        }
    }
    for (;;) {
        if (smallest(plan, -1, -1) == fake->ndim) {
            return true;
        }
        if (!explain(plan)) {
            return false;
        }
        dim = smallest(plan, -1, -1);
        if (dim == fake->ndim) {
            return true;
        }
        if (!create(plan->b, fake->strides[dim].hint, at, TD_PROP_STRIDE, dim, TD_DIM_DUCK, NULL,
                    &plan->strides[dim])) {
            return false;
        }
        plan->bound[dim] = true;
        plan->made_cnt++;
    }
}

/* overlaps: two dims that share their stride (not 0) step on each other. */
static bool
overlaps(td_fake_t const *fake)
{
    for (uint32_t i = 0; i < fake->ndim; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (fake->strides[i].hint == fake->strides[k].hint && fake->strides[i].hint != 0 &&
                fake->sizes[i].hint > 1 && fake->sizes[k].hint > 1) {
                return true;
            }
        }
    }
    return false;
}

/* admit asks the meta tensor what it asks itself: of what a view asks, guards are
   suppressed.  Where each stride is a product of sizes beside it nothing comes of it. */
static bool
admit(plan_t const *plan)
{
    td_fake_t const *fake = plan->fake;

    if (!fake->has_symbols) {
        return true;
    }
    if (plan->made_cnt == 0 && !overlaps(fake)) {
        plan->b->frame.symbols.ask_cnt += fake->ndim * fake->ndim + 4 * fake->ndim;
        return true;
    }
    if (fake->base == NULL && fake->requires_grad && !fake->is_leaf) {
        return td_stop_unsupported(plan->b, "L1724/fn/entered", __func__,
                                   "a computed tensor of symbolic strides that no sizes explain");
    }
    return td_ask_layout(plan->b, fake, fake->base != NULL);
}

/* write_one gives a number its product, unless each symbol in it is a number by now: torch
   makes a plain int of such.  True: symbols stand in it. */
static bool
write_one(td_builder_t const *b, td_num_t *num, td_product_t const *product)
{
    bool is_open = false;

    for (uint32_t i = 0; i < product->cnt; i++) {
        is_open = is_open || !now_of(b, product->factors[i])->is_number;
    }
    num->product = is_open ? *product : (td_product_t){0};
    return is_open;
}

static void
plan_write(plan_t *plan, td_product_t const *offset)
{
    td_fake_t *fake = plan->fake;
    bool       open = false;

    for (uint32_t i = 0; i < fake->ndim; i++) {
        open = write_one(plan->b, &fake->sizes[i], &plan->sizes[i]) || open;
        open = write_one(plan->b, &fake->strides[i], &plan->strides[i]) || open;
    }
    open              = write_one(plan->b, &fake->offset, offset) || open;
    fake->has_symbols = fake->has_symbols || open;
}

bool
td_symbols_of_fake(td_builder_t *b, td_at_t const *at, td_dims_t const *dims, td_fake_t *fake)
{
    plan_t       plan   = {0};
    td_product_t offset = {0};
    bool         is_all = true;

    for (uint32_t i = 0; i < dims->cnt; i++) {
        is_all = is_all && dims->dims[i] == TD_DIM_STATIC;
    }
    if (is_all) {
        return true;
    }
    if (!td_symbols_fit(b, at)) {
        return td_stop_unsupported(b, "L1724/fn/entered", __func__, "symbolic shapes so deep");
    }
    if (!plan_init(&plan, b, fake)) {
        return false;
    }
    for (uint32_t i = 0; i < fake->ndim; i++) {
        uint32_t dim = TD_PLANT(SYMBOL_ORDER) ? fake->ndim - 1 - i : i;

        td_range_t const *range =
            dims->ranges != NULL && dims->constraints[dim] == TD_CONSTRAINT_STRICT
                ? &dims->ranges[dim]
                : NULL;

        if (!create(b, fake->sizes[dim].hint, at, TD_PROP_SIZE, dim, (td_dim_t)dims->dims[dim],
                    range, &plan.sizes[dim])) {
            return false;
        }
    }
    if (!plan_strides(&plan, at) ||
        !create(b, fake->offset.hint, at, TD_PROP_STORAGE_OFFSET, 0, TD_DIM_DUCK, NULL, &offset)) {
        return false;
    }
    plan_write(&plan, &offset);
    return admit(&plan);
}
