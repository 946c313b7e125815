// The devices that calls of this process run on, with what moves their matrices: hoistd's, or under
// HOIST_GPU=inprocess the machine's GPUs, in contexts of the program's own.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/transfer.h"
#include "ops/gemm/call.h"
#include "ops/gemm/open_device.h"
#include "ops/gemm/opened_aside.h"
#include "ops/gemm/residency.h"

namespace hoist::gemm {

// GPUs of this machine, by their device files.
int gpu_count();

class Session {
 public:
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

  // Can still be used; what was lost is opened again by get().
  bool is_usable() const { return first_->is_usable(); }

  // How many of `wanted` devices there are, at least 1. Those behind the first are found or started
  // as the first one is, aside, and waited for until `wait` after that began: GPU n has a hoistd of
  // its own, at the first one's socket path with ".n" behind it.
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
  struct OpenDevice {
    explicit OpenDevice(std::shared_ptr<device::Device> where)
        : device(std::move(where)), pool(*device), transfer(pool), resident(KeptRanges::get()) {}
    bool is_usable() const { return device->status().has_value(); }

    const std::shared_ptr<device::Device> device;
    device::PinnedPool pool;
    device::Transfer transfer;
    ResidentMatrices resident;
  };
  // A device behind the first.
  struct Other {
    OpenedAside<OpenDevice> opened;
    std::shared_ptr<StartLimit> start = std::make_shared<StartLimit>();
  };

  explicit Session(std::shared_ptr<device::Device> device);
  // Null where there is none now.
  std::shared_ptr<OpenDevice> ready_device(size_t index, std::chrono::milliseconds wait);
  std::vector<std::shared_ptr<OpenDevice>> open_devices() const;
  static Result<std::shared_ptr<Session>> open(bool may_start, std::chrono::milliseconds wait);

  const std::shared_ptr<OpenDevice> first_;
  std::mutex mutex_;
  std::array<Other, kMostDevices> others_;  // [0] is never opened
};

}  // namespace hoist::gemm
