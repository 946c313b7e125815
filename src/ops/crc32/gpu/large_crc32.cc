#include "ops/crc32/gpu/large_crc32.h"

#include <algorithm>

#include "ops/crc32/gpu/crc32.px.h"

namespace hoist::crc32 {
namespace {

constexpr uint32_t kThreads = 512;
constexpr uint64_t kStep = uint64_t{kThreads} * 64;  // bytes of a block of threads
// Those that a multiprocessor of most GPUs has room for at a time, by registers.
constexpr uint64_t kBlocksOfAProcessor = 2;

Error refuse(const char* what) { return fail(ErrorCode::invalid_argument, what); }

}  // namespace

Status large_crc32(const device::Stream& stream, Polynomial polynomial,
                   device::Span<const std::byte> data, uint32_t crc,
                   device::Span<uint32_t> result) {
  if (reinterpret_cast<uintptr_t>(data.data) % 16 != 0) {
    return refuse("the data is not aligned to 16 bytes");
  }
  if (result.size != 1) return refuse("a CRC is one word");
  device::Device& device = stream.device();
  if (Status zeroed = device.fill(result.data, std::byte{0}, sizeof crc, stream.handle());
      !zeroed) {
    return zeroed;
  }
  const auto processors = static_cast<uint64_t>(std::max(device.properties().multiprocessors, 1));
  const uint64_t steps = std::max<uint64_t>((data.size + kStep - 1) / kStep, 1);
  const uint64_t most = processors * kBlocksOfAProcessor;
  const uint64_t of_each = (steps + most - 1) / most;
  const auto blocks = static_cast<uint32_t>((steps + of_each - 1) / of_each);
  return px::kernels::crc32(stream, {{blocks, 1, 1}, {kThreads, 1, 1}},
                            {reinterpret_cast<const uint32_t*>(data.data), data.size / 4},
                            {reinterpret_cast<const uint8_t*>(data.data), data.size},
                            {result.data, 1}, crc, polynomial == Polynomial::castagnoli,
                            static_cast<int64_t>(of_each));
}

}  // namespace hoist::crc32
