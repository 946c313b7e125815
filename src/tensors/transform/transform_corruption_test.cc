// Damaged descriptions and fragments: refused, or decoded within bounds, never anything else.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/test_seed.h"
#include "tensors/transform/format.h"
#include "tensors/transform/transform_testing.h"

namespace hoist::tensors {
namespace {

using enum HolographicEncoding;

constexpr HolographicEncoding kEncodings[] = {spectral, random_projection, low_rank_distributed};

class TransformCorruptionTest : public ::testing::Test {
 protected:
  EncodedTensor encoded_tensor(HolographicEncoding encoding) {
    TestTensor tensor = normal_tensor(DType::bf16, {31, 47}, random_);
    const uint16_t nan = 0x7fc1;
    std::memcpy(tensor.bytes.data() + 200, &nan, sizeof nan);
    EncodeOptions options = transform_options(encoding, 5, random_());
    options.max_rank = 7;
    return *transform_encode(tensor.view(), options);
  }

  std::mt19937_64 random_{test_seed()};
};

// Decodes as far as the bytes allow.
void try_decode(const TensorDescription& description,
                const std::vector<std::vector<std::byte>>& parts) {
  auto decoder = transform_decoder(description);
  if (!decoder) {
    EXPECT_EQ(decoder.error().code, ErrorCode::corrupt) << decoder.error().message;
    return;
  }
  for (size_t part = 0; part < parts.size(); ++part) (void)(*decoder)->add(part, parts[part]);
  std::vector<std::byte> out(*element_count(description.shape) *
                             properties(description.dtype).bytes);
  EXPECT_EQ((*decoder)->reconstruct(out).has_value(), (*decoder)->can_reconstruct());
}

TEST_F(TransformCorruptionTest, FragmentsOfTheWrongSizeOrPlaceAreRefused) {
  for (const HolographicEncoding encoding : kEncodings) {
    const EncodedTensor encoded = encoded_tensor(encoding);
    auto decoder = transform_decoder(encoded.description);
    for (size_t part = 0; part < 5; ++part) {
      const auto& bytes = encoded.parts[part];
      for (size_t size = 0; size < bytes.size(); size += 1 + random_() % 40) {
        EXPECT_EQ((*decoder)->add(part, std::span(bytes).first(size)).error().code,
                  ErrorCode::corrupt);
      }
      std::vector<std::byte> longer = bytes;
      longer.resize(bytes.size() + 16);
      EXPECT_EQ((*decoder)->add(part, longer).error().code, ErrorCode::corrupt);
      EXPECT_EQ((*decoder)->add((part + 1) % 5, bytes).error().code, ErrorCode::corrupt);
    }
    EXPECT_FALSE((*decoder)->can_reconstruct());
    for (size_t at = 0; at < sizeof(FragmentHeader); ++at) {
      std::vector<std::byte> bytes = encoded.parts[0];
      bytes[at] ^= std::byte{1};
      EXPECT_EQ((*decoder)->add(0, bytes).error().code, ErrorCode::corrupt) << at;
    }
    EXPECT_TRUE((*decoder)->add(0, encoded.parts[0]));
  }
}

TEST_F(TransformCorruptionTest, PaddingIsZeroAndValuesAreFinite) {
  const EncodedTensor encoded = encoded_tensor(random_projection);
  const TransformLayout layout = *transform_layout(encoded.description);
  const uint64_t end = layout.dealt_offset() + layout.groups * layout.precision_bytes;
  ASSERT_LT(end, layout.fragment_bytes(0));
  auto decoder = transform_decoder(encoded.description);
  for (uint64_t at = end; at < layout.fragment_bytes(0); ++at) {
    std::vector<std::byte> bytes = encoded.parts[0];
    bytes[at] = std::byte{1};
    EXPECT_EQ((*decoder)->add(0, bytes).error().code, ErrorCode::corrupt);
  }
  for (const uint64_t at : {layout.dealt_offset(), end - 2}) {
    std::vector<std::byte> bytes = encoded.parts[0];
    bytes[at + 1] |= std::byte{0x7c};  // f16's exponent
    EXPECT_EQ((*decoder)->add(0, bytes).error().code, ErrorCode::corrupt);
  }
  const EncodedTensor low_rank = encoded_tensor(low_rank_distributed);
  auto low_rank_decoder = transform_decoder(low_rank.description);
  std::vector<std::byte> bytes = low_rank.parts[0];
  const float infinity = HUGE_VALF;
  std::memcpy(bytes.data() + sizeof(FragmentHeader), &infinity, sizeof infinity);
  EXPECT_EQ((*low_rank_decoder)->add(0, bytes).error().code, ErrorCode::corrupt);
}

TEST_F(TransformCorruptionTest, EveryByteOfTheParametersIsChecked) {
  for (const HolographicEncoding encoding : kEncodings) {
    const EncodedTensor encoded = encoded_tensor(encoding);
    for (size_t at = 0; at < encoded.description.parameters.size(); ++at) {
      for (const int flip : {0x01, 0x80, 0xff}) {
        TensorDescription description = encoded.description;
        description.parameters[at] ^= std::byte(flip);
        try_decode(description, encoded.parts);
      }
    }
    for (size_t size = 0; size < encoded.description.parameters.size(); ++size) {
      TensorDescription description = encoded.description;
      description.parameters.resize(size);
      EXPECT_EQ(transform_decoder(description).error().code, ErrorCode::corrupt) << size;
    }
  }
}

TEST_F(TransformCorruptionTest, DescriptionsThatDoNotFitAreRefused) {
  for (const HolographicEncoding encoding : kEncodings) {
    const EncodedTensor encoded = encoded_tensor(encoding);
    const auto refused = [&](auto change) {
      TensorDescription description = encoded.description;
      change(description);
      const auto decoder = transform_decoder(description);
      ASSERT_FALSE(decoder.has_value());
      EXPECT_EQ(decoder.error().code, ErrorCode::corrupt) << decoder.error().message;
    };
    refused([](TensorDescription& d) { d.shape = {31, 60}; });
    refused([](TensorDescription& d) { d.shape = {0, 48}; });
    refused([](TensorDescription& d) { d.shape = {uint64_t{1} << 40, uint64_t{1} << 40}; });
    refused([](TensorDescription& d) { d.shape = {uint64_t{1} << 30, uint64_t{1} << 29}; });
    refused([](TensorDescription& d) { d.dtype = DType::i64; });
    refused([](TensorDescription& d) { d.encoding = lossless; });
    refused([](TensorDescription& d) { d.part_bytes.pop_back(); });
    refused([](TensorDescription& d) { d.part_bytes[2] += 16; });
    refused([](TensorDescription& d) { d.curve.energies.pop_back(); });
    refused([](TensorDescription& d) { d.curve.prefixes.clear(); });
    refused([](TensorDescription& d) { d.curve.common = NAN; });
    refused([](TensorDescription& d) { d.curve.prefixes[1].cosine = HUGE_VAL; });
  }
}

TEST_F(TransformCorruptionTest, AnyValuesGiveFiniteElements) {
  for (const HolographicEncoding encoding : kEncodings) {
    const EncodedTensor encoded = encoded_tensor(encoding);
    for (int round = 0; round < 200; ++round) {
      std::vector<std::vector<std::byte>> parts = encoded.parts;
      for (auto& part : parts) {
        for (size_t flips = random_() % 8; flips > 0; --flips) {
          part[sizeof(FragmentHeader) + random_() % (part.size() - sizeof(FragmentHeader))] =
              std::byte(random_());
        }
      }
      auto decoder = transform_decoder(encoded.description);
      for (size_t part = 0; part < parts.size(); ++part) (void)(*decoder)->add(part, parts[part]);
      if (!(*decoder)->can_reconstruct()) continue;
      std::vector<std::byte> out(31 * 47 * 2);
      ASSERT_TRUE((*decoder)->reconstruct(out));
      const std::vector<double> values = doubles_of(DType::bf16, out);
      for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(std::isfinite(values[i]), i != 100) << i;
    }
  }
}

}  // namespace
}  // namespace hoist::tensors
