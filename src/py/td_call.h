/* td_call.h: the one function through which C calls what Python can see.

   A profile hook sees every Python frame and every C function called from
   Python, but no call that C makes itself.  So the subject (and whoever makes
   objects for it) calls Python-visible callables, and reads attributes of
   objects whose own class may compute them, only through here: a recorder can
   then list what was called, and the failing allocator of td_py_audit.h can be
   held back while code that is not ours runs.

   With neither switched on a call costs one test of a flag. */
#ifndef TD_PY_CALL_H
#define TD_PY_CALL_H

#include "py/td_py.h"

/* What a recorder is told, before the call: the class of the object given (the
   bound object of a method, else the first argument; "" if there is none) and
   the function ("torch.Tensor.size" as far as module and name are known, or the
   attribute with a dot in front, ".device").  The texts live until it returns.
   It must not raise, and must not call back into td_call. */
typedef void (*td_call_sink_t)(void *ctx, char const *class_name, char const *function);

/* td_call_record switches the recorder on (one a process), or off with NULL. */
void td_call_record(td_call_sink_t sink, void *ctx);

/* td_call calls callable with nargs positional arguments (all borrowed).
   Returns a new reference, or NULL with an exception set.  Runs whatever the
   callable is. */
PyObject *td_call(PyObject *callable, PyObject *const *args, size_t nargs);

/* td_call_kw is td_call with keywords: kwnames (a tuple of str, borrowed, may be
   NULL) names the values that follow the nargs positional ones in args. */
PyObject *td_call_kw(PyObject *callable, PyObject *const *args, size_t nargs, PyObject *kwnames);

/* td_call_method calls the method name (a str, borrowed) of args[0]; nargs counts
   args[0] too and is at least 1. */
PyObject *td_call_method(PyObject *name, PyObject *const *args, size_t nargs);

/* td_call_attr reads an attribute: getattr(object, name). */
PyObject *td_call_attr(PyObject *object, PyObject *name);

/* td_call_getter reads an attribute of an object by the getter that its class has for it in C: a
   PyGetSetDescr that can be read.  td_call_bare calls a method that its class has in C: a
   PyMethodDescr that takes nothing, or anything and keywords.  Neither looks anything up: the
   caller knows that the object has the attribute from its class. */
PyObject *td_call_getter(PyObject *descr, PyObject *object);
PyObject *td_call_bare(PyObject *descr, PyObject *object);

/* td_call_set_attr sets one; value NULL deletes.  0, or -1 with an exception. */
int td_call_set_attr(PyObject *object, PyObject *name, PyObject *value);

#endif
