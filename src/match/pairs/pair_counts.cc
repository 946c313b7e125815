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
#include "match/pairs/limited_rows.h"
#include "match/pairs/one_pair.h"
#include "match/pairs/pair_batches.h"
#include "match/pairs/single_counts.h"

namespace hoist::match {
namespace {

// Sequences of the stream whose counts are collected before they are handed over.
constexpr size_t kBlock = 64;
// So long before they are compared sequences are fetched.
constexpr size_t kAhead = 8;
// So few choices go side by side into lanes instead of the queries, if they are fewer.
constexpr size_t kFewChoices = 256;
// Making a batch's table is worth while for so many sequences of the stream.
constexpr size_t kLeastStream = 1024;
// Up to so many sequences take less time one by one than in lanes: where a limit, of edits that
// pairs of a length may be apart, often makes it short.
constexpr size_t few(PairCount count, const Batch& batch, uint32_t length,
                     std::optional<int64_t> most_edits) {
  const bool is_lcs = count == PairCount::lcs;
  if (batch.words > 2) return is_lcs ? 4 : 3;
  if (batch.words == 2) return most_edits ? 4 : is_lcs ? 6 : 3;
  const int64_t tight = is_lcs ? 12 : 3;
  if (!most_edits || *most_edits * tight > length) return 1;
  constexpr size_t kLimited[] = {1, 1, 2, 6};  // by kind
  return kLimited[batch.kind];
}

// A pair that takes longer, in PairTimes, is looked at by itself: fewer edits than the limit, if
// there are fewer, take less time.
constexpr uint64_t kLongTime = 1'000'000;

class AllPairs {
 public:
  AllPairs(PairCount count, const SequenceList& lanes, const SequenceList& stream,
           bool lanes_are_queries, const PairOptions& options,
           const std::function<void(const PairRun&)>& take)
      : count_(count),
        lanes_(lanes, numbers_),
        stream_(stream),
        distinct_(numbers_.size()),
        lanes_are_queries_(lanes_are_queries),
        kernels_(options.kernels != nullptr ? *options.kernels : pair_kernels()),
        limit_(options.limit),
        stop_(options.stop),
        take_(take),
        by_length_(lanes.size()) {
    std::iota(by_length_.begin(), by_length_.end(), 0);
    std::stable_sort(by_length_.begin(), by_length_.end(),
                     [&](uint32_t x, uint32_t y) { return lanes_.length(x) < lanes_.length(y); });
    batches_ = batches_of(lanes_, by_length_, distinct_);
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
      if (batch.kind == kPairwise || are_few(batch)) {
        run_pairwise(batch, begin, end);
      } else {
        run_lanes(batch, begin, end);
      }
    });
  }

 private:
  bool is_cancelled() const { return stop_.stop_requested(); }

  bool are_few(const Batch& batch) const {
    const uint32_t length = lanes_.length(batch.members.back());
    std::optional<int64_t> edits;
    if (limit_) edits = most_edits(length, length);
    return batch.members.size() <= few(count_, batch, length, edits);
  }

  LanesKernels kernels_of(const Batch& batch) const {
    const auto count = static_cast<size_t>(count_);
    if (batch.kind == kLongLanes) return {kernels_.long_kernels[count], nullptr};
    return kernels_.kernels[count][batch.kind].of[batch.row];
  }

  void run_lanes(const Batch& batch, size_t begin, size_t end) const {
    MaskTable table(distinct_);
    LimitedCounts limited(count_, distinct_, kernels_, stop_);
    const LimitedRows::MostEdits edits = [this](uint32_t lane, uint32_t other) {
      return most_edits(lane, other);
    };
    LimitedRows rows(count_, batch, lanes_, numbers_, edits, limited);
    bool is_filled = false;
    const LanesKernels kernels = kernels_of(batch);
    std::vector<uint32_t> groups;
    alignas(64) std::array<std::byte, kBlock * kRowBytes> counts;
    for (size_t first = begin; first < end; first += kBlock) {
      const size_t size = std::min(kBlock, end - first);
      for (size_t i = 0; i < size; ++i) {
        std::byte* const row = counts.data() + i * kRowBytes;
        if (batch.kind == kLongLanes) {
          if (is_cancelled()) return;
          if (limit_ && rows.count(stream_[first + i], row)) continue;
        }
        if (!std::exchange(is_filled, true)) table.fill(batch, lanes_);
        const Sequence& sequence = stream_[first + i];
        if (sequence.width == 1 && kernels.of_bytes != nullptr) {
          const std::span bytes(static_cast<const uint8_t*>(sequence.symbols), sequence.length);
          kernels.of_bytes(table.view(batch.words), {bytes, table.groups()}, row);
        } else {
          translate(table, sequence, groups);
          kernels.of_groups(table.view(batch.words), groups, row);
        }
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

  // A symbol that no lane has changes no LCS.
  void translate(const MaskTable& table, const Sequence& sequence,
                 std::vector<uint32_t>& groups) const {
    groups.resize(sequence.length);
    size_t size = 0;
    const bool keeps_all = count_ == PairCount::levenshtein;
    with_symbols(sequence, [&](const auto symbols) {
      for (const uint32_t symbol : symbols) {
        const bool is_byte = sizeof(symbols[0]) == 1;
        const uint32_t group = table.groups()[is_byte ? symbol : numbers_.of(symbol)];
        groups[size] = group;
        size += static_cast<size_t>(keeps_all || group != 0);
      }
    });
    groups.resize(size);
  }

  template <typename Count>
  void hand_over(const Batch& batch, size_t first, size_t size, const std::byte* counts) const {
    std::array<uint32_t, kBlock> added{};
    if (count_ == PairCount::levenshtein) {
      for (size_t i = 0; i < size; ++i) added[i] = stream_[first + i].length;
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
    LimitedCounts limited(count_, distinct_, kernels_, stop_);
    NumberedSequence other;
    for (const uint32_t member : batch.members) {
      OneSequence one(lanes_.sequence(member), lanes_[member]);
      for (size_t first = begin; first < end; first += kBlock) {
        const size_t size = std::min(kBlock, end - first);
        for (size_t i = 0; i < size; ++i) {
          if (is_cancelled()) return;
          fetch_front(stream_[std::min(first + i + kAhead, end - 1)]);
          column[i] = static_cast<uint32_t>(count_pair(one, stream_[first + i], limited, other));
        }
        if (is_cancelled()) return;
        give(member, first, {column.data(), size});
      }
    }
  }

  // Into the cache: sequences lie anywhere.
  static void fetch_front(const Sequence& sequence) {
    const auto* const bytes = static_cast<const std::byte*>(sequence.symbols);
    __builtin_prefetch(bytes);
    if (sequence.width != 1) __builtin_prefetch(bytes + kUnmatchedStep);
  }

  // What is known of it is made when it is needed.
  struct OneSequence {
    OneSequence(const Sequence& sequence, std::span<const uint32_t> numbers) : symbols(numbers) {
      numbered.set(sequence, numbers.data());
    }

    std::span<const uint32_t> symbols;
    NumberedSequence numbered;
    // With sequences of lengths that were compared with it lately.
    std::array<std::optional<LimitedCounts::Plan>, 64> plans;
    std::optional<SingleCounts> counts;
  };

  // work(numbers), as bytes where they are the symbols themselves.
  template <typename Work>
  auto with_numbers(const Sequence& sequence, NumberedSequence& scratch, const Work& work) const {
    if (sequence.width == 1) {
      return work(std::span(static_cast<const uint8_t*>(sequence.symbols), sequence.length));
    }
    scratch.set(sequence, numbers_);
    return work(scratch.all());
  }

  const SingleCounts& counts_of(OneSequence& one) const {
    if (!one.counts) one.counts.emplace(count_, one.symbols, distinct_);
    return *one.counts;
  }

  // `scratch` is for the other sequence.
  int64_t count_pair(OneSequence& one, const Sequence& other, LimitedCounts& limited,
                     NumberedSequence& scratch) const {
    const auto m = static_cast<uint32_t>(one.symbols.size());
    const uint32_t n = other.length;
    const bool fits = SingleCounts::fits(m, distinct_);
    if (limit_) {
      std::optional<LimitedCounts::Plan>& known = one.plans[n % one.plans.size()];
      if (!known || known->n != n) {
        limited.plan(m, n, most_edits(m, n), known.emplace());
      }
      const LimitedCounts::Plan& plan = *known;
      if (limited.are_far(one.numbered.sequence(), other, plan)) return plan.beyond;
      const bool is_short = plan.front.is_for_all && fits && m <= 64;
      if (is_short && limited.are_far(counts_of(one), other, numbers_, plan)) return plan.beyond;
      const PairTimes& times = PairTimes::of(count_);
      const uint64_t words = (uint64_t{m} + 63) / 64;
      const uint64_t time = (fits ? times.single_word : times.strips_word) * n * words;
      const bool is_long = !fits && plan.time > kLongTime;
      if (!is_long && (is_short ? plan.likely_time : plan.time) <= time) {
        scratch.set(other, numbers_);
        return limited.count(one.numbered, scratch, plan);
      }
    }
    if (fits) {
      const SingleCounts& counts = counts_of(one);
      return with_numbers(other, scratch, [&](const auto numbers) { return counts.with(numbers); });
    }
    return count_alone(one.numbered.sequence(), other);
  }

  // Out of the way of the pairs that take little.
  [[gnu::noinline]] int64_t count_alone(const Sequence& one, const Sequence& other) const {
    const int64_t most =
        limit_ ? std::max<int64_t>(0, most_edits(one.length, other.length)) : INT64_MAX;
    const auto edits =
        static_cast<int64_t>(pair_edits(count_, one, other, static_cast<uint64_t>(most), stop_));
    const int64_t all = int64_t{one.length} + other.length;
    return count_ == PairCount::lcs ? (all - edits) / 2 : edits;
  }

  void give(uint32_t fixed, size_t first, std::span<const uint32_t> counts) const {
    take_({lanes_are_queries_, fixed, static_cast<uint32_t>(first), counts});
  }

  PairCount count_;
  SymbolNumbers numbers_;
  NumberedList lanes_;
  const SequenceList& stream_;
  uint32_t distinct_;
  bool lanes_are_queries_;
  const PairKernels& kernels_;
  const std::function<int64_t(uint32_t, uint32_t)>& limit_;
  const std::stop_token stop_;
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
  AllPairs(count, by_query ? queries : choices, by_query ? choices : queries, by_query, options,
           take)
      .run(pool);
}

}  // namespace hoist::match
