#include "tensors/packed/tile.h"

#include <cstring>

#include "tensors/packed/layout.h"

namespace hoist::tensors::packed {
namespace {

constexpr uint32_t kHalfRows = kTileRows / 2;
constexpr uint32_t kPairs = kTileColumns / 2;  // words of two columns
constexpr uint32_t kPiece = 4;                 // words of 16 bytes
constexpr uint32_t kHalfColumns = kTileColumns / 2;
constexpr uint32_t kGroups = 4;  // lanes that share a row

// One line's signs with mantissas, and codes, as they are kept.
struct Line {
  uint16_t kept[kTileColumns];
  uint16_t codes[kTileColumns];

  void split(const uint16_t* weights, uint32_t base) {
    const auto wide_base = static_cast<uint16_t>(base);
    for (uint32_t i = 0; i < kTileColumns; ++i) {
      const uint16_t weight = weights[i];
      const auto code = static_cast<uint16_t>((weight >> 7 & 0xff) - wide_base);
      const bool has_code = static_cast<uint16_t>(code - 1) < kCodes;
      const bool is_zero = (weight & kMagnitude) == 0;
      codes[i] = has_code ? code : 0;
      kept[i] = has_code || is_zero ? weight & kSignMantissa : 0;
    }
  }
  void join(uint16_t* weights, uint32_t base) const {
    const auto wide_base = static_cast<uint16_t>(base);
    for (uint32_t i = 0; i < kTileColumns; ++i) {
      const uint16_t exponent = codes[i] == 0 ? 0 : static_cast<uint16_t>(codes[i] + wide_base);
      weights[i] = static_cast<uint16_t>(kept[i] | exponent << 7);
    }
  }
};

// Half-words of the signs and mantissas of lane 4 g + q, its words 4 half … 4 half + 3.
uint32_t kept_at(uint32_t g, uint32_t q, uint32_t half) {
  return 2 * (half * kLanes * kPiece + (kGroups * g + q) * kPiece);
}
// Which word of a row's sixteen has the codes of columns 4 four … 4 four + 3.
uint32_t word_of(uint32_t four) { return four % 8 / 2 * 4 + four / 8 * 2 + four % 2; }
uint32_t codes_at(uint32_t g) { return kCodesOffset / 2 + g * kPairs; }

}  // namespace

void encode_tile(const uint16_t* lines, uint64_t stride, uint32_t base, uint16_t* tile) {
  Line upper;
  Line lower;
  uint16_t together[kTileColumns];
  for (uint32_t g = 0; g < kHalfRows; ++g) {
    upper.split(lines + g * stride, base);
    lower.split(lines + (g + kHalfRows) * stride, base);
    for (uint32_t i = 0; i < kTileColumns; ++i) {
      together[i] = upper.kept[i] | swap_bytes(lower.kept[i]);
    }
    for (uint32_t q = 0; q < kGroups; ++q) {
      for (uint32_t half = 0; half < 2; ++half) {
        std::memcpy(tile + kept_at(g, q, half), together + half * kHalfColumns + q * 2 * kPiece,
                    2 * kPiece * sizeof(uint16_t));
      }
    }
    uint16_t* const codes = tile + codes_at(g);
    for (uint32_t four = 0; four < kTileColumns / 4; ++four) {
      for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t column = 4 * four + i;
        codes[word_of(four) * 2 + i] = join_codes(upper.codes[column], lower.codes[column],
                                                  upper.codes[column + 2], lower.codes[column + 2]);
      }
    }
  }
}

void decode_tile(const uint16_t* tile, uint32_t base, uint16_t* lines, uint64_t stride) {
  Line upper;
  Line lower;
  uint16_t together[kTileColumns];
  for (uint32_t g = 0; g < kHalfRows; ++g) {
    for (uint32_t q = 0; q < kGroups; ++q) {
      for (uint32_t half = 0; half < 2; ++half) {
        std::memcpy(together + half * kHalfColumns + q * 2 * kPiece, tile + kept_at(g, q, half),
                    2 * kPiece * sizeof(uint16_t));
      }
    }
    const uint16_t* const codes = tile + codes_at(g);
    for (uint32_t four = 0; four < kTileColumns / 4; ++four) {
      for (uint32_t i = 0; i < 2; ++i) {
        const uint16_t joined = codes[word_of(four) * 2 + i];
        const uint32_t column = 4 * four + i;
        upper.codes[column] = static_cast<uint16_t>(code_at(joined, 0));
        lower.codes[column] = static_cast<uint16_t>(code_at(joined, 1));
        upper.codes[column + 2] = static_cast<uint16_t>(code_at(joined, 2));
        lower.codes[column + 2] = static_cast<uint16_t>(code_at(joined, 3));
      }
    }
    for (uint32_t i = 0; i < kTileColumns; ++i) {
      upper.kept[i] = together[i] & kSignMantissa;
      lower.kept[i] = swap_bytes(together[i]) & kSignMantissa;
    }
    upper.join(lines + g * stride, base);
    lower.join(lines + (g + kHalfRows) * stride, base);
  }
}

}  // namespace hoist::tensors::packed
