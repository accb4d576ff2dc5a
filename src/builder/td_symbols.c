/* td_symbols.c: symbols, and the sizes and strides that are made of them.

   Mirrors ShapeEnv.create_symbol and create_symbolic_sizes_strides_storage_offset
   (torch 2.1.2).  An expression is a product of a number and of symbols: nothing
   else comes up before operators are run. */
#include "builder/td_symbols.h"

#include <stdio.h>
#include <string.h>

#include "base/td_alloc.h"
#include "builder/td_builder_private.h"

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
    td_pmap_clear(&symbols->duck_by_value);
    memset(symbols, 0, sizeof *symbols);
}

/* ---- products ---------------------------------------------------------------- */

/* coef times the factors: symbols in the order of their names, one for each power. */
typedef struct {
    int64_t   coef;
    uint32_t *factors; /* in the arena */
    uint32_t  cnt;
} product_t;

static product_t
constant_of(int64_t value)
{
    return (product_t){.coef = value};
}

static bool
symbol_of(td_builder_t *b, uint32_t symbol, product_t *out)
{
    uint32_t *factors = td_alloc_in(b, sizeof *factors);

    if (factors == NULL) {
        return false;
    }
    factors[0] = symbol;
    *out       = (product_t){.coef = 1, .factors = factors, .cnt = 1};
    return true;
}

/* comes_first: sympy orders the factors of a product by name. */
static bool
comes_first(td_builder_t const *b, uint32_t x, uint32_t y)
{
    td_symbol_t const *symbols = b->frame.symbols.at;

    return strcmp(symbols[x].name, symbols[y].name) <= 0;
}

/* times gives x * y; the caller knows that the numbers themselves do not overflow. */
static bool
times(td_builder_t *b, product_t const *x, product_t const *y, product_t *out)
{
    uint32_t i = 0;
    uint32_t k = 0;

    *out = constant_of(x->coef * y->coef);
    if (out->coef == 0 || x->cnt + y->cnt == 0) {
        return true;
    }
    out->factors = td_alloc_in(b, (x->cnt + y->cnt) * sizeof *out->factors);
    if (out->factors == NULL) {
        return false;
    }
    while (i < x->cnt || k < y->cnt) {
        bool left = k == y->cnt || (i < x->cnt && comes_first(b, x->factors[i], y->factors[k]));

        out->factors[out->cnt++] = left ? x->factors[i++] : y->factors[k++];
    }
    return true;
}

static void
put_product(td_builder_t const *b, product_t const *product, td_buf_t *out)
{
    bool later = product->coef != 1 || product->cnt == 0;

    if (later) {
        td_buf_put_i64(out, product->coef);
    }
    for (uint32_t i = 0; i < product->cnt;) {
        uint32_t power = 1;

        while (i + power < product->cnt && product->factors[i + power] == product->factors[i]) {
            power++;
        }
        td_buf_puts(out, later ? "*" : "");
        td_buf_puts(out, b->frame.symbols.at[product->factors[i]].name);
        if (power > 1) {
            td_buf_puts(out, "**");
            td_buf_put_i64(out, power);
        }
        later = true;
        i += power;
    }
}

/* number_of writes a product into *num, whose hint stays. */
static bool
number_of(td_builder_t *b, product_t const *product, td_num_t *num)
{
    td_buf_t text = {0};

    if (product->cnt == 0) {
        return true;
    }
    put_product(b, product, &text);
    if (!text.failed) {
        num->expr = td_arena_dup(&b->frame.arena, text.bytes, text.sz);
    }
    num->is_symbol = product->cnt == 1 && product->coef == 1;
    td_buf_clear(&text);
    return num->expr != NULL || td_stop_nomem(b);
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

/* create mirrors create_symbol for a size, a stride or an offset. */
static bool
create(td_builder_t *b, int64_t value, td_at_t const *at, td_prop_t prop, uint32_t dim,
       td_dim_t how, product_t *out)
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
   keep; NULL: stopped. */
static PyObject *
message_of(td_builder_t *b, PyObject *value)
{
    PyObject *text = PyUnicode_FromFormat("%S not in range [%lld, %lld]", value,
                                          (long long)INT64_MIN, (long long)INT64_MAX);

    if (text == NULL) {
        PyErr_Clear(); /* Python itself refuses to spell so long a number */
        td_stop_unsupported(b, "L1206/if/T", __func__, "an int that has no decimals");
        return NULL;
    }
    return td_keep_steal(b, text) ? text : NULL;
}

bool
td_symbol_of_int(td_builder_t *b, td_at_t const *at, PyObject *value, td_num_t *num)
{
    PyObject *message  = NULL; /* borrowed from the keep */
    uint32_t  idx      = 0;
    int       overflow = 0;
    product_t product  = {0};

    num->hint = PyLong_AsLongLongAndOverflow(value, &overflow);
    message   = overflow == 0 ? NULL : message_of(b, value);
    if ((overflow != 0 && message == NULL) || !td_keep(b, value) ||
        !symbol_new(b, value, INT64_MIN, INT64_MAX, &idx)) {
        return false;
    }
    if (overflow != 0) {
        return td_stop_raise_text(b, "L1206/if/T", __func__,
                                  "torch.fx.experimental.symbolic_shapes.ConstraintViolationError",
                                  message);
    }
    return note_source(b, idx, at->id) && symbol_of(b, idx, &product) &&
           number_of(b, &product, num);
}

bool
td_symbol_unbacked(td_builder_t *b, td_num_t *num)
{
    uint32_t  idx     = 0;
    product_t product = {0};

    num->no_hint = true;
    return symbol_new(b, NULL, SIZE_MIN, INT64_MAX, &idx) && symbol_of(b, idx, &product) &&
           number_of(b, &product, num);
}

/* ---- sizes and strides ---------------------------------------------------------------- */

/* What becomes of one tensor. */
typedef struct {
    td_builder_t *b;
    td_fake_t    *fake;
    product_t    *sizes, *strides; /* ndim of each */
    bool         *bound;           /* which strides are known */
    int64_t      *keys;            /* candidates: size times stride ... */
    product_t    *values;          /* ... and the product that it is */
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
        if (!create(plan->b, fake->strides[dim].hint, at, TD_PROP_STRIDE, dim, TD_DIM_DUCK,
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

/* admit lets by what the meta tensor takes without asking about its symbols: what it
   asks becomes guards on shapes, which this builder does not write. */
static bool
admit(plan_t const *plan)
{
    td_fake_t const *fake = plan->fake;

    if (!fake->has_symbols) {
        return true;
    }
    if (plan->made_cnt > 0 && fake->base == NULL) {
        return td_stop_unsupported(plan->b, "L1724/fn/entered", __func__,
                                   "symbolic strides that no sizes explain");
    }
    if (overlaps(fake)) {
        return td_stop_unsupported(plan->b, "L1724/fn/entered", __func__,
                                   "symbolic strides that overlap");
    }
    return true;
}

static bool
plan_write(plan_t *plan, product_t const *offset)
{
    td_fake_t *fake = plan->fake;

    for (uint32_t i = 0; i < fake->ndim; i++) {
        if (!number_of(plan->b, &plan->sizes[i], &fake->sizes[i]) ||
            !number_of(plan->b, &plan->strides[i], &fake->strides[i])) {
            return false;
        }
        fake->has_symbols =
            fake->has_symbols || fake->sizes[i].expr != NULL || fake->strides[i].expr != NULL;
    }
    if (!number_of(plan->b, offset, &fake->offset)) {
        return false;
    }
    fake->has_symbols = fake->has_symbols || fake->offset.expr != NULL;
    return admit(plan);
}

bool
td_symbols_of_fake(td_builder_t *b, td_at_t const *at, td_dims_t const *dims, td_fake_t *fake)
{
    plan_t    plan   = {0};
    product_t offset = {0};
    bool      is_all = true;

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

        if (!create(b, fake->sizes[dim].hint, at, TD_PROP_SIZE, dim, (td_dim_t)dims->dims[dim],
                    &plan.sizes[dim])) {
            return false;
        }
    }
    return plan_strides(&plan, at) &&
           create(b, fake->offset.hint, at, TD_PROP_STORAGE_OFFSET, 0, TD_DIM_DUCK, &offset) &&
           plan_write(&plan, &offset);
}
