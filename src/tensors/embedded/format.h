// The Embedded encoding: which bits of an element lie where. docs/reference/tensors-embedded.md has
// the bytes.
//
// Layer 0 has one symbol an element, entropy-coded, and the sign plane. A symbol stands for an
// exponent field; zero, subnormals, infinity and NaN have symbols of their own. Layers 1…P are one
// plane each, most significant mantissa bit first. With `known` of the P planes an element is
//
//   bases[symbol] | sign << (width - 1) | known bits, from `top_bit` downwards
//
// where bases (layer_bases() in embedded/layout.h) depend on `known`: of layer 0 alone the centroid
// of the symbol's elements, then the exponent field and a one below the known bits, which is the
// middle of what they may still be (of subnormals the centroid where it is less), at last the
// exponent field alone. Bases of zero and infinity are those values always; elements of them have
// zeros in all planes. P is the mantissa's width, less where the lowest bits are zero in every
// element.
//
// i8 has no sign plane: symbols are the upper 8 - P bits, planes the lower P.
//
// Nothing here allocates, so CUDA kernels may include it.
#pragma once

#include <cstdint>

#include "base/host_device.h"

namespace hoist::tensors {

inline constexpr uint8_t kEmbeddedVersion = 0;

// description.parameters: this, then the symbols' patterns, each as wide as an element, then the
// table (codec::EntropyTable::serialise()). Little-endian.
struct EmbeddedHeader {
  uint8_t version;  // kEmbeddedVersion
  uint8_t flags;    // kEmbeddedSigns
  uint8_t planes;   // P: description.part_bytes has P + 1 entries
  uint8_t reserved;
  uint16_t symbols;      // 1…256
  uint16_t table_bytes;  // 1…
  uint32_t tile_elements;
};
static_assert(sizeof(EmbeddedHeader) == 12);

// There is a sign plane; without, no element has its sign bit set.
inline constexpr uint8_t kEmbeddedSigns = 1;

enum class ElementKind : uint8_t { ieee, e4m3, integer };

// The bits of an element from the highest down: `sign_bits` (0 or 1), exponent field, mantissa. The
// mantissa of an integer is what its planes hold, and the rest counts as exponent.
struct ElementFormat {
  uint32_t bits;
  uint32_t sign_bits;
  uint32_t mantissa_bits;
  ElementKind kind;

  HOIST_HD constexpr uint64_t sign_mask() const { return uint64_t{sign_bits} << (bits - 1); }
  HOIST_HD constexpr uint64_t mantissa_mask() const { return (uint64_t{1} << mantissa_bits) - 1; }
  // Everything but the sign.
  HOIST_HD constexpr uint64_t magnitude_mask() const {
    return ~uint64_t{0} >> (64 - bits) & ~sign_mask();
  }
  HOIST_HD constexpr uint64_t exponent_mask() const { return magnitude_mask() & ~mantissa_mask(); }
  // Magnitudes above it are NaN. It is infinity, but of e4m3 the largest number.
  HOIST_HD constexpr uint64_t last_not_nan() const {
    return kind == ElementKind::ieee   ? exponent_mask()
           : kind == ElementKind::e4m3 ? magnitude_mask() - 1
                                       : magnitude_mask();
  }
  HOIST_HD constexpr bool is_infinity(uint64_t magnitude) const {
    return kind == ElementKind::ieee && magnitude == exponent_mask();
  }
  HOIST_HD constexpr bool is_nan(uint64_t magnitude) const { return magnitude > last_not_nan(); }
  HOIST_HD constexpr bool is_finite(uint64_t magnitude) const {
    return !is_infinity(magnitude) && !is_nan(magnitude);
  }

  // Elements of a class share a symbol. Of floating point types 0 is zero, 1 subnormals, 1 + e the
  // exponent field e, then NaN; classes ascend as magnitudes do.
  HOIST_HD constexpr uint32_t class_of(uint64_t magnitude) const {
    const uint32_t exponent = static_cast<uint32_t>(magnitude >> mantissa_bits);
    if (kind == ElementKind::integer) return exponent;
    return 1 + exponent - (magnitude == 0) + is_nan(magnitude);
  }
  HOIST_HD constexpr uint32_t classes() const { return class_of(magnitude_mask()) + 1; }
};

// Bytes of a plane, and of the sign plane: element i is bit i % 8 of byte i / 8; the rest is zero.
HOIST_HD constexpr uint64_t embedded_plane_bytes(uint64_t elements) {
  return elements / 8 + (elements % 8 != 0);
}

}  // namespace hoist::tensors
