// Compiles kernels of programs that run for long (program/replacement.h) by the system's C++
// compiler: their steps become kernels of the IR, and these a shared object, which is kept on the
// disk (device/module_cache.h).
#pragma once

#include "graph/program/replacement.h"

namespace hoist::graph::native {

// On a thread of low priority, one program after the other. The thread ends when there is nothing
// to do, and at the process's exit, with the compiler that it has started. A child of fork() has
// one of its own.
program::KernelCompiler& background_compiler();

// On the calling thread, before compile() comes back.
program::KernelCompiler& immediate_compiler();

// Ends the thread and its compiler, and waits for them: before the process unloads what they use.
// Programs that ask later fail with `cancelled`.
void stop_background_compiler();

}  // namespace hoist::graph::native
