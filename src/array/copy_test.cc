#include "array/copy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "array/convert.h"

namespace hoist::array {
namespace {

template <typename T>
View row_of(std::vector<T>& values, DType dtype) {
  return *View::of(values.data(), dtype, std::vector<uint64_t>{values.size()});
}

template <typename From, typename To>
std::vector<To> converted(std::vector<From> values, DType from, DType to) {
  std::vector<To> result(values.size());
  copy_elements(row_of(values, from), row_of(result, to));
  return result;
}

TEST(CopyElements, IntegersWrap) {
  EXPECT_EQ((converted<int32_t, uint8_t>({-1, 256, 300, 7}, DType::i32, DType::u8)),
            (std::vector<uint8_t>{255, 0, 44, 7}));
  EXPECT_EQ((converted<uint64_t, int64_t>({~uint64_t{0}, 5}, DType::u64, DType::i64)),
            (std::vector<int64_t>{-1, 5}));
}

TEST(CopyElements, FloatsAreTruncated) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ((converted<double, int32_t>({2.9, -2.9, NAN, -0.0}, DType::f64, DType::i32)),
            (std::vector<int32_t>{2, -2, 0, 0}));
  EXPECT_EQ(
      (converted<double, int64_t>({infinity, -infinity, 0x1p63, -0x1p63}, DType::f64, DType::i64)),
      (std::vector<int64_t>{INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN}));
  EXPECT_EQ((converted<float, uint64_t>({0x1p63f, 0x1p64f, -1.0f}, DType::f32, DType::u64)),
            (std::vector<uint64_t>{uint64_t{1} << 63, UINT64_MAX, 0}));
  EXPECT_EQ(
      (converted<float, uint8_t>({255.9f, 256.0f, -0.9f, -1.0f, 1e30f}, DType::f32, DType::u8)),
      (std::vector<uint8_t>{255, 255, 0, 0, 255}));
  EXPECT_EQ((converted<float, int32_t>({2147483520.0f, 2147483648.0f, -2147483648.0f, -1e30f},
                                       DType::f32, DType::i32)),
            (std::vector<int32_t>{2147483520, INT32_MAX, INT32_MIN, INT32_MIN}));
  EXPECT_EQ((converted<double, int8_t>({-128.9, 127.9, 127.0}, DType::f64, DType::i8)),
            (std::vector<int8_t>{-128, 127, 127}));
}

TEST(CopyElements, BooleansAreWhetherNotZero) {
  EXPECT_EQ((converted<float, uint8_t>({0.0f, -0.0f, NAN, 0.25f}, DType::f32, DType::boolean)),
            (std::vector<uint8_t>{0, 0, 1, 1}));
  EXPECT_EQ((converted<uint8_t, double>({0, 1, 2}, DType::boolean, DType::f64)),
            (std::vector<double>{0, 1, 1}));
}

// Between 1 and the next f16, a little above the middle: rounding to f32 first would lose that.
TEST(CopyElements, DoublesAreRoundedOnce) {
  const double next = 1 + 0x1p-10;
  const double above = 1 + 0x1p-11 + 0x1p-40;
  const auto f16 = converted<double, uint16_t>({above, 1 + 0x1p-11, next}, DType::f64, DType::f16);
  EXPECT_EQ(f16, (std::vector<uint16_t>{f32_to_f16(static_cast<float>(next)), f32_to_f16(1),
                                        f32_to_f16(static_cast<float>(next))}));
  const auto bf16 = converted<int64_t, uint16_t>({(int64_t{1} << 40) + (int64_t{1} << 32) + 1},
                                                 DType::i64, DType::bf16);
  EXPECT_EQ(bf16[0], f32_to_bf16(0x1p40f + 0x1p33f));
  EXPECT_EQ((converted<double, uint16_t>({1e300, -1e300, 1e-300}, DType::f64, DType::f16)),
            (std::vector<uint16_t>{0x7c00, 0xfc00, 0}));
}

// Every element by its indices.
TEST(CopyElements, StridesOfAllKinds) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    const auto rank = static_cast<size_t>(random() % 5);
    std::vector<uint64_t> shape(rank);
    for (uint64_t& extent : shape) extent = random() % 4;
    std::vector<int32_t> memory(3 * 256);
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<int32_t>(random());
    std::vector<int64_t> result(256 * 3, -7);
    View from = *View::of(memory.data() + 384, DType::i32, shape);
    View to = *View::of(result.data(), DType::i64, shape);
    for (size_t d = 0; d < rank; ++d) from.strides[d] *= static_cast<int64_t>(random() % 3) - 1;
    if (rank >= 2 && random() % 2 == 0) {
      std::swap(to.strides[0], to.strides[1]);
      // As large as a permutation of a larger array needs.
      to.strides[0] = 1;
      to.strides[1] = 4 * 4 * 4;
      for (size_t d = 2; d < rank; ++d) to.strides[d] = d == 2 ? 4 : 16;
    }
    copy_elements(from, to);
    const auto elements = static_cast<int64_t>(from.elements());
    for (int64_t i = 0; i < elements; ++i) {
      int64_t rest = i;
      int64_t from_at = 0;
      int64_t to_at = 0;
      for (size_t d = rank; d-- > 0;) {
        const int64_t index = rest % from.extents[d];
        rest /= from.extents[d];
        from_at += index * from.strides[d];
        to_at += index * to.strides[d];
      }
      ASSERT_EQ(result[static_cast<size_t>(to_at)], memory[static_cast<size_t>(384 + from_at)]);
    }
  }
}

TEST(CopyElements, BitsOfOneTypeAreKept) {
  EXPECT_EQ((converted<uint8_t, uint8_t>({2, 0}, DType::boolean, DType::boolean)),
            (std::vector<uint8_t>{2, 0}));
  const auto kept = converted<uint32_t, uint32_t>({0x7fa00001}, DType::f32, DType::f32);
  EXPECT_EQ(kept[0], 0x7fa00001u);
}

TEST(MayOverlap, RangesOfStrides) {
  std::vector<float> values(10);
  const View all = row_of(values, DType::f32);
  const View first = *all.slice(0, 0, 5);
  const View last = *all.slice(0, 5, 10);
  EXPECT_FALSE(may_overlap(first, last));
  EXPECT_TRUE(may_overlap(all, last));
  EXPECT_FALSE(may_overlap(all, *all.slice(0, 3, 3)));
  View reversed = last;
  reversed.data += 4 * sizeof(float);
  reversed.strides[0] = -1;
  EXPECT_FALSE(may_overlap(reversed, first));
  EXPECT_TRUE(may_overlap(reversed, *all.slice(0, 0, 6)));
}

}  // namespace
}  // namespace hoist::array
