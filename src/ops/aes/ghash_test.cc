#include "ops/aes/ghash.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace hoist::aes {
namespace {

Gf128 random_element(std::mt19937_64& random) { return {random(), random()}; }

std::vector<GhashVersion> versions() {
  std::vector<GhashVersion> all = {GhashVersion::portable};
  if (has_clmul()) all.push_back(GhashVersion::clmul);
  if (has_vector_clmul()) all.push_back(GhashVersion::vector_clmul);
  return all;
}

// NIST's GCM test vectors (McGrew and Viega, "The Galois/Counter Mode of Operation", appendix B),
// test case 2: H = 66e94b…, one block of ciphertext, then the block of lengths.
TEST(Ghash, KnownAnswer) {
  const uint8_t h[kBlock] = {0x66, 0xe9, 0x4b, 0xd4, 0xef, 0x8a, 0x2c, 0x3b,
                             0x88, 0x4c, 0xfa, 0x59, 0xca, 0x34, 0x2b, 0x2e};
  const uint8_t blocks[2 * kBlock] = {0x03, 0x88, 0xda, 0xce, 0x60, 0xb6, 0xa3, 0x92,
                                      0xf3, 0x28, 0xc2, 0xb9, 0x71, 0xb2, 0xfe, 0x78,
                                      0,    0,    0,    0,    0,    0,    0,    0,
                                      0,    0,    0,    0,    0,    0,    0,    0x80};
  const uint8_t expected[kBlock] = {0xf3, 0x8c, 0xbb, 0x1a, 0xd6, 0x92, 0x23, 0xdc,
                                    0xc3, 0x45, 0x7a, 0xe5, 0xb6, 0xb0, 0xf8, 0x85};
  const GhashKey key(load_block(h));
  for (const GhashVersion version : versions()) {
    Gf128 y;
    ghash_with(version, key, y, blocks, 2);
    uint8_t result[kBlock];
    store_block(result, y);
    EXPECT_EQ(std::memcmp(result, expected, kBlock), 0) << static_cast<int>(version);
  }
}

TEST(Gf128, MultiplicationAgrees) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const Gf128 one = {0, uint64_t{1} << 63};
  const std::vector<Gf128> special = {{}, one, {1, 0}, {~uint64_t{0}, ~uint64_t{0}}, {0, 1}};
  for (int i = 0; i < 2000; ++i) {
    const Gf128 a = i < 25 ? special[i / 5] : random_element(random);
    const Gf128 b = i < 25 ? special[i % 5] : random_element(random);
    const Gf128 product = multiply_portable(a, b);
    EXPECT_EQ(product, multiply_portable(b, a));
    EXPECT_EQ(multiply_portable(a, one), a);
    EXPECT_EQ(multiply(a, b), product);
  }
}

TEST(Gf128, PowersAndDivision) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 50; ++i) {
    const Gf128 a = random_element(random);
    EXPECT_EQ(multiply_portable(divide_by_x(a), power_of_x(1)), a);
    Gf128 product = power(a, 0);
    for (uint64_t n = 0; n < 20; ++n) {
      EXPECT_EQ(power(a, n), product);
      product = multiply_portable(product, a);
    }
  }
}

// IEEE 1619, 5.2: multiplication by the primitive element shifts the bytes' bits upwards.
TEST(Gf128, TweakOrder) {
  const uint8_t tweak[kBlock] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0x90};
  uint8_t expected[kBlock];
  for (size_t i = 0; i < kBlock; ++i) {
    expected[i] = static_cast<uint8_t>(tweak[i] << 1 | (i > 0 ? tweak[i - 1] >> 7 : 0));
  }
  expected[0] ^= 0x87;
  uint8_t result[kBlock];
  store_tweak(result, multiply(load_tweak(tweak), power_of_x(1)));
  EXPECT_EQ(std::memcmp(result, expected, kBlock), 0);
}

TEST(Ghash, VersionsAndPiecesAgree) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  std::vector<uint8_t> data(70 * kBlock + 1);
  for (uint8_t& byte : data) byte = static_cast<uint8_t>(random());
  const GhashKey key(random_element(random));
  for (size_t blocks = 0; blocks <= 70; ++blocks) {
    const Gf128 start = random_element(random);
    const uint8_t* const bytes = data.data() + blocks % 2;
    Gf128 expected = start;
    ghash_with(GhashVersion::portable, key, expected, bytes, blocks);
    for (const GhashVersion version : versions()) {
      Gf128 y = start;
      ghash_with(version, key, y, bytes, blocks);
      EXPECT_EQ(y, expected) << blocks << ' ' << static_cast<int>(version);
      const size_t first = blocks == 0 ? 0 : random() % blocks;
      Gf128 a = start;
      Gf128 b;
      ghash_with(version, key, a, bytes, first);
      ghash_with(version, key, b, bytes + first * kBlock, blocks - first);
      EXPECT_EQ(multiply(a, power(key.h, blocks - first)) ^ b, expected);
    }
  }
}

}  // namespace
}  // namespace hoist::aes
