// Elements taken apart into bit planes, and put together again from symbols and bit planes: the
// loops of the Embedded encoding, one implementation an instruction set. All write the same bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hoist::tensors {

inline constexpr size_t kMostPlanes = 53;  // of f64: sign and 52 mantissa bits

// Bit `bit` of every element. `bytes` is where the plane of the first element of a call begins;
// element i is bit i % 8 of byte i / 8.
template <typename Byte>
struct BitPlane {
  Byte* bytes;
  uint32_t bit;
};

// elements[i] = bases[symbols[i]] | bits of the planes. Elements of symbols that are not below
// `symbol_count` are unspecified.
struct MergeTables {
  explicit MergeTables(const std::array<uint64_t, 256>& bases, uint32_t symbol_count);

  uint32_t symbol_count;
  alignas(64) uint8_t rows[8][256] = {};  // byte b of the bases in rows[b]
};

struct Merged {
  size_t count;  // elements
  uint8_t highest_symbol;
};

struct ElementPlanes {
  const char* name;
  bool (*supported)();

  // By log2 of the element's bytes. They take apart (put together) whole blocks from the start and
  // answer how many elements those are, a multiple of 8.
  using Split = size_t (*)(const std::byte* elements, size_t count,
                           std::span<const BitPlane<std::byte>> planes);
  using Merge = Merged (*)(const MergeTables& tables, const uint8_t* symbols, size_t count,
                           std::span<const BitPlane<const std::byte>> planes, std::byte* elements);
  Split split[4];
  Merge merge[4];
};

// Plain C++: the definition. Its blocks are eight elements.
extern const ElementPlanes kElementPlanesPortable;
extern const ElementPlanes kElementPlanesAvx2;
// With AVX-512 BW and VBMI (Ice Lake, Zen 4).
extern const ElementPlanes kElementPlanesAvx512;

std::span<const ElementPlanes* const> element_planes_implementations();
const ElementPlanes& best_element_planes();

// All of `count` elements of `width` bytes; the bits after the last one are written as zeros, and
// not read. merge_elements() is false where a symbol is not one of the tables'.
void split_elements(const std::byte* elements, size_t width, size_t count,
                    std::span<const BitPlane<std::byte>> planes,
                    const ElementPlanes& with = best_element_planes());
bool merge_elements(const MergeTables& tables, const uint8_t* symbols, size_t width, size_t count,
                    std::span<const BitPlane<const std::byte>> planes, std::byte* elements,
                    const ElementPlanes& with = best_element_planes());

}  // namespace hoist::tensors
