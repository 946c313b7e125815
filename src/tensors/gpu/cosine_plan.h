// How the cosine transform of a length goes through its butterflies (cosine_steps.h).
#pragma once

#include <cstdint>
#include <optional>

#include "tensors/gpu/transform_job.h"

namespace hoist::tensors {

// Nothing where the length is 0, above kMaxCosineLength, or has a prime factor above 7.
std::optional<CosinePlan> cosine_plan(uint64_t length);

}  // namespace hoist::tensors
