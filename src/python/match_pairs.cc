// All pairs of two collections, scored as RapidFuzz does, for hoist.match.cdist.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <optional>
#include <span>

#include "match/pairs/pair_scorer.h"
#include "match/pairs/score_matrix.h"
#include "python/errors.h"
#include "python/interruptible.h"
#include "python/match_collection.h"
#include "python/match_elements.h"
#include "python/match_scorer.h"
#include "python/module.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

using Matrix = nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Steps of the matrices of all pairs that take some hundredths of a second where they are slowest,
// against which starting a thread is nothing.
constexpr uint64_t kLongWork = uint64_t{1} << 28;

template <typename T>
void fill(const Matrix& matrix, const match::PairScoring& scoring, const Collection& queries,
          const Collection& choices, ThreadPool& pool, const std::stop_token& stop) {
  T* const data = static_cast<T*>(matrix.data());
  const size_t columns = choices.size();
  const std::span elements(data, queries.size() * columns);
  match::fill_scores(scoring, queries.view(), choices.view(), pool, elements, stop);
  const T worst = match::score_element<T>(scoring.scorer.worst() * scoring.multiplier);
  for (const size_t row : queries.missing()) std::fill_n(data + row * columns, columns, worst);
  for (const size_t column : choices.missing()) {
    for (size_t row = 0; row < queries.size(); ++row) data[row * columns + column] = worst;
  }
}

using Fill = void(const Matrix&, const match::PairScoring&, const Collection&, const Collection&,
                  ThreadPool&, const std::stop_token&);

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

// Steps of the matrices of all pairs at most. Within a limit they are as many for each column as
// the limit is wide, in words that take less time than those of whole matrices.
uint64_t most_work(const match::PairScoring& scoring, const Collection& queries,
                   const Collection& choices) {
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
  const int64_t edits = std::max<int64_t>(0, scoring.scorer.most_edits(m, n, *scoring.cutoff));
  const uint64_t steps = kStepsOfWord * (static_cast<uint64_t>(edits) / 64 + 1);
  return std::min(all, queries.size() * choices.symbols() * steps);
}

// Into allocate(queries, choices), a row for each query. `threads`: 0 for all.
nb::object pair_scores(const nb::object& queries, const nb::object& choices,
                       const nb::object& scorer, const nb::object& processor,
                       const nb::object& cutoff, double multiplier, int threads,
                       const nb::object& allocate) {
  ElementNumbers numbers(true);
  const match::PairScorer by = scorer_of(scorer);
  const match::PairScoring scoring = {by, cutoff_of(by, cutoff), multiplier};
  const bool same = queries.is(choices);
  const Collection query_list(queries, numbers, processor);
  std::optional<Collection> other;
  if (!same) other.emplace(choices, numbers, processor);
  const Collection& choice_list = same ? query_list : *other;
  const bool is_missing = !query_list.missing().empty() || !choice_list.missing().empty();
  if (by.is_integer() && is_missing) refuse_missing(by);
  nb::object array = allocate(query_list.size(), choice_list.size());
  const auto matrix = nb::cast<Matrix>(array);
  Fill* const fill = fill_for(matrix.dtype());
  const uint64_t work = most_work(scoring, query_list, choice_list);
  run_interruptibly(work >= kLongWork, [&](const std::stop_token& stop) {
    if (threads == 0) {
      fill(matrix, scoring, query_list, choice_list, ThreadPool::process(), stop);
    } else {
      ThreadPool pool(threads);
      fill(matrix, scoring, query_list, choice_list, pool, stop);
    }
  });
  return array;
}

}  // namespace

void define_match_pairs(nb::module_& module) {
  module.def("pair_scores", &pair_scores, "queries"_a, "choices"_a, "scorer"_a,
             "processor"_a.none(), "cutoff"_a.none(), "multiplier"_a, "threads"_a, "allocate"_a);
}

}  // namespace hoist::python
