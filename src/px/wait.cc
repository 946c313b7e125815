#include "px/wait.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace hoist::px {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(20);

// Set by the stream, which may come to it after the wait was given up.
class Done {
 public:
  void set() {
    const std::scoped_lock lock(mutex_);
    is_set_ = true;
    changed_.notify_all();
  }
  bool is_set_within(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [this] { return is_set_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_set_ = false;
};

}  // namespace

Status wait_or_stop(device::Stream& stream, std::stop_source& stop,
                    const std::function<bool()>& is_wanted) {
  const auto done = std::make_shared<Done>();
  // A device that was lost says why when it is asked for the end of its work.
  if (!stream.call([done] { done->set(); })) return stream.synchronize();
  while (!done->is_set_within(kPatience)) {
    if (!stop.stop_requested() && is_wanted()) stop.request_stop();
    // A lost GPU calls nothing any more.
    if (const Status works = stream.device().status(); !works) return works;
  }
  const bool was_stopped = stop.stop_requested();
  // The CPU's work has no errors of its own, and this would be another way there and back.
  const bool is_on_cpu = stream.device().properties().kind == device::DeviceKind::cpu;
  if (Status worked = is_on_cpu ? Status() : stream.synchronize(); !worked) return worked;
  if (was_stopped) return fail(ErrorCode::cancelled, "stopped as asked");
  return {};
}

}  // namespace hoist::px
