// The seed of random tests.
//
//   std::mt19937_64 random(hoist::test_seed());
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace hoist {

// One for the whole process, another one every time; printed, so that HOIST_TEST_SEED=N runs what
// failed again.
inline uint64_t test_seed() {
  static const uint64_t seed = [] {
    const char* const text = std::getenv("HOIST_TEST_SEED");
    const uint64_t value =
        text != nullptr ? std::strtoull(text, nullptr, 10) : std::random_device{}();
    std::printf("HOIST_TEST_SEED=%llu\n", static_cast<unsigned long long>(value));
    return value;
  }();
  return seed;
}

}  // namespace hoist
