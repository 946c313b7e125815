// What all lanes of one call of Transfer (device/transfer.h) share: the chunks that are left, the
// first error, the caller's wishes.
#pragma once

#include <mutex>
#include <optional>

#include "base/result.h"
#include "device/chunks.h"
#include "device/transfer.h"

namespace hoist::device {

class TransferState {
 public:
  TransferState(const TransferRequest& request, Chunks& chunks)
      : request_(request), chunks_(chunks) {}
  TransferState(const TransferState&) = delete;
  TransferState& operator=(const TransferState&) = delete;

  // The first error ends the job: no more chunks are taken.
  void fail(Error error);
  bool has_failed() const;
  Status result() const;

 protected:
  ~TransferState() = default;

  const TransferRequest& request() const { return request_; }
  // Nothing: all are taken, or nobody wants the rest.
  std::optional<Chunk> take();
  // Whether nobody wants the rest. Looks at the caller's stop token, too.
  bool is_over();
  void arrived(uint64_t bytes);

 private:
  const TransferRequest& request_;
  Chunks& chunks_;
  mutable std::mutex mutex_;
  std::optional<Error> error_;
};

}  // namespace hoist::device
