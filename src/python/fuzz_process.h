// What all of hoist.rapidfuzz.process shares.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "match/fuzz/fuzz_scorer.h"

namespace hoist::python {

// Nanoseconds, of score_time(). Other threads have the interpreter's lock after so many of them;
inline constexpr uint64_t kTurnSteps = 5'000'000;
// what takes longer than these is done without the lock, and by a thread of its own.
inline constexpr uint64_t kShortSteps = uint64_t{1} << 16;
inline constexpr uint64_t kLongSteps = uint64_t{1} << 24;

match::FuzzScorer scorer_of_process(const nanobind::str& name, nanobind::handle weights,
                                    double prefix_weight);

// RapidFuzz's process holds those of percents in 32 bits, though its pair calls do not.
std::optional<double> cutoff_of_process(const match::FuzzScorer& scorer, nanobind::handle wanted);

// An item of a list or a tuple.
nanobind::handle item_of(nanobind::handle choices, size_t i);

}  // namespace hoist::python
