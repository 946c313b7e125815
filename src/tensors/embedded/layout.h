// Where the pieces of an Embedded tensor lie, from its description alone: checked, so that decoders
// on the CPU and on the GPU may rely on it.
//
//   Result<EmbeddedLayout> layout = EmbeddedLayout::parse(description);
//   layer 0:      [0, section_bytes)                       codec::EntropyView of symbols
//                 [section_bytes, + plane_bytes)           signs, where has_signs
//   layers 1…P:   plane_bytes each
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "codec/entropy_table.h"
#include "tensors/embedded/format.h"
#include "tensors/encoded_tensor.h"

namespace hoist::tensors {

// Nothing: the encoding has no use for this type. `integer_planes` is P of i8.
std::optional<ElementFormat> element_format(DType dtype, uint32_t integer_planes = 0);

// What symbols are looked up in where the first `known` of `planes` planes are known, `patterns`
// being what layer 0 alone makes of them. 0 for symbols that there are not.
std::array<uint64_t, 256> layer_bases(const ElementFormat& format,
                                      std::span<const uint64_t> patterns, uint32_t planes,
                                      uint32_t known);

struct EmbeddedLayout {
  // `corrupt` where the description is not one that embedded_encode() makes. What it does not see
  // is layer 0 itself: its EntropyView must have `elements` symbols in tiles of `tile_elements`.
  static Result<EmbeddedLayout> parse(const TensorDescription& description);

  DType dtype;
  ElementFormat format;
  uint64_t elements;  // at least 1
  uint32_t planes;    // P, at most format.mantissa_bits
  uint32_t top_bit;   // of an element: layer k has bit top_bit - (k - 1), where P > 0
  bool has_signs;
  uint32_t tile_elements;  // of a tile of the entropy-coded section; the last one has fewer
  uint64_t section_bytes;  // a multiple of 16, so that the sign plane is aligned as layer 0 is
  uint64_t plane_bytes;
  std::vector<uint64_t> patterns;  // of symbols, by number: what layer 0 alone makes of them
  codec::EntropyTable table;

  size_t element_bytes() const { return format.bits / 8; }
  uint64_t tiles() const { return (elements + tile_elements - 1) / tile_elements; }
  std::array<uint64_t, 256> bases(uint32_t known) const {
    return layer_bases(format, patterns, planes, known);
  }
};

}  // namespace hoist::tensors
