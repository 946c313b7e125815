// What follows a sum of products: a bias, and an activation. In f32; the CPU's and the GPU's
// functions differ by their last bits.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.h"

namespace hoist::tensors::packed {

enum class Activation : uint32_t { none, relu, gelu, gelu_tanh, silu };
inline constexpr uint32_t kActivations = 5;

HOIST_HD inline float activate(float x, Activation activation) {
  switch (activation) {
    case Activation::relu:
      return x < 0 ? 0.0F : x;  // NaN stays
    case Activation::gelu:
      return 0.5F * x * (1.0F + erff(x * 0.70710678F));
    case Activation::gelu_tanh:
      return 0.5F * x * (1.0F + tanhf(0.79788456F * (x + 0.044715F * x * x * x)));
    case Activation::silu:
      return x / (1.0F + expf(-x));
    default:
      return x;
  }
}

}  // namespace hoist::tensors::packed
