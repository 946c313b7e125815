// What is costly to make and belongs to one user at a time: kept when it is given back, for the
// next one. Thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace hoist::device {

template <typename T>
class IdleList {
 public:
  // Where there are more than `most`, the one that was put first goes.
  void put(std::unique_ptr<T> one, size_t most = SIZE_MAX) {
    std::unique_ptr<T> surplus;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(one));
    if (idle_.size() <= most) return;
    surplus = std::move(idle_.front());
    idle_.erase(idle_.begin());
  }

  // The one that was put last, of those that `suits` is true for; null: there is none.
  template <typename Suits>
  std::unique_ptr<T> take_if(const Suits& suits) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(idle_.rbegin(), idle_.rend(),
                                    [&](const std::unique_ptr<T>& one) { return suits(*one); });
    if (found == idle_.rend()) return nullptr;
    std::unique_ptr<T> one = std::move(*found);
    idle_.erase(std::next(found).base());
    return one;
  }
  // The greatest.
  template <typename IsLess>
  std::unique_ptr<T> take_greatest(const IsLess& is_less) {
    const std::lock_guard lock(mutex_);
    const auto found = std::max_element(
        idle_.begin(), idle_.end(),
        [&](const std::unique_ptr<T>& a, const std::unique_ptr<T>& b) { return is_less(*a, *b); });
    if (found == idle_.end()) return nullptr;
    std::unique_ptr<T> one = std::move(*found);
    idle_.erase(found);
    return one;
  }
  std::unique_ptr<T> take() {
    return take_if([](const T&) { return true; });
  }

  // False: there was none.
  bool drop_all() {
    std::vector<std::unique_ptr<T>> dropped;  // without the lock
    const std::lock_guard lock(mutex_);
    idle_.swap(dropped);
    return !dropped.empty();
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> idle_;
};

}  // namespace hoist::device
