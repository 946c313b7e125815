#include "match/fuzz/ratios.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "match/fuzz/part_counter.h"
#include "match/fuzz/words.h"
#include "match/pairs/pair_scorer.h"

namespace hoist::match {
namespace {

constexpr PairScorer kRatio = {PairScorer::Family::indel, PairScorer::Value::normalized_similarity,
                               true};
constexpr double kAll = 100.0;

Sequence sequence_of(Symbols symbols) { return {symbols.data(), symbols.size()}; }

double share_of(uint64_t common, uint64_t lengths, double cutoff) {
  return kRatio.score(common, lengths, 0, cutoff);
}

// Parts of `text` that are as long as `needle`, but for its last; then beginnings and ends that are
// shorter. Of equally good ones the first counts, in an order that is RapidFuzz's: both ends of
// ranges of places before their middle, wider ranges before narrower ones.
class BestPart {
 public:
  BestPart(Symbols needle, Symbols text, double cutoff)
      : size_(needle.size()), length_(text.size()), counter_(needle, text), cutoff_(cutoff) {
    best_.source_end = size_;
    best_.destination_end = size_;
  }

  PartialAlignment find() {
    if (length_ > size_ && find_among_whole()) return best_;
    for (size_t end = 1; end < size_; ++end) {
      if (counter_.has(end - 1) && take(0, end)) return best_;
    }
    for (size_t begin = length_ - size_; begin < length_; ++begin) {
      if (counter_.has(begin) && take(begin, length_)) return best_;
    }
    return best_;
  }

 private:
  struct Range {
    size_t first;
    size_t last;
  };

  // Whether nothing can be better.
  bool take(size_t begin, size_t end) {
    const double score = share_of(counter_.common(begin, end), size_ + end - begin, cutoff_);
    return take(begin, end, score);
  }
  bool take(size_t begin, size_t end, double score) {
    if (score <= best_.score) return false;
    cutoff_ = best_.score = score;
    best_.destination_begin = begin;
    best_.destination_end = end;
    return score == kAll;
  }

  bool find_among_whole() {
    constexpr uint64_t kUnknown = ~uint64_t{0};
    std::vector<uint64_t> counts(length_ - size_, kUnknown);
    uint64_t most = 0;
    const auto look_at = [&](size_t place) {
      if (counts[place] != kUnknown) return false;
      counts[place] = counter_.common(place, place + size_);
      if (counts[place] <= most) return false;
      // Compared as percents are, unlike the score of a pair: that decides exact ties.
      const auto lengths = static_cast<double>(2 * size_);
      const double distance = lengths - 2 * static_cast<double>(counts[place]);
      const double score = (1.0 - distance / lengths) * kAll;
      if (score < cutoff_) return false;
      most = counts[place];
      return take(place, place + size_, score);
    };
    std::vector<Range> ranges = {{0, counts.size() - 1}};
    std::vector<Range> next;
    while (!ranges.empty()) {
      for (const Range& range : ranges) {
        if (look_at(range.first) || look_at(range.last)) return true;
        const size_t width = range.last - range.first;
        if (width <= 1) continue;
        // From place to place a count changes by one at most.
        const uint64_t reachable = (counts[range.first] + counts[range.last] + width) / 2;
        if (reachable <= most) continue;
        const size_t middle = range.first + width / 2;
        next.push_back({range.first, middle});
        next.push_back({middle, range.last});
      }
      ranges.swap(next);
      next.clear();
    }
    return false;
  }

  size_t size_;
  size_t length_;
  PartCounter counter_;
  double cutoff_;
  PartialAlignment best_;
};

PartialAlignment swapped(const PartialAlignment& alignment) {
  return {alignment.score, alignment.destination_begin, alignment.destination_end,
          alignment.source_begin, alignment.source_end};
}

// What token_set_ratio() and token_ratio() share: the words that both have, alone and with those
// that only one has.
double set_ratio(const WordSets& sets, double cutoff) {
  const std::vector<uint32_t> only_a = joined(sets.only_a);
  const std::vector<uint32_t> only_b = joined(sets.only_b);
  const uint64_t both = joined(sets.both).size();
  const uint64_t space = both > 0 ? 1 : 0;
  const uint64_t with_a = both + space + only_a.size();
  const uint64_t with_b = both + space + only_b.size();
  const auto score = [&](uint64_t distance, uint64_t lengths) {
    const double share =
        lengths == 0 ? kAll
                     : kAll - kAll * static_cast<double>(distance) / static_cast<double>(lengths);
    return share >= cutoff ? share : 0;
  };
  const double indels = pair_score({PairScorer::Family::indel, PairScorer::Value::distance, false},
                                   sequence_of(only_a), sequence_of(only_b), {});
  double best = score(static_cast<uint64_t>(indels), with_a + with_b);
  if (both == 0) return best;
  best = std::max(best, score(space + only_a.size(), both + with_a));
  return std::max(best, score(space + only_b.size(), both + with_b));
}

bool is_subset(const WordSets& sets) {
  return !sets.both.empty() && (sets.only_a.empty() || sets.only_b.empty());
}

}  // namespace

double ratio(const Text& a, const Text& b, double cutoff) {
  return pair_score(kRatio, sequence_of(a.symbols), sequence_of(b.symbols), cutoff);
}

PartialAlignment partial_ratio_alignment(const Text& a, const Text& b, double cutoff) {
  if (a.size() > b.size()) return swapped(partial_ratio_alignment(b, a, cutoff));
  if (cutoff > kAll) return {0, 0, a.size(), 0, a.size()};
  if (a.empty()) return {b.empty() ? kAll : 0, 0, 0, 0, 0};
  const PartialAlignment found = BestPart(a.symbols, b.symbols, cutoff).find();
  if (found.score == kAll || a.size() != b.size()) return found;
  const PartialAlignment other =
      BestPart(b.symbols, a.symbols, std::max(cutoff, found.score)).find();
  return other.score > found.score ? swapped(other) : found;
}

double partial_ratio(const Text& a, const Text& b, double cutoff) {
  return partial_ratio_alignment(a, b, cutoff).score;
}

double token_sort_ratio(const Text& a, const Text& b, double cutoff) {
  if (cutoff > kAll) return 0;
  return ratio(joined(sorted_words(a)), joined(sorted_words(b)), cutoff);
}

double token_set_ratio(const Text& a, const Text& b, double cutoff) {
  if (cutoff > kAll) return 0;
  const Words of_a = sorted_words(a);
  const Words of_b = sorted_words(b);
  if (of_a.empty() || of_b.empty()) return 0;
  const WordSets sets(of_a, of_b);
  return is_subset(sets) ? kAll : set_ratio(sets, cutoff);
}

double token_ratio(const Text& a, const Text& b, double cutoff) {
  if (cutoff > kAll) return 0;
  const Words of_a = sorted_words(a);
  const Words of_b = sorted_words(b);
  const WordSets sets(of_a, of_b);
  if (is_subset(sets)) return kAll;
  const double sorted = ratio(joined(of_a), joined(of_b), cutoff);
  return std::max(sorted, set_ratio(sets, std::max(cutoff, sorted)));
}

double partial_token_sort_ratio(const Text& a, const Text& b, double cutoff) {
  if (cutoff > kAll) return 0;
  return partial_ratio(joined(sorted_words(a)), joined(sorted_words(b)), cutoff);
}

double partial_token_set_ratio(const Text& a, const Text& b, double cutoff) {
  if (cutoff > kAll) return 0;
  const Words of_a = sorted_words(a);
  const Words of_b = sorted_words(b);
  if (of_a.empty() || of_b.empty()) return 0;
  const WordSets sets(of_a, of_b);
  if (!sets.both.empty()) return kAll;
  return partial_ratio(joined(sets.only_a), joined(sets.only_b), cutoff);
}

double partial_token_ratio(const Text& a, const Text& b, double cutoff) {
  if (cutoff > kAll) return 0;
  const Words of_a = sorted_words(a);
  const Words of_b = sorted_words(b);
  const WordSets sets(of_a, of_b);
  if (!sets.both.empty()) return kAll;
  const double sorted = partial_ratio(joined(of_a), joined(of_b), cutoff);
  if (of_a.size() == sets.only_a.size() && of_b.size() == sets.only_b.size()) return sorted;
  const double distinct =
      partial_ratio(joined(sets.only_a), joined(sets.only_b), std::max(cutoff, sorted));
  return std::max(sorted, distinct);
}

double weighted_ratio(const Text& a, const Text& b, double cutoff) {
  if (cutoff > kAll || a.empty() || b.empty()) return 0;
  constexpr double kWords = 0.95;
  const auto [shorter, longer] = std::minmax({a.size(), b.size()});
  const double lengths = static_cast<double>(longer) / static_cast<double>(shorter);
  const double whole = ratio(a, b, cutoff);
  if (lengths < 1.5) {
    const double beyond = std::max(cutoff, whole) / kWords;
    return std::max(whole, token_ratio(a, b, beyond) * kWords);
  }
  // Cut-offs are divided in this order, as RapidFuzz does: that decides exact ties.
  const double parts = lengths <= 8.0 ? 0.9 : 0.6;
  const double beyond = std::max(cutoff, whole) / parts;
  const double best = std::max(whole, partial_ratio(a, b, beyond) * parts);
  const double of_words = partial_token_ratio(a, b, std::max(beyond, best) / kWords);
  return std::max(best, of_words * kWords * parts);
}

double quick_ratio(const Text& a, const Text& b, double cutoff) {
  return a.empty() || b.empty() ? 0 : ratio(a, b, cutoff);
}

}  // namespace hoist::match
