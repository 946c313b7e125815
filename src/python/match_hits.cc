#include "python/match_hits.h"

#include <nanobind/ndarray.h>

#include <algorithm>

#include "python/errors.h"
#include "python/interruptible.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace hoist::python {
namespace {

template <typename T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> array_of(std::vector<T>&& values) {
  auto* const kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* it) noexcept { delete static_cast<std::vector<T>*>(it); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

using Pattern = std::vector<std::vector<std::string_view>>;

nb::str str_of(std::string_view text) { return nb::str(text.data(), text.size()); }

nb::list events_of(const Pattern& pattern) {
  nb::list events;
  for (const auto& event : pattern) {
    nb::list symbols;
    for (const std::string_view symbol : event) symbols.append(str_of(symbol));
    events.append(symbols);
  }
  return events;
}

nb::list symbols_of(const Pattern& pattern) {
  nb::list symbols;
  for (const auto& event : pattern) {
    for (const std::string_view symbol : event) symbols.append(str_of(symbol));
  }
  return symbols;
}

// A str where every symbol is a character; else a list of symbols.
nb::object text_of_symbols(const Pattern& pattern) {
  const auto is_character = [](std::string_view symbol) {
    const auto is_begin = [](char byte) { return (byte & 0xc0) != 0x80; };  // of UTF-8
    return std::count_if(symbol.begin(), symbol.end(), is_begin) == 1;
  };
  std::string text;
  for (const auto& event : pattern) {
    for (const std::string_view symbol : event) {
      if (!is_character(symbol)) return symbols_of(pattern);
      text += symbol;
    }
  }
  return str_of(text);
}

}  // namespace

nb::tuple Hits::arrays(bool normalized) const {
  std::vector<double> scores;
  std::vector<int64_t> ids;
  std::vector<int64_t> ends;
  for (const match::IndexSearchResult& result : results_) {
    for (const match::IndexHit& hit : result.hits) {
      scores.push_back(normalized ? hit.normalized : hit.score);
      ids.push_back(hit.id);
    }
    ends.push_back(static_cast<int64_t>(ids.size()));
  }
  return nb::make_tuple(array_of(std::move(scores)), array_of(std::move(ids)),
                        array_of(std::move(ends)));
}

const match::IndexSearchResult& Hits::result(size_t state) const {
  if (state >= results_.size()) throw nb::index_error("no such state");
  return results_[state];
}

nb::list Hits::names() const {
  nb::list all;
  size_t made = 0;
  for (const match::IndexSearchResult& result : results_) {
    nb::list names;
    for (const match::IndexHit& hit : result.hits) {
      check_signals(made++);
      names.append(str_of(result.name(hit)));
    }
    all.append(names);
  }
  return all;
}

nb::str Hits::name(size_t state, size_t hit) const {
  const match::IndexSearchResult& found = result(state);
  if (hit >= found.hits.size()) throw nb::index_error("no such hit");
  return str_of(found.name(found.hits[hit]));
}

nb::list Hits::patterns(const std::shared_ptr<const match::Index>& index, size_t state,
                        size_t begin, size_t end, const std::string& form) const {
  if (index_.lock() != index) {
    raise({ErrorCode::invalid_argument, "another index found these patterns"});
  }
  const match::IndexSearchResult& found = result(state);
  nb::list patterns;
  for (size_t hit = begin; hit < std::min(end, found.hits.size()); ++hit) {
    check_signals(hit);
    const Pattern pattern = index->events(found, found.hits[hit]);
    if (form == "texts") {
      patterns.append(text_of_symbols(pattern));
    } else {
      patterns.append(form == "symbols" ? symbols_of(pattern) : events_of(pattern));
    }
  }
  return patterns;
}

void define_hits(nb::module_& module) {
  nb::class_<Hits>(module, "Hits")
      .def("arrays", &Hits::arrays, "normalized"_a)
      .def("names", &Hits::names)
      .def("name", &Hits::name, "state"_a, "hit"_a);
}

}  // namespace hoist::python
