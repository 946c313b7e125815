// What the tests, benchmarks and fuzz target of the Embedded encoding share: tensors of all kinds
// of content, and the slow, obvious reading of the format that everything is compared with.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "codec/entropy.h"
#include "tensors/embedded/layout.h"
#include "tensors/tensor.h"

namespace hoist::tensors {

inline constexpr DType kEmbeddedTypes[] = {DType::bf16,    DType::f16,     DType::f32, DType::f64,
                                           DType::f8_e4m3, DType::f8_e5m2, DType::i8};

enum class Content {
  gaussian,
  uniform_bits,
  zeros,
  signed_zeros,
  nans,
  constant,
  subnormals,
  special,  // zeros, infinities, NaNs and a few numbers
  coarse,   // few mantissa bits used
  one_binade,
};
inline constexpr Content kContents[] = {
    Content::gaussian, Content::uniform_bits, Content::zeros,      Content::signed_zeros,
    Content::nans,     Content::constant,     Content::subnormals, Content::special,
    Content::coarse,   Content::one_binade};

inline std::vector<std::byte> random_bytes(size_t size, std::mt19937_64& random) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

inline std::vector<std::byte> gaussian(DType dtype, size_t count, double deviation,
                                       std::mt19937_64& random) {
  std::normal_distribution<double> normal(0, dtype == DType::i8 ? 30 : deviation);
  std::vector<std::byte> bytes(count * properties(dtype).bytes);
  if (dtype == DType::f64) {
    for (size_t i = 0; i < count; ++i) {
      const double value = normal(random);
      std::memcpy(&bytes[8 * i], &value, 8);
    }
    return bytes;
  }
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(normal(random));
  (void)from_f32(values, dtype, bytes);
  return bytes;
}

inline uint64_t element_at(std::span<const std::byte> bytes, size_t width, size_t i) {
  uint64_t element = 0;
  std::memcpy(&element, bytes.data() + i * width, width);
  return element;
}

inline void put_element(std::span<std::byte> bytes, size_t width, size_t i, uint64_t element) {
  std::memcpy(bytes.data() + i * width, &element, width);
}

inline std::vector<std::byte> make_content(DType dtype, Content content, size_t count,
                                           std::mt19937_64& random) {
  const size_t width = properties(dtype).bytes;
  const ElementFormat format = *element_format(dtype);
  const uint64_t mantissa = format.mantissa_mask();
  const uint64_t sign = format.sign_mask();
  if (content == Content::gaussian) return gaussian(dtype, count, 0.02, random);
  if (content == Content::uniform_bits) return random_bytes(count * width, random);
  std::vector<std::byte> bytes(count * width);
  const uint64_t constant = random() & format.magnitude_mask();
  const uint64_t exponent = random() & format.exponent_mask() & ~(format.exponent_mask() / 3);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bits = random();
    uint64_t element = 0;
    switch (content) {
      case Content::signed_zeros:
        element = bits & sign;
        break;
      case Content::nans:
        element = (bits & (sign | mantissa)) | format.exponent_mask() | 1;
        break;
      case Content::constant:
        element = constant;
        break;
      case Content::subnormals:
        element = bits & (sign | mantissa);
        break;
      case Content::special: {
        const uint64_t values[] = {0,
                                   format.exponent_mask(),
                                   format.magnitude_mask(),
                                   format.exponent_mask() | 1,
                                   mantissa,
                                   1,
                                   format.last_not_nan(),
                                   format.exponent_mask() - 1,
                                   constant};
        element = values[bits % std::size(values)] | (bits >> 32 & 1) * sign;
        break;
      }
      case Content::coarse:
        element = (bits & (sign | (mantissa & ~(mantissa >> 2)))) | (exponent & ~(bits >> 1));
        break;
      case Content::one_binade:
        element = (bits & (sign | mantissa)) | exponent;
        break;
      default:
        break;
    }
    put_element(bytes, width, i, element & (format.magnitude_mask() | sign));
  }
  return bytes;
}

// What a prefix of layers gives, by docs/reference/tensors-embedded.md alone.
inline std::vector<std::byte> oracle_reconstruct(const EncodedTensor& encoded, size_t known) {
  const EmbeddedLayout layout = EmbeddedLayout::parse(encoded.description).value();
  const std::span<const std::byte> first = encoded.parts[0];
  const auto view = codec::EntropyView::parse(first.first(layout.section_bytes)).value();
  std::vector<uint8_t> symbols(view.symbols());
  if (!codec::entropy_decode(view, layout.table, symbols)) return {};
  const auto bit_of = [](std::span<const std::byte> plane, size_t i) {
    return std::to_integer<uint64_t>(plane[i / 8]) >> (i % 8) & 1;
  };
  const ElementFormat& format = layout.format;
  const size_t width = layout.element_bytes();
  std::vector<std::byte> elements(layout.elements * width);
  for (size_t i = 0; i < layout.elements; ++i) {
    const uint64_t pattern = layout.patterns[symbols[i]];
    uint64_t element = pattern;
    const bool whole =
        format.kind != ElementKind::integer &&
        (pattern == 0 || (format.kind == ElementKind::ieee && pattern == format.exponent_mask()));
    if (known > 0 && !whole) {
      uint64_t mantissa = 0;
      for (size_t k = 1; k <= known; ++k) {
        mantissa |= bit_of(encoded.parts[k], i) << (format.mantissa_bits - k);
      }
      if (known < layout.planes) {
        const uint64_t one = uint64_t{1} << (format.mantissa_bits - known - 1);
        const bool subnormal = format.kind != ElementKind::integer && pattern < one;
        mantissa |= subnormal ? pattern : one;
      }
      element = (pattern & format.exponent_mask()) | mantissa;
      if (format.kind == ElementKind::e4m3) {
        const bool is_nan = pattern == 0x7f;
        if (is_nan) element = 0x7f;
        if (!is_nan && (element >> 3) == 15 && known == 2 && layout.planes == 3) element &= 0x7e;
      }
    }
    if (layout.has_signs)
      element |= bit_of(first.subspan(layout.section_bytes), i) * format.sign_mask();
    put_element(elements, width, i, element);
  }
  return elements;
}

}  // namespace hoist::tensors
