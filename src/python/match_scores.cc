#include "python/match_scores.h"

#include <algorithm>
#include <array>
#include <cmath>

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

double PairScorer::normalized(uint64_t distance, uint64_t most) const {
  const double share = most == 0 ? 0.0 : static_cast<double>(distance) / static_cast<double>(most);
  return value == Value::normalized_distance ? share : 1.0 - share;
}

bool PairScorer::passes(double normalized, double cutoff) const {
  if (value == Value::normalized_distance) return normalized <= cutoff;
  return normalized >= (percent ? cutoff / 100.0 : cutoff);
}

double PairScorer::score(uint64_t count, uint64_t m, uint64_t n,
                         std::optional<double> cutoff) const {
  const uint64_t most = this->most(m, n);
  const uint64_t distance = family == Family::levenshtein ? count
                            : family == Family::indel     ? most - 2 * count
                                                          : most - count;
  const auto exact = static_cast<double>(distance);
  if (value == Value::distance) return cutoff && exact > *cutoff ? *cutoff + 1 : exact;
  if (value == Value::similarity) {
    const auto similarity = static_cast<double>(most - distance);
    return cutoff && similarity < *cutoff ? 0 : similarity;
  }
  const double share = normalized(distance, most);
  if (cutoff && !passes(share, *cutoff)) return worst();
  return percent ? share * 100.0 : share;
}

int64_t PairScorer::limit(uint64_t m, uint64_t n, double cutoff) const {
  const auto most = static_cast<int64_t>(this->most(m, n));
  const auto all = static_cast<double>(most);
  int64_t distance = 0;  // the largest that passes
  if (value == Value::distance) {
    distance = static_cast<int64_t>(std::min(std::floor(cutoff), all));
  } else if (value == Value::similarity) {
    distance = most - static_cast<int64_t>(std::min(std::ceil(cutoff), all + 1));
  } else {
    const auto is_enough = [&](int64_t d) {
      return passes(normalized(static_cast<uint64_t>(d), static_cast<uint64_t>(most)), cutoff);
    };
    const double wanted = percent ? cutoff / 100.0 : cutoff;
    const double share = value == Value::normalized_distance ? wanted : 1.0 - wanted;
    distance = std::clamp(static_cast<int64_t>(share * all), int64_t{0}, most);
    while (distance < most && is_enough(distance + 1)) ++distance;
    while (distance >= 0 && !is_enough(distance)) --distance;
  }
  if (family == Family::levenshtein) return distance;
  const int64_t symbols = most - distance;
  return family == Family::indel ? (symbols + 1) / 2 : symbols;
}

}  // namespace hoist::python
