/* td_operand.h: trackers and objects as arguments of a node. */
#ifndef TD_BUILDER_OPERAND_H
#define TD_BUILDER_OPERAND_H

#include "builder/td_value.h"

/* td_operand_step mirrors Frame.operands: what the argument ("ref", i) stands for; NULL:
   stopped.  *found is NULL where arg is no such tuple. */
bool td_operand_step(td_builder_t *b, PyObject *arg, td_var_t **found);

/* td_operand_proxy mirrors as_proxy(): a new reference; NULL: stopped. */
PyObject *td_operand_proxy(td_builder_t *b, td_var_t *var);

/* td_operand_arg mirrors create_arg and what the node's constructor makes of it: a new
   reference; NULL: stopped. */
PyObject *td_operand_arg(td_builder_t *b, PyObject *value);

#endif
