// Weights of the kind that trained models have, for measurements.
#pragma once

#include <cstdint>
#include <vector>

namespace hoist::tensors::packed {

// bfloat16 of a normal distribution around 0 with the deviation `sigma`; the same for the same
// seed.
std::vector<uint16_t> gaussian_weights(uint64_t count, float sigma, uint64_t seed);

}  // namespace hoist::tensors::packed
