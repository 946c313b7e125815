#include "codec/deflate_codes.h"

#include <algorithm>
#include <cstring>

namespace hoist::codec::deflate {
namespace {

// RFC 1951, 3.2.5: base values and extra bits of length codes 257..285 and distance codes 0..29.
constexpr uint16_t kLengthBase[29] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                      15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                      67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr uint8_t kLengthExtra[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                      2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr uint16_t kDistanceBase[30] = {
    1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
    193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
constexpr uint8_t kDistanceExtra[30] = {0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                        6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};

constexpr uint32_t with_extra(uint32_t base, uint32_t extra) { return base << 16 | extra; }

// The entry of a symbol, without its code length: what it means and its extra bits.
using SymbolEntries = std::array<uint32_t, 288>;

constexpr SymbolEntries literal_symbols() {
  SymbolEntries entries{};
  for (uint32_t i = 0; i < 256; ++i) entries[i] = kLiteral | i << 16;
  entries[256] = kSpecial | kEndOfBlock;
  for (uint32_t i = 0; i < 29; ++i) entries[257 + i] = with_extra(kLengthBase[i], kLengthExtra[i]);
  entries[286] = entries[287] = kSpecial | kInvalid;
  return entries;
}

constexpr SymbolEntries distance_symbols() {
  SymbolEntries entries{};
  for (uint32_t i = 0; i < 30; ++i) entries[i] = with_extra(kDistanceBase[i], kDistanceExtra[i]);
  entries[30] = entries[31] = kSpecial | kInvalid;
  return entries;
}

constexpr SymbolEntries plain_symbols() {
  SymbolEntries entries{};
  for (uint32_t i = 0; i < 19; ++i) entries[i] = i << 16;
  return entries;
}

constexpr SymbolEntries kLiteralSymbols = literal_symbols();
constexpr SymbolEntries kDistanceSymbols = distance_symbols();
constexpr SymbolEntries kCodeLengthSymbols = plain_symbols();

uint32_t reverse(uint32_t code, int length) {
  uint32_t reversed = 0;
  for (int i = 0; i < length; ++i) reversed |= ((code >> i) & 1) << (length - 1 - i);
  return reversed;
}

// Index bits of a table that holds the codes longer than `drop` bits from one prefix on: it starts
// with the shortest, of which `present` are left, and widens while longer ones do not fill it.
int table_width(const CodeShape& shape, int drop, int shortest, int present, int limit) {
  int width = shortest - drop;
  int free = (1 << width) - present;
  while (free > 0 && width < limit) {
    if (++width == limit) break;
    free = free * 2 - shape.count[drop + width];
  }
  return width;
}

// Steps a codeword, kept bit-reversed, to its successor among codes of the same length.
uint32_t next_reversed(uint32_t code, int length) {
  uint32_t bit = 1u << (length - 1);
  while (bit != 0 && (code & bit) != 0) {
    code ^= bit;
    bit >>= 1;
  }
  return code | bit;
}

template <typename Table>
bool fill(std::span<const uint8_t> lengths, const SymbolEntries& symbols, int root_limit,
          bool incomplete_allowed, Table& table) {
  constexpr int kBits = Table::kTableBits;
  CodeShape& shape = table.shape;
  shape = CodeShape(lengths, incomplete_allowed);
  table.root_limit = root_limit;
  if (!shape.acceptable) return false;
  // What no code covers is invalid, and gzip sees that with the one bit that it looks at.
  constexpr uint32_t kUncovered = kSpecial | kInvalid | 1u << 8 | 1u;
  if (!shape.complete) std::fill_n(table.entries.begin(), 1u << kBits, kUncovered);

  // Symbols in canonical order: by code length, then by value.
  std::array<uint16_t, kMaxCodeLength + 2> start{};
  for (int length = 1; length <= kMaxCodeLength; ++length) {
    start[length + 1] = static_cast<uint16_t>(start[length] + shape.count[length]);
  }
  std::array<uint16_t, 288> sorted;
  std::array<uint16_t, kMaxCodeLength + 2> at = start;
  for (size_t symbol = 0; symbol < lengths.size(); ++symbol) {
    if (lengths[symbol] != 0) sorted[at[lengths[symbol]]++] = static_cast<uint16_t>(symbol);
  }

  uint32_t code = 0;  // bit-reversed, as the stream has it
  uint32_t link_prefix = UINT32_MAX;
  uint32_t link_start = 0;
  uint32_t free_start = 1u << kBits;
  int link_bits = 0;
  for (int length = shape.min_length; length != 0 && length <= shape.max_length; ++length) {
    for (int i = start[length]; i < start[length + 1]; ++i) {
      const uint32_t symbol_entry = symbols[sorted[i]];
      if (length <= kBits) {
        const uint32_t drop = static_cast<uint32_t>(length) + (symbol_entry & 0xff);
        const uint32_t entry = (symbol_entry & ~0xffu) | static_cast<uint32_t>(length) << 8 | drop;
        for (uint32_t index = code; index < 1u << kBits; index += 1u << length) {
          table.entries[index] = entry;
        }
      } else {
        const uint32_t prefix = code & ((1u << kBits) - 1);
        if (prefix != link_prefix) {
          link_prefix = prefix;
          link_start = free_start;
          link_bits =
              table_width(shape, kBits, length, start[length + 1] - i, shape.max_length - kBits);
          free_start += 1u << link_bits;
          table.entries[prefix] =
              kSpecial | kLink | link_start << 16 | static_cast<uint32_t>(link_bits) << 8 | kBits;
        }
        const int rest = length - kBits;
        const uint32_t drop = static_cast<uint32_t>(rest) + (symbol_entry & 0xff);
        const uint32_t entry = (symbol_entry & ~0xffu) | static_cast<uint32_t>(rest) << 8 | drop;
        for (uint32_t index = code >> kBits; index < 1u << link_bits; index += 1u << rest) {
          table.entries[link_start + index] = entry;
        }
      }
      code = next_reversed(code, length);
    }
  }
  return true;
}

}  // namespace

CodeShape::CodeShape(std::span<const uint8_t> lengths, bool incomplete_allowed) {
  for (const uint8_t length : lengths) ++count[length];
  count[0] = 0;
  int free = 1;
  for (int length = 1; length <= kMaxCodeLength; ++length) {
    free = free * 2 - count[length];
    if (free < 0) return;
    if (count[length] == 0) continue;
    if (min_length == 0) min_length = length;
    max_length = length;
  }
  complete = free == 0;
  acceptable = complete || max_length <= 1 || incomplete_allowed;
}

int CodeShape::root_bits(int root_limit) const {
  if (max_length == 0) return 1;
  return std::clamp(root_limit, min_length, max_length);
}

int CodeShape::next_table_bits(uint32_t stream, int drop, int root_limit) const {
  const int limit = std::min(max_length - drop, root_bits(root_limit));
  const uint32_t prefix = reverse(stream, drop);
  uint32_t first = 0;  // first code of each length
  for (int length = 1; length <= max_length; ++length) {
    first = (first + count[length - 1]) << 1;
    if (length <= drop) continue;
    const uint32_t low = std::max(first, prefix << (length - drop));
    const uint32_t high = std::min(first + count[length], (prefix + 1) << (length - drop));
    if (low >= high) continue;
    return table_width(*this, drop, length, static_cast<int>(first + count[length] - low), limit);
  }
  return 0;
}

bool build(std::span<const uint8_t> lengths, LiteralTable& table) {
  // gzip looks at 9 bits first; at 7 in fixed blocks, the only ones with all 288 symbols.
  return fill(lengths, kLiteralSymbols, lengths.size() == 288 ? 7 : 9, false, table);
}

bool build(std::span<const uint8_t> lengths, DistanceTable& table, bool incomplete_allowed) {
  return fill(lengths, kDistanceSymbols, incomplete_allowed ? 5 : 6, incomplete_allowed, table);
}

bool build(std::span<const uint8_t> lengths, CodeLengthTable& table) {
  return fill(lengths, kCodeLengthSymbols, 7, false, table);
}

}  // namespace hoist::codec::deflate
