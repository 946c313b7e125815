#include "graph/ffi/json.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/test_seed.h"

namespace hoist::graph::ffi {
namespace {

using Floats = std::vector<float>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(JsonTest, ReadsWhatPythonWrites) {
  EXPECT_EQ(read_floats("[]", "data"), Floats{});
  EXPECT_EQ(read_floats(" [ 1 , -2.5,3e2,\n4E-1\t,5.0e+1 ] ", "data"),
            (Floats{1, -2.5f, 300, 0.4f, 50}));
  EXPECT_EQ(read_floats("[0, -0, 0.0, 1e400, -1e400, 1e-400, 0.1e-500, 3.5e38]", "data"),
            (Floats{0, 0, 0, kInfinity, -kInfinity, 0, 0, kInfinity}));
  const Result<Floats> special = read_floats("[NaN, Infinity, -Infinity]", "data");
  ASSERT_TRUE(special);
  EXPECT_TRUE(std::isnan((*special)[0]));
  EXPECT_EQ((*special)[1], kInfinity);
  EXPECT_EQ((*special)[2], -kInfinity);
}

// As Python and strtod have them.
TEST(JsonTest, NumbersBeyondDoublesAreInfiniteOrZero) {
  const auto zeros = [](size_t count) { return std::string(count, '0'); };
  const std::vector<std::pair<std::string, float>> cases = {
      {"0.5e400", kInfinity},
      {"-0.5e400", -kInfinity},
      {"0.0000001e400", kInfinity},
      {"1" + zeros(400), kInfinity},
      {"1" + zeros(400) + "e-5", kInfinity},
      {"1" + zeros(400) + "e-400", 1},
      {"-1" + zeros(400) + ".5e-5", -kInfinity},
      {"1" + zeros(400) + "e-800", 0},
      {"0." + zeros(400) + "1", 0},
      {"0." + zeros(400) + "1e5", 0},
      {"0." + zeros(400) + "1e401", 1},
      {"-0." + zeros(400) + "1e+802", -kInfinity},
      {"1e99999999999999999999", kInfinity},
      {"1E+99999999999999999999", kInfinity},
      {"-1e99999999999999999999", -kInfinity},
      {"1e-99999999999999999999", 0},
      {"0e99999999999999999999", 0},
      {"0.000e400", 0},
      {"2e308", kInfinity},
      {"1e-324", 0},
      {"-1e-400", -0.0f},
      {"-0e400", -0.0f},
  };
  for (const auto& [text, expected] : cases) {
    const Result<Floats> read = read_floats("[" + text + "]", "data");
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(std::bit_cast<uint32_t>((*read)[0]), std::bit_cast<uint32_t>(expected)) << text;
  }
  std::mt19937 random(static_cast<uint32_t>(test_seed()));
  const auto some_digits = [&](size_t most) {
    std::string digits(random() % most, '0');
    for (char& digit : digits) {
      if (random() % 3 == 0) digit = static_cast<char>('0' + random() % 10);
    }
    return digits;
  };
  for (int i = 0; i < 20000; ++i) {
    std::string text = random() % 2 == 0 ? "" : "-";
    text += random() % 2 == 0 ? "0" : std::to_string(1 + random() % 9) + some_digits(500);
    if (random() % 2 == 0) text += "." + some_digits(500) + "7";
    if (random() % 3 != 0) text += "e" + std::to_string(static_cast<int>(random() % 1400) - 700);
    const Result<Floats> read = read_floats("[" + text + "]", "data");
    ASSERT_TRUE(read) << text;
    const auto expected = static_cast<float>(std::strtod(text.c_str(), nullptr));
    ASSERT_EQ(std::bit_cast<uint32_t>((*read)[0]), std::bit_cast<uint32_t>(expected)) << text;
  }
}

TEST(JsonTest, RefusesWhatIsNoArrayOfNumbers) {
  for (const char* wrong :
       {"",       "1",     "{}",     "[",       "[1",    "[1,]",   "[,1]",   "[1 2]", "[1]]",
        "[1]x",   "[01]",  "[+1]",   "[.5]",    "[1.]",  "[1e]",   "[1e+]",  "[-]",   "[nan]",
        "[-NaN]", "[inf]", "[null]", "[\"1\"]", "[[1]]", "[true]", "[0x10]", "[1_0]"}) {
    const Result<Floats> read = read_floats(wrong, "JSON data");
    ASSERT_FALSE(read) << wrong;
    EXPECT_EQ(read.error().code, ErrorCode::corrupt);
    EXPECT_EQ(read.error().message.rfind("Failed to parse JSON data: ", 0), 0u);
  }
  EXPECT_EQ(read_floats("[1, x]", "data").error().message,
            "Failed to parse data: expected a number at character 5");
}

TEST(JsonTest, FloatsComeBack) {
  std::mt19937 random(static_cast<uint32_t>(test_seed()));
  Floats values = {0.0f, -0.0f, 0.1f, 1e-45f, 3.4028235e38f, kInfinity, 16777216.0f};
  for (int i = 0; i < 20000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!std::isnan(value)) values.push_back(value);
  }
  const Result<Floats> read = read_floats(write_floats(values), "data");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>((*read)[i]), std::bit_cast<uint32_t>(values[i]));
  }
}

TEST(JsonTest, WritesShortNumbers) {
  EXPECT_EQ(write_floats(Floats{0.1f, 1, -2, 1e20f, std::nanf(""), kInfinity, -kInfinity}),
            "[0.1,1.0,-2.0,1e+20,NaN,Infinity,-Infinity]");
  EXPECT_EQ(write_floats({}), "[]");
}

TEST(JsonTest, SizesAreWholeNumbers) {
  using Sizes = std::vector<uint64_t>;
  EXPECT_EQ(read_sizes("[2, 3,4]", "shape"), (Sizes{2, 3, 4}));
  EXPECT_EQ(read_sizes("[]", "shape"), Sizes{});
  EXPECT_EQ(write_sizes(Sizes{2, 3}), "[2,3]");
  for (const char* wrong :
       {"[-1]", "[1.5]", "[1.0]", "[1e2]", "2", "[99999999999999999999]", "[02]"}) {
    EXPECT_FALSE(read_sizes(wrong, "shape")) << wrong;
  }
}

}  // namespace
}  // namespace hoist::graph::ffi
