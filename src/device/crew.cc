#include "device/crew.h"

#include <immintrin.h>

#include <algorithm>
#include <new>

#include "device/quiet_thread.h"

namespace hoist::device {
namespace {

constexpr int kLooks = 1000;  // some 40 microseconds

}  // namespace

Crew::~Crew() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  offered_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Crew::start_helpers() {
  threads_.reserve(static_cast<size_t>(std::max(helpers_, 0)));
  started_ = true;
  for (int i = 0; i < helpers_; ++i) {
    Result<std::thread> thread =
        start_quiet_thread([this, i] { help(static_cast<size_t>(i) + 1); });
    if (!thread) return;  // those that there are do the work
    threads_.push_back(std::move(*thread));
  }
}

void Crew::run(int lanes, const std::function<void(int)>& body) {
  if (lanes <= 1) return body(0);
  Work work{&body, {}, lanes - 1};
  if (!offer(work, lanes)) return body(0);
  wake_two();
  body(0);
  std::unique_lock lock(mutex_);
  std::erase(offers_, &work);
  // The others are about to end as well, sooner than a thread is woken.
  if (work.active != 0) {
    lock.unlock();
    for (int i = 0; i < kLooks && work.active != 0; ++i) _mm_pause();
    lock.lock();
  }
  left_.wait(lock, [&] { return work.active == 0; });
}

// False: there is no memory for it.
bool Crew::offer(Work& work, int lanes) try {
  work.given.resize(static_cast<size_t>(lanes));
  work.given[0] = true;
  const std::lock_guard lock(mutex_);
  if (!started_) start_helpers();
  offers_.push_back(&work);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// Whoever wakes up does the same, so that the caller does not pay for all of them.
void Crew::wake_two() {
  offered_.notify_one();
  offered_.notify_one();
}

int Crew::give_lane(Work& work, size_t best) {
  if (best >= work.given.size() || work.given[best]) {
    best = static_cast<size_t>(std::find(work.given.begin(), work.given.end(), false) -
                               work.given.begin());
  }
  work.given[best] = true;
  --work.left;
  return static_cast<int>(best);
}

void Crew::help(size_t number) {
  std::unique_lock lock(mutex_);
  while (true) {
    offered_.wait(lock, [this] { return stopping_ || !offers_.empty(); });
    if (stopping_) return;
    Work& work = *offers_.front();
    const int lane = give_lane(work, number);
    if (work.left == 0) offers_.pop_front();
    ++work.active;
    const bool more = !offers_.empty();
    lock.unlock();
    if (more) wake_two();
    (*work.body)(lane);
    lock.lock();
    if (--work.active == 0) left_.notify_all();
  }
}

}  // namespace hoist::device
