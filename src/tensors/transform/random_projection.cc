#include "tensors/transform/random_projection.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "codec/walsh.h"
#include "tensors/transform/seeded_rng.h"
#include "tensors/transform/tasks.h"

namespace hoist::tensors {
namespace {

// body(block, index of its first element), block by block. The blocks after the last whole one
// are one task.
template <typename Body>
void for_blocks(std::span<float> values, ThreadPool* pool, Body body) {
  const size_t whole = values.size() / kMaxProjectionBlock;
  const size_t rest = values.size() % kMaxProjectionBlock;
  run_tasks(pool, whole + (rest > 0 ? 1 : 0), [&](size_t i) {
    size_t first = i * kMaxProjectionBlock;
    if (i < whole) return body(values.subspan(first, kMaxProjectionBlock), first);
    while (first < values.size()) {
      const size_t size = std::bit_floor(values.size() - first);
      body(values.subspan(first, size), first);
      first += size;
    }
  });
}

void change_signs(std::span<float> values, uint64_t first, const SeededRng& rng) {
  constexpr uint64_t kWordSigns = 32;
  constexpr uint64_t kBlockSigns = 4 * kWordSigns;
  for (size_t i = 0; i < values.size();) {
    const PhiloxBlock block = rng.block((first + i) / kBlockSigns);
    const size_t end = std::min<size_t>(values.size(), i + kBlockSigns - (first + i) % kBlockSigns);
    for (; i < end; ++i) {
      const uint64_t at = (first + i) % kBlockSigns;
      const uint32_t sign = block.words[at / kWordSigns] >> (at % kWordSigns) & 1;
      values[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(values[i]) ^ sign << 31);
    }
  }
}

}  // namespace

void project(std::span<float> values, uint64_t seed, ThreadPool* pool) {
  const SeededRng rng(seed, streams::kSigns);
  for_blocks(values, pool, [&](std::span<float> block, uint64_t first) {
    change_signs(block, first, rng);
    (void)codec::walsh_hadamard(block);  // a power of two: cannot fail
  });
}

void unproject(std::span<float> values, uint64_t seed, ThreadPool* pool) {
  const SeededRng rng(seed, streams::kSigns);
  for_blocks(values, pool, [&](std::span<float> block, uint64_t first) {
    (void)codec::walsh_hadamard(block);
    change_signs(block, first, rng);
  });
}

}  // namespace hoist::tensors
