#include "device/radix_sort/served_radix_sort.h"

#include "device/remote/ring_layout.h"

namespace hoist::device::radix_sort {
namespace {

using remote::ServedCall;
using remote::ServedMemory;

// The request's arguments, by position.
enum Argument : size_t { kKind, kDescending, kCount, kArguments };
constexpr uintptr_t kAlignment = 16;

Status invalid(const char* what) {
  return fail(ErrorCode::invalid_argument, std::string(what) + " (radix sort request)");
}

Call parse(const ServedCall& served) {
  return {static_cast<Kind>(served.arguments[kKind]), served.arguments[kDescending] != 0,
          served.memory[0].data, served.memory[1].data, served.arguments[kCount]};
}

}  // namespace

ServedRadixSort::ServedRadixSort() : ServedOperation(HOIST_REQUEST_RADIX_SORT, "radix_sort") {}

Status ServedRadixSort::validate(const ServedCall& served) const {
  if (Status shape = check_shape(served, 2, kArguments); !shape) return shape;
  if (served.arguments[kKind] >= kKinds || served.arguments[kDescending] > 1) {
    return invalid("no such kind or order of elements");
  }
  if (served.arguments[kCount] > kMostElements) return invalid("too many elements");
  const Call call = parse(served);
  const ServedMemory& data = served.memory[0];
  const ServedMemory& scratch = served.memory[1];
  if (data.size != call.bytes() || scratch.size != call.bytes()) {
    return invalid("sizes that do not fit its count");
  }
  if (data.data < scratch.data + scratch.size && scratch.data < data.data + data.size) {
    return invalid("ranges that overlap");
  }
  for (const ServedMemory& memory : served.memory) {
    if (reinterpret_cast<uintptr_t>(memory.data) % kAlignment != 0) {
      return invalid("a range that is not aligned to 16 bytes");
    }
  }
  return {};
}

Status ServedRadixSort::run(const ServedCall& served) const {
  return enqueue(served.device, served.stream, parse(served));
}

Status request(Device& device, StreamHandle stream, const Call& call) {
  return device.run_served(
      stream, HOIST_REQUEST_RADIX_SORT, {{call.data, call.bytes()}, {call.scratch, call.bytes()}},
      {static_cast<uint64_t>(call.kind), call.descending ? 1U : 0U, call.count}, {});
}

}  // namespace hoist::device::radix_sort
