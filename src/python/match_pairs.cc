// All pairs of two collections, scored as RapidFuzz does, for hoist.match.cdist.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "match/pairs/pair_counts.h"
#include "match/score/edit_distance.h"
#include "python/errors.h"
#include "python/interruptible.h"
#include "python/match_collection.h"
#include "python/match_elements.h"
#include "python/match_scores.h"
#include "python/module.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

using Matrix = nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Steps of the matrices of all pairs that take some hundredths of a second where they are slowest,
// against which starting a thread is nothing.
constexpr uint64_t kLongWork = uint64_t{1} << 28;

// A score as an element of the matrix: rounded to the nearest where that is an integer.
template <typename T>
T element_of(double score) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<int64_t>(std::round(score)));
  } else {
    return static_cast<T>(score);
  }
}

struct Scoring {
  PairScorer scorer;
  std::optional<double> cutoff;
  double multiplier;

  template <typename T>
  T element(uint64_t count, uint64_t m, uint64_t n) const {
    return element_of<T>(scorer.score(count, m, n, cutoff) * multiplier);
  }
};

// Elements by lengths and count. Where there are fewer of these than pairs, they are all made
// beforehand.
template <typename T>
class Elements {
 public:
  Elements(const Scoring& scoring, const match::SequenceList& queries,
           const match::SequenceList& choices)
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
          elements_.push_back(scoring_.element<T>(count, m, n));
        }
      }
    }
  }

  // The others' elements, `stride` apart.
  void put(const match::PairRun& run, T* at, size_t stride) const {
    const match::SequenceList& others = run.is_query ? choices_ : queries_;
    const uint32_t length = (run.is_query ? queries_ : choices_)[run.fixed].length;
    if (elements_.empty()) {
      // Often the one before: where lengths are equal, or far from each other.
      uint32_t count = run.counts[0];
      uint32_t other = others[run.first].length;
      T element = scoring_.element<T>(count, length, other);
      for (size_t i = 0; i < run.counts.size(); ++i) {
        if (run.counts[i] != count || others[run.first + i].length != other) {
          count = run.counts[i];
          other = others[run.first + i].length;
          element = scoring_.element<T>(count, length, other);
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

  uint32_t most(uint32_t m, uint32_t n) const {
    return scoring_.scorer.counts() == match::PairCount::lcs ? std::min(m, n) : std::max(m, n);
  }

  // Every length that is in the list, and each sequence's place among them; nothing where one is
  // too long.
  static std::vector<uint32_t> lengths(const match::SequenceList& list,
                                       std::vector<uint8_t>& by_sequence) {
    std::array<uint8_t, kLengths> places{};
    for (const match::Sequence& sequence : list) {
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
    for (const match::Sequence& sequence : list) by_sequence.push_back(places[sequence.length]);
    return out;
  }

  const Scoring& scoring_;
  const match::SequenceList& queries_;
  const match::SequenceList& choices_;
  std::vector<uint8_t> query_lengths_;  // their places in the lists of lengths
  std::vector<uint8_t> choice_lengths_;
  size_t rows_ = 0;  // lengths of queries
  size_t columns_ = 0;
  std::vector<uint32_t> by_query_;  // where the elements of two lengths begin, the query's first
  std::vector<uint32_t> by_choice_;
  std::vector<T> elements_;
};

template <typename T>
void fill(const Matrix& matrix, const Scoring& scoring, const Collection& queries,
          const Collection& choices, ThreadPool& pool, const Stop& stop) {
  T* const data = static_cast<T*>(matrix.data());
  const size_t columns = choices.size();
  const match::SequenceList query_list = queries.view();
  const match::SequenceList choice_list = choices.view();
  const Elements<T> elements(scoring, query_list, choice_list);
  match::PairOptions options;
  options.cancelled = &stop.flag();
  if (scoring.cutoff) {
    options.limit = [&](uint32_t m, uint32_t n) {
      return scoring.scorer.limit(m, n, *scoring.cutoff);
    };
  }
  match::count_pairs(
      scoring.scorer.counts(), query_list, choice_list, pool,
      [&](const match::PairRun& run) {
        if (run.is_query) {
          elements.put(run, data + run.fixed * columns + run.first, 1);
        } else {
          elements.put(run, data + run.first * columns + run.fixed, columns);
        }
      },
      options);
  const T worst = element_of<T>(scoring.scorer.worst() * scoring.multiplier);
  for (const size_t row : queries.missing()) std::fill_n(data + row * columns, columns, worst);
  for (const size_t column : choices.missing()) {
    for (size_t row = 0; row < queries.size(); ++row) data[row * columns + column] = worst;
  }
}

using Fill = void(const Matrix&, const Scoring&, const Collection&, const Collection&, ThreadPool&,
                  const Stop&);

Fill* fill_for(nb::dlpack::dtype dtype) {
  struct Row {
    nb::dlpack::dtype dtype;
    Fill* fill;
  };
  static const Row kRows[] = {
      {nb::dtype<float>(), fill<float>},     {nb::dtype<double>(), fill<double>},
      {nb::dtype<int8_t>(), fill<int8_t>},   {nb::dtype<uint8_t>(), fill<uint8_t>},
      {nb::dtype<int16_t>(), fill<int16_t>}, {nb::dtype<uint16_t>(), fill<uint16_t>},
      {nb::dtype<int32_t>(), fill<int32_t>}, {nb::dtype<uint32_t>(), fill<uint32_t>},
      {nb::dtype<int64_t>(), fill<int64_t>}, {nb::dtype<uint64_t>(), fill<uint64_t>},
  };
  for (const Row& row : kRows) {
    if (row.dtype == dtype) return row.fill;
  }
  raise({ErrorCode::invalid_argument, "no such element type for scores"});
}

PairScorer scorer_named(const std::string& name) {
  const std::optional<PairScorer> scorer = PairScorer::named(name);
  if (!scorer) raise({ErrorCode::invalid_argument, "no such scorer: " + name});
  return *scorer;
}

void refuse_missing(const Collection& collection) {
  if (collection.missing().empty()) return;
  raise({ErrorCode::invalid_argument,
         "None or NaN as a sequence: distances and similarities that are counts have no value for "
         "it; take a normalized one"});
}

// Steps of the matrices of all pairs at most. Within a limit they are as many for each column as
// the limit is wide, in words that take less time than those of whole matrices.
uint64_t most_work(const Scoring& scoring, const Collection& queries, const Collection& choices) {
  const uint64_t all = queries.symbols() * choices.symbols();
  if (!scoring.cutoff) return all;
  const auto longest = [](const match::SequenceList& list) {
    uint32_t length = 0;
    for (const match::Sequence& sequence : list) length = std::max(length, sequence.length);
    return length;
  };
  constexpr uint64_t kStepsOfWord = 24;
  const uint32_t m = longest(queries.view());
  const uint32_t n = longest(choices.view());
  const int64_t limit = scoring.scorer.limit(m, n, *scoring.cutoff);
  const bool lcs = scoring.scorer.counts() == match::PairCount::lcs;
  const int64_t edits = std::max<int64_t>(0, lcs ? int64_t{m} + n - 2 * limit : limit);
  const uint64_t steps = kStepsOfWord * (static_cast<uint64_t>(edits) / 64 + 1);
  return std::min(all, queries.size() * choices.symbols() * steps);
}

// Into allocate(queries, choices), a row for each query. `threads`: 0 for all.
nb::object pair_scores(const nb::object& queries, const nb::object& choices,
                       const std::string& name, const nb::object& processor,
                       std::optional<double> cutoff, double multiplier, int threads,
                       const nb::object& allocate) {
  ElementNumbers numbers(true);
  const Scoring scoring = {scorer_named(name), cutoff, multiplier};
  const bool same = queries.is(choices);
  const Collection query_list(queries, numbers, processor);
  std::optional<Collection> other;
  if (!same) other.emplace(choices, numbers, processor);
  const Collection& choice_list = same ? query_list : *other;
  if (scoring.scorer.is_integer()) {
    refuse_missing(query_list);
    refuse_missing(choice_list);
  }
  nb::object array = allocate(query_list.size(), choice_list.size());
  const auto matrix = nb::cast<Matrix>(array);
  Fill* const fill = fill_for(matrix.dtype());
  const uint64_t work = most_work(scoring, query_list, choice_list);
  run_interruptibly(work >= kLongWork, [&](const Stop& stop) {
    if (threads == 0) {
      fill(matrix, scoring, query_list, choice_list, ThreadPool::process(), stop);
    } else {
      ThreadPool pool(threads);
      fill(matrix, scoring, query_list, choice_list, pool, stop);
    }
  });
  return array;
}

// Of one pair.
double pair_score(const nb::object& a, const nb::object& b, const std::string& name,
                  std::optional<double> cutoff) {
  ElementNumbers numbers(true);
  const PairScorer scorer = scorer_named(name);
  std::vector<uint32_t> x;
  std::vector<uint32_t> y;
  numbers.append(a, x);
  numbers.append(b, y);
  const uint64_t work = uint64_t{x.size()} * y.size();
  const size_t count = interruptible(work >= kLongWork, [&](const Stop& stop) {
    const match::MatchMasks masks(x);
    return scorer.counts() == match::PairCount::lcs
               ? match::lcs_length(masks, y, &stop.flag())
               : match::levenshtein_distance(masks, y, &stop.flag());
  });
  return scorer.score(count, x.size(), y.size(), cutoff);
}

}  // namespace

void define_match_pairs(nb::module_& module) {
  module.def("pair_scores", &pair_scores, "queries"_a, "choices"_a, "scorer"_a,
             "processor"_a.none(), "cutoff"_a.none(), "multiplier"_a, "threads"_a, "allocate"_a);
  module.def("pair_score", &pair_score, "a"_a, "b"_a, "scorer"_a, "cutoff"_a.none());
}

}  // namespace hoist::python
