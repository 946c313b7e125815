#include "daemon/statistics.h"

#include "daemon/operations.h"
#include "device/remote/ring_layout.h"

namespace hoist::daemon {
namespace {

// What is no ServedOperation comes first.
enum : size_t { kUnknown, kAllocate, kFree, kFirstServed };

}  // namespace

size_t Statistics::count() { return kFirstServed + served_operations().size(); }

const char* Statistics::name(size_t index) {
  switch (index) {
    case kUnknown:
      return "unknown";
    case kAllocate:
      return "allocate";
    case kFree:
      return "free";
    default:
      return served_operations()[index - kFirstServed]->name();
  }
}

uint64_t Statistics::calls() const {
  uint64_t sum = 0;
  for_each_operation([&](const char*, const OperationStatistics& counts) {
    sum += counts.calls.load(std::memory_order_relaxed);
  });
  return sum;
}

OperationStatistics& Statistics::operation(uint32_t number) {
  if (number == HOIST_REQUEST_ALLOCATE) return operations_[kAllocate];
  if (number == HOIST_REQUEST_FREE) return operations_[kFree];
  const auto served = served_operations();
  for (size_t i = 0; i < served.size(); ++i) {
    if (served[i]->number() == number) return operations_[kFirstServed + i];
  }
  return operations_[kUnknown];
}

}  // namespace hoist::daemon
