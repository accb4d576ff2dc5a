/* td_repr.h: canonical values as Python's repr spells the objects they stand for. */
#ifndef TD_OBSERVE_REPR_H
#define TD_OBSERVE_REPR_H

#include "base/td_writer.h"
#include "observe/td_obs.h"

/* td_repr_value writes repr() of what val stands for.  What has no spelling
   without an address (a program's object, a function) is <its form>. */
void td_repr_value(td_writer_t *writer, td_obs_t const *obs, td_val_t val);

/* td_repr_str writes repr() of a str. */
void td_repr_str(td_writer_t *writer, char const *text, size_t sz);

/* td_repr_float writes repr() of a float: the shortest digits that read back. */
enum { TD_REPR_FLOAT_SZ = 64 };
void td_repr_float(char out[TD_REPR_FLOAT_SZ], double value);

/* td_is_identifier is str.isidentifier(). */
bool td_is_identifier(char const *text, size_t sz);

#endif
