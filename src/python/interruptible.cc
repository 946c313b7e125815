#include "python/interruptible.h"

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "base/quiet_thread.h"
#include "python/released_gil.h"

namespace nb = nanobind;

namespace hoist::python {
namespace {

constexpr auto kPatience = std::chrono::milliseconds(20);
constexpr size_t kStepsPerCheck = 1024;

// Whether this is the thread that handles signals.
bool is_main_thread() {
  const nb::object main = nb::module_::import_("threading").attr("main_thread")();
  return nb::cast<unsigned long>(main.attr("ident")) == PyThread_get_thread_ident();
}

// One work on its thread.
class Running {
 public:
  explicit Running(const std::function<void(const std::stop_token&)>& work) : work_(work) {
    auto thread = start_quiet_thread([this] { run(); });
    if (thread) thread_ = std::move(*thread);
  }
  ~Running() {
    if (thread_.joinable()) thread_.join();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  bool has_started() const { return thread_.joinable(); }
  bool is_done_within(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    return done_.wait_for(lock, patience, [this] { return is_done_; });
  }
  void stop() { stop_.request_stop(); }
  void wait() { thread_.join(); }
  // What the work threw.
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  void run() {
    try {
      work_(stop_.get_token());
    } catch (...) {
      thrown_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    is_done_ = true;
    done_.notify_all();
  }

  const std::function<void(const std::stop_token&)>& work_;
  std::stop_source stop_;
  std::exception_ptr thrown_;
  std::mutex mutex_;
  std::condition_variable done_;
  bool is_done_ = false;
  std::thread thread_;
};

bool has_pending_exception() {
  const nb::gil_scoped_acquire held;
  return PyErr_CheckSignals() != 0;
}

// False where there was no thread for it.
bool run_beside(const std::function<void(const std::stop_token&)>& work) {
  bool is_raised = false;
  {
    const ReleasedGil released;
    Running running(work);
    if (!running.has_started()) return false;
    while (!is_raised && !running.is_done_within(kPatience)) is_raised = has_pending_exception();
    if (is_raised) running.stop();
    running.wait();
    if (!is_raised) running.rethrow();  // else the signal's exception is what counts
  }
  if (is_raised) throw nb::python_error();
  return true;
}

}  // namespace

void run_interruptibly(bool is_long, const std::function<void(const std::stop_token&)>& work) {
  if (is_long && is_main_thread() && run_beside(work)) return;
  const ReleasedGil released;
  work(is_long ? stop_at_the_end() : std::stop_token());
}

void check_signals(size_t step) {
  if (step % kStepsPerCheck != 0) return;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace hoist::python
