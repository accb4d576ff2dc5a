/* td_cover.c: what a subject that counts its own lines can be told besides (td_cover.h). */
#include "cover/td_cover.h"

#include "base/td_alloc.h"
#include "py/td_py_audit.h"

/* The compiler's runtime for profiles; its headers declare these nowhere. */
void __llvm_profile_set_filename(char const *name);
int  __llvm_profile_write_file(void);

static bool is_of_python;

int
td_cover_write(char const *path)
{
    int failed;

    __llvm_profile_set_filename(path);
    failed = __llvm_profile_write_file();
    __llvm_profile_set_filename("/dev/null"); /* where the runtime writes when the process ends */
    return failed;
}

void
td_cover_arm(uint64_t nth, int of_python)
{
    is_of_python = of_python != 0;
    if (!is_of_python) {
        td_nomem_arm(nth);
        return;
    }
    td_py_nomem_hold(); /* until the subject is entered: its objects are made before */
    td_py_nomem_arm(nth);
}

int64_t
td_cover_live_cnt(void)
{
    return td_alloc_live_cnt();
}

int
td_cover_disarm(void)
{
    bool failed = false;

    if (!is_of_python) {
        return td_nomem_disarm();
    }
    failed = td_py_nomem_disarm();
    td_py_nomem_release();
    return failed;
}
