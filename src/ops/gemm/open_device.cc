#include "ops/gemm/open_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <string>

#include "base/option_values.h"
#include "device/remote/message.h"
#include "device/remote/remote_device.h"
#include "device/remote/start.h"
#include "takeover/gpu_hint.h"

namespace hoist::gemm {
namespace {

using device::Device;
using device::remote::RemoteDevice;

void start(const std::string& device, const std::string& socket, std::chrono::milliseconds wait) {
  device::remote::StartOptions options;
  options.device = device;
  options.socket = socket;
  options.wait = wait;
  (void)device::remote::start_private_daemon(options);
}

Result<std::shared_ptr<RemoteDevice>> first_remote(bool may_start, std::chrono::milliseconds wait) {
  Result<std::shared_ptr<RemoteDevice>> remote = RemoteDevice::shared();
  if (remote || !may_start) return remote;
  start("cuda", "", wait);
  return wait.count() > 0 ? RemoteDevice::connect({}) : remote;
}

// The hoistd of GPU `index`, beside the first one's socket.
Result<std::shared_ptr<RemoteDevice>> other_remote(int index, bool may_start,
                                                   std::chrono::milliseconds wait) {
  device::remote::ConnectOptions options;
  const auto connect = [&] {
    Result<std::shared_ptr<RemoteDevice>> remote =
        fail(ErrorCode::unavailable, "no hoistd: no socket path");
    for (const std::string& path : device::remote::socket_paths()) {
      options.path = fmt::format("{}.{}", path, index);
      remote = RemoteDevice::connect(options);
      if (remote) break;
    }
    return remote;
  };
  Result<std::shared_ptr<RemoteDevice>> remote = connect();
  if (remote || !may_start) return remote;
  const std::string first = device::remote::socket_paths().front();
  start(fmt::format("cuda:{}", index), fmt::format("{}.{}", first, index), wait);
  return wait.count() > 0 ? connect() : remote;
}

}  // namespace

bool StartLimit::may_start() {
  constexpr auto kAgain = std::chrono::seconds(30);
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  const bool is_time = !started_ || now - *started_ > kAgain;
  const bool has_driver = ::access("/dev/nvidiactl", F_OK) == 0;
  if (is_time && has_driver) started_ = now;
  return is_time && has_driver;
}

Result<std::shared_ptr<Device>> open_device(int index, bool may_start,
                                            std::chrono::milliseconds wait) {
  const hoist_gpu_use use = gpu_use();
  if (use == HOIST_GPU_OFF) return fail(ErrorCode::unavailable, "HOIST_GPU=off");
  if (use == HOIST_GPU_INPROCESS) {
    const Result<Device*> cuda = device::cuda_device(index);
    if (!cuda) return cuda.error();
    // Devices of this process live as long as it does.
    return std::shared_ptr<Device>(*cuda, [](Device*) {});
  }
  if (hoist_gpus_are_hidden()) {
    return fail(ErrorCode::unavailable, "CUDA_VISIBLE_DEVICES hides every device");
  }
  auto remote = index == 0 ? first_remote(may_start, wait) : other_remote(index, may_start, wait);
  if (!remote) return remote.error();
  return std::shared_ptr<Device>(std::move(*remote));
}

}  // namespace hoist::gemm
