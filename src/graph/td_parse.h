/* td_parse.h: the lenient parser's own files share this.

   It reads record by record, makes each one valid where it is not (with a note of
   the first thing amiss) and puts it into a draft. */
#ifndef TD_GRAPH_PARSE_H
#define TD_GRAPH_PARSE_H

#include "graph/td_draft.h"
#include "graph/td_wire.h"

enum {
    TD_PARSE_SOURCE_MAX = 0x7FFF, /* sources read, duplicates and unused ones too */
    TD_PARSE_NOT_PUT    = 0xFFFF, /* a source that no root has needed yet */
    TD_PARSE_NONE       = -1,
};

/* A source as it was read; put into the draft when a root needs it. */
typedef struct {
    td_src_t src; /* base: index into wire sources */
    uint16_t put; /* index in the program, or TD_PARSE_NOT_PUT */
    uint8_t  depth;
} td_parse_source_t;

typedef struct {
    td_reader_t        reader;
    td_draft_t         draft;
    td_arena_t         scratch; /* wire sources and their names */
    td_parse_source_t *sources;
    uint32_t           source_cnt, source_cap;
    size_t             off;   /* of the record being read */
    bool               ended; /* the last record read was the end record */
    /* The newest node of each sort that an operand may have to be. */
    int      last_odict, last_tuple, last_key, last_tensor;
    char     text[TD_NAME_SZ_MAX + 1];
    uint16_t edges[TD_EDGE_CNT_MAX + 1];
    int64_t  dims[TD_SIZE_CNT_MAX];
    td_arg_t args[TD_ARG_CNT_MAX];
} td_parser_t;

/* td_parse_back reads an index: an earlier thing out of cnt, by its distance from
   the newest.  With cnt 0 it is 0 and means nothing. */
uint16_t td_parse_back(td_parser_t *p, uint32_t cnt, char const *what);
uint16_t td_parse_node_ref(td_parser_t *p);

/* Each reads the operands of one record behind its opcode.  TD_OK, also when
   nothing could be made of them; TD_LIMIT and TD_NOMEM as the draft gives them. */
td_status_t td_parse_node(td_parser_t *p, uint8_t kind);
td_status_t td_parse_source(td_parser_t *p, uint8_t kind);
td_status_t td_parse_root(td_parser_t *p, uint8_t op);
td_status_t td_parse_do(td_parser_t *p, uint8_t op);
td_status_t td_parse_constraint(td_parser_t *p, bool tied);
td_status_t td_parse_frame(td_parser_t *p);

#endif
