// Fragments of spectral and projected tensors: from coefficients, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/threads.h"
#include "tensors/encoded_tensor.h"
#include "tensors/transform/format.h"
#include "tensors/transform/spectral.h"

namespace hoist::tensors {

// Which coefficients are common and which are items: with a region its own are common; without one
// items come first, and the common ones last.
using Region = const EssentialRegion*;

// What stored values take from the squared error of zeros, in the units of the coefficients.
struct StoredEnergies {
  double common = 0;
  std::vector<double> fragments;
};

// The power of two that brings `largest`, the largest coefficient, into the upper range of f16; 0
// for the other types, which have range enough.
int precision_scale(DType precision, float largest);

// Fills the sections of empty fragments with coefficients * 2^scale.
StoredEnergies store_coefficients(std::span<const float> coefficients, int scale,
                                  const TransformLayout& layout, Region region,
                                  std::vector<std::vector<std::byte>>& fragments, ThreadPool* pool);

// `fragments` has an entry for each, empty ones are missing and leave zeros; at least one is there.
void load_coefficients(std::span<const std::span<const std::byte>> fragments,
                       const TransformLayout& layout, Region region, std::span<float> coefficients,
                       ThreadPool* pool);

}  // namespace hoist::tensors
