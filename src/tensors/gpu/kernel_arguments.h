// Small arrays on their way to kernels, and the words that kernels answer with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "device/buffer.h"
#include "device/pinned_pool.h"
#include "device/stream.h"

namespace hoist::tensors {

inline constexpr size_t kSentUnit = 16;
constexpr size_t whole_sent_units(size_t bytes) {
  return (bytes + kSentUnit - 1) / kSentUnit * kSentUnit;
}

// A copy of `bytes` on the device for the work that follows on the stream, which must outlive it.
// Returns without waiting for what is enqueued there; the copy waits for no other stream's, either
// (unless the device cannot address the host's memory).
Result<device::Buffer> send(device::PinnedPool& pool, device::Stream& stream,
                            std::span<const std::byte> bytes);
// The same into memory that is there, of whole units of kSentUnit bytes.
Status send_to(device::Span<std::byte> to, device::PinnedPool& pool, device::Stream& stream,
               std::span<const std::byte> bytes);

// Words that a kernel sets and a copy brings to the host; such a copy may be under way while they
// are read.
Result<device::PinnedBlock> new_report(device::PinnedPool& pool, size_t words, uint32_t value);
uint32_t report_word(const device::PinnedBlock& report, size_t index);

}  // namespace hoist::tensors
