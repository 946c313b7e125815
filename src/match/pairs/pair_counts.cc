#include "match/pairs/pair_counts.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "match/pairs/limited_counts.h"
#include "match/pairs/pair_batches.h"
#include "match/pairs/single_counts.h"
#include "match/score/edit_distance.h"

namespace hoist::match {
namespace {

// Sequences of the stream whose counts are collected before they are handed over.
constexpr size_t kBlock = 64;
// So few choices go side by side into lanes instead of the queries, if they are fewer.
constexpr size_t kFewChoices = 256;
// Making a batch's table is worth while for so many sequences of the stream.
constexpr size_t kLeastStream = 1024;
// Up to so many sequences of so many words take less time one by one than in lanes.
constexpr size_t few(size_t words) { return words == 1 ? 6 : words == 2 ? 4 : 2; }
constexpr size_t kLongLanesInRow = kRowBytes / sizeof(uint64_t);
// Symbols below this, such as characters, are small enough as they are.
constexpr uint32_t kDenseSymbols = 4096;

// All bits that symbols have: not less than the largest.
uint32_t bits_of(std::span<const uint32_t> symbols) {
  typedef uint32_t Vector __attribute__((vector_size(16)));
  constexpr size_t kSymbols = sizeof(Vector) / sizeof(uint32_t);
  Vector bits{};
  size_t i = 0;
  for (; i + kSymbols <= symbols.size(); i += kSymbols) {
    Vector next;
    std::memcpy(&next, symbols.data() + i, sizeof(next));
    bits |= next;
  }
  uint32_t sum = bits[0] | bits[1] | bits[2] | bits[3];
  for (; i < symbols.size(); ++i) sum |= symbols[i];
  return sum;
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
        limit_(options.limit),
        cancelled_(options.cancelled),
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
      if (batch.kind == kPairwise || batch.members.size() <= few(batch.words)) {
        run_pairwise(batch, begin, end);
      } else {
        run_lanes(batch, begin, end);
      }
    });
  }

 private:
  bool is_cancelled() const {
    return cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed);
  }

  void run_lanes(const Batch& batch, size_t begin, size_t end) const {
    MaskTable table(distinct_);
    LimitedCounts limited(count_, distinct_, cancelled_);
    FirstLooks looks;
    bool is_filled = false;
    PairKernel* const kernel = kernels_.of(count_, batch.kind);
    std::vector<uint32_t> groups;
    alignas(64) std::array<std::byte, kBlock * kRowBytes> counts;
    for (size_t first = begin; first < end; first += kBlock) {
      const size_t size = std::min(kBlock, end - first);
      for (size_t i = 0; i < size; ++i) {
        std::byte* const row = counts.data() + i * kRowBytes;
        if (batch.kind == kLongLanes) {
          if (is_cancelled()) return;
          if (limit_ && count_singly(batch, stream_[first + i], limited, looks, row)) continue;
        }
        if (!std::exchange(is_filled, true)) table.fill(batch, lanes_);
        translate(table, stream_[first + i], groups);
        kernel(table.view(batch.words), groups, row);
      }
      if (is_cancelled()) return;
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

  // How many edits apart a sequence of the lanes and another one of these lengths may be to be of
  // interest.
  int64_t most_edits(uint32_t lane, uint32_t other) const {
    const int64_t limit = lanes_are_queries_ ? limit_(lane, other) : limit_(other, lane);
    return count_ == PairCount::lcs ? int64_t{lane} + other - 2 * limit : limit;
  }

  // Whether to look first at the pairs of a sequence of the stream. After it decided nothing, twice
  // as many sequences as before go without.
  class FirstLooks {
   public:
    bool is_worth_while() {
      if (left_ == 0) return true;
      --left_;
      return false;
    }
    void decided(bool something) {
      constexpr int kMostSkipped = 64;
      left_ = skipped_ = something ? 0 : std::min(kMostSkipped, 2 * skipped_ + 1);
    }

   private:
    int skipped_ = 0;
    int left_ = 0;
  };

  // The row that a kernel would give, where comparing one by one takes less time.
  bool count_singly(const Batch& batch, std::span<const uint32_t> other, LimitedCounts& limited,
                    FirstLooks& looks, std::byte* row) const {
    std::array<LimitedCounts::Plan, kLongLanesInRow> plans;
    const size_t size = batch.members.size();
    const auto length = static_cast<uint32_t>(other.size());
    const PairTimes& times = PairTimes::of(count_);
    const uint64_t lanes_time =
        (times.lanes_column + times.lanes_word * batch.words) * length * kLongLanesInRow;
    uint64_t time = 0;
    for (size_t i = 0; i < size; ++i) {
      const uint32_t own = lanes_.length(batch.members[i]);
      limited.plan(length, own, most_edits(own, length), plans[i]);
      time += std::min(plans[i].time, lanes_time + 1);
    }
    if (time > lanes_time) {
      uint64_t looks_time = 0;
      for (size_t i = 0; i < size; ++i) looks_time += LimitedCounts::time_of_look(plans[i]);
      if (looks_time > lanes_time || !looks.is_worth_while()) return false;
      time = 0;
      for (size_t i = 0; i < size; ++i) {
        if (limited.look_first(other, lanes_[batch.members[i]], plans[i])) continue;
        time += std::min(plans[i].time, lanes_time + 1);
      }
      looks.decided(time <= lanes_time);
      if (time > lanes_time) return false;
    }
    const int64_t less = count_ == PairCount::levenshtein ? length : 0;
    for (size_t i = 0; i < size; ++i) {
      const int64_t count = limited.count(other, lanes_[batch.members[i]], plans[i]) - less;
      std::memcpy(row + i * sizeof(count), &count, sizeof(count));
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
    LimitedCounts limited(count_, distinct_, cancelled_);
    for (const uint32_t member : batch.members) {
      OneSequence one(lanes_[member]);
      for (size_t first = begin; first < end; first += kBlock) {
        const size_t size = std::min(kBlock, end - first);
        for (size_t i = 0; i < size; ++i) {
          if (is_cancelled()) return;
          column[i] = static_cast<uint32_t>(count_pair(one, stream_[first + i], limited));
        }
        if (is_cancelled()) return;
        give(member, first, {column.data(), size});
      }
    }
  }

  // What is known of it is made when it is needed.
  struct OneSequence {
    explicit OneSequence(std::span<const uint32_t> sequence) : symbols(sequence) {}

    std::span<const uint32_t> symbols;
    std::optional<SingleCounts> counts;
    std::optional<MatchMasks> masks;  // where it has no counts
  };

  int64_t count_pair(OneSequence& one, std::span<const uint32_t> other,
                     LimitedCounts& limited) const {
    const std::span<const uint32_t> own = one.symbols;
    const auto m = static_cast<uint32_t>(own.size());
    const auto n = static_cast<uint32_t>(other.size());
    const bool fits = SingleCounts::fits(m, distinct_);
    if (limit_ || !fits) {
      LimitedCounts::Plan plan;
      limited.plan(m, n, limit_ ? most_edits(m, n) : int64_t{m} + n, plan);
      const PairTimes& times = PairTimes::of(count_);
      const uint64_t words = (uint64_t{m} + 63) / 64;
      const uint64_t time = (fits ? times.single_word : times.masks_word) * n * words;
      if (plan.time <= time) return limited.count(own, other, plan);
    }
    if (fits) {
      if (!one.counts) one.counts.emplace(count_, own, distinct_);
      return one.counts->with(other);
    }
    if (!one.masks) one.masks.emplace(own);
    return static_cast<int64_t>(count_ == PairCount::lcs
                                    ? lcs_length(*one.masks, other, cancelled_)
                                    : levenshtein_distance(*one.masks, other, cancelled_));
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
  const std::function<int64_t(uint32_t, uint32_t)>& limit_;
  const std::atomic<bool>* cancelled_;
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
  const uint32_t bits = bits_of(queries.symbols) | bits_of(choices.symbols);
  if (bits < kDenseSymbols) return run(queries, choices, bits + 1);
  DenseSymbols dense;
  const std::vector<uint32_t> query_symbols = dense.number(queries.symbols);
  const std::vector<uint32_t> choice_symbols = dense.number(choices.symbols);
  run({query_symbols, queries.ends}, {choice_symbols, choices.ends}, dense.size());
}

}  // namespace hoist::match
