// Calls a function of the user's on a thread that CPython may end within it.
//
// Where the interpreter has ended, CPython ends a thread that comes back for the lock by
// pthread_exit(), which unwinds it. No destructor survives that, and where the C++ runtime is
// linked statically no handler either: it has an unwinder of its own, which cannot read the other's
// state. A cleanup of C, by setjmp(), runs before any frame of C++ is met: it waits until the
// process is gone.
#pragma once

#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

// As PyObject_CallObject().
PyObject* hoist_call_user(PyObject* function, PyObject* arguments);

#ifdef __cplusplus
}
#endif
