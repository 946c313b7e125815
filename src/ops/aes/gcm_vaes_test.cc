#include "ops/aes/gcm_vaes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "ops/aes/algorithms.h"
#include "ops/aes/counter.h"

namespace hoist::aes {
namespace {

using Data = std::vector<uint8_t>;

class GcmVaesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_vaes_gcm()) GTEST_SKIP() << "this processor has no vector AES";
  }

  Data random_bytes(size_t size) {
    Data data(size);
    for (uint8_t& byte : data) byte = static_cast<uint8_t>(random_());
    return data;
  }

  const unsigned seed_ = std::random_device()();
  ::testing::ScopedTrace trace_{__FILE__, __LINE__, "seed " + std::to_string(seed_)};
  std::mt19937_64 random_{seed_};
};

Data from_hex(const std::string& hex) {
  Data result;
  for (size_t i = 0; i < hex.size(); i += 2) {
    result.push_back(static_cast<uint8_t>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return result;
}

// FIPS 197, appendix A.
TEST_F(GcmVaesTest, KeySchedule) {
  const struct {
    const char* key;
    size_t rounds;
    const char* last;
  } vectors[] = {
      {"2b7e151628aed2a6abf7158809cf4f3c", 10, "d014f9a8c9ee2589e13f0cc8b6630ca6"},
      {"8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b", 12, "e98ba06f448c773c8ecc720401002202"},
      {"603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4", 14,
       "fe4890d1e6188d0b046df344706c631e"},
  };
  for (const auto& vector : vectors) {
    AesKey key;
    key.expand(from_hex(vector.key));
    ASSERT_EQ(key.rounds, vector.rounds);
    EXPECT_EQ(std::memcmp(key.round_keys[key.rounds], from_hex(vector.last).data(), kBlock), 0);
  }
}

// What the default provider's AES, block by block, and the portable GHASH make of it.
Data expected_text(Bytes key, const uint8_t* counter, const Data& in) {
  Cipher ecb(default_functions(Mode::ecb, key.size() * 8));
  EXPECT_TRUE(ecb.start(true, key, {}) && ecb.set_padding(false));
  uint8_t block[kBlock];
  std::memcpy(block, counter, kBlock);
  Data out = in;
  for (size_t at = 0; at < out.size(); at += kBlock) {
    uint8_t stream[kBlock];
    EXPECT_TRUE(ecb.update(stream, block, kBlock));
    for (size_t i = 0; i < kBlock; ++i) out[at + i] ^= stream[i];
    add_to_gcm_counter(block, 1);
  }
  return out;
}

TEST_F(GcmVaesTest, AgreesWithTheOracle) {
  const GhashKey hash_key(Gf128{random_(), random_()});
  for (int round = 0; round < 60 && !HasFailure(); ++round) {
    const Data key = random_bytes(16 + 8 * static_cast<size_t>(round % 3));
    AesKey aes;
    aes.expand(key);
    Data counter = random_bytes(kBlock);
    // The counter's 32 bits wrap, and carry nothing on.
    if (round % 2 == 0) std::memset(counter.data() + 12, 0xff, 3);
    const Data in = random_bytes(kGcmGroup * (round % 7));
    const Data out = expected_text(key, counter.data(), in);
    const bool encrypting = round % 4 < 2;
    const Gf128 before = {random_(), random_()};
    Gf128 expected_sum = before;
    ghash_with(GhashVersion::portable, hash_key, expected_sum, (encrypting ? out : in).data(),
               in.size() / kBlock);
    // Apart; in place; to a lower address.
    for (const size_t distance : {in.size() + 32, size_t{0}, size_t{17}}) {
      Data memory(2 * in.size() + 64, 0x55);
      std::copy(in.begin(), in.end(), memory.begin() + 16 + static_cast<ptrdiff_t>(distance));
      Gf128 sum = before;
      vaes_gcm(aes, hash_key,
               {encrypting, memory.data() + 16, memory.data() + 16 + distance, in.size(),
                counter.data(), &sum});
      EXPECT_EQ(Data(memory.begin() + 16, memory.begin() + 16 + static_cast<ptrdiff_t>(in.size())),
                out)
          << distance;
      EXPECT_EQ(sum, expected_sum) << distance;
      EXPECT_EQ(memory[15], 0x55);
    }
  }
}

}  // namespace
}  // namespace hoist::aes
