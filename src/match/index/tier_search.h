// One search of all tiers of a moment, for several states.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "base/uninitialized_array.h"
#include "match/gpu/segment_search.h"
#include "match/index/search.h"
#include "match/index/tiers.h"
#include "match/record/record_source.h"
#include "match/scan/query_scorer.h"
#include "match/scan/search.h"

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
        lists_(states.size()),
        found_(states.size()) {}

  Status run();
  // What run() has found, in no order, for RecordView.
  UninitializedArray<Candidate> candidates(size_t state) const;

  struct Found {
    IndexHit hit;
    uint64_t raw;     // what score_of() takes
    uint64_t prefix;  // of the name: it decides most ties
  };
  // The best first, no more than were asked for. Takes the place of what run() has found.
  Status rank();
  const std::vector<Found>& found(size_t state) const { return found_[state]; }

 private:
  struct Part {
    uint32_t tier;
    uint32_t begin;
    uint32_t end;
  };
  // Matches of one tier.
  struct List {
    uint32_t tier;
    std::vector<Match> matches;
  };

  void take(size_t state, uint32_t tier, std::vector<Match> matches);
  // For each list of a state, where it begins among all: body(list, first).
  template <typename Body>
  size_t for_each_list(size_t state, const Body& body) const;
  std::vector<Found> score(size_t state) const;
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
  std::vector<std::vector<List>> lists_;
  std::vector<std::vector<Found>> found_;
};

}  // namespace hoist::match
