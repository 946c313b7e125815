// What hoist.rapidfuzz.process is made of: one sequence with many, and all pairs, by every scorer.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "match/fuzz/best_matches.h"
#include "match/fuzz/fuzz_matrix.h"
#include "match/fuzz/prepared_scorer.h"
#include "match/pairs/score_matrix.h"
#include "match/score/scorer.h"
#include "python/fuzz_function.h"
#include "python/interruptible.h"
#include "python/match_collection.h"
#include "python/match_elements.h"
#include "python/match_fuzz.h"
#include "python/module.h"
#include "python/released_gil.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

using match::FuzzScorer;
using Matrix = nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Cells of the matrices of all pairs for which the work has a thread of its own.
constexpr uint64_t kLongCells = uint64_t{1} << 25;
// So few choices take less time than it takes other threads to start.
constexpr size_t kFewChoices = 8192;

// Sequences that are compared while the interpreter's lock is held, so many at a time: the longer
// they are the fewer.
constexpr size_t kMostShort = 256;  // symbols
size_t chunk_of(size_t query) { return query <= 64 ? 32768 : 4096; }

FuzzScorer scorer_of_process(const nb::str& name, nb::handle weights, double prefix_weight) {
  FuzzScorer scorer = scorer_of(name, weights, prefix_weight);
  scorer.is_of_process = true;
  return scorer;
}

// RapidFuzz's process holds those of percents in 32 bits, though its pair calls do not.
std::optional<double> cutoff_of_process(const FuzzScorer& scorer, nb::handle wanted) {
  const std::optional<double> cutoff = cutoff_of(scorer, wanted);
  return cutoff && scorer.is_percent() ? match::held_cutoff(*cutoff) : cutoff;
}

nb::handle item_of(nb::handle choices, size_t i) {
  const auto place = static_cast<Py_ssize_t>(i);
  return PyList_Check(choices.ptr()) ? PyList_GetItem(choices.ptr(), place)
                                     : PyTuple_GetItem(choices.ptr(), place);
}

nb::object items_at(nb::handle choices, const std::vector<size_t>& places) {
  nb::list items;
  for (const size_t place : places) items.append(item_of(choices, place));
  return items;
}

// Choices where they lie, without a reference to each: the lock is held while a chunk of them is
// compared, though by all threads.
class InPlaceChunk {
 public:
  InPlaceChunk(nb::handle choices, size_t begin, size_t end)
      : choices_(choices), begin_(begin), sequences_(end - begin) {}

  // Places of the choices that lie elsewhere, or are long.
  void score(match::BestMatches& best, ThreadPool* pool, std::vector<size_t>& left) {
    const size_t pieces = (sequences_.size() + kPiece - 1) / kPiece;
    std::vector<std::vector<size_t>> others(pieces);
    const auto take = [&](size_t piece) { others[piece] = this->take(piece); };
    if (!kReadsInPlace) {
      for (size_t piece = 0; piece < pieces; ++piece) take(piece);
    }
    const auto score_piece = [&](size_t piece) {
      if (kReadsInPlace) take(piece);
      const size_t first = piece * kPiece;
      best.score({match::SequenceList(sequences_).subspan(first, size_of(piece)),
                  begin_ + first,
                  {},
                  others[piece]});
    };
    if (pool != nullptr) {
      pool->parallel_for(pieces, score_piece);
    } else {
      for (size_t piece = 0; piece < pieces; ++piece) score_piece(piece);
    }
    for (size_t piece = 0; piece < pieces; ++piece) {
      for (const size_t place : others[piece]) left.push_back(begin_ + piece * kPiece + place);
    }
  }

 private:
  static constexpr size_t kPiece = 4096;

  size_t size_of(size_t piece) const {
    return std::min(kPiece, sequences_.size() - piece * kPiece);
  }

  std::vector<size_t> take(size_t piece) {
    std::vector<size_t> others;
    for (size_t i = 0; i < size_of(piece); ++i) {
      const size_t place = piece * kPiece + i;
      const nb::handle item = item_of(choices_, begin_ + place);
      if (const auto sequence = short_symbols_in_place(item, kMostShort)) {
        sequences_[place] = *sequence;
      } else {
        others.push_back(i);
      }
    }
    return others;
  }

  nb::handle choices_;
  size_t begin_;
  std::vector<match::Sequence> sequences_;
};

// Places of the choices that are still to be compared. By the threads of `pool`, if there is one.
std::vector<size_t> score_in_place(match::BestMatches& best, nb::handle choices, ThreadPool* pool,
                                   size_t chunk) {
  std::vector<size_t> left;
  for (size_t begin = 0; begin < nb::len(choices); begin += chunk) {
    if (begin != 0) {
      const ReleasedGil others_may_run;
    }
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    // Others may have made the list shorter.
    const size_t end = std::min(nb::len(choices), begin + chunk);
    if (begin < end) InPlaceChunk(choices, begin, end).score(best, pool, left);
  }
  return left;
}

nb::list list_of(const FuzzScorer& scorer, const std::vector<match::Match>& matches) {
  nb::list found;
  for (const match::Match& match : matches) {
    found.append(nb::make_tuple(number_of(scorer, match.score), match.place));
  }
  return found;
}

// The best choices that reach the cut-off, the first of equal ones first: (score, place) each.
// `choices` are a list or a tuple.
nb::list fuzz_extract(const nb::str& name, nb::handle query, const nb::object& choices,
                      const nb::object& processor, nb::handle cutoff, nb::handle weights,
                      double prefix_weight, size_t limit) {
  const FuzzScorer scorer = scorer_of_process(name, weights, prefix_weight);
  const std::optional<double> held = cutoff_of_process(scorer, cutoff);
  ElementNumbers numbers(true);
  const Collection one(nb::make_tuple(query), numbers, nb::none());
  match::BestMatches best(scorer, one.view().front(), held, limit);
  const bool are_few = nb::len(choices) <= kFewChoices;
  ThreadPool* const pool = are_few ? nullptr : &ThreadPool::process();
  const bool in_place = processor.is_none() && one.symbols() <= kMostShort;
  std::vector<size_t> left;
  if (in_place) left = score_in_place(best, choices, pool, chunk_of(one.symbols()));
  if (!in_place || !left.empty()) {
    const Collection all(in_place ? items_at(choices, left) : choices, numbers, processor);
    run_interruptibly(one.symbols() * all.symbols() >= kLongCells,
                      [&](const std::stop_token& stop) {
                        const match::ChoiceBlock block = {all.view(), 0, left, all.missing()};
                        pool != nullptr ? best.score(block, *pool, stop) : best.score(block, stop);
                      });
  }
  return list_of(scorer, best.take());
}

// Sequences one after another: each is gone when the next one is taken.
class ItemReader {
 public:
  explicit ItemReader(ElementNumbers& numbers) : numbers_(numbers) {}

  match::Sequence take(nb::handle item) {
    if (const auto in_place = symbols_in_place(item)) return *in_place;
    return copied_symbols(item, numbers_, room_);
  }

 private:
  ElementNumbers& numbers_;
  std::vector<uint32_t> room_;
};

// The best score and where the first choice that has it is; None where none reaches the cut-off.
// What is compared later must be better than the best so far, which is what ratios of parts gain
// by.
nb::object fuzz_best(const nb::str& name, nb::handle query, const nb::object& choices,
                     nb::handle cutoff, nb::handle weights, double prefix_weight) {
  const FuzzScorer scorer = scorer_of_process(name, weights, prefix_weight);
  const std::optional<double> wanted = cutoff_of_process(scorer, cutoff);
  ElementNumbers numbers(true);
  ItemReader query_reader(numbers);
  ItemReader reader(numbers);
  match::PreparedScorer prepared;
  prepared.set(scorer, query_reader.take(query));
  const bool is_distance = scorer.is_distance();
  std::optional<double> best;
  std::optional<double> least = wanted;
  size_t place = 0;
  size_t i = 0;
  for (const nb::handle item : nb::iter(choices)) {
    check_signals(i);
    const size_t here = i++;
    if (is_missing(item)) continue;
    const double score = prepared.score(reader.take(item), least);
    if (least && (is_distance ? score > *least : score < *least)) continue;
    if (best && score == *best) continue;
    best = least = score;
    place = here;
    if (scorer.is_best(score)) break;
  }
  if (!best) return nb::none();
  return nb::make_tuple(number_of(scorer, *best), place);
}

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
    const uint64_t cells = pairwise ? queries.symbols() : queries.symbols() * choices.symbols();
    run_interruptibly(cells >= kLongCells, [&](const std::stop_token& stop) {
      const std::span elements(out, rows * width);
      if (pairwise) {
        return match::fill_fuzz_pairs(scoring, queries.view(), choices.view(), elements, stop);
      }
      const auto all = [&](ThreadPool& pool) {
        match::fill_fuzz_scores(scoring, queries.view(), choices.view(), pool, elements, stop);
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

void define_match_fuzz_many(nb::module_& module) {
  module.def("fuzz_extract", &fuzz_extract, "name"_a, "query"_a.none(), "choices"_a,
             "processor"_a.none(), "cutoff"_a.none(), "weights"_a.none(), "prefix_weight"_a,
             "limit"_a);
  module.def("fuzz_best", &fuzz_best, "name"_a, "query"_a.none(), "choices"_a, "cutoff"_a.none(),
             "weights"_a.none(), "prefix_weight"_a);
  module.def("fuzz_matrix", &fuzz_matrix, "name"_a, "queries"_a, "choices"_a, "processor"_a.none(),
             "pairwise"_a, "cutoff"_a.none(), "weights"_a.none(), "prefix_weight"_a, "multiplier"_a,
             "threads"_a, "allocate"_a);
}

}  // namespace hoist::python
