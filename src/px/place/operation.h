// What `hoist tune` measures for px: not the user's kernels, which nobody knows, but two of Hoist's
// own by whose costs theirs are estimated (rates.h), and what a GPU's start costs.
#pragma once

#include <string>

#include "placement/operation.h"

namespace hoist::px {

// Variants of the operation "px"; implementations "cpu-all" and "cuda". Bytes are those of the
// arrays.
inline constexpr const char* kStream = "stream";    // y = a x + y, from host memory and back to it
inline constexpr const char* kCompute = "compute";  // many operations an element, where it lies
inline constexpr const char* kStart = "start";      // whole runs of `hoist px run`

// Bytes that `stream` moves for each one of its arrays: all in, half of them out.
inline constexpr double kStreamTraffic = 1.5;
// Operations that `compute` does for each byte, as work.h counts them.
inline constexpr double kOperationsOfByte = 516;

// The texts of both kernels.
extern const char* const kStreamText;
extern const char* const kComputeText;

// `program`: the path of libexec/hoist/hoist-px.
placement::Operation operation(const std::string& program);

}  // namespace hoist::px
