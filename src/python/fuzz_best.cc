// hoist.rapidfuzz.process.extractOne and extract_iter: one sequence with others, one by one.
#include <nanobind/nanobind.h>

#include <optional>
#include <utility>
#include <vector>

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

}  // namespace

void define_fuzz_best(nb::module_& module) {
  nb::class_<PreparedQuery>(module, "PreparedQuery")
      .def(nb::init<const nb::str&, const nb::object&, nb::handle, nb::handle, double>(), "name"_a,
           "query"_a.none(), "cutoff"_a.none(), "weights"_a.none(), "prefix_weight"_a)
      .def("score", &score_of_next, "choice"_a.none());
  module.def("fuzz_best", &fuzz_best, "name"_a, "query"_a.none(), "choices"_a, "has_keys"_a,
             "processor"_a.none(), "cutoff"_a.none(), "weights"_a.none(), "prefix_weight"_a);
}

}  // namespace hoist::python
