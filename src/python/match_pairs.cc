// All pairs of two collections, scored as RapidFuzz does, for hoist.match.cdist.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "match/pairs/pair_counts.h"
#include "match/score/edit_distance.h"
#include "python/errors.h"
#include "python/interruptible.h"
#include "python/match_elements.h"
#include "python/match_scores.h"
#include "python/module.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

using Matrix = nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Steps of the matrices of all pairs from which on they take longer than a thread takes to start.
constexpr uint64_t kLongWork = uint64_t{1} << 26;

// None, NaN, and pandas' NA.
bool is_missing(nb::handle item) {
  if (item.is_none()) return true;
  if (PyUnicode_Check(item.ptr()) || PyList_Check(item.ptr()) || PyTuple_Check(item.ptr())) {
    return false;
  }
  if (PyFloat_Check(item.ptr())) return std::isnan(PyFloat_AsDouble(item.ptr()));
  return nb::cast<std::string>(item.type().attr("__name__")) == "NAType";
}

// Sequences as numbers, one after the other.
class Collection {
 public:
  Collection(nb::handle items, ElementNumbers& numbers, const nb::object& processor) {
    const bool is_plain = processor.is_none() && PyList_CheckExact(items.ptr());
    if (is_plain && read_texts(items)) return;
    const nb::object list = nb::steal(PySequence_List(items.ptr()));
    if (!list.is_valid()) throw nb::python_error();
    if (processor.is_none() && !is_plain && read_texts(list)) return;
    read_each(list, numbers, processor);
  }

  match::SequenceList view() const { return {symbols_, ends_}; }
  size_t size() const { return ends_.size(); }
  const std::vector<size_t>& missing() const { return missing_; }

 private:
  // A list of nothing but strs: one call for all of them takes much less time than one for each.
  // Nothing here runs code of the list's owner, who could change it.
  bool read_texts(nb::handle list) {
    const Py_ssize_t size = PyList_Size(list.ptr());
    ends_.resize(static_cast<size_t>(size));
    uint64_t end = 0;
    for (Py_ssize_t i = 0; i < size; ++i) {
      PyObject* const item = PyList_GetItem(list.ptr(), i);
      if (!PyUnicode_Check(item)) {
        ends_.clear();
        return false;
      }
      end += static_cast<uint64_t>(PyUnicode_GetLength(item));
      ends_[static_cast<size_t>(i)] = end;
    }
    const nb::object text = nb::steal(PyUnicode_Join(nb::str("").ptr(), list.ptr()));
    if (!text.is_valid()) throw nb::python_error();
    characters_.reset(new uint32_t[end]);  // without zeros that nobody reads
    if (end != 0 && PyUnicode_AsUCS4(text.ptr(), characters_.get(), static_cast<Py_ssize_t>(end),
                                     0) == nullptr) {
      throw nb::python_error();
    }
    symbols_ = {characters_.get(), end};
    return true;
  }

  void read_each(nb::handle list, ElementNumbers& numbers, const nb::object& processor) {
    const Py_ssize_t size = PyList_Size(list.ptr());
    ends_.reserve(static_cast<size_t>(size));
    for (Py_ssize_t i = 0; i < size; ++i) {
      check_signals(static_cast<size_t>(i));
      nb::object item = nb::borrow(PyList_GetItem(list.ptr(), i));
      if (is_missing(item)) {
        missing_.push_back(static_cast<size_t>(i));
      } else {
        if (!processor.is_none()) item = processor(item);
        // What has no length is no sequence, though it may be iterable.
        if (PyObject_Size(item.ptr()) < 0) throw nb::python_error();
        numbers.append(item, numbers_);
      }
      ends_.push_back(numbers_.size());
    }
    symbols_ = numbers_;
  }

  std::unique_ptr<uint32_t[]> characters_;  // of texts
  std::vector<uint32_t> numbers_;           // of anything else
  std::span<const uint32_t> symbols_;       // the one or the other
  std::vector<uint64_t> ends_;
  std::vector<size_t> missing_;
};

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
    by_query_.resize(kLengths * kLengths);
    by_choice_.resize(kLengths * kLengths);
    elements_.reserve(elements);
    for (const uint32_t m : of_queries) {
      for (const uint32_t n : of_choices) {
        by_query_[m * kLengths + n] = static_cast<uint32_t>(elements_.size());
        by_choice_[n * kLengths + m] = static_cast<uint32_t>(elements_.size());
        for (uint32_t count = 0; count <= most(m, n); ++count) {
          elements_.push_back(scoring_.element<T>(count, m, n));
        }
      }
    }
  }

  // The others' elements, `stride` apart.
  void put(const match::PairRun& run, T* at, size_t stride) const {
    const match::SequenceList& others = run.is_query ? choices_ : queries_;
    const uint32_t length = (run.is_query ? queries_ : choices_).length(run.fixed);
    if (elements_.empty()) {
      for (size_t i = 0; i < run.counts.size(); ++i) {
        at[i * stride] = scoring_.element<T>(run.counts[i], length, others.length(run.first + i));
      }
      return;
    }
    const uint32_t* const rows = (run.is_query ? by_query_ : by_choice_).data() + length * kLengths;
    const uint8_t* const lengths =
        (run.is_query ? choice_lengths_ : query_lengths_).data() + run.first;
    const T* const elements = elements_.data();
    for (size_t i = 0; i < run.counts.size(); ++i) {
      at[i * stride] = elements[rows[lengths[i]] + run.counts[i]];
    }
  }

 private:
  static constexpr uint32_t kLengths = 129;

  uint32_t most(uint32_t m, uint32_t n) const {
    return scoring_.scorer.counts() == match::PairCount::lcs ? std::min(m, n) : std::max(m, n);
  }

  // Every length that is in the list, and each sequence's; nothing where one is too long.
  static std::vector<uint32_t> lengths(const match::SequenceList& list,
                                       std::vector<uint8_t>& by_sequence) {
    std::vector<bool> seen(kLengths);
    by_sequence.resize(list.size());
    for (size_t i = 0; i < list.size(); ++i) {
      if (list.length(i) >= kLengths) return {};
      by_sequence[i] = static_cast<uint8_t>(list.length(i));
      seen[list.length(i)] = true;
    }
    std::vector<uint32_t> out;
    for (uint32_t length = 0; length < kLengths; ++length) {
      if (seen[length]) out.push_back(length);
    }
    return out;
  }

  const Scoring& scoring_;
  const match::SequenceList& queries_;
  const match::SequenceList& choices_;
  std::vector<uint8_t> query_lengths_;
  std::vector<uint8_t> choice_lengths_;
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
  const uint64_t work =
      uint64_t{query_list.view().symbols.size()} * choice_list.view().symbols.size();
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
