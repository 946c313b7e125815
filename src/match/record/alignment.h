// How one pattern lies along the state: everything in a record that needs no other pattern.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "match/record/record.h"
#include "match/record/text_similarity.h"
#include "match/score/block_summary.h"
#include "match/score/blocks.h"

namespace hoist::match {

struct Alignment {
  uint32_t present_begin = 0;  // as in Record
  uint32_t present_end = 0;
  uint32_t blocks = 0;
  uint32_t flat_extras = 0;       // symbols of the state that match nothing
  std::vector<uint32_t> matches;  // positions in the state
  std::vector<Anomaly> anomalies;

  double evidence = 0;
  double confidence = 0;
  double snr = 0;
  double fragmentation = 0;

  // The potential without what needs other patterns.
  double own_potential() const;
};

// 1 / (fragmentation + 1), 0 without any block.
double fragmentation_term(double fragmentation);

// Thread-safe; each thread needs its own scratch.
class Aligner {
 public:
  struct Scratch {
    BlockMatcher::Scratch matcher;
    std::vector<Block> blocks;
    std::vector<uint32_t> symbols;
    std::vector<uint32_t> points;
    std::vector<bool> covered;
  };

  // State and source must outlive it.
  Aligner(const StateView& state, const RecordSource& source, const RecordOptions& options);

  // False where the reference drops the pattern: it has no block with the state, and the threshold
  // is above 0. Also where it was cancelled.
  bool align(const RecordSource::Pattern& pattern, Alignment& alignment, Scratch& scratch) const;

  // What Alignment::own_potential() would be, nothing where align() would be false. Not for fuzzy
  // matching.
  std::optional<double> own_potential(const RecordSource::Shape& shape,
                                      const BlockSummary& summary) const;

  // The similarity of characters, where it reaches the threshold; undefined where it was cancelled.
  std::optional<double> text_similarity(const RecordSource::Pattern& pattern,
                                        Scratch& scratch) const;

 private:
  void match_exactly(const std::vector<Block>& blocks, Alignment& alignment) const;
  void match_fuzzily(const RecordSource::Pattern& pattern, Alignment& alignment,
                     Scratch& scratch) const;
  std::optional<Anomaly> most_similar(const RecordSource::Pattern& pattern, uint32_t position,
                                      std::vector<uint32_t>& points) const;

  const StateView& state_;
  const RecordSource& source_;
  const RecordOptions& options_;
  BlockMatcher matcher_;
  std::vector<TextRatio> symbol_ratios_;    // by position, for fuzzy matching
  std::unique_ptr<TextRatio> state_ratio_;  // of the joined texts
};

}  // namespace hoist::match
