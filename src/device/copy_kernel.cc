#include "device/copy_kernel.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

namespace hoist::device {
namespace {

using Clock = std::chrono::steady_clock;

struct Served {
  uint64_t number = 1;  // of the next piece
  Clock::time_point since;
  bool ended = false;
};

// Whether there was something to do.
bool serve_slot(const CopyKernel& copy_kernel, uint32_t slot, Served& served) {
  CopyOrder& order = copy_kernel.orders[slot];
  CopyAnswer& answer = copy_kernel.answers[slot];
  const uint64_t posted = std::atomic_ref(order.number).load(std::memory_order_acquire);
  if (posted < served.number) {
    if (Clock::now() - served.since < std::chrono::nanoseconds(copy_kernel.patience)) return false;
    std::atomic_ref(answer.left).store(1, std::memory_order_release);
    served.ended = true;
    return true;
  }
  if (posted == kCopyEnd) {
    served.ended = true;
    return true;
  }
  std::byte* const own = copy_kernel.slots + slot * copy_kernel.slot_size;
  std::byte* const memory = copy_kernel.memory + order.offset;
  std::memcpy(copy_kernel.is_upload ? memory : own, copy_kernel.is_upload ? own : memory,
              order.size);
  std::atomic_ref(answer.number).store(served.number, std::memory_order_release);
  ++served.number;
  served.since = Clock::now();
  return true;
}

}  // namespace

void serve_on_host(const CopyKernel& copy_kernel) {
  std::vector<Served> slots(copy_kernel.count, {.since = Clock::now()});
  while (std::ranges::any_of(slots, [](const Served& served) { return !served.ended; })) {
    bool moved = false;
    for (uint32_t slot = 0; slot < copy_kernel.count; ++slot) {
      if (!slots[slot].ended) moved |= serve_slot(copy_kernel, slot, slots[slot]);
    }
    if (!moved) std::this_thread::yield();
  }
}

}  // namespace hoist::device
