/* td_ask.c: see td_ask.h. */
#include "builder/td_ask.h"

#include <stdlib.h>
#include <string.h>

/* So many different questions are remembered by torch: what was asked before them is asked
   again. */
enum { MEMORY_CNT = 240 };

static char const arm[] = "L1724/fn/entered";

/* ---- products as they are by now -------------------------------------------------- */

/* root follows replacements. */
static td_symbol_t const *
root(td_builder_t const *b, uint32_t symbol)
{
    td_symbol_t const *at = &b->frame.symbols.at[symbol];

    while (at->replaced) {
        at = &b->frame.symbols.at[at->by];
    }
    return at;
}

static int
by_index(void const *x, void const *y)
{
    uint32_t a = *(uint32_t const *)x;
    uint32_t b = *(uint32_t const *)y;

    return a < b ? -1 : a > b;
}

/* now_of gives a number as a product in which each symbol is the one that stands for it
   now, in order of creation. */
static bool
now_of(td_builder_t *b, td_num_t const *num, td_product_t *out)
{
    td_product_t const *product = &num->product;

    *out = (td_product_t){.coef = product->cnt == 0 ? num->hint : product->coef};
    if (product->cnt == 0) {
        return true;
    }
    out->factors = td_alloc_in(b, product->cnt * sizeof *out->factors);
    if (out->factors == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < product->cnt; i++) {
        td_symbol_t const *symbol = root(b, product->factors[i]);

        if (symbol->is_number) {
            out->coef *= symbol->number;
        } else {
            out->factors[out->cnt++] = (uint32_t)(symbol - b->frame.symbols.at);
        }
    }
    qsort(out->factors, out->cnt, sizeof *out->factors, by_index);
    return true;
}

static bool
is_open(td_builder_t const *b, td_num_t const *num)
{
    for (uint32_t i = 0; i < num->product.cnt; i++) {
        if (!root(b, num->product.factors[i])->is_number) {
            return true;
        }
    }
    return false;
}

bool
td_fake_is_whole(td_builder_t const *b, td_fake_t const *fake)
{
    bool found = is_open(b, &fake->offset);

    for (uint32_t i = 0; fake->has_symbols && !found && i < fake->ndim; i++) {
        found = is_open(b, &fake->sizes[i]) || is_open(b, &fake->strides[i]);
    }
    return !fake->has_symbols || !found;
}

static int64_t
times(int64_t x, int64_t y)
{
    int64_t product = 0;

    return __builtin_mul_overflow(x, y, &product) ? INT64_MAX : product;
}

/* bounds gives the lowest and the highest value of a product of what is never negative;
   INT64_MAX stands for all beyond. */
static void
bounds(td_builder_t const *b, td_product_t const *x, int64_t *lower, int64_t *upper)
{
    *lower = x->coef;
    *upper = x->coef;
    for (uint32_t i = 0; i < x->cnt; i++) {
        *lower = times(*lower, b->frame.symbols.at[x->factors[i]].lower);
        *upper = times(*upper, b->frame.symbols.at[x->factors[i]].upper);
    }
}

/* shared gives how many symbols the two have in common; *x_rest and *y_rest say how many
   are left of each. */
static uint32_t
shared(td_product_t const *x, td_product_t const *y, uint32_t *x_rest, uint32_t *y_rest)
{
    uint32_t i     = 0;
    uint32_t k     = 0;
    uint32_t found = 0;

    while (i < x->cnt && k < y->cnt) {
        if (x->factors[i] == y->factors[k]) {
            found++;
            i++;
            k++;
        } else if (x->factors[i] < y->factors[k]) {
            i++;
        } else {
            k++;
        }
    }
    *x_rest = x->cnt - found;
    *y_rest = y->cnt - found;
    return found;
}

/* least gives the constant term of the symbols that y has beyond x, with coef, each
   written as a positive number plus what makes it reach its lowest value; INT64_MIN where
   one of them may be negative. */
static int64_t
least(td_builder_t const *b, td_product_t const *x, td_product_t const *y)
{
    int64_t  found = y->coef;
    uint32_t k     = 0;

    for (uint32_t i = 0; i < y->cnt; i++) {
        while (k < x->cnt && x->factors[k] < y->factors[i]) {
            k++;
        }
        if (k < x->cnt && x->factors[k] == y->factors[i]) {
            k++;
        } else if (b->frame.symbols.at[y->factors[i]].lower < 1) {
            return INT64_MIN;
        } else {
            found = times(found, b->frame.symbols.at[y->factors[i]].lower - 1);
        }
    }
    return found;
}

static bool
is_one_symbol(td_product_t const *x, td_product_t const *y)
{
    return x->factors[0] == x->factors[x->cnt - 1] && y->factors[0] == y->factors[y->cnt - 1] &&
           x->factors[0] == y->factors[0];
}

/* ---- what is known without a guard --------------------------------------------------- */

typedef enum { OPEN, KNOWN, UNKNOWN } known_t;

/* known_by_range: so says where the values lie. */
static bool
known_by_range(td_builder_t const *b, td_ask_t op, td_product_t const *x, td_product_t const *y)
{
    int64_t x_lower = 0;
    int64_t x_upper = 0;
    int64_t y_lower = 0;
    int64_t y_upper = 0;

    bounds(b, x, &x_lower, &x_upper);
    bounds(b, y, &y_lower, &y_upper);
    if (op == TD_ASK_LT) {
        return x_upper < y_lower || (x_lower >= y_upper && x_lower < INT64_MAX);
    }
    return x_upper < y_lower || y_upper < x_lower ||
           (x_lower == x_upper && y_lower == y_upper && x_lower == y_lower && x_lower < INT64_MAX);
}

/* known says whether sympy decides: where one side is a multiple of the other, the
   difference has one sign.  UNKNOWN: this builder cannot say. */
static known_t
known(td_builder_t const *b, td_ask_t op, td_product_t const *x, td_product_t const *y)
{
    uint32_t x_rest = 0;
    uint32_t y_rest = 0;
    uint32_t common = shared(x, y, &x_rest, &y_rest);

    if ((x_rest == 0 && y_rest == 0) || known_by_range(b, op, x, y) ||
        (x_rest == 0 && x->coef <= least(b, x, y)) || (y_rest == 0 && y->coef <= least(b, y, x))) {
        return KNOWN;
    }
    if (x_rest > 0 && y_rest > 0) {
        return OPEN;
    }
    if (common > 0) {
        return is_one_symbol(x, y) ? UNKNOWN : OPEN;
    }
    /* An odd number is no even one. */
    return op != TD_ASK_LT && ((x_rest == 0 && x->coef % 2 != 0 && y->coef % 2 == 0) ||
                               (y_rest == 0 && y->coef % 2 != 0 && x->coef % 2 == 0))
               ? KNOWN
               : OPEN;
}

/* ---- guards ------------------------------------------------------------------------------ */

/* spell writes a comparison as sympy spells it: as it was asked, or as the hints have it. */
static bool
spell(td_builder_t *b, char const *form, td_product_t const *x, td_product_t const *y,
      char const **text)
{
    td_buf_t out   = {0};
    bool     first = true;

    for (; *form != '\0'; form++) {
        if (*form == '@') {
            td_product_t const *side = first ? x : y;

            td_num_put(b, &(td_num_t){.hint = side->coef, .product = *side}, &out);
            first = false;
        } else {
            td_buf_put(&out, form, 1);
        }
    }
    *text = out.failed ? NULL : td_arena_dup(&b->frame.arena, out.bytes, out.sz);
    td_buf_clear(&out);
    return *text != NULL || td_stop_nomem(b);
}

static char const *
form_of(td_ask_t op, bool is)
{
    if (op == TD_ASK_LT) {
        return is ? "@ < @" : "@ >= @";
    }
    return (op == TD_ASK_EQ) == is ? "Eq(@, @)" : "Ne(@, @)";
}

/* is_asked says whether a question was asked before, and notes it; is_open: it makes a
   difference.  -1: stopped. */
static int
is_asked(td_builder_t *b, td_ask_t op, td_product_t const *x, td_product_t const *y, bool is_open)
{
    static char const *const forms[] = {
        [TD_ASK_EQ] = "= @ @", [TD_ASK_NE] = "! @ @", [TD_ASK_LT] = "< @ @"};
    td_symbols_t *symbols = &b->frame.symbols;
    char const   *text    = NULL;

    if (!spell(b, forms[op], x, y, &text)) {
        return -1;
    }
    if (td_smap_get(&symbols->asked, text, strlen(text)) != TD_MAP_NONE) {
        if (!is_open || symbols->ask_cnt < MEMORY_CNT) {
            return 1;
        }
        td_stop_unsupported(b, arm, __func__, "a question about shapes that was asked long ago");
        return -1;
    }
    if (!td_smap_put(&symbols->asked, text, strlen(text), 0)) {
        td_stop_nomem(b);
        return -1;
    }
    symbols->ask_cnt++;
    return 0;
}

/* replace mirrors _maybe_guard_eq for Eq(x, y) of symbols: the one whose name comes last
   goes, or the only one. */
static bool
replace(td_builder_t *b, td_product_t const *x, td_product_t const *y)
{
    td_symbols_t    *symbols = &b->frame.symbols;
    td_symbol_t     *all     = symbols->at;
    td_replacement_t row     = {0};
    uint32_t         goes    = x->cnt > 0 ? x->factors[0] : y->factors[0];
    uint32_t         by      = y->cnt > 0 ? y->factors[0] : goes;

    if (x->cnt + y->cnt > 2 || (x->cnt > 0 && x->coef != 1) || (y->cnt > 0 && y->coef != 1)) {
        return td_stop_unsupported(b, arm, __func__, "a guard that a product is a certain number");
    }
    if (x->cnt == 0 || y->cnt == 0) {
        all[goes].is_number = true;
        all[goes].number    = x->cnt == 0 ? x->coef : y->coef;
    } else {
        if (strcmp(all[goes].name, all[by].name) < 0) {
            by   = goes;
            goes = y->factors[0];
        }
        all[goes].replaced = true;
        all[goes].by       = by;
    }
    row.symbol = goes;
    row.by     = all[goes].is_number ? TD_MAP_NONE : by;
    if (symbols->replacement_cnt == symbols->replacement_cap &&
        !td_array_grow((void **)&symbols->replacements, &symbols->replacement_cap, sizeof row)) {
        return td_stop_nomem(b);
    }
    symbols->replacements[symbols->replacement_cnt++] = row;
    return true;
}

/* quotient says whether x / y is a whole number for anybody who looks, y being symbol times
   others, and gives it. */
static bool
quotient(td_builder_t *b, td_product_t const *x, td_product_t const *y, uint32_t symbol,
         td_product_t *out)
{
    uint32_t k    = 0;
    bool     seen = false;

    *out         = (td_product_t){.coef = x->coef / y->coef};
    out->factors = td_alloc_in(b, (x->cnt + 1) * sizeof *out->factors);
    if (out->factors == NULL || x->coef % y->coef != 0) {
        return false;
    }
    for (uint32_t i = 0; i < y->cnt; i++) {
        if (y->factors[i] == symbol && !seen) {
            seen = true;
            continue;
        }
        for (; k < x->cnt && x->factors[k] < y->factors[i]; k++) {
            out->factors[out->cnt++] = x->factors[k];
        }
        if (k == x->cnt || x->factors[k] != y->factors[i]) {
            return false;
        }
        k++;
    }
    for (; k < x->cnt; k++) {
        out->factors[out->cnt++] = x->factors[k];
    }
    return true;
}

static bool
has(td_product_t const *x, uint32_t symbol)
{
    for (uint32_t i = 0; i < x->cnt; i++) {
        if (x->factors[i] == symbol) {
            return true;
        }
    }
    return false;
}

/* refine_one narrows the range of one symbol of side x, given that x lies above y (strictly
   or not), or below it. */
static void
refine_one(td_builder_t *b, td_product_t const *x, td_product_t const *y, uint32_t idx,
           bool is_above, bool is_strict, char const *guard)
{
    td_symbol_t *symbol = &b->frame.symbols.at[idx];
    td_product_t bound  = {0};
    int64_t      lower  = 0;
    int64_t      upper  = 0;

    if (has(y, idx) || !quotient(b, y, x, idx, &bound)) {
        return;
    }
    bounds(b, &bound, &lower, &upper);
    if (is_above && symbol->lower < lower) {
        symbol->lower       = lower + is_strict;
        symbol->lower_guard = guard;
    } else if (!is_above && symbol->upper > upper) {
        symbol->upper       = upper - is_strict;
        symbol->upper_guard = guard;
    } else {
        return;
    }
    if (!symbol->is_refined) {
        symbol->is_refined = true;
        symbol->refined_at = b->frame.symbols.refined_cnt++;
    }
}

/* refine mirrors refine_ranges for x < y, or x >= y. */
static void
refine(td_builder_t *b, td_product_t const *x, td_product_t const *y, bool is_less,
       char const *guard)
{
    for (uint32_t i = 0; i < x->cnt; i++) {
        refine_one(b, x, y, x->factors[i], !is_less, is_less, guard);
    }
    for (uint32_t i = 0; i < y->cnt; i++) {
        refine_one(b, y, x, y->factors[i], is_less, is_less, guard);
    }
}

/* put_down writes what the hints say. */
static bool
put_down(td_builder_t *b, td_ask_t op, bool is, td_product_t const *x, td_product_t const *y)
{
    td_symbols_t     *symbols = &b->frame.symbols;
    td_symbol_guard_t guard   = {0};

    if (!spell(b, form_of(op, is), x, y, &guard.text)) {
        return false;
    }
    if (symbols->guard_cnt == symbols->guard_cap &&
        !td_array_grow((void **)&symbols->guards, &symbols->guard_cap, sizeof guard)) {
        return td_stop_nomem(b);
    }
    symbols->guards[symbols->guard_cnt++] = guard;
    if (op == TD_ASK_LT && !TD_PLANT(RANGE_KEPT)) {
        refine(b, x, y, is, guard.text);
    }
    return true;
}

/* settle deals with a question that is asked for the first time, or again. */
static bool
settle(td_builder_t *b, td_ask_t op, bool is, td_product_t const *x, td_product_t const *y,
       bool is_quiet)
{
    known_t found = known(b, op, x, y);
    int     asked = is_asked(b, op, x, y, found != KNOWN);

    if (asked != 0 || found == KNOWN) {
        return asked >= 0;
    }
    if (found == UNKNOWN && !is_quiet) {
        return td_stop_unsupported(b, arm, __func__, "a power that is compared with a multiple");
    }
    if (op != TD_ASK_LT && (op == TD_ASK_EQ) == is && !replace(b, x, y)) {
        return false;
    }
    return is_quiet || put_down(b, op, is, x, y);
}

int
td_ask(td_builder_t *b, td_ask_t op, td_num_t const *x, td_num_t const *y, bool is_quiet)
{
    bool is = op == TD_ASK_LT ? x->hint < y->hint : (x->hint == y->hint) == (op == TD_ASK_EQ);
    td_product_t x_now = {0};
    td_product_t y_now = {0};

    if (x->product.cnt == 0 && y->product.cnt == 0) {
        return is;
    }
    if (!now_of(b, x, &x_now) || !now_of(b, y, &y_now)) {
        return -1;
    }
    if (x_now.cnt == 0 && y_now.cnt == 0) {
        return is;
    }
    return settle(b, op, is, &x_now, &y_now, is_quiet) ? is : -1;
}

bool
td_ask_is_even(td_builder_t *b, td_num_t const *num)
{
    td_product_t now = {0};

    return now_of(b, num, &now) && now.coef % 2 == 0;
}

/* ---- the layout of a meta tensor ---------------------------------------------------------- */

/* One tensor that is asked; once failed is set, answers mean nothing. */
typedef struct {
    td_builder_t   *b;
    td_num_t const *sizes, *strides;
    uint32_t        ndim;
    bool            is_quiet, failed;
} layout_t;

static bool
ask(layout_t *layout, td_ask_t op, td_num_t const *x, td_num_t const *y)
{
    int is = layout->failed ? 0 : td_ask(layout->b, op, x, y, layout->is_quiet);

    layout->failed = layout->failed || is < 0;
    return is == 1;
}

static td_num_t
number(int64_t value)
{
    return (td_num_t){.hint = value, .product = {.coef = value}};
}

static void
multiply(layout_t *layout, td_num_t *x, td_num_t const *y)
{
    if (!layout->failed && !td_num_times(layout->b, x, y, x)) {
        layout->failed = true;
    }
}

/* in_order says whether the dims, the innermost first, lie in memory without a gap.
   op: how a stride is asked whether it is the number it should be. */
static bool
in_order(layout_t *layout, uint32_t const *dims, td_ask_t op)
{
    td_num_t expected = number(1);
    td_num_t one      = number(1);

    for (uint32_t i = 0; i < layout->ndim; i++) {
        td_num_t const *size = &layout->sizes[dims[i]];

        if (!ask(layout, TD_ASK_NE, size, &one)) {
            continue;
        }
        if (ask(layout, op, &layout->strides[dims[i]], &expected) != (op == TD_ASK_EQ)) {
            return false;
        }
        multiply(layout, &expected, size);
    }
    return true;
}

static bool
is_empty(layout_t const *layout)
{
    for (uint32_t i = 0; i < layout->ndim; i++) {
        if (layout->sizes[i].hint == 0) {
            return true;
        }
    }
    return false;
}

static bool
is_contiguous(layout_t *layout)
{
    uint32_t *dims = td_alloc_in(layout->b, layout->ndim * sizeof *dims);

    layout->failed = layout->failed || dims == NULL;
    if (layout->failed || is_empty(layout)) {
        return true;
    }
    for (uint32_t i = 0; i < layout->ndim; i++) {
        dims[i] = layout->ndim - 1 - i;
    }
    return in_order(layout, dims, TD_ASK_EQ);
}

/* ask_like mirrors is_channels_last_strides_2d and _3d; dims: the innermost first. */
static void
ask_like(layout_t *layout, uint32_t const *dims)
{
    td_num_t zero = number(0);
    td_num_t one  = number(1);
    td_num_t min  = zero;

    if (ask(layout, TD_ASK_EQ, &layout->strides[1], &zero)) {
        return;
    }
    for (uint32_t i = 0; i < layout->ndim; i++) {
        uint32_t dim = dims[i];

        if (ask(layout, TD_ASK_EQ, &layout->sizes[dim], &zero) ||
            ask(layout, TD_ASK_LT, &layout->strides[dim], &min) ||
            (dim == 0 && ask(layout, TD_ASK_EQ, &min, &layout->strides[1])) || layout->failed) {
            return;
        }
        min = layout->strides[dim];
        if (ask(layout, TD_ASK_LT, &one, &layout->sizes[dim])) {
            multiply(layout, &min, &layout->sizes[dim]);
        }
    }
}

/* goes_first mirrors the order by strides, small dims last. */
static bool
goes_first(layout_t *layout, uint32_t x, uint32_t y)
{
    td_num_t two = number(2);

    if (ask(layout, TD_ASK_LT, &layout->sizes[x], &two)) {
        return false;
    }
    return ask(layout, TD_ASK_LT, &layout->sizes[y], &two) ||
           ask(layout, TD_ASK_LT, &layout->strides[x], &layout->strides[y]);
}

/* sort mirrors std::sort of a few dims: insertion, from the front when one comes first. */
static void
sort(layout_t *layout, uint32_t *dims)
{
    for (uint32_t i = 1; i < layout->ndim; i++) {
        uint32_t dim = dims[i];
        uint32_t at  = i;

        if (goes_first(layout, dim, dims[0])) {
            at = 0;
        } else {
            while (goes_first(layout, dim, dims[at - 1])) {
                at--;
            }
        }
        memmove(&dims[at + 1], &dims[at], (i - at) * sizeof *dims);
        dims[at] = dim;
    }
}

/* ask_dense mirrors compute_non_overlapping_and_dense. */
static void
ask_dense(layout_t *layout)
{
    uint32_t *dims     = td_alloc_in(layout->b, layout->ndim * sizeof *dims);
    td_num_t  expected = number(1);
    td_num_t  two      = number(2);

    layout->failed = layout->failed || dims == NULL;
    if (layout->ndim == 1) {
        if (!ask(layout, TD_ASK_LT, &layout->sizes[0], &two)) {
            ask(layout, TD_ASK_EQ, &layout->strides[0], &expected);
        }
        return;
    }
    for (uint32_t i = 0; !layout->failed && i < layout->ndim; i++) {
        dims[i] = i;
    }
    if (!layout->failed) {
        sort(layout, dims);
    }
    for (uint32_t i = 0; !layout->failed && i < layout->ndim; i++) {
        td_num_t const *size = &layout->sizes[dims[i]];

        if (ask(layout, TD_ASK_LT, size, &two) ||
            ask(layout, TD_ASK_NE, &layout->strides[dims[i]], &expected)) {
            return;
        }
        multiply(layout, &expected, size);
    }
}

/* ask_all mirrors _refresh_contiguous. */
static void
ask_all(layout_t *layout)
{
    static uint32_t const last_2d[] = {1, 3, 2, 0};
    static uint32_t const last_3d[] = {1, 4, 3, 2, 0};
    bool                  is_dense  = is_contiguous(layout);

    if (layout->ndim == 4) {
        is_dense = in_order(layout, last_2d, TD_ASK_NE) || is_dense;
        ask_like(layout, last_2d);
    } else if (layout->ndim == 5) {
        is_dense = in_order(layout, last_3d, TD_ASK_NE) || is_dense;
        ask_like(layout, last_3d);
    }
    if (!is_dense) {
        ask_dense(layout);
    }
}

/* Beyond so many dims the order of comparisons is another. */
enum { SORT_CNT_MAX = 16 };

bool
td_ask_layout(td_builder_t *b, td_fake_t const *fake, bool is_quiet)
{
    layout_t layout = {.b        = b,
                       .sizes    = fake->sizes,
                       .strides  = fake->strides,
                       .ndim     = fake->ndim,
                       .is_quiet = is_quiet};

    if (TD_PLANT(STRIDES_NOT_ASKED)) {
        return true;
    }
    if (fake->ndim > SORT_CNT_MAX) {
        return td_stop_unsupported(b, arm, __func__, "so many dims of symbolic strides");
    }
    ask_all(&layout);
    return !layout.failed;
}
