#include "daemon/buffers.h"

#include <algorithm>
#include <utility>

namespace hoist::daemon {

using device::Buffer;

bool UserMemory::take(uint64_t size) {
  uint64_t bytes = bytes_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_ || size > limit_ - bytes) return false;
  } while (!bytes_.compare_exchange_weak(bytes, bytes + size, std::memory_order_relaxed));
  return true;
}

Result<std::shared_ptr<Buffer>> BufferTable::allocate(device::Device& device,
                                                      const device::Stream* stream, uint64_t size) {
  size = std::max<uint64_t>(size, 1);
  // Before the device is asked: threads that ask at once share the limit.
  if (Status fits = reserve(size); !fits) return fits.error();
  Result<Buffer> buffer =
      stream != nullptr ? Buffer::allocate(*stream, size) : Buffer::allocate(device, size);
  Status done;
  if (!buffer) {
    done = buffer.error();
  } else {
    done = device.fill(buffer->data(), std::byte{0}, size,
                       stream != nullptr ? stream->handle() : device::StreamHandle{});
  }
  if (!done) {
    give_back(size);
    return done.error();
  }
  return std::shared_ptr<Buffer>(new Buffer(std::move(*buffer)), [this, size](Buffer* ended) {
    delete ended;
    give_back(size);
  });
}

uint64_t BufferTable::publish(std::shared_ptr<Buffer> buffer) {
  const std::lock_guard lock(mutex_);
  buffers_.emplace(++last_, std::move(buffer));
  return last_;
}

Status BufferTable::reserve(uint64_t size) {
  const std::lock_guard lock(mutex_);
  if (size > limits_.bytes - bytes_ || reserved_ >= limits_.buffers) {
    return fail(ErrorCode::exhausted, "no more device memory for this client (its limit)");
  }
  if (!of_user_->take(size)) {
    return fail(ErrorCode::exhausted, "no more device memory for this user (hoistd)");
  }
  bytes_ += size;
  ++reserved_;
  return {};
}

void BufferTable::give_back(uint64_t size) {
  const std::lock_guard lock(mutex_);
  of_user_->give_back(size);
  bytes_ -= size;
  --reserved_;
}

Status BufferTable::free(uint64_t number) {
  std::shared_ptr<Buffer> freed;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    const auto found = buffers_.find(number);
    if (found == buffers_.end()) return fail(ErrorCode::not_found, "no such buffer (request)");
    freed = std::move(found->second);
    buffers_.erase(found);
  }
  return {};
}

void BufferTable::clear() {
  std::unordered_map<uint64_t, std::shared_ptr<Buffer>> freed;
  const std::lock_guard lock(mutex_);
  freed.swap(buffers_);
}

std::shared_ptr<Buffer> BufferTable::find(uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto found = buffers_.find(number);
  return found == buffers_.end() ? nullptr : found->second;
}

uint64_t BufferTable::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

uint64_t BufferTable::count() const {
  const std::lock_guard lock(mutex_);
  return buffers_.size();
}

}  // namespace hoist::daemon
