#include "match/pairs/score_matrix.h"

#include <algorithm>
#include <array>
#include <vector>

#include "match/pairs/pair_counts.h"

namespace hoist::match {
namespace {

// Elements by lengths and count. Where there are fewer of these than pairs, they are all made
// beforehand.
template <typename T>
class Elements {
 public:
  Elements(const PairScoring& scoring, const SequenceList& queries, const SequenceList& choices)
      : scoring_(scoring), queries_(queries), choices_(choices) {
    const std::vector<uint32_t> of_queries = lengths(queries, query_lengths_);
    const std::vector<uint32_t> of_choices = lengths(choices, choice_lengths_);
    if (of_queries.empty() || of_choices.empty()) return;
    uint64_t elements = 0;
    for (const uint32_t m : of_queries) {
      for (const uint32_t n : of_choices) elements += most(m, n) + 1;
    }
    if (elements > uint64_t{queries.size()} * choices.size()) return;
    rows_ = of_queries.size();
    columns_ = of_choices.size();
    by_query_.resize(rows_ * columns_);
    by_choice_.resize(rows_ * columns_);
    elements_.reserve(elements);
    for (size_t row = 0; row < rows_; ++row) {
      for (size_t column = 0; column < columns_; ++column) {
        const auto begin = static_cast<uint32_t>(elements_.size());
        by_query_[row * columns_ + column] = begin;
        by_choice_[column * rows_ + row] = begin;
        const uint32_t m = of_queries[row];
        const uint32_t n = of_choices[column];
        for (uint32_t count = 0; count <= most(m, n); ++count) {
          elements_.push_back(element(count, m, n));
        }
      }
    }
  }

  // The others' elements, `stride` apart.
  void put(const PairRun& run, T* at, size_t stride) const {
    const SequenceList& others = run.is_query ? choices_ : queries_;
    const uint32_t length = (run.is_query ? queries_ : choices_)[run.fixed].length;
    if (elements_.empty()) {
      // Often the one before: where lengths are equal, or far from each other.
      uint32_t count = run.counts[0];
      uint32_t other = others[run.first].length;
      T element = this->element(count, length, other);
      for (size_t i = 0; i < run.counts.size(); ++i) {
        if (run.counts[i] != count || others[run.first + i].length != other) {
          count = run.counts[i];
          other = others[run.first + i].length;
          element = this->element(count, length, other);
        }
        at[i * stride] = element;
      }
      return;
    }
    const std::vector<uint32_t>& begins = run.is_query ? by_query_ : by_choice_;
    const uint8_t* const own = (run.is_query ? query_lengths_ : choice_lengths_).data();
    const uint8_t* const lengths = (run.is_query ? choice_lengths_ : query_lengths_).data();
    const size_t of_others = run.is_query ? columns_ : rows_;
    const uint32_t* const row = begins.data() + own[run.fixed] * of_others;
    const T* const elements = elements_.data();
    for (size_t i = 0; i < run.counts.size(); ++i) {
      at[i * stride] = elements[row[lengths[run.first + i]] + run.counts[i]];
    }
  }

 private:
  static constexpr uint32_t kLengths = 129;

  T element(uint64_t count, uint64_t m, uint64_t n) const {
    const double score = scoring_.scorer.score(count, m, n, scoring_.cutoff);
    return score_element<T>(score * scoring_.multiplier);
  }

  uint32_t most(uint32_t m, uint32_t n) const {
    return scoring_.scorer.counts() == PairCount::lcs ? std::min(m, n) : std::max(m, n);
  }

  // Every length that is in the list, and each sequence's place among them; nothing where one is
  // too long.
  static std::vector<uint32_t> lengths(const SequenceList& list,
                                       std::vector<uint8_t>& by_sequence) {
    std::array<uint8_t, kLengths> places{};
    for (const Sequence& sequence : list) {
      if (sequence.length >= kLengths) return {};
      places[sequence.length] = 1;
    }
    std::vector<uint32_t> out;
    for (uint32_t length = 0; length < kLengths; ++length) {
      if (places[length] == 0) continue;
      places[length] = static_cast<uint8_t>(out.size());
      out.push_back(length);
    }
    by_sequence.reserve(list.size());
    for (const Sequence& sequence : list) by_sequence.push_back(places[sequence.length]);
    return out;
  }

  const PairScoring& scoring_;
  const SequenceList& queries_;
  const SequenceList& choices_;
  std::vector<uint8_t> query_lengths_;  // their places in the lists of lengths
  std::vector<uint8_t> choice_lengths_;
  size_t rows_ = 0;  // lengths of queries
  size_t columns_ = 0;
  std::vector<uint32_t> by_query_;  // where the elements of two lengths begin, the query's first
  std::vector<uint32_t> by_choice_;
  std::vector<T> elements_;
};

}  // namespace

template <typename T>
void fill_scores(const PairScoring& scoring, const SequenceList& queries,
                 const SequenceList& choices, ThreadPool& pool, std::span<T> out,
                 const std::stop_token& stop) {
  const size_t columns = choices.size();
  const Elements<T> elements(scoring, queries, choices);
  PairOptions options;
  options.stop = stop;
  if (scoring.cutoff) {
    options.limit = [&](uint32_t m, uint32_t n) {
      return scoring.scorer.limit(m, n, *scoring.cutoff);
    };
  }
  count_pairs(
      scoring.scorer.counts(), queries, choices, pool,
      [&](const PairRun& run) {
        if (run.is_query) {
          elements.put(run, out.data() + run.fixed * columns + run.first, 1);
        } else {
          elements.put(run, out.data() + run.first * columns + run.fixed, columns);
        }
      },
      options);
}

#define HOIST_FILL_SCORES(T)                                                                 \
  template void fill_scores<T>(const PairScoring&, const SequenceList&, const SequenceList&, \
                               ThreadPool&, std::span<T>, const std::stop_token&);
HOIST_FILL_SCORES(float)
HOIST_FILL_SCORES(double)
HOIST_FILL_SCORES(int8_t)
HOIST_FILL_SCORES(uint8_t)
HOIST_FILL_SCORES(int16_t)
HOIST_FILL_SCORES(uint16_t)
HOIST_FILL_SCORES(int32_t)
HOIST_FILL_SCORES(uint32_t)
HOIST_FILL_SCORES(int64_t)
HOIST_FILL_SCORES(uint64_t)

}  // namespace hoist::match
