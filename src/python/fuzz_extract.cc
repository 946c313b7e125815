// hoist.rapidfuzz.process.extract: one sequence with a list, by all cores.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "match/fuzz/best_matches.h"
#include "match/fuzz/prepared_scorer.h"
#include "match/fuzz/score_time.h"
#include "python/fuzz_function.h"
#include "python/fuzz_process.h"
#include "python/interruptible.h"
#include "python/match_collection.h"
#include "python/match_elements.h"
#include "python/module.h"
#include "python/released_gil.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

using match::FuzzScorer;

// So few choices take less time than it takes other threads to start.
constexpr size_t kFewChoices = 8192;

// Choices of up to so many symbols are compared while the interpreter's lock is held.
constexpr size_t kMostShort = 256;
// So many at a time, or as many as this time is enough for; other threads then have the lock.
constexpr size_t kChunk = 32768;
constexpr auto kTurn = std::chrono::milliseconds(5);

// An item of a list may be gone as soon as another thread, or a function of the user's, runs.
struct HeldItem {
  size_t place;
  nb::object item;
};

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

}  // namespace

void define_fuzz_extract(nb::module_& module) {
  module.def("fuzz_extract", &fuzz_extract, "name"_a, "query"_a.none(), "choices"_a,
             "processor"_a.none(), "cutoff"_a.none(), "weights"_a.none(), "prefix_weight"_a,
             "limit"_a);
}

}  // namespace hoist::python
