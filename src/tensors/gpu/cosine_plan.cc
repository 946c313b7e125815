#include "tensors/gpu/cosine_plan.h"

namespace hoist::tensors {

// Odd factors first: later strides are powers of two then, which fall on all banks. Large factors
// first otherwise, so that stages are few.
std::optional<CosinePlan> cosine_plan(uint64_t length) {
  if (length == 0 || length > kMaxCosineLength) return std::nullopt;
  CosinePlan plan;
  plan.length = static_cast<uint32_t>(length);
  auto rest = plan.length;
  for (const uint32_t radix : {7, 5, 3, 8, 4, 2}) {
    for (; rest % radix == 0; rest /= radix) {
      const uint32_t stride = rest / radix;
      const uint64_t reciprocal = ((uint64_t{1} << 32) + stride - 1) / stride;
      plan.stage[plan.stages++] = {radix, stride, static_cast<uint32_t>(reciprocal)};
    }
  }
  if (rest != 1) return std::nullopt;
  return plan;
}

}  // namespace hoist::tensors
