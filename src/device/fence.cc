#include "device/fence.h"

#include <immintrin.h>

#include <atomic>
#include <thread>
#include <utility>

namespace hoist::device {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLooks = 500;  // some 20 microseconds
constexpr int kLooksToAYield = 64;
constexpr std::chrono::microseconds kNap(20);

// After so many naps, 10 milliseconds and more, the driver is asked: the device may be lost, or
// busy with other work for long.
constexpr int kNaps = 500;

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
    Status written = stream.device().write_value(word_, number_ + 1, stream.handle());
    if (written) ++number_;
    if (written || written.error().code != ErrorCode::unsupported) return written;
    word_ = nullptr;
  }
  return event_.record(stream);
}

bool Fence::is_reached() const {
  return std::atomic_ref<uint32_t>(*word_).load(std::memory_order_acquire) == number_;
}

Status Fence::wait(Clock::time_point look_until) {
  if (stream_ == nullptr) return {};
  if (word_ == nullptr) return wait_for_event(look_until);
  int looks = 0;
  int naps = 0;
  while (!is_reached()) {
    if (++looks < kLooks || Clock::now() < look_until) {
      _mm_pause();
      // With more threads than processors, who waits would keep those with work from it.
      if (looks % kLooksToAYield == 0) std::this_thread::yield();
    } else if (++naps <= kNaps) {
      std::this_thread::sleep_for(kNap);
    } else {
      if (Status recorded = event_.record(*stream_); !recorded) return recorded;
      return event_.synchronize();
    }
  }
  return {};
}

Status Fence::wait_for_event(Clock::time_point look_until) const {
  while (Clock::now() < look_until) {
    const Result<bool> done = event_.is_done();
    if (!done) return tl::unexpected(done.error());
    if (*done) return {};
    for (int i = 0; i < 20; ++i) _mm_pause();  // leaves the driver's lock to others
  }
  return event_.synchronize();
}

Event Fence::into_event(const Stream& stream) && {
  (void)event_.record(stream);
  return std::move(event_);
}

}  // namespace hoist::device
