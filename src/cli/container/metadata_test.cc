#include "cli/container/metadata.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace hoist::cli {
namespace {

using nlohmann::ordered_json;

std::optional<ordered_json> decode(std::string_view bytes) {
  return decoded_metadata(std::as_bytes(std::span(bytes)));
}

TEST(Metadata, CborIsDecoded) {
  const ordered_json value = {{"name", "w"},
                              {"shape", {1, 300, -70000, 5000000000}},
                              {"scale", 0.5},
                              {"empty", ordered_json::object()},
                              {"raw", ordered_json::binary({1, 2, 3})},
                              {"flag", true},
                              {"none", nullptr}};
  const std::vector<uint8_t> bytes = ordered_json::to_cbor(value);
  EXPECT_EQ(decode({reinterpret_cast<const char*>(bytes.data()), bytes.size()}), value);
  // Lengths that are not known in advance, a chunked text, a tag.
  EXPECT_EQ(decode("\x9f\x01\xbf\x61k\x7f\x61x\x61y\xff\xff\xc6\x02\xff"),
            ordered_json::parse(R"([1, {"k": "xy"}, 2])"));
}

TEST(Metadata, WhatIsNoCborIsNot) {
  using namespace std::string_view_literals;
  for (const std::string_view bytes :
       {""sv, "metadata"sv, "\x82\x01"sv, "\x9f\x01"sv, "\x5a\xff\xff\xff\xff"sv, "\x01\x01"sv,
        "\xff"sv, "\x9b\xf0\0\0\0\0\0\0\0"sv, "\xbb\x80\0\0\0\0\0\0\0"sv, "\x1c"sv, "\xdf\x01"sv}) {
    EXPECT_EQ(decode(bytes), std::nullopt) << testing::PrintToString(bytes);
  }
}

// Arrays, maps, tags and chunked strings of a few megabytes that hold only one another.
TEST(Metadata, DepthIsBounded) {
  constexpr size_t kDeep = 4'000'000;
  for (const std::string unit :
       {"\x81", "\x9f", "\xa1\x61k", "\xbf\x61k", "\xc1", "\x7f", "\x5f"}) {
    std::string bytes;
    while (bytes.size() < kDeep) bytes += unit;
    EXPECT_EQ(decode(bytes), std::nullopt);
  }
  EXPECT_NE(decode(std::string(60, '\x81').append(1, '\x01')), std::nullopt);
}

TEST(Metadata, NoiseIsHarmless) {
  std::mt19937_64 random(std::random_device{}());
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random() % 40, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    decode(bytes);
  }
}

}  // namespace
}  // namespace hoist::cli
