#include "tensors/transform/dealing.h"

namespace hoist::tensors {

// move(i, f, k): value i of fragment f is place k of the group first + i.
template <typename Move>
void Dealing::for_groups(uint64_t first, uint64_t groups, Move move) const {
  PhiloxBlock block = rng_.block(first / 4);
  for (uint64_t i = 0; i < groups; ++i) {
    const uint64_t group = first + i;
    if (group % 4 == 0) block = rng_.block(group / 4);
    const uint32_t turned = shift_of(block.words[group % 4]);
    const uint32_t unwrapped = fragments_ - turned;
    for (uint32_t f = 0; f < unwrapped; ++f) move(i, f, f + turned);
    for (uint32_t f = unwrapped; f < fragments_; ++f) move(i, f, f - unwrapped);
  }
}

void Dealing::collect(std::span<const float> values, uint64_t first, uint64_t groups,
                      std::span<float> items) const {
  for_groups(first, groups, [&](uint64_t i, uint32_t f, uint32_t place) {
    items[i * fragments_ + place] = values[f * groups + i];
  });
}

void Dealing::deal(std::span<const float> items, uint64_t first, uint64_t groups,
                   std::span<float> values) const {
  for_groups(first, groups, [&](uint64_t i, uint32_t f, uint32_t place) {
    values[f * groups + i] = items[i * fragments_ + place];
  });
}

}  // namespace hoist::tensors
