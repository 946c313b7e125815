// Exit in a child whose parent uses a library with threads that live on until the library's own
// exit handlers stop them (RocksDB): in the child there are no such threads, and the handlers wait
// for them for ever. Those of the CUDA runtime fault there.
#pragma once

namespace hoist {

// From now on a child of this process that calls exit(), or returns from main(), ends where the
// handlers begin that were registered before this call: those that were registered later have run,
// in the child as well, and streams are flushed. To be called once the library has registered its
// own.
void end_children_before_exit_handlers();

}  // namespace hoist
