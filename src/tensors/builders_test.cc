// Any subset of fragments, in any order, with duplicates, against the decoder that they stand on.
#include "tensors/builders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/test_seed.h"

namespace hoist::tensors {
namespace {

constexpr HolographicEncoding kEncodings[] = {
    HolographicEncoding::lossless, HolographicEncoding::embedded, HolographicEncoding::spectral,
    HolographicEncoding::random_projection, HolographicEncoding::low_rank_distributed};

std::vector<float> normal_values(size_t count, std::mt19937_64& random) {
  std::normal_distribution<float> normal(0, 0.02f);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

HoloTensorEncoder encoder_of(HolographicEncoding encoding) {
  return HoloTensorEncoder(encoding).with_fragments(6).with_seed(9).with_max_rank(12);
}

// The same parts, each once and in order.
struct Expected {
  bool possible = false;
  double quality = 0;
  std::vector<std::byte> bytes;
};
Expected expected(const EncodedTensor& encoded, std::vector<size_t> parts) {
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  const auto decoder = make_decoder(encoded.description).value();
  for (const size_t part : parts) EXPECT_TRUE(decoder->add(part, encoded.parts[part]));
  Expected result{decoder->can_reconstruct(), decoder->quality(), {}};
  if (!result.possible) return result;
  result.bytes.resize(*element_count(encoded.description.shape) *
                      properties(encoded.description.dtype).bytes);
  EXPECT_TRUE(decoder->reconstruct(result.bytes));
  return result;
}

TEST(HoloTensorEncoder, OptionsAreThoseOfEncode) {
  std::mt19937_64 random(test_seed());
  const std::vector<float> values = normal_values(48 * 40, random);
  const TensorView view{DType::f32, {48, 40}, std::as_bytes(std::span(values))};
  for (const HolographicEncoding encoding : kEncodings) {
    EncodeOptions options;
    options.encoding = encoding;
    options.fragments = 5;
    options.seed = 77;
    options.essential_share = 0.1;
    options.max_rank = 10;
    options.precision = DType::bf16;
    const HoloTensorEncoder encoder = HoloTensorEncoder(encoding)
                                          .with_fragments(5)
                                          .with_seed(77)
                                          .with_essential_share(0.1)
                                          .with_max_rank(10)
                                          .with_precision(DType::bf16)
                                          .with_pool(&ThreadPool::process());
    const EncodedTensor by_call = encode(view, options).value();
    const EncodedTensor by_builder = encoder.encode_2d(values, 48, 40).value();
    EXPECT_EQ(by_builder.parts, by_call.parts);
    EXPECT_EQ(by_builder.description.parameters, by_call.description.parameters);
    EXPECT_EQ(by_builder.description.shape, by_call.description.shape);
    EXPECT_EQ(encoder.encode(view).value().parts, by_call.parts);
    EXPECT_EQ(encoder.encode_nd(values, {48, 40}).value().parts, by_call.parts);
    EXPECT_EQ(encoder.encode_1d(values).value().description.shape, Shape{values.size()});
  }
}

TEST(HoloTensorEncoder, ValuesAndShapeMustAgree) {
  const std::vector<float> values(12);
  const HoloTensorEncoder encoder(HolographicEncoding::spectral);
  EXPECT_EQ(encoder.encode_2d(values, 3, 5).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(encoder.encode_2d(values, uint64_t{1} << 40, uint64_t{1} << 40).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(HoloTensorEncoder(HolographicEncoding::spectral)
                .with_fragments(0)
                .encode_1d(values)
                .error()
                .code,
            ErrorCode::invalid_argument);
}

TEST(HoloTensorDecoder, AnySubsetAnyOrderWithDuplicates) {
  std::mt19937_64 random(test_seed());
  for (const HolographicEncoding encoding : kEncodings) {
    const std::vector<float> values = normal_values(33 * 70, random);
    const EncodedTensor encoded = encoder_of(encoding).encode_2d(values, 33, 70).value();
    const size_t count = encoded.parts.size();
    for (int round = 0; round < 40; ++round) {
      // Up to twice as many as there are: some of them come again.
      std::vector<size_t> order(random() % (2 * count + 1));
      for (size_t& part : order) part = random() % count;
      HoloTensorDecoder decoder = HoloTensorDecoder::create(encoded.description).value();
      EXPECT_EQ(decoder.total_fragments(), count);
      for (const size_t part : order) {
        const std::vector<std::byte> passing = encoded.parts[part];  // gone at once
        ASSERT_TRUE(decoder.add_fragment(part, passing));
      }
      const HoloTensorDecoder moved = std::move(decoder);
      const Expected want = expected(encoded, order);
      EXPECT_EQ(moved.can_reconstruct(), want.possible);
      EXPECT_NEAR(moved.quality(), want.quality, 1e-12);  // energies add up in another order
      std::vector<std::byte> out(moved.bytes());
      EXPECT_EQ(moved.reconstruct(out).has_value(), want.possible);
      if (want.possible) {
        EXPECT_EQ(out, want.bytes);
      }
      std::sort(order.begin(), order.end());
      const auto distinct = std::unique(order.begin(), order.end()) - order.begin();
      EXPECT_EQ(moved.fragments(), static_cast<size_t>(distinct));
    }
  }
}

TEST(HoloTensorDecoder, MoreFragmentsMakeItBetter) {
  std::mt19937_64 random(test_seed());
  for (const HolographicEncoding encoding : kEncodings) {
    const std::vector<float> values = normal_values(64 * 64, random);
    const EncodedTensor encoded = encoder_of(encoding).encode_2d(values, 64, 64).value();
    HoloTensorDecoder decoder = HoloTensorDecoder::create(encoded.description).value();
    EXPECT_FALSE(decoder.can_reconstruct());
    double before = 0;
    double distance = 1e300;
    for (size_t part = 0; part < encoded.parts.size(); ++part) {
      ASSERT_TRUE(decoder.add_fragment(part, encoded.parts[part]));
      EXPECT_GT(decoder.quality(), before);
      before = decoder.quality();
      const std::vector<float> now = decoder.reconstruct_f32().value();
      double error = 0;
      for (size_t i = 0; i < now.size(); ++i) error += std::pow(double{now[i]} - values[i], 2);
      EXPECT_LT(error, distance);
      distance = error;
    }
    if (encoding != HolographicEncoding::low_rank_distributed) {
      EXPECT_NEAR(before, 1, 1e-6);
    }
  }
}

TEST(HoloTensorDecoder, WrongFragmentsChangeNothing) {
  std::mt19937_64 random(test_seed());
  for (const HolographicEncoding encoding : kEncodings) {
    const std::vector<float> values = normal_values(33 * 70, random);
    const EncodedTensor encoded = encoder_of(encoding).encode_2d(values, 33, 70).value();
    HoloTensorDecoder decoder = HoloTensorDecoder::create(encoded.description).value();
    const std::vector<std::byte>& first = encoded.parts[0];
    EXPECT_EQ(decoder.add_fragment(encoded.parts.size(), first).error().code,
              ErrorCode::invalid_argument);
    EXPECT_EQ(decoder.add_fragment(SIZE_MAX, first).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(decoder.add_fragment(0, std::span(first).first(first.size() - 1)).error().code,
              ErrorCode::corrupt);
    EXPECT_EQ(decoder.add_fragment(0, {}).error().code, ErrorCode::corrupt);
    EXPECT_EQ(decoder.fragments(), 0u);
    EXPECT_FALSE(decoder.can_reconstruct());
    EXPECT_FALSE(decoder.reconstruct_f32());
    EXPECT_TRUE(decoder.add_fragment(0, first));
    EXPECT_TRUE(decoder.add_fragment(0, {}));  // it is there already
    EXPECT_EQ(decoder.fragments(), 1u);
    std::vector<std::byte> out(decoder.bytes() + 1);
    EXPECT_EQ(decoder.reconstruct(out).error().code, ErrorCode::invalid_argument);
    EXPECT_TRUE(decoder.reconstruct_f32());
  }
}

TEST(HoloTensorDecoder, DescriptionsAreChecked) {
  std::mt19937_64 random(test_seed());
  const std::vector<float> values = normal_values(1000, random);
  const EncodedTensor encoded = encoder_of(HolographicEncoding::spectral).encode_1d(values).value();
  EXPECT_EQ(HoloTensorDecoder::create(encoded.description, 3999).error().code,
            ErrorCode::exhausted);
  TensorDescription broken = encoded.description;
  broken.part_bytes.pop_back();
  EXPECT_EQ(HoloTensorDecoder::create(broken).error().code, ErrorCode::corrupt);
  broken = encoded.description;
  broken.shape = {uint64_t{1} << 59, uint64_t{1} << 59};
  EXPECT_EQ(HoloTensorDecoder::create(broken).error().code, ErrorCode::corrupt);
}

}  // namespace
}  // namespace hoist::tensors
