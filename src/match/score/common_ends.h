// Symbols that are equal at the fronts or at the ends of two sequences. They cost no edit, whatever
// else there is: a path of fewest edits goes through them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace hoist::match {

// A constant size, so that memcmp() is one comparison of words.
template <typename A>
constexpr int64_t kAtOnce = sizeof(uint64_t) / sizeof(A);

// How many symbols from the front are equal, of `size`.
template <typename A, typename B>
int64_t equal_at_front(const A* a, const B* b, int64_t size) {
  int64_t i = 0;
  if constexpr (std::is_same_v<A, B>) {
    for (; i + kAtOnce<A> <= size; i += kAtOnce<A>) {
      if (std::memcmp(a + i, b + i, sizeof(uint64_t)) != 0) break;
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
    for (; i + kAtOnce<A> <= size; i += kAtOnce<A>) {
      if (std::memcmp(a_end - i - kAtOnce<A>, b_end - i - kAtOnce<A>, sizeof(uint64_t)) != 0) break;
    }
  }
  while (i < size && a_end[-1 - i] == b_end[-1 - i]) ++i;
  return i;
}

}  // namespace hoist::match
