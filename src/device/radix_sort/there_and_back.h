// Sorting what is in host memory on a device: there, sorted, and back.
//
//   PinnedPool pool(*device);
//   Transfer transfer(pool, tuning_for(threads));
//   Status done = sort({Kind::entry, false, from, to}, *device, transfer);
//
// A device is not believed: what comes back is in order, and a sum over its elements, which no
// likely fault keeps, is that of what was sent; or it is an error. That is found out while the
// bytes are in cache, on their way. With sixteen threads that costs no time of its own.
#pragma once

#include <cstdint>
#include <span>

#include "device/radix_sort/element.h"
#include "device/transfer.h"

namespace hoist::device::radix_sort {

// For a transfer of so many threads at most: up to twice as many as move bytes that nobody looks
// at.
TransferTuning tuning_for(int threads);

struct HostCall {
  Kind kind = Kind::u32;
  bool descending = false;
  // Both as large, whole elements, aligned to them; the same memory or apart (to be given pages for
  // memory that nobody has touched takes longer than all the rest). The payloads of entries ascend:
  // by them it is found out whether entries with equal keys kept their order.
  std::span<const std::byte> from;
  std::span<std::byte> to;
  std::span<std::byte> copy = {};  // gets the elements as they were; as large, or empty
  bool only_plain = false;         // `unsupported` where there is a NaN or a -0
  bool* wrote = nullptr;           // becomes whether `to` was written to, and `copy` is whole
};

// Returns when the elements are in place, or with the first error: `exhausted` where they, twice,
// do not fit the device's memory, `corrupt` where something else came back, what the device
// answers. Nothing of `to` is written before all of `from` has been read, and `copy` is whole:
// after an error before that it is as it was, after a later one undefined.
Status sort(const HostCall& call, Device& device, Transfer& transfer);

}  // namespace hoist::device::radix_sort
