// The JSON of the calls that pass arrays as text: numbers as Python's json module writes and reads
// them, NaN, Infinity and -Infinity among them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hoist::graph::ffi {

// An array of numbers. They are read as double and rounded to float, as Python and NumPy do.
// `corrupt`, with the position, where it is none; `what` is what the message calls it ("data").
Result<std::vector<float>> read_floats(std::string_view json, std::string_view what);
// The shortest decimals that read back as the same floats.
std::string write_floats(std::span<const float> values);

// An array of whole numbers from 0 to 2^60.
Result<std::vector<uint64_t>> read_sizes(std::string_view json, std::string_view what);
std::string write_sizes(std::span<const uint64_t> sizes);

}  // namespace hoist::graph::ffi
