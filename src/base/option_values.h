// Values of options that mean what they should, and what is said of the others. A value that means
// nothing counts as if the option were not set: a program runs on, and whoever looks is told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "base/gpu_use.h"
#include "base/options.h"

namespace hoist {

// A whole number from 1, such as HOIST_THREADS, blanks around it left out; nothing where the option
// has none.
std::optional<uint64_t> option_number(OptionId id);
// HOIST_GPU.
hoist_gpu_use gpu_use();
// HOIST_ISA.
Isa most_isa();
// HOIST_VERIFY: a share from 0 to 1, with a point in every locale; 1 for more, 0 where it has none.
double verification_rate();

// A line for each value that means nothing, HOIST_OPS left out, which names operations: the value,
// the variable, what counts instead.
std::vector<std::string> unusable_option_values();

}  // namespace hoist
