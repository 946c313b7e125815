// The 96 classes of bytes: which bytes count as one, and the byte that stands for each class.
//
//   class_of(0x2a)                 // 21
//   representative(21)             // 0x2a
//   Components of_21 = components(21);   // scope 0, modality 2, context 5
//
// Bits 7 and 6 of a byte are its scope (0 to 3), bits 4 and 5 its modality, bits 3 to 1 its context
// (0 to 7). Bit 0 does not count. The modality is 0 where bits 4 and 5 are equal, 1 where only bit
// 4 is set, 2 where only bit 5 is. So 64 classes have two bytes each, and the 32 of modality 0
// four.
#pragma once

#include <cstdint>
#include <vector>

namespace hoist::graph {

inline constexpr int kByteClasses = 96;

// The parts of a class: 24 · scope + 8 · modality + context is its number.
struct Components {
  uint8_t scope = 0;     // 0 to 3; h₂ in the literature
  uint8_t modality = 0;  // 0 neutral, 1 produce, 2 consume; d
  uint8_t context = 0;   // 0 to 7; ℓ

  friend bool operator==(const Components&, const Components&) = default;
};

uint8_t class_of(uint8_t byte);
uint8_t class_of(Components components);

// `index` < kByteClasses, here and below.
Components components(uint8_t index);
// The least byte of the class that sets at most one of the bits 4 and 5, and not bit 0.
uint8_t representative(uint8_t index);
// All bytes of the class, ascending.
std::vector<uint8_t> bytes_of(uint8_t index);

}  // namespace hoist::graph
