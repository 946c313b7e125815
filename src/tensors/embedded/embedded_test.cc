#include "tensors/embedded/embedded.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/test_seed.h"
#include "tensors/embedded/embedded_testing.h"

namespace hoist::tensors {
namespace {

std::optional<EncodedTensor> encode_embedded(DType dtype, std::span<const std::byte> bytes,
                                             ThreadPool* pool = nullptr) {
  const uint64_t count = bytes.size() / properties(dtype).bytes;
  return embedded_encode({.dtype = dtype, .shape = {count}, .bytes = bytes}, pool).value();
}

std::vector<std::byte> decode_prefix(const EncodedTensor& encoded, size_t known,
                                     ThreadPool* pool = nullptr) {
  const auto decoder = make_decoder(encoded.description).value();
  for (size_t part = 0; part <= known; ++part) {
    EXPECT_TRUE(decoder->add(part, encoded.parts[part]));
  }
  const DTypeProperties& type = properties(encoded.description.dtype);
  std::vector<std::byte> out(element_count(encoded.description.shape).value() * type.bytes);
  const Status status = decoder->reconstruct(out, pool);
  EXPECT_TRUE(status) << status.error().message;
  return out;
}

// What layers never change: signs, zeros, infinities, that something is NaN, exponents.
void expect_same_kinds(DType dtype, std::span<const std::byte> input,
                       std::span<const std::byte> prefix) {
  if (dtype == DType::i8) return;
  const ElementFormat format = *element_format(dtype);
  const size_t width = format.bits / 8;
  for (size_t i = 0; i < input.size() / width; ++i) {
    const uint64_t was = element_at(input, width, i);
    const uint64_t is = element_at(prefix, width, i);
    const uint64_t magnitude = was & format.magnitude_mask();
    ASSERT_EQ(was & format.sign_mask(), is & format.sign_mask());
    ASSERT_EQ(was & format.exponent_mask(), is & format.exponent_mask());
    ASSERT_EQ(format.is_nan(magnitude), format.is_nan(is & format.magnitude_mask()));
    if (magnitude == 0 || format.is_infinity(magnitude)) {
      ASSERT_EQ(was, is);
    }
  }
}

void expect_round_trip(DType dtype, Content content, size_t count, std::mt19937_64& random,
                       size_t& encoded_count) {
  const std::vector<std::byte> input = make_content(dtype, content, count, random);
  const std::optional<EncodedTensor> encoded = encode_embedded(dtype, input);
  if (!encoded) return;
  ++encoded_count;
  const size_t planes = encoded->parts.size() - 1;
  ASSERT_EQ(encoded->description.curve.prefixes.size(), planes + 1);
  ASSERT_EQ(decode_prefix(*encoded, planes), input);
  std::vector<size_t> prefixes = {0, 1, 2, planes / 2, planes - 1};
  if (count <= 1100) {
    for (size_t known = 3; known < planes; ++known) prefixes.push_back(known);
  }
  for (const size_t known : prefixes) {
    if (known >= planes) continue;
    const std::vector<std::byte> prefix = decode_prefix(*encoded, known);
    ASSERT_EQ(prefix, oracle_reconstruct(*encoded, known)) << known << " planes";
    expect_same_kinds(dtype, input, prefix);
  }
}

TEST(Embedded, EveryPrefixOfEveryContent) {
  std::mt19937_64 random(test_seed());
  for (const DType dtype : kEmbeddedTypes) {
    size_t encoded_count = 0;
    for (const Content content : kContents) {
      for (const size_t count : {1, 7, 8, 129, 1000, 4099, 20011, 33000}) {
        SCOPED_TRACE(testing::Message() << properties(dtype).name << " content "
                                        << static_cast<int>(content) << " of " << count);
        expect_round_trip(dtype, content, count, random, encoded_count);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
    EXPECT_GE(encoded_count, 30u) << properties(dtype).name;
  }
}

TEST(Embedded, EveryPatternOfNarrowTypes) {
  for (const DType dtype : {DType::bf16, DType::f16, DType::f8_e4m3, DType::f8_e5m2, DType::i8}) {
    const size_t width = properties(dtype).bytes;
    const size_t patterns = size_t{1} << (8 * width);
    // All patterns once, and one of them so often that the tensor shrinks.
    std::vector<std::byte> input(patterns * 20 * width);
    for (size_t i = 0; i < patterns; ++i) put_element(input, width, i, i);
    const std::optional<EncodedTensor> encoded = encode_embedded(dtype, input);
    if (dtype == DType::bf16) {  // 258 symbols
      EXPECT_FALSE(encoded);
      continue;
    }
    ASSERT_TRUE(encoded) << properties(dtype).name;
    for (size_t known = 0; known < encoded->parts.size(); ++known) {
      const std::vector<std::byte> prefix = decode_prefix(*encoded, known);
      ASSERT_EQ(prefix, oracle_reconstruct(*encoded, known));
      expect_same_kinds(dtype, input, prefix);
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_EQ(decode_prefix(*encoded, encoded->parts.size() - 1), input);
  }
}

// In another precision and order than the encoder's, from what the decoder gives.
QualityPoint recompute(DType dtype, std::span<const std::byte> input,
                       std::span<const std::byte> prefix) {
  const size_t width = properties(dtype).bytes;
  const size_t count = input.size() / width;
  const auto value = [&](std::span<const std::byte> bytes, size_t i) -> long double {
    if (dtype == DType::f64) return std::bit_cast<double>(element_at(bytes, 8, i));
    float one;
    EXPECT_TRUE(to_f32(dtype, bytes.subspan(i * width, width), std::span(&one, 1)));
    return one;
  };
  long double energy = 0;
  long double error = 0;
  long double dot = 0;
  long double length = 0;
  for (size_t i = 0; i < count; ++i) {
    const long double x = value(input, i);
    const long double y = value(prefix, i);
    if (!std::isfinite(x)) continue;
    energy += x * x;
    error += (x - y) * (x - y);
    dot += x * y;
    length += y * y;
  }
  if (energy == 0) return {1, 1};
  return {static_cast<double>(1 - error / energy),
          static_cast<double>(dot / std::sqrt(energy * length))};
}

TEST(Embedded, QualityIsWhatIsMeasured) {
  std::mt19937_64 random(test_seed());
  for (const DType dtype : kEmbeddedTypes) {
    for (const Content content : {Content::gaussian, Content::coarse, Content::special,
                                  Content::subnormals, Content::zeros, Content::uniform_bits}) {
      const std::vector<std::byte> input = make_content(dtype, content, 9001, random);
      const std::optional<EncodedTensor> encoded = encode_embedded(dtype, input);
      if (!encoded) continue;
      double last = -1;
      for (size_t known = 0; known < encoded->parts.size(); ++known) {
        const QualityPoint expected = recompute(dtype, input, decode_prefix(*encoded, known));
        const QualityPoint stored = encoded->description.curve.prefixes[known];
        SCOPED_TRACE(testing::Message() << properties(dtype).name << " content "
                                        << static_cast<int>(content) << ", " << known << " planes");
        EXPECT_NEAR(stored.quality, expected.quality, 1e-10);
        EXPECT_NEAR(stored.cosine, expected.cosine, 1e-10);
        if (content == Content::gaussian) {
          EXPECT_GE(stored.quality, last);
          EXPECT_EQ(stored.quality == 1, known + 1 == encoded->parts.size());
          last = stored.quality;
        }
      }
      EXPECT_EQ(encoded->description.curve.prefixes.back().quality, 1);
      EXPECT_EQ(encoded->description.curve.prefixes.back().cosine, 1);
    }
  }
}

TEST(Embedded, QualityOfDoublesWhoseSquaresAreNot) {
  std::mt19937_64 random(test_seed());
  for (const double deviation : {1e-320, 1e-290, 1e290, 1e307}) {
    const std::vector<std::byte> input = gaussian(DType::f64, 5000, deviation, random);
    const EncodedTensor encoded = encode_embedded(DType::f64, input).value();
    for (const size_t known : {0, 1, 5}) {
      const QualityPoint expected = recompute(DType::f64, input, decode_prefix(encoded, known));
      EXPECT_NEAR(encoded.description.curve.prefixes[known].quality, expected.quality, 1e-10);
      EXPECT_NEAR(encoded.description.curve.prefixes[known].cosine, expected.cosine, 1e-10);
    }
  }
}

TEST(Embedded, SubnormalsGetBetterWithEveryLayer) {
  std::mt19937_64 random(test_seed());
  const std::pair<DType, double> cases[] = {
      {DType::f16, 3e-7},      {DType::f16, 1e-6},      {DType::f16, 2e-5},
      {DType::f8_e4m3, 0.002}, {DType::f8_e4m3, 0.005}, {DType::f8_e5m2, 2e-5},
      {DType::bf16, 1e-39},    {DType::f32, 1e-42},     {DType::f32, 1e-39},
      {DType::f64, 1e-316},    {DType::f64, 1e-309}};
  for (const auto& [dtype, deviation] : cases) {
    const std::vector<std::byte> input = gaussian(dtype, 20000, deviation, random);
    const EncodedTensor encoded = encode_embedded(dtype, input).value();
    double last = 0;
    for (size_t known = 0; known < encoded.parts.size(); ++known) {
      SCOPED_TRACE(testing::Message()
                   << properties(dtype).name << ' ' << deviation << ", " << known << " planes");
      const QualityPoint stored = encoded.description.curve.prefixes[known];
      const QualityPoint expected = recompute(dtype, input, decode_prefix(encoded, known));
      EXPECT_NEAR(stored.quality, expected.quality, 1e-10);
      EXPECT_NEAR(stored.cosine, expected.cosine, 1e-10);
      EXPECT_GE(stored.quality, last - 1e-9);
      last = stored.quality;
    }
    EXPECT_EQ(last, 1);
  }
}

// Bits an element: the entropy of sign-less exponents (of i8: of the elements), and all else as
// it is.
double ideal_bits(DType dtype, std::span<const std::byte> input) {
  const ElementFormat format = *element_format(dtype);
  std::vector<double> counts(4096);
  const double total = static_cast<double>(input.size() * 8 / format.bits);
  for (size_t i = 0; i < input.size() * 8 / format.bits; ++i) {
    const uint64_t element = element_at(input, format.bits / 8, i);
    counts[(element & format.magnitude_mask()) >> format.mantissa_bits] += 1 / total;
  }
  double bits = format.mantissa_bits + format.sign_bits;
  for (const double share : counts) bits -= share > 0 ? share * std::log2(share) : 0;
  return bits;
}

TEST(Embedded, SizeIsCloseToTheEntropy) {
  std::mt19937_64 random(test_seed());
  for (const DType dtype : kEmbeddedTypes) {
    const size_t count = size_t{1} << 18;
    const std::vector<std::byte> input =
        gaussian(dtype, count, dtype == DType::f8_e4m3 ? 1 : 0.02, random);
    const EncodedTensor encoded = encode_embedded(dtype, input).value();
    size_t size = encoded.description.parameters.size();
    for (const auto& part : encoded.parts) size += part.size();
    const double bits = 8.0 * static_cast<double>(size) / static_cast<double>(count);
    EXPECT_LE(bits, 1.015 * ideal_bits(dtype, input)) << properties(dtype).name;
    if (dtype == DType::bf16) {
      EXPECT_LE(bits, 0.67 * 16);
    }
    if (dtype == DType::i8) {
      EXPECT_GE(encoded.parts.size(), 3u);
    }
  }
}

TEST(Embedded, DropsPlanesOfZeros) {
  std::mt19937_64 random(test_seed());
  std::vector<std::byte> input = gaussian(DType::f32, 20000, 1, random);
  for (size_t i = 0; i < input.size(); i += 4) input[i] = input[i + 1] = std::byte{0};
  const EncodedTensor encoded = encode_embedded(DType::f32, input).value();
  EXPECT_EQ(encoded.parts.size(), 8u);
  EXPECT_EQ(decode_prefix(encoded, 7), input);
  EXPECT_NE(decode_prefix(encoded, 6), input);
}

TEST(Embedded, SignsAreStoredWhereThereAreSome) {
  std::vector<float> values(5000, 1.0f);
  const auto bytes = std::as_bytes(std::span(values));
  const EncodedTensor positive = encode_embedded(DType::f32, bytes).value();
  EXPECT_EQ(positive.parts.size(), 1u);
  EXPECT_LT(positive.parts[0].size(), 300u);
  values[4999] = -0.0f;
  const EncodedTensor negative = encode_embedded(DType::f32, bytes).value();
  EXPECT_GE(negative.parts[0].size(), positive.parts[0].size() + 625);
  EXPECT_TRUE(std::ranges::equal(decode_prefix(negative, 0), bytes));
}

TEST(Embedded, PartsInAnyOrderAndTwice) {
  std::mt19937_64 random(test_seed());
  const std::vector<std::byte> input = gaussian(DType::bf16, 5000, 0.02, random);
  const EncodedTensor encoded = encode_embedded(DType::bf16, input).value();
  const auto& curve = encoded.description.curve.prefixes;
  const auto decoder = embedded_decoder(encoded.description).value();
  std::vector<std::byte> out(input.size());
  for (const size_t part : {2, 1, 7, 6}) ASSERT_TRUE(decoder->add(part, encoded.parts[part]));
  EXPECT_FALSE(decoder->can_reconstruct());
  EXPECT_EQ(decoder->quality(), 0);
  EXPECT_EQ(decoder->reconstruct(out).error().code, ErrorCode::invalid_argument);
  ASSERT_TRUE(decoder->add(0, encoded.parts[0]));
  EXPECT_EQ(decoder->quality(), curve[2].quality);
  ASSERT_TRUE(decoder->reconstruct(out));
  EXPECT_EQ(out, decode_prefix(encoded, 2));
  // Duplicates change nothing, whatever they hold.
  const std::vector<std::byte> other(encoded.parts[1].size());
  ASSERT_TRUE(decoder->add(1, other));
  for (const size_t part : {3, 4, 5, 0}) ASSERT_TRUE(decoder->add(part, encoded.parts[part]));
  EXPECT_EQ(decoder->quality(), 1);
  ASSERT_TRUE(decoder->reconstruct(out));
  EXPECT_EQ(out, input);
  EXPECT_EQ(decoder->add(8, encoded.parts[7]).error().code, ErrorCode::invalid_argument);
  EXPECT_FALSE(decoder->reconstruct(std::span(out).first(out.size() - 1)));
  EXPECT_FALSE(decoder->reconstruct(std::span(out).first(out.size() - 2)));
}

TEST(Embedded, ThePoolChangesNothing) {
  std::mt19937_64 random(test_seed());
  ThreadPool pool(4);
  for (const DType dtype : {DType::bf16, DType::f32, DType::f64}) {
    const std::vector<std::byte> input = gaussian(dtype, 700001, 0.02, random);
    const EncodedTensor alone = encode_embedded(dtype, input).value();
    const EncodedTensor together = encode_embedded(dtype, input, &pool).value();
    EXPECT_EQ(alone.description.parameters, together.description.parameters);
    EXPECT_EQ(alone.parts, together.parts);
    for (size_t i = 0; i < alone.parts.size(); ++i) {
      EXPECT_EQ(alone.description.curve.prefixes[i].quality,
                together.description.curve.prefixes[i].quality);
    }
    EXPECT_EQ(decode_prefix(alone, alone.parts.size() - 1, &pool), input);
    EXPECT_EQ(decode_prefix(alone, 3, &pool), decode_prefix(alone, 3));
  }
}

TEST(Embedded, DamagedPartsAreFoundOrHarmless) {
  std::mt19937_64 random(test_seed());
  const std::vector<std::byte> input = gaussian(DType::f16, 40000, 0.02, random);
  EncodedTensor encoded = encode_embedded(DType::f16, input).value();
  for (size_t part = 0; part < encoded.parts.size(); ++part) {
    const std::span<const std::byte> bytes = encoded.parts[part];
    const auto decoder = embedded_decoder(encoded.description).value();
    EXPECT_EQ(decoder->add(part, bytes.first(bytes.size() - 1)).error().code, ErrorCode::corrupt);
    EXPECT_EQ(decoder->add(part, {}).error().code, ErrorCode::corrupt);
    EXPECT_TRUE(decoder->add(part, bytes));  // it is as before
  }
  // Around the section's header, sizes, states and words, and its border with the signs.
  std::vector<std::byte>& first = encoded.parts[0];
  size_t found = 0;
  std::vector<std::byte> out(input.size());
  for (size_t at = 0; at < first.size(); at += at < 400 ? 1 : 97) {
    const std::byte good = first[at];
    first[at] ^= static_cast<std::byte>(1u << random() % 8);
    const auto decoder = embedded_decoder(encoded.description).value();
    if (!decoder->add(0, first)) {
      ++found;
    } else if (const Status status = decoder->reconstruct(out); !status) {
      EXPECT_EQ(status.error().code, ErrorCode::corrupt);
      ++found;
    }
    first[at] = good;
  }
  EXPECT_GT(found, 300u);
}

TEST(Embedded, DamagedDescriptionsAreFoundOrHarmless) {
  std::mt19937_64 random(test_seed());
  for (const DType dtype : kEmbeddedTypes) {
    const std::vector<std::byte> input = gaussian(dtype, 9000, 0.02, random);
    const EncodedTensor encoded = encode_embedded(dtype, input).value();
    std::vector<std::byte> out(input.size());
    size_t found = 0;
    for (size_t at = 0; at < encoded.description.parameters.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        TensorDescription description = encoded.description;
        description.parameters[at] ^= static_cast<std::byte>(1u << bit);
        const auto decoder = embedded_decoder(description);
        if (!decoder) {
          EXPECT_EQ(decoder.error().code, ErrorCode::corrupt);
          ++found;
          continue;
        }
        for (size_t part = 0; part < encoded.parts.size(); ++part) {
          (void)(*decoder)->add(part, encoded.parts[part]);
        }
        (void)(*decoder)->reconstruct(out);
      }
    }
    EXPECT_GT(found, 100u) << properties(dtype).name;
    for (size_t size = 0; size < encoded.description.parameters.size(); ++size) {
      TensorDescription description = encoded.description;
      description.parameters.resize(size);
      EXPECT_FALSE(embedded_decoder(description)) << size;
    }
  }
}

TEST(Embedded, DescriptionsMustFitTogether) {
  std::mt19937_64 random(test_seed());
  const std::vector<std::byte> input = gaussian(DType::bf16, 9000, 0.02, random);
  const EncodedTensor encoded = encode_embedded(DType::bf16, input).value();
  const auto expect_corrupt = [&](auto change) {
    TensorDescription description = encoded.description;
    change(description);
    const auto decoder = embedded_decoder(description);
    ASSERT_FALSE(decoder);
    EXPECT_EQ(decoder.error().code, ErrorCode::corrupt);
  };
  expect_corrupt([](TensorDescription& d) { d.shape = {9008}; });
  expect_corrupt([](TensorDescription& d) { d.shape = {0}; });
  expect_corrupt([](TensorDescription& d) { d.shape = {~uint64_t{0}, 9}; });
  expect_corrupt([](TensorDescription& d) { d.dtype = DType::i16; });
  expect_corrupt([](TensorDescription& d) { d.dtype = DType::f32; });
  expect_corrupt([](TensorDescription& d) { d.part_bytes.pop_back(); });
  expect_corrupt([](TensorDescription& d) { d.part_bytes.push_back(d.part_bytes.back()); });
  expect_corrupt([](TensorDescription& d) { ++d.part_bytes[3]; });
  expect_corrupt([](TensorDescription& d) { ++d.part_bytes[0]; });
  expect_corrupt([](TensorDescription& d) { d.part_bytes[0] = 0; });
  expect_corrupt([](TensorDescription& d) { d.parameters.push_back(std::byte{0}); });
}

}  // namespace
}  // namespace hoist::tensors
