#include "device/fence.h"

#include <immintrin.h>

#include <atomic>
#include <cstring>
#include <utility>

#include "device/backoff.h"

namespace hoist::device {
namespace {

using Clock = std::chrono::steady_clock;

// A word says nothing of a device that was lost: that often the driver is asked.
constexpr std::chrono::milliseconds kAsk(10);

}  // namespace

Fence::Fence(Event event, uint32_t* word)
    : event_(std::move(event)), word_(word), number_(word != nullptr ? *word : 0) {}

Result<Fence> Fence::create(Device& device, uint32_t* word) {
  Result<Event> event = Event::create(device);
  if (!event) return event.error();
  return Fence(std::move(*event), word);
}

Result<Fences> Fences::create(PinnedPool& pool, size_t count) {
  constexpr size_t kLine = 64;  // bytes
  Result<PinnedBlock> words = pool.allocate(count * kLine);
  if (!words) return words.error();
  std::memset(words->data(), 0, words->size());
  Fences fences = {std::move(*words), {}};
  for (size_t i = 0; i < count; ++i) {
    auto* const word = reinterpret_cast<uint32_t*>(fences.words.data() + i * kLine);
    Result<Fence> fence = Fence::create(pool.device(), word);
    if (!fence) return fence.error();
    fences.list.push_back(std::move(*fence));
  }
  return fences;
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
  if (!reached) return reached.error();
  return {};
}

Result<bool> Fence::wait_unless(Clock::time_point look_until,
                                const std::function<bool()>& interrupted) {
  if (stream_ == nullptr) return true;
  return word_ != nullptr ? wait_for_word(look_until, interrupted)
                          : wait_for_event(look_until, interrupted);
}

Result<bool> Fence::poll() const {
  if (stream_ == nullptr) return true;
  if (word_ == nullptr) return event_.is_done();
  return is_reached();
}

bool Fence::is_reached() const {
  return std::atomic_ref<uint32_t>(*word_).load(std::memory_order_acquire) == number_;
}

Result<bool> Fence::wait_for_word(Clock::time_point look_until,
                                  const std::function<bool()>& interrupted) {
  PatientBackoff backoff(look_until);
  Clock::time_point ask_at = Clock::now() + kAsk;
  bool is_recorded = false;
  while (!is_reached()) {
    if (interrupted && interrupted()) return false;
    backoff.wait();
    if (Clock::now() < ask_at) continue;
    ask_at = Clock::now() + kAsk;
    if (!is_recorded) {
      if (Status recorded = event_.record(*stream_); !recorded) {
        return recorded.error();
      }
      is_recorded = true;
    }
    const Result<bool> done = event_.is_done();
    if (!done) return done.error();
    if (*done) break;
  }
  return true;
}

Result<bool> Fence::wait_for_event(Clock::time_point look_until,
                                   const std::function<bool()>& interrupted) const {
  PatientBackoff backoff(look_until);
  while (interrupted || Clock::now() < look_until) {
    const Result<bool> done = event_.is_done();
    if (!done || *done) return done;
    if (interrupted && interrupted()) return false;
    for (int i = 0; i < 20; ++i) _mm_pause();  // leaves the driver's lock to others
    if (interrupted) backoff.wait();
  }
  if (Status done = event_.synchronize(); !done) return done.error();
  return true;
}

}  // namespace hoist::device
