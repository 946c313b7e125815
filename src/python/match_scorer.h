// hoist.match.Scorer: how alike two sequences are, as a call. A type of its own instead of a
// function for each: short pairs take less time than a call through Python.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "match/pairs/pair_scorer.h"

namespace hoist::python {

// The scorer of a Scorer object or of its name; raises Unsupported otherwise.
match::PairScorer scorer_of(nanobind::handle scorer);

// As scorers compare with it: nothing for None. Raises what is wrong with it.
std::optional<double> cutoff_of(const match::PairScorer& scorer, nanobind::handle wanted);

// Raises InvalidArgument: scorers that count have no score for it.
[[noreturn]] void refuse_missing(const match::PairScorer& scorer);

}  // namespace hoist::python
