// What all threads of one call of Transfer (device/transfer.h) share: the chunks that are left, the
// first error, the caller's wishes.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include "base/result.h"
#include "device/chunks.h"
#include "device/transfer.h"

namespace hoist::device {

class TransferState {
 public:
  // The request must outlive it.
  explicit TransferState(const TransferRequest& request) : request_(request) {}
  TransferState(const TransferState&) = delete;
  TransferState& operator=(const TransferState&) = delete;

  // The first error ends it: no more chunks are taken.
  void fail(Error error);
  bool has_failed() const { return has_failed_.load(std::memory_order_acquire); }
  Status result() const;

 protected:
  ~TransferState() = default;

  const TransferRequest& request() const { return request_; }
  // Does what calls the caller's functions: what they throw is the transfer's error.
  template <typename Work>
  void guard(const Work& work) {
    try {
      work();
    } catch (const std::bad_alloc&) {
      fail({ErrorCode::exhausted, "no memory (transfer)"});
    } catch (const std::exception& error) {
      fail({ErrorCode::internal, std::string(error.what()) + " (transfer)"});
    }
  }

  // Nothing: all are taken, or nobody wants the rest.
  std::optional<Chunk> take(Chunks& chunks);
  // Whether nobody wants the rest. Looks at the caller's stop token, too.
  bool is_over();
  void arrived(uint64_t bytes);

 private:
  const TransferRequest& request_;
  mutable std::mutex mutex_;
  std::optional<Error> error_;
  std::atomic<bool> has_failed_ = false;
};

}  // namespace hoist::device
