/* td_gen_method.c: operands for functions that are called directly. */
#include <string.h>

#include "gen/td_gen_private.h"
#include "graph/td_rules.h"

/* What each function of methods.def takes, in its order; operands beyond `least` may be
   left out.  n a number, s what names a source, t a tensor, b a bool, o an object, i a root
   that became an input, r a root. */
static struct {
    char const *takes;
    uint8_t     least;
} const shapes[] = {
    {"ns", 1},   {"tsbb", 1}, {"r", 1}, {"o", 1}, {"i", 0}, {"ii", 1},
    {"osso", 1}, {"os", 1},   {"i", 1}, {"i", 1}, {"s", 0}, {"r", 1},
};

enum {
#define X(idx, NAME, text, meaning) METHOD_##NAME,
#include "graph/methods.def"
#undef X
    METHOD_CNT
};
_Static_assert(sizeof shapes / sizeof *shapes == METHOD_CNT, "a function has no operands");

static bool
is_number(td_gen_t const *gen, uint16_t node)
{
    uint8_t kind = gen->prog->nodes[node].kind;

    return kind == TD_KIND_INT || kind == TD_KIND_FLOAT || kind == TD_KIND_NP_SCALAR;
}

static bool
is_name(td_gen_t const *gen, uint16_t node)
{
    return gen->prog->nodes[node].kind == TD_KIND_STR || gen->prog->nodes[node].kind == TD_KIND_INT;
}

static bool
is_tensor(td_gen_t const *gen, uint16_t node)
{
    return td_rules_is_tensor(&gen->prog->nodes[node]);
}

static bool
is_bool(td_gen_t const *gen, uint16_t node)
{
    return gen->prog->nodes[node].kind == TD_KIND_BOOL;
}

/* root_of gives a root of the current frame whose object pred accepts, a later one rather
   than an earlier; -1: there is none. */
static int
root_of(td_gen_t *gen, bool (*pred)(td_gen_t const *gen, uint16_t node))
{
    int root  = gen->draft.frame_root_cnt;
    int found = -1;

    for (uint32_t at = gen->prog->step_cnt; at > 0 && root > 0; at--) {
        td_step_t const *step = &gen->prog->steps[at - 1];

        if (step->kind != TD_STEP_ROOT) {
            continue;
        }
        root--;
        if (step->op == TD_ENTRY_BUILD && pred(gen, step->node)) {
            found = root;
            if (td_rng_chance(&gen->rng, 50)) {
                break;
            }
        }
    }
    return found;
}

static int
node_of(td_gen_t *gen, char letter)
{
    switch (letter) {
    case 'n':
        return td_gen_find(gen, is_number);
    case 's':
        return td_gen_find(gen, is_name);
    case 't':
        return td_gen_find(gen, is_tensor);
    case 'b':
        return td_gen_find(gen, is_bool);
    default:
        return (int)td_rng_below(&gen->rng, gen->prog->node_cnt);
    }
}

static void
draw(td_gen_t *gen, char letter, td_arg_t *arg)
{
    int roots = gen->draft.frame_root_cnt;
    int idx   = letter == 'i'                ? root_of(gen, is_tensor)
                : letter == 'r' && roots > 0 ? (int)td_rng_below(&gen->rng, (uint64_t)roots)
                                             : -1;

    arg->is_ref = idx >= 0;
    if (idx < 0) {
        idx = node_of(gen, letter);
    }
    if (idx < 0) {
        idx = (int)td_rng_below(&gen->rng, gen->prog->node_cnt);
    }
    arg->idx = (uint16_t)idx;
}

uint8_t
td_gen_method_args(td_gen_t *gen, size_t method, td_arg_t *args)
{
    char const *takes = shapes[method].takes;
    uint8_t     most  = (uint8_t)strlen(takes);
    uint8_t     least = shapes[method].least;
    uint8_t     cnt   = (uint8_t)(least + td_rng_below(&gen->rng, (uint64_t)(most - least) + 1));

    for (uint8_t i = 0; i < cnt; i++) {
        draw(gen, takes[i], &args[i]);
    }
    return cnt;
}
