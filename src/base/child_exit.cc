#include "base/child_exit.h"

#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

namespace hoist {
namespace {

void end_child(int status, void* owner) {
  if (reinterpret_cast<intptr_t>(owner) == ::getpid()) return;
  std::fflush(nullptr);
  ::_exit(status);
}

}  // namespace

void end_children_before_exit_handlers() {
  ::on_exit(end_child, reinterpret_cast<void*>(static_cast<intptr_t>(::getpid())));
}

}  // namespace hoist
