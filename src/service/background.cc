#include "service/background.h"

#include <exception>
#include <utility>

#include "base/log.h"
#include "base/quiet_thread.h"

namespace hoist::service {

void Background::end() {
  std::deque<std::function<void()>> dropped;
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    dropped.swap(waiting_);
    threads.swap(threads_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

bool Background::run(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_ || waiting_.size() >= most_waiting_) return false;
    if (idle_ <= waiting_.size() && threads_.size() < most_threads_) {
      auto thread = start_quiet_thread([this] { this->work(); });
      if (thread) threads_.push_back(*std::move(thread));
    }
    if (threads_.empty()) return false;
    waiting_.push_back(std::move(work));
  }
  changed_.notify_one();
  return true;
}

void Background::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
    --idle_;
    if (ended_) return;
    {
      const std::function<void()> next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      try {
        next();
      } catch (const std::exception& error) {
        log(LogLevel::error, "work in the background failed: {}", error.what());
      }
    }
    lock.lock();
  }
}

}  // namespace hoist::service
