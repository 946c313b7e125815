// A call of Transfer (device/transfer.h) whose pieces a pump moves (device/pump.h). Each lane has
// some slots of the pump: it fills them, or empties them, in turn.
//
//   PumpKit -> start() -> PumpedJob::run() on every lane -> end()
#pragma once

#include <atomic>
#include <chrono>
#include <climits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/result.h"
#include "device/host_end.h"
#include "device/idle_list.h"
#include "device/pinned_pool.h"
#include "device/pump.h"
#include "device/stream.h"
#include "device/transfer_state.h"

namespace hoist::device {

// How a transfer is cut. Small pieces reach the link early, large ones cost the threads less; many
// slots keep the device busy while a lane sleeps.
struct PumpShape {
  size_t piece;  // bytes
  int slots;     // of a lane
  int lanes;
};
PumpShape pump_shape(uint64_t size, int threads);

// The pinned memory and the stream of a pump, for transfers up to a size.
class PumpKit {
 public:
  // `count` is less by one at its end.
  static Result<std::unique_ptr<PumpKit>> create(PinnedPool& pool, const PumpShape& largest,
                                                 std::atomic<int>& count);
  // Ends what was started.
  ~PumpKit();
  PumpKit(const PumpKit&) = delete;
  PumpKit& operator=(const PumpKit&) = delete;

  bool fits(const PumpShape& shape) const;
  // Behind `after`, if there is one.
  Status start(std::byte* memory, bool is_upload, const PumpShape& shape, const Event* after);
  // Returns when the device is done with it; what was posted and not waited for may be undone.
  // An error: the device was lost, and the kit's memory is gone.
  Status end();

  const Pump& pump() const { return pump_; }
  const PumpShape& shape() const { return shape_; }
  // Behind the pump.
  const Event& ended() const { return ended_; }
  // The call that started it waited for its end, as a debugger or CUDA_LAUNCH_BLOCKING makes it.
  bool was_blocked() const { return was_blocked_; }

 private:
  PumpKit(Stream stream, Event ended, PinnedBlock slots, PinnedBlock control,
          std::atomic<int>& count);

  Stream stream_;
  Event ended_;
  PinnedBlock slots_;
  PinnedBlock control_;
  std::atomic<int>& count_;  // of kits
  Pump pump_ = {};
  PumpShape shape_ = {};
  bool is_running_ = false;
  bool was_blocked_ = false;
};

// The kits of one Transfer, at most one for each direction: who comes while they are taken goes
// another way, and so does who would have to wait for the device. Thread-safe.
class PumpKits {
 public:
  static constexpr int kForAWhile = 64;  // transfers

  PumpKits(PinnedPool& pool, int threads) : pool_(pool), threads_(threads) {}

  // For a transfer of `size` bytes; null: another way is better.
  std::unique_ptr<PumpKit> borrow(uint64_t size);
  void give_back(std::unique_ptr<PumpKit> kit) { idle_.put(std::move(kit)); }
  // The next transfers go another way.
  void leave_alone() { skip(kForAWhile); }
  void leave_alone_for_good() { skip(INT_MAX); }
  // After each pump, before leave_alone(): whether it was blocked (PumpKit). The second one in a
  // row is no accident: no other is tried.
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
  IdleList<PumpKit> idle_;
};

class PumpedJob final : public TransferState {
 public:
  // One of `from` and `to` is there.
  PumpedJob(const TransferRequest& request, uint64_t size, Device& device, const PumpKit& kit,
            HostReader* from, HostWriter* to)
      : TransferState(request),
        chunks_(size, kit.shape().piece),
        device_(device),
        pump_(kit.pump()),
        slots_(kit.shape().slots),
        ended_(kit.ended()),
        from_(from),
        to_(to),
        pieces_(pump_.count),
        has_run_(static_cast<size_t>(kit.shape().lanes)) {}

  // Downloads: orders for all slots, so that the device does not wait for the lanes' threads.
  void post_first();
  // Until then lanes look for answers without sleeping between.
  void look_until(std::chrono::steady_clock::time_point end) { look_until_ = end; }
  // Works off chunks until there are none, as the pump's lane of that number.
  void run(int lane);
  // Works off what was posted for lanes that never ran.
  void finish_others();

  // Whether a lane waited longer than a device takes that has nothing else to do.
  bool was_late() const { return was_late_; }

 private:
  struct Piece {
    Chunk chunk;
    uint64_t number = 0;  // of the slot's orders
    bool is_posted = false;
  };

  Status work(int lane);
  Status begin(uint32_t slot, Piece& piece);
  Status finish(uint32_t slot, Piece& piece);
  Status await(uint32_t slot, const Piece& piece);
  // Where the pump has left the slot.
  Status copy(uint32_t slot, const Piece& piece);
  // Whether the pump still goes on. Where it ended, every slot was answered or left, unless it
  // failed.
  Status check() const;
  std::byte* slot_data(uint32_t slot) const { return pump_.slots + slot * pump_.slot_size; }

  Chunks chunks_;
  Device& device_;
  const Pump& pump_;
  const int slots_;  // of a lane
  const Event& ended_;
  HostReader* const from_;
  HostWriter* const to_;
  std::chrono::steady_clock::time_point look_until_ = {};
  std::vector<Piece> pieces_;               // by slot
  std::vector<std::atomic<bool>> has_run_;  // by lane
  std::atomic<bool> was_late_ = false;
};

}  // namespace hoist::device
