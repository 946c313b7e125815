#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>

#include "intercept/inflate_testing.h"

namespace hoist::intercept {
namespace {

std::vector<uint8_t> random_script(std::mt19937_64& random) {
  std::vector<uint8_t> bytes(random() % 300);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

TEST(Inflate, RandomStreamsAreAsZlibHasThem) {
  const char* const given = std::getenv("HOIST_INFLATE_SEED");
  const uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  const char* const runs_text = std::getenv("HOIST_INFLATE_RUNS");
  const int runs = runs_text != nullptr ? std::atoi(runs_text) : 1500;
  std::printf("HOIST_INFLATE_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  for (int run = 0; run < runs; ++run) {
    const std::vector<uint8_t> bytes = random_script(random);
    Script script(bytes);
    const TestStream stream = make_stream(script);
    const std::string difference = compare_with_zlib(stream, script);
    ASSERT_EQ(difference, "") << "run " << run << ", window bits " << stream.window_bits;
  }
  EXPECT_GT(streams_taken_over(), static_cast<uint64_t>(runs) / 4);
}

}  // namespace
}  // namespace hoist::intercept
