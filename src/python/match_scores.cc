#include "python/match_scores.h"

#include <algorithm>
#include <array>

namespace hoist::python {
namespace {

using Family = PairScorer::Family;
using Value = PairScorer::Value;

template <typename T, size_t kSize>
std::optional<T> find(const std::array<std::string_view, kSize>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return {};
  return static_cast<T>(found - names.begin());
}

}  // namespace

std::optional<PairScorer> PairScorer::named(std::string_view name) {
  if (name == "ratio") return PairScorer{Family::indel, Value::normalized_similarity, true};
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return {};
  const auto family = find<Family>(
      std::array<std::string_view, 3>{"LCSseq", "Indel", "Levenshtein"}, name.substr(0, dot));
  const auto value =
      find<Value>(std::array<std::string_view, 4>{"distance", "similarity", "normalized_distance",
                                                  "normalized_similarity"},
                  name.substr(dot + 1));
  if (!family || !value) return {};
  return PairScorer{*family, *value, false};
}

double PairScorer::score(uint64_t count, uint64_t m, uint64_t n,
                         std::optional<double> cutoff) const {
  const uint64_t most = family == Family::indel ? m + n : std::max(m, n);
  const uint64_t distance = family == Family::levenshtein ? count
                            : family == Family::indel     ? most - 2 * count
                                                          : most - count;
  const auto exact = static_cast<double>(distance);
  if (value == Value::distance) return cutoff && exact > *cutoff ? *cutoff + 1 : exact;
  if (value == Value::similarity) {
    const auto similarity = static_cast<double>(most - distance);
    return cutoff && similarity < *cutoff ? 0 : similarity;
  }
  const double normalized = most == 0 ? 0.0 : exact / static_cast<double>(most);
  if (value == Value::normalized_distance) return cutoff && normalized > *cutoff ? 1.0 : normalized;
  const double similarity = 1.0 - normalized;
  const double least = cutoff ? (percent ? *cutoff / 100.0 : *cutoff) : 0.0;
  if (similarity < least) return 0.0;
  return percent ? similarity * 100.0 : similarity;
}

}  // namespace hoist::python
