#include "tensors/model/gguf_extents.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "base/test_seed.h"
#include "tensors/model/gguf_types.h"

namespace hoist::tensors {
namespace {

UnknownExtent padded(uint64_t rows, uint64_t elements, uint64_t bytes, uint64_t alignment) {
  return {rows, elements, (bytes + alignment - 1) / alignment * alignment};
}

// Every ratio with a denominator of up to 256 elements, one by one.
std::vector<BytesRatio> all_ratios(std::span<const UnknownExtent> tensors, uint64_t alignment) {
  std::vector<BytesRatio> found;
  for (uint64_t elements = 1; elements <= 256; ++elements) {
    for (uint64_t bytes = 1; bytes <= 10 * elements; ++bytes) {
      if (std::gcd(bytes, elements) != 1) continue;
      if (serves_all({bytes, elements}, tensors, alignment)) found.push_back({bytes, elements});
    }
  }
  return found;
}

TEST(GgufExtents, FindsTheTypeOfEveryKindOrNothing) {
  std::mt19937_64 random(test_seed());
  for (const GgmlType& type : ggml_types()) {
    for (int trial = 0; trial < 8; ++trial) {
      std::vector<UnknownExtent> tensors;
      const uint64_t alignment = uint64_t{8} << random() % 4;
      for (uint64_t i = 0; i <= random() % 3; ++i) {
        const uint64_t rows = 1 + random() % 50;
        const uint64_t blocks = 1 + random() % 3;
        if (blocks * type.block_elements > 256) continue;
        tensors.push_back(padded(rows, blocks * type.block_elements,
                                 rows * blocks * type.block_bytes, alignment));
      }
      if (tensors.empty()) continue;
      const std::vector<BytesRatio> possible = all_ratios(tensors, alignment);
      const std::optional<BytesRatio> found = unambiguous_ratio(tensors, alignment);
      const uint64_t divisor = std::gcd(type.block_bytes, type.block_elements);
      const BytesRatio true_one{type.block_bytes / divisor, type.block_elements / divisor};
      ASSERT_NE(std::find(possible.begin(), possible.end(), true_one), possible.end());
      EXPECT_EQ(found.has_value(), possible.size() == 1) << type.name;
      if (found) {
        EXPECT_EQ(*found, true_one) << type.name;
      }
    }
  }
}

TEST(GgufExtents, ContradictionsAndExtremes) {
  EXPECT_FALSE(unambiguous_ratio({}, 32));
  const UnknownExtent enough{100, 64, 100 * 36};
  EXPECT_EQ(unambiguous_ratio(std::vector{enough}, 32), (BytesRatio{9, 16}));
  const UnknownExtent other{100, 64, 100 * 38};
  EXPECT_FALSE(unambiguous_ratio(std::vector{enough, other}, 32));
  EXPECT_FALSE(unambiguous_ratio(std::vector{UnknownExtent{1, 64, 64}}, 32));
  const uint64_t large = uint64_t{1} << 59;
  EXPECT_FALSE(unambiguous_ratio(std::vector{UnknownExtent{1, large, large}}, 1 << 20));
  EXPECT_FALSE(unambiguous_ratio(std::vector{UnknownExtent{large, 1, 5}}, 32));
  EXPECT_EQ((BytesRatio{large, 1}.row_bytes(large)), std::nullopt);
  EXPECT_EQ((BytesRatio{9, 16}.row_bytes(24)), std::nullopt);
}

}  // namespace
}  // namespace hoist::tensors
