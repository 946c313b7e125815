// Prefix codes of DEFLATE (RFC 1951, 3.2): decode tables built from code lengths.
//
// A table is indexed with the next kTableBits bits of the stream; codes that are longer continue in
// a second-level table behind the first. An entry holds all that the decoder needs, so that its
// loop is one load per symbol (the layout follows libdeflate's idea, `decompress_template.h`):
//
//   bits 0..7    bits to drop: the code, and the extra bits that follow it
//   bits 8..11   length of the code within its table; in a link: index bits of the linked table
//   bits 12..15  kind: kEndOfBlock, kLink, kInvalid are all kSpecial
//   bits 16..30  literal byte, base length, base distance, or start of the linked table
//   bit  31      kLiteral
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace hoist::codec::deflate {

inline constexpr int kMaxCodeLength = 15;

inline constexpr uint32_t kLiteral = 1u << 31;
inline constexpr uint32_t kSpecial = 1u << 15;
inline constexpr uint32_t kLink = 1u << 14;
inline constexpr uint32_t kEndOfBlock = 1u << 13;
inline constexpr uint32_t kInvalid = 1u << 12;

inline uint32_t entry_drop(uint32_t entry) { return entry & 0xff; }
inline uint32_t entry_code_length(uint32_t entry) { return (entry >> 8) & 0xf; }
inline uint32_t entry_value(uint32_t entry) { return (entry >> 16) & 0x7fff; }

// Where a link leads with the bits that follow it.
inline uint32_t linked_index(uint32_t link, uint64_t stream) {
  return entry_value(link) +
         (static_cast<uint32_t>(stream) & ((1u << entry_code_length(link)) - 1));
}

// The lengths of a code, counted; what can be said of it without its table.
struct CodeShape {
  std::array<uint16_t, kMaxCodeLength + 1> count{};  // codes of each length
  int min_length = 0;                                // 0: no code at all
  int max_length = 0;

  // gzip takes an incomplete code only when all its codes are 1 bit long, and a code with no
  // symbols at all, as long as none is ever read. zlib agrees, except about the code of the code
  // lengths, where one code of 1 bit is not enough for it.
  bool acceptable = false;
  // Whether every sequence of bits leads to a symbol. The first bit of one that does not is an
  // entry of its own: kInvalid, 1 bit long.
  bool complete = false;

  explicit CodeShape(std::span<const uint8_t> lengths, bool incomplete_allowed = false);

  // How many bits gzip must have in hand before it can look a symbol up. It matters only at the
  // end of a truncated stream: there gzip stops although the symbol's own bits may all be there.
  // gzip decodes through tables of at most `root_limit` index bits; a code that does not end in
  // one table goes on in the next, which is as wide as the codes below that prefix need.
  int root_bits(int root_limit) const;
  // `stream` holds the next bits, the first one lowest; `drop` of them led to the next table.
  int next_table_bits(uint32_t stream, int drop, int root_limit) const;
};

template <int kBits, int kSize>
struct DecodeTable {
  static constexpr int kTableBits = kBits;
  std::array<uint32_t, kSize> entries;
  CodeShape shape{std::span<const uint8_t>()};
  int root_limit = 0;
};

// Sizes: the first level and the most second-level entries that a complete code of that alphabet
// can need (zlib's `enough` gives 2342, 402 for 288 and 32 symbols of up to 15 bits).
using LiteralTable = DecodeTable<11, 2342>;
using DistanceTable = DecodeTable<8, 402>;
using CodeLengthTable = DecodeTable<7, 128>;

// Fill the table for `lengths`; false where gzip rejects them. `incomplete_allowed` is for the
// distance code of fixed blocks, which leaves two of its 32 codes unused: gzip knows 30 lengths,
// zlib all 32, the last two of them invalid symbols.
bool build(std::span<const uint8_t> lengths, LiteralTable& table);
bool build(std::span<const uint8_t> lengths, DistanceTable& table, bool incomplete_allowed = false);
bool build(std::span<const uint8_t> lengths, CodeLengthTable& table);

}  // namespace hoist::codec::deflate
