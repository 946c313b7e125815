// Conditions on numbers as intervals: comparing with a number is comparing 64-bit integers, of
// whatever unit they count.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "records/filter.h"

namespace hoist::records {

// The integers from least to most, none where that is less; with `outside` all others.
struct Interval {
  int64_t least = 1;
  int64_t most = 0;
  bool outside = false;
};

// The least integer for which `is_true` holds; it holds for all above that, too. Nothing where it
// holds for none.
template <typename IsTrue>
std::optional<int64_t> first_integer(const IsTrue& is_true) {
  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();
  if (!is_true(high)) return std::nullopt;
  while (low < high) {
    const auto middle = static_cast<int64_t>((static_cast<__int128>(low) + high) >> 1);
    if (is_true(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// `order(v)`: below 0, 0 or above 0 as integer v is less than, equal to or more than what it is
// compared with; it does not fall where v rises.
template <typename Order>
Interval interval_of(Comparison comparison, const Order& order) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const std::optional<int64_t> equal = first_integer([&](int64_t v) { return order(v) >= 0; });
  const std::optional<int64_t> more = first_integer([&](int64_t v) { return order(v) > 0; });
  const auto from = [&](std::optional<int64_t> first) {
    return first ? Interval{*first, kMost, false} : Interval{};
  };
  const auto below = [&](std::optional<int64_t> first) {
    Interval all_but = from(first);
    all_but.outside = true;
    return all_but;
  };
  switch (comparison) {
    case Comparison::less:
      return below(equal);
    case Comparison::less_equal:
      return below(more);
    case Comparison::greater:
      return from(more);
    case Comparison::greater_equal:
      return from(equal);
    default:
      break;
  }
  Interval same;
  if (equal && (!more || *more > *equal)) same = {*equal, more ? *more - 1 : kMost, false};
  same.outside = comparison == Comparison::unequal;
  return same;
}

}  // namespace hoist::records
