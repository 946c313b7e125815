// What hoist.rapidfuzz is made of, for two sequences: every scorer by its name, and edits.
#include "python/match_fuzz.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "match/fuzz/edit_script.h"
#include "match/fuzz/fuzz_scorer.h"
#include "match/fuzz/ratios.h"
#include "match/score/scorer.h"
#include "python/errors.h"
#include "python/interruptible.h"
#include "python/match_collection.h"
#include "python/match_elements.h"
#include "python/module.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
using match::FuzzScorer;

FuzzScorer scorer_of(const nb::str& name, nb::handle weights, double prefix_weight) {
  const auto named = FuzzScorer::named(name.c_str());
  if (!named) throw nb::value_error(("no such scorer: " + std::string(name.c_str())).c_str());
  FuzzScorer scorer = *named;
  scorer.prefix_weight = prefix_weight;
  if (!weights.is_none()) {
    scorer.weights = {nb::cast<uint64_t>(weights[0]), nb::cast<uint64_t>(weights[1]),
                      nb::cast<uint64_t>(weights[2])};
  }
  return scorer;
}

std::optional<double> cutoff_of(const FuzzScorer& scorer, nb::handle wanted) {
  if (wanted.is_none()) return {};
  const double number = PyFloat_AsDouble(wanted.ptr());
  if (number == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error();
  if (scorer.is_count()) {
    if (number < 0) {
      PyErr_SetString(PyExc_OverflowError, "can't convert negative value to uint64_t");
      throw nb::python_error();
    }
    if (!std::isfinite(number)) throw nb::value_error("a score_cutoff that is not finite");
    return std::trunc(number);
  }
  if (scorer.is_percent()) return std::isnan(number) ? 1e300 : number;  // nothing reaches it
  if (!(number >= 0 && number <= 1)) {
    throw nb::type_error("score_cutoff has to be in the range of 0.0 - 1.0");
  }
  return match::held_cutoff(number);
}

nb::object number_of(const FuzzScorer& scorer, double score) {
  if (scorer.is_count()) return nb::steal(PyLong_FromDouble(score));
  return nb::steal(PyFloat_FromDouble(score));
}

namespace {

// Cells of the matrix of a pair for which another thread may have the interpreter's lock, and those
// for which the work has a thread of its own.
constexpr uint64_t kSmallCells = uint64_t{1} << 17;
constexpr uint64_t kLongCells = uint64_t{1} << 25;

// Sequences, where they lie or copied; the items must outlive it.
class Items {
 public:
  // Refuses what is no sequence, as len() does.
  match::Sequence take(nb::handle item) {
    if (const auto in_place = symbols_in_place(item)) return *in_place;
    if (PyObject_Size(item.ptr()) < 0) throw nb::python_error();
    std::vector<uint32_t>& wide = wide_.emplace_back();
    numbers_.append(item, wide);
    const bool is_narrow =
        PyUnicode_Check(item.ptr()) != 0 &&
        std::all_of(wide.begin(), wide.end(), [](uint32_t c) { return c < 256; });
    if (!is_narrow) return sequence_of(wide.data(), wide.size());
    // With Python's stable ABI.
    std::vector<uint8_t>& narrow = narrow_.emplace_back(wide.begin(), wide.end());
    wide_.pop_back();
    return sequence_of(narrow.data(), narrow.size());
  }

 private:
  ElementNumbers numbers_{true};
  std::deque<std::vector<uint32_t>> wide_;
  std::deque<std::vector<uint8_t>> narrow_;
};

struct Pair {
  Pair(nb::handle a, nb::handle b) : first(items.take(a)), second(items.take(b)) {}

  uint64_t cells() const { return uint64_t{first.length} * second.length; }

  Items items;
  match::Sequence first;
  match::Sequence second;
};

template <typename Work>
auto unlocked_if_long(uint64_t cells, const Work& work) {
  if (cells <= kSmallCells) return work();
  return interruptible(cells >= kLongCells, [&](const std::stop_token&) { return work(); });
}

nb::object fuzz_score(const nb::str& name, nb::handle a, nb::handle b, nb::handle cutoff,
                      nb::handle weights, double prefix_weight) {
  const FuzzScorer scorer = scorer_of(name, weights, prefix_weight);
  const std::optional<double> held = cutoff_of(scorer, cutoff);
  if (!scorer.is_count() && (is_missing(a) || is_missing(b))) {
    return number_of(scorer, scorer.worst());
  }
  const Pair pair(a, b);
  return number_of(scorer, unlocked_if_long(pair.cells(), [&] {
                     return match::fuzz_score(scorer, pair.first, pair.second, held);
                   }));
}

nb::tuple partial_alignment(nb::handle a, nb::handle b, double cutoff) {
  const Pair pair(a, b);
  const match::PartialAlignment found = unlocked_if_long(pair.cells(), [&] {
    std::vector<uint32_t> room_a;
    std::vector<uint32_t> room_b;
    return match::partial_ratio_alignment(match::wide_symbols(pair.first, room_a),
                                          match::wide_symbols(pair.second, room_b), cutoff);
  });
  return nb::make_tuple(found.score, found.source_begin, found.source_end, found.destination_begin,
                        found.destination_end);
}

// (kind, source, destination) of each edit, and the lengths; replacements where `replaces`.
nb::tuple edit_script(nb::handle a, nb::handle b, bool replaces) {
  static constexpr const char* kKinds[] = {"replace", "insert", "delete"};
  const Pair pair(a, b);
  const std::vector<match::Edit> edits = unlocked_if_long(pair.cells(), [&] {
    std::vector<uint32_t> room_a;
    std::vector<uint32_t> room_b;
    const match::Symbols x = match::wide_symbols(pair.first, room_a);
    const match::Symbols y = match::wide_symbols(pair.second, room_b);
    return replaces ? match::levenshtein_edits(x, y) : match::indel_edits(x, y);
  });
  nb::list out;
  for (const match::Edit& edit : edits) {
    out.append(
        nb::make_tuple(kKinds[static_cast<size_t>(edit.kind)], edit.source, edit.destination));
  }
  return nb::make_tuple(out, pair.first.length, pair.second.length);
}

}  // namespace

void define_match_fuzz(nb::module_& module) {
  module.def(
      "is_missing", [](nb::handle item) { return is_missing(item); }, "item"_a.none());
  module.def("fuzz_score", &fuzz_score, "name"_a, "a"_a.none(), "b"_a.none(), "cutoff"_a.none(),
             "weights"_a.none(), "prefix_weight"_a);
  module.def("partial_alignment", &partial_alignment, "a"_a.none(), "b"_a.none(), "cutoff"_a);
  module.def("edit_script", &edit_script, "a"_a.none(), "b"_a.none(), "replaces"_a);
}

}  // namespace hoist::python
