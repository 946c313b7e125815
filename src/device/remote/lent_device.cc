#include "device/remote/lent_device.h"

#include <unistd.h>

#include <atomic>

#include "base/option_values.h"
#include "device/remote/connection.h"
#include "device/remote/futex.h"
#include "device/remote/remote_device.h"
#include "device/remote/start.h"
#include "takeover/gpu_hint.h"

namespace hoist::device::remote {
namespace {

Result<std::shared_ptr<Device>> in_process() {
  const Result<Device*> cuda = cuda_device();
  if (!cuda) return cuda.error();
  return std::shared_ptr<Device>(*cuda, [](Device*) {});  // lives as long as the process
}

// Tries that cost something are not made at every call.
class Seldom {
 public:
  bool may_try() const { return monotonic_ns() >= next_ns_; }
  void not_for(uint64_t nanoseconds) { next_ns_ = monotonic_ns() + nanoseconds; }

 private:
  std::atomic<uint64_t> next_ns_ = 0;
};

// A daemon makes its context, 0.3 s, before it answers; one that cannot is not started again soon.
bool may_start() {
  constexpr uint64_t kAgainNs = 30'000'000'000;
  static Seldom starts;
  if (::access("/dev/nvidiactl", F_OK) != 0 || !starts.may_try()) return false;
  starts.not_for(kAgainNs);
  return true;
}

// One that is stopped costs the handshake's patience.
Result<std::shared_ptr<RemoteDevice>> connect_own(uint64_t pool_size) {
  static Seldom tries;
  if (!tries.may_try()) return fail(ErrorCode::unavailable, "no hoistd: it did not answer lately");
  const uint64_t begin = monotonic_ns();
  ConnectOptions options;
  options.pool_size = pool_size;
  auto device = RemoteDevice::connect(options);
  constexpr uint64_t kLong = 100'000'000;
  const uint64_t spent = monotonic_ns() - begin;
  if (!device && spent > kLong) tries.not_for(10 * spent);
  return device;
}

Status answers_soon() { return Connection::ask({}, std::chrono::milliseconds(100)); }

}  // namespace

Result<std::shared_ptr<Device>> lent_device(const LendOptions& options) {
  const hoist_gpu_use use = gpu_use();
  if (use == HOIST_GPU_OFF) return fail(ErrorCode::unavailable, "HOIST_GPU=off");
  if (use == HOIST_GPU_INPROCESS) return in_process();
  if (hoist_gpus_are_hidden()) {
    return fail(ErrorCode::unavailable, "CUDA_VISIBLE_DEVICES hides every device");
  }
  const bool starts = options.otherwise == WithoutHoistd::start;
  const auto connect = [&]() -> Result<std::shared_ptr<RemoteDevice>> {
    if (const Status soon = starts ? Status() : answers_soon(); !soon) {
      return soon.error();
    }
    return options.own_pool > 0 ? connect_own(options.own_pool) : RemoteDevice::shared();
  };
  Result<std::shared_ptr<RemoteDevice>> remote = connect();
  const bool is_required = use == HOIST_GPU_REQUIRE;
  if (remote && !starts && !(*remote)->is_gpu() && !is_required) {
    remote = fail(ErrorCode::unavailable, "hoistd lends a CPU");
  }
  if (!remote && options.otherwise == WithoutHoistd::open) return in_process();
  if (!remote && starts && may_start()) {
    StartOptions start;
    start.device = "cuda";
    start.wait = options.wait;
    (void)start_private_daemon(start);
    if (options.wait.count() > 0) remote = connect();
  }
  if (!remote) return remote.error();
  return std::shared_ptr<Device>(std::move(*remote));
}

bool hoistd_answers() {
  const bool lends = gpu_use() != HOIST_GPU_OFF && gpu_use() != HOIST_GPU_INPROCESS;
  return lends && !hoist_gpus_are_hidden() && answers_soon();
}

}  // namespace hoist::device::remote
