#include "graph/native/compiler.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "base/fork.h"
#include "base/quiet_thread.h"
#include "graph/native/alternative.h"

namespace hoist::graph::native {
namespace {

using program::Program;

constexpr std::chrono::seconds kLongest(120);  // of a compiler
// On a machine whose CPUs are all busy a twentieth of one is left to it.
constexpr int kNiceness = 10;

// What the program is offered; nothing where it is gone.
Status offer(std::weak_ptr<const Program> asking, const px::CompileLimits& limits) {
  std::optional<Alternatives> made;
  if (const auto program = asking.lock()) made.emplace(*program);
  if (!made) return {};
  std::vector<program::Offer> offers;
  if (made->has_any()) {
    const Result<px::Code> code = made->code();
    if (!code) return code.error();
    auto compiled = px::CpuModule::compile(*code, limits);
    if (!compiled) return compiled.error();
    auto all = std::move(*made).offers(*std::move(compiled));
    if (!all) return all.error();
    offers = *std::move(all);
  }
  if (const auto program = asking.lock()) {
    if (offers.empty()) offers.resize(program->kernels().size());
    program->replacement().offer(std::move(offers));
  }
  return {};
}

void compile_now(const std::weak_ptr<const Program>& asking, const px::CompileLimits& limits) {
  const Status done = offer(asking, limits);
  if (done) return;
  if (const auto program = asking.lock()) program->replacement().fail(done.error().message);
}

class Immediate : public program::KernelCompiler {
 public:
  void compile(std::shared_ptr<const Program> program) override {
    compile_now(program, {kLongest, {}});
  }
};

// A process's thread, and the programs that wait for it.
class Queue {
 public:
  void add(const std::shared_ptr<const Program>& program) {
    const std::lock_guard lock(mutex_);
    if (stop_.stop_requested()) return program->replacement().fail("the process ends");
    waiting_.push_back(program);
    if (is_running_) return;
    if (thread_.joinable()) thread_.join();  // it has seen that there was nothing
    Result<std::thread> thread = start_quiet_thread([this] { run(); });
    if (!thread) {
      waiting_.clear();
      return program->replacement().fail(thread.error().message);
    }
    thread_ = *std::move(thread);
    is_running_ = true;
  }

  void stop() {
    stop_.request_stop();
    std::thread thread;
    {
      const std::lock_guard lock(mutex_);
      waiting_.clear();
      thread = std::move(thread_);
    }
    if (thread.joinable()) thread.join();
  }

  bool is_of_this_process() const { return owner_.is_current(); }

 private:
  void run() {
    // Changes only this thread and what it starts.
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNiceness);
    for (;;) {
      std::weak_ptr<const Program> next;
      {
        const std::lock_guard lock(mutex_);
        is_running_ = !waiting_.empty();
        if (!is_running_) return;
        next = std::move(waiting_.front());
        waiting_.pop_front();
      }
      compile_now(next, {kLongest, stop_.get_token()});
    }
  }

  const OwnerProcess owner_;
  std::mutex mutex_;
  std::stop_source stop_;
  std::deque<std::weak_ptr<const Program>> waiting_;
  std::thread thread_;
  bool is_running_ = false;
};

// Never destroyed: calls may come from static destructors, and a child leaves its parent's alone.
constinit std::atomic<Queue*> current_queue = nullptr;

Queue& own_queue() {
  Queue* known = current_queue.load(std::memory_order_acquire);
  while (known == nullptr || !known->is_of_this_process()) {
    auto* const fresh = new Queue;
    if (current_queue.compare_exchange_strong(known, fresh)) {
      if (known == nullptr) std::atexit([] { stop_background_compiler(); });
      return *fresh;
    }
    delete fresh;
  }
  return *known;
}

class Background : public program::KernelCompiler {
 public:
  void compile(std::shared_ptr<const Program> program) override { own_queue().add(program); }
};

}  // namespace

program::KernelCompiler& background_compiler() {
  static Background* const compiler = new Background;
  return *compiler;
}

program::KernelCompiler& immediate_compiler() {
  static Immediate* const compiler = new Immediate;
  return *compiler;
}

void stop_background_compiler() {
  Queue* const queue = current_queue.load(std::memory_order_acquire);
  if (queue != nullptr && queue->is_of_this_process()) queue->stop();
}

}  // namespace hoist::graph::native
