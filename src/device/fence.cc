#include "device/fence.h"

#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "device/backoff.h"

namespace hoist::device {
namespace {

using Clock = std::chrono::steady_clock;

// A word says nothing of a device that was lost: that often the driver is asked.
constexpr std::chrono::milliseconds kAsk(10);

// Who has waited long may be woken a little later: by a sixty-fourth of that.
std::chrono::nanoseconds nap_after(Clock::duration waited) {
  using std::chrono::microseconds;
  return std::clamp<std::chrono::nanoseconds>(waited / 64, microseconds(20), microseconds(5000));
}

// Looks for a moment, and until `look_until`; then sleeps longer and longer.
class Watch {
 public:
  explicit Watch(Clock::time_point look_until) : backoff_(look_until, {}) {}
  void wait() {
    if (backoff_.will_sleep()) {
      std::this_thread::sleep_for(nap_after(Clock::now() - start_));
    } else {
      backoff_.wait();
    }
  }

 private:
  const Clock::time_point start_ = Clock::now();
  Backoff backoff_;
};

}  // namespace

Fence::Fence(Event event, uint32_t* word)
    : event_(std::move(event)), word_(word), number_(word != nullptr ? *word : 0) {}

Result<Fence> Fence::create(Device& device, uint32_t* word) {
  Result<Event> event = Event::create(device);
  if (!event) return tl::unexpected(event.error());
  return Fence(std::move(*event), word);
}

Status Fence::record(Stream& stream) {
  stream_ = &stream;
  if (word_ != nullptr) {
    ++number_;
    if (stream.device().write_value(word_, number_, stream.handle())) return {};
    word_ = nullptr;  // whatever it was, an event may do
  }
  return event_.record(stream);
}

Status Fence::wait(Clock::time_point look_until) {
  const Result<bool> reached = wait_unless(look_until, {});
  if (!reached) return tl::unexpected(reached.error());
  return {};
}

Result<bool> Fence::wait_unless(Clock::time_point look_until,
                                const std::function<bool()>& interrupted) {
  if (stream_ == nullptr) return true;
  return word_ != nullptr ? wait_for_word(look_until, interrupted)
                          : wait_for_event(look_until, interrupted);
}

bool Fence::is_reached() const {
  return std::atomic_ref<uint32_t>(*word_).load(std::memory_order_acquire) == number_;
}

Result<bool> Fence::wait_for_word(Clock::time_point look_until,
                                  const std::function<bool()>& interrupted) {
  Watch watch(look_until);
  Clock::time_point ask_at = Clock::now() + kAsk;
  bool is_recorded = false;
  while (!is_reached()) {
    if (interrupted && interrupted()) return false;
    watch.wait();
    if (Clock::now() < ask_at) continue;
    ask_at = Clock::now() + kAsk;
    if (!is_recorded) {
      if (Status recorded = event_.record(*stream_); !recorded) {
        return tl::unexpected(recorded.error());
      }
      is_recorded = true;
    }
    const Result<bool> done = event_.is_done();
    if (!done) return tl::unexpected(done.error());
    if (*done) break;
  }
  return true;
}

Result<bool> Fence::wait_for_event(Clock::time_point look_until,
                                   const std::function<bool()>& interrupted) const {
  Watch watch(look_until);
  while (interrupted || Clock::now() < look_until) {
    const Result<bool> done = event_.is_done();
    if (!done || *done) return done;
    if (interrupted && interrupted()) return false;
    for (int i = 0; i < 20; ++i) _mm_pause();  // leaves the driver's lock to others
    if (interrupted) watch.wait();
  }
  if (Status done = event_.synchronize(); !done) return tl::unexpected(done.error());
  return true;
}

}  // namespace hoist::device
