#include "ops/gemm/session.h"

#include <fmt/format.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <optional>
#include <thread>
#include <vector>

#include "base/options.h"
#include "base/per_process.h"
#include "device/quiet_thread.h"
#include "device/remote/remote_device.h"
#include "ops/gemm/open_device.h"
#include "ops/gemm/served_gemm.h"
#include "ops/gemm/spread.h"

namespace hoist::gemm {
namespace {

using Clock = std::chrono::steady_clock;

// A daemon makes its context, 0.3 s, before it answers; one that cannot is not tried at every call.
constexpr auto kStartAgain = std::chrono::seconds(30);
constexpr auto kConnectAgain = std::chrono::seconds(1);
constexpr auto kNever = Clock::time_point::min();
constexpr auto kMakeReady = std::chrono::seconds(10);
constexpr auto kAskAgain = std::chrono::milliseconds(20);

}  // namespace

struct Session::Current {
  std::mutex mutex;
  std::shared_ptr<Session> session;
  std::optional<Clock::time_point> started;  // a hoistd
  // What a thread aside does.
  std::condition_variable opened;
  bool is_opening = false;
  Clock::time_point opening_since;
  std::optional<Clock::time_point> failed;
  std::string why;
};

namespace {

constinit PerProcess<Session::Current> current;

bool has_driver() { return ::access("/dev/nvidiactl", F_OK) == 0; }

// Under its lock; whoever is told so starts one.
bool may_start(Session::Current& own) {
  const auto now = Clock::now();
  const bool may = (!own.started || now - *own.started > kStartAgain) && has_driver();
  if (may) own.started = now;
  return may;
}

// Whether the device does products at once, which is waited for.
bool make_ready(device::Device& device, std::chrono::milliseconds wait) {
  if (device.properties().kind != device::DeviceKind::remote) return true;
  const auto end = Clock::now() + wait;
  while (!ask_ready(static_cast<device::remote::RemoteDevice&>(device))) {
    if (Clock::now() >= end || !device.status()) return false;
    std::this_thread::sleep_for(kAskAgain);
  }
  return true;
}

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

bool Session::is_usable(const std::shared_ptr<Session>& session) {
  return session != nullptr && session->first_->device->status();
}

Result<std::shared_ptr<Session>> Session::open_session(bool may_start,
                                                       std::chrono::milliseconds wait) {
  auto opened = open_device(0, may_start, wait);
  if (!opened) return tl::unexpected(opened.error());
  return std::shared_ptr<Session>(new Session(std::move(*opened)));
}

Result<std::shared_ptr<Session>> Session::get(std::chrono::milliseconds wait) {
  Current& own = current.get();
  const std::lock_guard lock(own.mutex);
  if (is_usable(own.session)) return own.session;
  Result<std::shared_ptr<Session>> session = open_session(may_start(own), wait);
  if (session) own.session = *session;
  return session;
}

Result<std::shared_ptr<Session>> Session::get_when_ready(std::chrono::milliseconds wait) {
  if (::strcasecmp(option_text(OptionId::gpu), "inprocess") == 0) return get();
  Current& own = current.get();
  std::unique_lock lock(own.mutex);
  if (is_usable(own.session)) return own.session;
  if (!own.is_opening) {
    if (own.failed && Clock::now() - *own.failed < kConnectAgain) {
      return fail(ErrorCode::unavailable, own.why);
    }
    Result<std::thread> thread = device::start_quiet_thread([&own] { open_aside(own); });
    if (!thread) return tl::unexpected(thread.error());
    thread->detach();
    own.is_opening = true;
    own.opening_since = Clock::now();
  }
  // Counted from the beginning: calls do not wait one after the other for what hangs.
  own.opened.wait_until(lock, own.opening_since + wait, [&] { return !own.is_opening; });
  if (is_usable(own.session)) return own.session;
  return fail(ErrorCode::unavailable, own.is_opening ? "hoistd is making ready" : own.why);
}

// Nobody catches what is thrown here.
void Session::open_aside(Current& own) noexcept {
  std::shared_ptr<Session> session;
  std::string why;
  try {
    bool start = false;
    {
      const std::lock_guard lock(own.mutex);
      start = may_start(own);
    }
    Result<std::shared_ptr<Session>> opened = open_session(start, kMakeReady);
    if (opened) {
      session = std::move(*opened);
      (void)make_ready(*session->first_->device, kMakeReady);
    } else {
      why = std::move(opened.error().message);
    }
  } catch (const std::exception&) {  // no memory
    session.reset();
  }
  const std::lock_guard lock(own.mutex);
  own.is_opening = false;
  own.session = std::move(session);
  own.why = std::move(why);
  own.failed.reset();
  if (own.session == nullptr) own.failed = Clock::now();
  own.opened.notify_all();
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
  // To wait for its first products takes longer than to do without it.
  if (!make_ready(**opened, wait)) return nullptr;
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
