#include "base/nearest_word.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hoist {
namespace {

// Letters to insert, delete or replace to get from one to the other (Levenshtein).
size_t distance(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < from.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t k = 0; k < to.size(); ++k) {
      const size_t replaced = diagonal + (from[i] == to[k] ? 0 : 1);
      diagonal = row[k + 1];
      row[k + 1] = std::min({replaced, diagonal + 1, row[k] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  std::string nearest;
  size_t best = 3;  // more changes than two make another word, and so do as many as it has letters
  const size_t letters = word.size() - std::min(word.find_first_not_of('-'), word.size());
  for (const std::string& candidate : known) {
    const size_t longer = std::max(word.size(), candidate.size());
    if (longer - std::min(word.size(), candidate.size()) >= best) continue;
    const size_t changes = distance(word, candidate);
    if (changes < std::min(best, letters)) {
      best = changes;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace hoist
