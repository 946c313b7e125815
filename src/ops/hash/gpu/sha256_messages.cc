#include "ops/hash/gpu/sha256_messages.h"

#include <limits>

#include "ops/hash/gpu/sha256.px.h"

namespace hoist::hash {
namespace {

constexpr uint64_t kDigest = 32;
constexpr uint64_t kThreads = 128;

Error refuse(const char* what) { return fail(ErrorCode::invalid_argument, what); }

bool is_aligned(const void* data) { return reinterpret_cast<uintptr_t>(data) % 16 == 0; }

Status launch(const device::StreamView& stream, device::Span<const std::byte> data,
              device::Span<const uint64_t> offsets, device::Span<std::byte> digests,
              uint64_t messages, int64_t step, uint64_t longest) {
  if (digests.size / kDigest != messages || digests.size % kDigest != 0) {
    return refuse("each message has a digest of 32 bytes");
  }
  if (data.size % 4 != 0) return refuse("the data of messages is whole words of 4 bytes");
  if (!is_aligned(data.data) || !is_aligned(digests.data)) {
    return refuse("memory is not aligned to 16 bytes");
  }
  if (messages > std::numeric_limits<int32_t>::max() - kThreads) return refuse("too many messages");
  const auto blocks = static_cast<uint32_t>((messages + kThreads - 1) / kThreads);
  return px::kernels::sha256(stream, {{blocks, 1, 1}, {kThreads, 1, 1}},
                             {reinterpret_cast<const uint32_t*>(data.data), data.size / 4},
                             {offsets.data, offsets.size},
                             {reinterpret_cast<uint32_t*>(digests.data), digests.size / 4},
                             static_cast<int64_t>(messages), step, static_cast<int64_t>(longest));
}

}  // namespace

Status sha256_messages(const device::StreamView& stream, device::Span<const std::byte> data,
                       device::Span<const uint64_t> offsets, device::Span<std::byte> digests) {
  if (offsets.size == 0) return refuse("there is one more offset than messages");
  return launch(stream, data, offsets, digests, offsets.size - 1, 1, data.size);
}

Status sha256_messages_apart(const device::StreamView& stream, device::Span<const std::byte> data,
                             device::Span<const uint64_t> offsets, device::Span<std::byte> digests,
                             uint64_t longest) {
  if (offsets.size % 2 != 0) return refuse("each message has two offsets");
  if (longest > data.size) longest = data.size;
  return launch(stream, data, offsets, digests, offsets.size / 2, 2, longest);
}

}  // namespace hoist::hash
