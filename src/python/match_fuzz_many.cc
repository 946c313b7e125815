// What hoist.rapidfuzz.process is made of: one sequence with many, and all pairs, by every scorer.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "match/fuzz/best_matches.h"
#include "match/fuzz/fuzz_matrix.h"
#include "match/fuzz/prepared_scorer.h"
#include "match/fuzz/score_time.h"
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

// So few choices take less time than it takes other threads to start.
constexpr size_t kFewChoices = 8192;

// Choices of up to so many symbols are compared while the interpreter's lock is held.
constexpr size_t kMostShort = 256;
// So many at a time, or as many as this time is enough for; other threads then have the lock.
constexpr size_t kChunk = 32768;
constexpr auto kTurn = std::chrono::milliseconds(5);
constexpr uint64_t kTurnSteps = 5'000'000;  // nanoseconds, of score_time()
// What takes longer than these is done without the lock, and by a thread of its own.
constexpr uint64_t kShortSteps = uint64_t{1} << 16;
constexpr uint64_t kLongSteps = uint64_t{1} << 24;

// An item of a list may be gone as soon as another thread, or a function of the user's, runs.
struct HeldItem {
  size_t place;
  nb::object item;
};

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

// Choices where they lie, without a reference to each: the lock is held while a chunk of them is
// compared, though by all threads.
class InPlaceChunk {
 public:
  // `piece`: the choices that a thread takes at a time.
  InPlaceChunk(nb::handle choices, size_t begin, size_t end, size_t piece)
      : choices_(choices),
        begin_(begin),
        piece_(piece),
        sequences_(end - begin),
        others_((end - begin + piece - 1) / piece) {}

  // Compares the first ones, until its time is over; where it has ended. By the threads of `pool`,
  // if there is one.
  size_t score(match::BestMatches& best, ThreadPool* pool) {
    const size_t pieces = others_.size();
    for (size_t piece = 0; !kReadsInPlace && piece < pieces; ++piece) take(piece);
    const auto end = std::chrono::steady_clock::now() + kTurn;
    std::atomic<size_t> next = 0;
    const auto work = [&](size_t /*thread*/) {
      match::PreparedScorer prepared;
      best.prepare(prepared);
      do {
        const size_t piece = next++;
        if (piece >= pieces) return;
        score_piece(piece, best, prepared);
      } while (std::chrono::steady_clock::now() < end);
    };
    if (pool != nullptr) {
      pool->parallel_for(std::min(pieces, static_cast<size_t>(pool->size())), work);
    } else {
      work(0);
    }
    done_ = std::min(pieces, next.load());
    return begin_ + std::min(sequences_.size(), done_ * piece_);
  }

  // The places of those among them that lie elsewhere, or are long.
  void append_others(std::vector<size_t>& places) const {
    for (size_t piece = 0; piece < done_; ++piece) {
      for (const size_t i : others_[piece]) places.push_back(begin_ + piece * piece_ + i);
    }
  }

 private:
  size_t size_of(size_t piece) const {
    return std::min(piece_, sequences_.size() - piece * piece_);
  }

  void take(size_t piece) {
    for (size_t i = 0; i < size_of(piece); ++i) {
      const size_t place = piece * piece_ + i;
      const nb::handle item = item_of(choices_, begin_ + place);
      if (const auto sequence = short_symbols_in_place(item, kMostShort)) {
        sequences_[place] = *sequence;
      } else {
        others_[piece].push_back(i);
      }
    }
  }

  void score_piece(size_t piece, match::BestMatches& best, match::PreparedScorer& prepared) {
    if (kReadsInPlace) take(piece);
    const size_t first = piece * piece_;
    const match::SequenceList all(sequences_);
    best.score({all.subspan(first, size_of(piece)), begin_ + first, {}, others_[piece]}, prepared);
  }

  nb::handle choices_;
  size_t begin_;
  size_t piece_;
  std::vector<match::Sequence> sequences_;
  std::vector<std::vector<size_t>> others_;  // of each piece, from its beginning
  size_t done_ = 0;                          // pieces
};

// One query with a list or a tuple, which may change whenever the lock is not held.
class Extraction {
 public:
  Extraction(const FuzzScorer& scorer, const match::Sequence& query, std::optional<double> cutoff,
             size_t limit, ThreadPool* pool)
      : scorer_(scorer), query_(query), best_(scorer, query, cutoff, limit), pool_(pool) {}

  // Whether any choice that is short takes so little time that the lock may be held.
  bool is_quick() const {
    return query_.length <= kMostShort &&
           match::score_time(scorer_, query_.length, kMostShort) <= kShortSteps;
  }

  // What lies elsewhere, or is long, is left for the end. For what is_quick().
  void score_in_place(nb::handle choices, ElementNumbers& numbers) {
    const uint64_t most = match::score_time(scorer_, query_.length, kMostShort);
    const size_t piece = std::min<size_t>(kTurnSteps / most, 4096);
    std::vector<size_t> places;
    nb::list others;
    for (size_t begin = 0; begin < nb::len(choices);) {
      InPlaceChunk chunk(choices, begin, std::min(nb::len(choices), begin + kChunk), piece);
      const size_t known = best_.candidates().size();
      const size_t end = chunk.score(best_, pool_);
      const size_t left = places.size();
      chunk.append_others(places);
      for (size_t i = left; i < places.size(); ++i) {
        others.append(item_of(choices, places[i]));
        hold(places[i], item_of(choices, places[i]));
      }
      for (const match::Match& match : best_.candidates().subspan(known)) {
        hold(match.place, item_of(choices, match.place));
      }
      begin = end;
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (begin < nb::len(choices)) {
        const ReleasedGil others_may_run;
      }
    }
    if (!places.empty()) score_all({others, numbers, nb::none()}, places);
  }

  void score(nb::handle choices, ElementNumbers& numbers, const nb::object& processor) {
    all_ = nb::steal<nb::tuple>(PySequence_Tuple(choices.ptr()));
    if (!all_.is_valid()) throw nb::python_error();
    score_all({all_, numbers, processor}, {});
  }

  // (item, score, place) of each.
  nb::list take() {
    std::sort(held_.begin(), held_.end(),
              [](const HeldItem& a, const HeldItem& b) { return a.place < b.place; });
    nb::list found;
    for (const match::Match& match : best_.take()) {
      found.append(nb::make_tuple(item(match.place), number_of(scorer_, match.score), match.place));
    }
    return found;
  }

 private:
  void hold(size_t place, nb::handle item) { held_.push_back({place, nb::borrow(item)}); }

  nb::handle item(size_t place) const {
    if (all_.is_valid()) return item_of(all_, place);
    return std::lower_bound(held_.begin(), held_.end(), place,
                            [](const HeldItem& a, size_t wanted) { return a.place < wanted; })
        ->item;
  }

  void score_all(const Collection& all, std::span<const size_t> places) {
    const match::ChoiceBlock block = {all.view(), 0, places, all.missing()};
    const uint64_t symbols = all.size() == 0 ? 0 : all.symbols() / all.size();
    const uint64_t steps = all.size() * match::score_time(scorer_, query_.length, symbols);
    run_interruptibly(steps >= kLongSteps, [&](const std::stop_token& stop) {
      pool_ != nullptr ? best_.score(block, *pool_, stop) : best_.score(block, stop);
    });
  }

  const FuzzScorer& scorer_;
  const match::Sequence& query_;
  match::BestMatches best_;
  ThreadPool* pool_;
  std::vector<HeldItem> held_;
  nb::tuple all_ = nb::steal<nb::tuple>(nullptr);
};

// The best choices that reach the cut-off, the first of equal ones first: (choice, score, place)
// each. `choices` are a list or a tuple.
nb::list fuzz_extract(const nb::str& name, nb::handle query, const nb::object& choices,
                      const nb::object& processor, nb::handle cutoff, nb::handle weights,
                      double prefix_weight, size_t limit) {
  const FuzzScorer scorer = scorer_of_process(name, weights, prefix_weight);
  const std::optional<double> held = cutoff_of_process(scorer, cutoff);
  ElementNumbers numbers(true);
  const Collection one(nb::make_tuple(query), numbers, nb::none());
  const match::Sequence sequence = one.view().front();
  ThreadPool* const pool = nb::len(choices) <= kFewChoices ? nullptr : &ThreadPool::process();
  Extraction extraction(scorer, sequence, held, limit, pool);
  if (processor.is_none() && extraction.is_quick()) {
    extraction.score_in_place(choices, numbers);
  } else {
    extraction.score(choices, numbers, processor);
  }
  return extraction.take();
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

// A query that is prepared for choices one after another.
class PreparedQuery {
 public:
  PreparedQuery(const nb::str& name, const nb::object& query, nb::handle cutoff, nb::handle weights,
                double prefix_weight)
      : scorer_(scorer_of_process(name, weights, prefix_weight)),
        cutoff_(cutoff_of_process(scorer_, cutoff)),
        query_(query),
        numbers_(true),
        query_reader_(numbers_),
        reader_(numbers_),
        sequence_(query_reader_.take(query_)) {
    prepared_.set(scorer_, sequence_);
  }

  const FuzzScorer& scorer() const { return scorer_; }
  bool is_distance() const { return scorer_.is_distance(); }

  // Only better scores pass from now on; or as good ones.
  void raise(double score) { cutoff_ = score; }

  // Nothing for what is missing, or does not reach the cut-off.
  std::optional<double> score(nb::handle choice) {
    if (is_missing(choice)) return {};
    const match::Sequence other = reader_.take(choice);
    const uint64_t steps = match::score_time(scorer_, sequence_.length, other.length);
    double score = 0;
    if (steps <= kShortSteps) {
      score = prepared_.score(other, cutoff_);
    } else {
      const nb::object held = nb::borrow(choice);
      run_interruptibly(steps >= kLongSteps, [&](const std::stop_token& stop) {
        score = match::stoppable_score(prepared_, scorer_, sequence_, other, cutoff_, stop);
      });
    }
    share_time(steps);
    if (cutoff_ && (is_distance() ? score > *cutoff_ : score < *cutoff_)) return {};
    return score;
  }

 private:
  void share_time(uint64_t steps) {
    constexpr uint64_t kItem = 64;  // to take it
    steps_ += steps + kItem;
    if (steps_ < kTurnSteps) return;
    steps_ = 0;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    const ReleasedGil others_may_run;
  }

  FuzzScorer scorer_;
  std::optional<double> cutoff_;
  nb::object query_;
  ElementNumbers numbers_;
  ItemReader query_reader_;
  ItemReader reader_;
  match::Sequence sequence_;
  match::PreparedScorer prepared_;
  uint64_t steps_ = 0;
};

// The score of a choice; None for what is missing, or does not reach the cut-off.
nb::object score_of_next(PreparedQuery& query, nb::handle choice) {
  const std::optional<double> score = query.score(choice);
  return score ? number_of(query.scorer(), *score) : nb::none();
}

// A choice and its key.
std::pair<nb::object, nb::object> key_and_choice(nb::handle item) {
  const nb::object pair = nb::steal(PySequence_Tuple(item.ptr()));
  if (!pair.is_valid()) throw nb::python_error();
  if (nb::len(pair) != 2) throw nb::value_error("items() of choices: a key and a choice each");
  return {nb::borrow(item_of(pair, 0)), nb::borrow(item_of(pair, 1))};
}

// The first of the best choices, its score, and its place or key; None where none reaches the
// cut-off. Choices are taken one by one until none can be better; with `has_keys` they are (key,
// choice). What is compared later must be better than the best so far, which is what ratios of
// parts gain by.
nb::object fuzz_best(const nb::str& name, const nb::object& query, const nb::object& choices,
                     bool has_keys, const nb::object& processor, nb::handle cutoff,
                     nb::handle weights, double prefix_weight) {
  PreparedQuery prepared(name, query, cutoff, weights, prefix_weight);
  const bool has_processor = !processor.is_none();
  std::optional<double> best;
  nb::object best_choice;
  nb::object best_key;
  size_t place = 0;
  size_t i = 0;
  for (const nb::handle item : nb::iter(choices)) {
    const size_t here = i++;
    nb::handle choice = item;
    std::pair<nb::object, nb::object> keyed;
    if (has_keys) {
      keyed = key_and_choice(item);
      choice = keyed.second;
    }
    std::optional<double> score;
    if (!has_processor) {
      score = prepared.score(choice);
    } else if (!is_missing(choice)) {
      const nb::object processed = processor(choice);
      score = prepared.score(processed);
    }
    if (!score || (best && *score == *best)) continue;
    best = score;
    prepared.raise(*score);
    best_choice = nb::borrow(choice);
    best_key = std::move(keyed.first);
    place = here;
    if (prepared.scorer().is_best(*score)) break;
  }
  if (!best) return nb::none();
  if (!has_keys) best_key = nb::int_(place);
  return nb::make_tuple(best_choice, number_of(prepared.scorer(), *best), best_key);
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

void define_match_fuzz_many(nb::module_& module) {
  module.def("fuzz_extract", &fuzz_extract, "name"_a, "query"_a.none(), "choices"_a,
             "processor"_a.none(), "cutoff"_a.none(), "weights"_a.none(), "prefix_weight"_a,
             "limit"_a);
  nb::class_<PreparedQuery>(module, "PreparedQuery")
      .def(nb::init<const nb::str&, const nb::object&, nb::handle, nb::handle, double>(), "name"_a,
           "query"_a.none(), "cutoff"_a.none(), "weights"_a.none(), "prefix_weight"_a)
      .def("score", &score_of_next, "choice"_a.none());
  module.def("fuzz_best", &fuzz_best, "name"_a, "query"_a.none(), "choices"_a, "has_keys"_a,
             "processor"_a.none(), "cutoff"_a.none(), "weights"_a.none(), "prefix_weight"_a);
  module.def("fuzz_matrix", &fuzz_matrix, "name"_a, "queries"_a, "choices"_a, "processor"_a.none(),
             "pairwise"_a, "cutoff"_a.none(), "weights"_a.none(), "prefix_weight"_a, "multiplier"_a,
             "threads"_a, "allocate"_a);
}

}  // namespace hoist::python
