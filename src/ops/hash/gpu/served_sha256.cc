#include "ops/hash/gpu/served_sha256.h"

#include <string>

#include "ops/hash/gpu/sha256_messages.h"
#include "ops/hash/gpu/sha256_request.h"

namespace hoist::hash {
namespace {

using device::remote::ServedCall;
using device::remote::ServedMemory;

Status invalid(const char* what) {
  return fail(ErrorCode::invalid_argument, std::string(what) + " (sha256 request)");
}

bool is_aligned(const ServedMemory& memory, uintptr_t to) {
  return reinterpret_cast<uintptr_t>(memory.data) % to == 0;
}

bool overlap(const ServedMemory& a, const ServedMemory& b) {
  return a.data < b.data + b.size && b.data < a.data + a.size;
}

template <typename T>
device::Span<T> span_of(const ServedCall& served, size_t range) {
  const ServedMemory& memory = served.memory[range];
  return {reinterpret_cast<T*>(memory.data), memory.size / sizeof(T), &served.device};
}

}  // namespace

ServedSha256::ServedSha256() : ServedOperation(HOIST_REQUEST_SHA256, "sha256") {}

Status ServedSha256::validate(const ServedCall& served) const {
  if (Status shape = check_shape(served, kSha256Ranges, kSha256Arguments); !shape) return shape;
  const ServedMemory& data = served.memory[kSha256Data];
  const ServedMemory& offsets = served.memory[kSha256Offsets];
  const ServedMemory& digests = served.memory[kSha256Digests];
  const uint64_t messages = served.arguments[kSha256Messages];
  const uint64_t longest = served.arguments[kSha256Longest];
  if (messages > kSha256MostMessages || longest > data.size) return invalid("too many messages");
  // Each may be as long as the longest, whatever the offsets say when they are read.
  if (longest > 0 && messages > kSha256MostBytes / longest) return invalid("too many bytes");
  if (offsets.size != messages * kSha256OffsetBytes ||
      digests.size != messages * kSha256DigestBytes || data.size % sizeof(uint32_t) != 0) {
    return invalid("sizes that do not fit the count");
  }
  // A kernel's misaligned access would be the end of the device for all clients.
  if (!is_aligned(data, 16) || !is_aligned(offsets, 8) || !is_aligned(digests, 16)) {
    return invalid("a range that is not aligned");
  }
  if (overlap(digests, data) || overlap(digests, offsets)) return invalid("ranges that overlap");
  return {};
}

Status ServedSha256::run(const ServedCall& served) const {
  return sha256_messages_apart(
      {served.device, served.stream}, span_of<const std::byte>(served, kSha256Data),
      span_of<const uint64_t>(served, kSha256Offsets), span_of<std::byte>(served, kSha256Digests),
      served.arguments[kSha256Longest]);
}

}  // namespace hoist::hash
