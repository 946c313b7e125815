// Whether what a device has decoded is what the CPU decodes.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "device/device.h"
#include "tensors/encoded_tensor.h"

namespace hoist::tensors {

// Exactly, but for transforms on a GPU, which round elsewhere; what is not finite always exactly.
inline testing::AssertionResult are_alike(const device::Device& device,
                                          const TensorDescription& description,
                                          const std::vector<std::byte>& actual,
                                          const std::vector<std::byte>& expected) {
  if (actual.size() != expected.size()) return testing::AssertionFailure() << "of another size";
  if (device.properties().kind == device::DeviceKind::cpu ||
      description.encoding == HolographicEncoding::lossless ||
      description.encoding == HolographicEncoding::embedded) {
    return actual == expected ? testing::AssertionSuccess()
                              : testing::AssertionFailure() << "other bytes";
  }
  const size_t count = actual.size() / properties(description.dtype).bytes;
  std::vector<float> a(count);
  std::vector<float> b(count);
  if (!to_f32(description.dtype, actual, a) || !to_f32(description.dtype, expected, b)) {
    return testing::AssertionFailure() << "no numbers";
  }
  double error = 0;
  double energy = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!std::isfinite(b[i])) {
      if (std::isnan(b[i]) ? std::isnan(a[i]) : a[i] == b[i]) continue;
      return testing::AssertionFailure() << a[i] << " at " << i << ", not " << b[i];
    }
    error += (a[i] - b[i]) * static_cast<double>(a[i] - b[i]);
    energy += b[i] * static_cast<double>(b[i]);
  }
  // A value between two of the type may be rounded either way.
  const double bound = description.dtype == DType::f32    ? 1e-6
                       : description.dtype == DType::f16  ? 2e-4
                       : description.dtype == DType::bf16 ? 1e-3
                                                          : 1e-1;
  if (std::sqrt(error) <= bound * std::sqrt(energy)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "an error of " << std::sqrt(error / energy);
}

}  // namespace hoist::tensors
