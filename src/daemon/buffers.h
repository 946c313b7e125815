// The device buffers of one client, by number. Numbers are the daemon's own and never given twice,
// so neither another client's buffer nor a freed one can be named. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/result.h"
#include "device/buffer.h"

namespace hoist::daemon {

// What all clients of one user have of the device's memory. Thread-safe.
class UserMemory {
 public:
  explicit UserMemory(uint64_t limit) : limit_(limit) {}

  // False beyond the limit: nothing was taken.
  bool take(uint64_t size);
  void give_back(uint64_t size) { bytes_.fetch_sub(size, std::memory_order_relaxed); }

 private:
  const uint64_t limit_;
  std::atomic<uint64_t> bytes_ = 0;
};

class BufferTable {
 public:
  struct Limits {
    uint64_t bytes;
    uint64_t buffers;
  };

  // It must outlive its buffers, also those that are freed and still held.
  BufferTable(Limits limits, std::shared_ptr<UserMemory> of_user)
      : limits_(limits), of_user_(std::move(of_user)) {}

  // A buffer of at least one byte, whose bytes are zero once the stream has come to it (without a
  // stream: at once). Then, and not before, publish() gives it the number by which it is found, so
  // that nobody sees what was another's. `exhausted` beyond the limits, this table's and the
  // user's, for which a buffer counts as long as it lives.
  Result<std::shared_ptr<device::Buffer>> allocate(device::Device& device,
                                                   const device::Stream* stream, uint64_t size);
  uint64_t publish(std::shared_ptr<device::Buffer> buffer);
  // The memory goes when nobody holds it any more. `not_found`.
  Status free(uint64_t number);
  void clear();
  // Null: no such.
  std::shared_ptr<device::Buffer> find(uint64_t number) const;

  const std::shared_ptr<UserMemory>& of_user() const { return of_user_; }
  uint64_t bytes() const;
  uint64_t count() const;

 private:
  Status reserve(uint64_t size);
  void give_back(uint64_t size);

  const Limits limits_;
  const std::shared_ptr<UserMemory> of_user_;
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, std::shared_ptr<device::Buffer>> buffers_;
  uint64_t bytes_ = 0;
  uint64_t reserved_ = 0;  // buffers, those that are being allocated included
  uint64_t last_ = 0;
};

}  // namespace hoist::daemon
