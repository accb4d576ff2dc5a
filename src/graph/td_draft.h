/* td_draft.h: a program while it is being written, record by record.

   Every way to a program goes through a draft: the repair of bytes, the
   assembler, the generator.  Each put keeps the program valid or is refused and
   changes nothing, and the canonical binary form grows along. */
#ifndef TD_GRAPH_DRAFT_H
#define TD_GRAPH_DRAFT_H

#include "base/td_writer.h"
#include "graph/td_graph.h"

typedef struct {
    td_prog_t  *prog; /* borrowed; its arena owns everything that was put */
    td_writer_t out;  /* owned: the binary form so far */
    char const *why;  /* static clause: why the last put was refused */
    uint32_t    node_cap, source_cap, step_cap, setting_cap, order_cap;
    uint8_t    *is_key; /* a node: can be a source's key */
    uint8_t    *depth;  /* a source: bases below it */
    uint32_t    frame_cnt;
    uint32_t    root_cnt;
    int         frame_root_cnt;  /* in the current frame; -1 before the first */
    uint32_t    source_used_cnt; /* sources that a root has used; the rest wait for the next root */
} td_draft_t;

/* td_draft_init begins a program in prog, which is initialised and empty.
   td_draft_clear ends the draft; prog stays.  It may be used on a zeroed draft. */
td_status_t td_draft_init(td_draft_t *draft, td_prog_t *prog);
void        td_draft_clear(td_draft_t *draft);

/* All puts copy what they are given, texts and edges too.  They return TD_OK;
   TD_REJECT when the record would not be valid (why says it); TD_LIMIT when the
   program is full (why says of what); TD_NOMEM. */
td_status_t td_draft_put_node(td_draft_t *draft, td_node_t const *node);
td_status_t td_draft_put_step(td_draft_t *draft, td_step_t const *step); /* fills in node_cnt */
td_status_t td_draft_put_setting(td_draft_t *draft, td_setting_t setting);
td_status_t td_draft_put_export(td_draft_t *draft);

/* td_draft_put_source gives the index of an equal source, or adds it.  A source
   that was added must be used: the next put is that of a source on top of it or
   of the root that is built from it. */
td_status_t td_draft_put_source(td_draft_t *draft, td_src_t const *src, uint16_t *idx);

/* td_draft_finish puts the end record behind the last one; TD_REJECT when there
   is no root. */
td_status_t td_draft_finish(td_draft_t *draft);

/* A place to go back to: sources put for a root that then did not fit. */
typedef struct {
    size_t   sz;
    uint32_t source_cnt, order_cnt;
} td_draft_mark_t;

td_draft_mark_t td_draft_mark(td_draft_t const *draft);
void td_draft_rewind(td_draft_t *draft, td_draft_mark_t mark); /* sources only since mark */

#endif
