// Arrays whose floats lie at odd addresses, as bytes of a file or a message may: every kernel gives
// what it gives for the same arrays at even ones, at all lengths and also where results go past the
// caches.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "graph/ops/kernels.h"
#include "graph/ops/testing.h"

namespace hoist::graph {
namespace {

using ops_detail::Kernels;

// Beyond the length from which results go past the caches, and not a multiple of a vector's.
constexpr size_t kLong = (size_t{1} << 21) + 5;

// Floats from an odd address on.
class Unaligned {
 public:
  explicit Unaligned(const std::vector<float>& values)
      : size_(values.size()), bytes_((values.size() + 1) * sizeof(float)) {
    if (size_ != 0) std::memcpy(bytes_.data() + 1, values.data(), size_ * sizeof(float));
  }
  float* data() { return reinterpret_cast<float*>(bytes_.data() + 1); }
  std::vector<float> values() const {
    std::vector<float> values(size_);
    if (size_ != 0) std::memcpy(values.data(), bytes_.data() + 1, size_ * sizeof(float));
    return values;
  }

 private:
  size_t size_;
  std::vector<std::byte> bytes_;
};

// Equal bits, any NaN as any other.
bool same_values(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
    return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y) ||
           (std::isnan(x) && std::isnan(y));
  });
}

class UnalignedTest : public ::testing::TestWithParam<const Kernels<float>*> {
 protected:
  // `run(a, b, c)` fills c.
  template <typename Run>
  void check(size_t n, const Run& run) {
    const std::vector<float> a = random_.hostile(n);
    const std::vector<float> b = random_.hostile(n);
    std::vector<float> expected(n);
    run(a.data(), b.data(), expected.data());
    Unaligned odd_a(a);
    Unaligned odd_b(b);
    Unaligned odd_c((std::vector<float>(n)));
    run(odd_a.data(), odd_b.data(), odd_c.data());
    EXPECT_TRUE(same_values(odd_c.values(), expected)) << n;
    run(odd_a.data(), odd_b.data(), odd_a.data());
    EXPECT_TRUE(same_values(odd_a.values(), expected)) << n << ", in place";
  }

  void check_all(size_t n) {
    const Kernels<float>& kernels = *GetParam();
    for (size_t k = 0; k < kBinaries; ++k) {
      check(n, [&](const float* a, const float* b, float* c) { kernels.binary[k](a, b, c, n); });
    }
    for (size_t k = 0; k < kUnaries; ++k) {
      check(n, [&](const float* a, const float*, float* c) { kernels.unary[k](a, c, n); });
    }
    for (size_t k = 0; k < kScalars; ++k) {
      check(n, [&](const float* a, const float*, float* c) { kernels.scalar[k](a, c, n, 3.0f); });
    }
    check(n, [&](const float* a, const float*, float* c) { kernels.clip(a, c, n, -1.0f, 1.0f); });
  }

  Random random_;
};

TEST_P(UnalignedTest, ShortArrays) {
  for (const size_t n : lengths()) check_all(n);
}

TEST_P(UnalignedTest, ArraysThatGoPastTheCaches) { check_all(kLong); }

INSTANTIATE_TEST_SUITE_P(All, UnalignedTest, ::testing::ValuesIn(ops_detail::runnable_f32()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace hoist::graph
