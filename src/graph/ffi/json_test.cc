#include "graph/ffi/json.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

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
