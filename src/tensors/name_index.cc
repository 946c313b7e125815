#include "tensors/name_index.h"

#include <algorithm>
#include <random>
#include <utility>

#include "base/checksum.h"

namespace hoist::tensors {
namespace {

uint64_t random_seed() {
  std::random_device random;
  return uint64_t{random()} << 32 | random();
}

}  // namespace

uint32_t NameIndex::hash_of(std::string_view name) {
  static const uint64_t seed = random_seed();
  return static_cast<uint32_t>(xxh3_64(name.data(), name.size(), seed));
}

void NameIndex::grow() {
  constexpr size_t kLeast = 16;
  std::vector<Slot> old(std::max(kLeast, 2 * slots_.size()));
  std::swap(old, slots_);
  for (const Slot& slot : old) {
    if (slot.number == 0) continue;
    size_t at = slot.hash & (slots_.size() - 1);
    while (slots_[at].number != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
}

}  // namespace hoist::tensors
