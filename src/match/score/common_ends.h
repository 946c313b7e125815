// Symbols that are equal at the fronts or at the ends of two sequences. They cost no edit, whatever
// else there is: a path of fewest edits goes through them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace hoist::match {

// How many symbols from the front are equal, of `size`.
template <typename A, typename B>
int64_t equal_at_front(const A* a, const B* b, int64_t size) {
  int64_t i = 0;
  if constexpr (std::is_same_v<A, B>) {
    constexpr auto kAtOnce = static_cast<int64_t>(sizeof(uint64_t) / sizeof(A));
    for (; i + kAtOnce <= size; i += kAtOnce) {
      uint64_t x = 0;
      uint64_t y = 0;
      std::memcpy(&x, a + i, sizeof(x));
      std::memcpy(&y, b + i, sizeof(y));
      if (x != y) break;
    }
  }
  while (i < size && a[i] == b[i]) ++i;
  return i;
}

// How many before `a_end` and `b_end` are, of `size`.
template <typename A, typename B>
int64_t equal_at_end(const A* a_end, const B* b_end, int64_t size) {
  int64_t i = 0;
  if constexpr (std::is_same_v<A, B>) {
    constexpr auto kAtOnce = static_cast<int64_t>(sizeof(uint64_t) / sizeof(A));
    for (; i + kAtOnce <= size; i += kAtOnce) {
      uint64_t x = 0;
      uint64_t y = 0;
      std::memcpy(&x, a_end - i - kAtOnce, sizeof(x));
      std::memcpy(&y, b_end - i - kAtOnce, sizeof(y));
      if (x != y) break;
    }
  }
  while (i < size && a_end[-1 - i] == b_end[-1 - i]) ++i;
  return i;
}

}  // namespace hoist::match
