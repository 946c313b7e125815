#include "ops/gemm/session.h"

#include <strings.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>

#include "base/options.h"
#include "device/remote/remote_device.h"
#include "device/remote/start.h"
#include "ops/gemm/run.h"

namespace hoist::gemm {
namespace {

using device::Device;
using device::remote::RemoteDevice;

// A daemon makes its context, 0.3 s, before it answers; one that cannot is not tried at every call.
constexpr auto kStartAgain = std::chrono::seconds(30);

// What this process has, made anew in a child.
struct Current {
  std::mutex mutex;
  pid_t owner = 0;
  std::shared_ptr<Session> session;
  std::optional<std::chrono::steady_clock::time_point> started;  // a hoistd
};

// Never destroyed: calls may come from static destructors. A child that was forked while another
// thread held the lock gets a new one.
std::atomic<Current*> current = nullptr;

Current& this_process() {
  Current* known = current.load(std::memory_order_acquire);
  while (known == nullptr || known->owner != ::getpid()) {
    auto* const fresh = new Current;
    fresh->owner = ::getpid();
    if (current.compare_exchange_strong(known, fresh)) return *fresh;  // a parent's is abandoned
    delete fresh;
  }
  return *known;
}

}  // namespace

Session::Session(std::shared_ptr<device::Device> device)
    : device_(std::move(device)), pool_(*device_), transfer_(pool_) {}

Result<std::shared_ptr<Device>> Session::open(std::chrono::milliseconds wait, bool may_start) {
  const char* const where = option_text(OptionId::gpu);
  if (::strcasecmp(where, "off") == 0) return fail(ErrorCode::unavailable, "HOIST_GPU=off");
  if (::strcasecmp(where, "inprocess") == 0) {
    const Result<Device*> cuda = device::cuda_device();
    if (!cuda) return tl::unexpected(cuda.error());
    // Devices of this process live as long as it does.
    return std::shared_ptr<Device>(*cuda, [](Device*) {});
  }
  Result<std::shared_ptr<RemoteDevice>> remote = RemoteDevice::shared();
  if (!remote && may_start) {
    device::remote::StartOptions options;
    options.device = "cuda";
    options.wait = wait;
    (void)device::remote::start_private_daemon(options);
    if (wait.count() > 0) remote = RemoteDevice::connect({});
  }
  if (!remote) return tl::unexpected(remote.error());
  return std::shared_ptr<Device>(std::move(*remote));
}

Result<std::shared_ptr<Session>> Session::get(std::chrono::milliseconds wait) {
  Current& own = this_process();
  const std::lock_guard lock(own.mutex);
  if (own.session != nullptr && own.session->device_->status()) return own.session;
  const auto now = std::chrono::steady_clock::now();
  const bool may_start =
      (!own.started || now - *own.started > kStartAgain) && ::access("/dev/nvidiactl", F_OK) == 0;
  if (may_start) own.started = now;
  auto opened = open(wait, may_start);
  if (!opened) return tl::unexpected(opened.error());
  own.session = std::shared_ptr<Session>(new Session(std::move(*opened)));
  return own.session;
}

Status Session::run(const hoist_blas_call& call) {
  const std::lock_guard lock(mutex_);
  return gemm::run(call, *device_, transfer_);
}

const char* Session::implementation() const {
  return device_->properties().kind == device::DeviceKind::remote ? "hoistd" : "cuda";
}

}  // namespace hoist::gemm
