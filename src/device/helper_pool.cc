#include "device/helper_pool.h"

#include <immintrin.h>

#include <algorithm>
#include <new>

#include "base/quiet_thread.h"

namespace hoist::device {
namespace {

constexpr int kLooks = 1000;  // some 40 microseconds

}  // namespace

HelperPool::~HelperPool() {
  if (!process_.is_current()) {
    (void)shared_.release();
    return;
  }
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stopping = true;
  }
  shared_->offered.notify_all();
  for (std::thread& thread : shared_->threads) thread.join();
}

void HelperPool::start_helpers() {
  shared_->threads.reserve(static_cast<size_t>(std::max(helpers_, 0)));
  shared_->started = true;
  for (int i = 0; i < helpers_; ++i) {
    Result<std::thread> thread =
        start_quiet_thread([this, i] { help(static_cast<size_t>(i) + 1); });
    if (!thread) return;  // those that there are do the work
    shared_->threads.push_back(std::move(*thread));
  }
}

void HelperPool::run(int workers, const std::function<void(int)>& body) {
  if (workers <= 1 || !process_.is_current()) return body(0);
  Work work{&body, {}, workers - 1};
  if (!offer(work, workers)) return body(0);
  wake_two();
  body(0);
  std::unique_lock lock(shared_->mutex);
  std::erase(shared_->offers, &work);
  // The others are about to end as well, sooner than a thread is woken.
  if (work.active != 0) {
    lock.unlock();
    for (int i = 0; i < kLooks && work.active != 0; ++i) _mm_pause();
    lock.lock();
  }
  shared_->left.wait(lock, [&] { return work.active == 0; });
}

// False: there is no memory for it.
bool HelperPool::offer(Work& work, int workers) try {
  work.given.resize(static_cast<size_t>(workers));
  work.given[0] = true;
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->started) start_helpers();
  shared_->offers.push_back(&work);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// Whoever wakes up does the same, so that the caller does not pay for all of them.
void HelperPool::wake_two() {
  shared_->offered.notify_one();
  shared_->offered.notify_one();
}

int HelperPool::give_worker(Work& work, size_t best) {
  if (best >= work.given.size() || work.given[best]) {
    best = static_cast<size_t>(std::find(work.given.begin(), work.given.end(), false) -
                               work.given.begin());
  }
  work.given[best] = true;
  --work.left;
  return static_cast<int>(best);
}

void HelperPool::help(size_t number) {
  std::unique_lock lock(shared_->mutex);
  while (true) {
    shared_->offered.wait(lock, [this] { return shared_->stopping || !shared_->offers.empty(); });
    if (shared_->stopping) return;
    Work& work = *shared_->offers.front();
    const int worker = give_worker(work, number);
    if (work.left == 0) shared_->offers.pop_front();
    ++work.active;
    const bool more = !shared_->offers.empty();
    lock.unlock();
    if (more) wake_two();
    (*work.body)(worker);
    lock.lock();
    if (--work.active == 0) shared_->left.notify_all();
  }
}

}  // namespace hoist::device
