#include "codec/mixing.h"

#include <gtest/gtest.h>

#include <random>

#include "base/test_seed.h"

namespace hoist::codec {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

Result<Bytes> unmixed(const std::string& stream, size_t size) {
  Bytes out(size);
  if (Status status = unmix_bytes(std::as_bytes(std::span(stream)), out); !status) {
    return status.error();
  }
  return out;
}

void expect_round_trip(const Bytes& bytes) {
  const Result<Bytes> again = unmixed(mix_bytes(bytes), bytes.size());
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, bytes);
}

Bytes log_lines(size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) {
    text += "link group tool" + std::to_string(i % 13) + " updated to point to /usr/bin/tool" +
            std::to_string(i % 13) + "\n";
  }
  text.resize(size);
  return bytes_of(text);
}

TEST(Mixing, GivesBytesBack) {
  std::mt19937_64 random(test_seed());
  for (const size_t size : {0, 1, 2, 4, 5, 6, 255, 4095, 4096, 4097, 20'000}) {
    Bytes noise(size);
    for (uint8_t& byte : noise) byte = static_cast<uint8_t>(random());
    expect_round_trip(noise);
    for (uint8_t& byte : noise) byte = static_cast<uint8_t>(random() % 2);
    expect_round_trip(noise);
    expect_round_trip(Bytes(size, 0));
    expect_round_trip(Bytes(size, 255));
    expect_round_trip(log_lines(size));
  }
}

TEST(Mixing, TakesTheLargestTexts) {
  expect_round_trip(log_lines(kMaxMixedBytes));
  expect_round_trip(Bytes(kMaxMixedBytes, 255));
  Bytes alternating(kMaxMixedBytes);
  for (size_t i = 0; i < alternating.size(); i += 2) alternating[i] = 255;
  expect_round_trip(alternating);
}

TEST(Mixing, NoiseGrowsLittleAndTextShrinks) {
  std::mt19937_64 random(test_seed());
  Bytes noise(10'000);
  for (uint8_t& byte : noise) byte = static_cast<uint8_t>(random());
  EXPECT_LT(mix_bytes(noise).size(), noise.size() * 21 / 20);
  EXPECT_LT(mix_bytes(log_lines(10'000)).size(), 400u);
}

// What files hold: no change of the code may change it.
TEST(Mixing, StreamsStayAsTheyAre) {
  EXPECT_EQ(mix_bytes(bytes_of("")), std::string("\xff"));
  EXPECT_EQ(mix_bytes(bytes_of("banana bandana")), std::string("\xb5\x43\xfd\x0a\xe2\x17\x22\xb2"));
}

TEST(Mixing, DamageIsFoundOrGivesOtherBytes) {
  std::mt19937_64 random(test_seed());
  const Bytes bytes = log_lines(3000);
  const std::string stream = mix_bytes(bytes);
  EXPECT_FALSE(unmixed("", bytes.size()));
  EXPECT_FALSE(unmixed(stream + 'x', bytes.size()));
  EXPECT_FALSE(unmixed(stream.substr(0, stream.size() / 2), bytes.size()));
  EXPECT_FALSE(unmixed(stream, kMaxMixedBytes + 1));
  for (int round = 0; round < 200; ++round) {
    std::string damaged = stream;
    // All bytes but the last are those of every number in the interval.
    damaged[random() % (damaged.size() - 1)] ^= static_cast<char>(1 + random() % 255);
    const Result<Bytes> out = unmixed(damaged, bytes.size());
    EXPECT_TRUE(!out || *out != bytes);
  }
}

}  // namespace
}  // namespace hoist::codec
