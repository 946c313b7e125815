// OSA and Jaro of many queries with many choices, several queries side by side in vector lanes
// (match/pairs/pair_kernels.h). Queries of more than 64 symbols, or alone in their batch, are
// compared one by one.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <vector>

#include "base/threads.h"
#include "match/fuzz/fuzz_matrix.h"
#include "match/pairs/pair_batches.h"
#include "match/pairs/symbol_numbers.h"

namespace hoist::match {

class LaneScores {
 public:
  // Scores of a query with some choices from `first` on.
  using Take = std::function<void(uint32_t query, size_t first, std::span<const double> scores)>;

  LaneScores(const FuzzScoring& scoring, const SequenceList& queries, const SequenceList& choices,
             const Take& take, const std::stop_token& stop);

  void run(ThreadPool& pool) const;

 private:
  static constexpr size_t kBlock = 64;  // choices

  class Lanes;

  void run_lanes(const Batch& batch, size_t begin, size_t end) const;
  void run_single(const Batch& batch, size_t begin, size_t end) const;

  const FuzzScoring& scoring_;
  const PairKernels& kernels_;
  const SequenceList& choices_;
  const Take& take_;
  const std::stop_token& stop_;
  SymbolNumbers numbers_;
  NumberedList queries_;
  uint32_t distinct_;
  std::vector<uint32_t> by_length_;
  std::vector<Batch> batches_;
};

}  // namespace hoist::match
