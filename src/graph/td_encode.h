/* td_encode.h: single records in their canonical binary form.

   Each needs to know what stands before it in the stream, as indices are
   relative: node_cnt nodes, source_cnt sources. */
#ifndef TD_GRAPH_ENCODE_H
#define TD_GRAPH_ENCODE_H

#include "base/td_writer.h"
#include "graph/td_graph.h"

void td_encode_node(td_writer_t *out, td_node_t const *node, uint32_t node_cnt);
void td_encode_source(td_writer_t *out, td_src_t const *src, uint32_t node_cnt,
                      uint32_t source_cnt);
void td_encode_step(td_writer_t *out, td_step_t const *step, uint32_t node_cnt,
                    uint32_t source_cnt);
void td_encode_setting(td_writer_t *out, td_setting_t setting);
void td_encode_export(td_writer_t *out);
void td_encode_end(td_writer_t *out);

/* td_encode_records writes the whole program, from version byte to end record.
   off (may be NULL) has room for prog->order_cnt + 1 offsets: where each record
   begins, and the end record.  The writer's status says how it went. */
void td_encode_records(td_writer_t *out, td_prog_t const *prog, size_t *off);

#endif
