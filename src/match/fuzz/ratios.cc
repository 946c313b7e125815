#include "match/fuzz/ratios.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "match/fuzz/masked_counts.h"
#include "match/pairs/pair_scorer.h"

namespace hoist::match {
namespace {

constexpr double kAll = 100.0;

double masked_ratio(Symbols a, const QueryMasks& masks, Symbols b, double cutoff) {
  const uint64_t lengths = a.size() + b.size();
  if (is_ratio_below(std::min(a.size(), b.size()), lengths, cutoff)) return 0;
  const uint64_t common = lcs_length(masks, as_sequence(b));
  if (is_ratio_below(common, lengths, cutoff)) return 0;
  return kRatio.score(common, a.size(), b.size(), cutoff);
}

double set_score(uint64_t distance, uint64_t lengths, double cutoff) {
  const double share =
      lengths == 0 ? kAll
                   : kAll - kAll * static_cast<double>(distance) / static_cast<double>(lengths);
  return share >= cutoff ? share : 0;
}

uint64_t joined_size(const Words& words) {
  uint64_t size = words.empty() ? 0 : words.size() - 1;
  for (const Symbols& word : words) size += word.size();
  return size;
}

}  // namespace

void TextForms::set(const Text& text) {
  text_ = text;
  has_words_ = has_joined_ = has_masks_ = has_joined_masks_ = false;
}

const Words& TextForms::words() {
  if (!std::exchange(has_words_, true)) sort_words(text_, words_);
  return words_;
}

const Symbols& TextForms::joined() {
  if (std::exchange(has_joined_, true)) return joined_;
  if (words().size() == 1) return joined_ = words_.front();
  join(words_, joined_room_);
  return joined_ = joined_room_;
}

const QueryMasks& TextForms::masks() {
  if (!std::exchange(has_masks_, true)) masks_.set(text_.symbols);
  return masks_;
}

const QueryMasks& TextForms::joined_masks() {
  if (!std::exchange(has_joined_masks_, true)) joined_masks_.set(joined());
  return joined_masks_;
}

void Ratios::split() { sets_.set(query_.words(), other_.words()); }

bool Ratios::is_subset() const {
  return !sets_.both.empty() && (sets_.only_a.empty() || sets_.only_b.empty());
}

double Ratios::ratio(const Text& other, double cutoff) {
  compare_with(other);
  return ratio(cutoff);
}

double Ratios::ratio(double cutoff) {
  const Symbols query = query_.text().symbols;
  const Symbols other = other_.text().symbols;
  if (is_first(query, other)) {
    return pair_score(kRatio, as_sequence(query), as_sequence(other), cutoff);
  }
  return masked_ratio(query, query_.masks(), other, cutoff);
}

double Ratios::ratio_of_words(double cutoff) {
  const Symbols a = query_.joined();
  const Symbols b = other_.joined();
  if (is_ratio_below(std::min(a.size(), b.size()), a.size() + b.size(), cutoff)) return 0;
  if (is_first(a, b)) return pair_score(kRatio, as_sequence(a), as_sequence(b), cutoff);
  return masked_ratio(a, query_.joined_masks(), b, cutoff);
}

double Ratios::ratio_of_sets(double cutoff) {
  const uint64_t both = joined_size(sets_.both);
  const uint64_t size_a = joined_size(sets_.only_a);
  const uint64_t size_b = joined_size(sets_.only_b);
  const uint64_t space = both > 0 ? 1 : 0;
  const uint64_t with_a = both + space + size_a;
  const uint64_t with_b = both + space + size_b;
  double best = 0;
  if (both != 0) {
    best = set_score(space + size_a, both + with_a, cutoff);
    best = std::max(best, set_score(space + size_b, both + with_b, cutoff));
  }
  // Whatever order the words are in, these are at least so far apart.
  const uint64_t least = size_a > size_b ? size_a - size_b : size_b - size_a;
  const double reached = set_score(least, with_a + with_b, cutoff);
  if (reached == 0 || reached < best) return best;
  join(sets_.only_a, only_a_);
  join(sets_.only_b, only_b_);
  uint64_t distance = 0;
  if (is_first(only_a_, only_b_)) {
    distance = static_cast<uint64_t>(
        pair_score({PairScorer::Family::indel, PairScorer::Value::distance, false},
                   as_sequence(only_a_), as_sequence(only_b_), {}));
  } else if (both == 0 && sets_.only_a.size() == query_.words().size()) {
    distance = size_a + size_b - 2 * lcs_length(query_.joined_masks(), as_sequence(only_b_));
  } else {
    masks_.set(only_a_);
    distance = size_a + size_b - 2 * lcs_length(masks_, as_sequence(only_b_));
  }
  return std::max(best, set_score(distance, with_a + with_b, cutoff));
}

double Ratios::best_part(Symbols needle, const QueryMasks& masks, Symbols text, double cutoff) {
  counts_.set(needle, masks, text);
  if (counts_.is_empty()) return 0;
  return best_part_score(counts_, needle.size(), text.size(), cutoff);
}

double Ratios::best_part(Symbols a, const QueryMasks* of_a, Symbols b, const QueryMasks* of_b,
                         double cutoff) {
  if (a.size() > b.size()) return best_part(b, of_b, a, of_a, cutoff);
  if (cutoff > kAll) return 0;
  if (a.empty()) return b.empty() ? kAll : 0;
  const auto masks_of = [&](Symbols text, const QueryMasks* known) -> const QueryMasks& {
    if (known != nullptr) return *known;
    masks_.set(text);
    return masks_;
  };
  const double found = best_part(a, masks_of(a, of_a), b, cutoff);
  if (found == kAll || a.size() != b.size()) return found;
  // Nothing is common whichever is the needle.
  if (counts_.is_empty()) return found;
  const double other = best_part(b, masks_of(b, of_b), a, std::max(cutoff, found));
  return std::max(found, other);
}

double Ratios::parts(double cutoff) {
  const Symbols query = query_.text().symbols;
  const Symbols other = other_.text().symbols;
  // The longer one needs no masks.
  const QueryMasks* const known = query.size() <= other.size() ? &query_.masks() : nullptr;
  return best_part(query, known, other, nullptr, cutoff);
}

double Ratios::parts_of_words(double cutoff) {
  const Symbols query = query_.joined();
  const Symbols other = other_.joined();
  const QueryMasks* const known = query.size() <= other.size() ? &query_.joined_masks() : nullptr;
  return best_part(query, known, other, nullptr, cutoff);
}

double Ratios::parts_of_sets(double cutoff) {
  join(sets_.only_a, only_a_);
  join(sets_.only_b, only_b_);
  return best_part(only_a_, nullptr, only_b_, nullptr, cutoff);
}

double Ratios::partial_ratio(const Text& other, double cutoff) {
  compare_with(other);
  return parts(cutoff);
}

double Ratios::token_sort_ratio(const Text& other, double cutoff) {
  if (cutoff > kAll) return 0;
  compare_with(other);
  return ratio_of_words(cutoff);
}

double Ratios::token_set_ratio(const Text& other, double cutoff) {
  if (cutoff > kAll) return 0;
  compare_with(other);
  if (query_.words().empty() || other_.words().empty()) return 0;
  split();
  return is_subset() ? kAll : ratio_of_sets(cutoff);
}

double Ratios::token_ratio(const Text& other, double cutoff) {
  compare_with(other);
  return token_ratio(cutoff);
}

double Ratios::token_ratio(double cutoff) {
  if (cutoff > kAll) return 0;
  split();
  if (is_subset()) return kAll;
  const double sorted = ratio_of_words(cutoff);
  return std::max(sorted, ratio_of_sets(std::max(cutoff, sorted)));
}

double Ratios::partial_token_sort_ratio(const Text& other, double cutoff) {
  if (cutoff > kAll) return 0;
  compare_with(other);
  return parts_of_words(cutoff);
}

double Ratios::partial_token_set_ratio(const Text& other, double cutoff) {
  if (cutoff > kAll) return 0;
  compare_with(other);
  if (query_.words().empty() || other_.words().empty()) return 0;
  split();
  if (!sets_.both.empty()) return kAll;
  return parts_of_sets(cutoff);
}

double Ratios::partial_token_ratio(const Text& other, double cutoff) {
  compare_with(other);
  return partial_token_ratio(cutoff);
}

double Ratios::partial_token_ratio(double cutoff) {
  if (cutoff > kAll) return 0;
  split();
  if (!sets_.both.empty()) return kAll;
  const double sorted = parts_of_words(cutoff);
  const bool are_distinct =
      query_.words().size() == sets_.only_a.size() && other_.words().size() == sets_.only_b.size();
  if (are_distinct) return sorted;
  return std::max(sorted, parts_of_sets(std::max(cutoff, sorted)));
}

double Ratios::weighted_ratio(const Text& other, double cutoff) {
  const Text& query = query_.text();
  if (cutoff > kAll || query.empty() || other.empty()) return 0;
  constexpr double kWords = 0.95;
  const auto [shorter, longer] = std::minmax({query.size(), other.size()});
  const double lengths = static_cast<double>(longer) / static_cast<double>(shorter);
  compare_with(other);
  const double whole = ratio(cutoff);
  if (lengths < 1.5) {
    const double beyond = std::max(cutoff, whole) / kWords;
    return std::max(whole, token_ratio(beyond) * kWords);
  }
  // Cut-offs are divided in this order, as RapidFuzz does: that decides exact ties.
  const double of_parts = lengths <= 8.0 ? 0.9 : 0.6;
  const double beyond = std::max(cutoff, whole) / of_parts;
  const double best = std::max(whole, parts(beyond) * of_parts);
  const double of_words = partial_token_ratio(std::max(beyond, best) / kWords);
  return std::max(best, of_words * kWords * of_parts);
}

}  // namespace hoist::match
