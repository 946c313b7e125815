// Vectors of floats of any width, in the vector extensions of GCC and clang, and the choice among
// kernels that are written once for all widths.
#pragma once

#include <cstddef>
#include <span>

#include "base/cpu.h"

namespace hoist {

// Floats: in registers. Stored: as it lies in memory, at any address of a float.
template <size_t kLanes>
struct FloatVectors {
  typedef float Floats __attribute__((vector_size(4 * kLanes)));
  typedef float Stored __attribute__((vector_size(4 * kLanes), aligned(4), may_alias));
};
template <>
struct FloatVectors<1> {
  using Floats = float;
  using Stored = float;
};

#if defined(__x86_64__)
// The kernels that this CPU can run. `all` has those for AVX-512, for AVX2 (with FMA), for every
// x86-64 and for single values, in this order.
template <typename Kernel>
std::span<const Kernel> runnable(std::span<const Kernel, 4> all) {
  return all.subspan(cpu_features().avx512 ? 0 : cpu_features().avx2 ? 1 : 2);
}
#endif

}  // namespace hoist
