// What hoist.rapidfuzz is made of: every scorer by its name, for a pair, for one sequence with
// many, and for all pairs; and edits.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "match/fuzz/edit_script.h"
#include "match/fuzz/fuzz_scorer.h"
#include "match/fuzz/ratios.h"
#include "match/fuzz/words.h"
#include "match/pairs/score_matrix.h"
#include "python/errors.h"
#include "python/fuzz_function.h"
#include "python/interruptible.h"
#include "python/match_collection.h"
#include "python/match_elements.h"
#include "python/module.h"
#include "python/pair_call.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

using match::FuzzScorer;
using Matrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Cells of the matrices of all pairs for which another thread may have the interpreter's lock, and
// those for which the work has a thread of its own.
constexpr uint64_t kSmallCells = uint64_t{1} << 17;
constexpr uint64_t kLongCells = uint64_t{1} << 25;

// A scorer with what its keywords say. `weights` is None or three integers.
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

  match::Sequence keep(std::vector<uint32_t> symbols) {
    const std::vector<uint32_t>& kept = wide_.emplace_back(std::move(symbols));
    return sequence_of(kept.data(), kept.size());
  }

 private:
  ElementNumbers numbers_{true};
  std::deque<std::vector<uint32_t>> wide_;
  std::deque<std::vector<uint8_t>> narrow_;
};

// A list's sequences, empty where they are missing.
struct ItemList {
  explicit ItemList(const match::Sequence& one) : sequences({one}), symbols(one.length) {}
  ItemList(const nb::list& list, Items& items) {
    for (const nb::handle item : list) {
      if (is_missing(item)) missing.push_back(sequences.size());
      sequences.push_back(is_missing(item) ? match::Sequence() : items.take(item));
      symbols += sequences.back().length;
    }
  }

  std::vector<match::Sequence> sequences;
  std::vector<size_t> missing;
  uint64_t symbols = 0;
};

template <typename Work>
auto unlocked_if_long(uint64_t cells, const Work& work) {
  if (cells <= kSmallCells) return work();
  return interruptible(cells >= kLongCells, [&](const std::stop_token&) { return work(); });
}

// Items as their words in order, by which token_sort_ratio is a ratio.
void sort_words(ItemList& list, Items& items) {
  for (match::Sequence& sequence : list.sequences) {
    std::vector<uint32_t> room;
    const match::Symbols symbols = match::wide_symbols(sequence, room);
    sequence = items.keep(match::joined(match::sorted_words({symbols, sequence.width == 1})));
  }
}

void fill_row(const FuzzScorer& scorer, const match::Sequence& query, const ItemList& list,
              std::optional<double> cutoff, double* out, const std::stop_token& stop) {
  for (size_t i = 0; i < list.sequences.size() && !stop.stop_requested(); ++i) {
    out[i] = match::fuzz_score(scorer, query, list.sequences[i], cutoff);
  }
}

// All pairs, rows of `width` elements.
void fill_matrix(FuzzScorer scorer, ItemList& rows, ItemList& columns, Items& items,
                 std::optional<double> cutoff, int threads, double* out) {
  if (scorer.kind == FuzzScorer::Kind::token_sort_ratio) {
    sort_words(rows, items);
    sort_words(columns, items);
    scorer.kind = FuzzScorer::Kind::ratio;
  }
  const size_t width = columns.sequences.size();
  const auto work = [&](ThreadPool& pool, const std::stop_token& stop) {
    if (const auto pair_scorer = scorer.pair_scorer()) {
      const std::span elements(out, rows.sequences.size() * width);
      const match::PairScoring scoring = {*pair_scorer, cutoff, 1};
      match::fill_scores(scoring, rows.sequences, columns.sequences, pool, elements, stop);
      return;
    }
    pool.parallel_for(rows.sequences.size(), [&](size_t row) {
      fill_row(scorer, rows.sequences[row], columns, cutoff, out + row * width, stop);
    });
  };
  run_interruptibly(rows.symbols * columns.symbols >= kLongCells, [&](const std::stop_token& stop) {
    if (threads == 0) return work(ThreadPool::process(), stop);
    ThreadPool pool(threads);
    work(pool, stop);
  });
}

// The best choices that reach the cut-off, the first of equal ones first: (score, place) each.
nb::list fuzz_extract(const nb::str& name, nb::handle query, const nb::list& choices,
                      nb::handle cutoff, nb::handle weights, double prefix_weight, size_t limit) {
  const FuzzScorer scorer = scorer_of(name, weights, prefix_weight);
  const std::optional<double> held = cutoff_of(scorer, cutoff);
  Items items;
  ItemList all(choices, items);
  ItemList one(items.take(query));
  std::vector<double> scores(all.sequences.size());
  fill_matrix(scorer, one, all, items, held, 1, scores.data());
  std::vector<size_t> places;
  size_t missing = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (missing < all.missing.size() && all.missing[missing] == i) {
      ++missing;
    } else if (!held || (scorer.is_distance() ? scores[i] <= *held : scores[i] >= *held)) {
      places.push_back(i);
    }
  }
  const double sign = scorer.is_distance() ? 1 : -1;
  const auto best = places.begin() + static_cast<ptrdiff_t>(std::min(limit, places.size()));
  std::partial_sort(places.begin(), best, places.end(), [&](size_t x, size_t y) {
    return std::pair(sign * scores[x], x) < std::pair(sign * scores[y], y);
  });
  nb::list found;
  for (auto place = places.begin(); place != best; ++place) {
    found.append(nb::make_tuple(number_of(scorer, scores[*place]), *place));
  }
  return found;
}

// The best score and where the first choice that has it is; None where none reaches the cut-off.
// What is compared later must be better than the best so far, which is what ratios of parts gain
// by.
nb::object fuzz_best(const nb::str& name, nb::handle query, const nb::list& choices,
                     nb::handle cutoff, nb::handle weights, double prefix_weight) {
  const FuzzScorer scorer = scorer_of(name, weights, prefix_weight);
  const std::optional<double> wanted = cutoff_of(scorer, cutoff);
  Items items;
  const ItemList all(choices, items);
  const match::Sequence first = items.take(query);
  const bool is_distance = scorer.is_distance();
  std::optional<double> best;
  size_t place = 0;
  size_t missing = 0;
  for (size_t i = 0; i < all.sequences.size(); ++i) {
    check_signals(i);
    if (missing < all.missing.size() && all.missing[missing] == i) {
      ++missing;
      continue;
    }
    const std::optional<double> than = best ? best : wanted;
    const double score = match::fuzz_score(scorer, first, all.sequences[i], than);
    if (than && (is_distance ? score > *than : score < *than)) continue;
    if (best && score == *best) continue;
    best = score;
    place = i;
    if (scorer.is_best(score)) break;
  }
  if (!best) return nb::none();
  return nb::make_tuple(number_of(scorer, *best), place);
}

// All pairs, or those of the same places; into allocate(rows, columns), of float64.
nb::object fuzz_matrix(const nb::str& name, const nb::list& queries, const nb::list& choices,
                       bool pairwise, nb::handle cutoff, nb::handle weights, double prefix_weight,
                       int threads, const nb::object& allocate) {
  const FuzzScorer scorer = scorer_of(name, weights, prefix_weight);
  const std::optional<double> held = cutoff_of(scorer, cutoff);
  Items items;
  ItemList rows(queries, items);
  ItemList columns(choices, items);
  if (scorer.is_count() && rows.missing.size() + columns.missing.size() > 0) {
    throw nb::value_error("passed unsupported element None");
  }
  const size_t width = pairwise ? 1 : columns.sequences.size();
  nb::object array = allocate(rows.sequences.size(), width);
  double* const out = nb::cast<Matrix>(array).data();
  if (pairwise) {
    run_interruptibly(rows.symbols >= kLongCells, [&](const std::stop_token& stop) {
      for (size_t i = 0; i < rows.sequences.size() && !stop.stop_requested(); ++i) {
        out[i] = match::fuzz_score(scorer, rows.sequences[i], columns.sequences[i], held);
      }
    });
  } else {
    fill_matrix(scorer, rows, columns, items, held, threads, out);
  }
  for (const size_t row : rows.missing) std::fill_n(out + row * width, width, scorer.worst());
  for (const size_t column : columns.missing) {
    if (pairwise) out[column] = scorer.worst();
    for (size_t row = 0; !pairwise && row < rows.sequences.size(); ++row) {
      out[row * width + column] = scorer.worst();
    }
  }
  return array;
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
  module.def("fuzz_extract", &fuzz_extract, "name"_a, "query"_a.none(), "choices"_a,
             "cutoff"_a.none(), "weights"_a.none(), "prefix_weight"_a, "limit"_a);
  module.def("fuzz_best", &fuzz_best, "name"_a, "query"_a.none(), "choices"_a, "cutoff"_a.none(),
             "weights"_a.none(), "prefix_weight"_a);
  module.def("fuzz_matrix", &fuzz_matrix, "name"_a, "queries"_a, "choices"_a, "pairwise"_a,
             "cutoff"_a.none(), "weights"_a.none(), "prefix_weight"_a, "threads"_a, "allocate"_a);
  module.def("partial_alignment", &partial_alignment, "a"_a.none(), "b"_a.none(), "cutoff"_a);
  module.def("edit_script", &edit_script, "a"_a.none(), "b"_a.none(), "replaces"_a);
}

}  // namespace hoist::python
