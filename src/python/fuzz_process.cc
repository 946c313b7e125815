#include "python/fuzz_process.h"

#include "match/score/scorer.h"
#include "python/fuzz_function.h"
#include "python/match_fuzz.h"

namespace nb = nanobind;

namespace hoist::python {

match::FuzzScorer scorer_of_process(const nb::str& name, nb::handle weights, double prefix_weight) {
  match::FuzzScorer scorer = scorer_of(name, weights, prefix_weight);
  scorer.is_of_process = true;
  return scorer;
}

std::optional<double> cutoff_of_process(const match::FuzzScorer& scorer, nb::handle wanted) {
  const std::optional<double> cutoff = cutoff_of(scorer, wanted);
  return cutoff && scorer.is_percent() ? match::held_cutoff(*cutoff) : cutoff;
}

nb::handle item_of(nb::handle choices, size_t i) {
  const auto place = static_cast<Py_ssize_t>(i);
  return PyList_Check(choices.ptr()) ? PyList_GetItem(choices.ptr(), place)
                                     : PyTuple_GetItem(choices.ptr(), place);
}

}  // namespace hoist::python
