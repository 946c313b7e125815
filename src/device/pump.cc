#include "device/pump.h"

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
bool serve_slot(const Pump& pump, uint32_t slot, Served& served) {
  PumpOrder& order = pump.orders[slot];
  PumpAnswer& answer = pump.answers[slot];
  const uint64_t posted = std::atomic_ref(order.number).load(std::memory_order_acquire);
  if (posted < served.number) {
    if (Clock::now() - served.since < std::chrono::nanoseconds(pump.patience)) return false;
    std::atomic_ref(answer.left).store(1, std::memory_order_release);
    served.ended = true;
    return true;
  }
  if (posted == kPumpEnd) {
    served.ended = true;
    return true;
  }
  std::byte* const own = pump.slots + slot * pump.slot_size;
  std::byte* const memory = pump.memory + order.offset;
  std::memcpy(pump.is_upload ? memory : own, pump.is_upload ? own : memory, order.size);
  std::atomic_ref(answer.number).store(served.number, std::memory_order_release);
  ++served.number;
  served.since = Clock::now();
  return true;
}

}  // namespace

void serve_on_host(const Pump& pump) {
  std::vector<Served> slots(pump.count, {.since = Clock::now()});
  while (std::ranges::any_of(slots, [](const Served& served) { return !served.ended; })) {
    bool moved = false;
    for (uint32_t slot = 0; slot < pump.count; ++slot) {
      if (!slots[slot].ended) moved |= serve_slot(pump, slot, slots[slot]);
    }
    if (!moved) std::this_thread::yield();
  }
}

}  // namespace hoist::device
