#include "match/fuzz/part_alignment.h"

#include <algorithm>
#include <vector>

#include "match/pairs/pair_scorer.h"

namespace hoist::match {
namespace {

constexpr double kAll = 100.0;

double share_of(uint64_t common, uint64_t lengths, double cutoff) {
  return kRatio.score(common, lengths, 0, cutoff);
}

// The score of a part as long as the needle. Compared as percents are, unlike the score of a pair:
// that decides exact ties.
double whole_score(uint64_t common, uint64_t needle) {
  const auto lengths = static_cast<double>(2 * needle);
  const double distance = lengths - 2 * static_cast<double>(common);
  return (1.0 - distance / lengths) * kAll;
}

// Parts of `text` that are as long as `needle`, but for its last; then beginnings and ends that are
// shorter. Of equally good ones the first counts, in an order that is RapidFuzz's: both ends of
// ranges of places before their middle, wider ranges before narrower ones.
class BestPart {
 public:
  BestPart(Symbols needle, Symbols text, double cutoff)
      : size_(needle.size()), length_(text.size()), masks_(needle), cutoff_(cutoff) {
    counts_.set(needle, masks_, text);
    best_.source_end = size_;
    best_.destination_end = size_;
  }

  PartialAlignment find() {
    if (counts_.is_empty()) return best_;
    if (length_ > size_ && find_among_whole()) return best_;
    for (size_t end = 1; end < size_; ++end) {
      if (counts_.has(end - 1) && take(0, end)) return best_;
    }
    for (size_t begin = length_ - size_; begin < length_; ++begin) {
      if (counts_.has(begin) && take(begin, length_)) return best_;
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
    const double score = share_of(counts_.common(begin, end), size_ + end - begin, cutoff_);
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
    std::vector<uint64_t> seen(length_ - size_, kUnknown);
    uint64_t most = 0;
    const auto look_at = [&](size_t place) {
      if (seen[place] != kUnknown) return false;
      seen[place] = counts_.common(place, place + size_);
      if (seen[place] <= most) return false;
      const double score = whole_score(seen[place], size_);
      if (score < cutoff_) return false;
      most = seen[place];
      return take(place, place + size_, score);
    };
    std::vector<Range> ranges = {{0, seen.size() - 1}};
    std::vector<Range> next;
    while (!ranges.empty()) {
      for (const Range& range : ranges) {
        if (look_at(range.first) || look_at(range.last)) return true;
        const size_t width = range.last - range.first;
        if (width <= 1) continue;
        // From place to place a count changes by one at most.
        const uint64_t reachable = (seen[range.first] + seen[range.last] + width) / 2;
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
  QueryMasks masks_;
  PartCounts counts_;
  double cutoff_;
  PartialAlignment best_;
};

PartialAlignment swapped(const PartialAlignment& alignment) {
  return {alignment.score, alignment.destination_begin, alignment.destination_end,
          alignment.source_begin, alignment.source_end};
}

}  // namespace

double best_part_score(PartCounts& counts, size_t needle, size_t text, double cutoff) {
  double best = 0;
  double least = cutoff;  // that is of interest
  if (text > needle) {
    const auto enough =
        static_cast<uint64_t>(std::max(0.0, cutoff - 1e-6) * static_cast<double>(needle) / kAll);
    const uint64_t most = counts.most_of_whole(enough);
    const double score = most == 0 ? 0 : whole_score(most, needle);
    if (score >= cutoff && score > 0) best = least = score;
  }
  const auto take = [&](uint64_t common, size_t length) {
    // Most are too little whatever the rounding.
    const uint64_t lengths = needle + length;
    const double enough = (least - 1e-6) * static_cast<double>(lengths);
    if (200.0 * static_cast<double>(common) < enough) return;
    const double score = share_of(common, lengths, least);
    if (score > best) best = least = score;
  };
  for (size_t end = 1; end < needle && best < kAll; ++end) take(counts.common(0, end), end);
  for (size_t begin = text - needle; begin < text && best < kAll; ++begin) {
    take(counts.common(begin, text), text - begin);
  }
  return best;
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

}  // namespace hoist::match
