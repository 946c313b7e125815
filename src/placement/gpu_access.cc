#include "placement/gpu_access.h"

#include <chrono>
#include <utility>

#include "device/device.h"
#include "device/remote/remote_device.h"
#include "device/remote/start.h"

namespace hoist::placement {

Status find_gpu() {
  const Result<device::Device*> gpu = device::find_device("cuda");
  return gpu ? Status() : gpu.error();
}

Result<std::function<Status()>> lend_gpu(const std::string& socket) {
  const Result<device::Device*> gpu = device::find_device("cuda");
  if (gpu && (*gpu)->properties().exclusive) {
    return fail(ErrorCode::unavailable, "the GPU is for one process at a time");
  }
  device::remote::StartOptions start;
  start.device = "cuda";
  start.socket = socket;
  start.idle = std::chrono::seconds(1);
  start.wait = std::chrono::seconds(5);
  if (const Status started = device::remote::start_private_daemon(start); !started) {
    return started.error();
  }
  device::remote::ConnectOptions options;
  options.path = socket;
  options.pool_size = uint64_t{16} << 20;
  auto connected = device::remote::RemoteDevice::connect(options);
  if (!connected) return connected.error();
  return [client = std::move(*connected)]() -> Status {
    if (!client->connection().lost()) return {};
    return fail(ErrorCode::unavailable, "hoistd ended while it was measured");
  };
}

}  // namespace hoist::placement
