#include "tensors/gpu/kernel_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "device/kernel.h"

namespace hoist::tensors {
namespace {

constinit const device::Kernel<void*, const void*, uint64_t> fetch("hoist_cuda_tensors_fetch",
                                                                   "copy of arguments");

}  // namespace

Status send_to(device::Span<std::byte> to, device::PinnedPool& pool, device::Stream& stream,
               std::span<const std::byte> bytes) {
  if (whole_sent_units(bytes.size()) > to.size) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} bytes for kernels do not fit {}", bytes.size(), to.size));
  }
  constexpr size_t kLargestPiece = size_t{1} << 20;  // pinned blocks that others use, too
  for (size_t done = 0; done < bytes.size();) {
    const auto piece = bytes.subspan(done, std::min(bytes.size() - done, kLargestPiece));
    const size_t size = whole_sent_units(piece.size());
    Result<device::PinnedBlock> block = pool.allocate(size);
    if (!block) return block.error();
    Result<device::Event> sent = device::Event::create(stream.device());
    if (!sent) return sent.error();
    std::memcpy(block->data(), piece.data(), piece.size());
    Status status = fetch.launch(stream, to.data + done, block->data(), size);
    if (status) status = sent->record(stream);
    if (!status) {
      (void)stream.synchronize();  // the block may be read still
      return status;
    }
    block->release_after(std::move(*sent));
    done += piece.size();
  }
  return {};
}

Result<device::Buffer> send(device::PinnedPool& pool, device::Stream& stream,
                            std::span<const std::byte> bytes) {
  Result<device::Buffer> buffer = device::Buffer::allocate(stream, whole_sent_units(bytes.size()));
  if (!buffer) return buffer;
  if (Status sent = send_to(buffer->view(), pool, stream, bytes); !sent) {
    return sent.error();
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
