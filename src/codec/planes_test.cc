#include "codec/planes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "base/test_seed.h"
#include "codec/planes_kernels.h"

namespace hoist::codec {
namespace {

using Bytes = std::vector<std::byte>;

// Around every block of every vector width, and around the tile of bit planes.
constexpr size_t kCounts[] = {0,   1,   2,   3,    7,    8,    9,    15,   16,   17,   31,
                              32,  33,  63,  64,   65,   127,  128,  129,  255,  256,  257,
                              511, 512, 513, 1000, 4095, 4096, 4097, 8191, 8192, 8193, 12300};

class Planes : public ::testing::Test {
 protected:
  Bytes random_bytes(size_t size) {
    Bytes bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random_());
    return bytes;
  }

  std::mt19937_64 random_{test_seed()};
};

Bytes slow_split_bytes(const Bytes& elements, size_t width) {
  Bytes planes = elements;
  const size_t count = elements.size() / width;
  for (size_t i = 0; i < count * width; ++i) planes[i % width * count + i / width] = elements[i];
  return planes;
}

Bytes slow_split_bits(const Bytes& elements, size_t width) {
  const size_t count = elements.size() / width;
  const size_t stride = bit_plane_bytes(count);
  Bytes planes(8 * width * stride);
  for (size_t i = 0; i < count; ++i) {
    for (size_t b = 0; b < 8 * width; ++b) {
      const std::byte bit = (elements[i * width + b / 8] >> (b % 8)) & std::byte{1};
      planes[b * stride + i / 8] |= bit << (i % 8);
    }
  }
  return planes;
}

// A copy at an odd address.
struct Unaligned {
  explicit Unaligned(const Bytes& bytes) : storage(bytes.size() + 1) {
    std::copy(bytes.begin(), bytes.end(), storage.begin() + 1);
  }
  std::span<std::byte> span() { return std::span(storage).subspan(1); }
  Bytes bytes() { return Bytes(storage.begin() + 1, storage.end()); }
  Bytes storage;
};

TEST_F(Planes, BytesMatchTheOracleAndComeBack) {
  for (const size_t width : {2, 4, 8}) {
    for (const size_t count : kCounts) {
      for (const size_t rest : {size_t{0}, width - 1}) {
        const Bytes elements = random_bytes(count * width + rest);
        Unaligned source(elements);
        Unaligned planes{Bytes(elements.size())};
        ASSERT_TRUE(split_bytes(source.span(), width, planes.span()));
        ASSERT_EQ(planes.bytes(), slow_split_bytes(elements, width)) << width << " x " << count;
        Unaligned back{Bytes(elements.size())};
        ASSERT_TRUE(merge_bytes(planes.span(), width, back.span()));
        ASSERT_EQ(back.bytes(), elements) << width << " x " << count;
      }
    }
  }
}

TEST_F(Planes, BitsMatchTheOracleAndComeBack) {
  for (const size_t width : {1, 2, 4}) {
    for (const size_t count : kCounts) {
      const Bytes elements = random_bytes(count * width);
      Unaligned source(elements);
      Unaligned planes{random_bytes(8 * width * bit_plane_bytes(count))};
      ASSERT_TRUE(split_bits(source.span(), width, planes.span()));
      ASSERT_EQ(planes.bytes(), slow_split_bits(elements, width)) << width << " x " << count;
      // Padding is not read.
      if (count % 8 != 0) planes.storage.back() |= std::byte{0x80};
      Unaligned back{Bytes(elements.size())};
      ASSERT_TRUE(merge_bits(planes.span(), width, back.span()));
      ASSERT_EQ(back.bytes(), elements) << width << " x " << count;
    }
  }
}

TEST_F(Planes, EveryBf16ValueComesBack) {
  for (const size_t first : {0, 1, 5}) {
    std::vector<uint16_t> values;
    for (size_t v = first; v < 65536; ++v) values.push_back(static_cast<uint16_t>(v));
    Bytes exponents(values.size());
    Bytes sign_mantissa(values.size());
    ASSERT_TRUE(split_bf16(std::as_bytes(std::span(values)), exponents, sign_mantissa));
    for (size_t i = 0; i < values.size(); ++i) {
      const uint16_t v = values[i];
      ASSERT_EQ(std::to_integer<int>(exponents[i]), v >> 7 & 0xff);
      ASSERT_EQ(std::to_integer<int>(sign_mantissa[i]), (v >> 15) * 128 + v % 128);
      ASSERT_EQ(bf16_join(bf16_exponent(v), bf16_sign_mantissa(v)), v);
    }
    std::vector<uint16_t> back(values.size());
    ASSERT_TRUE(merge_bf16(exponents, sign_mantissa, std::as_writable_bytes(std::span(back))));
    ASSERT_EQ(back, values);
  }
}

// The transforms above use the best kernels only.
TEST_F(Planes, KernelsAgree) {
  using planes_detail::Kernels;
  using planes_detail::Merge;
  using planes_detail::Split;
  const std::span<const Kernels> all = planes_detail::kernels();
  constexpr size_t kCount = 64 * 3;  // whole blocks of all
  const auto check = [&](size_t width, const std::function<Split(const Kernels&)>& split_of,
                         const std::function<Merge(const Kernels&)>& merge_of) {
    const Bytes elements = random_bytes(kCount * width);
    Bytes expected;
    for (const Kernels& kernels : all) {
      Bytes planes(elements.size());
      std::byte* at[8] = {};
      for (size_t b = 0; b < width; ++b) at[b] = planes.data() + b * kCount;
      ASSERT_EQ(split_of(kernels)(elements.data(), kCount, at), kCount) << kernels.name;
      if (expected.empty()) expected = planes;
      EXPECT_EQ(planes, expected) << kernels.name << ", " << width;
      Bytes back(elements.size());
      ASSERT_EQ(merge_of(kernels)(at, kCount, back.data()), kCount) << kernels.name;
      EXPECT_EQ(back, elements) << kernels.name << ", " << width;
      // Less than a block is left to the caller.
      EXPECT_EQ(split_of(kernels)(elements.data(), 15, at), 0u) << kernels.name;
      EXPECT_EQ(merge_of(kernels)(at, 15, back.data()), 0u) << kernels.name;
    }
  };
  for (size_t i = 0; i < 3; ++i) {
    check(
        size_t{2} << i, [=](const Kernels& k) { return k.split_bytes[i]; },
        [=](const Kernels& k) { return k.merge_bytes[i]; });
  }
  check(
      8, [](const Kernels& k) { return k.split_bits; },
      [](const Kernels& k) { return k.merge_bits; });
  check(
      2, [](const Kernels& k) { return k.split_bf16; },
      [](const Kernels& k) { return k.merge_bf16; });
}

TEST_F(Planes, WrongSizesAreErrors) {
  Bytes a(64);
  Bytes b(63);
  const auto is_refused = [](const Status& status) {
    return !status && status.error().code == ErrorCode::invalid_argument;
  };
  EXPECT_TRUE(is_refused(split_bytes(a, 2, b)));
  EXPECT_TRUE(is_refused(merge_bytes(a, 2, b)));
  for (const size_t width : {0, 1, 3, 16}) EXPECT_TRUE(is_refused(split_bytes(a, width, a)));
  EXPECT_TRUE(is_refused(split_bits(a, 1, b)));
  EXPECT_TRUE(is_refused(merge_bits(a, 4, b)));
  EXPECT_TRUE(is_refused(split_bits(b, 2, a)));
  for (const size_t width : {0, 3, 8}) EXPECT_TRUE(is_refused(split_bits(a, width, a)));
  EXPECT_TRUE(is_refused(split_bf16(a, b, b)));
  EXPECT_TRUE(is_refused(split_bf16(b, a, b)));
  EXPECT_TRUE(is_refused(merge_bf16(a, b, b)));
}

}  // namespace
}  // namespace hoist::codec
