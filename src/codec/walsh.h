// Fast Walsh-Hadamard transform, orthonormal, in natural (Hadamard) order, in place on float.
//
//   X[k] = 1 / sqrt(N) * sum over n of (-1)^popcount(k and n) x[n],  N a power of two
//
// It is its own inverse and keeps the sum of squares. The relative error against the exact
// transform is below 1e-6 for all lengths (walsh_test.cc checks up to 2^20), of values up to
// 2^127 / N: sums are scaled last, and larger ones may overflow. One thread; any number of threads
// may transform different arrays.
#pragma once

#include <span>

#include "base/result.h"

namespace hoist::codec {

// invalid_argument: the length is no power of two.
Status walsh_hadamard(std::span<float> values);

}  // namespace hoist::codec
