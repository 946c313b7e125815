#include "ops/qsort/workspace.h"

#include <cstdint>

#include "base/own_work.h"

namespace hoist::qsort {
namespace {

// The frame of the call that has the thread's workspace; null where none has it. Not a member: it
// is asked when the workspace is gone, by a call in atexit() or in the destructor of something else
// that belongs to the thread.
thread_local uintptr_t holder = 0;

constexpr uintptr_t kEnded = UINTPTR_MAX;

}  // namespace

Workspace::~Workspace() { holder = kEnded; }

Workspace* Workspace::take(const void* frame) {
  // Stacks grow downwards: a call that was left has no frame where another one has its own, or
  // below that.
  const auto own = reinterpret_cast<uintptr_t>(frame);
  if (own < holder) return nullptr;
  const OwnWork guard;
  thread_local Workspace workspace;
  holder = own;
  return &workspace;
}

void Workspace::give_back() {
  const OwnWork guard;
  for (PageBuffer& buffer : buffers_) {
    if (buffer.size() > kKept) buffer = PageBuffer();
  }
  holder = 0;
}

Inference* Workspace::inference() {
  // Memory of zeros is an Inference at its start.
  if (inference_.data() == nullptr) inference_ = PageBuffer(sizeof(Inference));
  return reinterpret_cast<Inference*>(inference_.data());
}

std::byte* Workspace::buffer(size_t slot, size_t size) {
  PageBuffer& buffer = buffers_[slot];
  if (buffer.size() < size) {
    buffer = PageBuffer();
    buffer = PageBuffer(size);
  }
  return reinterpret_cast<std::byte*>(buffer.data());
}

}  // namespace hoist::qsort
