// Sorting in a device's memory, by radix on a GPU:
//
//   Status done = enqueue(stream, {Kind::i32, /*descending=*/false, data, scratch, count});
//
// Every device gives the same bytes: on the CPU device it is a stable sort, through hoistd one of
// its operations (HOIST_REQUEST_RADIX_SORT).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "device/radix_sort/element.h"
#include "device/stream.h"

namespace hoist::device::radix_sort {

struct Call {
  Kind kind = Kind::u32;
  bool descending = false;
  std::byte* data = nullptr;     // of the device, aligned to 16 bytes
  std::byte* scratch = nullptr;  // as large, apart, aligned to 16 bytes; undefined afterwards
  uint64_t count = 0;            // at most kMostElements

  uint64_t bytes() const { return count * element_size(kind); }
};
inline constexpr uint64_t kMostElements = uint64_t{1} << 40;

// Puts the sort on the stream. A GPU takes a few more bytes there (1/20 of the data at most) until
// it is done. `exhausted` without them; what the device answers.
Status enqueue(Device& device, StreamHandle stream, const Call& call);
inline Status enqueue(const Stream& stream, const Call& call) {
  return enqueue(stream.device(), stream.handle(), call);
}

// The same in host memory, plainly: what all others are checked against.
void sort_plainly(Kind kind, bool descending, std::span<std::byte> elements);

}  // namespace hoist::device::radix_sort
