#include "ops/crc32/operation.h"

#include <fmt/core.h>

#include <memory>
#include <random>
#include <span>
#include <vector>

#include "codec/crc32.h"
#include "device/pinned_pool.h"
#include "device/transfer.h"
#include "ops/crc32/gpu/large_crc32.h"
#include "placement/room.h"
#include "takeover/gpu_hint.h"

namespace hoist::crc32 {
namespace {

enum : size_t { kCpu, kCuda };

constexpr unsigned kMemoryShare = 4;

// What a call finds ready, and what it does.
struct Work {
  Work(device::Device& device, uint64_t size)
      : bytes(size / sizeof(uint64_t) + 1), pool(device), transfer(pool) {
    std::mt19937_64 random(size);
    for (uint64_t& word : bytes) word = random();
    data = std::as_bytes(std::span(bytes)).first(size);
    crc = codec::crc32(0, data.data(), data.size());
  }

  Result<uint32_t> on_device() {
    const auto to = memory->view<std::byte>().subspan(0, data.size());
    if (Status sent = transfer.upload(data, to); !sent) return sent.error();
    const auto word = result->view<uint32_t>().subspan(0, 1);
    const auto there = memory->view<const std::byte>().subspan(0, data.size());
    if (Status done = large_crc32(*stream, Polynomial::ieee, there, 0, word); !done) {
      return done.error();
    }
    if (Status finished = stream->synchronize(); !finished) return finished.error();
    uint32_t found = 0;
    if (Status got = result->download(std::as_writable_bytes(std::span(&found, 1))); !got) {
      return got.error();
    }
    return found;
  }

  std::vector<uint64_t> bytes;
  std::span<const std::byte> data;
  uint32_t crc = 0;
  device::PinnedPool pool;
  device::Transfer transfer;
  std::optional<device::Stream> stream;
  std::optional<device::Buffer> memory;
  std::optional<device::Buffer> result;
};

}  // namespace

Result<placement::Run> prepare_on(device::Device& device, uint64_t bytes) {
  auto work = std::make_shared<Work>(device, bytes);
  auto stream = device::Stream::create(device);
  if (!stream) return stream.error();
  work->stream.emplace(std::move(*stream));
  auto memory = device::Buffer::allocate(device, bytes + sizeof(uint64_t));
  if (!memory) return memory.error();
  work->memory.emplace(std::move(*memory));
  auto result = device::Buffer::allocate(device, sizeof(uint32_t));
  if (!result) return result.error();
  work->result.emplace(std::move(*result));
  return [work](size_t implementation) -> Status {
    const Result<uint32_t> crc = implementation == kCuda
                                     ? work->on_device()
                                     : codec::crc32(0, work->data.data(), work->data.size());
    if (!crc) return crc.error();
    if (*crc == work->crc) return {};
    return fail(ErrorCode::internal, fmt::format("the CRC of {} bytes is {:08x}, not {:08x}",
                                                 work->data.size(), *crc, work->crc));
  };
}

placement::Operation operation() {
  placement::Operation operation;
  operation.name = "crc32";
  operation.note = "for comparison: calls are answered by one CPU (docs/design/placement.md)";
  operation.most_bytes = uint64_t{1} << 30;
  operation.variants = {{.name = "zlib"}};
  operation.implementations = {{.name = "cpu-1"}, {.name = "cuda"}};
  operation.prepare = [](size_t, const placement::Shape& shape,
                         const std::string&) -> Result<placement::Run> {
    if (!hoist_gpu_may_serve()) return fail(ErrorCode::unavailable, "no GPU to compare with");
    const Result<device::Device*> gpu = device::find_device("cuda:0");
    if (!gpu) return gpu.error();
    if (const Status room = placement::check_memory(shape.bytes, kMemoryShare); !room) {
      return room.error();
    }
    return prepare_on(**gpu, shape.bytes);
  };
  return operation;
}

}  // namespace hoist::crc32
