#include "ops/hash/gpu_slot.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "device/device.h"
#include "device/stream.h"
#include "ops/hash/gpu/sha256_request.h"

namespace hoist::hash {
namespace {

// A thread of the GPU takes about as long for its message (by its instructions 0.5 ms for 16 KiB)
// however many there are beside it, so that slots should be large. But larger ones take longer to
// get, what is read into them is in no cache any more when it is sent, and hoistd copies this much
// in one piece.
constexpr uint64_t kCopied = uint64_t{8} << 20;
constexpr size_t kMessages = 2048;

// In host memory and on the device: offsets, data, digests.
constexpr uint64_t kDataAt = kMessages * kSha256OffsetBytes;
constexpr uint64_t kDataBytes = kCopied - kDataAt;
constexpr uint64_t kDigestsAt = kDataAt + kDataBytes;
constexpr uint64_t kAllBytes = kDigestsAt + kMessages * kSha256DigestBytes;

// A slot costs some 50 µs of CPUs here and in hoistd, however little is in it.
constexpr uint64_t kWorthSending = kDataBytes / 2;
constexpr size_t kManyMessages = kMessages / 2;

Digest digest_of(std::span<const uint8_t> bytes) {
  Hasher hasher({Algorithm::sha256, kSha256DigestBytes});
  hasher.update(bytes.data(), bytes.size());
  return hasher.finish();
}

}  // namespace

uint64_t GpuSlot::host_bytes() { return kAllBytes; }

GpuSlot::~GpuSlot() {
  if (memory_ != nullptr) (void)device_->free_pinned(memory_, kAllBytes);
}

Status GpuSlot::allocate(const std::shared_ptr<device::Device>& device) {
  device_ = device;
  const Result<void*> memory = device->allocate_pinned(kAllBytes);
  if (!memory) return memory.error();
  memory_ = static_cast<std::byte*>(*memory);
  Result<device::Buffer> buffer = device::Buffer::allocate(*device, kAllBytes);
  if (!buffer) return buffer.error();
  on_device_ = *std::move(buffer);
  return {};
}

bool GpuSlot::ever_has_room(uint64_t bytes, size_t messages) {
  return bytes <= kDataBytes && messages <= kMessages;
}

bool GpuSlot::has_room(uint64_t bytes, size_t messages) const {
  return bytes <= kDataBytes - used_ && messages <= kMessages - messages_;
}

std::span<uint8_t> GpuSlot::reserve(uint64_t bytes, size_t messages) {
  auto* const at = reinterpret_cast<uint8_t*>(memory_ + kDataAt) + used_;
  used_ = std::min(used_ + aligned(bytes), kDataBytes);
  messages_ += messages;
  ++readers;
  return {at, bytes};
}

bool GpuSlot::is_worth_sending() const {
  return used_ >= kWorthSending || messages_ >= kManyMessages;
}

void GpuSlot::clear() {
  used_ = 0;
  messages_ = 0;
  filled.clear();
}

Digest GpuSlot::digest(size_t message) const {
  Digest digest;
  digest.size = kSha256DigestBytes;
  std::memcpy(digest.bytes.data(), memory_ + kDigestsAt + message * kSha256DigestBytes,
              kSha256DigestBytes);
  return digest;
}

// Each step is waited for, so that hoistd's queues for uploads, kernels and downloads work at the
// same time: what waits in one queue would wait behind other slots'.
Status GpuSlot::bring_digests() {
  Result<device::Stream> stream = device::Stream::create(*device_);
  if (!stream) return stream.error();
  auto* const offsets = reinterpret_cast<uint64_t*>(memory_);
  const auto* const data = reinterpret_cast<const uint8_t*>(memory_ + kDataAt);
  uint64_t longest = 0;
  for (size_t i = 0; i < filled.size(); ++i) {
    const std::span<const uint8_t> bytes = filled[i].bytes;
    offsets[2 * i] = static_cast<uint64_t>(bytes.data() - data);
    offsets[2 * i + 1] = offsets[2 * i] + bytes.size();
    longest = std::max<uint64_t>(longest, bytes.size());
  }
  auto* const there = static_cast<std::byte*>(on_device_.data());
  const Sha256Request call = {.data = there + kDataAt,
                              .data_bytes = used_,
                              .offsets = there,
                              .digests = there + kDigestsAt,
                              .messages = filled.size(),
                              .longest = longest};
  Status done = stream->copy(there, memory_, kDataAt + used_);
  if (done) done = stream->synchronize();
  if (done) done = request(*device_, stream->handle(), call);
  if (done) done = stream->synchronize();
  if (done) {
    done = stream->copy(memory_ + kDigestsAt, call.digests, filled.size() * kSha256DigestBytes);
  }
  const Status waited = stream->synchronize();
  return done ? waited : done;
}

Status GpuSlot::hash() {
  if (Status brought = bring_digests(); !brought) return brought;
  const size_t sample = used_ / kAlignment % filled.size();
  if (digest(sample).bytes != digest_of(filled[sample].bytes).bytes) {
    return fail(ErrorCode::corrupt, "it returned another digest");
  }
  for (size_t i = 0; i < filled.size(); ++i) filled[i].result->digest = digest(i);
  return {};
}

void GpuSlot::hash_here() const {
  for (const GpuMessage& message : filled) message.result->digest = digest_of(message.bytes);
}

}  // namespace hoist::hash
