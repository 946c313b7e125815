// What the daemon has done, for --status and metrics. Counters only grow; any thread may read.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace hoist::daemon {

struct OperationStatistics {
  std::atomic<uint64_t> calls = 0;
  std::atomic<uint64_t> failed = 0;
  std::atomic<uint64_t> bytes = 0;  // in all ranges; for allocations those asked for
  std::atomic<uint64_t> nanoseconds = 0;
};

class Statistics {
 public:
  // The statistics of a request's operation; all unknown numbers share one entry.
  OperationStatistics& operation(uint32_t number);

  // Calls visit(name, OperationStatistics) for each.
  template <typename Visit>
  void for_each_operation(Visit&& visit) const {
    for (size_t i = 0; i < count(); ++i) visit(name(i), operations_[i]);
  }

  // The calls of all operations.
  uint64_t calls() const;

  std::atomic<uint64_t> in_flight = 0;  // requests that were begun and not answered

  std::atomic<uint64_t> connections = 0;  // sessions begun
  std::atomic<uint64_t> refused = 0;
  std::atomic<uint64_t> broken = 0;     // sessions ended for what the client did to its ring
  std::atomic<uint64_t> cancelled = 0;  // requests whose deadline passed before their turn
  std::atomic<uint64_t> late = 0;       // requests answered after their deadline
  std::atomic<uint64_t> not_ready = 0;  // requests for what the device does not do, or not yet

 private:
  static size_t count();
  static const char* name(size_t index);

  static constexpr size_t kMost = 64;
  std::array<OperationStatistics, kMost> operations_;
};

}  // namespace hoist::daemon
