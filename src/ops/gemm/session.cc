#include "ops/gemm/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include "base/option_values.h"
#include "base/per_process.h"
#include "ops/gemm/open_device.h"
#include "ops/gemm/served_gemm.h"
#include "ops/gemm/spread.h"

namespace hoist::gemm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kMakeReady = std::chrono::seconds(10);
constexpr const char* kOpening = "hoistd is making ready";
constexpr auto kAskAgain = std::chrono::milliseconds(20);

bool is_in_process() { return gpu_use() == HOIST_GPU_INPROCESS; }

// Whether the device does products at once, which is waited for.
bool make_ready(device::Device& device, std::chrono::milliseconds wait) {
  if (device.properties().kind != device::DeviceKind::remote) return true;
  const auto end = Clock::now() + wait;
  while (!ask_ready(device)) {
    if (Clock::now() >= end || !device.status()) return false;
    std::this_thread::sleep_for(kAskAgain);
  }
  return true;
}

// The process's.
struct Current {
  OpenedAside<Session> session;
  StartLimit start;
};

constinit PerProcess<Current> current;

}  // namespace

int gpu_count() {
  constexpr int kMostFiles = 64;
  int count = 0;
  for (int index = 0; index < kMostFiles; ++index) {
    count += ::access(fmt::format("/dev/nvidia{}", index).c_str(), F_OK) == 0 ? 1 : 0;
  }
  return count;
}

Session::Session(std::shared_ptr<device::Device> device)
    : first_(std::make_shared<OpenDevice>(std::move(device))) {}

Result<std::shared_ptr<Session>> Session::open(bool may_start, std::chrono::milliseconds wait) {
  auto opened = open_device(0, may_start, wait);
  if (!opened) return opened.error();
  return std::shared_ptr<Session>(new Session(std::move(*opened)));
}

Result<std::shared_ptr<Session>> Session::get(std::chrono::milliseconds wait) {
  Current& own = current.get();
  return own.session.get_now([&] { return open(own.start.may_start(), wait); });
}

Result<std::shared_ptr<Session>> Session::get_when_ready(std::chrono::milliseconds wait) {
  if (is_in_process()) return get();
  Current& own = current.get();
  const auto open_ready = [&own] {
    auto session = open(own.start.may_start(), kMakeReady);
    if (session) (void)make_ready(*(*session)->first_->device, kMakeReady);
    return session;
  };
  return own.session.get_aside(open_ready, wait, kOpening);
}

std::shared_ptr<Session::OpenDevice> Session::ready_device(size_t index,
                                                           std::chrono::milliseconds wait) {
  if (index == 0) return first_;
  Other& other = others_[index];
  if (auto usable = other.opened.get()) return usable;
  // What goes on aside may outlive this.
  const auto open_it = [index, start = other.start,
                        first = first_]() -> Result<std::shared_ptr<OpenDevice>> {
    const bool may_start = first->is_usable() && start->may_start();
    auto opened = open_device(static_cast<int>(index), may_start, kMakeReady);
    if (!opened) return opened.error();
    // One of this process that was lost stays so.
    if (Status usable = (*opened)->status(); !usable) return usable.error();
    const int major = (*opened)->properties().compute_major;
    if (major != first->device->properties().compute_major) {
      // It would end much later.
      return fail(ErrorCode::unavailable, "the devices are of different kinds");
    }
    if (!make_ready(**opened, kMakeReady)) {
      return fail(ErrorCode::unavailable, "another device's hoistd is not ready");
    }
    return std::make_shared<OpenDevice>(std::move(*opened));
  };
  auto opened = is_in_process() ? other.opened.get_now(open_it)
                                : other.opened.get_aside(open_it, wait, kOpening);
  return opened ? std::move(*opened) : nullptr;
}

int Session::devices(int wanted, std::chrono::milliseconds wait) {
  const auto most = static_cast<size_t>(std::min(wanted, kMostDevices));
  // All are begun before one is waited for, so that none waits for longer than `wait`.
  for (size_t index = 1; wait.count() > 0 && index < most; ++index) (void)ready_device(index, {});
  size_t found = 1;
  while (found < most && ready_device(found, wait) != nullptr) ++found;
  return static_cast<int>(found);
}

Status Session::run(const hoist_blas_call& call, int devices) {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<OpenDevice>> used;
  std::vector<Place> places;
  for (int index = 0; index < std::clamp(devices, 1, kMostDevices); ++index) {
    used.push_back(ready_device(static_cast<size_t>(index), {}));
    if (used.back() == nullptr) break;
    OpenDevice& found = *used.back();
    places.push_back({found.device.get(), &found.transfer, &found.resident});
  }
  const Status done = run_spread(call, places);
  if (done || done.error().code != ErrorCode::exhausted) return done;
  bool had_any = false;
  for (const auto& one : open_devices()) had_any = one->resident.drop() || had_any;
  if (!had_any) return done;
  for (Place& place : places) place.resident = nullptr;
  return run_spread(call, places);
}

std::vector<std::shared_ptr<Session::OpenDevice>> Session::open_devices() const {
  std::vector<std::shared_ptr<OpenDevice>> found = {first_};
  for (const Other& other : others_) {
    if (auto open = other.opened.get()) found.push_back(std::move(open));
  }
  return found;
}

void Session::prune() {
  const std::shared_ptr<Session> session = current.get().session.get();
  if (session == nullptr) return;
  for (const auto& open : session->open_devices()) open->resident.prune();
}

std::string Session::implementation(int devices) const {
  const bool is_served = first_->device->properties().kind == device::DeviceKind::remote;
  const char* const name = is_served ? "hoistd" : "cuda";
  return devices > 1 ? fmt::format("{}-{}", name, devices) : name;
}

}  // namespace hoist::gemm
