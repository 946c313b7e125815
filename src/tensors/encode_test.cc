#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "base/test_seed.h"
#include "tensors/encoded_tensor.h"

namespace hoist::tensors {
namespace {

std::vector<std::byte> random_bytes(size_t size, std::mt19937_64& random) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

std::vector<float> gaussian(size_t count, std::mt19937_64& random) {
  std::normal_distribution<float> normal(0, 0.02f);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

std::vector<std::byte> decode_all(const EncodedTensor& encoded) {
  const auto decoder = make_decoder(encoded.description).value();
  for (size_t part = 0; part < encoded.parts.size(); ++part) {
    EXPECT_TRUE(decoder->add(part, encoded.parts[part]));
  }
  std::vector<std::byte> out(
      byte_count(encoded.description.dtype, encoded.description.shape).value());
  EXPECT_TRUE(decoder->reconstruct(out));
  return out;
}

TEST(Encode, AsAsked) {
  std::mt19937_64 random(test_seed());
  const std::vector<float> values = gaussian(64 * 48, random);
  const TensorView tensor{
      .dtype = DType::f32, .shape = {64, 48}, .bytes = std::as_bytes(std::span(values))};
  for (const HolographicEncoding encoding :
       {HolographicEncoding::lossless, HolographicEncoding::embedded, HolographicEncoding::spectral,
        HolographicEncoding::random_projection, HolographicEncoding::low_rank_distributed}) {
    EncodeOptions options;
    options.encoding = encoding;
    options.fragments = 4;
    options.max_rank = 8;
    const EncodedTensor encoded = encode(tensor, options).value();
    EXPECT_EQ(encoded.description.encoding, encoding);
    EXPECT_EQ(encoded.description.shape, tensor.shape);
    EXPECT_EQ(encoded.description.part_bytes.size(), encoded.parts.size());
    std::vector<float> decoded(values.size());
    ASSERT_TRUE(to_f32(DType::f32, decode_all(encoded), decoded));
    if (encoding == HolographicEncoding::low_rank_distributed) continue;  // loses what it drops
    for (size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(decoded[i], values[i], 1e-5);
  }
}

TEST(Encode, IntegersAreLosslessWhateverIsAsked) {
  const std::vector<std::byte> bytes(4000, std::byte{3});
  for (const HolographicEncoding encoding :
       {HolographicEncoding::embedded, HolographicEncoding::spectral}) {
    EncodeOptions options;
    options.encoding = encoding;
    const EncodedTensor encoded =
        encode({.dtype = DType::i32, .shape = {10, 100}, .bytes = bytes}, options).value();
    EXPECT_EQ(encoded.description.encoding, HolographicEncoding::lossless);
    EXPECT_EQ(decode_all(encoded), bytes);
  }
}

TEST(Encode, FallsBackToLossless) {
  std::mt19937_64 random(test_seed());
  const auto expect_lossless = [&](DType dtype, Shape shape, std::vector<std::byte> bytes) {
    const EncodedTensor encoded =
        encode({.dtype = dtype, .shape = shape, .bytes = bytes}, {}).value();
    EXPECT_EQ(encoded.description.encoding, HolographicEncoding::lossless);
    ASSERT_EQ(encoded.parts.size(), 1u);
    EXPECT_EQ(encoded.parts[0], bytes);
    EXPECT_EQ(decode_all(encoded), bytes);
  };
  expect_lossless(DType::bf16, {0}, {});
  expect_lossless(DType::bf16, {3, 0, 5}, {});
  expect_lossless(DType::f32, {}, random_bytes(4, random));
  expect_lossless(DType::f16, {7}, random_bytes(14, random));
  expect_lossless(DType::bf16, {100, 100}, random_bytes(20000, random));
  expect_lossless(DType::f64, {10000}, random_bytes(80000, random));
  expect_lossless(DType::i8, {10000}, random_bytes(10000, random));
  expect_lossless(DType::c64, {5}, random_bytes(40, random));
  expect_lossless(DType::f8_e4m3fnuz, {10000}, std::vector<std::byte>(10000));
  expect_lossless(DType::f4, {100, 100}, std::vector<std::byte>(5000));
  expect_lossless(DType::f6_e3m2, {100, 100}, std::vector<std::byte>(7500));
  for (const HolographicEncoding encoding :
       {HolographicEncoding::spectral, HolographicEncoding::low_rank_distributed}) {
    const std::vector<std::byte> packed = random_bytes(7500, random);
    const TensorView tensor{.dtype = DType::f6_e2m3, .shape = {100, 100}, .bytes = packed};
    EXPECT_EQ(encode(tensor, {.encoding = encoding}).value().description.encoding,
              HolographicEncoding::lossless);
  }
  expect_lossless(DType::boolean, {1000}, std::vector<std::byte>(1000));
  expect_lossless(DType::i64, {1000}, std::vector<std::byte>(8000));
}

TEST(Encode, ChecksItsInput) {
  const std::vector<std::byte> bytes(12);
  EXPECT_EQ(encode({.dtype = DType::f32, .shape = {4}, .bytes = bytes}, {}).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(encode({.dtype = DType::f32, .shape = {~uint64_t{0}}, .bytes = bytes}, {}).error().code,
            ErrorCode::invalid_argument);
  for (const uint64_t count : {12, 23, 25}) {  // 24 fit
    EXPECT_EQ(encode({.dtype = DType::f4, .shape = {count}, .bytes = bytes}, {}).error().code,
              ErrorCode::invalid_argument);
  }
}

TEST(Encode, LosslessDecoderChecksItsInput) {
  TensorDescription description;
  description.shape = {3};
  description.part_bytes = {12};
  const auto decoder = make_decoder(description).value();
  const std::vector<std::byte> bytes(12, std::byte{7});
  std::vector<std::byte> out(12);
  EXPECT_FALSE(decoder->can_reconstruct());
  EXPECT_FALSE(decoder->reconstruct(out));
  EXPECT_EQ(decoder->add(1, bytes).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(decoder->add(0, std::span(bytes).first(11)).error().code, ErrorCode::corrupt);
  EXPECT_EQ(decoder->quality(), 0);
  ASSERT_TRUE(decoder->add(0, bytes));
  EXPECT_EQ(decoder->quality(), 1);
  EXPECT_FALSE(decoder->reconstruct(std::span(out).first(11)));
  ASSERT_TRUE(decoder->reconstruct(out));
  EXPECT_EQ(out, bytes);
  description.part_bytes = {11};
  EXPECT_EQ(make_decoder(description).error().code, ErrorCode::corrupt);
  description.part_bytes = {12};
  description.encoding = static_cast<HolographicEncoding>(9);
  EXPECT_EQ(make_decoder(description).error().code, ErrorCode::corrupt);
}

}  // namespace
}  // namespace hoist::tensors
