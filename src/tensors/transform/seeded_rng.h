// Random numbers that any machine, CPU or GPU, computes from a seed and an index: Philox4x32-10
// (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011). Files
// store seeds, not the numbers, so the sequences below never change.
//
// A stream of a seed is an unlimited array of 32-bit words:
//
//   word(i) = word i % 4 of philox4x32(key = {seed low, seed high},
//                                      counter = {i / 4 low, i / 4 high, stream, 0})
//
//   SeededRng rng(options.seed, streams::kSigns);
//   bool negative = rng.sign(element);       // by index
//   double g = rng.next_normal();            // one after the other
#pragma once

#include <cmath>
#include <cstdint>

#include "base/host_device.h"

namespace hoist::tensors {

struct PhiloxBlock {
  uint32_t words[4];
};

HOIST_HD inline PhiloxBlock philox4x32(uint64_t key, uint64_t counter, uint64_t stream) {
  uint32_t c0 = static_cast<uint32_t>(counter);
  uint32_t c1 = static_cast<uint32_t>(counter >> 32);
  uint32_t c2 = static_cast<uint32_t>(stream);
  uint32_t c3 = static_cast<uint32_t>(stream >> 32);
  uint32_t k0 = static_cast<uint32_t>(key);
  uint32_t k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53} * c0;
    const uint64_t product1 = uint64_t{0xCD9E8D57} * c2;
    c0 = static_cast<uint32_t>(product1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<uint32_t>(product1);
    c2 = static_cast<uint32_t>(product0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<uint32_t>(product0);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {{c0, c1, c2, c3}};
}

// What a seed's streams are for; numbers never change.
namespace streams {
inline constexpr uint32_t kPlain = 0;  // a caller's own
inline constexpr uint32_t kSigns = 1;  // of random_projection.h
inline constexpr uint32_t kDeal = 2;   // of dealing.h
inline constexpr uint32_t kProbe = 3;  // of low_rank.h
}  // namespace streams

class SeededRng {
 public:
  HOIST_HD explicit SeededRng(uint64_t seed, uint32_t stream = streams::kPlain)
      : seed_(seed), stream_(stream) {}

  // By index, whatever was drawn before.
  HOIST_HD PhiloxBlock block(uint64_t index) const { return philox4x32(seed_, index, stream_); }
  HOIST_HD uint32_t word(uint64_t index) const { return block(index / 4).words[index % 4]; }
  // Bit index % 32 of word index / 32: one block serves 128 signs.
  HOIST_HD bool sign(uint64_t index) const { return (word(index / 32) >> (index % 32) & 1) != 0; }

  // One after the other: words 2i (low) and 2i + 1 (high) of the stream.
  uint64_t next_u64() {
    const PhiloxBlock both = block(drawn_ / 2);
    const uint32_t* const words = both.words + drawn_ % 2 * 2;
    ++drawn_;
    return words[0] | uint64_t{words[1]} << 32;
  }
  // In [0, 1), a multiple of 2^-53.
  double next_uniform() { return static_cast<double>(next_u64() >> 11) * 0x1p-53; }
  // Standard normal, by Box and Muller's formula from two uniform numbers. The last bits are the C
  // library's.
  double next_normal() {
    const double radius = std::sqrt(-2 * std::log(1 - next_uniform()));
    return radius * std::cos(6.283185307179586 * next_uniform());
  }

 private:
  uint64_t seed_;
  uint32_t stream_;
  uint64_t drawn_ = 0;
};

}  // namespace hoist::tensors
