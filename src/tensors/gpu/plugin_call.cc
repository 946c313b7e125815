#include "tensors/gpu/plugin_call.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace hoist::tensors {

Result<device::Buffer> send(device::PinnedPool& pool, device::Stream& stream,
                            std::span<const std::byte> bytes) {
  Result<device::Buffer> buffer = device::Buffer::allocate(stream, bytes.size());
  if (!buffer) return buffer;
  auto* to = static_cast<std::byte*>(buffer->data());
  for (size_t done = 0; done < bytes.size();) {
    const auto piece = bytes.subspan(done, std::min(bytes.size() - done, pool.kLargest));
    Result<device::PinnedBlock> block = pool.allocate(piece.size());
    if (!block) return tl::unexpected(block.error());
    Result<device::Event> sent = device::Event::create(stream.device());
    if (!sent) return tl::unexpected(sent.error());
    std::memcpy(block->data(), piece.data(), piece.size());
    Status status = stream.copy(to + done, block->data(), piece.size());
    if (status) status = sent->record(stream);
    if (!status) return tl::unexpected(status.error());
    block->release_after(std::move(*sent));
    done += piece.size();
  }
  return buffer;
}

Result<device::PinnedBlock> new_report(device::PinnedPool& pool, size_t words, uint32_t value) {
  Result<device::PinnedBlock> report = pool.allocate(std::max<size_t>(words, 1) * sizeof(uint32_t));
  if (report) std::fill_n(reinterpret_cast<uint32_t*>(report->data()), words, value);
  return report;
}

uint32_t report_word(const device::PinnedBlock& report, size_t index) {
  auto* const words = reinterpret_cast<uint32_t*>(report.data());
  return std::atomic_ref(words[index]).load(std::memory_order_acquire);
}

}  // namespace hoist::tensors
