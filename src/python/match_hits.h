// What a search of an index found, for Python.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "match/index/search.h"

namespace hoist::python {

// Keeps the tiers that a search found its hits in, for their names.
class Hits {
 public:
  explicit Hits(std::vector<match::IndexSearchResult>&& results) : results_(std::move(results)) {}
  Hits(const Hits&) = delete;
  Hits& operator=(const Hits&) = delete;

  // (scores, ids, ends) of all states one after the other: float64, int64, int64.
  nanobind::tuple arrays(bool normalized) const;
  // A list of names for each state.
  nanobind::list names() const;

 private:
  std::vector<match::IndexSearchResult> results_;
};

void define_hits(nanobind::module_& module);

}  // namespace hoist::python
