// A thing of which each process has its own: a child after fork() makes a new one, because its
// parent's may have been locked, or half made, by a thread that the child has not.
//
//   constinit PerProcess<Registry> registry;                  // no guard: that could be held too
//   registry.get().add(…);
//
// Never destroyed: calls may come from static destructors.
#pragma once

#include <atomic>

#include "base/fork.h"

namespace hoist {

template <typename T>
class PerProcess {
 public:
  // Makes it with T(arguments…) where this process has none. Threads that come at once may make
  // several, of which one stays.
  template <typename... Arguments>
  T& get(const Arguments&... arguments) {
    Slot* known = current_.load(std::memory_order_acquire);
    while (known == nullptr || !known->owner.is_current()) {
      auto* const fresh = new Slot(arguments...);
      fresh->of_parent = known;
      if (current_.compare_exchange_strong(known, fresh)) return fresh->value;
      delete fresh;
    }
    return known->value;
  }

 private:
  struct Slot {
    template <typename... Arguments>
    explicit Slot(const Arguments&... arguments) : value(arguments...) {}
    const OwnerProcess owner;
    T value;
    const Slot* of_parent = nullptr;  // left as it is, and known: no leak
  };
  std::atomic<Slot*> current_ = nullptr;
};

}  // namespace hoist
