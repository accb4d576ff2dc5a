/* td_py.h: the doorway to CPython; the only file that includes Python.h.

   Every room that touches Python includes this header and nothing of CPython's
   own.  Python 3.11 alone is supported: torch 2.1.2 has no later wheel that this
   project pins, and the reference's recursion limits are those of 3.11. */
#ifndef TD_PY_PY_H
#define TD_PY_PY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x030B0000 || PY_VERSION_HEX >= 0x030C0000
#error "tandem needs the headers of Python 3.11"
#endif

#include "base/td_status.h"

#endif
