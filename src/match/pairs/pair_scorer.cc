#include "match/pairs/pair_scorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "match/pairs/one_pair.h"
#include "match/score/scorer.h"

namespace hoist::match {
namespace {

using Family = PairScorer::Family;
using Value = PairScorer::Value;

constexpr std::array<std::string_view, 3> kFamilies = {"LCSseq", "Indel", "Levenshtein"};
constexpr std::array<std::string_view, 4> kValues = {
    "distance", "similarity", "normalized_distance", "normalized_similarity"};
constexpr std::string_view kRatio = "ratio";

template <typename T, size_t kSize>
std::optional<T> find(const std::array<std::string_view, kSize>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return {};
  return static_cast<T>(found - names.begin());
}

}  // namespace

std::optional<PairScorer> PairScorer::named(std::string_view name) {
  if (name == kRatio) return PairScorer{Family::indel, Value::normalized_similarity, true};
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return {};
  const auto family = find<Family>(kFamilies, name.substr(0, dot));
  const auto value = find<Value>(kValues, name.substr(dot + 1));
  if (!family || !value) return {};
  return PairScorer{*family, *value, false};
}

std::vector<std::string> PairScorer::names() {
  std::vector<std::string> all = {std::string(kRatio)};
  for (const std::string_view family : kFamilies) {
    for (const std::string_view value : kValues) all.push_back(fmt::format("{}.{}", family, value));
  }
  return all;
}

std::string PairScorer::name() const {
  if (percent) return std::string(kRatio);
  return fmt::format("{}.{}", kFamilies[static_cast<size_t>(family)],
                     kValues[static_cast<size_t>(value)]);
}

Result<double> PairScorer::cutoff(double wanted) const {
  const auto refuse = [&](std::string_view range) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{}: a score_cutoff of {}: {}", name(), wanted, range));
  };
  if (is_integer()) {
    if (!std::isfinite(wanted) || wanted <= -1) return refuse("0 or more");
    return std::trunc(wanted) + 0.0;  // no -0
  }
  if (std::isnan(wanted)) return refuse("a number");
  if (!percent && (wanted < 0 || wanted > 1)) return refuse("0 to 1");
  return held_cutoff(wanted);
}

double PairScorer::normalized(uint64_t distance, uint64_t largest) const {
  return value == Value::normalized_distance ? normalized_distance(distance, largest)
                                             : normalized_similarity(distance, largest);
}

bool PairScorer::passes(double normalized, double cutoff) const {
  if (value == Value::normalized_distance) return normalized <= cutoff;
  return normalized >= (percent ? cutoff / 100.0 : cutoff);
}

double PairScorer::score(uint64_t count, uint64_t m, uint64_t n,
                         std::optional<double> cutoff) const {
  const uint64_t largest = this->largest(m, n);
  const uint64_t distance = family == Family::levenshtein ? count
                            : family == Family::indel     ? largest - 2 * count
                                                          : largest - count;
  const auto exact = static_cast<double>(distance);
  if (value == Value::distance) return cutoff && exact > *cutoff ? *cutoff + 1 : exact;
  if (value == Value::similarity) {
    const auto similarity = static_cast<double>(largest - distance);
    return cutoff && similarity < *cutoff ? 0 : similarity;
  }
  const double share = normalized(distance, largest);
  if (cutoff && !passes(share, *cutoff)) return worst();
  return percent ? share * 100.0 : share;
}

int64_t PairScorer::limit(uint64_t m, uint64_t n, double cutoff) const {
  const auto largest = static_cast<int64_t>(this->largest(m, n));
  const auto all = static_cast<double>(largest);
  int64_t distance = 0;  // the largest that passes
  if (value == Value::distance) {
    distance = static_cast<int64_t>(std::min(std::floor(cutoff), all));
  } else if (value == Value::similarity) {
    distance = largest - static_cast<int64_t>(std::min(std::ceil(cutoff), all + 1));
  } else {
    const auto is_enough = [&](int64_t d) {
      return passes(normalized(static_cast<uint64_t>(d), static_cast<uint64_t>(largest)), cutoff);
    };
    const double wanted = std::clamp(percent ? cutoff / 100.0 : cutoff, 0.0, 1.0);
    const double share = value == Value::normalized_distance ? wanted : 1.0 - wanted;
    distance = std::clamp(static_cast<int64_t>(share * all), int64_t{0}, largest);
    while (distance < largest && is_enough(distance + 1)) ++distance;
    while (distance >= 0 && !is_enough(distance)) --distance;
  }
  if (family == Family::levenshtein) return distance;
  const int64_t symbols = largest - distance;
  return family == Family::indel ? (symbols + 1) / 2 : symbols;
}

int64_t PairScorer::most_edits(uint64_t m, uint64_t n, double cutoff) const {
  const int64_t limit = this->limit(m, n, cutoff);
  return family == Family::levenshtein ? limit : static_cast<int64_t>(m + n) - 2 * limit;
}

double pair_score(const PairScorer& scorer, const Sequence& a, const Sequence& b,
                  std::optional<double> cutoff, const std::stop_token& stop) {
  const uint64_t m = a.length;
  const uint64_t n = b.length;
  const int64_t most = cutoff ? scorer.most_edits(m, n, *cutoff) : 0;
  uint64_t edits = 0;
  if (most < 0) {  // none pass: all are beyond
    edits = scorer.counts() == PairCount::lcs ? m + n : std::max(m, n);
  } else {
    edits =
        pair_edits(scorer.counts(), a, b, cutoff ? static_cast<uint64_t>(most) : kAnyEdits, stop);
  }
  return scorer.score(scorer.counts() == PairCount::lcs ? (m + n - edits) / 2 : edits, m, n,
                      cutoff);
}

uint64_t pair_score_steps(const PairScorer& scorer, const Sequence& a, const Sequence& b,
                          std::optional<double> cutoff) {
  if (!cutoff) return pair_steps(a, b, kAnyEdits);
  const int64_t most = scorer.most_edits(a.length, b.length, *cutoff);
  return pair_steps(a, b, static_cast<uint64_t>(std::max<int64_t>(0, most)));
}

}  // namespace hoist::match
