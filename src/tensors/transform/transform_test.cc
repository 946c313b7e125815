#include "tensors/transform/transform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "base/test_seed.h"
#include "tensors/transform/transform_testing.h"

namespace hoist::tensors {
namespace {

using enum HolographicEncoding;

const Shape kShapes[] = {
    {},       {1},      {2},        {7},       {1009},    {1, 17},  {17, 1},
    {13, 11}, {64, 32}, {5, 1, 31}, {97, 101}, {3, 7, 9}, {255, 3}, {2, 3, 4, 1, 1, 2, 1, 3}};

// The norm of what rounding to the dtype may change, as a share of the tensor's: of `relative` to
// each element, and half of `step` between the smallest or, of integers, all elements.
double rounding_of(const TestTensor& tensor) {
  const auto share = [&](double relative, double step) {
    const std::vector<double> elements = doubles_of(tensor.dtype, tensor.bytes);
    double square = 0;
    for (const double x : elements) square += std::isfinite(x) ? x * x : 0;
    const double rounded = step / 2 * std::sqrt(static_cast<double>(elements.size()));
    return relative + rounded / std::max(std::sqrt(square), step);
  };
  switch (tensor.dtype) {
    case DType::f8_e4m3:
      return share(0x1p-4, 0x1p-9);
    case DType::f8_e5m2:
      return share(0x1p-3, 0x1p-16);
    case DType::f16:
      return share(0x1p-11, 0x1p-24);
    case DType::bf16:
      return 0x1p-8;
    case DType::i8:
      return share(0, 1);
    default:
      return 0x1p-24;
  }
}

class TransformTest : public ::testing::Test {
 protected:
  EncodedTensor encode(const TestTensor& tensor, const EncodeOptions& options) {
    Result<EncodedTensor> encoded = transform_encode(tensor.view(), options);
    EXPECT_TRUE(encoded.has_value()) << encoded.error().message;
    return std::move(*encoded);
  }

  std::vector<size_t> random_subset(size_t parts) {
    std::vector<size_t> subset(parts);
    std::iota(subset.begin(), subset.end(), 0);
    std::shuffle(subset.begin(), subset.end(), random_);
    subset.resize(1 + random_() % parts);
    return subset;
  }

  // Any subset, in any order, with duplicates, is of the quality that the curve says, up to
  // `tolerance` and the rounding of elements, which changes an error of norm e to e ± r at most.
  void check_subsets(const TestTensor& tensor, const EncodedTensor& encoded, double tolerance) {
    const double r = rounding_of(tensor);
    for (int round = 0; round < 3; ++round) {
      std::vector<size_t> parts = random_subset(encoded.parts.size());
      const std::vector<std::byte> decoded = decode(encoded, parts);
      const double stated = encoded.description.curve.quality(parts);
      const double e = std::sqrt(std::max(0.0, 1 - stated));
      EXPECT_NEAR(stated, slow_quality(tensor, decoded).quality, tolerance + 2 * e * r + r * r);
      std::shuffle(parts.begin(), parts.end(), random_);
      parts.push_back(parts[random_() % parts.size()]);
      EXPECT_EQ(decode(encoded, parts), decoded);
    }
  }

  // To 1e-6, whatever the dtype.
  void check_prefixes(const TestTensor& tensor, const EncodedTensor& encoded) {
    const std::vector<size_t> parts = all_parts(encoded);
    ASSERT_EQ(encoded.description.curve.prefixes.size(), parts.size());
    for (size_t k = 0; k < parts.size(); k += 1 + parts.size() / 8) {
      const QualityPoint measured =
          slow_quality(tensor, decode(encoded, std::span(parts).first(k + 1)));
      const QualityPoint& stated = encoded.description.curve.prefixes[k];
      EXPECT_NEAR(stated.quality, measured.quality, 1e-6 * std::abs(measured.quality) + 1e-12);
      EXPECT_NEAR(stated.cosine, measured.cosine, 1e-6);
    }
  }

  std::mt19937_64 random_{test_seed()};
};

TEST_F(TransformTest, EveryDTypeAndShapeComesBackFromAllAndAnyFragments) {
  for (const DType dtype : kTransformDTypes) {
    for (const Shape& shape : kShapes) {
      for (const HolographicEncoding encoding : {spectral, random_projection}) {
        SCOPED_TRACE(testing::Message()
                     << properties(dtype).name << " of " << *element_count(shape) << ", rank "
                     << shape.size() << ", encoding " << static_cast<int>(encoding));
        const TestTensor tensor = normal_tensor(dtype, shape, random_);
        const uint32_t counts[] = {1, 2, 3, 8, 255};
        const uint32_t fragments = counts[random_() % std::size(counts)];
        const EncodedTensor encoded =
            encode(tensor, transform_options(encoding, fragments, random_(), DType::f32));
        const auto decoded = decode(encoded, all_parts(encoded));
        EXPECT_GT(slow_quality(tensor, decoded).quality, 1 - 1e-9);
        check_prefixes(tensor, encoded);
        check_subsets(tensor, encoded, 1e-6);
      }
    }
  }
}

TEST_F(TransformTest, StoredPrecisionIsTheDefaultWidthOrAsAsked) {
  const TestTensor tensor = normal_tensor(DType::bf16, {60, 50}, random_);
  for (const auto& [precision, width, loss] : {std::tuple{std::optional<DType>(), 2, 1e-6},
                                               {std::optional(DType::f16), 2, 1e-6},
                                               {std::optional(DType::bf16), 2, 2e-5},
                                               {std::optional(DType::f32), 4, 1e-10}}) {
    for (const HolographicEncoding encoding : {spectral, random_projection}) {
      const EncodedTensor encoded =
          encode(tensor, transform_options(encoding, 1, random_(), precision));
      EXPECT_LE(encoded.parts[0].size(), 3000u * width + 64);
      EXPECT_GT(slow_quality(tensor, decode(encoded, all_parts(encoded))).quality, 1 - loss);
      check_subsets(tensor, encoded, 1e-6);
      check_prefixes(tensor, encoded);
    }
  }
}

TEST_F(TransformTest, ResultsDoNotDependOnThePool) {
  ThreadPool pool(3);
  const TestTensor tensor = normal_tensor(DType::f32, {150, 333}, random_);
  for (const HolographicEncoding encoding : {spectral, random_projection, low_rank_distributed}) {
    EncodeOptions options = transform_options(encoding, 5, random_());
    options.max_rank = 20;
    const EncodedTensor alone = encode(tensor, options);
    const Result<EncodedTensor> pooled = transform_encode(tensor.view(), options, &pool);
    ASSERT_TRUE(pooled.has_value());
    EXPECT_EQ(pooled->parts, alone.parts);
    EXPECT_EQ(pooled->description.parameters, alone.description.parameters);
    EXPECT_EQ(pooled->description.curve.energies, alone.description.curve.energies);
    const std::vector<size_t> parts = {4, 1};
    EXPECT_EQ(decode(alone, parts, &pool), decode(alone, parts));
  }
}

// Powers of two at the ends of each type's range, and zeros.
TEST_F(TransformTest, FarRangesKeepTheirPrecision) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    const int far = dtype == DType::f64 ? 1000 : dtype == DType::f16 ? 9 : 120;
    for (const int exponent : {-far, 0, far}) {
      std::vector<double> values(500);
      for (double& value : values) {
        value = std::ldexp(1 + static_cast<double>(random_() % 16) / 16, exponent) *
                (random_() % 2 == 0 ? 1 : -1);
      }
      TestTensor tensor = {dtype, {20, 25}, {}};
      if (dtype == DType::f64) {
        const auto bytes = std::as_bytes(std::span(values));
        tensor.bytes.assign(bytes.begin(), bytes.end());
      } else {
        tensor = tensor_of(dtype, {20, 25}, std::vector<float>(values.begin(), values.end()));
      }
      for (const HolographicEncoding encoding : {spectral, random_projection}) {
        for (const DType precision : {DType::f16, DType::f32}) {
          const EncodedTensor encoded =
              encode(tensor, transform_options(encoding, 4, random_(), precision));
          EXPECT_GT(slow_quality(tensor, decode(encoded, all_parts(encoded))).quality, 1 - 1e-5)
              << properties(dtype).name << " 2^" << exponent;
          check_prefixes(tensor, encoded);
        }
      }
    }
  }
}

TEST_F(TransformTest, LargestAndSmallestFloats) {
  for (const float value : {std::numeric_limits<float>::max(), std::numeric_limits<float>::min(),
                            std::numeric_limits<float>::denorm_min()}) {
    const TestTensor tensor = tensor_of(DType::f32, {4, 4}, std::vector<float>(16, value));
    for (const HolographicEncoding encoding : {spectral, random_projection, low_rank_distributed}) {
      const EncodedTensor encoded = encode(tensor, transform_options(encoding, 2, 1));
      for (const double decoded : doubles_of(DType::f32, decode(encoded, all_parts(encoded)))) {
        EXPECT_NEAR(decoded / value, 1, 1e-5);
      }
    }
  }
}

TEST_F(TransformTest, ZerosAreWholeWithAnyFragment) {
  const TestTensor tensor = tensor_of(DType::bf16, {30, 40}, std::vector<float>(1200));
  for (const HolographicEncoding encoding : {spectral, random_projection, low_rank_distributed}) {
    const EncodedTensor encoded = encode(tensor, transform_options(encoding, 3, 1));
    const std::vector<size_t> parts = {2};
    EXPECT_EQ(decode(encoded, parts), tensor.bytes);
    EXPECT_EQ(encoded.description.curve.quality(parts), 1);
    EXPECT_EQ(encoded.description.curve.prefixes[0].cosine, 1);
  }
}

// Whatever fragments there are, bit for bit; the others stay finite.
TEST_F(TransformTest, NonFiniteElementsComeBackFromAnyFragment) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::f8_e5m2}) {
    const size_t size = properties(dtype).bytes;
    TestTensor tensor = normal_tensor(dtype, {40, 41}, random_);
    const uint64_t sign = uint64_t{1} << (8 * size - 1);
    const std::vector<double> infinity = {std::numeric_limits<double>::infinity()};
    std::vector<std::byte> raw(size);
    if (dtype == DType::f64) {
      std::memcpy(raw.data(), infinity.data(), size);
    } else {
      raw = tensor_of(dtype, {1}, std::vector<float>{HUGE_VALF}).bytes;
    }
    uint64_t exponent = 0;
    std::memcpy(&exponent, raw.data(), size);
    std::vector<bool> patched(1640);
    for (int i = 0; i < 60; ++i) {
      // Infinities of both signs, quiet and signalling NaNs with payloads.
      const uint64_t bits = exponent | (random_() % 2 == 0 ? sign : 0) | random_() % 4;
      const size_t at = random_() % patched.size();
      std::memcpy(tensor.bytes.data() + at * size, &bits, size);
      patched[at] = true;
    }
    for (const HolographicEncoding encoding : {spectral, random_projection, low_rank_distributed}) {
      const EncodedTensor encoded = encode(tensor, transform_options(encoding, 4, random_()));
      for (const size_t part : all_parts(encoded)) {
        const auto decoded = decode(encoded, std::span(&part, 1));
        const std::vector<double> values = doubles_of(dtype, decoded);
        for (size_t i = 0; i < patched.size(); ++i) {
          if (patched[i]) {
            ASSERT_EQ(std::memcmp(&decoded[i * size], &tensor.bytes[i * size], size), 0);
          } else {
            ASSERT_TRUE(std::isfinite(values[i]));
          }
        }
      }
      check_prefixes(tensor, encoded);
    }
  }
}

TEST_F(TransformTest, OnlyNaNs) {
  const TestTensor tensor = tensor_of(DType::f16, {50, 50}, std::vector<float>(2500, NAN));
  for (const HolographicEncoding encoding : {spectral, random_projection, low_rank_distributed}) {
    const EncodedTensor encoded = encode(tensor, transform_options(encoding, 3, 1));
    EXPECT_EQ(decode(encoded, std::vector<size_t>{1}), tensor.bytes);
  }
}

TEST_F(TransformTest, LosslessServesBetter) {
  const auto code_of = [](const TestTensor& tensor, HolographicEncoding encoding) {
    return transform_encode(tensor.view(), transform_options(encoding, 4, 1)).error().code;
  };
  for (const DType dtype :
       {DType::boolean, DType::u8, DType::i16, DType::i32, DType::u64, DType::i64, DType::c64}) {
    const TestTensor integers = {dtype, {4}, std::vector<std::byte>(4 * properties(dtype).bytes)};
    EXPECT_EQ(code_of(integers, spectral), ErrorCode::unsupported);
  }
  EXPECT_EQ(code_of({DType::f32, {0}, {}}, spectral), ErrorCode::unsupported);
  EXPECT_EQ(code_of({DType::f32, {3, 0, 2}, {}}, random_projection), ErrorCode::unsupported);
  EXPECT_EQ(code_of(normal_tensor(DType::f32, {100}, random_), low_rank_distributed),
            ErrorCode::unsupported);
  // Every other element is patched: more than parameters hold.
  std::vector<float> values(100'000, 1.0f);
  for (size_t i = 0; i < values.size(); i += 2) values[i] = HUGE_VALF;
  EXPECT_EQ(code_of(tensor_of(DType::f32, {100'000}, values), random_projection),
            ErrorCode::unsupported);
}

TEST_F(TransformTest, WrongOptionsAndSizesAreRefused) {
  const TestTensor tensor = normal_tensor(DType::f32, {4, 4}, random_);
  const auto code_of = [&](const EncodeOptions& options) {
    return transform_encode(tensor.view(), options).error().code;
  };
  EXPECT_EQ(code_of(transform_options(spectral, 0, 1)), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(transform_options(spectral, 256, 1)), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(transform_options(embedded, 4, 1)), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(transform_options(spectral, 4, 1, DType::f64)), ErrorCode::invalid_argument);
  for (const double share : {-0.1, 1.1, std::nan("")}) {
    EncodeOptions options = transform_options(spectral, 4, 1);
    options.essential_share = share;
    EXPECT_EQ(code_of(options), ErrorCode::invalid_argument);
  }
  const TestTensor short_tensor = {DType::f32, {4, 5}, tensor.bytes};
  EXPECT_EQ(transform_encode(short_tensor.view(), transform_options(spectral, 4, 1)).error().code,
            ErrorCode::invalid_argument);

  const EncodedTensor encoded = encode(tensor, transform_options(spectral, 4, 1));
  auto decoder = transform_decoder(encoded.description);
  std::vector<std::byte> out(64);
  EXPECT_EQ((*decoder)->reconstruct(out).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ((*decoder)->add(4, encoded.parts[0]).error().code, ErrorCode::invalid_argument);
  ASSERT_TRUE((*decoder)->add(0, encoded.parts[0]));
  EXPECT_EQ((*decoder)->reconstruct(std::span(out).first(60)).error().code,
            ErrorCode::invalid_argument);
  EXPECT_TRUE((*decoder)->reconstruct(out));
}

TEST_F(TransformTest, LowRankSubsetsAndPrecisions) {
  for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    for (const DType precision : {DType::f32, DType::f16, DType::bf16}) {
      for (const Shape& shape : {Shape{60, 90}, {90, 4, 15}, {2, 2}, {3, 500}}) {
        EncodeOptions options = transform_options(
            low_rank_distributed, 1 + static_cast<uint32_t>(random_() % 9), random_(), precision);
        options.max_rank = 1 + static_cast<uint32_t>(random_() % 30);
        const TestTensor tensor = normal_tensor(dtype, shape, random_);
        const EncodedTensor encoded = encode(tensor, options);
        check_prefixes(tensor, encoded);
        // Rounded vectors are orthogonal up to the square of the rounding.
        check_subsets(tensor, encoded, precision == DType::bf16 ? 1e-4 : 1e-6);
      }
    }
  }
}

TEST_F(TransformTest, MatricesOfLowRankComeBackWhole) {
  const std::vector<float> u = normal_values(70 * 5, random_);
  const std::vector<float> v = normal_values(5 * 110, random_);
  std::vector<float> values(70 * 110);
  for (size_t i = 0; i < 70; ++i) {
    for (size_t j = 0; j < 110; ++j) {
      for (size_t k = 0; k < 5; ++k) values[i * 110 + j] += u[i * 5 + k] * v[k * 110 + j];
    }
  }
  const TestTensor tensor = tensor_of(DType::f32, {70, 110}, values);
  const EncodedTensor encoded = encode(tensor, transform_options(low_rank_distributed, 3, 9));
  EXPECT_GT(encoded.description.curve.prefixes.back().quality, 1 - 1e-9);
  size_t bytes = 0;
  for (const auto& part : encoded.parts) bytes += part.size();
  EXPECT_LT(bytes, 5 * (70 + 110 + 1) * 4 + 3 * 64);
}

}  // namespace
}  // namespace hoist::tensors
