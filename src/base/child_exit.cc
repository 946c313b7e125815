#include "base/child_exit.h"

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>

#include "base/fork.h"

namespace hoist {
namespace {

void end_child(int status, void* owner) {
  if (static_cast<const OwnerProcess*>(owner)->is_current()) return;
  std::fflush(nullptr);
  ::_exit(status);
}

}  // namespace

void end_children_before_exit_handlers() { ::on_exit(end_child, new OwnerProcess); }

}  // namespace hoist
