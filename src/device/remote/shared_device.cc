// The one connection that a process's engines share.
#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "base/per_process.h"
#include "device/remote/futex.h"
#include "device/remote/remote_device.h"

namespace hoist::device::remote {
namespace {

struct Shared {
  std::mutex mutex;
  std::shared_ptr<RemoteDevice> device;
  bool connecting = false;
  Error why = {ErrorCode::unavailable, "no hoistd: another thread is connecting"};
  uint64_t retry_at_ns = 0;
};

// A child of fork() makes a connection of its own.
constinit PerProcess<Shared> shared_connection;

}  // namespace

Result<std::shared_ptr<RemoteDevice>> RemoteDevice::shared() {
  constexpr uint64_t kRetryNs = 1'000'000'000;
  Shared& ours = shared_connection.get();
  std::unique_lock lock(ours.mutex);
  if (ours.device != nullptr && !ours.device->connection().lost()) return ours.device;
  const uint64_t begin = monotonic_ns();
  if (ours.connecting || begin < ours.retry_at_ns) return ours.why;
  const std::shared_ptr<RemoteDevice> lost = std::exchange(ours.device, nullptr);
  ours.connecting = true;
  lock.unlock();
  Result<std::shared_ptr<RemoteDevice>> device = connect({});
  lock.lock();
  ours.connecting = false;
  if (device) {
    ours.device = *device;
  } else {
    // One that is stopped costs the handshake's patience: not often.
    const uint64_t end = monotonic_ns();
    ours.retry_at_ns = end + std::max(kRetryNs, 10 * (end - begin));
    ours.why = device.error();
  }
  return device;
}

}  // namespace hoist::device::remote
