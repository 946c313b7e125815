// Moves bytes between the host and a device at the link's speed, from memory that is not pinned,
// from files, sockets and pipes:
//
//   PinnedPool pool(*device);
//   Transfer transfer(pool);
//   Status done = transfer.upload(std::span(bytes), buffer.view());
//   done = transfer.upload(HostFile{fd, offset}, buffer.view());
//   done = transfer.download(buffer.view<const std::byte>(), HostStream{socket});
//
// A driver's own copy of pageable memory uses one core and leaves most of the link idle. Here up to
// eight threads, the caller among them, each with a stream and two pinned slots, fill one slot
// while the other is on its way (docs/device.md has the picture and the figures). A thread that
// waits for the link sleeps, but for the first 2 ms. Small copies go through one slot of the
// caller's or directly, and so does memory that is pinned already.
//
// Calls return when all bytes have arrived, or with the first error, and then nothing of theirs is
// still running: neither a thread nor a copy (unless the device was lost, which cannot be waited
// for; the pinned memory that it may still use is not used again). After an error the destination's
// content is undefined, a file may be partly written and a socket's position is lost.
//
// Thread-safe: several transfers, in both directions, may go on at once and share the threads.
// Both ends must stay as they are during the call; a file that is truncated is `io`, other memory
// that goes away is the fault that any access to it would be. Not usable in a child after fork().
//
// Errors: `invalid_argument` (ends of different sizes), `io` (files and sockets, with errno),
// `cancelled`, `exhausted` (no pinned memory, no threads), and what the device answers.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "base/result.h"
#include "device/both_ways.h"
#include "device/buffer.h"
#include "device/crew.h"
#include "device/host_end.h"
#include "device/pinned_pool.h"
#include "device/stream.h"

namespace hoist::device {

// How the work is divided. The defaults are those measured best on PCIe 5 (docs/device.md): a copy
// of 1 MiB leaves the link idle for an eighth of its time, one of 4 MiB for a thirtieth.
struct TransferTuning {
  int threads = 8;                          // for each direction, the caller among them
  int slots = 2;                            // of each thread
  size_t smallest_chunk = size_t{1} << 20;  // bytes; multiples of 64 KiB, or both equal
  size_t largest_chunk = size_t{4} << 20;   //
  // Bytes up to which the device's own copy is as fast. Nothing: as measured best for its kind.
  std::optional<size_t> direct = {};
  // Bytes of a piece of memory that is pinned already: large enough that its borders cost nothing,
  // small enough that a stop is noticed.
  size_t pinned_chunk = size_t{128} << 20;
  // One stream for all copies of a call, else one for each thread. Nothing: as measured best, which
  // is the latter for uploads that nothing is put behind, by a hundredth.
  std::optional<bool> one_stream = {};
  // Bytes up to which a slot of the calling thread is faster still, but for the first few copies,
  // which are not worth its memory. Nothing: as measured best for the kind of device and either
  // direction.
  std::optional<size_t> through_slot = {};
  // For so long after its start a transfer's threads look whether a chunk has arrived, later they
  // sleep between two looks.
  std::chrono::microseconds look = std::chrono::milliseconds(2);
  // Bytes up to which a pump (device/pump.h) moves what is not pinned, twice as fast as the copy
  // engine up to 16 MiB. 0: never. Nothing: as measured best for the kind of device and of source.
  std::optional<uint64_t> pumped = {};
  // The same while larger transfers go in both directions at once, or did lately: two pumps get in
  // each other's way, the copy engines don't.
  uint64_t pumped_both_ways = uint64_t{128} << 20;
};

// What a call may want besides.
struct TransferRequest {
  // The device's end is ready when this event is done; null: now.
  const Event* after = nullptr;
  // Ends the transfer early, also while it waits for a socket: `cancelled`.
  std::stop_token stop = {};
  // Grows by the bytes that have arrived.
  std::atomic<uint64_t>* progress = nullptr;
  // Something is computed on the device meanwhile, from which a pump (device/pump.h) would take
  // room.
  bool device_computes = false;
  // Of upload() and upload_placed(): called when the copy of `size` bytes at `offset` is on the
  // stream, so that work which is put behind it there, or behind an event of it, finds them (what a
  // placement has left out counts as copied, here and as progress). Called on several threads at
  // once, in any order; for each byte once. An error ends the transfer.
  std::function<Status(uint64_t offset, size_t size, Stream& stream)> enqueued = {};
};

// Enqueues on `stream` the work that makes something of one chunk, which lies in memory of the
// device until that work is done; `offset` is its place among all bytes. It is called on several
// threads at once, in any order.
using Decode = std::function<Status(View<const std::byte> chunk, uint64_t offset, Stream& stream)>;

// Says where the bytes at `offset` go, of which `size` are to be copied next: a view of as many or
// fewer of them (one at least), and then it is asked for the rest. A view of no memory (data is
// null) leaves its bytes out; nothing at all means "not yet", and the same is asked again, so it
// should wait a moment first. It may make the stream wait. It is called on several threads at once,
// in any order.
using Placement =
    std::function<Result<std::optional<View<std::byte>>>(uint64_t offset, size_t size, Stream&)>;

class PumpKits;
class TransferJob;
struct TransferLane;

class Transfer {
 public:
  // The pool, whose device it is, must outlive the transfer. No memory or thread is taken yet.
  explicit Transfer(PinnedPool& pool, const TransferTuning& tuning = {});
  // No call may be going on.
  ~Transfer();
  const TransferTuning& tuning() const { return tuning_; }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  Status upload(const HostSource& from, View<std::byte> to, const TransferRequest& request = {});
  Status download(View<const std::byte> from, const HostSink& to,
                  const TransferRequest& request = {});

  // Uploads `size` bytes to where `placement` says, of this transfer's device. Chunks are taken in
  // ascending order, so a placement that waits until the work behind earlier bytes is enqueued, and
  // not for later ones, gets on.
  Status upload_placed(const HostSource& from, uint64_t size, const Placement& placement,
                       const TransferRequest& request = {});

  // Uploads `size` bytes in chunks of `chunk` bytes, the last one shorter, each into memory that
  // lives until `decode`'s work on it is done. At most TransferTuning::largest_chunk a chunk.
  Status upload_decoded(const HostSource& from, uint64_t size, size_t chunk, const Decode& decode,
                        const TransferRequest& request = {});

 private:
  Status check(const Device* device) const;
  Status run_upload(HostReader& reader, uint64_t size, const Placement& placement,
                    const TransferRequest& request, bool one_stream);
  int lanes_for(uint64_t size, size_t chunk) const;
  bool is_pinned(const void* memory, uint64_t size) const;
  // What a pump may do; nothing is done where it answers nothing.
  std::optional<Status> pump(HostReader* from, HostWriter* to, std::byte* memory, uint64_t size,
                             const TransferRequest& request);
  bool may_pump(const void* memory, uint64_t size) const;
  // `pumped` bytes, or fewer while there is another direction.
  uint64_t pumped_now(uint64_t pumped) const;
  Status run(TransferJob& job, const TransferRequest& request, Crew& crew, int lanes,
             bool one_stream);
  void help(TransferJob& job);
  Status copy(const std::byte* from, std::byte* to, uint64_t size, Crew& crew,
              const TransferRequest& request);
  // A lane for copies of up to `most` bytes; null: another way is better.
  std::unique_ptr<TransferLane> lane_for_small(uint64_t size, size_t most);
  Status upload_small(TransferLane& lane, std::span<const std::byte> from, std::byte* to);
  Status download_small(TransferLane& lane, const std::byte* from, std::span<std::byte> to);
  template <typename Copy>
  Status run_small(std::unique_ptr<TransferLane> lane, uint64_t size,
                   const TransferRequest& request, const Copy& copy);
  bool needs_slot(TransferLane& lane, std::span<const std::byte> memory) const;
  std::unique_ptr<TransferLane> take_idle();
  Result<std::unique_ptr<TransferLane>> borrow_lane();
  void return_lane(std::unique_ptr<TransferLane> lane);

  PinnedPool& pool_;
  const TransferTuning tuning_;
  const size_t direct_;
  const bool may_look_;  // with processors to spare
  const size_t upload_through_slot_;
  const size_t download_through_slot_;
  const uint64_t pumped_;
  const uint64_t pumped_of_file_;  // to the device
  const pid_t owner_;
  Crew uploaders_;
  Crew downloaders_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<TransferLane>> idle_;
  const std::unique_ptr<PumpKits> kits_;
  std::atomic<int> small_copies_ = 0;  // that found no idle lane, since a lane was made for them
  std::atomic<int> small_lanes_ = 0;   // made for them
  std::atomic<int> copying_ = 0;       // transfers that the copy engine works for
  BothWays both_ways_;                 // of transfers beyond TransferTuning::pumped_both_ways
};

}  // namespace hoist::device
