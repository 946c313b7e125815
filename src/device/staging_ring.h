// What a relay (device/relay.h) works with: a pinned ring, streams, and a place for each chunk that
// is on its way.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "device/buffer.h"
#include "device/fence.h"
#include "device/idle_list.h"
#include "device/pinned_pool.h"
#include "device/stream.h"

namespace hoist::device {

enum class Direction { up, down };

class StagingRing {
 public:
  static constexpr int kStreams = 2;

  // A chunk between the ring and the device.
  struct OnItsWay {
    Fence fence;     // behind it
    uint64_t end;    // the number of the piece behind its last one
    uint64_t bytes;  // of the transfer
    Buffer staged;   // on the device, of chunks that are decoded there
  };

  // For `chunks` at once, or one more, so that they are as many for each stream; without a ring.
  static Result<std::unique_ptr<StagingRing>> create(PinnedPool& pool, size_t chunks);
  // A ring of `size` bytes.
  Status make_ring(PinnedPool& pool, size_t size);

  std::span<std::byte> bytes() const { return {ring_.data(), ring_.size()}; }
  std::vector<OnItsWay>& chunks() { return chunks_; }
  // The direction of the transfer that has it, or had it last.
  Direction direction() const { return direction_; }
  Stream& stream(size_t number) { return streams_[number % streams_.size()]; }

  // Waits for what is on its way on the first `used` streams; an error: the device was lost, or
  // hoistd has stopped, and then the ring's memory is gone until that is known to be over.
  Status settle(int used);

 private:
  friend class StagingRings;
  StagingRing() = default;

  std::vector<Stream> streams_;
  PinnedBlock words_;  // of the fences
  PinnedBlock ring_;
  std::vector<OnItsWay> chunks_;  // after the streams: their buffers are freed in that order
  Direction direction_ = Direction::up;
};

class StagingRings;

// A transfer's own until it is put back, for other transfers, or destroyed, as it must be when it
// is not sound any more.
class LentRing {
 public:
  LentRing(LentRing&& other) noexcept { *this = std::move(other); }
  LentRing& operator=(LentRing&& other) noexcept;
  LentRing(const LentRing&) = delete;
  LentRing& operator=(const LentRing&) = delete;
  ~LentRing();

  StagingRing& operator*() const { return *ring_; }
  StagingRing* operator->() const { return ring_.get(); }
  void put_back();

 private:
  friend class StagingRings;
  explicit LentRing(StagingRings& rings);

  StagingRings* rings_ = nullptr;
  int others_ = 0;  // that were lent before
  std::unique_ptr<StagingRing> ring_;
};

// Those of one Transfer. A transfer has one to itself, and the more go on at once, the smaller are
// their rings: they share the link. Thread-safe.
class StagingRings {
 public:
  // Rings of up to `ring` bytes, for `chunks` at once.
  StagingRings(PinnedPool& pool, size_t ring, size_t chunks)
      : pool_(pool), ring_(ring), chunks_(chunks) {}

  // For a transfer of `size` bytes: `piece` bytes or more. One that went the same way before, if
  // there is one. Where pinned memory is short the ring is smaller than it should be, or
  // `exhausted`.
  Result<LentRing> borrow(uint64_t size, size_t piece, Direction direction);
  // Gives pinned memory back that nobody uses now.
  void drop_idle() { idle_.drop_all(); }

 private:
  friend class LentRing;
  // Transfers that don't try to get a larger ring again.
  static constexpr int kWithoutMemory = 64;

  Result<std::unique_ptr<StagingRing>> find(uint64_t size, size_t piece, Direction direction,
                                            int others);
  Result<std::unique_ptr<StagingRing>> make(size_t wanted, size_t piece);

  PinnedPool& pool_;
  const size_t ring_;
  const size_t chunks_;
  IdleList<StagingRing> idle_;
  std::atomic<int> lent_ = 0;
  std::atomic<int> to_skip_ = 0;
};

}  // namespace hoist::device
