// One search of all tiers of a moment, for several states.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "match/gpu/segment_search.h"
#include "match/index/search.h"
#include "match/index/tiers.h"
#include "match/scan/query_scorer.h"

namespace hoist::match {

// Patterns from which on a segment is worth threads of its own, or a GPU.
inline constexpr uint32_t kLargeSegment = 1 << 17;

Place place_of(const Tiers& tiers, const IndexHit& hit);

class TierSearch {
 public:
  using States = std::span<const std::span<const uint32_t>>;

  // All of them must outlive it. `segment_search` has the large stable segments.
  TierSearch(const TierView& view, States states, const IndexSearchOptions& options,
             SegmentSearch& segment_search)
      : view_(view),
        tiers_(*view.tiers),
        states_(states),
        options_(options),
        segment_search_(segment_search),
        found_(states.size()) {}

  // Hits come in no order.
  Status run();
  // The best first, no more than were asked for.
  Status rank();

  struct Found {
    IndexHit hit;
    uint64_t raw;     // what score_of() takes
    uint64_t prefix;  // of the name: it decides most ties
  };
  const std::vector<Found>& found(size_t state) const { return found_[state]; }

 private:
  struct Part {
    uint32_t tier;
    uint32_t begin;
    uint32_t end;
  };
  Found found(size_t state, uint32_t tier, uint32_t place, uint64_t raw, uint64_t length) const;
  void take(size_t state, uint32_t tier, std::span<const Match> matches);
  Status search_stable(uint32_t tier);
  Status search_parts(const std::vector<Part>& parts);
  Status search_recent(const std::vector<QueryScorer>& scorers, const Part& part);
  bool search_part(const QueryScorer& scorer, const Part& part, size_t state);
  void rank(std::vector<Found>& found) const;

  const TierView& view_;
  const Tiers& tiers_;
  States states_;
  const IndexSearchOptions& options_;
  SegmentSearch& segment_search_;
  std::mutex mutex_;
  std::vector<std::vector<Found>> found_;
};

}  // namespace hoist::match
