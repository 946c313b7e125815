// Whether bytes go in both directions at once, as they did lately: whoever begins a transfer does
// not know of the one that will begin a moment later in the other direction, but programs that
// stream do so again and again. As the other way of copying has a price of its own when it is used
// first, a few meetings are not enough.
#pragma once

#include <algorithm>
#include <atomic>

namespace hoist::device {

class BothWays {
 public:
  enum class Direction { up, down };

  // A transfer from its beginning to its end.
  class Going {
   public:
    Going(BothWays& ways, Direction direction) : ways_(ways), direction_(direction) {
      ways.begin(direction);
    }
    ~Going() { --ways_.going(direction_); }
    Going(const Going&) = delete;
    Going& operator=(const Going&) = delete;

   private:
    BothWays& ways_;
    const Direction direction_;
  };

  // About so many pairs that met each other make it true, and when it has been so for as long,
  // about so many transfers that met none make it false again.
  static constexpr int kRemembered = 16;
  bool lately() const { return points_.load(std::memory_order_relaxed) >= kRemembered; }

 private:
  std::atomic<int>& going(Direction direction) { return direction == Direction::up ? up_ : down_; }

  // The first of a pair has met nobody yet. Two that begin in the same moment may both meet: each
  // is counted before it looks.
  void begin(Direction direction) {
    constexpr int kMet = 2;
    constexpr int kMost = 2 * kRemembered;
    ++going(direction);
    const bool meets = going(direction == Direction::up ? Direction::down : Direction::up) > 0;
    int points = points_.load(std::memory_order_relaxed);
    while (!points_.compare_exchange_weak(
        points, std::clamp(points + (meets ? kMet : -1), 0, kMost), std::memory_order_relaxed)) {
    }
  }

  std::atomic<int> up_ = 0;
  std::atomic<int> down_ = 0;
  std::atomic<int> points_ = 0;
};

}  // namespace hoist::device
