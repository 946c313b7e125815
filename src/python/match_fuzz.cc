// What hoist.rapidfuzz is made of, for two sequences: every scorer by its name, and edits.
#include "python/match_fuzz.h"

#include <nanobind/nanobind.h>

#include <string>
#include <utility>
#include <vector>

#include "match/fuzz/edit_script.h"
#include "match/fuzz/fuzz_scorer.h"
#include "match/fuzz/ratios.h"
#include "python/errors.h"
#include "python/interruptible.h"
#include "python/match_collection.h"
#include "python/module.h"
#include "python/pair_call.h"

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

namespace {

// Cells of the matrix of a pair for which another thread may have the interpreter's lock, and those
// for which the work has a thread of its own.
constexpr uint64_t kSmallCells = uint64_t{1} << 17;
constexpr uint64_t kLongCells = uint64_t{1} << 25;

template <typename Work>
auto unlocked_if_long(uint64_t cells, const Work& work) {
  if (cells <= kSmallCells) return work();
  return interruptible(cells >= kLongCells, [&](const std::stop_token&) { return work(); });
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
  module.def("partial_alignment", &partial_alignment, "a"_a.none(), "b"_a.none(), "cutoff"_a);
  module.def("edit_script", &edit_script, "a"_a.none(), "b"_a.none(), "replaces"_a);
}

}  // namespace hoist::python
