// A moment of an index as the source of one prediction's records (match/record/record_source.h).
//
// Affinity is the sum of an emotive over the learnings whose emotives are kept, for each pattern
// that has the symbol; it is counted through when it is asked for first.
#pragma once

#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "match/gpu/segment_search.h"
#include "match/index/tiers.h"
#include "match/record/record_source.h"
#include "match/vocabulary/vocabulary.h"

namespace hoist::match {

class RecordView : public RecordSource {
 public:
  // `segment_search` has the large stable segments.
  RecordView(TierView view, const Vocabulary& vocabulary, uint64_t patterns,
             SegmentSearch& segment_search)
      : view_(std::move(view)),
        vocabulary_(vocabulary),
        patterns_(patterns),
        segment_search_(segment_search) {}

  // The number of a tier's pattern (IndexHit); any pattern of the view may be a candidate.
  static uint64_t candidate(uint32_t tier, uint32_t place) { return uint64_t{tier} << 32 | place; }

  Pattern pattern(uint64_t candidate, std::vector<uint32_t>& scratch) const override;
  Shape shape(uint64_t candidate) const override;
  std::vector<BlockSummary> summarize_blocks(std::span<const uint32_t> state,
                                             std::span<const Candidate> candidates,
                                             const std::stop_token& stop) const override;
  std::string name(uint64_t candidate) const override;
  bool named_before(uint64_t x, uint64_t y) const override;
  uint64_t frequency(uint64_t candidate) const override;
  std::vector<Emotive> emotives(uint64_t candidate) const override;
  uint64_t patterns_with(uint32_t symbol) const override;
  uint64_t occurrences(uint32_t symbol) const override;
  double affinity(uint32_t symbol, std::string_view emotive) const override;
  std::string_view text(uint32_t symbol) const override;
  Totals totals() const override;

 private:
  Place place_of(uint64_t candidate) const;
  using Affinities = std::unordered_map<uint32_t, double>;
  Affinities count_affinities(std::string_view emotive) const;

  TierView view_;
  const Vocabulary& vocabulary_;
  uint64_t patterns_;
  SegmentSearch& segment_search_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, Affinities> affinities_;
};

}  // namespace hoist::match
