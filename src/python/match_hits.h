// What a search of an index found, for Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "match/index/index.h"

namespace hoist::python {

// Keeps the tiers that a search found its hits in, for their names.
class Hits {
 public:
  Hits(std::vector<match::IndexSearchResult>&& results, std::weak_ptr<const match::Index> index)
      : results_(std::move(results)), index_(std::move(index)) {}
  Hits(const Hits&) = delete;
  Hits& operator=(const Hits&) = delete;

  // (scores, ids, ends) of all states one after the other: float64, int64, int64.
  nanobind::tuple arrays(bool normalized) const;
  // A list of names for each state.
  nanobind::list names() const;
  // The name of one hit of a state.
  nanobind::str name(size_t state, size_t hit) const;
  // The patterns of hits [begin, end) of a state; InvalidArgument unless `index`, which is open,
  // found them. Form "events": lists of lists of str; "symbols": lists of str; "texts": strs where
  // every symbol is a character, else lists of str.
  nanobind::list patterns(const std::shared_ptr<const match::Index>& index, size_t state,
                          size_t begin, size_t end, const std::string& form) const;

 private:
  const match::IndexSearchResult& result(size_t state) const;

  std::vector<match::IndexSearchResult> results_;
  std::weak_ptr<const match::Index> index_;  // which its close() lets go
};

void define_hits(nanobind::module_& module);

}  // namespace hoist::python
