#include "ops/gemm/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "base/per_process.h"
#include "ops/gemm/open_device.h"
#include "ops/gemm/spread.h"

namespace hoist::gemm {
namespace {

using Clock = std::chrono::steady_clock;

// A daemon makes its context, 0.3 s, before it answers; one that cannot is not tried at every call.
constexpr auto kStartAgain = std::chrono::seconds(30);
constexpr auto kConnectAgain = std::chrono::seconds(1);
constexpr auto kNever = Clock::time_point::min();

struct Current {
  std::mutex mutex;
  std::shared_ptr<Session> session;
  std::optional<Clock::time_point> started;  // a hoistd
};

constinit PerProcess<Current> current;

bool has_driver() { return ::access("/dev/nvidiactl", F_OK) == 0; }

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
    : first_(std::make_unique<Lane>(std::move(device))) {
  tried_.fill(kNever);
}

Result<std::shared_ptr<Session>> Session::get(std::chrono::milliseconds wait) {
  Current& own = current.get();
  const std::lock_guard lock(own.mutex);
  if (own.session != nullptr && own.session->first_->device->status()) return own.session;
  const auto now = Clock::now();
  const bool may_start = (!own.started || now - *own.started > kStartAgain) && has_driver();
  if (may_start) own.started = now;
  auto opened = open_device(0, may_start, wait);
  if (!opened) return tl::unexpected(opened.error());
  own.session = std::shared_ptr<Session>(new Session(std::move(*opened)));
  return own.session;
}

// Null where there is none now.
Session::Lane* Session::lane(size_t index, std::chrono::milliseconds wait) {
  if (index == 0) return first_.get();
  const std::lock_guard lock(others_mutex_);
  std::shared_ptr<Lane>& known = others_[index];
  if (known != nullptr && known->device->status()) return known.get();
  const auto now = Clock::now();
  const bool is_first = tried_[index] == kNever;
  if (!is_first && now - tried_[index] < kConnectAgain) return nullptr;
  const bool may_start =
      has_driver() && (is_first || now - tried_[index] > kStartAgain) && first_->device->status();
  tried_[index] = now;
  auto opened = open_device(static_cast<int>(index), may_start, wait);
  if (!opened) return nullptr;
  // One that computes on another kind of device would end much later.
  const auto& properties = (*opened)->properties();
  if (properties.compute_major != first_->device->properties().compute_major) return nullptr;
  known = std::make_shared<Lane>(std::move(*opened));
  return known.get();
}

int Session::devices(int wanted, std::chrono::milliseconds wait) {
  const std::lock_guard lock(mutex_);
  int found = 1;
  while (found < std::min(wanted, kMostDevices) &&
         lane(static_cast<size_t>(found), wait) != nullptr) {
    ++found;
  }
  return found;
}

Status Session::run(const hoist_blas_call& call, int devices) {
  const std::lock_guard lock(mutex_);
  std::vector<Place> places;
  for (int index = 0; index < std::clamp(devices, 1, kMostDevices); ++index) {
    Lane* const found = lane(static_cast<size_t>(index), {});
    if (found == nullptr) break;
    places.push_back({found->device.get(), &found->transfer, &found->resident});
  }
  const Status done = run_spread(call, places);
  const bool is_short = !done && done.error().code == ErrorCode::exhausted;
  if (!is_short || !drop_resident()) return done;
  for (Place& place : places) place.resident = nullptr;
  return run_spread(call, places);
}

bool Session::drop_resident() {
  bool had_any = first_->resident.drop();
  const std::lock_guard lock(others_mutex_);
  for (const auto& other : others_) {
    if (other != nullptr && other->resident.drop()) had_any = true;
  }
  return had_any;
}

void Session::prune_resident() {
  first_->resident.prune();
  const std::lock_guard lock(others_mutex_);
  for (const auto& other : others_) {
    if (other != nullptr) other->resident.prune();
  }
}

void Session::prune() {
  Current& own = current.get();
  const std::lock_guard lock(own.mutex);
  if (own.session != nullptr) own.session->prune_resident();
}

std::string Session::implementation(int devices) const {
  const bool is_served = first_->device->properties().kind == device::DeviceKind::remote;
  const char* const name = is_served ? "hoistd" : "cuda";
  return devices > 1 ? fmt::format("{}-{}", name, devices) : name;
}

}  // namespace hoist::gemm
