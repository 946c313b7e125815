// What all threads of one call of Transfer (device/transfer.h) share: the chunks that are left, the
// first error, the caller's wishes.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <optional>

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
  // Memory is short, and this takes none.
  void fail_for_memory() noexcept;
  bool has_failed() const { return has_failed_.load(std::memory_order_acquire); }
  Status result() const;

 protected:
  ~TransferState() = default;

  const TransferRequest& request() const { return request_; }
  // Does what calls the caller's functions: what they throw is the transfer's error. Nothing leaves
  // it, as other threads use what the caller's stack holds.
  template <typename Work>
  void guard(const Work& work) noexcept {
    try {
      work();
    } catch (const std::bad_alloc&) {
      fail_for_memory();
    } catch (const std::exception& error) {
      fail_with(error);
    }
  }

  // Nothing: all are taken, or nobody wants the rest.
  std::optional<Chunk> take(Chunks& chunks);
  // Whether nobody wants the rest. Looks at the caller's stop token, too.
  bool is_over();
  void arrived(uint64_t bytes);

 private:
  void fail_with(const std::exception& error) noexcept;

  const TransferRequest& request_;
  mutable std::mutex mutex_;
  std::optional<Error> error_;
  std::atomic<bool> has_failed_ = false;
  std::atomic<bool> lacks_memory_ = false;
};

}  // namespace hoist::device
