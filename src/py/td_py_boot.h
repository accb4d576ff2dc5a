/* td_py_boot.h: start the interpreter once, the same way everywhere.

   For executables of ours.  The extension module lives in an interpreter that is
   there already and needs none of this. */
#ifndef TD_PY_BOOT_H
#define TD_PY_BOOT_H

#include "py/td_py.h"

/* Where things are; NULL members are taken from the environment variable, else
   from what the build compiled in.

     executable  the environment's python, whose site-packages are used:
                 TANDEM_PYTHON, else TD_PYTHON_EXECUTABLE
     path        folders put in front of sys.path, separated by ':':
                 TANDEM_PYTHONPATH, else TD_PYTHON_PATH */
typedef struct {
    char const *executable;
    char const *path;
} td_py_boot_t;

/* td_py_boot starts CPython: isolated from PYTHON* variables and the user's
   site folder, utf-8, hash seed 0, no signal handlers, no argv.  boot may be
   NULL.  The calling thread holds the GIL afterwards.  An interpreter that runs
   already is left as it is, only the path is added.  TD_INTERNAL: it could not
   be started, td_py_boot_why says why in one line. */
td_status_t td_py_boot(td_py_boot_t const *boot);
char const *td_py_boot_why(void);

#endif
