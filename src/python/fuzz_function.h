// hoist.rapidfuzz's functions of two sequences, each an object that C++ calls.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "match/fuzz/fuzz_scorer.h"

namespace hoist::python {

// As scores compare with it: nothing for None. Raises what RapidFuzz raises for what is no cut-off.
std::optional<double> cutoff_of(const match::FuzzScorer& scorer, nanobind::handle wanted);

// A score as RapidFuzz gives it: an int where the scorer counts, else a float.
nanobind::object number_of(const match::FuzzScorer& scorer, double score);

}  // namespace hoist::python
