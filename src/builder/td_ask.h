/* td_ask.h: what is asked of symbols, and what of it becomes guards on shapes.

   Mirrors ShapeEnv.evaluate_expr (torch 2.1.2) for comparisons of two products: one that
   the ranges of symbols or plain algebra decide leaves nothing; any other is written down as
   the hints have it, once, and may narrow a range or replace a symbol. */
#ifndef TD_BUILDER_ASK_H
#define TD_BUILDER_ASK_H

#include "builder/td_builder_private.h"

typedef enum { TD_ASK_EQ, TD_ASK_NE, TD_ASK_LT } td_ask_t;

/* td_ask compares x and y: 1 or 0 as their hints say, -1: stopped.  is_quiet: guards are
   suppressed.  Both numbers have hints. */
int td_ask(td_builder_t *b, td_ask_t op, td_num_t const *x, td_num_t const *y, bool is_quiet);

/* td_ask_is_even says whether a multiple of 2 is known to be one without a guard; false where
   memory ran out, too, and the root is stopped. */
bool td_ask_is_even(td_builder_t *b, td_num_t const *num);

/* td_ask_layout asks what a meta tensor asks of its own sizes and strides.  False:
   stopped. */
bool td_ask_layout(td_builder_t *b, td_fake_t const *fake, bool is_quiet);

#endif
