// hoist.rapidfuzz.process.cdist and cpdist: all pairs, by every scorer.
#include "match/fuzz/fuzz_matrix.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <span>

#include "match/fuzz/score_time.h"
#include "match/pairs/score_matrix.h"
#include "python/fuzz_function.h"
#include "python/fuzz_process.h"
#include "python/interruptible.h"
#include "python/match_collection.h"
#include "python/module.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

using match::FuzzScorer;
using Matrix = nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// What fills a matrix of elements of a type.
struct MatrixWork {
  const match::FuzzScoring& scoring;
  const Collection& queries;
  const Collection& choices;
  bool pairwise;
  int threads;  // 0 for all

  template <typename T>
  void fill(void* data) const {
    T* const out = static_cast<T*>(data);
    const size_t rows = queries.size();
    const size_t width = pairwise ? 1 : choices.size();
    run_interruptibly(steps() >= kLongSteps, [&](const std::stop_token& stop) {
      const std::span elements(out, rows * width);
      const auto all = [&](ThreadPool& pool) {
        const auto fill = pairwise ? match::fill_fuzz_pairs<T> : match::fill_fuzz_scores<T>;
        fill(scoring, queries.view(), choices.view(), pool, elements, stop);
      };
      if (threads == 0) return all(ThreadPool::process());
      ThreadPool pool(threads);
      all(pool);
    });
    const T worst = match::score_element<T>(scoring.scorer.worst() * scoring.multiplier);
    for (const size_t row : queries.missing()) std::fill_n(out + row * width, width, worst);
    for (const size_t column : choices.missing()) {
      if (pairwise) out[column] = worst;
      for (size_t row = 0; !pairwise && row < rows; ++row) out[row * width + column] = worst;
    }
  }

 private:
  // How long it takes, about: nanoseconds.
  uint64_t steps() const {
    if (queries.size() == 0 || choices.size() == 0) return 0;
    const match::FuzzScorer& scorer = scoring.scorer;
    if (!pairwise) {
      const uint64_t pairs = uint64_t{queries.size()} * choices.size();
      return pairs * match::score_time(scorer, queries.symbols() / queries.size(),
                                       choices.symbols() / choices.size());
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < queries.size(); ++i) {
      sum += match::score_time(scorer, queries.view()[i].length, choices.view()[i].length);
    }
    return sum;
  }
};

void fill_matrix(const MatrixWork& work, const Matrix& matrix) {
  using Fill = void (MatrixWork::*)(void*) const;
  struct Row {
    nb::dlpack::dtype dtype;
    Fill fill;
  };
  static const Row kRows[] = {
      {nb::dtype<float>(), &MatrixWork::fill<float>},
      {nb::dtype<double>(), &MatrixWork::fill<double>},
      {nb::dtype<int8_t>(), &MatrixWork::fill<int8_t>},
      {nb::dtype<uint8_t>(), &MatrixWork::fill<uint8_t>},
      {nb::dtype<int16_t>(), &MatrixWork::fill<int16_t>},
      {nb::dtype<uint16_t>(), &MatrixWork::fill<uint16_t>},
      {nb::dtype<int32_t>(), &MatrixWork::fill<int32_t>},
      {nb::dtype<uint32_t>(), &MatrixWork::fill<uint32_t>},
      {nb::dtype<int64_t>(), &MatrixWork::fill<int64_t>},
      {nb::dtype<uint64_t>(), &MatrixWork::fill<uint64_t>},
  };
  for (const Row& row : kRows) {
    if (row.dtype == matrix.dtype()) return (work.*row.fill)(matrix.data());
  }
  throw nb::type_error("no such element type for scores");
}

// All pairs, or those of the same places, times a multiplier; into allocate(rows, columns), of any
// type of integers or floats.
nb::object fuzz_matrix(const nb::str& name, const nb::object& queries, const nb::object& choices,
                       const nb::object& processor, bool pairwise, nb::handle cutoff,
                       nb::handle weights, double prefix_weight, double multiplier, int threads,
                       const nb::object& allocate) {
  const FuzzScorer scorer = scorer_of_process(name, weights, prefix_weight);
  const match::FuzzScoring scoring = {scorer, cutoff_of_process(scorer, cutoff), multiplier};
  ElementNumbers numbers(true);
  const Collection rows(queries, numbers, processor);
  const Collection columns(choices, numbers, processor);
  if (scorer.is_count() && rows.missing().size() + columns.missing().size() > 0) {
    throw nb::value_error("passed unsupported element None");
  }
  nb::object array = allocate(rows.size(), pairwise ? 1 : columns.size());
  fill_matrix({scoring, rows, columns, pairwise, threads}, nb::cast<Matrix>(array));
  return array;
}

}  // namespace

void define_fuzz_matrix(nb::module_& module) {
  module.def("fuzz_matrix", &fuzz_matrix, "name"_a, "queries"_a, "choices"_a, "processor"_a.none(),
             "pairwise"_a, "cutoff"_a.none(), "weights"_a.none(), "prefix_weight"_a, "multiplier"_a,
             "threads"_a, "allocate"_a);
}

}  // namespace hoist::python
