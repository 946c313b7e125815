// For tests: distances by their definitions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace hoist::match {

using Numbers = std::vector<uint32_t>;

// The whole matrix of Lowrance and Wagner, or of its restriction to neighbours.
inline uint64_t plain_transposing(const Numbers& a, const Numbers& b, bool restricted) {
  const uint64_t infinite = a.size() + b.size();
  std::vector<std::vector<uint64_t>> d(a.size() + 2, std::vector<uint64_t>(b.size() + 2, infinite));
  std::map<uint32_t, size_t> last_in_a;
  for (size_t i = 0; i <= a.size(); ++i) d[i + 1][1] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[1][j + 1] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t last_in_b = 0;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t k = last_in_a[b[j - 1]];
      const size_t l = last_in_b;
      const bool same = a[i - 1] == b[j - 1];
      if (same) last_in_b = j;
      uint64_t best = std::min({d[i][j] + (same ? 0 : 1), d[i + 1][j] + 1, d[i][j + 1] + 1});
      const bool neighbours = k + 1 == i && l + 1 == j;
      if (k > 0 && l > 0 && (!restricted || neighbours)) {
        best = std::min(best, d[k][l] + (i - k - 1) + 1 + (j - l - 1));
      }
      d[i + 1][j + 1] = best;
    }
    last_in_a[a[i - 1]] = i;
  }
  return d[a.size() + 1][b.size() + 1];
}

// Symbol by symbol.
inline double plain_jaro(const Numbers& a, const Numbers& b) {
  if (a.empty() && b.empty()) return 1;
  if (a.empty() || b.empty()) return 0;
  const size_t longest = std::max(a.size(), b.size());
  const size_t reach = longest / 2 > 1 ? longest / 2 - 1 : 0;
  std::vector<bool> taken(a.size());
  Numbers of_b;
  for (size_t j = 0; j < b.size(); ++j) {
    for (size_t i = j > reach ? j - reach : 0; i < std::min(a.size(), j + reach + 1); ++i) {
      if (taken[i] || a[i] != b[j]) continue;
      taken[i] = true;
      of_b.push_back(b[j]);
      break;
    }
  }
  if (of_b.empty()) return 0;
  size_t next = 0;
  size_t moved = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (taken[i] && a[i] != of_b[next++]) ++moved;
  }
  const auto common = static_cast<double>(of_b.size());
  double sum = common / static_cast<double>(a.size());
  sum += common / static_cast<double>(b.size());
  sum += (common - static_cast<double>(moved / 2)) / common;
  return sum / 3.0;
}

}  // namespace hoist::match
