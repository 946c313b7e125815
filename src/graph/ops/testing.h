// What the tests of operations share: inputs, special ones among them, and places that end at a
// page that nobody may touch.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "base/test_seed.h"

namespace hoist::graph {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr double kUnit = 1.0 / (1 << 24);

// Numbers that operations get wrong.
inline std::vector<float> special_values() {
  return {kNan,
          -kNan,
          kInfinity,
          -kInfinity,
          0.0f,
          -0.0f,
          1.0f,
          -1.0f,
          1e-45f,
          -1e-45f,
          1.2e-38f,
          3.4e38f,
          -3.4e38f,
          88.7f,
          -88.7f,
          104.0f,
          -104.0f,
          0.5f,
          1e-5f,
          10.0f,
          -10.0f,
          std::bit_cast<float>(0x7fc001ffu),
          std::bit_cast<float>(0xffc00001u)};
}

// An array whose end is the end of what may be touched.
class Guarded {
 public:
  explicit Guarded(size_t length) : length_(length) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    bytes_ = (length * sizeof(float) + page - 1) / page * page + page;
    start_ = static_cast<std::byte*>(
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::mprotect(start_ + bytes_ - page, page, PROT_NONE);
    data_ = reinterpret_cast<float*>(start_ + bytes_ - page) - length;
  }
  explicit Guarded(const std::vector<float>& values) : Guarded(values.size()) {
    std::copy(values.begin(), values.end(), data_);
  }
  ~Guarded() { ::munmap(start_, bytes_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  float* data() const { return data_; }
  size_t size() const { return length_; }
  float& operator[](size_t i) const { return data_[i]; }

 private:
  size_t length_;
  size_t bytes_;
  std::byte* start_;
  float* data_;
};

class Random {
 public:
  std::vector<float> normal(size_t count, float scale = 1.0f) {
    std::normal_distribution<float> distribution(0.0f, scale);
    std::vector<float> values(count);
    for (float& value : values) value = distribution(engine_);
    return values;
  }
  // Normal ones with special values among them.
  std::vector<float> hostile(size_t count) {
    static const std::vector<float> special = special_values();
    std::vector<float> values = normal(count, 3.0f);
    for (float& value : values) {
      if (engine_() % 3 == 0) value = special[engine_() % special.size()];
    }
    return values;
  }
  uint64_t operator()() { return engine_(); }

 private:
  std::mt19937_64 engine_{test_seed()};
};

// Lengths around every vector's and block's end.
inline std::vector<size_t> lengths() {
  std::vector<size_t> all;
  for (size_t n = 0; n <= 70; ++n) all.push_back(n);
  for (const size_t near : {128, 1000, 1024, 2048, 3072, 10000}) {
    for (size_t n = near - 1; n <= near + 1; ++n) all.push_back(n);
  }
  return all;
}

}  // namespace hoist::graph
