// Moves bytes between the host and a device at the link's speed, from memory that is not pinned,
// from files, sockets and pipes:
//
//   PinnedPool pool(*device);
//   Transfer transfer(pool);
//   Status done = transfer.upload(std::span(bytes), buffer.view());
//   done = transfer.upload(HostFile{fd, offset}, buffer.view());
//   done = transfer.download(buffer.view<const std::byte>(), HostStream{socket});
//
// A driver's own copy of pageable memory uses one core and leaves most of the link idle. Here eight
// threads at most (TransferTuning::threads), the caller among them, fill a pinned ring together,
// and the device's copy engine, or a kernel, takes what is filled (docs/design/device.md has the
// picture). A thread that waits for the link sleeps, but for the first 2 ms. Small copies go
// through one slot of the caller's or directly, and so does memory that is pinned already.
//
// Calls return when all bytes have arrived, or with the first error, and then nothing of theirs is
// still running: neither a thread nor a copy (unless the device was lost, which cannot be waited
// for; the pinned memory that it may still use is not used again). After an error the destination's
// content is undefined, a file may be partly written and a socket's position is lost.
//
// Thread-safe: several transfers, in both directions, may go on at once and share the threads.
// Functions of the caller that it is given (placements, decoding, readers) may throw what is a
// std::exception, which ends the transfer as its error. They must not wait for bytes of the same
// transfer to arrive, but for what a placement may (below).
// Both ends must stay as they are during the call; a file that is truncated is `io`, other memory
// that goes away is the fault that any access to it would be. Not usable in a child after fork().
//
// Errors: `invalid_argument` (ends of different sizes), `io` (files and sockets, with errno),
// `cancelled`, `exhausted` (no memory, pinned or not, no threads), what the device answers, and
// `internal` for what one of the caller's functions threw.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>

#include "base/result.h"
#include "device/buffer.h"
#include "device/helper_pool.h"
#include "device/host_end.h"
#include "device/idle_list.h"
#include "device/pinned_pool.h"
#include "device/stream.h"

namespace hoist::device {

// How the work is divided. The defaults are those measured best on PCIe 5
// (docs/measurements/transfers.md).
struct TransferTuning {
  int threads = 8;                         // for each direction, the caller among them
  size_t piece = size_t{128} << 10;        // bytes that one of them fills or empties at a time
  size_t largest_chunk = size_t{8} << 20;  // bytes that the copy engine is given at once
  int chunks = 3;                          // that it is given before the first of them is done
  // Bytes of pinned memory that a transfer goes through, at most: less where several go on at once.
  // Nothing: as measured best for the kind of device.
  std::optional<size_t> ring = {};
  // Bytes up to which the device's own copy is as fast. Nothing: as measured best for its kind.
  std::optional<size_t> direct = {};
  // Bytes of a piece of memory that is pinned already: large enough that its borders cost nothing,
  // small enough that a stop is noticed.
  size_t pinned_chunk = size_t{128} << 20;
  // Bytes up to which a slot of the calling thread is faster still, but for the first few copies,
  // which are not worth its memory. Nothing: as measured best for the kind of device and either
  // direction.
  std::optional<size_t> through_slot = {};
  // For so long after its start a transfer's threads look whether a chunk has arrived, later they
  // sleep between two looks.
  std::chrono::microseconds look = std::chrono::milliseconds(2);
  // Bytes up to which a copy kernel (device/copy_kernel.h) moves what is not pinned, in place of
  // the copy engine. 0: never. Nothing: as measured best for the kind of device and either
  // direction.
  std::optional<uint64_t> copy_kernel_limit = {};
  // So many of the last bytes of an upload, for each of its threads, are moved out of the cache of
  // the thread's core into the one that all share, where the device finds them sooner; of uploads
  // that have more than these not by threads that are less than that ahead of the device. Nothing:
  // as measured best for its kind.
  std::optional<size_t> demoted = {};
};

// What a call may want besides.
struct TransferRequest {
  // The device's end is ready when this event is done; null: now.
  const Event* after = nullptr;
  // Ends the transfer early, also while it waits for a socket or for `after`: `cancelled`. What is
  // on its way by then is waited for.
  std::stop_token stop = {};
  // Grows by the bytes that have arrived.
  std::atomic<uint64_t>* progress = nullptr;
  // Something is computed on the device meanwhile, from which a copy kernel (device/copy_kernel.h)
  // would take room.
  bool device_computes = false;
  // For uploads: called when the copy of `size` bytes at `offset` is on the stream, so that work
  // which is put behind it there, or behind an event of it, finds them (what a placement has left
  // out counts as copied, here and as progress). Called in ascending order, on one thread at a
  // time; for each byte once. An error ends the transfer.
  std::function<Status(uint64_t offset, size_t size, Stream& stream)> enqueued = {};
};

// Enqueues on `stream` the work that makes something of one chunk, which lies in memory of the
// device until that work is done; `offset` is its place among all bytes. It is called in ascending
// order, on one thread at a time.
using Decode = std::function<Status(Span<const std::byte> chunk, uint64_t offset, Stream& stream)>;

// Says where the bytes at `offset` go, of which `size` (TransferTuning::largest_chunk at most) are
// to be copied next: a view of as many or fewer of them (one at least), and then it is asked for
// the rest. A view of no memory (data is null) leaves its bytes out; nothing at all means "not
// yet", and the same is asked again, so it should wait a moment first: for what it knows of, or for
// bytes to arrive that lie a TransferTuning::largest_chunk or more before `offset`; later ones may
// not be on their way before it has answered. It may make the stream wait.
// It is called in ascending order, on one thread at a time, when what came before is enqueued.
using Placement =
    std::function<Result<std::optional<Span<std::byte>>>(uint64_t offset, size_t size, Stream&)>;

enum class Direction;
class CopyKernelRuns;
class StagingRings;
class TransferWorker;

class Transfer {
 public:
  // The pool, whose device it is, must outlive the transfer. No memory or thread is taken yet.
  explicit Transfer(PinnedPool& pool, const TransferTuning& tuning = {});
  // No call may be going on.
  ~Transfer();
  const TransferTuning& tuning() const { return tuning_; }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  Status upload(const HostSource& from, Span<std::byte> to, const TransferRequest& request = {});
  Status download(Span<const std::byte> from, const HostSink& to,
                  const TransferRequest& request = {});

  // Uploads `size` bytes to where `placement` says, of this transfer's device.
  Status upload_placed(const HostSource& from, uint64_t size, const Placement& placement,
                       const TransferRequest& request = {});

  // Uploads `size` bytes in chunks of `chunk` bytes, the last one shorter, each into memory that
  // lives until `decode`'s work on it is done. At most TransferTuning::largest_chunk a chunk.
  Status upload_decoded(const HostSource& from, uint64_t size, size_t chunk, const Decode& decode,
                        const TransferRequest& request = {});

 private:
  // How a relay is used.
  struct RelayUse {
    size_t piece;  // bytes
    size_t chunk;  // bytes, at most
    int threads;
  };
  RelayUse relay_use(uint64_t size, bool is_random_access, bool wants_large_pieces) const;

  Status check(const Device* device) const;
  bool is_pinned(const void* memory, uint64_t size) const;
  // What a copy kernel may do; nothing is done where it answers nothing.
  std::optional<Status> copy_kernel(HostReader* from, HostWriter* to, std::byte* memory,
                                    uint64_t size, const TransferRequest& request);
  bool may_copy_kernel(const void* memory, uint64_t size) const;
  // `make_relay(shape, ring)` makes the relay.
  template <typename MakeRelay>
  Status run_relay(uint64_t size, const RelayUse& use, const TransferRequest& request, int streams,
                   Direction direction, const MakeRelay& make_relay);
  Status upload_relayed(HostReader& reader, uint64_t size, const Placement& placement,
                        const TransferRequest& request);
  // Memory that is pinned, or little enough to be left to the driver.
  Status copy(const std::byte* from, std::byte* to, uint64_t size, const TransferRequest& request);
  Status copy_pinned(const std::byte* from, std::byte* to, uint64_t size,
                     const TransferRequest& request);
  // A worker for copies of up to `most` bytes; null: another way is better.
  std::unique_ptr<TransferWorker> worker_for_small(uint64_t size, size_t most);
  template <typename Copy>
  Status run_small(std::unique_ptr<TransferWorker> worker, uint64_t size,
                   const TransferRequest& request, const Copy& copy);
  Result<std::unique_ptr<TransferWorker>> make_worker();
  // Pinned memory that nobody uses now goes back to the pool.
  void drop_idle_rings();

  PinnedPool& pool_;
  const TransferTuning tuning_;
  const bool may_look_;  // with processors to spare
  const size_t upload_through_slot_;
  const size_t download_through_slot_;
  const uint64_t copy_kernel_up_;
  const uint64_t copy_kernel_down_;
  const pid_t owner_;
  HelperPool uploaders_;
  HelperPool downloaders_;
  const std::unique_ptr<StagingRings> staging_rings_;
  const std::unique_ptr<CopyKernelRuns> copy_kernels_;
  IdleList<TransferWorker> idle_;
  std::atomic<int> small_copies_ =
      0;  // that found no idle worker, since a worker was made for them
  std::atomic<int> small_workers_ = 0;  // made for them
  std::atomic<int> copying_ = 0;        // transfers that the copy engine works for
};

}  // namespace hoist::device
