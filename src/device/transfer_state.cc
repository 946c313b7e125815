#include "device/transfer_state.h"

#include <string>
#include <utility>

namespace hoist::device {

std::optional<Chunk> TransferState::take(Chunks& chunks) {
  if (is_over()) return std::nullopt;
  return chunks.take();
}

bool TransferState::is_over() {
  if (request_.stop.stop_requested()) fail({ErrorCode::cancelled, "stopped (transfer)"});
  return has_failed();
}

void TransferState::arrived(uint64_t bytes) {
  if (request_.progress != nullptr) *request_.progress += bytes;
}

void TransferState::fail(Error error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  has_failed_.store(true, std::memory_order_release);
}

void TransferState::fail_for_memory() noexcept {
  lacks_memory_ = true;
  has_failed_.store(true, std::memory_order_release);
}

void TransferState::fail_with(const std::exception& error) noexcept try {
  fail({ErrorCode::internal, std::string(error.what()) + " (transfer)"});
} catch (const std::bad_alloc&) {
  fail_for_memory();
}

Status TransferState::result() const {
  const std::lock_guard lock(mutex_);
  if (error_) return *error_;
  if (lacks_memory_) return hoist::fail(ErrorCode::exhausted, "no memory (transfer)");
  return {};
}

}  // namespace hoist::device
