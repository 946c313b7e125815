// A call of Transfer (device/transfer.h) by the device's copy engine. Threads of the host fill a
// pinned ring piece by piece, all at the same place of it; the engine is given what is filled, up
// to a chunk at once, whenever it is about to have nothing to do:
//
//     filled in pieces ▶▶▶▶       given in chunks ▶▶▶▶▶▶▶▶▶▶▶▶▶       done: free again
//   ┌──┬──┬──┬──┬──┬──┬──┬──┬──────────────────┬───────────────┬──┬──┬──┬──┬──┬──┬──┐
//   │  │  │▒▒│▒▒│▓▓│▒▒│▓▓│▓▓│▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓│▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓│  │  │  │  │  │  │  │
//   └──┴──┴──┴──┴──┴──┴──┴──┴──────────────────┴───────────────┴──┴──┴──┴──┴──┴──┴──┘
//
// and the same backwards. So the link starts when the first small piece is there and later gets
// chunks so large that its idle time between two of them does not count, whichever side is slower.
// One thread at a time serves the engine, gives and collects, whoever is there; the others go on,
// until the ring is full. What the caller's functions (placements, decoding) take their time for,
// the engine waits for.
//
// A thread takes the pieces of the same places again and again, as long as the others keep up: to
// write what is in another core's cache takes up to three times as long.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "device/buffer.h"
#include "device/host_end.h"
#include "device/staging_ring.h"
#include "device/stream.h"
#include "device/transfer.h"
#include "device/transfer_state.h"

namespace hoist::device {

struct RelayShape {
  size_t piece;        // bytes
  size_t chunk;        // pieces
  size_t chunks;       // on their way
  int streams;         // which chunks go down in turn: 2 where they are decoded, else 1
  int workers;         // threads
  size_t demoted = 0;  // of an upload's last bytes, for each worker (TransferTuning::demoted)
};

class Relay : public TransferState {
 public:
  Relay(const TransferRequest& request, uint64_t size, const RelayShape& shape, StagingRing& ring);
  virtual ~Relay() = default;

  // Until then threads look for what arrives (TransferTuning::look).
  void look_until(std::chrono::steady_clock::time_point end) { look_until_ = end; }
  // Before the first run(): has the device begin, where it can. Errors are noted.
  void begin();
  // On each thread, as the worker of that number: works until there is nothing left to do, the
  // first one until all has arrived. Where there are fewer threads they do the others' work.
  void run(int worker);
  // When all have returned: waits for what is on its way. False: the device was lost, and the ring
  // with it.
  bool end();

 protected:
  // The host's side of a piece: fills it, or empties it.
  virtual Status work(uint64_t offset, std::span<std::byte> piece) = 0;
  // The device's: puts a copy on the stream. `part` is a chunk, but for one that lies across the
  // ring's end, which is given in two.
  virtual Status enqueue(StagingRing::OnItsWay& chunk, Stream& stream, uint64_t offset,
                         std::span<std::byte> part) = 0;
  // Notes what has arrived; `may_sleep`: waits for the oldest chunk, as for a device or a hoistd
  // that may have stopped. Of the thread that serves.
  Status collect(bool may_sleep);
  // How many of the bytes before that one, filled or not, have not arrived.
  uint64_t not_moved_before(uint64_t offset) const;

 private:
  static constexpr size_t kLine = 64;  // bytes of a cache's

  bool is_upload() const { return ring_.direction() == Direction::up; }
  // The next piece for a worker, whose own one is `own` or later; nothing: all are taken, or nobody
  // wants the rest.
  std::optional<uint64_t> take(uint64_t& own);
  bool is_taken(uint64_t piece) const;
  void work_off(int worker);
  template <typename IsReady>
  bool wait(const IsReady& is_ready);
  void serve(bool may_sleep);
  Status give_what_is_there();
  Status give_chunk(uint64_t count);
  // How many pieces the engine should be given now.
  uint64_t next_count();
  std::span<std::byte> ring_part(uint64_t piece, uint64_t count) const;

  const uint64_t size_;
  const RelayShape shape_;
  StagingRing& ring_;
  const uint64_t pieces_;
  const uint64_t ring_pieces_;  // a multiple of the workers, but of fewer than two each
  std::chrono::steady_clock::time_point look_until_ = {};

  // By place in the ring: the number of the piece that was taken last, or worked on, plus one.
  std::vector<std::atomic<uint64_t>> taken_;
  std::vector<std::atomic<uint64_t>> worked_;
  alignas(kLine) std::atomic<uint64_t> front_ = 0;  // all pieces before are taken
  // So many pieces are on the other side: in the ring where it goes down.
  alignas(kLine) std::atomic<uint64_t> moved_ = 0;
  std::atomic<bool> is_all_given_ = false;
  alignas(kLine) std::atomic<bool> is_served_ = false;  // a thread has what follows
  uint64_t worked_until_ = 0;                           // all pieces before were worked on
  uint64_t given_ = 0;                                  // so many pieces were given to the device
  uint64_t chunks_given_ = 0;
  uint64_t chunks_moved_ = 0;
};

// Host to device.
class UploadRelay : public Relay {
 protected:
  UploadRelay(const TransferRequest& request, uint64_t size, const RelayShape& shape,
              StagingRing& ring, HostReader& from)
      : Relay(request, size, shape, ring),
        from_(from),
        demoted_(shape.demoted),
        demoted_from_(size - std::min(size, shape.demoted * static_cast<uint64_t>(shape.workers))) {
  }
  Status work(uint64_t offset, std::span<std::byte> piece) override;

 private:
  HostReader& from_;
  const size_t demoted_;
  const uint64_t demoted_from_;  // bytes
};

// To where `placement` says.
class PlacedRelay : public UploadRelay {
 public:
  PlacedRelay(const TransferRequest& request, uint64_t size, const RelayShape& shape,
              StagingRing& ring, HostReader& from, const Placement& placement)
      : UploadRelay(request, size, shape, ring, from), placement_(placement) {}

 protected:
  Status enqueue(StagingRing::OnItsWay& chunk, Stream& stream, uint64_t offset,
                 std::span<std::byte> part) override;

 private:
  Result<Span<std::byte>> place(uint64_t offset, size_t size, Stream& stream);

  const Placement& placement_;
};

// To memory of the chunk on the device, and from there wherever `decode` puts it. A piece is a
// chunk.
class DecodedRelay : public UploadRelay {
 public:
  DecodedRelay(const TransferRequest& request, uint64_t size, const RelayShape& shape,
               StagingRing& ring, HostReader& from, const Decode& decode)
      : UploadRelay(request, size, shape, ring, from), piece_(shape.piece), decode_(decode) {}

 protected:
  Status enqueue(StagingRing::OnItsWay& chunk, Stream& stream, uint64_t offset,
                 std::span<std::byte> part) override;

 private:
  const size_t piece_;
  const Decode& decode_;
};

// Device to host.
class DownloadRelay : public Relay {
 public:
  DownloadRelay(const TransferRequest& request, uint64_t size, const RelayShape& shape,
                StagingRing& ring, const std::byte* from, HostWriter& to)
      : Relay(request, size, shape, ring), from_(from), to_(to) {}

 protected:
  Status work(uint64_t offset, std::span<std::byte> piece) override;
  Status enqueue(StagingRing::OnItsWay& chunk, Stream& stream, uint64_t offset,
                 std::span<std::byte> part) override;

 private:
  const std::byte* from_;
  HostWriter& to_;
};

}  // namespace hoist::device
