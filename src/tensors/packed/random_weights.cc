#include "tensors/packed/random_weights.h"

#include <algorithm>
#include <random>

#include "array/convert.h"
#include "base/chunks.h"

namespace hoist::tensors::packed {

std::vector<uint16_t> gaussian_weights(uint64_t count, float sigma, uint64_t seed) {
  constexpr size_t kPerTask = 1 << 16;
  std::vector<uint16_t> weights(count);
  parallel_for_chunks(ThreadPool::process(), count, kPerTask, [&](size_t begin, size_t end) {
    std::mt19937_64 random(seed + begin);
    std::normal_distribution<float> values(0, sigma);
    for (size_t i = begin; i < end; ++i) weights[i] = array::f32_to_bf16(values(random));
  });
  return weights;
}

}  // namespace hoist::tensors::packed
