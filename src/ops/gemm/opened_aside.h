// Something that takes long to open, opened once for all threads that ask for it: on a thread aside
// while they go on without it, or on the thread that asks. Thread-safe; the value may be used for
// as long as its pointer is held, also when this is gone.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/quiet_thread.h"
#include "base/result.h"

namespace hoist::gemm {

// `T` says by is_usable() whether it must be opened again.
template <typename T>
class OpenedAside {
 public:
  using Opened = Result<std::shared_ptr<T>>;
  using Open = std::function<Opened()>;

  // What was opened; null: nothing that can be used.
  std::shared_ptr<T> get() const {
    const std::lock_guard lock(state_->mutex);
    return state_->usable();
  }

  // Has it opened by `open` on this thread. Others who ask wait.
  Opened get_now(const Open& open) {
    const std::lock_guard lock(state_->mutex);
    if (auto usable = state_->usable()) return usable;
    Opened opened = open();
    if (opened) state_->value = *opened;
    return opened;
  }

  // Has it opened by `open` on a thread aside, unless that goes on or has failed a moment ago, and
  // waits until `wait` after it began: calls do not wait one after the other for what hangs.
  // `unavailable` until then, with the reason, which is `opening` while that goes on.
  Opened get_aside(Open open, std::chrono::milliseconds wait, const char* opening) {
    constexpr auto kAgain = std::chrono::seconds(1);
    std::unique_lock lock(state_->mutex);
    if (auto usable = state_->usable()) return usable;
    if (!state_->is_opening) {
      if (state_->failed && Clock::now() - *state_->failed < kAgain) {
        return fail(ErrorCode::unavailable, state_->why);
      }
      Result<std::thread> thread =
          start_quiet_thread([state = state_, open = std::move(open)] { open_into(*state, open); });
      if (!thread) return thread.error();
      thread->detach();
      state_->is_opening = true;
      state_->opening_since = Clock::now();
    }
    state_->opened.wait_until(lock, state_->opening_since + wait,
                              [&] { return !state_->is_opening; });
    if (auto usable = state_->usable()) return usable;
    return fail(ErrorCode::unavailable, state_->is_opening ? opening : state_->why);
  }

 private:
  using Clock = std::chrono::steady_clock;

  struct State {
    std::mutex mutex;
    std::shared_ptr<T> value;
    std::condition_variable opened;
    bool is_opening = false;  // aside
    Clock::time_point opening_since;
    std::optional<Clock::time_point> failed;
    std::string why;

    std::shared_ptr<T> usable() const {
      return value != nullptr && value->is_usable() ? value : nullptr;
    }
  };

  // Nobody catches what is thrown here.
  static void open_into(State& state, const Open& open) noexcept {
    std::shared_ptr<T> value;
    std::string why = "no memory";
    try {
      Opened opened = open();
      if (opened) {
        value = std::move(*opened);
      } else {
        why = std::move(opened.error().message);
      }
    } catch (const std::exception&) {  // as said
    }
    const std::lock_guard lock(state.mutex);
    state.is_opening = false;
    state.failed.reset();
    if (value == nullptr) {
      state.failed = Clock::now();
      state.why = std::move(why);
    } else {
      state.value = std::move(value);
    }
    state.opened.notify_all();
  }

  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace hoist::gemm
