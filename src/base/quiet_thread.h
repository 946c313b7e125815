// The way to start a thread in a process that may be somebody else's program. It takes no signals,
// so that the host program's handlers stay on its own threads, and runs on all CPUs of the process,
// though its starter may be bound to one.
#pragma once

#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "base/result.h"

namespace hoist {

// `exhausted` where the system gives no more threads.
Result<std::thread> start_quiet_thread(std::function<void()> body);

// What `make` gives, made on such a thread meanwhile, or by get() where there is none to be had.
// `make` must not throw.
template <typename T>
class Aside {
 public:
  explicit Aside(std::function<T()> make) : make_(std::move(make)) {
    if (auto thread = start_quiet_thread([this] { made_ = make_(); })) thread_ = *std::move(thread);
  }
  ~Aside() {
    if (thread_.joinable()) thread_.join();
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  // Once.
  T get() {
    if (thread_.joinable()) thread_.join();
    return made_ ? *std::move(made_) : make_();
  }

 private:
  const std::function<T()> make_;
  std::optional<T> made_;
  std::thread thread_;
};

}  // namespace hoist
