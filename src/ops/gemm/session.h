// The devices that calls of this process run on, with what moves their matrices: hoistd's, or under
// HOIST_GPU=inprocess the machine's GPUs, in contexts of the program's own.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>

#include "device/transfer.h"
#include "ops/gemm/call.h"
#include "ops/gemm/residency.h"

namespace hoist::gemm {

// GPUs of this machine, by their device files.
int gpu_count();

class Session {
 public:
  struct Current;  // the process's

  // The first call connects, or makes the context; in a child after fork() a new one is made.
  // Where no hoistd answers and there is a GPU, one is started: within `wait` it is waited for,
  // else a later call finds it. `unavailable` with the reason where there is no device.
  static Result<std::shared_ptr<Session>> get(std::chrono::milliseconds wait = {});
  // The same for who has another way meanwhile: to connect, start a hoistd and have it ready for
  // products takes up to a second, which goes by on a thread aside. `unavailable` until then; for
  // up to `wait` it is waited for. Under HOIST_GPU=inprocess the calling thread does it: a context
  // that is being made must not see the end of its process.
  static Result<std::shared_ptr<Session>> get_when_ready(std::chrono::milliseconds wait);

  // Whether a GPU is behind it: a hoistd may lend a CPU, for tests.
  bool has_gpu() const { return first_->device->properties().compute_major > 0; }

  // How many of `wanted` devices there are, at least 1. Those behind the first are found or started
  // as the first one is: GPU n has a hoistd of its own, at the first one's socket path with ".n"
  // behind it.
  int devices(int wanted, std::chrono::milliseconds wait = {});

  // spread.h, over as many of `devices` as there are; one call at a time, others wait: two that
  // share the link end later than one after the other.
  Status run(const hoist_blas_call& call, int devices = 1);

  // Frees the copies of matrices that the program keeps no longer (residency.h), where this process
  // has a session.
  static void prune();

  // "cuda", or "hoistd" for one that is served; with "-2" for two devices, and so on.
  std::string implementation(int devices) const;

  static constexpr int kMostDevices = 8;

 private:
  struct Lane {
    explicit Lane(std::shared_ptr<device::Device> where)
        : device(std::move(where)), pool(*device), transfer(pool), resident(KeptRanges::get()) {}
    const std::shared_ptr<device::Device> device;
    device::PinnedPool pool;
    device::Transfer transfer;
    ResidentMatrices resident;
  };

  explicit Session(std::shared_ptr<device::Device> device);
  Lane* lane(size_t index, std::chrono::milliseconds wait);
  static bool is_usable(const std::shared_ptr<Session>& session);
  static Result<std::shared_ptr<Session>> open_session(bool may_start,
                                                       std::chrono::milliseconds wait);
  static void open_aside(Current& own) noexcept;
  bool drop_resident();
  void prune_resident();

  const std::unique_ptr<Lane> first_;
  std::mutex mutex_;
  // Guards what follows; not held while something runs.
  std::mutex others_mutex_;
  std::array<std::shared_ptr<Lane>, kMostDevices> others_;  // [0] stays empty
  std::array<std::chrono::steady_clock::time_point, kMostDevices> tried_;
};

}  // namespace hoist::gemm
