#include "tensors/gpu/checksum_gpu.h"

#include <algorithm>
#include <utility>

#include "device/kernel.h"
#include "tensors/gpu/checksum_job.h"
#include "tensors/gpu/kernel_arguments.h"

namespace hoist::tensors {
namespace {

constinit const device::Kernel<const ChecksumJob*, uint32_t, uint32_t> check_pieces(
    "hoist_cuda_tensors_check", "checksums");

}  // namespace

Result<ChecksumGpu> ChecksumGpu::create(device::PinnedPool& pool, size_t pieces) {
  ChecksumGpu checks(pool);
  Result<device::Buffer> flags =
      device::Buffer::allocate(pool.device(), std::max<size_t>(pieces, 1) * sizeof(uint32_t));
  if (!flags) return flags.error();
  if (Status cleared = flags->fill(std::byte{0}); !cleared) return cleared.error();
  checks.flags_ = std::move(*flags);
  Result<device::PinnedBlock> report = new_report(pool, pieces, 0);
  if (!report) return report.error();
  checks.report_ = std::move(*report);
  return checks;
}

Status ChecksumGpu::check(std::span<const size_t> numbers, std::span<const DevicePiece> pieces,
                          device::Stream& stream) {
  if (pieces.empty()) return {};
  uint64_t sums = 0;
  for (const DevicePiece& piece : pieces) sums += 8 * xxh3_blocks(piece.size);
  Result<device::Buffer> scratch =
      device::Buffer::allocate(stream, std::max<uint64_t>(sums, 1) * sizeof(uint64_t));
  if (!scratch) return scratch.error();
  auto* next = static_cast<uint64_t*>(scratch->data());
  std::vector<ChecksumJob> jobs;
  uint32_t blocks = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const DevicePiece& piece = pieces[i];
    jobs.push_back({reinterpret_cast<const uint8_t*>(piece.data), piece.size, piece.checksum, next,
                    static_cast<uint32_t*>(flags_.data()) + numbers[i], blocks});
    blocks += checksum_ctas(piece.size);
    next += 8 * xxh3_blocks(piece.size);
  }
  const Result<device::Buffer> sent = send(*pool_, stream, std::as_bytes(std::span(jobs)));
  if (!sent) return sent.error();
  return check_pieces.launch(stream, static_cast<const ChecksumJob*>(sent->data()),
                             static_cast<uint32_t>(jobs.size()), blocks);
}

Status ChecksumGpu::collect(device::Stream& stream) {
  return stream.copy(report_.data(), flags_.data(), flags_.size());
}

bool ChecksumGpu::is_wrong(size_t number) const { return report_word(report_, number) != 0; }

}  // namespace hoist::tensors
