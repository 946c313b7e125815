// Tensors as the transforms take them, floats of at most 1, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/threads.h"
#include "tensors/tensor.h"

namespace hoist::tensors {

// Elements that loops take at a time.
inline constexpr uint64_t kChunkElements = uint64_t{1} << 14;

// factor * factor is 2^exponent: far exponents need two factors. Of float or double.
template <typename T>
struct PowerOfTwo {
  explicit PowerOfTwo(int exponent);
  T times(T value) const { return value * first * second; }
  T first;
  T second;
};

struct NormalisedTensor {
  std::vector<float>
      values;         // the tensor times 2^scale, the largest in [0.5, 1); patched ones are 0
  int scale = 0;      // 0 of zeros
  double energy = 0;  // sum of the squares of `values`
  std::vector<std::byte> patches;
};

// `unsupported`: more patches than parameters hold.
Result<NormalisedTensor> normalise(const TensorView& tensor, ThreadPool* pool);

// Writes values / 2^scale as elements of `dtype`, of at most its largest finite one.
void denormalise(std::span<const float> values, int scale, DType dtype, std::byte* out);

// Any real dtype, at any alignment.
void read_doubles(DType dtype, const std::byte* bytes, std::span<double> values);

}  // namespace hoist::tensors
