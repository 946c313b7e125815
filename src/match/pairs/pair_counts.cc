#include "match/pairs/pair_counts.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "match/pairs/pair_batches.h"
#include "match/score/edit_distance.h"

namespace hoist::match {
namespace {

// Sequences of the stream whose counts are collected before they are handed over.
constexpr size_t kBlock = 64;
// So few choices go side by side into lanes instead of the queries, if they are fewer.
constexpr size_t kFewChoices = 256;
// Making a batch's table is worth while for so many sequences of the stream.
constexpr size_t kLeastStream = 1024;
// Symbols below this, such as characters, are small enough as they are.
constexpr uint32_t kDenseSymbols = 4096;

uint32_t largest_of(std::span<const uint32_t> symbols) {
  uint32_t largest = 0;
  for (const uint32_t symbol : symbols) largest = std::max(largest, symbol);
  return largest;
}

class AllPairs {
 public:
  AllPairs(PairCount count, const SequenceList& lanes, const SequenceList& stream,
           uint32_t distinct, bool lanes_are_queries, const PairOptions& options,
           const std::function<void(const PairRun&)>& take)
      : count_(count),
        lanes_(lanes),
        stream_(stream),
        distinct_(distinct),
        lanes_are_queries_(lanes_are_queries),
        kernels_(options.kernels != nullptr ? *options.kernels : pair_kernels()),
        skips_(options.skips),
        take_(take),
        by_length_(lanes.size()) {
    std::iota(by_length_.begin(), by_length_.end(), 0);
    std::stable_sort(by_length_.begin(), by_length_.end(),
                     [&](uint32_t x, uint32_t y) { return lanes_.length(x) < lanes_.length(y); });
    batches_ = batches_of(lanes_, by_length_, distinct);
  }

  void run(ThreadPool& pool) const {
    // Each batch's stream in so many pieces that all threads have work till the end.
    const size_t wanted = pool.size() == 1 ? 1 : 4 * static_cast<size_t>(pool.size());
    const size_t most = std::max<size_t>(1, stream_.size() / kLeastStream);
    const size_t pieces = std::min(most, (wanted + batches_.size() - 1) / batches_.size());
    const size_t step = (stream_.size() + pieces - 1) / pieces;
    pool.parallel_for(batches_.size() * pieces, [&](size_t i) {
      const size_t begin = i % pieces * step;
      const size_t end = std::min(stream_.size(), begin + step);
      if (begin >= end) return;
      const Batch& batch = batches_[i / pieces];
      batch.kind == kPairwise ? run_pairwise(batch, begin, end) : run_lanes(batch, begin, end);
    });
  }

 private:
  void run_lanes(const Batch& batch, size_t begin, size_t end) const {
    MaskTable table(distinct_);
    table.fill(batch, lanes_);
    const PairBatch view = table.view(batch.words);
    PairKernel* const kernel = kernels_.of(count_, batch.kind);
    std::vector<uint32_t> groups;
    alignas(64) std::array<std::byte, kBlock * kRowBytes> counts;
    for (size_t first = begin; first < end; first += kBlock) {
      const size_t size = std::min(kBlock, end - first);
      for (size_t i = 0; i < size; ++i) {
        std::byte* const row = counts.data() + i * kRowBytes;
        if (batch.kind == kLongLanes && skip(batch, stream_.length(first + i), row)) continue;
        translate(table, stream_[first + i], groups);
        kernel(view, groups, row);
      }
      switch (lane_bytes(batch.kind)) {
        case 1:
          hand_over<int8_t>(batch, first, size, counts.data());
          break;
        case 2:
          hand_over<int16_t>(batch, first, size, counts.data());
          break;
        case 4:
          hand_over<int32_t>(batch, first, size, counts.data());
          break;
        default:
          hand_over<int64_t>(batch, first, size, counts.data());
      }
    }
  }

  bool skips(uint32_t lane, uint32_t other) const {
    return lanes_are_queries_ ? skips_(lane, other) : skips_(other, lane);
  }

  int64_t best_count(uint32_t x, uint32_t y) const {
    return count_ == PairCount::lcs ? std::min(x, y) : std::max(x, y) - std::min(x, y);
  }

  // Where no lane's count with a sequence of this length is of interest: the best ones, as a kernel
  // gives them.
  bool skip(const Batch& batch, uint32_t length, std::byte* row) const {
    if (!skips_) return false;
    for (const uint32_t member : batch.members) {
      if (!skips(lanes_.length(member), length)) return false;
    }
    const int64_t less = count_ == PairCount::levenshtein ? length : 0;
    for (size_t lane = 0; lane < batch.members.size(); ++lane) {
      const int64_t count = best_count(lanes_.length(batch.members[lane]), length) - less;
      std::memcpy(row + lane * sizeof(count), &count, sizeof(count));
    }
    return true;
  }

  // A symbol that no lane has changes no LCS.
  void translate(const MaskTable& table, std::span<const uint32_t> sequence,
                 std::vector<uint32_t>& groups) const {
    groups.resize(sequence.size());
    size_t size = 0;
    const bool keeps_all = count_ == PairCount::levenshtein;
    for (const uint32_t symbol : sequence) {
      const uint32_t group = table.group(symbol);
      groups[size] = group;
      size += static_cast<size_t>(keeps_all || group != 0);
    }
    groups.resize(size);
  }

  template <typename Count>
  void hand_over(const Batch& batch, size_t first, size_t size, const std::byte* counts) const {
    std::array<uint32_t, kBlock> added{};
    if (count_ == PairCount::levenshtein) {
      for (size_t i = 0; i < size; ++i) added[i] = stream_.length(first + i);
    }
    std::array<uint32_t, kBlock> column;
    for (size_t lane = 0; lane < batch.members.size(); ++lane) {
      for (size_t i = 0; i < size; ++i) {
        Count count;
        std::memcpy(&count, counts + i * kRowBytes + lane * sizeof(Count), sizeof(Count));
        column[i] = added[i] + static_cast<uint32_t>(count);
      }
      give(batch.members[lane], first, {column.data(), size});
    }
  }

  void run_pairwise(const Batch& batch, size_t begin, size_t end) const {
    std::array<uint32_t, kBlock> column;
    for (const uint32_t member : batch.members) {
      const MatchMasks masks(lanes_[member]);
      for (size_t first = begin; first < end; first += kBlock) {
        const size_t size = std::min(kBlock, end - first);
        for (size_t i = 0; i < size; ++i) {
          const std::span<const uint32_t> other = stream_[first + i];
          if (skips_ && skips(lanes_.length(member), stream_.length(first + i))) {
            column[i] =
                static_cast<uint32_t>(best_count(lanes_.length(member), stream_.length(first + i)));
            continue;
          }
          column[i] =
              static_cast<uint32_t>(count_ == PairCount::lcs ? lcs_length(masks, other)
                                                             : levenshtein_distance(masks, other));
        }
        give(member, first, {column.data(), size});
      }
    }
  }

  void give(uint32_t fixed, size_t first, std::span<const uint32_t> counts) const {
    take_({lanes_are_queries_, fixed, static_cast<uint32_t>(first), counts});
  }

  PairCount count_;
  const SequenceList& lanes_;
  const SequenceList& stream_;
  uint32_t distinct_;
  bool lanes_are_queries_;
  const PairKernels& kernels_;
  const std::function<bool(uint32_t, uint32_t)>& skips_;
  const std::function<void(const PairRun&)>& take_;
  std::vector<uint32_t> by_length_;
  std::vector<Batch> batches_;
};

}  // namespace

void count_pairs(PairCount count, const SequenceList& queries, const SequenceList& choices,
                 ThreadPool& pool, const std::function<void(const PairRun&)>& take,
                 const PairOptions& options) {
  if (queries.size() == 0 || choices.size() == 0) return;
  const bool by_query = choices.size() >= kFewChoices || choices.size() >= queries.size();
  const auto run = [&](const SequenceList& x, const SequenceList& y, uint32_t distinct) {
    AllPairs(count, by_query ? x : y, by_query ? y : x, distinct, by_query, options, take)
        .run(pool);
  };
  const uint32_t largest = std::max(largest_of(queries.symbols), largest_of(choices.symbols));
  if (largest < kDenseSymbols) return run(queries, choices, largest + 1);
  DenseSymbols dense;
  const std::vector<uint32_t> query_symbols = dense.number(queries.symbols);
  const std::vector<uint32_t> choice_symbols = dense.number(choices.symbols);
  run({query_symbols, queries.ends}, {choice_symbols, choices.ends}, dense.size());
}

}  // namespace hoist::match
