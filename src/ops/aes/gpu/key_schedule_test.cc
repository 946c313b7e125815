// Round keys against the examples of FIPS 197, appendix A.
#include "ops/aes/gpu/key_schedule.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace hoist::aes {
namespace {

uint32_t word(const KeySchedule& keys, size_t i) { return __builtin_bswap32(keys.encryption[i]); }

TEST(KeySchedule, ExpandsTheExamplesOfTheStandard) {
  const std::vector<uint8_t> key = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                                    0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
  const Result<KeySchedule> of128 = KeySchedule::expand(key);
  ASSERT_TRUE(of128);
  EXPECT_EQ(of128->rounds, 10);
  EXPECT_EQ(word(*of128, 4), 0xa0fafe17U);
  EXPECT_EQ(word(*of128, 43), 0xb6630ca6U);

  const std::vector<uint8_t> key256 = {0x60, 0x3d, 0xeb, 0x10, 0x15, 0xca, 0x71, 0xbe,
                                       0x2b, 0x73, 0xae, 0xf0, 0x85, 0x7d, 0x77, 0x81,
                                       0x1f, 0x35, 0x2c, 0x07, 0x3b, 0x61, 0x08, 0xd7,
                                       0x2d, 0x98, 0x10, 0xa3, 0x09, 0x14, 0xdf, 0xf4};
  const Result<KeySchedule> of256 = KeySchedule::expand(key256);
  ASSERT_TRUE(of256);
  EXPECT_EQ(of256->rounds, 14);
  EXPECT_EQ(word(*of256, 8), 0x9ba35411U);
  EXPECT_EQ(word(*of256, 59), 0x706c631eU);
}

TEST(KeySchedule, DecryptionBeginsWithTheLastRound) {
  const std::vector<uint8_t> key(24, 7);
  const Result<KeySchedule> keys = KeySchedule::expand(key);
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys->rounds, 12);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(keys->decryption[i], keys->encryption[48 + i]);
    EXPECT_EQ(keys->decryption[48 + i], keys->encryption[i]);
  }
}

TEST(KeySchedule, RefusesOtherLengths) {
  for (const size_t size : {0U, 15U, 17U, 33U}) {
    EXPECT_FALSE(KeySchedule::expand(std::vector<uint8_t>(size)));
  }
}

}  // namespace
}  // namespace hoist::aes
