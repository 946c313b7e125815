#include "service/session/strand.h"

#include <exception>
#include <utility>

#include "base/log.h"

namespace hoist::service {

Strand::Use Strand::try_use(const std::shared_ptr<Strand>& strand) {
  {
    std::unique_lock lock(strand->mutex_);
    strand->changed_.wait(lock, [&] { return !strand->is_over_soon_; });
    if (strand->is_used_ || !strand->waiting_.empty()) return nullptr;
    strand->is_used_ = strand->is_over_soon_ = true;
  }
  return begin(strand);
}

void Strand::go_on() {
  const std::lock_guard lock(mutex_);
  is_over_soon_ = false;
  changed_.notify_all();
}

bool Strand::use(const std::shared_ptr<Strand>& strand, Next next, size_t most) {
  {
    const std::lock_guard lock(strand->mutex_);
    if (strand->is_used_ || !strand->waiting_.empty()) {
      if (strand->waiting_.size() >= most) return false;
      strand->waiting_.push_back(std::move(next));
      return true;
    }
    strand->is_used_ = true;
  }
  next(begin(strand));
  return true;
}

bool Strand::is_idle() const {
  const std::lock_guard lock(mutex_);
  return !is_used_ && waiting_.empty();
}

Strand::Use Strand::begin(std::shared_ptr<Strand> strand) {
  Strand* const own = strand.get();
  return {own, [strand = std::move(strand)](const Strand*) { end(strand); }};
}

void Strand::end(const std::shared_ptr<Strand>& strand) {
  std::unique_lock lock(strand->mutex_);
  strand->is_used_ = strand->is_over_soon_ = false;
  strand->changed_.notify_all();
  if (strand->is_handing_on_) return;
  strand->is_handing_on_ = true;
  while (!strand->is_used_ && !strand->waiting_.empty()) {
    strand->is_used_ = true;
    std::list<Next> first;
    first.splice(first.begin(), strand->waiting_, strand->waiting_.begin());
    lock.unlock();
    try {
      first.front()(begin(strand));
    } catch (const std::exception& error) {
      log(LogLevel::error, "a request failed: {}", error.what());
    }
    first.clear();
    lock.lock();
  }
  strand->is_handing_on_ = false;
}

}  // namespace hoist::service
