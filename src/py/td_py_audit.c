/* td_py_audit.c: censuses of references and blocks; an allocator that fails once. */
#include "py/td_py_audit.h"

#include "base/td_alloc.h"
#include "base/td_assert.h"

static td_status_t
block_cnt(Py_ssize_t *cnt)
{
    PyObject *function = PySys_GetObject("getallocatedblocks"); /* borrowed from sys */
    PyObject *result   = NULL;                                  /* owned */

    if (function == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "sys.getallocatedblocks is missing");
        return TD_PYERR;
    }
    result = PyObject_CallNoArgs(function);
    if (result == NULL) {
        return TD_PYERR;
    }
    *cnt = PyLong_AsSsize_t(result);
    Py_DECREF(result);
    return PyErr_Occurred() ? TD_PYERR : TD_OK;
}

td_status_t
td_audit_init(td_audit_t *audit, PyObject *objects)
{
    Py_ssize_t cnt = objects == NULL ? 0 : PyTuple_GET_SIZE(objects);

    *audit         = (td_audit_t){0};
    audit->refcnts = td_malloc(sizeof *audit->refcnts * (size_t)(cnt + 1));
    if (audit->refcnts == NULL) {
        return TD_NOMEM;
    }
    audit->objects = Py_XNewRef(objects);
    for (Py_ssize_t i = 0; i < cnt; i++) {
        audit->refcnts[i] = Py_REFCNT(PyTuple_GET_ITEM(objects, i));
    }
    return block_cnt(&audit->block_cnt);
}

void
td_audit_clear(td_audit_t *audit)
{
    Py_CLEAR(audit->objects);
    td_free(audit->refcnts);
    *audit = (td_audit_t){0};
}

/* Objects that are a part of the interpreter (one-character strs, small ints) begin with
   so many references, and anybody at all may hold one more. */
enum { REFCNT_OF_EVERYBODY = 900000000 };

/* is_everybodys: those, and truth values, which a build may store in an object (an
   optimizer's groups), and None. */
static bool
is_everybodys(PyObject *object)
{
    return Py_REFCNT(object) >= REFCNT_OF_EVERYBODY || object == Py_None || object == Py_True ||
           object == Py_False;
}

Py_ssize_t
td_audit_refs_differ(td_audit_t const *audit, Py_ssize_t *was, Py_ssize_t *now)
{
    Py_ssize_t cnt = audit->objects == NULL ? 0 : PyTuple_GET_SIZE(audit->objects);

    for (Py_ssize_t i = 0; i < cnt; i++) {
        PyObject  *object = PyTuple_GET_ITEM(audit->objects, i); /* borrowed */
        Py_ssize_t refcnt = Py_REFCNT(object);

        if (refcnt != audit->refcnts[i] && !is_everybodys(object)) {
            if (was != NULL) {
                *was = audit->refcnts[i];
            }
            if (now != NULL) {
                *now = refcnt;
            }
            return i;
        }
    }
    return -1;
}

td_status_t
td_audit_block_growth(td_audit_t const *audit, Py_ssize_t *growth)
{
    Py_ssize_t  now    = 0;
    td_status_t status = block_cnt(&now);

    *growth = now - audit->block_cnt;
    return status;
}

/* ---- the failing allocator ------------------------------------------------ */

int td_py_nomem_held;

static struct {
    PyMemAllocatorEx mem, obj; /* the allocators that were there */
    size_t           left;     /* allocations until the one that fails; 0: it has failed */
    bool             armed;
} nomem;

static bool
fails_now(void)
{
    if (td_py_nomem_held > 0 || nomem.left == 0) {
        return false;
    }
    nomem.left--;
    return nomem.left == 0;
}

static void *
failing_malloc(void *ctx, size_t sz)
{
    PyMemAllocatorEx *real = ctx;

    return fails_now() ? NULL : real->malloc(real->ctx, sz);
}

static void *
failing_calloc(void *ctx, size_t cnt, size_t sz)
{
    PyMemAllocatorEx *real = ctx;

    return fails_now() ? NULL : real->calloc(real->ctx, cnt, sz);
}

static void *
failing_realloc(void *ctx, void *ptr, size_t sz)
{
    PyMemAllocatorEx *real = ctx;

    return fails_now() ? NULL : real->realloc(real->ctx, ptr, sz);
}

static void
real_free(void *ctx, void *ptr)
{
    PyMemAllocatorEx *real = ctx;

    real->free(real->ctx, ptr);
}

static void
hook(PyMemAllocatorDomain domain, PyMemAllocatorEx *real)
{
    PyMemAllocatorEx failing = {real, failing_malloc, failing_calloc, failing_realloc, real_free};

    PyMem_GetAllocator(domain, real);
    PyMem_SetAllocator(domain, &failing);
}

void
td_py_nomem_arm(size_t nth)
{
    TD_ASSERT(!nomem.armed);
    TD_ASSERT(nth > 0);
    nomem.armed = true;
    nomem.left  = nth;
    hook(PYMEM_DOMAIN_MEM, &nomem.mem);
    hook(PYMEM_DOMAIN_OBJ, &nomem.obj);
}

bool
td_py_nomem_disarm(void)
{
    TD_ASSERT(nomem.armed);
    PyMem_SetAllocator(PYMEM_DOMAIN_MEM, &nomem.mem);
    PyMem_SetAllocator(PYMEM_DOMAIN_OBJ, &nomem.obj);
    nomem.armed = false;
    return nomem.left == 0;
}
