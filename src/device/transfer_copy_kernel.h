// A call of Transfer (device/transfer.h) whose pieces a copy kernel moves (device/copy_kernel.h).
// Each worker has some slots of the copy kernel: it fills them, or empties them, in turn.
//
//   CopyKernelRun -> start() -> CopyKernelJob::run() on every worker -> end()
#pragma once

#include <atomic>
#include <chrono>
#include <climits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/result.h"
#include "device/copy_kernel.h"
#include "device/host_end.h"
#include "device/idle_list.h"
#include "device/pinned_pool.h"
#include "device/stream.h"
#include "device/transfer_state.h"

namespace hoist::device {

// How a transfer is cut. Small pieces reach the link early, large ones cost the threads less; many
// slots keep the device busy while a worker sleeps.
struct CopyKernelShape {
  size_t piece;  // bytes
  int slots;     // of a worker
  int workers;
};
CopyKernelShape copy_kernel_shape(uint64_t size, int threads);

// The pinned memory and the stream of a copy kernel, for transfers up to a size.
class CopyKernelRun {
 public:
  // `count` is less by one at its end.
  static Result<std::unique_ptr<CopyKernelRun>> create(PinnedPool& pool,
                                                       const CopyKernelShape& largest,
                                                       std::atomic<int>& count);
  // Ends what was started.
  ~CopyKernelRun();
  CopyKernelRun(const CopyKernelRun&) = delete;
  CopyKernelRun& operator=(const CopyKernelRun&) = delete;

  bool fits(const CopyKernelShape& shape) const;
  // Behind `after`, if there is one.
  Status start(std::byte* memory, bool is_upload, const CopyKernelShape& shape, const Event* after);
  // Returns when the device is done with it; what was posted and not waited for may be undone.
  // An error: the device was lost, and the run's memory is gone.
  Status end();

  const CopyKernel& copy_kernel() const { return copy_kernel_; }
  const CopyKernelShape& shape() const { return shape_; }
  // Behind the copy kernel.
  const Event& ended() const { return ended_; }
  // The call that started it waited for its end, as a debugger or CUDA_LAUNCH_BLOCKING makes it.
  bool was_blocked() const { return was_blocked_; }

 private:
  CopyKernelRun(Stream stream, Event ended, PinnedBlock slots, PinnedBlock control,
                std::atomic<int>& count);

  Stream stream_;
  Event ended_;
  PinnedBlock slots_;
  PinnedBlock control_;
  std::atomic<int>& count_;  // of runs
  CopyKernel copy_kernel_ = {};
  CopyKernelShape shape_ = {};
  bool is_running_ = false;
  bool was_blocked_ = false;
};

// The runs of one Transfer, at most one for each direction: who comes while they are taken goes
// another way, and so does who would have to wait for the device. Thread-safe.
class CopyKernelRuns {
 public:
  static constexpr int kForAWhile = 64;  // transfers

  CopyKernelRuns(PinnedPool& pool, int threads) : pool_(pool), threads_(threads) {}

  // For a transfer of `size` bytes; null: another way is better.
  std::unique_ptr<CopyKernelRun> borrow(uint64_t size);
  void give_back(std::unique_ptr<CopyKernelRun> run) { idle_.put(std::move(run)); }
  // The next transfers go another way.
  void leave_alone() { skip(kForAWhile); }
  void leave_alone_for_good() { skip(INT_MAX); }
  // After each copy kernel, before leave_alone(): whether it was blocked (CopyKernelRun). The
  // second one in a row is no accident: no other is tried.
  void note_blocked(bool was_blocked);
  // Gives pinned memory back that nobody uses now. False: there is none.
  bool drop_idle() { return idle_.drop_all(); }

 private:
  // That many transfers, or more.
  void skip(int transfers);
  void skip_locked(int transfers);

  PinnedPool& pool_;
  const int threads_;
  std::atomic<int> count_ = 0;
  std::mutex mutex_;
  std::atomic<int> to_skip_ = 0;  // grows under the lock
  int blocked_ = 0;               // in a row, under the lock
  IdleList<CopyKernelRun> idle_;
};

class CopyKernelJob final : public TransferState {
 public:
  // One of `from` and `to` is there.
  CopyKernelJob(const TransferRequest& request, uint64_t size, Device& device,
                const CopyKernelRun& run, HostReader* from, HostWriter* to)
      : TransferState(request),
        chunks_(size, run.shape().piece),
        device_(device),
        copy_kernel_(run.copy_kernel()),
        slots_(run.shape().slots),
        ended_(run.ended()),
        from_(from),
        to_(to),
        pieces_(copy_kernel_.count),
        has_run_(static_cast<size_t>(run.shape().workers)) {}

  // Downloads: orders for all slots, so that the device does not wait for the workers' threads.
  void post_first();
  // Until then workers look for answers without sleeping between.
  void look_until(std::chrono::steady_clock::time_point end) { look_until_ = end; }
  // Works off chunks until there are none, as the copy kernel's worker of that number.
  void run(int worker);
  // Works off what was posted for workers that never ran.
  void finish_others();

  // Whether a worker waited longer than a device takes that has nothing else to do.
  bool was_late() const { return was_late_; }

 private:
  struct Piece {
    Chunk chunk;
    uint64_t number = 0;  // of the slot's orders
    bool is_posted = false;
  };

  Status work(int worker);
  Status begin(uint32_t slot, Piece& piece);
  Status finish(uint32_t slot, Piece& piece);
  Status await(uint32_t slot, const Piece& piece);
  // Where the copy kernel has left the slot.
  Status copy(uint32_t slot, const Piece& piece);
  // Whether the copy kernel still goes on. Where it ended, every slot was answered or left, unless
  // it failed.
  Status check() const;
  std::byte* slot_data(uint32_t slot) const {
    return copy_kernel_.slots + slot * copy_kernel_.slot_size;
  }

  Chunks chunks_;
  Device& device_;
  const CopyKernel& copy_kernel_;
  const int slots_;  // of a worker
  const Event& ended_;
  HostReader* const from_;
  HostWriter* const to_;
  std::chrono::steady_clock::time_point look_until_ = {};
  std::vector<Piece> pieces_;               // by slot
  std::vector<std::atomic<bool>> has_run_;  // by worker
  std::atomic<bool> was_late_ = false;
};

}  // namespace hoist::device
