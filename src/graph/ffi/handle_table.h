// Handles: numbers by which callers name objects, from 1 on. A handle is never given out twice: the
// number of an object that is gone comes back with another generation in its upper bits.
//
//   uint64_t handle = table.add(std::make_unique<BufferEntry>(…));
//   Pin<BufferEntry> buffer = table.find<BufferEntry>(handle, Lifetime::pinned);
//   if (!buffer) return not_found(…);
//   table.remove<BufferEntry>(handle);                 // gone when the last pin is
//
// Finding takes no lock and waits for nobody. Any thread may do anything at any time. A child after
// fork() goes on with a copy of all objects; what its parent's other threads had pinned stays.
#pragma once

#include <sys/single_threaded.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/fork.h"

namespace hoist::graph::ffi {

// How an object that was found is kept alive.
enum class Lifetime : uint8_t {
  pinned,  // by a count
  // The caller sees to it that nobody removes anything until the pin is gone, as who holds Python's
  // global lock does. That saves two atomic operations an object, half the time of a small
  // operation.
  held_by_caller,
};

class Object {
 public:
  enum class Kind : uint8_t { executor, buffer, tensor };
  explicit Object(Kind kind) : kind_(kind) {}
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  Kind kind() const { return kind_; }

 private:
  const Kind kind_;
};

class HandleTable {
  struct Slot;

 public:
  HandleTable() = default;
  ~HandleTable();
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  // Keeps an object alive; empty where there was none.
  class AnyPin {
   public:
    AnyPin() = default;
    ~AnyPin() {
      if (counted_ != nullptr) table_->release(*counted_);
    }
    AnyPin(AnyPin&& other) noexcept
        : object_(std::exchange(other.object_, nullptr)),
          table_(other.table_),
          counted_(std::exchange(other.counted_, nullptr)) {}
    AnyPin& operator=(AnyPin&&) = delete;
    Object* get() const { return object_; }

   private:
    friend HandleTable;
    Object* object_ = nullptr;
    HandleTable* table_ = nullptr;
    Slot* counted_ = nullptr;
  };

  template <typename T>
  class Pin {
   public:
    explicit Pin(AnyPin&& pin) : pin_(std::move(pin)) {}
    explicit operator bool() const { return get() != nullptr; }
    T* operator->() const { return get(); }
    T& operator*() const { return *get(); }

   private:
    // Objects of another kind are not found.
    T* get() const {
      Object* const object = pin_.get();
      return object != nullptr && object->kind() == T::kKind ? static_cast<T*>(object) : nullptr;
    }
    AnyPin pin_;
  };

  // 0 where 2^24 objects exist.
  uint64_t add(std::unique_ptr<Object> object);

  template <typename T>
  Pin<T> find(uint64_t handle, Lifetime lifetime) {
    return Pin<T>(find_any(handle, lifetime));
  }

  // Whether there was one.
  template <typename T>
  bool remove(uint64_t handle) {
    const Pin<T> object = find<T>(handle, Lifetime::pinned);
    return object && retire(handle);
  }
  void clear();

 private:
  // A slot's state, from the lowest bit: 28 bits of pins, two of status, the generation.
  static constexpr uint64_t kStatusUnit = uint64_t{1} << 28;
  static constexpr uint64_t kPins = kStatusUnit - 1;
  static constexpr uint64_t kFree = 0;
  static constexpr uint64_t kLive = 1;
  static constexpr uint64_t kRetired = 2;
  static constexpr uint64_t kGenerationUnit = kStatusUnit << 2;
  // A handle, from the lowest bit: 24 bits of the slot's number, the generation.
  static constexpr uint64_t kSlots = uint64_t{1} << 24;
  static constexpr uint64_t kChunk = 4096;

  struct Slot {
    std::atomic<uint64_t> state = 0;
    Object* object = nullptr;
    uint32_t number = 0;
  };

  // What the state was. With one thread alone, a locked instruction would be a tenth of an
  // operation.
  static uint64_t add_pins(Slot& at, uint64_t pins, std::memory_order order) {
    if (__libc_single_threaded == 0) return at.state.fetch_add(pins, order);
    const uint64_t before = at.state.load(std::memory_order_relaxed);
    at.state.store(before + pins, std::memory_order_relaxed);
    return before;
  }

  static uint64_t live_state(uint64_t handle) { return (handle / kSlots) << 2 | kLive; }

  Slot* slot(uint64_t handle) const {
    const uint64_t number = handle % kSlots;
    Slot* const chunk = chunks_[number / kChunk].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : chunk + number % kChunk;
  }

  AnyPin find_any(uint64_t handle, Lifetime lifetime) {
    AnyPin pin;
    Slot* const at = slot(handle);
    if (at == nullptr) return pin;
    if (lifetime == Lifetime::held_by_caller) {
      if (at->state.load(std::memory_order_acquire) / kStatusUnit == live_state(handle)) {
        pin.object_ = at->object;
      }
      return pin;
    }
    pin.table_ = this;
    pin.counted_ = at;
    // Counted first: what is live then stays. Of another generation, the count is taken back.
    if (add_pins(*at, 1, std::memory_order_acquire) / kStatusUnit == live_state(handle)) {
      pin.object_ = at->object;
    }
    return pin;
  }

  void release(Slot& at) {
    const uint64_t state = add_pins(at, -uint64_t{1}, std::memory_order_acq_rel) - 1;
    if ((state & (kPins | 3 * kStatusUnit)) == kRetired * kStatusUnit) [[unlikely]] {
      destroy(at, state);
    }
  }
  bool retire(uint64_t handle);
  // A retired slot's object, unless its state is another one meanwhile.
  void destroy(Slot& at, uint64_t state);

  std::array<std::atomic<Slot*>, kSlots / kChunk> chunks_{};
  // The rest is for add() and destroy().
  ForkSafeMutex mutex_;
  std::vector<uint32_t> free_;
  uint64_t next_ = 1;
};

}  // namespace hoist::graph::ffi
