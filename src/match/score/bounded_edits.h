// Edit distances as long as they are small: whether two sequences differ by more than a few edits
// shows after a few symbols, whatever their lengths.
//
//   if (bounded_levenshtein(a, b, 3) > 3) …  // how many they are was not looked for
//
// E. Ukkonen, "Algorithms for approximate string matching" (1985), and E. W. Myers, "An O(ND)
// difference algorithm and its variations" (1986): for each diagonal of the dynamic-programming
// matrix, the furthest row that 0, 1, 2, … edits reach. An edit takes a point one step further or
// to a neighbouring diagonal; from there on equal symbols cost nothing. Diagonals from which the
// last one cannot be reached with the edits that are left are not looked at.
#pragma once

#include <cstdint>
#include <span>

namespace hoist::match {

inline constexpr uint32_t kMostBoundedEdits = 255;

// Insertions, deletions and substitutions that make one of the other; `most` + 1 where more than
// `most` are needed. `most` <= kMostBoundedEdits; sequences of fewer than 2^31 symbols, of 1, 2 or
// 4 bytes (uint8_t, uint16_t, uint32_t) in each. O(most^2 + most * symbols in common).
template <typename A, typename B>
uint32_t bounded_levenshtein(std::span<const A> a, std::span<const B> b, uint32_t most);
inline uint32_t bounded_levenshtein(std::span<const uint32_t> a, std::span<const uint32_t> b,
                                    uint32_t most) {
  return bounded_levenshtein<uint32_t, uint32_t>(a, b, most);
}

// The same without substitutions: the symbols of both that are not in the longest common
// subsequence.
template <typename A, typename B>
uint32_t bounded_indels(std::span<const A> a, std::span<const B> b, uint32_t most);
inline uint32_t bounded_indels(std::span<const uint32_t> a, std::span<const uint32_t> b,
                               uint32_t most) {
  return bounded_indels<uint32_t, uint32_t>(a, b, most);
}

}  // namespace hoist::match
