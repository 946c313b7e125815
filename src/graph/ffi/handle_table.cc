#include "graph/ffi/handle_table.h"

#include <mutex>

namespace hoist::graph::ffi {

HandleTable::~HandleTable() {
  for (const auto& chunk : chunks_) {
    Slot* const slots = chunk.load();
    if (slots == nullptr) continue;
    for (uint64_t i = 0; i < kChunk; ++i) delete slots[i].object;
    delete[] slots;
  }
}

uint64_t HandleTable::add(std::unique_ptr<Object> object) {
  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      number = free_.back();
      free_.pop_back();
    } else if (next_ == kSlots) {
      return 0;
    } else {
      number = next_++;
      auto& chunk = chunks_[number / kChunk];
      if (chunk.load(std::memory_order_relaxed) == nullptr) {
        chunk.store(new Slot[kChunk], std::memory_order_release);
      }
    }
  }
  Slot& at = *slot(number);
  at.number = static_cast<uint32_t>(number);
  at.object = object.release();
  // Others may count themselves in and out meanwhile, by handles that are no longer valid.
  const uint64_t before = at.state.fetch_add(kLive * kStatusUnit, std::memory_order_release);
  return before / kGenerationUnit * kSlots + number;
}

bool HandleTable::retire(uint64_t handle) {
  Slot* const at = slot(handle);
  uint64_t state = at->state.load(std::memory_order_relaxed);
  while (state / kStatusUnit == live_state(handle)) {
    if (at->state.compare_exchange_weak(state, state + (kRetired - kLive) * kStatusUnit,
                                        std::memory_order_acq_rel)) {
      return true;  // who retires it has it pinned, and destroys it at the latest then
    }
  }
  return false;
}

// One of those that come here changes the generation.
void HandleTable::destroy(Slot& at, uint64_t state) {
  const uint64_t next = (state / kGenerationUnit + 1) * kGenerationUnit + kFree * kStatusUnit;
  if (!at.state.compare_exchange_strong(state, next, std::memory_order_acq_rel)) return;
  delete std::exchange(at.object, nullptr);
  const std::lock_guard lock(mutex_);
  free_.push_back(at.number);
}

void HandleTable::clear() {
  for (const auto& chunk : chunks_) {
    Slot* const slots = chunk.load(std::memory_order_acquire);
    if (slots == nullptr) return;
    for (uint64_t i = 0; i < kChunk; ++i) {
      Slot& at = slots[i];
      uint64_t state = at.state.fetch_add(1, std::memory_order_acquire);
      while (state / kStatusUnit % 4 == kLive &&
             !at.state.compare_exchange_weak(state, state + (kRetired - kLive) * kStatusUnit,
                                             std::memory_order_acq_rel)) {
      }
      release(at);
    }
  }
}

}  // namespace hoist::graph::ffi
