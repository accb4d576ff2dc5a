/* td_py_depth.c: the bottom of the stack, by CPython 3.11's own fields. */
#include "py/td_py_depth.h"

void
td_py_depth_enter(td_py_depth_t *depth)
{
    PyThreadState *thread = PyThreadState_Get();

    depth->outer_cframe         = thread->cframe;
    depth->outer_handled        = thread->exc_info;
    depth->outer_remaining      = thread->recursion_remaining;
    depth->outer_limit          = thread->recursion_limit;
    depth->cframe.use_tracing   = thread->cframe->use_tracing;
    depth->cframe.current_frame = NULL;
    depth->cframe.previous      = thread->cframe;
    depth->handled              = (_PyErr_StackItem){NULL, NULL};
    thread->cframe              = &depth->cframe;
    thread->exc_info            = &depth->handled;
    thread->recursion_limit     = TD_PY_DEPTH_LIMIT;
    thread->recursion_remaining = TD_PY_DEPTH_LIMIT;
}

void
td_py_depth_leave(td_py_depth_t *depth)
{
    PyThreadState *thread = PyThreadState_Get();

    /* a profiler that was set or removed meanwhile holds for the outer frames too */
    depth->outer_cframe->use_tracing = depth->cframe.use_tracing;
    thread->cframe                   = depth->outer_cframe;
    thread->exc_info                 = depth->outer_handled;
    thread->recursion_limit          = depth->outer_limit;
    thread->recursion_remaining      = depth->outer_remaining;
    Py_CLEAR(depth->handled.exc_value);
}
