/* td_stats.c: counts what programs are made of. */
#include "gen/td_stats.h"

#include <string.h>

#include "base/td_alloc.h"
#include "gen/td_trim.h"
#include "graph/td_rules.h"

/* What one program has, node by node. */
typedef struct {
    td_prog_t const *prog;
    uint8_t         *reached; /* a root reaches it */
    uint8_t         *edges;   /* edges at it from reached nodes and do steps, up to 255 */
    uint8_t         *roots;   /* roots of the current frame on it */
    uint8_t         *state;   /* of the search for cycles: 0 new, 1 open, 2 done */
    uint32_t         object_cnt;
    bool             shared, alias, duplicate, changed, cycle, nested, drifts;
    uint32_t         frame_cnt; /* frames with roots */
} look_t;

void
td_stats_init(td_stats_t *stats)
{
    memset(stats, 0, sizeof *stats);
}

static void
bump(uint8_t *count)
{
    *count += *count != UINT8_MAX;
}

static bool
is_literal(td_prog_t const *prog, uint32_t node)
{
    return strcmp(td_kind_info(prog->nodes[node].kind)->family, "literal") == 0;
}

/* Objects that a change puts into another one; -1 when it is none of that sort. */
static int
change_value(td_step_t const *step)
{
    if (step->kind != TD_STEP_DO) {
        return -1;
    }
    switch (step->op) {
    case TD_DO_APPEND:
    case TD_DO_SETATTR:
        return step->other[0];
    case TD_DO_SETITEM:
        return step->other[1];
    default:
        return -1;
    }
}

static void
mark_args(look_t *look, td_step_t const *step)
{
    for (int i = 0; i < step->arg_cnt; i++) {
        if (!step->arg[i].is_ref) {
            look->reached[step->arg[i].idx] = 1;
        }
    }
}

static void
mark_roots(look_t *look)
{
    for (uint32_t i = 0; i < look->prog->step_cnt; i++) {
        td_step_t const *step = &look->prog->steps[i];

        if (step->kind == TD_STEP_ROOT) {
            if (strchr(td_entry_info(step->op)->operands, 'o') != NULL) {
                look->reached[step->node] = 1;
            }
            mark_args(look, step);
        }
    }
}

static void
mark_edges(look_t *look)
{
    for (uint32_t i = look->prog->node_cnt; i > 0; i--) {
        td_node_t const *node = &look->prog->nodes[i - 1];

        for (int e = 0; look->reached[i - 1] && e < node->edge_cnt; e++) {
            look->reached[node->edge[e]] = 1;
        }
    }
}

/* Edges go back, changes anywhere: a change may reach what lies ahead, so this
   goes on until nothing is new. */
static void
mark_reached(look_t *look)
{
    bool again = true;

    mark_roots(look);
    while (again) {
        again = false;
        mark_edges(look);
        for (uint32_t i = 0; i < look->prog->step_cnt; i++) {
            td_step_t const *step  = &look->prog->steps[i];
            int              value = change_value(step);

            if (value >= 0 && look->reached[step->node] && !look->reached[value]) {
                look->reached[value] = 1;
                again                = true;
            }
        }
    }
}

static void
count_edges(look_t *look)
{
    td_prog_t const *prog = look->prog;

    for (uint32_t i = 0; i < prog->node_cnt; i++) {
        td_node_t const *node = &prog->nodes[i];

        look->object_cnt += look->reached[i];
        for (int e = 0; look->reached[i] && e < node->edge_cnt; e++) {
            bump(&look->edges[node->edge[e]]);
            look->nested |= prog->nodes[node->edge[e]].edge_cnt != 0;
        }
    }
    for (uint32_t i = 0; i < prog->step_cnt; i++) {
        int value = change_value(&prog->steps[i]);

        if (value >= 0 && look->reached[prog->steps[i].node]) {
            bump(&look->edges[value]);
        }
    }
}

/* Roots of one frame: step `first` up to the next frame. */
static void
look_at_frame(look_t *look, uint32_t first)
{
    td_prog_t const *prog     = look->prog;
    uint32_t         root_cnt = 0;

    memset(look->roots, 0, prog->node_cnt);
    for (uint32_t i = first; i < prog->step_cnt && prog->steps[i].kind != TD_STEP_FRAME; i++) {
        td_step_t const *step = &prog->steps[i];

        root_cnt += step->kind == TD_STEP_ROOT;
        if (step->kind != TD_STEP_ROOT || step->op != TD_ENTRY_BUILD) {
            continue;
        }
        for (uint32_t j = first; look->roots[step->node] != 0 && j < i; j++) {
            td_step_t const *other = &prog->steps[j];

            if (other->kind == TD_STEP_ROOT && other->op == TD_ENTRY_BUILD &&
                other->node == step->node) {
                look->duplicate |= other->source == step->source;
                look->alias |= other->source != step->source;
            }
        }
        bump(&look->roots[step->node]);
        look->shared |=
            !is_literal(prog, step->node) && look->roots[step->node] + look->edges[step->node] >= 2;
    }
    look->frame_cnt += root_cnt != 0;
}

static void
look_at_steps(look_t *look)
{
    td_prog_t const *prog = look->prog;

    for (uint32_t i = 0; i < prog->step_cnt; i++) {
        look->changed |= prog->steps[i].kind == TD_STEP_DO;
        if (prog->steps[i].kind == TD_STEP_FRAME) {
            look_at_frame(look, i + 1);
        }
    }
    for (uint32_t i = 0; i < prog->node_cnt; i++) {
        look->shared |= look->edges[i] >= 2 && !is_literal(prog, i);
    }
}

static bool find_cycle(look_t *look, uint32_t node, int depth);

static bool
follow(look_t *look, uint32_t next, int depth)
{
    return look->state[next] == 1 || (look->state[next] == 0 && find_cycle(look, next, depth + 1));
}

/* Only changes can close a cycle, so the search starts at what they change.
   Attributes of tensors count for nothing: nobody walks them. */
static bool
find_cycle(look_t *look, uint32_t node, int depth)
{
    td_prog_t const *prog  = look->prog;
    bool             found = false;

    if (depth > 2000) {
        return false;
    }
    look->state[node] = 1;
    for (int e = 0; !found && e < prog->nodes[node].edge_cnt; e++) {
        found = follow(look, prog->nodes[node].edge[e], depth);
    }
    for (uint32_t i = 0; !found && i < prog->step_cnt; i++) {
        int value = change_value(&prog->steps[i]);

        if (value >= 0 && prog->steps[i].node == node && !td_rules_is_tensor(&prog->nodes[node])) {
            found = follow(look, (uint32_t)value, depth);
        }
    }
    look->state[node] = 2;
    return found;
}

static void
look_for_cycles(look_t *look)
{
    for (uint32_t i = 0; !look->cycle && i < look->prog->step_cnt; i++) {
        td_step_t const *step = &look->prog->steps[i];

        if (change_value(step) >= 0 && look->state[step->node] == 0) {
            look->cycle = find_cycle(look, step->node, 0);
        }
    }
}

static void
count_records(td_stats_t *stats, look_t const *look)
{
    td_prog_t const *prog = look->prog;

    for (uint32_t i = 0; i < prog->node_cnt; i++) {
        td_node_t const *node = &prog->nodes[i];

        stats->kind[node->kind] += look->reached[i];
        if (look->reached[i] && td_kind_info(node->kind)->payload == TD_PAYLOAD_TENSOR) {
            stats->layout[node->tensor.layout]++;
            stats->dtype[node->tensor.dtype]++;
        }
    }
    for (uint32_t i = 0; i < prog->source_cnt; i++) {
        stats->source[prog->sources[i].kind]++;
    }
    for (uint32_t i = 0; i < prog->step_cnt; i++) {
        stats->entry[prog->steps[i].op] += prog->steps[i].kind == TD_STEP_ROOT;
        stats->change[prog->steps[i].op] += prog->steps[i].kind == TD_STEP_DO;
    }
    for (uint32_t i = 0; i < prog->setting_cnt; i++) {
        stats->config[prog->settings[i].key][prog->settings[i].value]++;
    }
}

static void
count_program(td_stats_t *stats, look_t const *look)
{
    uint32_t size = look->object_cnt;

    stats->program_cnt++;
    stats->objects[size < TD_STATS_SIZE_CNT ? size : TD_STATS_SIZE_CNT - 1]++;
    stats->shared_cnt += look->shared;
    stats->frames_cnt += look->frame_cnt >= 2;
    stats->drift_cnt += look->drifts;
    stats->alias_cnt += look->alias;
    stats->duplicate_cnt += look->duplicate;
    stats->changed_cnt += look->changed;
    stats->cycle_cnt += look->cycle;
    stats->nested_cnt += look->nested;
    stats->export_cnt += look->prog->export_mode;
}

bool
td_stats_add(td_stats_t *stats, td_prog_t const *prog)
{
    uint8_t *bytes = td_calloc(4, (size_t)prog->node_cnt + 1); /* owned */
    look_t   look  = {.prog = prog};

    if (bytes == NULL || td_trim_drifts(prog, &look.drifts) != TD_OK) {
        td_free(bytes);
        return false;
    }
    look.reached = bytes;
    look.edges   = bytes + prog->node_cnt;
    look.roots   = bytes + 2 * (size_t)prog->node_cnt;
    look.state   = bytes + 3 * (size_t)prog->node_cnt;
    mark_reached(&look);
    count_edges(&look);
    look_at_steps(&look);
    look_for_cycles(&look);
    count_records(stats, &look);
    count_program(stats, &look);
    td_free(bytes);
    return true;
}

void
td_stats_merge(td_stats_t *stats, td_stats_t const *more)
{
    uint64_t       *to   = (uint64_t *)stats;
    uint64_t const *from = (uint64_t const *)more;

    _Static_assert(sizeof(td_stats_t) % sizeof(uint64_t) == 0, "all of it is counts");
    for (size_t i = 0; i < sizeof *stats / sizeof *to; i++) {
        to[i] += from[i];
    }
}

uint32_t
td_stats_median_objects(td_stats_t const *stats)
{
    uint64_t below = 0;
    uint32_t size  = 0;

    while (size + 1 < TD_STATS_SIZE_CNT &&
           (below += stats->objects[size]) * 2 < stats->program_cnt) {
        size++;
    }
    return size;
}

/* ---- JSON ---- */

static char const *
kind_name(size_t tag)
{
    return td_kind_info((uint8_t)tag) != NULL ? td_kind_info((uint8_t)tag)->name : NULL;
}

static char const *
op_name(td_op_info_t const *info)
{
    return info != NULL ? info->name : NULL;
}

static char const *
source_name(size_t tag)
{
    return op_name(td_source_info((uint8_t)tag));
}

static char const *
entry_name(size_t tag)
{
    return op_name(td_entry_info((uint8_t)tag));
}

static char const *
change_name(size_t tag)
{
    return op_name(td_do_info((uint8_t)tag));
}

static char const *
dtype_name(size_t idx)
{
    return idx < td_dtype_cnt() ? td_dtype_name(idx) : NULL;
}

static void
put_counts(td_writer_t *out, char const *title, uint64_t const *count, size_t cnt,
           char const *(*name)(size_t))
{
    char const *comma = "";

    td_writer_put_format(out, ", \"%s\": {", title);
    for (size_t i = 0; i < cnt; i++) {
        if (name(i) != NULL) {
            td_writer_put_format(out, "%s\"%s\": %llu", comma, name(i),
                                 (unsigned long long)count[i]);
            comma = ", ";
        }
    }
    td_writer_put_u8(out, '}');
}

static void
put_config(td_writer_t *out, td_stats_t const *stats)
{
    td_writer_put_text(out, ", \"config\": {");
    for (size_t key = 0; key < td_config_cnt(); key++) {
        td_writer_put_format(out, "%s\"%s\": {", key != 0 ? ", " : "", td_config_name(key));
        for (size_t value = 0; value < td_config_value_cnt(key); value++) {
            td_writer_put_format(out, "%s\"%s\": %llu", value != 0 ? ", " : "",
                                 td_config_value(key, value),
                                 (unsigned long long)stats->config[key][value]);
        }
        td_writer_put_u8(out, '}');
    }
    td_writer_put_u8(out, '}');
}

void
td_stats_json(td_stats_t const *stats, td_writer_t *out)
{
    struct {
        char const *name;
        uint64_t    count;
    } const programs[] = {
        {"shared", stats->shared_cnt},       {"frames", stats->frames_cnt},
        {"drift", stats->drift_cnt},         {"alias", stats->alias_cnt},
        {"duplicate", stats->duplicate_cnt}, {"changed", stats->changed_cnt},
        {"cycle", stats->cycle_cnt},         {"nested", stats->nested_cnt},
        {"export", stats->export_cnt},
    };

    td_writer_put_format(out, "{\"programs\": %llu, \"median_objects\": %u",
                         (unsigned long long)stats->program_cnt, td_stats_median_objects(stats));
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        td_writer_put_format(out, ", \"programs_%s\": %llu", programs[i].name,
                             (unsigned long long)programs[i].count);
    }
    put_counts(out, "kinds", stats->kind, TD_WEIGHTS_KIND_CNT, kind_name);
    put_counts(out, "sources", stats->source, TD_WEIGHTS_SOURCE_CNT, source_name);
    put_counts(out, "entries", stats->entry, TD_WEIGHTS_ENTRY_CNT, entry_name);
    put_counts(out, "changes", stats->change, TD_WEIGHTS_DO_CNT, change_name);
    put_counts(out, "layouts", stats->layout, TD_LAYOUT_CNT, td_layout_name);
    put_counts(out, "dtypes", stats->dtype, 32, dtype_name);
    put_config(out, stats);
    td_writer_put_u8(out, '}');
}
