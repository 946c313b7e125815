// A scorer of hoist.rapidfuzz as Python names it.
#pragma once

#include <nanobind/nanobind.h>

#include "match/fuzz/fuzz_scorer.h"

namespace hoist::python {

// A scorer with what its keywords say. `weights` is None or three integers.
match::FuzzScorer scorer_of(const nanobind::str& name, nanobind::handle weights,
                            double prefix_weight);

}  // namespace hoist::python
