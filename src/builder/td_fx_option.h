/* td_fx_option.h: what wrap_fx_proxy is given besides a node. */
#ifndef TD_BUILDER_FX_OPTION_H
#define TD_BUILDER_FX_OPTION_H

#include "builder/td_value.h"

typedef struct {
    PyObject        *example;      /* borrowed from the spec; NULL: none is given */
    td_at_t          source;       /* id 0: none, or None */
    td_guard_id_t    guard;        /* 0: none */
    td_more_t const *more;         /* others beside it; NULL: none */
    bool             guards_given; /* the word `guards` was, be it None */
    PyObject *raw_value; /* borrowed from the spec: the tracker is to be that of a Python number;
                                NULL: it is not */
    bool      need_unwrap;
    bool      should_specialize;
    bool      no_translator; /* it is called with something else as its tx */
    bool      twice;         /* it is called twice on one node */
} td_fx_options_t;

/* td_fx_options_read takes the options out of args (a tuple): *rest is a new tuple of
   the other ones.  False: stopped. */
bool td_fx_options_read(td_builder_t *b, PyObject *args, td_fx_options_t *options, PyObject **rest);

#endif
