// A scorer of hoist.rapidfuzz as Python names it.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "match/fuzz/fuzz_scorer.h"

namespace hoist::python {

// A scorer with what its keywords say. `weights` is None or three integers.
match::FuzzScorer scorer_of(const nanobind::str& name, nanobind::handle weights,
                            double prefix_weight);

// None, or a number that it accepts; else what RapidFuzz raises.
std::optional<double> cutoff_of(const match::FuzzScorer& scorer, nanobind::handle wanted);

// A score as an int, or as a float.
nanobind::object number_of(const match::FuzzScorer& scorer, double score);

}  // namespace hoist::python
