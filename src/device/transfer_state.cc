#include "device/transfer_state.h"

#include <utility>

namespace hoist::device {

std::optional<Chunk> TransferState::take() {
  if (is_over()) return std::nullopt;
  return chunks_.take();
}

bool TransferState::is_over() {
  if (request_.stop.stop_requested()) fail({ErrorCode::cancelled, "stopped (transfer)"});
  return has_failed();
}

void TransferState::arrived(uint64_t bytes) {
  if (request_.progress != nullptr) *request_.progress += bytes;
}

void TransferState::fail(Error error) {
  chunks_.stop();
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
}

bool TransferState::has_failed() const {
  const std::lock_guard lock(mutex_);
  return error_.has_value();
}

Status TransferState::result() const {
  const std::lock_guard lock(mutex_);
  if (error_) return tl::unexpected(*error_);
  return {};
}

}  // namespace hoist::device
