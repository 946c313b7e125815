// How numbered items are dealt to fragments: a seeded permutation that any machine evaluates at any
// index at once, and that keeps neighbours together in memory.
//
// Items come in groups of `fragments`; each fragment gets one item of every group, so a fragment's
// values lie in the order of the groups. Who gets which is turned by a random number of places in
// each group:
//
//   item j * fragments + (f + shift(j)) % fragments  is value j of fragment f
//
// with shift(j) = word(j) * fragments / 2^32, rounded down, of the stream kDeal (seeded_rng.h).
// Every item is in every fragment with probability 1 / fragments, whatever pattern the items have,
// and independently of other groups; and of a group, whose items are alike where they are
// neighbours in frequency, each fragment has one. So a fragment's share of the energy is
// 1 / fragments with less scatter than under a permutation drawn from all.
#pragma once

#include <cstdint>
#include <span>

#include "base/host_device.h"
#include "tensors/transform/seeded_rng.h"

namespace hoist::tensors {

class Dealing {
 public:
  HOIST_HD Dealing(uint32_t fragments, uint64_t seed)
      : rng_(seed, streams::kDeal), fragments_(fragments) {}

  HOIST_HD uint32_t fragments() const { return fragments_; }

  HOIST_HD uint32_t shift(uint64_t group) const { return shift_of(rng_.word(group)); }

  // The item that is value `group` of `fragment`.
  HOIST_HD uint64_t item(uint32_t fragment, uint64_t group) const {
    return group * fragments_ + (fragment + shift(group)) % fragments_;
  }
  HOIST_HD uint32_t fragment(uint64_t item) const {
    const uint64_t group = item / fragments_;
    const auto place = static_cast<uint32_t>(item % fragments_);
    return (place + fragments_ - shift(group)) % fragments_;
  }

  // Many at once: values[f * groups + i] is value first + i of fragment f, items[k] is item
  // first * fragments + k.
  void collect(std::span<const float> values, uint64_t first, uint64_t groups,
               std::span<float> items) const;
  void deal(std::span<const float> items, uint64_t first, uint64_t groups,
            std::span<float> values) const;

 private:
  HOIST_HD uint32_t shift_of(uint32_t word) const {
    return static_cast<uint32_t>(uint64_t{word} * fragments_ >> 32);
  }
  template <typename Move>
  void for_groups(uint64_t first, uint64_t groups, Move move) const;

  SeededRng rng_;
  uint32_t fragments_;
};

}  // namespace hoist::tensors
