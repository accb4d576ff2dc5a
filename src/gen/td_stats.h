/* td_stats.h: what a set of programs is made of, counted.

   An object counts when some root reaches it: what no root reaches is never
   compared.  Callers decide which programs count (all that were generated, or
   only those that were compared). */
#ifndef TD_GEN_STATS_H
#define TD_GEN_STATS_H

#include "base/td_writer.h"
#include "gen/td_weights.h"

enum { TD_STATS_SIZE_CNT = 257 }; /* sizes of programs; the last one: that and more */

typedef struct {
    uint64_t program_cnt;
    uint64_t kind[TD_WEIGHTS_KIND_CNT];                           /* objects */
    uint64_t source[TD_WEIGHTS_SOURCE_CNT];                       /* sources, bases too */
    uint64_t entry[TD_WEIGHTS_ENTRY_CNT];                         /* roots */
    uint64_t change[TD_WEIGHTS_DO_CNT];                           /* do steps */
    uint64_t config[TD_WEIGHTS_CONFIG_CNT][TD_WEIGHTS_VALUE_CNT]; /* programs that set it so */
    uint64_t layout[TD_LAYOUT_CNT];
    uint64_t dtype[32];
    uint64_t objects[TD_STATS_SIZE_CNT]; /* programs with so many objects */
    /* Programs with ... */
    uint64_t
        shared_cnt; /* an object that is no literal and is used twice: by edges, or as a root */
    uint64_t frames_cnt;    /* two frames or more that have roots */
    uint64_t drift_cnt;     /* an int or a size that may become dynamic */
    uint64_t alias_cnt;     /* one object under two sources in one frame */
    uint64_t duplicate_cnt; /* the same root twice in one frame */
    uint64_t changed_cnt;   /* a do step */
    uint64_t cycle_cnt;     /* an object that holds itself, at any depth */
    uint64_t nested_cnt;    /* a container in a container */
    uint64_t export_cnt;
} td_stats_t;

void td_stats_init(td_stats_t *stats);

/* td_stats_add counts a program; false (nothing counted) when memory ran out. */
bool td_stats_add(td_stats_t *stats, td_prog_t const *prog);
void td_stats_merge(td_stats_t *stats, td_stats_t const *more);

/* td_stats_median_objects gives the number of objects of the median program. */
uint32_t td_stats_median_objects(td_stats_t const *stats);

/* td_stats_json writes one JSON object: counts by name, also those that are 0. */
void td_stats_json(td_stats_t const *stats, td_writer_t *out);

#endif
