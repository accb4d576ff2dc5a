/* td_rules.h: what makes a program valid, checked record by record.

   Each check gives NULL, or one static clause that says what is wrong with the
   record ("the step of a range is 0").  They are the only place where validity
   is decided: the assembler, the generator and the repair all end in them. */
#ifndef TD_GRAPH_RULES_H
#define TD_GRAPH_RULES_H

#include "graph/td_graph.h"

/* prog holds the records before; the record itself is not in it yet. */
char const *td_rules_node(td_prog_t const *prog, td_node_t const *node);
char const *td_rules_source(td_prog_t const *prog, td_src_t const *src);
/* frame_root_cnt: roots in the current frame so far; -1 before the first frame. */
char const *td_rules_step(td_prog_t const *prog, td_step_t const *step, int frame_root_cnt);
char const *td_rules_setting(td_prog_t const *prog, td_setting_t setting);

/* td_rules_is_key says whether a node can be a source's key, given that its
   edges can (edge_ok: all of them). */
bool td_rules_is_key(td_node_t const *node, bool edges_are_keys);

/* Nodes that a constraint can name, with dims. */
bool td_rules_is_tensor(td_node_t const *node);

/* Kinds whose edges are pairs (after the first edge_min). */
bool td_rules_is_paired(uint8_t kind);

/* td_rules_utf8 gives how many bytes from the start are valid utf-8. */
size_t td_rules_utf8(char const *bytes, size_t sz);
bool   td_rules_is_bigint(td_text_t decimal);

#endif
