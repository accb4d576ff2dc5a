/* td_lex.h: the words of the text form, with line and column of what is wrong.

   A lexer reads forward through one text.  The first failure sticks: after it
   every take gives 0 or an empty text and moves nothing, so a parser looks once
   a line. */
#ifndef TD_GRAPH_LEX_H
#define TD_GRAPH_LEX_H

#include "graph/td_graph.h"

typedef struct {
    char const   *text; /* borrowed */
    size_t        sz, off;
    size_t        line_off; /* where the current line begins */
    int           line;     /* from 1 */
    td_refusal_t *refusal;  /* borrowed */
    bool          failed;
} td_lex_t;

void td_lex_init(td_lex_t *lex, char const *text, size_t sz, td_refusal_t *refusal);

/* td_lex_fail says what is wrong at offset off of the current line; columns
   count characters, not bytes. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void
td_lex_fail(td_lex_t *lex, size_t off, char const *format, ...);

/* td_lex_next_line goes to the next line that says something, past comments and
   blank lines; false at the end of the text or after a failure. */
bool td_lex_next_line(td_lex_t *lex);

/* td_lex_at skips blanks and gives the next character of the line, NUL at its end
   (a comment ends it too).  td_lex_accept takes it if it is that one. */
char td_lex_at(td_lex_t *lex);
bool td_lex_accept(td_lex_t *lex, char wanted);
void td_lex_expect(td_lex_t *lex, char wanted);
void td_lex_end(td_lex_t *lex); /* nothing more in this line */

enum { TD_WORD_SZ_MAX = 63 };

/* td_lex_word takes a bare word: letters, digits, '_' and '.', beginning with a
   letter or '_'.  td_lex_chunk takes everything up to a blank or the end of the
   line.  Both write a NUL-terminated text to word (TD_WORD_SZ_MAX + 1 bytes);
   what names the thing that is wanted. */
void td_lex_word(td_lex_t *lex, char *word, char const *what);
void td_lex_chunk(td_lex_t *lex, char *word, char const *what);

int64_t td_lex_int(td_lex_t *lex, int64_t min, int64_t max, char const *what);
double  td_lex_float(td_lex_t *lex);
/* Texts are written to buffer (TD_NAME_SZ_MAX + 1 bytes). */
td_text_t td_lex_decimal(td_lex_t *lex, char *buffer);
td_text_t td_lex_string(td_lex_t *lex, char *buffer); /* "..." in utf-8 */
td_text_t td_lex_bytes(td_lex_t *lex, char *buffer);  /* b"..." */

#endif
